"""Speech tokens to sound, in one piece or in chunks that are heard while the next is computed.

The chunked ways are the official algorithms. Some of their habits are left out unless
`like_official` asks for them: CosyVoice 1 and 2 cross-fade with windows that sum to 1.08, which
makes every joint 8 % louder; CosyVoice 2 lets its last chunk see the whole utterance, so that
it disagrees with the chunks before it; and it computes the flow from the first token again every
four seconds. Its attention is masked in chunks of one second whatever is computed at once, so that
fewer and larger chunks yield the same mel. Nothing is kept from one utterance to the next.
"""

from __future__ import annotations

import abc
from dataclasses import replace
from typing import Iterator, Optional, Tuple

import numpy as np

from edge_tts.voices.cosyvoice.fixed_noise import MAX_FRAMES, fixed_noise
from edge_tts.voices.cosyvoice.flow import (
    CHUNK_TOKENS,
    LOOKAHEAD_TOKENS,
    DoublingFlow,
    FlowPrompt,
    StretchingFlow,
)
from edge_tts.voices.cosyvoice.hops import growing_hops, official_hops
from edge_tts.voices.cosyvoice.joining import ChunkVocoder, fade
from edge_tts.voices.cosyvoice.progress import Progress, result_of
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.stretch import EDGE_TOKENS, resize
from edge_tts.voices.cosyvoice.supply import Supply
from edge_tts.voices.cosyvoice.vocoder import Vocoder


class Renderer(abc.ABC):
    """Flow and vocoder of one generation."""

    def whole(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        speed: float = 1.0,
    ) -> "np.ndarray":
        """Sound float32 [L] of int tokens [n]; `speaker` float32 [1, 80]."""
        return result_of(self.stepwise_whole(tokens, prompt, speaker, randomness, speed))

    @abc.abstractmethod
    def stepwise_whole(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        speed: float = 1.0,
    ) -> "Progress[np.ndarray]":
        """What `whole` returns, with a chance to stop after each step of the flow."""

    @abc.abstractmethod
    def chunks(
        self,
        supply: Supply,
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        *,
        like_official: bool = False,
    ) -> Iterator["np.ndarray"]:
        """The same sound in pieces, each computed as soon as its tokens are drawn.

        After every token drawn and every step of the flow an empty piece is yielded: there the
        caller may stop.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Release the engines."""


class StretchingRenderer(Renderer):
    """CosyVoice 1."""

    _CHUNK_SECONDS = 2
    _KEPT_FRAMES = 20

    def __init__(self, flow: StretchingFlow, vocoder: Vocoder, settings: Settings) -> None:
        self.flow = flow
        self._vocoder = vocoder
        frames_per_second = settings.sample_rate_hz / settings.samples_per_frame
        self._hop = self._CHUNK_SECONDS * settings.token_rate_hz
        self._overlap_frames = int(EDGE_TOKENS / settings.token_rate_hz * frames_per_second)

    def stepwise_whole(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        speed: float = 1.0,
    ) -> "Progress[np.ndarray]":
        """Encoder and vocoder run once."""
        mel, _ = yield from self._mel(tokens, prompt, speaker, randomness, None)
        return _vocoded(self._vocoder, mel, randomness, speed)

    def chunks(
        self,
        supply: Supply,
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        *,
        like_official: bool = False,
    ) -> Iterator["np.ndarray"]:
        """Two seconds at a time, each computed with 20 tokens of the next and then faded over."""
        vocoder = ChunkVocoder(
            self._vocoder, randomness, self._KEPT_FRAMES, like_official=like_official
        )
        overlap, kept = self._overlap_frames, None
        faded: Optional[np.ndarray] = None
        done = 0
        while True:
            end = done + self._hop + EDGE_TOKENS
            yield from supply.drawn_to(end)
            is_last = len(supply) < end
            part = supply.take(done, end)
            mel, kept = yield from self._mel(part, prompt, speaker, randomness, kept)
            if faded is not None:
                mel = fade(mel, faded, like_official=like_official)
            if is_last:
                yield vocoder.render(mel, is_last=True)
                return
            faded = mel[:, :, -overlap:]
            yield vocoder.render(mel[:, :, :-overlap], is_last=False)
            done += self._hop

    def close(self) -> None:
        """Release the engines."""
        self.flow.close()
        self._vocoder.close()

    def _mel(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        kept: "Optional[Tuple[np.ndarray, np.ndarray]]",
    ) -> "Progress[Tuple[np.ndarray, Tuple[np.ndarray, np.ndarray]]]":
        """Mel of `tokens`, and the noise and start that the next chunk must begin with."""
        start = self.flow.start(tokens, prompt)
        noise = randomness.flow_noise(start.mu.shape[2])
        if kept is not None:
            n = kept[0].shape[2]
            noise[:, :, :n] = kept[0][:, :, : noise.shape[2]]
            mu = start.mu.copy()
            mu[:, :, :n] = kept[1][:, :, : mu.shape[2]]
            start = replace(start, mu=mu)
        n_prompt = len(prompt.mel)
        mel = yield from self.flow.stepwise_mel(start, prompt, speaker, noise)
        return mel[:, :, n_prompt:], self.kept(noise, start.mu, n_prompt)

    def kept(
        self, noise: "np.ndarray", mu: "np.ndarray", n_prompt: int
    ) -> "Tuple[np.ndarray, np.ndarray]":
        """The prompt's part and the end of both, with which the next chunk begins."""
        last = self._overlap_frames
        return (
            np.concatenate([noise[:, :, :n_prompt], noise[:, :, -last:]], axis=2),
            np.concatenate([mu[:, :, :n_prompt], mu[:, :, -last:]], axis=2),
        )


