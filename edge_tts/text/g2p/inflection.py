"""Regular English endings: from an inflected spelling to its stem, and from stem to sound.

The sound rules are the textbook ones: -s and -ed agree in voice with the sound before them and
take a vowel after a sibilant or /t d/; a /t/ that an ending leaves between vowels is flapped.
"""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple, Optional

from edge_tts.text.g2p.english_lexicon import Entry, WordClass
from edge_tts.text.g2p.english_sounds import FLAP_CONTEXT, VOWELS

Inflect = Callable[[str], str]

_VOICELESS = frozenset("ptkfθ")
_SIBILANTS = frozenset("szʃʒʧʤ")
_DOUBLED = frozenset("bdfgklmnprstvz")


class Derivation(NamedTuple):
    """A candidate stem spelling and the function from its sound to that of the whole word.

    `stem_class` says which reading of the stem the ending takes; None keeps them all.
    """

    stem: str
    inflect: Inflect
    stem_class: Optional[WordClass] = None


def derive(word: str, find: Callable[[str], Optional[Entry]], depth: int = 2) -> Optional[Entry]:
    """The entry of `word` made from its stem's, at most `depth` endings away; None without a stem.

    `find` looks a spelling up. Stems it knows win over stems that must be derived themselves.
    """
    candidates = list(derivations(word))
    for candidate in candidates:
        entry = find(candidate.stem)
        if entry is not None:
            return _inflected(entry, candidate)
    if depth > 1:
        for candidate in candidates:
            entry = derive(candidate.stem, find, depth - 1)
            if entry is not None:
                return _inflected(entry, candidate)
    return None


def _inflected(entry: Entry, derivation: Derivation) -> Entry:
    inflect = derivation.inflect
    if derivation.stem_class is not None:
        return Entry(inflect(entry.reading(derivation.stem_class)), {})
    kept = (WordClass.NOUN, WordClass.VERB)
    readings = {name: inflect(sound) for name, sound in entry.variants.items() if name in kept}
    return Entry(inflect(entry.default), readings)


def derivations(word: str) -> Iterator[Derivation]:
    """Stems that `word` (lower case but for names) may be a regular form of, best first."""
    if word.endswith(("'s", "’s")):
        yield Derivation(word[:-2], add_s, WordClass.NOUN)
    elif word.endswith(("s'", "s’")):
        yield Derivation(word[:-1], str, WordClass.NOUN)
    elif "'" in word:
        yield from _contracted(word)
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 2:
        yield from _plural(word)
    elif word.endswith("ed") and len(word) > 3:
        yield from _suffixed(word, "ed", add_ed)
    elif word.endswith(("ing", "in'")) and len(word) > 4:
        yield from _suffixed(word, word[-3:], add_ing)
    else:
        yield from _derived(word)


def _contracted(word: str) -> Iterator[Derivation]:
    for ending, inflect in _CONTRACTIONS:
        if word.endswith(ending):
            yield Derivation(word[: -len(ending)], inflect)


def _plural(word: str) -> Iterator[Derivation]:
    if word.endswith("ies") and len(word) > 4:
        yield Derivation(word[:-3] + "y", add_s)
    yield Derivation(word[:-1], add_s)
    if word.endswith("es") and len(word) > 4:
        yield Derivation(word[:-2], add_s)


def _suffixed(word: str, suffix: str, inflect: Inflect) -> Iterator[Derivation]:
    stem = word[: -len(suffix)]
    spellings = [stem, stem + "e"]
    # "rating" is rate + ing, "melting" melt + ing: a silent e is tried first where the letters
    # before the ending are one consonant after one vowel.
    if len(stem) > 1 and stem[-1] not in "aeiouwxy" and stem[-2] in "aeiou":
        spellings.reverse()
    if stem.endswith("i") and len(stem) > 2:
        spellings.insert(0, stem[:-1] + "y")
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] in _DOUBLED:
        spellings.append(stem[:-1])
    for spelling in spellings:
        yield Derivation(spelling, inflect, WordClass.VERB)


