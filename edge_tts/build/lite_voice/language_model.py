"""The encoder-decoder: T5 v1.1 from characters to delayed codes, two million parameters.

Two things make little speech go further. Guided attention (Tachibana et al. 2018) pulls one layer's
reading of the text towards the diagonal, which alone takes a Transformer hours to find; and codes
dropped from the decoder's input make it listen to the text rather than to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import T5Config, T5ForConditionalGeneration

from edge_tts.build.lite_voice.codes import CODEBOOK_SIZE, N_CODEBOOKS
from edge_tts.build.lite_voice.recordings import Coded
from edge_tts.build.lite_voice.teacher import FRAME_RATE_HZ, SAMPLE_RATE_HZ
from edge_tts.build.lite_voice.training import Task
from edge_tts.build.lite_voice.vocabulary import END_ID, PAD_ID, Vocabulary
from edge_tts.voices.lite.settings import DELAY, CodecLayout

LAYOUT = CodecLayout(
    sample_rate_hz=SAMPLE_RATE_HZ,
    frame_rate_hz=FRAME_RATE_HZ,
    n_codebooks=N_CODEBOOKS,
    codebook_size=CODEBOOK_SIZE,
    interleaving=DELAY,
    delays=tuple(range(N_CODEBOOKS)),
)

BATCH_SIZE = 8
SIMILAR = 64
"""A batch is drawn from so many sentences of similar length, so that little of it is padding."""

DROPPED_POSITIONS = 0.2
GUIDED_LAYER, GUIDED_HEADS = 1, 2
GUIDE_WEIGHT, GUIDE_WIDTH = 1.0, 0.2

IGNORED = -100
_HELD_OUT_BATCH = 24


def offsets(n_text: int) -> List[int]:
    """First vocabulary id of every codebook, behind the text's."""
    return [n_text + codebook * CODEBOOK_SIZE for codebook in range(N_CODEBOOKS)]


def t5_config(n_text: int) -> T5Config:
    """Sizes of the language model for a vocabulary of `n_text` text ids."""
    return T5Config(
        vocab_size=n_text + N_CODEBOOKS * CODEBOOK_SIZE,
        d_model=160,
        d_kv=40,
        d_ff=416,
        num_heads=4,
        num_layers=3,
        num_decoder_layers=3,
        dropout_rate=0.1,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        scale_decoder_outputs=False,
        pad_token_id=PAD_ID,
        eos_token_id=END_ID,
        decoder_start_token_id=PAD_ID,
        architectures=["T5ForConditionalGeneration"],
        attn_implementation="eager",
    )


def interleaved(codes: "np.ndarray", n_text: int) -> Tuple["np.ndarray", "np.ndarray"]:
    """Codes [frames, codebooks] as the run time draws them (`voices.lite.interleaving`).

    Returns input ids and targets, both int64 [positions, codebooks]. Targets are codes, the
    codebook's size for the end, which the first codebook draws, and `IGNORED` for nothing.
    """
    n_frames = len(codes)
    n_positions = n_frames + LAYOUT.delays[-1]
    ids = np.full((n_positions + 1, N_CODEBOOKS), PAD_ID)
    targets = np.full((n_positions, N_CODEBOOKS), IGNORED)
    for codebook, (delay, first) in enumerate(zip(LAYOUT.delays, offsets(n_text))):
        targets[delay : delay + n_frames, codebook] = codes[:, codebook]
        ids[delay + 1 : delay + 1 + n_frames, codebook] = first + codes[:, codebook]
    targets[n_frames, 0] = CODEBOOK_SIZE
    return ids[:-1], targets


@dataclass(frozen=True)
class Batch:
    """Sentences padded to the longest.

    `text` [batch, s] and its `mask`; `ids` and `targets` [batch, n, codebooks]; `guide`
    [batch, n, s], how far from the diagonal each pair of positions is, 0 in the padding.
    """

    text: Tensor
    mask: Tensor
    ids: Tensor
    targets: Tensor
    guide: Tensor


