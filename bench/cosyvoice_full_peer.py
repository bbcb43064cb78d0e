"""Speak one sentence with the official modules in this fresh process; prints figures as JSON.

See cosyvoice_full.py. The modules are those of the PyPI package cosyvoice2-eu, of whose long list
of dependencies only what they compute with is installed; the others are stand-ins for names that
are imported and not used. Weights are loaded as the official code loads them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import types
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Callable, Dict, List, Tuple

from cosyvoice_full_worker import status_mib

PACKAGES = (
    "cosyvoice2-eu==0.2.8",
    "transformers==4.46.3",
    "diffusers==0.29.0",
    "tokenizers==0.20.3",
    "huggingface_hub==0.25.2",
    "importlib_metadata",
    "einops",
    "conformer",
    "safetensors",
    "regex",
    "requests",
    "urllib3",
    "idna",
    "certifi",
    "charset_normalizer",
    "tqdm",
    "filelock",
    "packaging",
    "fsspec",
    "pyyaml",
    "zipp",
    "scipy",
)
TOKENS_PER_ID = 2
WARM_UP_IDS = 5
FIRST_CHUNK = {1: 120, 2: 28}
"""Tokens that the official streaming waits for before its first sound."""
NEVER = 1e4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    install(args.packages)
    sys.path.insert(0, str(args.packages))
    stand_in()
    json.dump(measure(args), sys.stdout)
    return 0


def install(packages: Path) -> None:
    """Download what is needed, once."""
    if not (packages / "complete").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*command, "--target", str(packages), *PACKAGES], check=True)
        (packages / "complete").touch()


def stand_in() -> None:
    """Modules that are imported for training or for files, and are not used here."""

    class Settings(dict):  # type: ignore[type-arg]
        __getattr__ = dict.__getitem__

    import transformers  # noqa: F401 - looks for torchaudio itself, so it comes first

    made = {
        "torchaudio": {},
        "omegaconf": {"DictConfig": Settings},
        "matcha.utils": {},
        "matcha.utils.pylogger": {"get_pylogger": lambda name: None},
        "matcha.utils.audio": {"mel_spectrogram": None},
    }
    for name, members in made.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module


def measure(args: argparse.Namespace) -> Dict[str, Any]:
    """Load, warm up on a few tokens, and report on the sentence."""
    began_s = time.perf_counter()
    import torch

    torch.set_num_threads(args.threads)
    generation = 1 if (args.checkpoint / "cosyvoice.yaml").exists() else 2
    lm, flow, hift = load(args.checkpoint, generation)
    load_s = time.perf_counter() - began_s
    embedding = torch.ones(1, 192)
    with torch.inference_mode():
        lm.llm_decoder.bias[lm.speech_token_size :] -= NEVER
        for n_ids in (WARM_UP_IDS, len(args.text.encode("utf-8"))):
            figures = speak(lm, flow, hift, (n_ids, generation), embedding)
    return {"load_s": load_s, **figures, "peak_mib": status_mib("VmHWM")}


def speak(lm: Any, flow: Any, hift: Any, size: Tuple[int, int], embedding: Any) -> Dict[str, Any]:
    """Times of one utterance in one piece, and of the first piece of a streamed one."""
    import torch

    n_ids, generation = size
    began, n_tokens = Clock(), TOKENS_PER_ID * n_ids
    tokens, steps = drawn(lm, n_ids, n_tokens, embedding)
    lm_cpu_s = began.cpu_s()
    sequence = torch.tensor([tokens], dtype=torch.int32)
    flowing = Clock()
    mel = mel_of(flow, sequence, embedding, generation, last=True)
    flow_cpu_s, sounding = flowing.cpu_s(), Clock()
    sound, _ = hift.inference(speech_feat=mel)
    total_s, cpu_s = began.wall_s(), began.cpu_s()
    sound_s = sound.shape[1] / (22050 if generation == 1 else 24000)
    figures = {
        "sound_s": sound_s,
        "first_s": total_s,
        "first_cpu_s": cpu_s,
        "total_s": total_s,
        "cpu_s": cpu_s,
        "rtf": total_s / sound_s,
        "n_tokens": n_tokens,
        "token_ms": 1000 * median(step[0] for step in steps[1:]),
        "token_cpu_ms": 1000 * median(step[1] for step in steps[1:]),
        "flow_per_s": flow_cpu_s / sound_s,
        "vocoder_per_s": sounding.cpu_s() / sound_s,
        "lm_cpu_s": lm_cpu_s,
    }
    n_first = FIRST_CHUNK[generation]
    if n_first < n_tokens:
        first = Clock()
        hift.inference(
            speech_feat=mel_of(flow, sequence[:, :n_first], embedding, generation, last=False)
        )
        wall_s, cpu_s = (sum(times) for times in zip(*steps[:n_first]))
        figures["first_s"] = wall_s + first.wall_s()
        figures["first_cpu_s"] = cpu_s + first.cpu_s()
    return figures


class Clock:
    """Wall and CPU seconds of this process since it was made."""

    def __init__(self) -> None:
        self._began_s, self._began_cpu_s = time.perf_counter(), time.process_time()

    def wall_s(self) -> float:
        """Seconds that passed."""
        return time.perf_counter() - self._began_s

    def cpu_s(self) -> float:
        """Seconds that its threads computed."""
        return time.process_time() - self._began_cpu_s


def drawn(
    lm: Any, n_ids: int, n_tokens: int, embedding: Any
) -> Tuple[List[int], List[Tuple[float, float]]]:
    """Speech tokens of a text, and the wall and CPU seconds of each."""
    import torch

    none, nothing = torch.zeros(1, 0, dtype=torch.int32), torch.tensor([0])
    text = torch.arange(n_ids)[None] % 256
    lengths = torch.tensor([n_ids]), none, nothing, none, nothing
    tokens, steps, step = [], [], Clock()
    for token in islice(lm.inference(text, *lengths, embedding), n_tokens):
        steps.append((step.wall_s(), step.cpu_s()))
        tokens.append(token)
        step = Clock()
    return tokens, steps


def mel_of(flow: Any, tokens: Any, embedding: Any, generation: int, *, last: bool) -> Any:
    """Mel of speech tokens without a spoken example."""
    import torch

    none, nothing = torch.zeros(1, 0, dtype=torch.int32), torch.tensor([0])
    features = torch.zeros(1, 0, 80)
    given = tokens, torch.tensor([tokens.shape[1]]), none, nothing, features, nothing, embedding
    if generation == 1:
        return flow.inference(*given, flow_cache=torch.zeros(1, 80, 0, 2))[0]
    return flow.inference(*given, streaming=not last, finalize=last)[0]


def load(checkpoint: Path, generation: int) -> Tuple[Any, Any, Any]:
    """The three modules with the checkpoint's weights."""
    import torch

    lm = _first_lm() if generation == 1 else _second_lm(checkpoint)
    flow, hift = _flow(generation), _hift(generation)
    for module, file in ((lm, "llm.pt"), (flow, "flow.pt"), (hift, "hift.pt")):
        weights = torch.load(checkpoint / file, map_location="cpu", weights_only=True)
        module.load_state_dict(weights, strict=True)
        module.eval()
    return lm, flow, hift


