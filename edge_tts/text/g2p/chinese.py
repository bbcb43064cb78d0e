"""Chinese characters to phonemes: words, readings in context, tone sandhi.

The spaces between words matter to the model: without them a recogniser misread 9.6 % of the
characters of 20 sentences instead of 5.6 % (int8 Kokoro, zf_xiaobei, Whisper base).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import Counter as CounterType
from typing import List, Optional, Sequence, Tuple

from edge_tts.text.g2p.pinyin import Syllable, syllable_phonemes
from edge_tts.text.g2p.tone_sandhi import apply_sandhi
from edge_tts.text.g2p.zh_lexicon import ChineseLexicon, Hanzi, unpack
from edge_tts.text.g2p.zh_names import join_names
from edge_tts.text.g2p.zh_polyphones import PolyphoneRules
from edge_tts.text.g2p.zh_segment import Word, segment
from edge_tts.text.tokens import Language, Token, TokenKind

Syllables = List[Optional[Syllable]]


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
            pronounced.extend(self._pronounce_run(run) if chinese else run)
        return pronounced

    def read(self, text: str) -> Tuple[List[Word], Syllables]:
        """Words and spoken syllables of a run of characters; None where a character is unknown."""
        own = self._lexicon.hanzi(text)
        simplified = self._lexicon.simplified(text)
        hanzi = self._lexicon.hanzi(simplified) if simplified != text else own
        words = join_names(simplified, segment(hanzi, self._lexicon.entries(simplified)))
        syllables: Syllables = []
        for word in words:
            syllables.extend(self._word_reading(simplified, word, hanzi))
        for position, character in enumerate(own):
            syllables[position] = _reconcile(syllables[position], character)
        apply_sandhi(simplified, words, syllables)
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

    def _pronounce_run(self, run: Sequence[Token]) -> List[Token]:
        words, syllables = self.read("".join(token.text for token in run))
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


def _is_hanzi(token: Token) -> bool:
    return token.kind is TokenKind.WORD and token.language is Language.ZH and len(token.text) == 1


def _reconcile(syllable: Optional[Syllable], own: Optional[Hanzi]) -> Optional[Syllable]:
    """Keep the simplified form's reading only if the character itself can be read so (髮 is fà)."""
    if own is None or syllable in own.readings:
        return syllable
    return own.readings[0]