class DoublingRenderer(Renderer):
    """CosyVoice 2."""

    _KEPT_FRAMES = 8

    def __init__(self, flow: DoublingFlow, vocoder: Vocoder) -> None:
        self.flow = flow
        self._vocoder = vocoder
        self._noise = fixed_noise()

    def stepwise_whole(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        speed: float = 1.0,
    ) -> "Progress[np.ndarray]":
        """Encoder and vocoder run once, every token sees all others."""
        mel = yield from self._stepwise_mel(tokens, prompt, speaker)
        return _vocoded(self._vocoder, mel, randomness, speed)

    def chunks(
        self,
        supply: Supply,
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        randomness: Randomness,
        *,
        like_official: bool = False,
    ) -> Iterator["np.ndarray"]:
        """One second at first, then more and more; see `growing_hops`."""
        vocoder = ChunkVocoder(
            self._vocoder, randomness, self._KEPT_FRAMES, like_official=like_official
        )
        hops = official_hops() if like_official else growing_hops(supply.n_expected)
        done = 0
        # The first chunk ends where a chunk of the attention mask ends, prompt included.
        extra = -len(prompt.tokens) % CHUNK_TOKENS
        for hop in hops:
            end = done + hop + extra
            yield from supply.drawn_to(end + LOOKAHEAD_TOKENS)
            if len(supply) < end + LOOKAHEAD_TOKENS:
                break
            part = supply.take(0, end + LOOKAHEAD_TOKENS)
            mel = yield from self._stepwise_mel(
                part, prompt, speaker, is_last=False, in_chunks=True
            )
            yield vocoder.render(mel[:, :, 2 * done :], is_last=False)
            done, extra = end, 0
        yield from supply.drawn_to_the_end()
        rest = supply.take(0, len(supply))
        in_chunks = bool(done) and not like_official
        mel = yield from self._stepwise_mel(rest, prompt, speaker, in_chunks=in_chunks)
        yield vocoder.render(mel[:, :, 2 * done :], is_last=True)

    def mel(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        *,
        is_last: bool = True,
        in_chunks: bool = False,
    ) -> "np.ndarray":
        """Mel float32 [1, 80, T] of `tokens`; see `DoublingFlow.start`."""
        return result_of(
            self._stepwise_mel(tokens, prompt, speaker, is_last=is_last, in_chunks=in_chunks)
        )

    def _stepwise_mel(
        self,
        tokens: "np.ndarray",
        prompt: FlowPrompt,
        speaker: "np.ndarray",
        *,
        is_last: bool = True,
        in_chunks: bool = False,
    ) -> "Progress[np.ndarray]":
        start = self.flow.start(tokens, prompt, is_last=is_last, in_chunks=in_chunks)
        noise = self._noise[:, :, : min(start.mu.shape[2], MAX_FRAMES)]
        mel = yield from self.flow.stepwise_mel(start, prompt, speaker, noise)
        return mel[:, :, len(prompt.mel) :]

    def close(self) -> None:
        """Release the engines."""
        self.flow.close()
        self._vocoder.close()


def _vocoded(
    vocoder: Vocoder, mel: "np.ndarray", randomness: Randomness, speed: float
) -> "np.ndarray":
    if speed != 1.0:
        mel = resize(mel, max(1, int(mel.shape[2] / speed)))
    return vocoder.render(mel, randomness.excitation(vocoder.n_samples(mel))).samples
