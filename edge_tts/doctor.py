"""Examines an installation: what is there, what is broken, and the command that repairs it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

from edge_tts import config, paths
from edge_tts.config import Config
from edge_tts.errors import AudioError, ConfigError, ModelError
from edge_tts.findings import Finding, Status

DISTRIBUTION = "edge-tts-device"
ONLINE_DISTRIBUTION = "edge-tts"
MIN_PYTHON = (3, 8)
NEEDED_MIB = 350  # peak of a process that speaks with the default voice

_REINSTALL = "run scripts/quickstart.sh again, or: python -m pip install edge-tts-device"
_IMPORT_NAMES = {"PyYAML": "yaml"}
_LEFT_TO_THE_AUDIO_CHECK = "sounddevice"  # importing it starts PortAudio, which has one owner


def examine(config_path: Optional[str] = None) -> List[Finding]:
    """Run every check; none changes anything, needs a network or loads a model.

    The later checks need the dependencies, so a failure among those ends the examination.
    """
    findings = [*_python(), *_name_clash(), *_dependencies()]
    if not any(finding.status is Status.FAILURE for finding in findings):
        loaded, finding = _configuration(config_path)
        findings += [finding, *_voices(loaded.voice), *_audio(loaded.device), *_jetson(loaded)]
    return [*findings, *_memory(), *_threads()]


def _python() -> Iterator[Finding]:
    detail = f"{platform.python_version()} on {platform.machine()}, {' '.join(platform.libc_ver())}"
    if sys.version_info[:2] < MIN_PYTHON:
        yield Finding("python", Status.FAILURE, detail, "use Python 3.8 or newer")
    else:
        yield Finding("python", Status.OK, f"{detail}, {sys.executable}")


def _name_clash() -> Iterator[Finding]:
    """PyPI's `edge-tts` owns our import name and command; the two overwrite each other's files."""
    try:
        online = metadata.version(ONLINE_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        yield from _shadowing()
        return
    yield Finding(
        "name clash",
        Status.FAILURE,
        f"PyPI's edge-tts {online} (Microsoft's online voices) is installed in this environment"
        " and has the same package and command name",
        f"python -m pip uninstall -y {ONLINE_DISTRIBUTION} {DISTRIBUTION},"
        " then install this program into an environment of its own",
    )


def _shadowing() -> Iterator[Finding]:
    ours = Path(__file__).resolve().parent
    others = [folder for folder in _package_folders() if folder != ours]
    command = shutil.which("edge-tts")
    if others:
        yield Finding(
            "name clash",
            Status.WARNING,
            f"another package edge_tts lies in {others[0]}; this one is {ours}",
            "keep the two in separate environments",
        )
    elif command and Path(command).parent.resolve() != Path(sys.executable).parent.resolve():
        yield Finding(
            "name clash",
            Status.WARNING,
            f"the shell's `edge-tts` is {command}, which belongs to another environment",
            f"call {Path(sys.executable).parent / 'edge-tts'}, or put its folder first in PATH",
        )
    else:
        yield Finding("name clash", Status.OK, "no other edge-tts in this environment")


def _package_folders() -> List[Path]:
    """Every folder on the import path that holds a package of our name."""
    entries = (Path(entry or ".") / "edge_tts" for entry in sys.path)
    return [entry.resolve() for entry in entries if (entry / "__init__.py").is_file()]


def _dependencies() -> Iterator[Finding]:
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        yield Finding("package", Status.FAILURE, f"{DISTRIBUTION} is not installed", _REINSTALL)
        return
    yield Finding("package", Status.OK, f"{DISTRIBUTION} {metadata.version(DISTRIBUTION)}")
    for requirement in requirements:
        if "extra ==" not in requirement:
            yield _dependency(_distribution_name(requirement))


def _distribution_name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return match.group() if match else requirement


def _dependency(name: str) -> Finding:
    try:
        version = metadata.version(name)
        if name != _LEFT_TO_THE_AUDIO_CHECK:
            import_module(_IMPORT_NAMES.get(name, name))
    except metadata.PackageNotFoundError:
        return Finding(name, Status.FAILURE, "not installed", _REINSTALL)
    except ImportError as error:
        return Finding(name, Status.FAILURE, f"{version}, cannot be imported: {error}", _REINSTALL)
    return Finding(name, Status.OK, version)


def _configuration(config_path: Optional[str]) -> Tuple[Config, Finding]:
    """What is configured; the defaults when it is unusable, so that the examination goes on."""
    try:
        loaded = config.load(config_path)
    except ConfigError as error:
        finding = Finding("configuration", Status.FAILURE, str(error), "see docs/config.md")
        return Config(), finding
    files = [str(path) for path in paths.config_files() if path.exists()]
    if config_path is not None:
        files.append(config_path)
    return loaded, Finding("configuration", Status.OK, ", ".join(files) or "defaults (no file)")


def _voices(default: str) -> Iterator[Finding]:
    from edge_tts.voices import catalog

    try:
        catalog.find(default)
    except ModelError as error:  # its message names the command that installs the voice
        yield Finding("voices", Status.FAILURE, str(error))
    for directory in catalog.directories():
        info = directory.manifest.info
        faults = directory.faults()
        for fault in faults:
            yield Finding("voices", Status.FAILURE, str(fault))
        if not faults:
            detail = f"{info.name} {info.version}, {len(info.speakers)} speakers, {directory.path}"
            yield Finding("voices", Status.OK, detail)


def _jetson(loaded: Config) -> Iterator[Finding]:
    from edge_tts import doctor_jetson
    from edge_tts.jetson import Jetson
    from edge_tts.voices import catalog

    return doctor_jetson.examine(Jetson(), catalog.directories(), loaded.budget_mib)


def _audio(device: Optional[str]) -> Iterator[Finding]:
    from edge_tts.audio.devices import choose_device, list_devices

    try:
        devices = list_devices()
        chosen = choose_device(devices, device)
    except AudioError as error:
        yield Finding("audio", Status.WARNING, str(error))
        return
    yield Finding("audio", Status.OK, f"{chosen.name!r}, one of {len(devices)} output devices")


def _memory() -> Iterator[Finding]:
    available_mib = _meminfo_mib().get("MemAvailable")
    if available_mib is None:
        yield Finding("memory", Status.WARNING, "/proc/meminfo cannot be read")
    elif available_mib < NEEDED_MIB:
        yield Finding(
            "memory",
            Status.WARNING,
            f"{available_mib} MiB available, speaking needs up to {NEEDED_MIB} MiB",
            "stop something else",
        )
    else:
        yield Finding("memory", Status.OK, f"{available_mib} MiB available")


def _meminfo_mib() -> Dict[str, int]:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return {}
    rows = re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)
    return {name: int(kib) // 1024 for name, kib in rows}


def _threads() -> Iterator[Finding]:
    from edge_tts.runtime.threads import default_threads, usable_cpus

    detail = f"{default_threads()} for inference, {usable_cpus()} of {os.cpu_count()} CPUs usable"
    yield Finding("threads", Status.OK, detail)
