"""Tone changes of Mandarin in connected speech.

Chao, A Grammar of Spoken Chinese (1968), §1.3; Duanmu, The Phonology of Standard Chinese (2007).
"""

from __future__ import annotations

import re
from typing import List, Optional, Sequence

from edge_tts.text.g2p.pinyin import NEUTRAL, Syllable
from edge_tts.text.g2p.zh_segment import Word

Syllables = List[Optional[Syllable]]

# 一 keeps its tone at the end, in a row of digits, and as an ordinal or a label: 第一, 周一, 统一,
# 负一层; 一月, 一号楼, 一等; 下午一点, 一点半, but not 一点 for "a little".
_CITATION_BEFORE = re.compile(r"[零〇一二两三四五六七八九十百千万亿幺第初周期拜统唯之负]$")
_CITATION_AFTER = re.compile(
    r"$|年级|[零〇一二三四五六七八九十幺月号日楼级等班]|路[公汽电巴车]|点[钟整半过零〇一二两三四五六七八九十]"
)
# 每天一班, 下一班 count; 一班 alone names.
_COUNTED_BEFORE = re.compile(r"[钟时天隔下上这那同后有乘坐]$")
_SCORE_BEFORE = re.compile(r"[零〇一二三四五六七八九十百]比$")
_DAYTIME = re.compile(r"(?:[午晨夜]|晚上|早上)$")
_DECIMAL = re.compile(r"[零〇一二两三四五六七八九十百千万亿]点$")

# A word these begin is the prefix and the rest.
_PREFIXES = frozenset("小老女好总")


def apply_sandhi(text: str, words: Sequence[Word], syllables: Syllables) -> None:
    """Change the tones of one run of characters in place."""
    for position, char in enumerate(text):
        if char == "一":
            _change_yi(text, position, syllables)
        elif char == "不":
            _change_bu(text, position, syllables)
    _change_third_tones(text, words, syllables)


def _tone(syllables: Syllables, position: int) -> int:
    """Tone at a position; 0 outside the text or where the syllable is unknown."""
    syllable = syllables[position] if 0 <= position < len(syllables) else None
    return syllable.tone if syllable else 0


def _set_tone(syllables: Syllables, position: int, tone: int) -> None:
    syllable = syllables[position]
    if syllable:
        syllables[position] = Syllable(syllable.base, tone)


def _between_same(text: str, position: int) -> bool:
    """Whether it stands as in 看一看, 好不好."""
    return 0 < position < len(text) - 1 and text[position - 1] == text[position + 1]


def _change_yi(text: str, position: int, syllables: Syllables) -> None:
    before, after = text[max(0, position - 2) : position], text[position + 1 : position + 3]
    if _CITATION_BEFORE.search(before):
        return
    if _between_same(text, position) and not before.startswith("一"):
        _set_tone(syllables, position, NEUTRAL)
        return
    counts = after.startswith("班") and _COUNTED_BEFORE.search(before)
    if _SCORE_BEFORE.search(before) and not after.startswith("比"):
        return
    if (not counts and _CITATION_AFTER.match(after)) or (
        _DAYTIME.search(before) and after.startswith("点")
    ):
        return
    if _DECIMAL.search(before) and not after.startswith("刻"):
        return
    rises = _tone(syllables, position + 1) == 4 or after.startswith("个")
    _set_tone(syllables, position, 2 if rises else 4)


def _change_bu(text: str, position: int, syllables: Syllables) -> None:
    if _between_same(text, position):
        _set_tone(syllables, position, NEUTRAL)
    elif _tone(syllables, position + 1) == 4 and _tone(syllables, position) != NEUTRAL:
        _set_tone(syllables, position, 2)


def _change_third_tones(text: str, words: Sequence[Word], syllables: Syllables) -> None:
    """A third tone before a third tone rises: inside words first, then across them.

    Two long words keep their own feet; a word of one character leans on its neighbour.
    """
    for word in words:
        _raise_within(text, word.start, word.end, syllables)
    for left, right in zip(reversed(words[:-1]), reversed(words[1:])):
        last = left.end - 1
        leans = 1 in (left.end - left.start, right.end - right.start)
        if leans and _tone(syllables, last) == 3 and _tone(syllables, right.start) == 3:
            _set_tone(syllables, last, 2)


def _raise_within(text: str, start: int, end: int, syllables: Syllables) -> None:
    """All but the last of a chain rise (展览馆 2-2-3), unless a prefix leads it (小老虎 3-2-3)."""
    chained = [
        position
        for position in range(start, end - 1)
        if _tone(syllables, position) == 3 and _tone(syllables, position + 1) == 3
    ]
    if len(chained) > 1 and chained[0] == start and text[start] in _PREFIXES:
        chained = chained[1:]
    for position in chained:
        _set_tone(syllables, position, 2)