def _sampling() -> Callable[..., Any]:
    from functools import partial

    from cosyvoice.utils.common import ras_sampling

    return partial(ras_sampling, top_p=0.8, top_k=25, win_size=10, tau_r=0.1)


def _first_lm() -> Any:
    from cosyvoice.llm.llm import TransformerLM
    from cosyvoice.transformer.encoder import ConformerEncoder, TransformerEncoder

    common = {
        "output_size": 1024,
        "attention_heads": 16,
        "linear_units": 4096,
        "pos_enc_layer_type": "rel_pos_espnet",
        "selfattention_layer_type": "rel_selfattn",
        "static_chunk_size": 1,
    }
    text_encoder = ConformerEncoder(
        input_size=512,
        num_blocks=6,
        input_layer="linear",
        normalize_before=True,
        use_cnn_module=False,
        macaron_style=False,
        **common,
    )
    decoder = TransformerEncoder(
        input_size=1024, num_blocks=14, input_layer="linear_legacy", **common
    )
    return TransformerLM(
        text_encoder_input_size=512,
        llm_input_size=1024,
        llm_output_size=1024,
        text_token_size=51866,
        speech_token_size=4096,
        text_encoder=text_encoder,
        llm=decoder,
        sampling=_sampling(),
        spk_embed_dim=192,
    )


