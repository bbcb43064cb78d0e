"""Units of measure: a table of readings that a device maker can extend or override."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Dict, Mapping, Optional, Pattern

from edge_tts.text.reading import tables


@dataclass(frozen=True)
class Unit:
    """How a unit is said: English singular and plural, Chinese after the number.

    `needs` names a class of context words without which the symbol is not taken for this unit
    (`A` is amperes only beside electric words); empty means always.
    """

    one: str
    many: str
    chinese: str
    needs: str = ""


class UnitTable:
    """Symbol → unit. The shipped table is read from disk at the first look-up.

    `overrides` wins over it; an override of None removes a symbol.
    """

    def __init__(self, overrides: Optional[Mapping[str, Optional[Unit]]] = None) -> None:
        self._overrides = dict(overrides or {})
        self._entries: Optional[Dict[str, Unit]] = None
        self._pattern: Optional[Pattern[str]] = None

    def extended(self, overrides: Mapping[str, Optional[Unit]]) -> "UnitTable":
        """A copy with more overrides."""
        return UnitTable({**self._overrides, **overrides})

    def find(self, symbol: str) -> Optional[Unit]:
        """The unit written `symbol`, or None."""
        return self._table().get(symbol)

    def match(self, text: str, at: int) -> "Optional[re.Match[str]]":
        """The longest known symbol at `at` that does not run on into a word."""
        if self._pattern is None:
            symbols = sorted(self._table(), key=len, reverse=True)
            self._pattern = re.compile(
                f"(?:{'|'.join(map(re.escape, symbols))})(?![A-Za-z0-9²³])|[%‰](?=[A-Z])"
            )
        return self._pattern.match(text, at)

    def _table(self) -> Dict[str, Unit]:
        if self._entries is None:
            merged: Dict[str, Optional[Unit]] = dict(_shipped())
            merged.update(self._overrides)
            self._entries = {symbol: unit for symbol, unit in merged.items() if unit is not None}
        return self._entries


DEFAULT = UnitTable()


@functools.lru_cache(maxsize=None)
def _shipped() -> Dict[str, Unit]:
    units: Dict[str, Unit] = {}
    for symbols, one, many, chinese, *needs in tables.rows("units"):
        for symbol in symbols.split():
            units[symbol] = Unit(one, many, chinese, needs[0] if needs else "")
    return units
