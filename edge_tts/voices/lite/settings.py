"""What a built voice records about itself, as `settings.json` in its directory."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, Tuple

from edge_tts.errors import ModelError

FLAT, DELAY = "flat", "delay"


@dataclass(frozen=True)
class CodecLayout:
    """How EnCodec's codes lie in the decoder's sequence.

    `FLAT`: one code per position, the codebooks of a frame after each other. `DELAY`: one code of
    every codebook per position, codebook k `delays[k]` positions late (Copet et al. 2023).
    """

    sample_rate_hz: int
    frame_rate_hz: int
    n_codebooks: int
    codebook_size: int
    interleaving: str
    delays: Tuple[int, ...]

    @property
    def positions_per_frame(self) -> int:
        """Decoder positions that one frame takes."""
        return self.n_codebooks if self.interleaving == FLAT else 1

    @property
    def stop_id(self) -> int:
        """Score of the end of speech, behind those of all codes."""
        return self.n_codebooks * self.codebook_size

    @property
    def start_row(self) -> int:
        """Row of the embedding table that the first position has in every codebook."""
        return self.n_codebooks * self.codebook_size

    @property
    def pad_row(self) -> int:
        """Row that stands where a delayed codebook has no code."""
        return self.start_row + 1

    def row(self, codebook: int, code: int) -> int:
        """Row of the embedding table, and place among the scores, of one code."""
        return codebook * self.codebook_size + code


@dataclass(frozen=True)
class Sampling:
    """How codes are drawn; see `Sampler`. `repeat_window` 0 switches the guard off."""

    is_greedy: bool
    temperature: float
    top_k: int
    top_p: float
    repetition_penalty: float
    repeat_window: int
    repeat_share: float


@dataclass(frozen=True)
class Settings:
    """Constants of one voice; sizes that the engines' tensors show are not repeated here."""

    codec: CodecLayout
    sampling: Sampling
    n_layers: int
    """Of the decoder."""
    n_heads: int
    head_size: int
    max_distance: int
    """Positions further apart than this share one relative position bias."""
    end_of_text: int
    languages: Dict[str, int]
    """Text id by language, as `zh` for the tag `[LNGzh]`."""
    speakers: Dict[str, int]
    """Text id by speaker, as `alice` for the tag `[SPKalice]`."""

    @classmethod
    def read(cls, path: Path) -> "Settings":
        """Raises ModelError for a file that does not hold exactly these fields."""
        try:
            fields: Dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            codec, sampling = fields.pop("codec"), fields.pop("sampling")
            codec["delays"] = tuple(codec["delays"])
            return cls(codec=CodecLayout(**codec), sampling=Sampling(**sampling), **fields)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ModelError(
                f"{path} does not describe a lite voice ({error}); build the voice again",
                code="model.manifest_invalid",
            ) from error

    def write(self, path: Path) -> None:
        """Save as JSON, one field per line."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
