"""From the configuration to the settings of the front process."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional

from edge_tts.errors import ConfigError
from edge_tts.service.announcer import AnnouncerSettings
from edge_tts.service.connection import ConnectionLimits
from edge_tts.service.duck import DuckHook
from edge_tts.service.front import FrontSettings
from edge_tts.service.http_child import HttpChild, http_command
from edge_tts.service.messages import Manner
from edge_tts.service.replies import VoiceFacts
from edge_tts.service.scheduling import ClassRule, Interrupted, Policy, Priority
from edge_tts.service.sockets import listen_tcp
from edge_tts.service.supervisor import WorkerPolicy, worker_command

if TYPE_CHECKING:
    from edge_tts.config import Config, Service
    from edge_tts.service.output import Output

VOICE_SOURCE = "edge_tts.service.voice_source:open_voice"
HOOKS = Path("/etc/edge-tts/hooks")
_SYSTEM_PROMPTS = Path("/var/cache/edge-tts/prompts")
_OTHERS_WRITE = 0o022


def front_settings(config: "Config", runtime: Path, hooks: Path = HOOKS) -> FrontSettings:
    """Settings as `config` says. `runtime` is the folder for what lasts until the next boot."""
    service = config.service
    return FrontSettings(
        worker_command=worker_command(VOICE_SOURCE, _worker_options(config)),
        prompts=prompts_folder(config),
        announcer=AnnouncerSettings(
            policy=_policy(service),
            manner=default_manner(config),
            cache_bytes=service.cache_mib * 1024**2,
            lexicon=config.lexicon,
        ),
        # One text must be given up before the worker as a whole is.
        worker=WorkerPolicy(fallback_after=service.attempts + 1),
        connections=ConnectionLimits(n_connections=service.connections, idle_s=service.idle_s),
        budget_mib=config.budget_mib,
        n_attempts=service.attempts,
        drain_s=service.drain_s,
        # A file is whole only when it is closed, once.
        keep_warm_s=math.inf if service.output_file else config.audio.keep_warm_s,
        duck=duck_hook(hooks, runtime),
        facts=installed_facts(config.voice),
    )


def http_child(config: "Config", service: Path) -> Optional[HttpChild]:
    """The process for HTTP, with its listener bound; None where `http.listen` is not set.

    Raises ConfigError, and ServiceError `service.library_missing` without the extra `http`.
    """
    if config.http.listen is None:
        return None
    from edge_tts.http.access import access_for, check_installed

    check_installed()
    listener = listen_tcp(config.http.listen, "http.listen")
    try:
        access_for(listener, config.http.token_file)
    except ConfigError:
        listener.close()
        raise
    return HttpChild(http_command(config.http, service), listener)


def default_manner(config: "Config") -> Manner:
    """How to speak where a request does not say."""
    language = None if config.language == "auto" else config.language
    return Manner(None, config.speaker, language, config.speed, config.volume)


def prompts_folder(config: "Config") -> Path:
    """Where prompts are: as configured, else the system's cache for root, else the user's."""
    if config.service.prompts is not None:
        return config.service.prompts
    if os.geteuid() == 0 or _SYSTEM_PROMPTS.is_dir():
        return _SYSTEM_PROMPTS
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "edge-tts" / "prompts"


def open_output(config: "Config") -> "Output":
    """The sound device, or the file that takes its place."""
    if config.service.output_file is not None:
        from edge_tts.service.output import FileOutput

        return FileOutput(config.service.output_file)
    from edge_tts.audio.device_sink import DeviceSink

    return DeviceSink(config.device, lead_in_s=config.audio.lead_in_s)


def installed_facts(voice: str) -> Optional[VoiceFacts]:
    """Facts about the voice before the worker has loaded it; None when it is not installed."""
    from edge_tts.voices import catalog

    info = next((info for info in catalog.installed() if info.name == voice), None)
    if info is None:
        return None
    languages = [language.value for language in info.languages]
    speakers = list(info.speakers)
    rate_hz = info.sample_rate_hz
    return VoiceFacts(
        info.name, info.version, languages, speakers, rate_hz, info.licence, info.source
    )


def duck_hook(folder: Path, runtime: Path) -> Optional[DuckHook]:
    """The hook made of the programs `duck` and `unduck` in `folder`; None when there are none.

    Raises ConfigError when one is missing or anyone but root could change it.
    """
    commands: Dict[str, Path] = {name: folder / name for name in ("duck", "unduck")}
    if not any(path.exists() for path in commands.values()):
        return None
    for path in (folder, *commands.values()):
        _check_roots_own(path)
    return DuckHook((str(commands["duck"]),), (str(commands["unduck"]),), runtime / "ducked")


def _check_roots_own(path: Path) -> None:
    try:
        status = path.stat()
    except OSError as error:
        raise ConfigError(
            f"duck hook {path}: {error.strerror}; both duck and unduck are needed"
        ) from error
    if status.st_uid != 0 or status.st_mode & _OTHERS_WRITE:
        raise ConfigError(
            f"{path}: the duck hook must belong to root and be writable by nobody else;"
            f" run: chown root:root {path} && chmod go-w {path}",
            code="config.unsafe",
        )


def runtime_folder(socket: Path) -> Path:
    """The folder for what lasts until the next boot: systemd's for the unit, or the socket's."""
    given = os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    return Path(given) if given else socket.parent


def _worker_options(config: "Config") -> List[str]:
    options = ["--voice", config.voice, "--threads", str(config.threads)]
    options += ["--preset", config.preset, "--pauses", json.dumps(vars(config.pauses))]
    if config.lexicon is not None:
        options += ["--lexicon", str(config.lexicon)]
    if config.instruct is not None:
        # Joined, so that a text that begins with a dash is not taken for an option.
        options.append(f"--instruct={config.instruct}")
    if config.fallback_voice is not None:
        options += ["--fallback-voice", config.fallback_voice]
    options += ["--seed", str(config.seed)]
    # The worker's own parser takes what follows as the source's options.
    return ["--", *options]


def _policy(service: "Service") -> Policy:
    default = Policy()
    rules = {
        Priority.ALERT: service.alert_interrupted,
        Priority.NAVIGATION: service.navigation_interrupted,
        Priority.MESSAGE: service.message_interrupted,
        Priority.BACKGROUND: service.background_interrupted,
    }
    classes = {
        priority: ClassRule(default.classes[priority].depth, Interrupted(rule))
        for priority, rule in rules.items()
    }
    return Policy(classes, session_depth=service.session_depth)
