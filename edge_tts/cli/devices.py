"""`edge-tts devices`: list the sound devices by the names that `--device` takes."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Sequence

from edge_tts.errors import EXIT_OK

if TYPE_CHECKING:
    from edge_tts.audio.devices import DeviceInfo


def add_parser(subparsers: Any) -> None:
    """Add `devices` to the command line."""
    parser = subparsers.add_parser(
        "devices",
        help="list the sound devices",
        description="List the sound devices that can play; '*' marks the default one.",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def run(args: argparse.Namespace) -> int:
    """Print the devices there are now. Exits 0 also when there is none."""
    from edge_tts.audio.devices import list_devices

    devices = list_devices()
    if args.json:
        print(json.dumps([_record(device) for device in devices], ensure_ascii=False, indent=2))
    else:
        print(_table(devices))
    return EXIT_OK


def _record(device: "DeviceInfo") -> Any:
    record = asdict(device)
    del record["index"]  # means another device as soon as one is plugged in
    return record


def _table(devices: "Sequence[DeviceInfo]") -> str:
    if not devices:
        return "no sound device; connect one, start its sound server, or use 'speak -o FILE.wav'"
    width = max(len(device.name) for device in devices)
    return "\n".join(
        f"{'*' if device.is_default else ' '} {device.name:{width}}  {device.host_api}  "
        f"{device.n_channels} channels  {device.default_sample_rate_hz} Hz"
        for device in devices
    )