def _second_lm(checkpoint: Path) -> Any:
    from cosyvoice.llm import llm
    from transformers import Qwen2Config, Qwen2ForCausalLM
    from transformers.modeling_utils import no_init_weights

    known = json.loads((checkpoint / "CosyVoice-BlankEN" / "config.json").read_text("utf-8"))
    config = Qwen2Config(**known, tie_word_embeddings=True, max_position_embeddings=32768)
    with no_init_weights():
        # All of its weights come from llm.pt, as in the official code.
        model = Qwen2ForCausalLM(config)
    llm.Qwen2ForCausalLM = types.SimpleNamespace(from_pretrained=lambda path: model)
    encoder = llm.Qwen2Encoder("")
    return llm.Qwen2LM(896, 896, 6561, encoder, _sampling())


def _flow(generation: int) -> Any:
    from cosyvoice.flow import decoder, flow, flow_matching, length_regulator
    from cosyvoice.transformer.encoder import ConformerEncoder
    from cosyvoice.transformer.upsample_encoder import UpsampleConformerEncoder
    from omegaconf import DictConfig

    is_causal = generation == 2
    encoder_kind = UpsampleConformerEncoder if is_causal else ConformerEncoder
    encoder = encoder_kind(
        input_size=512,
        output_size=512,
        attention_heads=8,
        linear_units=2048,
        num_blocks=6,
        input_layer="linear",
        pos_enc_layer_type="rel_pos_espnet",
        selfattention_layer_type="rel_selfattn",
        use_cnn_module=False,
        macaron_style=False,
        **({"static_chunk_size": 25} if is_causal else {}),
    )
    estimator_kind = decoder.CausalConditionalDecoder if is_causal else decoder.ConditionalDecoder
    estimator = estimator_kind(
        in_channels=320,
        out_channels=80,
        channels=[256] if is_causal else [256, 256],
        dropout=0.0,
        attention_head_dim=64,
        n_blocks=4,
        num_mid_blocks=12,
        num_heads=8,
        act_fn="gelu",
    )
    matching = flow_matching.CausalConditionalCFM if is_causal else flow_matching.ConditionalCFM
    solver = matching(
        in_channels=240,
        n_spks=1,
        spk_emb_dim=80,
        cfm_params=DictConfig(
            sigma_min=1e-06,
            solver="euler",
            t_scheduler="cosine",
            training_cfg_rate=0.2,
            inference_cfg_rate=0.7,
            reg_loss_type="l1",
        ),
        estimator=estimator,
    )
    if is_causal:
        return flow.CausalMaskedDiffWithXvec(
            vocab_size=6561, input_frame_rate=25, encoder=encoder, decoder=solver
        )
    regulator = length_regulator.InterpolateRegulator(channels=80, sampling_ratios=[1, 1, 1, 1])
    return flow.MaskedDiffWithXvec(
        vocab_size=4096, encoder=encoder, length_regulator=regulator, decoder=solver
    )


def _hift(generation: int) -> Any:
    from cosyvoice.hifigan.f0_predictor import ConvRNNF0Predictor
    from cosyvoice.hifigan.generator import HiFTGenerator

    second = {
        "sampling_rate": 24000,
        "upsample_rates": [8, 5, 3],
        "upsample_kernel_sizes": [16, 11, 7],
        "source_resblock_kernel_sizes": [7, 7, 11],
        "source_resblock_dilation_sizes": [[1, 3, 5]] * 3,
    }
    return HiFTGenerator(
        nsf_voiced_threshold=10,
        f0_predictor=ConvRNNF0Predictor(),
        **(second if generation == 2 else {}),
    )


if __name__ == "__main__":
    sys.exit(main())
