"""What a built voice records about itself, as `settings.json` in its directory."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, Tuple

from edge_tts.errors import ModelError

MEL_BANDS = 80


@dataclass(frozen=True)
class Settings:
    """Constants of one voice; sizes that the engines' tensors show are not repeated here."""

    generation: str
    """`cosyvoice1` or `cosyvoice2`."""
    sample_rate_hz: int
    token_rate_hz: int
    samples_per_frame: int
    n_speech_tokens: int
    stop_ids: Tuple[int, ...]
    top_p: float
    top_k: int
    repeat_window: int
    repeat_share: float
    guidance: float
    n_steps: int
    sine_level: float
    noise_level: float
    voiced_above_hz: float
    n_heads: int
    """Heads of keys and values in the language model's cache."""
    head_size: int
    n_layers: int
    max_positions: int

    @property
    def is_second(self) -> bool:
        """Whether the voice is of the CosyVoice 2 kind."""
        return self.generation == "cosyvoice2"

    @classmethod
    def read(cls, path: Path) -> "Settings":
        """Raises ModelError for a file that does not hold exactly these fields."""
        try:
            fields: Dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            settings = cls(**{**fields, "stop_ids": tuple(fields["stop_ids"])})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ModelError(
                f"{path} does not describe a CosyVoice voice ({error}); build the voice again",
                code="model.manifest_invalid",
            ) from error
        return settings

    def write(self, path: Path) -> None:
        """Save as JSON, one field per line."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
