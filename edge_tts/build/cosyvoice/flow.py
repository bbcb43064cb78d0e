"""The whole `flow.pt` of either generation."""

from __future__ import annotations

from torch import nn

from edge_tts.build.cosyvoice.config import MEL_BANDS, FlowConfig
from edge_tts.build.cosyvoice.estimator import Estimator
from edge_tts.build.cosyvoice.flow_encoder import (
    LengthRegulator,
    PlainEncoder,
    UpsamplingEncoder,
)


class Flow(nn.Module):
    """Its parts; what runs them in turn is the run time's, as it will be on the device."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        encoder = config.encoder
        self.input_embedding = nn.Embedding(config.n_speech_tokens, encoder.n_inputs)
        self.spk_embed_affine_layer = nn.Linear(config.speaker_size, MEL_BANDS)
        self.encoder_proj = nn.Linear(encoder.width, MEL_BANDS)
        if config.n_up_blocks:
            self.encoder = UpsamplingEncoder(encoder, config.n_up_blocks)
        else:
            self.encoder = PlainEncoder(encoder)
            self.length_regulator = LengthRegulator()
        self.decoder = nn.ModuleDict({"estimator": Estimator(config.estimator)})
