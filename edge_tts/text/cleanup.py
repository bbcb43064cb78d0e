"""Take markup, emoji and control characters out and fold compatibility forms, keeping offsets."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from typing import FrozenSet, Iterator, List, Optional, Pattern, Tuple

from edge_tts.text.characters import is_emoji
from edge_tts.text.control_words import CONTROL_WORD, PLACEHOLDER
from edge_tts.text.enumerations import inline_markers
from edge_tts.text.report import Tally
from edge_tts.text.tokens import Span


@dataclass(frozen=True)
class CleanText:
    """Folded text; character `i` of it stands for source offsets `starts[i]` to `ends[i]`."""

    text: str
    starts: Tuple[int, ...]
    ends: Tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Source range of the non-empty range `start` to `end` of the folded text."""
        return Span(self.starts[start], self.ends[end - 1])


# A tag must look like one, so that "a < b and c > d" keeps its signs.
# Colours and titles of a terminal (ECMA-48 control sequences), as in text piped from a log.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")
_TAG = re.compile(r"</?[A-Za-z][\w:-]{0,30}(?:\s[^<>\n]{0,300})?/?>|<!--[^\n]{0,300}?-->")

# Each pattern's groups are what is dropped; the rest of the match stays.
_MARKUP: Tuple[Pattern[str], ...] = (
    re.compile(r"^[ \t]{0,8}(#{1,6})[ \t]+", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}(>(?:[ \t]?>){0,8})[ \t]*(?=\S)", re.MULTILINE),
    re.compile(
        r"^[ \t]{0,8}((?:-[ \t]*){3,80}|(?:\*[ \t]*){3,80}|(?:_[ \t]*){3,80})$", re.MULTILINE
    ),
    re.compile(r"^[ \t]{0,8}([-*+•‣◦▪●○■])[ \t]+(?=\S)(\[[ xX]\][ \t])?", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}(\(?\d{1,2}[.)）])[ \t]+(?=[^\W\d])", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}([(（]\d{1,2}[)）])[ \t]*(?=[^\W\d])", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}(\d{1,2}、)[ \t]*(?=[^\W\d])(?!(?:\d|[^\n]){0,3}、\d)", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}(\|?(?:[ \t]*:?-{3,40}:?[ \t]*\|?){1,20})$", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}(\|)(?=[^\n]*\|[ \t]*$)", re.MULTILINE),
    re.compile(r"(?<=\S)[ \t]*(\|)[ \t]*$", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}((?:```|~~~)[\w+-]{0,20})[ \t]*$", re.MULTILINE),
    re.compile(r"(!?\[)(?!LNG)[^\[\]\n]{0,300}(\]\([^()\s]{0,500}\))"),
    re.compile(r"(<)(?=https?://|[\w.+-]{1,64}@)[^<>\s]{1,300}(>)"),
    re.compile(r"(?<!\*)(\*\*\*|\*\*|~~)(?=[^\s*~])[^\n]{1,300}?(?<=[^\s*~])(\1)"),
    re.compile(r"(?<![\w*])(\*)(?=[^\s*])[^*\n]{1,300}(?<=[^\s*])(\*)(?![\w*])"),
    re.compile(r"(?<![^\W_])(__?)(?=[^\s_])[^_\n]{1,300}(?<=[^\s_])(\1)(?![^\W_])"),
    re.compile(r"(`{1,3})"),
)
_PARTED = re.compile(r"(?:^|\W|\b(?:and|or)|[和或及])$")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#39|#\d{2,6});")

_KEPT = frozenset("²³½¼¾…™℠")
_FOLDS = {
    "㎡": "m²",
    "㎥": "m³",
    "㎞": "km",
    "№": "No.",
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "⅓": "1/3",
    "⅔": "2/3",
    "⅛": "1/8",
    "⅜": "3/8",
    "⅝": "5/8",
    "⅞": "7/8",
    "％": "%",
    "∶": ":",
    "⁄": "/",
    "∕": "/",
    "µ": "μ",
    "Ω": "Ω",
    "￥": "¥",
    "—": "—",
    "º": "°",
    "˚": "°",
}
_FOLDS.update(dict.fromkeys("‐‑‒−﹣－﹘", "-"))
_FOLDS.update(dict.fromkeys("～〜∼˜∽", "~"))
_FOLDS.update(dict.fromkeys("•・‧∙⋅･", "·"))
_FOLDS.update(dict.fromkeys("‘’ʼ´′＇", "'"))
_FOLDS.update(dict.fromkeys("″＂", '"'))
_FOLDS.update(dict.fromkeys("⭢⟶➔➜➝➞➡", "→"))
_FOLDS.update(dict.fromkeys("✕✖⨯", "×"))
_FOLDS.update(dict.fromkeys("✚➕", "+"))
_VULGAR = frozenset("½¼¾⅓⅔⅛⅜⅝⅞")
# Chinese marks stay as they are: they tell the language of a text without letters.
_CHINESE_MARKS = frozenset("，。！？：；、（）《》〈〉「」『』【】“”…—")
_SUBSCRIPTS = frozenset("₀₁₂₃₄₅₆₇₈₉")
_EXPONENTS = frozenset("⁰¹⁴⁵⁶⁷⁸⁹⁻")
_BREAKS = frozenset("\n\r\v\f\x85\u2028\u2029")


