"""English words whose sound depends on meaning more than on word class: read, live, lead, close...

Each rule takes the word's place in its clause and answers with a word class of the lexicon's
entry, or, for a sound that no class selects, with the phonemes themselves.
"""

from __future__ import annotations

from typing import Callable, Dict, Optional, Union

from edge_tts.text.g2p.english_lexicon import Entry, WordClass
from edge_tts.text.g2p.word_class import (
    BEFORE_VERB,
    BOUNDARY,
    CONJUNCTIONS,
    DEGREES,
    DETERMINERS,
    OBJECTS,
    PARTICLES,
    PREPOSITIONS,
    SUBJECTS,
    THIRD_PERSON,
    TO_BE,
    TO_HAVE,
    Place,
    word_class,
    words_of,
)

Choice = Union[WordClass, str, None]

PAST_CUES = words_of(
    "yesterday ago last earlier once already previously was were did had when after before "
    "recently finally then"
)
LIVE_PLACES = words_of(
    "in at on with near here there for by under among between alone together longer happily "
    "inside outside abroad"
)
LIVERS = words_of("people we you they i who families residents animals fish humans children and")
CLOSE_NOUNS = words_of(
    "range proximity call contact attention eye friend friends relationship distance watch "
    "family relative second match up quarters"
)
AFTER_NEAR_VERB = words_of(
    "stay stays stayed keep keeps kept get gets got come comes came follow follows following "
    "drive driving park parked draw drew stand"
)
METAL_AFTER = words_of(
    "acid paint paint-based pipe pipes poisoning battery batteries glass pencil pencils "
    "content exposure free level levels weight weights"
)
METAL_NEAR = words_of("copper zinc mercury metal metals toxic petrol gasoline tin iron")
RIP_NEAR = words_of("fabric paper cloth tire tyre seat jacket muscle ligament page cover belt wear")
FISH_NEAR = words_of("fish fishing lake river sea striped largemouth caught catch trout")
WIND_PATHS = words_of("up down through along around its your the back")
TINY_NOUNS = words_of(
    "detail details amount amounts change difference particle particles quantities differences "
    "traces fraction changes adjustments print"
)
DOCUMENT_CUES = words_of("my your his her their a the updated attached upload submit")


# Before these a word that could be a verb is the first noun of a compound: `Record highs`.
COMPOUNDS = {
    "record": words_of(
        "high highs low lows number numbers temperature temperatures heat rainfall snowfall player "
        "holder label profit profits crowd crowds attendance company breaking"
    ),
    "present": words_of("day tense value"),
    "import": words_of("tax taxes duty duties tariff tariffs price prices restrictions permit"),
    "export": words_of("tax taxes duty duties controls price prices market markets ban permit"),
    "produce": words_of("aisle section department stand prices market"),
    "transfer": words_of("station fee fees desk window limit limits passengers times"),
    "refund": words_of("policy desk counter request status"),
    "permit": words_of("holder holders required parking fee"),
    "combine": words_of("harvester harvesters"),
    "desert": words_of("storm road heat sand island safari"),
}


def _read(place: Place) -> Choice:
    # `did you read`, `have you read`: the verb before the subject decides.
    cue = place.at(-2) if place.before in SUBJECTS else place.before
    if cue in BEFORE_VERB:
        return WordClass.VERB
    if cue in TO_HAVE | TO_BE or place.before in PREPOSITIONS:
        return WordClass.PAST
    if place.before in DETERMINERS and place.before != "that":
        return WordClass.NOUN
    return _read_by_time(place)


def _read_by_time(place: Place) -> Choice:
    """After a noun or pronoun the spelling hides the tense, other words of the sentence show it."""
    before = place.before
    words = place.sentence()
    if {"this", "morning"} <= words and "every" not in words and before != BOUNDARY:
        return WordClass.PAST
    is_plural = before.endswith("s") and not before.endswith(("ss", "'s"))
    present = is_plural or before in ("i", "you", "we", "they") or before in CONJUNCTIONS
    if before == BOUNDARY or (present and not place.sentence() & PAST_CUES):
        return WordClass.VERB
    return WordClass.PAST


def _live(place: Place) -> Choice:
    is_wish = place.at(-1) == "long" or (place.after == "and" and place.at(2) in ("learn", "let"))
    if place.before in BEFORE_VERB or is_wish:
        return WordClass.VERB
    at_home = place.after in LIVE_PLACES or place.after in CONJUNCTIONS or place.after == BOUNDARY
    is_plural = place.before.endswith("s") and place.before not in TO_BE | TO_HAVE
    settled = place.before in SUBJECTS | LIVERS or (is_plural and place.before not in THIRD_PERSON)
    if settled and (at_home or place.before in SUBJECTS):
        return WordClass.VERB
    return WordClass.ADJECTIVE


def _lives(place: Place) -> Choice:
    if place.before in THIRD_PERSON:
        return WordClass.VERB
    singular = place.before not in DETERMINERS | PREPOSITIONS | {BOUNDARY}
    verb = singular and not place.before.endswith("s") and place.after in LIVE_PLACES
    return WordClass.VERB if verb else WordClass.NOUN


def _close(place: Place) -> Choice:
    before, after = place.before, place.after
    if place.at(-1) in DEGREES or before in TO_BE or after in CLOSE_NOUNS:
        return WordClass.ADJECTIVE
    if before in BEFORE_VERB:
        return WordClass.VERB
    if before in AFTER_NEAR_VERB or after in ("to", "by", "enough", "together", "behind"):
        return WordClass.ADJECTIVE
    chosen = word_class(place)
    if before in DETERMINERS and chosen == WordClass.NOUN:
        return WordClass.NOUN
    if before == BOUNDARY or chosen == WordClass.VERB or before.endswith("s"):
        return WordClass.VERB
    return WordClass.ADJECTIVE


