"""Chinese characters to phonemes: words, readings in context, tone sandhi.

The spaces between words matter to the model: without them a recogniser misread 9.6 % of the
characters of 20 sentences instead of 5.6 % (int8 Kokoro, zf_xiaobei, Whisper base).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import Collection, List, Optional, Sequence, Tuple
from typing import Counter as CounterType

from edge_tts.text.g2p.pinyin import Syllable, syllable_phonemes
from edge_tts.text.g2p.tone_sandhi import apply_sandhi
from edge_tts.text.g2p.zh_lexicon import ChineseLexicon, Hanzi, unpack
from edge_tts.text.g2p.zh_names import join_names
from edge_tts.text.g2p.zh_polyphones import PolyphoneRules
from edge_tts.text.g2p.zh_segment import Word, segment, without_traps
from edge_tts.text.tokens import Language, Token, TokenKind

Syllables = List[Optional[Syllable]]
_CODE_DIGIT = re.compile("一(?![百千万亿])")
_JOINED_TO_NUMBERS = frozenset("第初周期负双")


class ChineseG2P:
    """Fills the phonemes of Chinese tokens.

    `unknown` counts the characters no table can read; their phonemes stay empty. Its owner may
    read and clear it. Not thread-safe because of that counter.
    """

    def __init__(self) -> None:
        self.unknown: CounterType[str] = Counter()
        self._lexicon = ChineseLexicon()
        self._rules = PolyphoneRules()

    def pronounce(self, tokens: Sequence[Token]) -> List[Token]:
        """The tokens with Chinese words pronounced; all others are returned as they are.

        A word inside a run of Chinese starts with a space; the first word of a run does not, since
        what stands before it is the caller's to write.
        A suffixed 儿 keeps a syllable of its own, as in the model's training text: merging it into
        the syllable before was understood worse.
        """
        pronounced: List[Token] = []
        for chinese, group in groupby(tokens, key=_is_hanzi):
            run = list(group)
            before = pronounced[-1] if pronounced else None
            pronounced.extend(self._pronounce_run(run, before) if chinese else run)
        return pronounced

    def read(
        self, text: str, breaks: Collection[int] = (), *, is_coded: bool = False
    ) -> Tuple[List[Word], Syllables]:
        """Words and spoken syllables of a run of characters; None where a character is unknown.

        No word reaches over one of `breaks`. `is_coded` tells that the first character is a digit
        of a code that letters begin, as in B1.
        """
        own = self._lexicon.hanzi(text)
        simplified = self._lexicon.simplified(text)
        hanzi = self._lexicon.hanzi(simplified) if simplified != text else own
        words = join_names(
            simplified,
            segment(hanzi, without_traps(simplified, self._lexicon.entries(simplified), breaks)),
        )
        syllables: Syllables = []
        for word in words:
            syllables.extend(self._word_reading(simplified, word, hanzi))
        for position, character in enumerate(own):
            syllables[position] = _reconcile(syllables[position], character)
        first = syllables[0] if syllables else None
        apply_sandhi(simplified, words, syllables)
        if is_coded and _CODE_DIGIT.match(simplified):
            syllables[0] = first
        return words, syllables

    def _word_reading(
        self, text: str, word: Word, hanzi: Sequence[Optional[Hanzi]]
    ) -> Sequence[Optional[Syllable]]:
        """Lexicon first, then the rules, then the most usual reading of each character."""
        characters = hanzi[word.start : word.end]
        candidates = [character.readings if character else () for character in characters]
        reading: Syllables = [None] * len(candidates)
        if word.packed is not None:
            reading = unpack(word.packed, candidates)
        for offset, attested in enumerate(reading):
            ruled = self._rules.reading(text, word.start + offset, attested is not None)
            usual = candidates[offset][0] if candidates[offset] else None
            reading[offset] = ruled or attested or usual
        return reading

    def _pronounce_run(self, run: Sequence[Token], before: Optional[Token]) -> List[Token]:
        is_coded = before is not None and before.span == run[0].span
        text = "".join(token.text for token in run)
        words, syllables = self.read(text, _number_starts(run), is_coded=is_coded)
        starts = {word.start for word in words[1:]}
        pronounced = []
        for position, (token, syllable) in enumerate(zip(run, syllables)):
            if syllable is None:
                self.unknown[token.text] += 1
                pronounced.append(token)
                continue
            space = " " if position in starts else ""
            pronounced.append(replace(token, phonemes=space + syllable_phonemes(syllable)))
        return pronounced


def _number_starts(run: Sequence[Token]) -> List[int]:
    """Where several characters that one number is read as begin, but for 第一, 周三, 双十一."""
    return [
        at
        for at in range(1, len(run) - 1)
        if run[at].span == run[at + 1].span != run[at - 1].span
        and run[at - 1].text not in _JOINED_TO_NUMBERS
    ]


def _is_hanzi(token: Token) -> bool:
    return token.kind is TokenKind.WORD and token.language is Language.ZH and len(token.text) == 1


def _reconcile(syllable: Optional[Syllable], own: Optional[Hanzi]) -> Optional[Syllable]:
    """Keep the simplified form's reading only if the character itself can be read so (髮 is fà)."""
    if own is None or syllable in own.readings:
        return syllable
    return own.readings[0]
