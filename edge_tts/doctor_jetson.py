"""The part of the examination that concerns NVIDIA boards and TensorRT engines."""

from __future__ import annotations

from importlib import metadata
from typing import Iterable, Iterator, Optional

from edge_tts.findings import Finding, Status
from edge_tts.jetson import Jetson
from edge_tts.runtime.verification import Machine, compare, read_manifests
from edge_tts.voices.manifest import VoiceDirectory

_ENOUGH_LARGE_KIB = 64 * 1024
_NEAR_THROTTLING_CELSIUS = 5.0
_COMPACT = "echo 1 | sudo tee /proc/sys/vm/compact_memory"


def examine(
    jetson: Jetson, voices: Iterable[VoiceDirectory], budget_mib: float
) -> Iterator[Finding]:
    """Findings about a board; nothing on other machines but their engines, where there are any."""
    if jetson.is_one:
        yield from _release(jetson)
        yield from _libraries(jetson)
        yield from _memory(jetson, budget_mib)
        yield from _power(jetson)
        yield from _heat(jetson)
    for voice in voices:
        yield from _engines(jetson, voice)


def _release(jetson: Jetson) -> Iterator[Finding]:
    release = jetson.release
    if release is None:
        yield Finding(
            "board",
            Status.WARNING,
            f"{jetson.model}, /etc/nv_tegra_release is missing",
            "in a container, mount the host's file",
        )
    elif release.jetpack is not None and release.jetpack < 5:
        yield Finding(
            "board",
            Status.WARNING,
            f"{jetson.model}, {release}: its TensorRT has no named tensors; ONNX Runtime speaks",
            "flash JetPack 5 or later where the board has one",
        )
    else:
        yield Finding("board", Status.OK, f"{jetson.model}, {release}")


def _libraries(jetson: Jetson) -> Iterator[Finding]:
    version, is_visible = tensorrt_version(jetson), _metadata("tensorrt") is not None
    cuda = jetson.cuda_version or "unknown"
    if version is None:
        remedy = "sudo apt-get install python3-libnvinfer"
        yield Finding("tensorrt", Status.WARNING, f"not installed (CUDA {cuda})", remedy)
    elif not is_visible:
        yield Finding(
            "tensorrt",
            Status.WARNING,
            f"{version} is installed for the system's Python, this one does not see it",
            "make the environment with: python3 -m venv --system-site-packages",
        )
    else:
        yield Finding("tensorrt", Status.OK, f"{version}, CUDA {cuda}")
    binding = _metadata("pycuda")
    detail = f"pycuda {binding}" if binding else "no pycuda; the driver's library is called instead"
    yield Finding("cuda binding", Status.OK, detail)


def tensorrt_version(jetson: Jetson) -> Optional[str]:
    """The TensorRT this environment would use, without importing it."""
    return _metadata("tensorrt") or jetson.tensorrt_version


def _metadata(distribution: str) -> Optional[str]:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _memory(jetson: Jetson, budget_mib: float) -> Iterator[Finding]:
    kib = jetson.meminfo_kib()
    available_mib = kib.get("MemAvailable", 0) // 1024
    gpu = f", {kib['NvMapMemUsed'] // 1024} MiB held by the GPU" if "NvMapMemUsed" in kib else ""
    detail = f"budget {budget_mib:.0f} MiB of {available_mib} MiB available{gpu}"
    if available_mib < budget_mib:
        remedy = "stop the desktop: sudo systemctl set-default multi-user.target, then restart"
        yield Finding("budget", Status.WARNING, detail, remedy)
    else:
        yield Finding("budget", Status.OK, detail)
    blocks = jetson.free_blocks()
    if blocks is None:
        return
    detail = (
        f"{blocks.free_kib // 1024} MiB free, {blocks.large_kib // 1024} MiB of it in blocks of"
        f" 1 MiB and more, the largest {blocks.largest_kib / 1024:g} MiB"
    )
    if blocks.large_kib < _ENOUGH_LARGE_KIB:
        yield Finding("fragmentation", Status.WARNING, detail, _COMPACT)
    else:
        yield Finding("fragmentation", Status.OK, detail)


def _power(jetson: Jetson) -> Iterator[Finding]:
    mode = jetson.power_mode
    if mode is None:
        yield Finding("power mode", Status.WARNING, "unknown", "sudo nvpmodel -q")
    else:
        yield Finding("power mode", Status.OK, mode)
    clocks = list(jetson.clocks())
    if not clocks:
        return
    detail = ", ".join(
        f"{clock.name} {clock.low_mhz:.0f} to {clock.high_mhz:.0f} of {clock.limit_mhz:.0f} MHz"
        for clock in clocks
    )
    if all(clock.is_pinned for clock in clocks):
        yield Finding("clocks", Status.OK, f"{detail}, pinned")
    else:
        remedy = "for an early first sound pin them: sudo jetson_clocks"
        yield Finding("clocks", Status.WARNING, f"{detail}, they follow the load", remedy)


def _heat(jetson: Jetson) -> Iterator[Finding]:
    zones = list(jetson.zones())
    if not zones:
        return
    throttling = [zone.name for zone in zones if zone.is_throttling]
    hottest = max(zones, key=lambda zone: zone.celsius)
    detail = f"{hottest.celsius:.0f} °C at the hottest ({hottest.name})"
    near = [
        zone.name
        for zone in zones
        if zone.throttles_at_celsius is not None
        and zone.celsius > zone.throttles_at_celsius - _NEAR_THROTTLING_CELSIUS
    ]
    if throttling:
        cause = f"{detail}, throttling because of {', '.join(throttling)}"
        yield Finding("heat", Status.WARNING, cause, "cool the board, or choose a lower power mode")
    elif near:
        yield Finding("heat", Status.WARNING, f"{detail}, about to throttle: {', '.join(near)}")
    else:
        yield Finding("heat", Status.OK, detail)


def _engines(jetson: Jetson, voice: VoiceDirectory) -> Iterator[Finding]:
    info = voice.manifest.info
    parts = [part.name for part in voice.manifest.parts]
    verdicts = read_manifests(voice.path, parts)
    n_engines = len(verdicts.manifests) + len(verdicts.refused)
    if not n_engines:
        if jetson.is_one:
            detail = f"{info.name} has none, ONNX Runtime speaks"
            yield Finding("engines", Status.OK, detail)
        return
    version, sm = tensorrt_version(jetson), jetson.sm
    if version is None or sm is None:
        missing = "TensorRT" if version is None else "a Jetson"
        detail = f"{info.name} has {n_engines}, unused without {missing}; ONNX Runtime speaks"
        yield Finding("engines", Status.WARNING, detail)
        return
    compare(verdicts, voice.path, Machine(version, sm))
    for error in verdicts.refused.values():  # its message names the command that rebuilds it
        yield Finding("engines", Status.WARNING, str(error))
    if verdicts.plans:
        detail = f"{info.name}: {', '.join(sorted(verdicts.plans))} on TensorRT"
        yield Finding("engines", Status.OK, detail)