def _derived(word: str) -> Iterator[Derivation]:
    for suffix, inflect in _ENDINGS:
        if word.endswith(suffix) and len(word) > len(suffix) + 2:
            if suffix == "ly":
                yield from _adverb(word)
            else:
                yield from _suffixed(word, suffix, inflect)
    for prefix, sound in _PREFIXES:
        if word.startswith(prefix) and len(word) > len(prefix) + 3:
            yield Derivation(word[len(prefix) :], _prefixer(sound))


def _adverb(word: str) -> Iterator[Derivation]:
    if word.endswith("ily"):
        yield Derivation(word[:-3] + "y", _ily, WordClass.ADJECTIVE)
    if word.endswith("bly"):
        yield Derivation(word[:-1] + "e", _bly, WordClass.ADJECTIVE)
    yield Derivation(word[:-2], _ly, WordClass.ADJECTIVE)


def _ily(stem: str) -> str:
    return (stem[:-1] + "ə" if stem.endswith("i") else stem) + "li"


def _bly(stem: str) -> str:
    return (stem[:-2] if stem.endswith(("ᵊl", "əl")) else stem) + "li"


def _ly(stem: str) -> str:
    return (stem[:-1] if stem.endswith("l") else stem) + "li"


def _prefixer(prefix_sound: str) -> Inflect:
    return lambda sound: prefix_sound + sound


def _flapped(stem: str) -> str:
    """`stem` as it sounds before an unstressed vowel."""
    if stem.endswith("t") and stem[-2:-1] in FLAP_CONTEXT:
        return stem[:-1] + "ɾ"
    return stem


def add_s(stem: str) -> str:
    """The sound of a plural, a possessive or a third person."""
    if stem[-1:] in _SIBILANTS:
        return stem + "ᵻz"
    return stem + ("s" if stem[-1:] in _VOICELESS else "z")


def add_ed(stem: str) -> str:
    """The sound of a regular past."""
    if stem[-1:] in ("t", "d"):
        return _flapped(stem) + "ᵻd"
    return stem + ("t" if stem[-1:] in _VOICELESS | frozenset("sʃʧ") else "d")


def add_ing(stem: str) -> str:
    """The sound of a present participle."""
    return _flapped(stem) + "ɪŋ"


def _add_have(stem: str) -> str:
    return stem + ("v" if stem[-1:] in VOWELS else "əv")


def _add_had(stem: str) -> str:
    return stem + ("əd" if stem[-1:] in ("t", "d") else "d")


def _before_vowel(ending: str) -> Inflect:
    return lambda stem: _flapped(stem) + ending


def _before_consonant(ending: str) -> Inflect:
    return lambda stem: stem + ending


_CONTRACTIONS = (
    ("'ll", _before_vowel("ᵊl")),
    ("'re", _before_vowel("əɹ")),
    ("'ve", _add_have),
    ("'d", _add_had),
)
_ENDINGS = (
    ("ly", _before_consonant("li")),
    ("ness", _before_consonant("nəs")),
    ("less", _before_consonant("ləs")),
    ("ful", _before_consonant("fᵊl")),
    ("ment", _before_consonant("mᵊnt")),
    ("able", _before_vowel("əbᵊl")),
    ("er", _before_vowel("əɹ")),
    ("or", _before_vowel("əɹ")),
    ("est", _before_vowel("ᵻst")),
    ("ish", _before_vowel("ɪʃ")),
)
_PREFIXES = (
    ("un", "ˌʌn"),
    ("re", "ɹˌi"),
    ("non", "nˌɑn"),
    ("pre", "pɹˌi"),
    ("mis", "mˌɪs"),
    ("over", "ˌOvəɹ"),
    ("under", "ˌʌndəɹ"),
    ("sub", "sˌʌb"),
    ("super", "sˌupəɹ"),
    ("micro", "mˌIkɹO"),
    ("multi", "mˌʌlti"),
    ("anti", "ˌænti"),
    ("auto", "ˌɔɾO"),
    ("inter", "ˌɪntəɹ"),
    ("trans", "tɹˌænz"),
)
