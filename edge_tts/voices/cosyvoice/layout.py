"""What the language model is given beside the text: the layouts the official code trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from edge_tts.voices.cosyvoice.speakers import SpeakerPrompt

END_OF_INSTRUCTION = "<|endofprompt|>"


@dataclass(frozen=True)
class Layout:
    """`text_ids` int64 [n] go before the text's, `example` int [m] are speech tokens after it.

    `speaker` float32 [size] is None where the model must not know the speaker.
    """

    text_ids: "np.ndarray"
    speaker: Optional["np.ndarray"]
    example: "np.ndarray"


def layout(who: SpeakerPrompt, instruction_ids: Optional["np.ndarray"] = None) -> Layout:
    """The layout for a speaker and an instruction, by the names of the official code.

    `instruct`: the instruction alone, for the speaker is left to the flow. `zero_shot`: the
    spoken example with its words. `sft` and `cross_lingual`: only the speaker; an example whose
    words are not known goes to the flow alone.
    """
    none = np.zeros(0, np.int64)
    if instruction_ids is not None:
        return Layout(instruction_ids, None, none)
    if len(who.text_ids):
        return Layout(who.text_ids, who.embedding, who.example.tokens)
    return Layout(none, who.embedding, none)
