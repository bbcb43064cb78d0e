"""Who is served: only this machine, or only who knows the token. Needs no web framework."""

from __future__ import annotations

import ipaddress
import stat
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Optional

from edge_tts.errors import ConfigError, ServiceError

if TYPE_CHECKING:
    import socket
    from pathlib import Path

PACKAGES = ("fastapi", "uvicorn")
_MIN_TOKEN_BYTES, _MAX_TOKEN_BYTES = 16, 1024


@dataclass(frozen=True)
class Access:
    """`is_loopback`: answer only to this machine's own names. `token` None asks for none."""

    is_loopback: bool = True
    token: Optional[bytes] = None


def access_for(listener: "socket.socket", token_file: "Optional[Path]") -> Access:
    """Who is served on a bound listener.

    Raises ConfigError: `config.unsafe` where others may reach it and need no token, or may read
    the token; `config.unreadable` and `config.invalid` for a file that holds none.
    """
    host = str(listener.getsockname()[0])
    is_loopback = ipaddress.ip_address(host.partition("%")[0]).is_loopback
    if token_file is not None:
        return Access(is_loopback, _read_token(token_file))
    if not is_loopback:
        raise ConfigError(
            f"{host} can be reached from other machines; set http.token_file, or listen on "
            "127.0.0.1",
            code="config.unsafe",
        )
    return Access(is_loopback)


def _read_token(path: "Path") -> bytes:
    try:
        mode = path.stat().st_mode
        with path.open("rb") as file:
            token = file.read(_MAX_TOKEN_BYTES + 1).strip()
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}; set http.token_file to a file this user can read",
            code="config.unreadable",
        ) from error
    if mode & stat.S_IRWXO:
        raise ConfigError(f"{path}: others may read the token; chmod 640 it", code="config.unsafe")
    is_plain = all(0x21 <= byte <= 0x7E for byte in token)
    if not is_plain or not _MIN_TOKEN_BYTES <= len(token) <= _MAX_TOKEN_BYTES:
        raise ConfigError(
            f"{path}: the token must be {_MIN_TOKEN_BYTES} to {_MAX_TOKEN_BYTES} ASCII characters "
            "without a space, for example from `openssl rand -hex 32`"
        )
    return token


def check_installed() -> None:
    """Raise ServiceError `service.library_missing` without the packages of the extra `http`."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ServiceError(
            f"HTTP needs the packages {' and '.join(missing)}; "
            "install them with `pip install 'edge-tts-device[http]'`",
            code="service.library_missing",
        )
