"""Choosing a device by name, the devices command, and ALSA's noise."""

from __future__ import annotations

import json
from typing import List, Optional

import pytest

from edge_tts.audio.devices import DeviceInfo, choose_device
from edge_tts.cli import devices as devices_command
from edge_tts.errors import AudioError
from tests.audio.conftest import AlsaFile

NAMES = ["HDA Intel PCH: ALC257 Analog (hw:0,0)", "HDA Intel PCH: HDMI 0 (hw:0,3)", "pulse"]
NAMES += ["USB Audio: - (hw:1,0)", "default", "pulse monitor"]


def devices() -> List[DeviceInfo]:
    return [
        DeviceInfo(name, index, "ALSA", 2, 48000, name == "default")
        for index, name in enumerate(NAMES)
    ]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, "default"),
        ("usb", "USB Audio: - (hw:1,0)"),
        ("HDMI", "HDA Intel PCH: HDMI 0 (hw:0,3)"),
        ("PULSE", "pulse"),
        (" default ", "default"),
        ("hw:0,3", "HDA Intel PCH: HDMI 0 (hw:0,3)"),
    ],
)
def test_choice(wanted: Optional[str], found: str) -> None:
    assert choose_device(devices(), wanted).name == found


@pytest.mark.parametrize(
    ("wanted", "code", "said"),
    [
        ("hda", "audio.ambiguous_device", "ALC257"),
        ("plus", "audio.unknown_device", "'pulse'"),
        ("", "audio.unknown_device", "edge-tts devices"),
        ("bluetooth", "audio.unknown_device", "edge-tts devices"),
    ],
)
def test_bad_names(wanted: str, code: str, said: str) -> None:
    with pytest.raises(AudioError, match=said) as caught:
        choose_device(devices(), wanted)
    assert caught.value.code == code


def test_first_device_stands_in_for_a_missing_default() -> None:
    assert choose_device(devices()[:3], None).name == NAMES[0]


def test_no_device_at_all() -> None:
    with pytest.raises(AudioError) as caught:
        choose_device([], "pulse")
    assert caught.value.code == "audio.no_device"


def test_table_marks_the_default_one() -> None:
    table = devices_command._table(devices()).splitlines()
    assert [line[0] for line in table] == ["*" if name == "default" else " " for name in NAMES]
    assert "speak -o" in devices_command._table([])


@pytest.mark.system
def test_devices_command_prints_json(alsa_file: AlsaFile) -> None:
    words = alsa_file.run(
        "from edge_tts.cli.main import main\nassert main(['devices', '--json']) == 0"
    )
    listed = json.loads(" ".join(words))
    assert [device["name"] for device in listed if device["is_default"]] == ["default"]
    assert all("index" not in device for device in listed)
