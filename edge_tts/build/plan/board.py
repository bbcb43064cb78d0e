"""A voice on a board: memory against a budget, and the floors under its times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple

from edge_tts.build.plan.platforms import (
    COMPUTE_SHARE,
    FP32_SHARE,
    HIGH_EFFICIENCY,
    LOW_EFFICIENCY,
    SCRATCH_MIB,
    Platform,
)
from edge_tts.build.plan.published import Choice, PlannedVoice
from edge_tts.build.quantisation.kinds import FP16, FP32

MIB = 1 << 20
_CACHE_SHARE = 0.5
"""The cache is kept in FP16 on a board; `VoiceSize.cache_bytes` is FP32."""


@dataclass(frozen=True)
class BoardMemory:
    """In MiB. `baseline` and `total` are from the lowest published figure to the highest."""

    weights: float
    cache: float
    scratch: float
    baseline: Tuple[float, float]

    @property
    def total(self) -> Tuple[float, float]:
        """Everything at once."""
        own = self.weights + self.cache + self.scratch
        return own + self.baseline[0], own + self.baseline[1]

    def verdict(self, budget_mib: float) -> str:
        """Whether that is within the budget."""
        low, high = self.total
        if high <= budget_mib:
            return "fits"
        return "does not fit" if low > budget_mib else "fits only with the lowest baseline"


@dataclass(frozen=True)
class Floors:
    """Times no engine can be under, at the better and the worse efficiency; RTF per part."""

    token_ms: Tuple[float, float]
    lm_rtf: Tuple[float, float]
    flow_rtf: Optional[float]
    vocoder_rtf: Optional[float]
    first_audio_s: Optional[Tuple[float, float]]

    @property
    def rtf(self) -> Optional[Tuple[float, float]]:
        """Of everything together."""
        if self.flow_rtf is None or self.vocoder_rtf is None:
            return None
        rest = self.flow_rtf + self.vocoder_rtf
        return self.lm_rtf[0] + rest, self.lm_rtf[1] + rest


def memory(
    voice: PlannedVoice, choice: Choice, platform: Platform, seconds: float
) -> Optional[BoardMemory]:
    """Memory while speaking segments of up to `seconds`; None where no baseline is known."""
    if platform.baseline_mib is None:
        return None
    sizes = {part.name: part.n_bytes(choice.of(part.name)) / MIB for part in voice.size.parts}
    in_turns = {name for turn in choice.turns for name in turn}
    weights = sum(size for name, size in sizes.items() if name not in in_turns)
    weights += sum(max(sizes[name] for name in turn) for turn in choice.turns)
    positions = seconds * voice.size.token_rate_hz
    cache = positions * voice.size.cache_bytes * _CACHE_SHARE / MIB
    return BoardMemory(weights, cache, SCRATCH_MIB, platform.baseline_mib)


def floors(voice: PlannedVoice, choice: Choice, platform: Platform) -> Optional[Floors]:
    """Floors from bandwidth and arithmetic; None where the board's bandwidth is not known."""
    if platform.bandwidth_gb_s is None:
        return None
    flow = _rtf(voice.work.flow_gflop, choice.of("estimator"), platform)
    vocoder = _rtf(voice.work.vocoder_gflop, choice.of("vocoder"), platform)
    read_gb = (
        voice.size.part("lm").n_bytes(choice.of("lm")) / 1e9 if voice.size.token_rate_hz else 0.0
    )
    best_ms = 1000 * read_gb / platform.bandwidth_gb_s
    token = best_ms / HIGH_EFFICIENCY, best_ms / LOW_EFFICIENCY
    tokens_per_ms = voice.size.token_rate_hz / 1000
    lm = token[0] * tokens_per_ms, token[1] * tokens_per_ms
    return Floors(token, lm, flow, vocoder, _first_audio_s(voice, token, flow, vocoder))


def _rtf(gflop: float, kind: str, platform: Platform) -> Optional[float]:
    tflops = platform.fp32_tflops if kind == FP32 else platform.fp16_tflops
    share = FP32_SHARE if kind == FP32 else COMPUTE_SHARE
    return None if tflops is None else gflop / (1000 * tflops * share)


def _first_audio_s(
    voice: PlannedVoice,
    token_ms: Tuple[float, float],
    flow: Optional[float],
    vocoder: Optional[float],
) -> Optional[Tuple[float, float]]:
    if flow is None or vocoder is None:
        return None
    if not voice.size.token_rate_hz:
        return flow + vocoder, flow + vocoder
    n_tokens = voice.work.first_tokens
    rendered_s = n_tokens / voice.size.token_rate_hz * (flow + vocoder)
    low, high = (n_tokens * ms / 1000 + rendered_s for ms in token_ms)
    return low, high


def lines(
    voices: Tuple[PlannedVoice, ...], platform: Platform, budget_mib: float, seconds: float
) -> List[str]:
    """The plan for people, one derived line per voice and choice."""
    found: List[str] = [platform.title, f"  {platform.remark}"]
    for voice in voices:
        fitting = []
        for choice in voice.choices:
            needed = memory(voice, choice, platform, seconds)
            warning = _warning(voice, choice, platform)
            found.append(_line(voice, choice, needed, budget_mib) + warning)
            found += _floor_lines(floors(voice, choice, platform))
            if needed is not None and needed.verdict(budget_mib) == "fits" and not warning:
                fitting.append(choice.title)
        found.append(_conclusion(voice, fitting, budget_mib, platform))
    return found


def _line(
    voice: PlannedVoice, choice: Choice, needed: Optional[BoardMemory], budget_mib: float
) -> str:
    head = f"derived: {voice.size.name}, {choice.title}: "
    if needed is None:
        return f"{head}no total without a baseline"
    low, high = needed.total
    return (
        f"{head}weights {needed.weights:.0f} + cache {needed.cache:.0f} + scratch "
        f"{needed.scratch:.0f} + baseline {_span(needed.baseline, '.0f')} = "
        f"{_span((low, high), '.0f')} of {budget_mib:.0f} MiB, {needed.verdict(budget_mib)}"
    )


def _floor_lines(found: Optional[Floors]) -> List[str]:
    if found is None:
        return []
    text = "derived:   "
    if found.token_ms[1]:
        text += f"token at least {_span(found.token_ms, '.1f')} ms, "
    text += f"language model RTF {_span(found.lm_rtf, '.2f')}"
    if found.rtf is not None:
        text += f", flow {found.flow_rtf:.2f}, vocoder {found.vocoder_rtf:.2f}, "
        text += f"together {_span(found.rtf, '.2f')}"
    if found.first_audio_s is not None:
        text += f"; first audio at least {_span(found.first_audio_s, '.2f')} s"
    return [text]


def _warning(voice: PlannedVoice, choice: Choice, platform: Platform) -> str:
    if voice.work.fp16_flow_fails and choice.of("estimator") == FP16 and platform.fp16_tflops:
        return "; its flow is known to give no numbers in fp16"
    return ""


def _conclusion(
    voice: PlannedVoice, fitting: List[str], budget_mib: float, platform: Platform
) -> str:
    if platform.baseline_mib is None:
        return f"derived: {voice.size.name}: no conclusion without a baseline"
    if not fitting:
        return f"derived: {voice.size.name}: none of these fits {budget_mib:.0f} MiB"
    return f"derived: {voice.size.name}: within {budget_mib:.0f} MiB: {'; '.join(fitting)}"


def _span(values: Tuple[float, ...], form: str) -> str:
    low, high = (format(value, form) for value in values)
    return low if low == high else f"{low}–{high}"