def _lead(place: Place) -> Choice:
    metal = place.after in METAL_AFTER or METAL_NEAR & place.sentence()
    return "lˈɛd" if metal and place.before not in BEFORE_VERB | SUBJECTS else None


def _tear(place: Place) -> Choice:
    if place.before == BOUNDARY and place.after in PREPOSITIONS | PARTICLES:
        return WordClass.VERB
    ripped = RIP_NEAR & place.sentence()
    if place.after in ("gas", "gases", "drop", "drops", "duct"):
        return WordClass.NOUN
    return WordClass.VERB if ripped else word_class(place)


def _bass(place: Place) -> Choice:
    return WordClass.NOUN if FISH_NEAR & place.sentence() else WordClass.ADJECTIVE


def _wind(place: Place) -> Choice:
    if place.before == BOUNDARY and place.after in ("up", "down"):
        return WordClass.VERB
    chosen = word_class(place)
    if chosen == WordClass.VERB and (place.after in WIND_PATHS or place.after == BOUNDARY):
        return WordClass.VERB
    return WordClass.NOUN


def _winds(place: Place) -> Choice:
    winding = place.after in ("through", "along", "around", "its", "up", "down", "past")
    roads = place.before in ("road", "path", "river", "trail", "route", "street", "it", "which")
    return "wˈIndz" if winding and roads else None


def _minute(place: Place) -> Choice:
    return WordClass.ADJECTIVE if place.after in TINY_NOUNS else WordClass.NOUN


def _resume(place: Place) -> Choice:
    if place.before in DOCUMENT_CUES and place.at(-1) == place.before:
        is_document = place.after in PREPOSITIONS | {BOUNDARY, "and", "is", "was", "here"}
        return "ɹˈɛzəmˌA" if is_document else None
    return None


def _wound(place: Place) -> Choice:
    winding = place.after in ("up", "down", "around", "through", "its")
    winding = winding or place.before in ("he", "she", "i", "we", "they", "who")
    return WordClass.PAST if winding else WordClass.NOUN


def _dove(place: Place) -> Choice:
    dived = place.before in SUBJECTS or place.after in ("into", "in", "down", "under", "off")
    return WordClass.VERB if dived else WordClass.NOUN


def _bow(place: Place) -> Choice:
    if place.after in ("down", "out", "to") or place.before == "to":
        return WordClass.VERB
    return WordClass.NOUN


def _invalid(place: Place) -> Choice:
    person = place.before in ("an", "the") and place.after in ("chair", "carriage", BOUNDARY)
    return WordClass.NOUN if person else None


def _content(place: Place) -> Choice:
    if place.before in TO_BE or place.at(-1) in DEGREES or place.after in ("with", "to"):
        return WordClass.ADJECTIVE
    return WordClass.NOUN


def _used(place: Place) -> Choice:
    if place.after != "to":
        return WordClass.PAST if place.before in ("get", "got") else None
    # `it is used to open doors`, but `she is used to driving`, `used to the noise`.
    object_of_to = place.at(2) in DETERMINERS | OBJECTS or place.at(2).endswith("ing")
    return WordClass.PAST if place.before not in TO_BE - {"i'm", "he's"} or object_of_to else None


def _does(place: Place) -> Choice:
    """Female deer after an article or a number, else the verb."""
    is_deer = place.at(-1) in ("the", "these", "those", "two", "three", "several", "many")
    is_verb = place.after in SUBJECTS or place.after in ("not", "the")
    return "dˈOz" if is_deer and not is_verb else None


def _moped(place: Place) -> Choice:
    return WordClass.VERB if place.before in ("he", "she", "they", "we", "i") else WordClass.NOUN


def _that(place: Place) -> Choice:
    """Demonstrative (`that door`, `that is`) or conjunction (`the car that you see`)."""
    pointing = place.before in PREPOSITIONS | CONJUNCTIONS | BEFORE_VERB | {BOUNDARY}
    return WordClass.DETERMINER if pointing or place.after == BOUNDARY else None


def _overall(place: Place) -> Choice:
    return WordClass.ADVERB if place.after == BOUNDARY and place.before != BOUNDARY else None


_RULES: Dict[str, Callable[[Place], Choice]] = {
    **{"read": _read, "reread": _read, "live": _live, "lives": _lives, "close": _close},
    **{"lead": _lead, "tear": _tear, "bass": _bass, "wind": _wind, "winds": _winds},
    **{"minute": _minute, "resume": _resume, "wound": _wound, "dove": _dove, "bow": _bow},
    **{"invalid": _invalid, "content": _content, "used": _used, "does": _does, "moped": _moped},
    **{"that": _that, "overall": _overall, "underground": _overall, "uphill": _overall},
}


def is_homograph(word: str) -> bool:
    """Whether `word`, lower case, has a rule of its own here."""
    return word in _RULES


def choose(place: Place, entry: Entry) -> Choice:
    """The reading of the word at `place`: a class of `entry`, phonemes, or None for default."""
    if place.before not in BEFORE_VERB | SUBJECTS and place.after in COMPOUNDS.get(place.word, ()):
        return WordClass.NOUN
    rule: Optional[Callable[[Place], Choice]] = _RULES.get(place.word)
    if rule is not None:
        return rule(place)
    chosen = word_class(place)
    if chosen is WordClass.ADJECTIVE and chosen not in entry.variants:
        # `the refuse bin`: what stands before a noun and is no adjective is itself a noun.
        return WordClass.NOUN
    return chosen
