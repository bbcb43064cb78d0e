"""The language model of a lite checkpoint run by `transformers`, in the interface of ours."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, List, Sequence

import numpy as np
import torch
from lite_checkpoints import Size, offsets
from transformers import LogitsProcessor, LogitsProcessorList

from edge_tts.voices.lite.settings import CodecLayout, Sampling

START, END = 0, 1


class Reference:
    """Scores and codes of `transformers` for one text."""

    def __init__(self, model: Any, size: Size, layout: CodecLayout) -> None:
        self._model = model
        self._layout = layout
        ids = [
            number for first in offsets(size) for number in range(first, first + size.codebook_size)
        ]
        self.score_ids = torch.tensor([*ids, END])
        self.row_ids = torch.tensor([*ids, START, START])

    def teacher_forced(self, text_ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Scores [n, ids] after every position; `rows` int [n, m] as in `LanguageModel.step`."""
        with torch.no_grad():
            output = self._model(
                input_ids=torch.from_numpy(text_ids)[None],
                decoder_inputs_embeds=self._embedded(rows)[None],
            )
        return output.logits[0][:, self.score_ids].numpy()

    def stepper(self, text_ids: np.ndarray) -> Any:
        """A function from rows of one position to scores, with the library's own caches."""
        with torch.no_grad():
            encoded = self._model.encoder(input_ids=torch.from_numpy(text_ids)[None])
        state: List[Any] = [None]

        def step(rows: Sequence[int]) -> np.ndarray:
            with torch.no_grad():
                output = self._model(
                    encoder_outputs=encoded,
                    decoder_inputs_embeds=self._embedded(np.array([rows]))[None],
                    past_key_values=state[0],
                    use_cache=True,
                )
            state[0] = output.past_key_values
            return output.logits[0, -1, self.score_ids].numpy()

        return step

    def generate(
        self, text_ids: np.ndarray, sampling: Sampling, uniforms: np.ndarray, n_frames: int
    ) -> np.ndarray:
        """Codes [frames, codebooks] by `generate` itself, of a flat interleaving only."""
        n_codebooks = self._layout.n_codebooks
        options = {"do_sample": not sampling.is_greedy}
        if not sampling.is_greedy:
            options.update(
                temperature=sampling.temperature, top_k=sampling.top_k, top_p=sampling.top_p
            )
        with given_uniforms(uniforms), torch.no_grad():
            ids = self._model.generate(
                input_ids=torch.from_numpy(text_ids)[None],
                max_new_tokens=n_frames * n_codebooks,
                min_new_tokens=n_frames * n_codebooks,
                repetition_penalty=sampling.repetition_penalty,
                logits_processor=LogitsProcessorList([_Slots(self._layout, self.score_ids)]),
                num_beams=1,
                **options,
            )[0, 1:]
        first = self.score_ids[:: self._layout.codebook_size][:n_codebooks]
        return (ids.reshape(-1, n_codebooks) - first).numpy()

    def _embedded(self, rows: np.ndarray) -> torch.Tensor:
        return self._model.shared(self.row_ids[torch.from_numpy(rows)]).sum(dim=1)


class _Slots(LogitsProcessor):
    """Allows the codes of the codebook whose turn it is."""

    def __init__(self, layout: CodecLayout, score_ids: torch.Tensor) -> None:
        self._layout = layout
        self._score_ids = score_ids

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        codebook = (input_ids.shape[1] - 1) % self._layout.n_codebooks
        first = self._layout.row(codebook, 0)
        allowed = self._score_ids[first : first + self._layout.codebook_size]
        masked = torch.full_like(scores, -torch.inf)
        masked[:, allowed] = scores[:, allowed]
        return masked


@contextlib.contextmanager
def given_uniforms(uniforms: np.ndarray) -> Iterator[None]:
    """Have `torch.multinomial` invert the cumulative distribution at the given numbers."""
    stock, draws = torch.multinomial, iter(uniforms)

    def multinomial(probabilities: torch.Tensor, num_samples: int) -> torch.Tensor:
        cumulative = probabilities.double().cumsum(dim=1)
        at = torch.tensor([[next(draws)]], dtype=torch.float64) * cumulative[:, -1:]
        return torch.searchsorted(cumulative, at, right=True)

    torch.multinomial = multinomial
    try:
        yield
    finally:
        torch.multinomial = stock
