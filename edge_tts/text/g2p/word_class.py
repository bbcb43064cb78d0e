"""What an ambiguous English word is doing in its sentence, judged by its neighbours.

Few words are ambiguous in sound, and for those the closed-class words around them (articles,
pronouns, modals, prepositions) decide nearly always. So no tagger is trained: `word_class` asks
the rules below in order and the first that has an opinion wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Callable, FrozenSet, Optional, Sequence, Tuple

from edge_tts.text.g2p.english_lexicon import WordClass

BOUNDARY = ""
"""Stands for a pause, a mark or a word of another language in a sequence of words."""
SENTENCE_END = "."
"""Stands for the mark that ends a sentence; its neighbours see a `BOUNDARY`."""


def words_of(text: str) -> FrozenSet[str]:
    """A set of words from a line of them."""
    return frozenset(text.split())


DETERMINERS = words_of(
    "a an the this that these those my your his her its our their each every some any no "
    "another which what whose both either neither one's"
)
BEFORE_VERB = words_of(
    "to will would can could shall should may might must cannot do does did don't doesn't "
    "didn't won't can't couldn't shouldn't wouldn't mustn't let's please i'll you'll he'll "
    "she'll it'll we'll they'll i'd you'd we'd they'd who'll that'll help helps helped let "
    "gonna"
)
NOUN_BEFORE_TO = words_of(
    "access according attention close closer closest committed damage devoted due next "
    "objection opposed owing prior related relative respect subject thanks used"
)
SUBJECTS = words_of("i you we they he she it who everyone everybody anyone nobody somebody")
THIRD_PERSON = words_of("he she it who that which this everyone everybody nobody")
OBJECTS = words_of("me him them us it you myself yourself itself themselves")
TO_BE = words_of(
    "is are was were be been being am isn't aren't wasn't weren't i'm you're we're they're "
    "he's she's it's that's there's"
)
TO_HAVE = words_of("have has had having haven't hasn't hadn't i've you've we've they've")
PREPOSITIONS = words_of(
    "of in on at by for from with about into over under after before between through during "
    "without via per across near against within upon around behind beyond inside outside off "
    "until till since despite except like as than onto toward towards"
)
CONJUNCTIONS = words_of("and or but then nor so when if while because where unless though")
ADVERBS = words_of(
    "not never always often also now just still again soon already ever usually sometimes "
    "only even simply then almost nearly rarely seldom first finally automatically actually "
    "previously recently"
)
DEGREES = words_of("so too very as how more most quite rather really pretty fairly extremely")
PARTICLES = words_of("up down out off away back in on over through around along for to at")
NUMBERS = words_of(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "hundred thousand million first second third fourth fifth last next previous many few "
    "several other same new old all more less much"
)
FUNCTION_WORDS = (
    DETERMINERS | BEFORE_VERB | SUBJECTS | OBJECTS | TO_BE | TO_HAVE | PREPOSITIONS | CONJUNCTIONS
)
# Verbs that an instruction, label or prompt may start with even without an article after them.
IMPERATIVES = words_of(
    "use close separate refuse record present insert combine transfer import export update refund "
    "rewind reset read"
)


@dataclass(frozen=True)
class Place:
    """A word among lower-case words, `BOUNDARY` and `SENTENCE_END` where they break."""

    words: Sequence[str]
    index: int

    @property
    def word(self) -> str:
        """The word in question."""
        return self.words[self.index]

    def at(self, offset: int) -> str:
        """The word `offset` places to the right, `BOUNDARY` beyond the ends."""
        position = self.index + offset
        word = self.words[position] if 0 <= position < len(self.words) else BOUNDARY
        return BOUNDARY if word == SENTENCE_END else word

    @property
    def before(self) -> str:
        """The nearest word to the left that is not an adverb."""
        offset = -1
        while _is_adverb(self.at(offset)):
            offset -= 1
        return self.at(offset)

    @property
    def after(self) -> str:
        """The word to the right."""
        return self.at(1)

    @property
    def is_s_form(self) -> bool:
        """Whether the word looks like a plural noun or a third-person verb."""
        return self.word.endswith("s") and not self.word.endswith("ss")

    def has_object(self) -> bool:
        """Whether what follows looks like the object of a verb."""
        return self.after in DETERMINERS | OBJECTS | NUMBERS

    def sentence(self) -> FrozenSet[str]:
        """The words of the same sentence."""
        before = takewhile(SENTENCE_END.__ne__, reversed(self.words[: self.index]))
        after = takewhile(SENTENCE_END.__ne__, self.words[self.index :])
        return frozenset(before) | frozenset(after)


def _is_adverb(word: str) -> bool:
    return word in ADVERBS or (word.endswith("ly") and len(word) > 4)


def _is_content(word: str) -> bool:
    return word != BOUNDARY and word not in FUNCTION_WORDS and not _is_adverb(word)


def _is_plural_noun(word: str) -> bool:
    irregular = word in ("people", "children", "men", "women", "police", "vehicles")
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    return irregular or (plural and len(word) > 3 and _is_content(word))


def _by_next_of(place: Place) -> Optional[WordClass]:
    if place.after == "of" and place.before not in BEFORE_VERB:
        return WordClass.NOUN
    return None


def _by_verb_cue(place: Place) -> Optional[WordClass]:
    if place.before not in BEFORE_VERB:
        return None
    if place.before == "to":
        position = max(i for i in range(place.index) if place.words[i] == "to")
        if position > 0 and place.words[position - 1] in NOUN_BEFORE_TO:
            return WordClass.NOUN
    return WordClass.VERB


def _by_third_person(place: Place) -> Optional[WordClass]:
    if place.is_s_form and place.before in THIRD_PERSON:
        return WordClass.VERB
    return None


def _by_determiner(place: Place) -> Optional[WordClass]:
    if place.before not in DETERMINERS | NUMBERS:
        return None
    if place.before == "that" and _is_plural_noun(place.at(-2)) and not place.is_s_form:
        return WordClass.VERB
    if _is_content(place.after) and not place.is_s_form:
        return WordClass.ADJECTIVE
    return WordClass.NOUN


def _by_degree(place: Place) -> Optional[WordClass]:
    return WordClass.ADJECTIVE if place.at(-1) in DEGREES else None


def _by_subject(place: Place) -> Optional[WordClass]:
    if place.before in SUBJECTS and place.before != "it" and not place.is_s_form:
        return WordClass.VERB
    return None


def _by_to_be(place: Place) -> Optional[WordClass]:
    if place.before in TO_BE:
        return WordClass.ADJECTIVE
    return WordClass.NOUN if place.before in TO_HAVE else None


def _by_preposition(place: Place) -> Optional[WordClass]:
    if place.before not in PREPOSITIONS:
        return None
    if _is_content(place.after) and not place.is_s_form:
        return WordClass.ADJECTIVE
    return WordClass.NOUN


def _by_clause_start(place: Place) -> Optional[WordClass]:
    if place.before not in CONJUNCTIONS and place.before != BOUNDARY:
        return None
    if place.has_object() and not place.is_s_form:
        return WordClass.VERB
    if place.before == BOUNDARY and place.word in IMPERATIVES and _is_content(place.after):
        return WordClass.VERB
    return WordClass.NOUN if place.before == BOUNDARY else None


def _by_agreement(place: Place) -> Optional[WordClass]:
    """After a noun: `cameras record the road`, `the camera records your trip`."""
    if not _is_content(place.before):
        return None
    follows = place.has_object() or (place.after in PREPOSITIONS | PARTICLES)
    if place.is_s_form:
        verb = place.has_object() and not _is_plural_noun(place.before)
        return WordClass.VERB if verb else WordClass.NOUN
    if _is_plural_noun(place.before):
        return WordClass.VERB if follows else None
    return WordClass.NOUN


_RULES: Tuple[Callable[[Place], Optional[WordClass]], ...] = (
    _by_next_of,
    _by_verb_cue,
    _by_third_person,
    _by_degree,
    _by_determiner,
    _by_subject,
    _by_to_be,
    _by_preposition,
    _by_clause_start,
    _by_agreement,
)


def word_class(place: Place) -> Optional[WordClass]:
    """NOUN, VERB or ADJECTIVE, or None where the neighbours do not tell."""
    for rule in _RULES:
        decided = rule(place)
        if decided is not None:
            return decided
    return None
