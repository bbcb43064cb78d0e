"""An official checkpoint folder as torch modules, or a clear reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Callable, Dict, Optional, Union

import torch

from edge_tts.build.cosyvoice import config as configs
from edge_tts.build.cosyvoice.flow import Flow
from edge_tts.build.cosyvoice.hift import Hift
from edge_tts.build.cosyvoice.qwen_lm import QwenLm
from edge_tts.build.cosyvoice.recipe import Recipe
from edge_tts.build.cosyvoice.speakers import SpeakerEntry, read_speakers
from edge_tts.build.cosyvoice.transformer_lm import TransformerLm
from edge_tts.build.cosyvoice.weights import Weights, fill, plain_names, read_weights
from edge_tts.errors import ModelError

QWEN_FOLDER = "CosyVoice-BlankEN"

_RECIPES = ("cosyvoice3.yaml", "cosyvoice2.yaml", "cosyvoice.yaml")
_VERSION_BY_LM = {"TransformerLM": 1, "Qwen2LM": 2, "CosyVoice3LM": 3}


class Generation(Enum):
    """The two architectures this version can build."""

    V1 = "cosyvoice1"
    V2 = "cosyvoice2"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint read completely; its tensors are mapped from the files."""

    path: Path
    generation: Generation
    recipe: Recipe
    lm: Union[TransformerLm, QwenLm]
    flow: Flow
    hift: Hift
    lm_config: Union[configs.TransformerLmConfig, configs.QwenLmConfig]
    flow_config: configs.FlowConfig
    hift_config: configs.HiftConfig
    speakers: Dict[str, SpeakerEntry]
    sample_rate_hz: int
    token_rate_hz: int


def read_checkpoint(path: Path, report: Optional[Callable[[str], None]] = None) -> Checkpoint:
    """Read the folder `path`. Raises ModelError naming the first file that is wrong, and why."""
    tell = report or (lambda line: None)
    recipe_path = _recipe_path(path)
    recipe = Recipe.read(recipe_path)
    generation = _generation(recipe, recipe_path)
    is_causal = generation is Generation.V2
    tell("reading llm.pt")
    lm, lm_config = _read_lm(path, recipe, generation)
    tell("reading flow.pt")
    weights = read_weights(path / "flow.pt")
    flow_config = configs.flow(recipe, weights, path / "flow.pt", is_causal=is_causal)
    flow = _filled(lambda: Flow(flow_config), weights, path / "flow.pt")
    tell("reading hift.pt")
    weights = plain_names(read_weights(path / "hift.pt"))
    hift_config = configs.hift(recipe, weights, path / "hift.pt")
    return Checkpoint(
        path=path,
        generation=generation,
        recipe=recipe,
        lm=lm,
        flow=flow,
        hift=_filled(lambda: Hift(hift_config), weights, path / "hift.pt"),
        lm_config=lm_config,
        flow_config=flow_config,
        hift_config=hift_config,
        speakers=read_speakers(path / "spk2info.pt", flow_config.speaker_size),
        sample_rate_hz=recipe.integer("sample_rate"),
        token_rate_hz=recipe.integer("flow.input_frame_rate", 25 if is_causal else 50),
    )


def _read_lm(path: Path, recipe: Recipe, generation: Generation) -> tuple:
    file = path / "llm.pt"
    weights = read_weights(file)
    if generation is Generation.V1:
        config = configs.transformer_lm(recipe, weights, file)
        return _filled(lambda: TransformerLm(config), weights, file), config
    qwen = configs.qwen_lm(path / QWEN_FOLDER / "config.json", weights, file)
    weights.setdefault("llm.model.lm_head.weight", weights["llm.model.model.embed_tokens.weight"])
    return _filled(lambda: QwenLm(qwen), weights, file), qwen


def _filled(make: Callable[[], torch.nn.Module], weights: Weights, file: Path) -> torch.nn.Module:
    try:
        with torch.device("meta"):
            module = make()
    except (RuntimeError, ValueError, ZeroDivisionError, IndexError) as error:
        raise ModelError(
            f"{file}: the sizes in the yaml do not make a model ({error}); download the "
            "checkpoint again",
            code="model.checkpoint_invalid",
        ) from error
    fill(module, weights, file)
    return module


def _recipe_path(path: Path) -> Path:
    for name in _RECIPES:
        if (path / name).is_file():
            return path / name
    raise ModelError(
        f"{path} is not a CosyVoice checkpoint: it has no {_RECIPES[-1]} or {_RECIPES[1]}; give "
        "the folder that holds llm.pt, flow.pt and hift.pt",
        code="model.file_missing",
    )


def _generation(recipe: Recipe, path: Path) -> Generation:
    """By the LM's class: the first CosyVoice 2 upload still called its recipe cosyvoice.yaml."""
    version = _VERSION_BY_LM.get(recipe.kind("llm"))
    if version == 3 or path.name == _RECIPES[0]:
        raise ModelError(
            f"{path} is CosyVoice 3, which this version cannot build: its diffusion transformer "
            "and causal vocoder are not supported; use CosyVoice2-0.5B or CosyVoice-300M-SFT",
            code="model.checkpoint_unsupported",
        )
    if version is None:
        raise ModelError(
            f"{path} describes a language model {recipe.kind('llm')!r}, which this version does "
            f"not know; known: {', '.join(_VERSION_BY_LM)}",
            code="model.checkpoint_unsupported",
        )
    return Generation.V1 if version == 1 else Generation.V2
