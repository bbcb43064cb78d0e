"""systemd's notification and socket-activation protocols, in full and without its library.

Sources: sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3).
"""

from __future__ import annotations

import os
import socket
from typing import List, Optional

_FIRST_PASSED_FD = 3


class Notifier:
    """Sends states to the service manager; does nothing when there is none."""

    def __init__(self) -> None:
        self._address = os.environ.get("NOTIFY_SOCKET", "")
        self._status = ""

    def ready(self) -> None:
        """The service does its work now."""
        self._send("READY=1")

    def stopping(self) -> None:
        """The service is shutting down."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Feed the watchdog."""
        self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """One line for people; sent when it changes."""
        if text != self._status:
            self._status = text
            self._send(f"STATUS={text}")

    def _send(self, state: str) -> None:
        if not self._address:
            return
        # A leading @ stands for the NUL byte of the abstract namespace.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as link:
            try:
                link.connect(address)
                link.sendall(state.encode())
            except OSError:
                # The manager may be restarting; it asks for nothing but best effort.
                return


def watchdog_s() -> Optional[float]:
    """Seconds within which the watchdog must be fed, None when there is none for this process."""
    pid = os.environ.get("WATCHDOG_PID")
    if pid is not None and pid != str(os.getpid()):
        return None
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1e6 if microseconds.isdigit() and int(microseconds) else None


def passed_sockets() -> List[socket.socket]:
    """Listening sockets handed over by systemd; the variables are consumed."""
    pid = os.environ.pop("LISTEN_PID", None)
    count = os.environ.pop("LISTEN_FDS", "0")
    os.environ.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()) or not count.isdigit():
        return []
    descriptors = range(_FIRST_PASSED_FD, _FIRST_PASSED_FD + int(count))
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return [socket.socket(fileno=descriptor) for descriptor in descriptors]
