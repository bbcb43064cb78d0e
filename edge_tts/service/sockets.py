"""Where the service listens: a Unix socket of its own or handed over by systemd, and maybe TCP."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import tempfile
from pathlib import Path
from typing import Iterator, List, Optional, Tuple

from edge_tts.errors import ConfigError, ServiceError

_SOCKET_MODE_MASK = 0o117  # leaves 0660
_OTHERS_WRITE = 0o022
_PROBE_S = 1.0
_BACKLOG = 64
SYSTEM_SOCKET = Path("/run/edge-tts/edge-tts.sock")


def default_socket() -> Path:
    """In the folder that systemd gives its unit; the system's for root, the user's otherwise."""
    given = os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if given:
        return Path(given) / SYSTEM_SOCKET.name
    if os.geteuid() == 0:
        return SYSTEM_SOCKET
    return _user_folder() / SYSTEM_SOCKET.name


def _user_folder() -> Path:
    """In the user's run-time folder; without one, a folder of the user's own among all others'."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    usual = Path(f"/run/user/{os.geteuid()}")
    if runtime.startswith("/"):
        return Path(runtime) / "edge-tts"
    # A unit or container may hide the folder: then it is there and cannot be looked into.
    return usual / "edge-tts" if os.access(str(usual), os.W_OK) else _shared_folder()


def _shared_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"edge-tts-{os.geteuid()}"


def _is_private(folder: Path) -> bool:
    """True for a real folder that only this user can change."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return is_own and not status.st_mode & _OTHERS_WRITE


def listen_unix(path: Path) -> socket.socket:
    """Bind `path` with mode 0660; a stale socket is replaced, a live one respected.

    Raises ServiceError `service.already_running` and ConfigError.
    """
    if is_alive(path):
        raise ServiceError(
            f"a service answers on {path}; stop it first", code="service.already_running"
        )
    try:
        _make_folder(path.parent)
        if path.is_socket():
            path.unlink()
        return _bound_unix(path)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {path}: {error.strerror}; set service.socket to another place"
        ) from error


def _make_folder(folder: Path) -> None:
    is_shared = folder == _shared_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700 if is_shared else 0o755)
    if is_shared and not _is_private(folder):
        raise ConfigError(
            f"{folder} belongs to somebody else; set service.socket or XDG_RUNTIME_DIR",
            code="config.unsafe",
        )


@contextlib.contextmanager
def removed_at_end(path: Path) -> Iterator[None]:
    """Remove the socket just bound at `path` at the end, unless another has taken its place."""
    bound = path.stat()
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            found = path.stat()
            # The number alone may have been given away again.
            if (found.st_ino, found.st_ctime_ns) == (bound.st_ino, bound.st_ctime_ns):
                path.unlink()


def _bound_unix(path: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The mode must be right from the first moment, not after a chmod. Folders are made before:
    # the mask would make them unsearchable.
    mask = os.umask(_SOCKET_MODE_MASK)
    try:
        link.bind(str(path))
        link.listen(_BACKLOG)
    except OSError:
        link.close()
        raise
    finally:
        os.umask(mask)
    return link


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


def listen_tcp(address: str, key: str = "service.tcp") -> socket.socket:
    """Bind `HOST:PORT`, which the option `key` has asked for. Raises ConfigError."""
    host, port = parse_address(address)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return _bound_tcp(family, host, port)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {address}: {error.strerror}; set {key} to another address"
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
    """The socket of a running service: the first of `trusted_places` that answers."""
    return next((place for place in trusted_places(configured) if is_alive(place)), None)


def trusted_places(configured: Optional[Path]) -> List[Path]:
    """Where a service may listen: the configured place, else the user's, then the system's."""
    places = [configured] if configured else [default_socket(), SYSTEM_SOCKET]
    return [place for place in places if _is_trusted(place)]


def _is_trusted(place: Path) -> bool:
    """Whoever could have made this socket may hear what is spoken."""
    return place.parent != _shared_folder() or _is_private(place.parent)
