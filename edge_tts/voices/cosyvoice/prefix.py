"""What the language model is given before it speaks: marks, speaker, text and spoken example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from edge_tts.runtime.engine import Engine
from edge_tts.voices.cosyvoice.language_model import LanguageModel

_NORM_FLOOR = 1e-12


@dataclass(frozen=True)
class Affine:
    """A linear layer: `weight` float32 [out, in], `bias` float32 [out]."""

    weight: "np.ndarray"
    bias: "np.ndarray"

    def of_direction(self, vector: "np.ndarray") -> "np.ndarray":
        """The layer applied to `vector` [in] scaled to length 1: [1, out]."""
        unit = vector / max(float(np.linalg.norm(vector)), _NORM_FLOOR)
        projected: np.ndarray = self.weight @ unit + self.bias
        return projected.astype(np.float32)[None]


@dataclass(frozen=True)
class TextModel:
    """The text side: `embeddings` [ids, width], mapped from disk; `marks` [2, width]: start, task.

    `encoder` and `speaker` are CosyVoice 1's; CosyVoice 2 reads embeddings as they are and has no
    speaker in its language model.
    """

    embeddings: "np.ndarray"
    marks: "np.ndarray"
    encoder: Optional[Engine]
    speaker: Optional[Affine]

    def prefix(
        self,
        text_ids: "np.ndarray",
        speaker: Optional["np.ndarray"],
        prompt_tokens: "np.ndarray",
        model: LanguageModel,
    ) -> "np.ndarray":
        """Float32 [n, width]. `text_ids` begin with the prompt's text where there is a prompt.

        `speaker` is the raw embedding, None to leave the speaker to the prompt or the instruction.
        """
        codes: np.ndarray = np.asarray(self.embeddings[text_ids], np.float32)
        if self.encoder is not None:
            codes = self.encoder.run({"embedded": codes})["codes"]
        rows = [self.marks[:1]]
        if self.speaker is not None and speaker is not None:
            rows.append(self.speaker.of_direction(speaker))
        rows += [codes, self.marks[1:]]
        if len(prompt_tokens):
            rows.append(model.embed(prompt_tokens))
        return np.concatenate(rows)
