"""The markers of a list written in one line: `1. Open the door. 2. Sit down.`"""

from __future__ import annotations

import re
from typing import Iterator, List, Tuple

_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩"
_AFTER_MARK = r"(?<![^\s。；;.!?！？，,：:])"
_ITEM_BEGINS = r"[ \t]*(?=[^\W\d]|[“‘《「\"])"
_STYLES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"[(（](\d{{1,2}})[)）]{_ITEM_BEGINS}",
        rf"{_AFTER_MARK}(\d{{1,2}})[)）]{_ITEM_BEGINS}",
        rf"{_AFTER_MARK}(\d{{1,2}})\.(?:[ \t]+(?=[^\W\d])|(?=[\u4e00-\u9fff]))",
        rf"{_AFTER_MARK}(\d{{1,2}})、{_ITEM_BEGINS}",
        r"(\d)\ufe0f?\u20e3[ \t]*(?=\S)",
        rf"([{_CIRCLED}])[、.]?{_ITEM_BEGINS}(?![号线路楼层站])",
    )
)
_LINE = re.compile(r"[^\n]+")
# A list opens its line, or what a colon introduces.
_OPENING = re.compile(r"(?:[^\n]{0,60}[：:])?[ \t]{0,8}$")
_OPENING_REACH = 69


def inline_markers(text: str) -> Iterator[Tuple[int, int]]:
    """Spans of the markers that count 1, 2 … through one line of `text`."""
    for line in _LINE.finditer(text):
        for style in _STYLES:
            yield from _counted(style, text, line.span())


def _counted(style: "re.Pattern[str]", text: str, line: Tuple[int, int]) -> List[Tuple[int, int]]:
    found: List[Tuple[int, int]] = []
    for match in style.finditer(text, *line):
        if _value(match[1]) != len(found) + 1:
            continue
        if found or _opens(text, line[0], match.start()):
            found.append(match.span())
    return found if len(found) > 1 else []


def _opens(text: str, start: int, end: int) -> bool:
    return end - start <= _OPENING_REACH and _OPENING.match(text[start:end]) is not None


def _value(marker: str) -> int:
    return _CIRCLED.index(marker) + 1 if marker in _CIRCLED else int(marker)
