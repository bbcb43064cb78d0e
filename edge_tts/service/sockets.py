"""Where the service listens: a Unix socket of its own or handed over by systemd, and maybe TCP."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import Optional, Tuple

from edge_tts.errors import ConfigError, ServiceError

_SOCKET_MODE_MASK = 0o117  # leaves 0660
_PROBE_S = 1.0
_BACKLOG = 64
SYSTEM_SOCKET = Path("/run/edge-tts/edge-tts.sock")


def default_socket() -> Path:
    """The system's socket for root, the user's otherwise."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.geteuid() == 0 or not runtime.startswith("/"):
        return SYSTEM_SOCKET
    return Path(runtime) / "edge-tts" / "edge-tts.sock"


def listen_unix(path: Path) -> socket.socket:
    """Bind `path` with mode 0660; a stale socket is replaced, a live one respected.

    Raises ServiceError `service.already_running` and ConfigError.
    """
    if is_alive(path):
        raise ServiceError(
            f"a service answers on {path}; stop it first", code="service.already_running"
        )
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        if path.is_socket():
            path.unlink()
        _bind_unix(link, path)
        link.listen(_BACKLOG)
    except OSError as error:
        link.close()
        raise ConfigError(
            f"cannot listen on {path}: {error.strerror}; set service.socket to another place"
        ) from error
    return link


def _bind_unix(link: socket.socket, path: Path) -> None:
    # The mode must be right from the first moment, not after a chmod. Folders are made before:
    # the mask would make them unsearchable.
    mask = os.umask(_SOCKET_MODE_MASK)
    try:
        link.bind(str(path))
    finally:
        os.umask(mask)


def is_alive(path: Path) -> bool:
    """True when something accepts connections on the socket at `path`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except OSError as error:
            # A full backlog or a forbidden socket belongs to somebody who lives.
            return error.errno in (errno.EAGAIN, errno.EACCES)
        return True


def listen_tcp(address: str) -> socket.socket:
    """Bind `HOST:PORT`. Raises ConfigError."""
    host, port = parse_address(address)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return _bound_tcp(family, host, port)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {address}: {error.strerror}; set service.tcp to another address"
        ) from error


def _bound_tcp(family: int, host: str, port: int) -> socket.socket:
    link = socket.socket(family, socket.SOCK_STREAM)
    try:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        link.bind((host, port))
        link.listen(_BACKLOG)
    except OSError:
        link.close()
        raise
    return link


def parse_address(address: str) -> Tuple[str, int]:
    """Host and port of `HOST:PORT` or `[IPV6]:PORT`. Raises ConfigError."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not host or int(port) > 65535:
        raise ConfigError(f"{address!r} is not HOST:PORT, such as 127.0.0.1:10200")
    return host.strip("[]"), int(port)


def find_socket(configured: Optional[Path]) -> Optional[Path]:
    """The socket of a running service: the configured one, else the user's, else the system's."""
    places = [configured] if configured else [default_socket(), SYSTEM_SOCKET]
    return next((place for place in places if is_alive(place)), None)