class LanguageModelTask(Task):
    """Texts, and the codes of their speech."""

    name = "language_model"
    learning_rate = 1e-3

    def __init__(self, sentences: Sequence[Coded], vocabulary: Vocabulary) -> None:
        network = T5ForConditionalGeneration(t5_config(vocabulary.size))
        with torch.no_grad():
            # Untied, it is drawn as wide as an embedding, and scores begin at 50 nats.
            network.lm_head.weight.mul_(network.config.d_model**-0.5)
        self.network: nn.Module = network
        self._vocabulary = vocabulary
        training = [each for each in sentences if not each.recording.is_held_out]
        self._training = sorted(training, key=lambda each: len(each.codes))
        self._held_out = [each for each in sentences if each.recording.is_held_out]

    def loss(self, rng: np.random.Generator) -> Tensor:
        start = int(rng.integers(max(1, len(self._training) - SIMILAR + 1)))
        similar = self._training[start : start + SIMILAR]
        chosen = rng.choice(len(similar), min(BATCH_SIZE, len(similar)), replace=False)
        batch = self.batch([similar[i] for i in chosen])
        dropped = torch.from_numpy(rng.random(batch.ids.shape[:2]) < DROPPED_POSITIONS)
        scores, attention = _scores(
            self.network, batch, batch.ids.masked_fill(dropped[..., None], PAD_ID)
        )
        guided = (attention[:, :GUIDED_HEADS] * batch.guide[:, None]).sum(dim=(2, 3)).mean()
        n_positions = (batch.targets[..., 0] != IGNORED).sum() / len(batch.text)
        return self.errors(scores, batch.targets)[0] + GUIDE_WEIGHT * guided / n_positions

    def held_out(self, network: nn.Module) -> Dict[str, float]:
        batch = self.batch(self._held_out[:_HELD_OUT_BATCH])
        scores, _ = _scores(network, batch, batch.ids)
        loss, hits = self.errors(scores, batch.targets)
        return {"held_out_nats": float(loss), "held_out_first_codes_right": hits}

    def batch(self, sentences: Sequence[Coded]) -> Batch:
        """Pad sentences to a batch."""
        texts = [self._vocabulary.encode(each.recording.text) for each in sentences]
        pairs = [interleaved(each.codes, self._vocabulary.size) for each in sentences]
        text = _padded([np.array(ids) for ids in texts], PAD_ID)
        guides = [_guide(len(pair[0]), len(ids)) for pair, ids in zip(pairs, texts)]
        shape = (len(sentences), max(len(pair[0]) for pair in pairs), text.shape[1])
        guide = torch.zeros(shape)
        for row, each in enumerate(guides):
            guide[row, : each.shape[0], : each.shape[1]] = torch.from_numpy(each)
        return Batch(
            text=text,
            mask=(text != PAD_ID).to(torch.int64),
            ids=_padded([pair[0] for pair in pairs], PAD_ID),
            targets=_padded([pair[1] for pair in pairs], IGNORED),
            guide=guide,
        )

    def errors(self, scores: Tensor, targets: Tensor) -> Tuple[Tensor, float]:
        """Mean cross-entropy in nats per code, and the share of first codes that score highest."""
        losses = []
        for codebook, first in enumerate(offsets(self._vocabulary.size)):
            own = scores[..., first : first + CODEBOOK_SIZE]
            if codebook == 0:
                own = torch.cat([own, scores[..., END_ID : END_ID + 1]], dim=-1)
                known = targets[..., 0] != IGNORED
                hits = float((own.argmax(-1) == targets[..., 0])[known].float().mean())
            losses.append(
                functional.cross_entropy(
                    own.flatten(0, 1), targets[..., codebook].flatten(), ignore_index=IGNORED
                )
            )
        return torch.stack(losses).mean(), hits


def _scores(network: nn.Module, batch: Batch, ids: Tensor) -> Tuple[Tensor, Tensor]:
    """Scores [batch, n, vocabulary] and the guided layer's attention [batch, heads, n, s]."""
    output = network(
        input_ids=batch.text,
        attention_mask=batch.mask,
        decoder_inputs_embeds=network.shared(ids).sum(dim=2),
        output_attentions=True,
        use_cache=False,
    )
    return output.logits, output.cross_attentions[GUIDED_LAYER]


def _guide(n_positions: int, n_text: int) -> "np.ndarray":
    """0 on the diagonal, towards 1 away from it, float32 [positions, text]."""
    through_speech = np.arange(n_positions)[:, None] / n_positions
    through_text = np.arange(n_text)[None] / n_text
    away = (through_speech - through_text) / GUIDE_WIDTH
    guide: np.ndarray = (1 - np.exp(-(away**2) / 2)).astype(np.float32)
    return guide


def _padded(rows: Sequence["np.ndarray"], filling: int) -> Tensor:
    return nn.utils.rnn.pad_sequence(
        [torch.from_numpy(row) for row in rows], batch_first=True, padding_value=filling
    )
