"""Write a run as the checkpoint folder that `edge-tts build` accepts."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any, Dict

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import T5ForConditionalGeneration

from edge_tts.build.lite_voice.codec import codec_config
from edge_tts.build.lite_voice.codes import Quantiser
from edge_tts.build.lite_voice.language_model import LAYOUT, offsets
from edge_tts.build.lite_voice.vocabulary import END_ID, FILE_NAME, PAD_ID, Vocabulary

_IDS = {"decoder_start_token_id": PAD_ID, "pad_token_id": PAD_ID, "eos_token_id": END_ID}
GENERATION: Dict[str, Any] = {
    "do_sample": True,
    "temperature": 0.7,
    "top_k": 20,
    "top_p": 0.9,
    "repetition_penalty": 1.0,
    **_IDS,
}


def write_checkpoint(
    folder: Path,
    language_model: T5ForConditionalGeneration,
    decoder: nn.Module,
    quantiser: Quantiser,
    vocabulary: Vocabulary,
) -> None:
    """Write the language model, EnCodec's half that a voice needs, the vocabulary and configs."""
    language_model.save_pretrained(folder)
    config = folder / "config.json"
    fields = json.loads(config.read_text(encoding="utf-8"))
    fields["codec"] = _codec_section(vocabulary.size)
    _write_json(config, fields)
    _write_json(folder / "generation_config.json", GENERATION)
    shutil.copyfile(vocabulary.path, folder / FILE_NAME)
    _write_codec(folder / "encodec", decoder, quantiser)


def _codec_section(n_text: int) -> Dict[str, Any]:
    layout = asdict(LAYOUT)
    return {
        "model": "encodec_24khz",
        "sample_rate": layout["sample_rate_hz"],
        "frame_rate": layout["frame_rate_hz"],
        "num_codebooks": layout["n_codebooks"],
        "codebook_size": layout["codebook_size"],
        "code_offsets": offsets(n_text),
        "interleaving": layout["interleaving"],
        "delays": layout["delays"],
    }


def _write_codec(folder: Path, decoder: nn.Module, quantiser: Quantiser) -> None:
    folder.mkdir(exist_ok=True)
    codec_config().save_pretrained(folder)
    tensors = {
        f"decoder.{name}": value.contiguous() for name, value in decoder.state_dict().items()
    }
    for k, codebook in enumerate(quantiser.codebooks):
        tensors[f"quantizer.layers.{k}.codebook.embed"] = torch.from_numpy(codebook)
    save_file(tensors, folder / "model.safetensors")


def _write_json(path: Path, fields: Dict[str, Any]) -> None:
    path.write_text(json.dumps(fields, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
