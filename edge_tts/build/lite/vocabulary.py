"""The text side of a vocabulary: SentencePiece, and the tags for languages and speakers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

from edge_tts.build.lite.config import LiteConfig
from edge_tts.build.lite.json_file import JsonFile
from edge_tts.errors import ModelError
from edge_tts.text.tokens import Language
from edge_tts.voices.lite.tags import known_tags
from edge_tts.voices.lite.tokenizer import open_model

NAMES = ("spiece.model", "sentencepiece.model", "tokenizer.model")


@dataclass(frozen=True)
class Vocabulary:
    """`languages` and `speakers` hold text ids by name; `n_rows` embeddings are needed for all."""

    path: Path
    languages: Dict[str, int]
    speakers: Dict[str, int]
    n_rows: int


def read_vocabulary(checkpoint: Path, config: LiteConfig) -> Vocabulary:
    """Raises ModelError without tags, and for ids that the model has no text embedding for."""
    path = next((checkpoint / n for n in NAMES if (checkpoint / n).is_file()), None)
    if path is None:
        raise ModelError(
            f"{checkpoint} has no SentencePiece model; it needs one of {', '.join(NAMES)}",
            code="model.file_missing",
        )
    processor = open_model(path)
    pieces = dict(_pieces(processor))
    pieces.update(_added(checkpoint))
    languages, speakers = known_tags(pieces.items())
    _check_tags(path, languages, speakers)
    numbers = [*range(processor.get_piece_size()), *languages.values(), *speakers.values()]
    highest = max([*numbers, config.end_id])
    if highest >= config.t5.n_ids:
        raise _invalid(path, f"it has the id {highest}, the model {config.t5.n_ids} embeddings")
    clash = next((number for number in numbers if config.overlaps_codes(number)), None)
    if clash is not None:
        raise _invalid(path, f"its id {clash} is a code after 'codec.code_offsets'")
    return Vocabulary(path, languages, speakers, highest + 1)


def _pieces(processor: Any) -> Iterator[Tuple[str, int]]:
    for number in range(processor.get_piece_size()):
        yield processor.id_to_piece(number), number


def _added(checkpoint: Path) -> Dict[str, int]:
    """Tokens added outside SentencePiece, by either file that Hugging Face keeps them in."""
    found: Dict[str, int] = {}
    old, new = checkpoint / "added_tokens.json", checkpoint / "tokenizer_config.json"
    if old.is_file():
        file = JsonFile.read(old)
        found.update({token: file.integer(token, least=0) for token in file.names()})
    if new.is_file() and JsonFile.read(new).has("added_tokens_decoder"):
        section = JsonFile.read(new).section("added_tokens_decoder")
        for number in section.names():
            if not number.isdecimal():
                raise section.fault(number, "is not an id")
            found[section.section(number).text("content")] = int(number)
    return found


def _check_tags(path: Path, languages: Dict[str, int], speakers: Dict[str, int]) -> None:
    if not speakers:
        raise _invalid(path, "it has no speaker tag such as [SPKname]")
    spoken = [language.value for language in Language]
    if not set(languages) & set(spoken):
        wanted = " or ".join(f"[LNG{name}]" for name in spoken)
        raise _invalid(path, f"it has no language tag {wanted}")


def _invalid(path: Path, cause: str) -> ModelError:
    return ModelError(
        f"{path} is not the vocabulary of a lite checkpoint: {cause}",
        code="model.checkpoint_invalid",
    )
