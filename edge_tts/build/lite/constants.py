"""What a checkpoint gives the run time besides engines: its constants and its small weights."""

from __future__ import annotations

import numpy as np

from edge_tts.build.lite.checkpoint import Checkpoint
from edge_tts.voices.lite.settings import Settings
from edge_tts.voices.lite.tables import Tables


def tables(checkpoint: Checkpoint) -> Tables:
    """Embeddings, biases, codebooks and the silent state of the codec."""
    shapes = checkpoint.codec.decoder.state_shapes()
    return Tables(
        text=checkpoint.text_rows.numpy(),
        codes=checkpoint.code_rows.numpy(),
        encoder_bias=checkpoint.encoder_bias.numpy(),
        decoder_bias=checkpoint.decoder_bias.numpy(),
        codebooks=checkpoint.codec.codebooks.numpy(),
        codec_state={name: np.zeros(shape, np.float32) for name, shape in shapes.items()},
    )


def settings(checkpoint: Checkpoint) -> Settings:
    """The constants the run time needs."""
    t5 = checkpoint.config.t5
    return Settings(
        codec=checkpoint.config.codec,
        sampling=checkpoint.sampling,
        n_layers=t5.n_decoder_layers,
        n_heads=t5.n_heads,
        head_size=t5.head_size,
        max_distance=t5.max_distance,
        end_of_text=checkpoint.config.end_id,
        languages=checkpoint.vocabulary.languages,
        speakers=checkpoint.vocabulary.speakers,
    )
