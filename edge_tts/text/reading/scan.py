"""Walk over cleaned text and cut it into items, trying recognisers in order of precedence."""

from __future__ import annotations

import re
from typing import Callable, Iterator, Optional, Sequence, Tuple

from edge_tts.text.characters import is_han, is_latin
from edge_tts.text.control_words import PLACEHOLDER
from edge_tts.text.language_runs import Run
from edge_tts.text.reading import (
    abbreviations,
    codes,
    dates,
    money,
    multiples,
    numerics,
    road_codes,
    roman,
    scores,
    sizes,
    symbols,
    times,
    words,
)
from edge_tts.text.reading.items import Control, Dropped, Hanzi, Item, Word
from edge_tts.text.reading.place import Place
from edge_tts.text.reading.units import UnitTable
from edge_tts.text.tokens import Language

Recogniser = Callable[[Place], Optional[Item]]

_NUMERIC: Tuple[Recogniser, ...] = (
    codes.address,
    dates.named_day,
    dates.after_unit_digits,
    dates.date,
    scores.cued_score,
    sizes.coordinate,
    sizes.inches,
    times.duration,
    times.clock,
    codes.phone,
    codes.version,
    money.money,
    times.ordinal,
    road_codes.tyre,
    numerics.power,
    numerics.fraction,
    dates.year,
    multiples.times,
    multiples.grouped,
    numerics.measured,
    scores.ratio,
    codes.code,
    codes.identifier,
    scores.falling,
    numerics.number_range,
    numerics.cardinal,
)
_SIGNED: Tuple[Recogniser, ...] = (
    dates.apostrophe_decade,
    money.european,
    money.money,
    codes.phone,
    numerics.signed,
    numerics.point_first,
    symbols.mark,
    symbols.sign,
)
_LETTER: Tuple[Recogniser, ...] = (
    codes.address,
    money.money,
    words.special_form,
    times.iso_joint,
    times.half_first,
    dates.month_name,
    words.weekday_range,
    road_codes.post,
    codes.version,
    roman.roman,
    abbreviations.abbreviation,
    codes.code,
    words.compound,
    words.word,
)
_LANGUAGE_TAG = re.compile(r"\[LNG(?:zh|en)\]")


def scan(text: str, runs: Sequence[Run], units: UnitTable) -> Iterator[Tuple[Item, Language]]:
    """Items of `text` in order, each with the language its run is read in.

    Every non-space character lies in exactly one item.
    """
    at = 0
    for run in runs:
        while at < run.end:
            if text[at].isspace():
                at += 1
                continue
            item = _item_at(Place(text, at, run.language, units))
            yield item, run.language
            at = item.end


def _item_at(place: Place) -> Item:
    char = place.text[place.at]
    if is_han(char):
        return road_codes.plate(place) or Hanzi(place.at, place.at + 1, char)
    if char.isdigit() and char.isascii():
        return _first(_NUMERIC, place)
    if is_latin(char):
        return _first(_LETTER, place) if char.isascii() else _word(place)
    if char == PLACEHOLDER:
        return Control(place.at, place.at + 1)
    match = _LANGUAGE_TAG.match(place.text, place.at)
    if match:
        return Dropped(place.at, match.end(), "tag")
    return _first(_SIGNED, place)


def _first(recognisers: Sequence[Recogniser], place: Place) -> Item:
    for recognise in recognisers:
        item = recognise(place)
        if item is not None:
            return item
    return symbols.unspeakable(place)


def _word(place: Place) -> Item:
    return words.word(place) or Word(place.at, place.at + 1, place.text[place.at])
