"""`generation_config.json`: how codes are drawn."""

from __future__ import annotations

from typing import Any, Dict

from edge_tts.build.lite.config import LiteConfig
from edge_tts.build.lite.json_file import JsonFile
from edge_tts.voices.lite.settings import Sampling

REPEAT_WINDOW, REPEAT_SHARE = 40, 0.6
"""Of the guard against loops, which Hugging Face's files have no field for."""

_IDS = ("decoder_start_token_id", "pad_token_id", "eos_token_id")
_USED = {"do_sample", "temperature", "top_k", "top_p", "repetition_penalty", *_IDS}
_WITHOUT_EFFECT = {
    "transformers_version", "_from_model_config", "use_cache", "max_length", "max_new_tokens",
    "min_length", "min_new_tokens", "bos_token_id", "output_attentions", "output_scores",
    "output_hidden_states", "output_logits", "return_dict_in_generate", "cache_implementation",
    "early_stopping", "length_penalty", "max_time",
}  # fmt: skip
_NEUTRAL: Dict[str, Any] = {
    "num_beams": 1,
    "num_beam_groups": 1,
    "num_return_sequences": 1,
    "typical_p": 1.0,
    "min_p": 0.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "encoder_repetition_penalty": 1.0,
    "diversity_penalty": 0.0,
    "remove_invalid_values": False,
    "renormalize_logits": False,
    "guidance_scale": 1.0,
}


def read_sampling(file: JsonFile, config: LiteConfig) -> Sampling:
    """Raises ModelError for fields that would change what is drawn and are not supported."""
    _refuse_unsupported(file)
    wanted = dict(zip(_IDS, (config.start_id, config.pad_id, config.end_id)))
    for key, number in wanted.items():
        if file.has(key) and file.raw(key) != number:
            raise file.fault(key, f"is {file.raw(key)}, config.json says {number}")
    sampling = Sampling(
        is_greedy=not file.flag("do_sample", False),
        temperature=file.number("temperature", 1.0),
        top_k=file.integer("top_k", 50, least=0),
        top_p=file.number("top_p", 1.0),
        repetition_penalty=file.number("repetition_penalty", 1.0),
        repeat_window=REPEAT_WINDOW,
        repeat_share=REPEAT_SHARE,
    )
    if sampling.temperature <= 0:
        raise file.fault("temperature", "must be above 0")
    if not 0 < sampling.top_p <= 1:
        raise file.fault("top_p", "must be above 0 and at most 1")
    if sampling.repetition_penalty <= 0:
        raise file.fault("repetition_penalty", "must be above 0")
    return sampling


def _refuse_unsupported(file: JsonFile) -> None:
    for key in file.names():
        value = file.raw(key)
        if key in _USED or key in _WITHOUT_EFFECT or value is None:
            continue
        if key not in _NEUTRAL:
            raise file.unsupported(key, "is not known; remove it if it does not matter")
        if value != _NEUTRAL[key]:
            raise file.unsupported(
                key, f"is {value!r}; this version draws one sequence without it ({_NEUTRAL[key]!r})"
            )
