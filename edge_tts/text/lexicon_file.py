"""The user lexicon's YAML file: strict reading, and reloading when it changes.

en:
  Geis: guys                      # other words, read as if the text had them
  Xiaomi: {ipa: "ʃˌWmˈi"}         # phonemes of the voice
zh:
  芝罘: {pinyin: "zhi1 fu2"}      # one syllable per character
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Sequence, Tuple

from edge_tts.errors import ConfigError
from edge_tts.text.g2p.pinyin import parse_syllable, syllable_phonemes
from edge_tts.text.g2p.vocabulary import fit
from edge_tts.text.lexicon import SILENT, Lexicon, LexiconEntry
from edge_tts.text.normalise import normalise
from edge_tts.text.tokens import Language, Token, TokenKind

if TYPE_CHECKING:
    from yaml import Node, ScalarNode

MAX_FILE_BYTES = 1 << 20
MAX_PHONEMES = 120

_log = logging.getLogger(__name__)


class UserLexicon:
    """The lexicon in a file, read again when the file's time or size changes. Not thread-safe.

    The first reading raises `ConfigError` when the file is bad. A later bad or missing file leaves
    the last good lexicon in use and is logged once for each state of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = _state(path)
        self._lexicon = read_lexicon(path)

    def current(self) -> Lexicon:
        """The lexicon as the file has it now."""
        state = _state(self._path)
        if state != self._seen:
            self._seen = state
            try:
                self._lexicon = read_lexicon(self._path)
            except ConfigError as error:
                _log.warning("%s; the lexicon read before stays in use", error)
        return self._lexicon


def read_lexicon(path: Path) -> Lexicon:
    """Read and check a lexicon file. Raises `ConfigError` naming file, line and key."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the lexicon {path}: {error}") from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError(f"the lexicon {path} is larger than {MAX_FILE_BYTES} bytes; split it")
    return Lexicon(_Reader(path).entries(text))


def _state(path: Path) -> Optional[Tuple[int, int]]:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


class _Reader:
    """Walks the YAML node tree, for only nodes know their lines and their text as written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def entries(self, text: str) -> List[LexiconEntry]:
        import yaml

        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            fault = " ".join(str(error).split())
            raise ConfigError(f"the lexicon {self._path} is not YAML: {fault}") from error
        if root is None:
            return []
        found = []
        for name, section in self._items(root, "the file"):
            language = self._language(name)
            for key, value in self._items(section, f"'{name.value}'"):
                found.append(self._entry(language, key, value))
        return found

    def _items(self, node: "Node", what: str) -> "Iterator[Tuple[ScalarNode, Node]]":
        import yaml

        if not isinstance(node, yaml.MappingNode):
            raise self._error(node, f"{what} must hold 'key: value' lines")
        seen: Dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key, "a key must be plain text")
            if key.value in seen:
                raise self._error(key, f"{key.value!r} is already on line {seen[key.value]}")
            seen[key.value] = key.start_mark.line + 1
            yield key, value

    def _language(self, name: "ScalarNode") -> Language:
        try:
            return Language(name.value)
        except ValueError:
            known = ", ".join(language.value for language in Language)
            raise self._error(name, f"{name.value!r} is not a language; use {known}") from None

    def _entry(self, language: Language, key: "ScalarNode", value: "Node") -> LexiconEntry:
        import yaml

        words = tuple(token.text.casefold() for token in _words(key.value, language))
        if not words:
            raise self._error(key, f"{key.value!r} has no word in it")
        if isinstance(value, yaml.ScalarNode):
            respelling = tuple(_words(value.value, language))
            if not respelling:
                raise self._error(value, f"{key.value!r}: the respelling has no word in it")
            return LexiconEntry(words, language, respelling=respelling)
        phonemes = self._phonemes(key, value, words)
        return LexiconEntry(words, language, phonemes=phonemes)

    def _phonemes(self, key: "ScalarNode", value: "Node", words: Sequence[str]) -> Tuple[str, ...]:
        items = list(self._items(value, f"{key.value!r}"))
        if len(items) != 1 or items[0][0].value not in ("ipa", "pinyin"):
            raise self._error(value, f"{key.value!r} needs a respelling, 'ipa:' or 'pinyin:'")
        notation, sound = items[0]
        written = str(sound.value).strip() if isinstance(sound.value, str) else ""
        if not written or len(written) > MAX_PHONEMES:
            raise self._error(sound, f"{key.value!r}: give 1 to {MAX_PHONEMES} characters")
        if notation.value == "ipa":
            return self._ipa(key, sound, written) + (SILENT,) * (len(words) - 1)
        return self._pinyin(key, sound, written, len(words))

    def _ipa(self, key: "ScalarNode", sound: "Node", written: str) -> Tuple[str, ...]:
        phonemes, unknown = fit(written)
        if unknown:
            raise self._error(sound, f"{key.value!r}: the voice has no symbol {unknown!r}")
        return (phonemes,)

    def _pinyin(
        self, key: "ScalarNode", sound: "Node", written: str, n_words: int
    ) -> Tuple[str, ...]:
        syllables = written.split()
        if len(syllables) != n_words:
            raise self._error(
                sound, f"{key.value!r} has {n_words} characters but {len(syllables)} syllables"
            )
        try:
            return tuple(syllable_phonemes(parse_syllable(syllable)) for syllable in syllables)
        except ValueError as error:
            raise self._error(sound, f"{key.value!r}: {error}") from error

    def _error(self, node: "Node", problem: str) -> ConfigError:
        return ConfigError(f"{self._path}, line {node.start_mark.line + 1}: {problem}")


def _words(text: str, language: Language) -> List[Token]:
    forced = language if language is Language.EN else None
    return [t for t in normalise(text, language=forced) if t.kind is TokenKind.WORD]
