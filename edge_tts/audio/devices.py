"""Find sound devices and choose one by name.

Names are stable where PortAudio's indices are not: an index may mean another device after one was
plugged in or out.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence

from edge_tts.audio import portaudio
from edge_tts.errors import AudioError


@dataclass(frozen=True)
class DeviceInfo:
    """One device that can play. `index` holds only until PortAudio looks again."""

    name: str
    index: int
    host_api: str
    n_channels: int
    default_sample_rate_hz: int
    is_default: bool


def list_devices() -> List[DeviceInfo]:
    """Every output device there is now; empty where there is none."""
    return portaudio.call(list_on_owner)


def list_on_owner() -> List[DeviceInfo]:
    """`list_devices`, for callers that are on PortAudio's owner thread already."""
    portaudio.refresh()
    sounddevice = portaudio.library()
    apis = sounddevice.query_hostapis()
    default = sounddevice.default.device[1]
    if default < 0:
        default = next((api["default_output_device"] for api in apis), -1)
    return [
        _device_info(entry, apis, default)
        for entry in sounddevice.query_devices()
        if entry["max_output_channels"] > 0
    ]


def choose_device(devices: Sequence[DeviceInfo], name: Optional[str]) -> DeviceInfo:
    """The device called `name`, or the default one.

    The whole name wins over a part of it; case does not matter. Raises AudioError
    `audio.no_device`, `audio.unknown_device` (with the nearest names) or `audio.ambiguous_device`.
    """
    if not devices:
        raise AudioError(
            "there is no sound device; connect one or start its sound server, or write a file "
            "with -o FILE.wav",
            code="audio.no_device",
        )
    if name is None:
        return next((device for device in devices if device.is_default), devices[0])
    wanted = name.casefold().strip()
    exact = [device for device in devices if device.name.casefold() == wanted]
    if exact:
        return exact[0]
    partial = [device for device in devices if wanted and wanted in device.name.casefold()]
    if len(partial) > 1:
        raise AudioError(
            f"{name!r} could be any of: {_listed(partial)}; give more of the name",
            code="audio.ambiguous_device",
        )
    if not partial:
        raise _unknown(name, devices)
    return partial[0]


def _unknown(name: str, devices: Sequence[DeviceInfo]) -> AudioError:
    by_folded_name = {device.name.casefold(): device for device in devices}
    near = difflib.get_close_matches(name.casefold(), by_folded_name, n=3, cutoff=0.4)
    shown = [by_folded_name[key] for key in near] or list(devices)[:8]
    return AudioError(
        f"there is no sound device called {name!r}; try {_listed(shown)} (all: 'edge-tts devices')",
        code="audio.unknown_device",
    )


def _listed(devices: Sequence[DeviceInfo]) -> str:
    return ", ".join(repr(device.name) for device in devices)


def _device_info(entry: Any, apis: Sequence[Any], default_index: int) -> DeviceInfo:
    return DeviceInfo(
        name=entry["name"],
        index=entry["index"],
        host_api=apis[entry["hostapi"]]["name"],
        n_channels=entry["max_output_channels"],
        default_sample_rate_hz=round(entry["default_samplerate"]),
        is_default=entry["index"] == default_index,
    )