def clean(
    text: str, tally: Optional[Tally] = None, control_words: FrozenSet[str] = frozenset()
) -> CleanText:
    """Fold `text` for reading; what is dropped is counted in `tally`.

    Each of `control_words` becomes one `PLACEHOLDER`; other control words are dropped.
    """
    tally = Tally() if tally is None else tally
    dropped, replaced = _find_markup(text, tally, control_words)
    chars: List[str] = []
    starts: List[int] = []
    ends: List[int] = []
    at = 0
    while at < len(text):
        if dropped[at]:
            at += 1
            continue
        end, folded = replaced.get(at) or _fold_at(text, at, tally)
        if text[at] in _VULGAR and chars and chars[-1].isdigit():
            folded = " " + folded
        for char in folded:
            chars.append(char)
            starts.append(at)
            ends.append(end)
        at = end
    return CleanText("".join(chars), tuple(starts), tuple(ends))


def _find_markup(
    text: str, tally: Tally, control_words: FrozenSet[str]
) -> "Tuple[bytearray, dict[int, Tuple[int, str]]]":
    """Offsets to drop; entities and control words to replace, as start → (end, character)."""
    dropped = bytearray(len(text))
    kept = {}
    for match in CONTROL_WORD.finditer(text):
        if match.group() in control_words:
            kept[match.start()] = (match.end(), PLACEHOLDER)
        else:
            _drop(dropped, text, match.span(), "tag", tally)
    # To the patterns below, a control word is no tag and no markup.
    hidden = CONTROL_WORD.sub(lambda match: PLACEHOLDER * len(match.group()), text)
    for match in _TERMINAL.finditer(hidden):
        _drop(dropped, text, match.span(), "control", tally)
    for match in _TAG.finditer(hidden):
        _drop(dropped, text, match.span(), "tag", tally)
    for pattern in _MARKUP:
        for match in pattern.finditer(hidden):
            if dropped[match.start()]:
                continue
            for group in range(1, pattern.groups + 1):
                if match.group(group):
                    _drop(dropped, text, match.span(group), "markup", tally)
    kept.update(_list_joints(hidden, dropped, text, tally))
    entities = {
        match.start(): (match.end(), html.unescape(match.group()).replace("\xa0", " "))
        for match in _ENTITY.finditer(hidden)
    }
    return dropped, {**entities, **kept}


def _list_joints(
    hidden: str, dropped: bytearray, text: str, tally: Tally
) -> "Iterator[Tuple[int, Tuple[int, str]]]":
    """Drop the markers of a list in one line; where no mark parts its items, a semicolon does."""
    for start, end in inline_markers(hidden):
        before = hidden[:start].rstrip(" \t")
        if _PARTED.search(before):
            _drop(dropped, text, (start, end), "markup", tally)
        elif not dropped[start]:
            yield start, (end, "；")


def _drop(dropped: bytearray, text: str, span: Tuple[int, int], kind: str, tally: Tally) -> None:
    fresh = [at for at in range(*span) if not dropped[at]]
    for at in fresh:
        dropped[at] = 1
    tally.add(kind, "".join(text[at] for at in fresh))


def _fold_at(text: str, at: int, tally: Tally) -> Tuple[int, str]:
    """End of the source character at `at`, marks that combine with it included, and its fold."""
    char = text[at]
    end = at + 1
    if char.isascii() and char.isprintable():
        while end < len(text) and end - at < 4 and unicodedata.combining(text[end]):
            end += 1
        return end, _compose(text[at:end]) if end - at > 1 else char
    if char in _BREAKS:
        return end, "\n"
    if is_emoji(char) and char not in _FOLDS:
        tally.add("emoji", char)
        return end, ""
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn") or char == PLACEHOLDER:
        tally.add("control", char)
        return end, " " if char in "\t\x1c\x1d\x1e\x1f" else ""
    if category.startswith("Z"):
        return end, " "
    return end, _fold_char(char, category, text, at)


def _compose(cluster: str) -> str:
    composed = unicodedata.normalize("NFC", cluster)
    return composed if len(composed) == 1 else cluster[0]


def _fold_char(char: str, category: str, text: str, at: int) -> str:
    exponent = _exponent(char, text[at - 1 : at])
    if exponent:
        return exponent
    if char in _FOLDS:
        return _FOLDS[char]
    if char in "：．" and _between_digits(text, at):
        return unicodedata.normalize("NFKC", char)
    if char in _KEPT or char in _CHINESE_MARKS:
        return char
    if category == "Nd" or char in _SUBSCRIPTS:
        return str(unicodedata.digit(char))
    folded = unicodedata.normalize("NFKC", char)
    # Circled digits stand side by side without becoming one number.
    return f" {folded} " if category == "No" and folded.isdigit() else folded


def _exponent(char: str, previous: str) -> str:
    """`10⁻¹²` as `10^-12`; a raised digit after a letter is a note or a unit."""
    goes_on = previous != "" and previous in _EXPONENTS
    if not (char in _EXPONENTS and (previous.isdecimal() or goes_on)) and not (
        goes_on and char in "²³"
    ):
        return ""
    return ("" if goes_on else "^") + ("-" if char == "⁻" else str(unicodedata.digit(char)))


def _between_digits(text: str, at: int) -> bool:
    return text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit()
