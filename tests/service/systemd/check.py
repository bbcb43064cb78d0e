"""Runs inside a booted systemd, as root: installs the service and holds it to its promises.

Writes one line per check to the result file and exits; the unit that started it powers off.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, List

SOURCE = Path("/opt/source")
RESULT = Path("/opt/result.txt")
HEARD = Path("/var/cache/edge-tts/heard.wav")
SOCKET = "/run/edge-tts/edge-tts.sock"
UNIT = "edge-tts.service"
HOOKS = Path("/etc/edge-tts/hooks")
SECRET = "Quagmire"
MAX_EXPOSURE = 1.5


def sh(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    if check and done.returncode:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def install() -> str:
    command = [str(SOURCE / "scripts/install.sh"), "--wheels", "/opt/wheels", "--voices"]
    sh(*command, "/opt/voices")
    return sh(*command, "/opt/voices")  # a second time, on top


def show(name: str) -> str:
    return sh("systemctl", "show", "-P", name, UNIT)


def main_pid() -> int:
    return int(show("MainPID"))


def worker_pid() -> int:
    return int(sh("pgrep", "-f", "edge_tts.service.worker"))


def speak(text: str = "Ready.") -> Dict[str, Any]:
    """Speak over the socket and return the final event."""
    with socket.socket(socket.AF_UNIX) as link:
        send(link, text=text)
        file = link.makefile("rb")
        while True:
            header = json.loads(file.readline())
            fields = json.loads(file.read(header.get("data_length", 0)) or b"{}")
            if header["type"] in ("edge-finished", "error"):
                return fields


def send(link: socket.socket, **fields: Any) -> None:
    link.connect(SOCKET)
    link.settimeout(60)
    data = json.dumps(fields).encode()
    header = {"type": "edge-speak", "data_length": len(data)}
    link.sendall(json.dumps(header).encode() + b"\n" + data)


def queue(text: str) -> None:
    """Have a text spoken and wait for nothing but its acceptance."""
    with socket.socket(socket.AF_UNIX) as link:
        send(link, text=text, detached=True)
        assert b"edge-accepted" in link.recv(4096)


def assert_speaks() -> str:
    before = HEARD.stat().st_size if HEARD.exists() else 0
    last = speak()
    assert last.get("reason") == "done", last
    wait_for(lambda: HEARD.exists() and HEARD.stat().st_size != before)
    return f"{last['spoken_s']} s spoken"


def wait_for(condition: Callable[[], Any], timeout_s: float = 60) -> Any:
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        try:
            value = condition()
        except (AssertionError, OSError, ValueError):
            value = None
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError("it did not come about in time")


def check_ready() -> str:
    assert show("ActiveState") == "active", show("ActiveState")
    assert show("StatusText") == "ready", show("StatusText")
    return assert_speaks()


def check_socket_mode() -> str:
    status = Path(SOCKET).stat()
    assert status.st_mode & 0o777 == 0o660
    assert pwd.getpwuid(status.st_uid).pw_name == "edge-tts"
    denied = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c",
         f"import socket; socket.socket(socket.AF_UNIX).connect({SOCKET!r})"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert "PermissionError" in denied.stderr, denied.stderr
    return "0660, closed to others"


def check_exposure() -> str:
    verdict = sh("systemd-analyze", "security", "--no-pager", UNIT).splitlines()[-1]
    level = float(verdict.split(": ")[1].split()[0])
    assert level <= MAX_EXPOSURE, verdict
    return f"{level}"


def check_duck_hook_released() -> str:
    """Other sound comes back although the service was killed while it spoke."""
    log = Path("/run/edge-tts/duck.log")
    HOOKS.mkdir(parents=True)
    for name in ("duck", "unduck"):
        (HOOKS / name).write_text(f"#!/bin/sh\necho {name} >>{log}\n")
        (HOOKS / name).chmod(0o755)
    sh("systemctl", "restart", UNIT)
    try:
        queue(f"{SECRET}. " * 20)
        wait_for(lambda: log.exists() and log.read_text().split() == ["duck"])
        os.kill(main_pid(), signal.SIGKILL)
        wait_for(lambda: log.read_text().split() == ["duck", "unduck"])
    finally:
        shutil.rmtree(HOOKS)
        wait_for(lambda: show("ActiveState") == "active")
        sh("systemctl", "restart", UNIT)
    return assert_speaks()


def check_journal() -> str:
    """What has been spoken is in no log."""
    journal = sh("journalctl", "--no-pager", "-o", "cat")
    assert "edge-tts" in journal
    assert SECRET not in journal
    return "no text"


def check_worker_killed() -> str:
    front, worker = main_pid(), worker_pid()
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: worker_pid() != worker)
    spoken = assert_speaks()
    assert main_pid() == front
    return spoken


def check_front_killed() -> str:
    front = main_pid()
    os.kill(front, signal.SIGKILL)
    wait_for(lambda: main_pid() not in (0, front) and show("ActiveState") == "active")
    return assert_speaks()


def check_watchdog() -> str:
    front = main_pid()
    os.kill(front, signal.SIGSTOP)
    wait_for(lambda: main_pid() not in (0, front) and show("ActiveState") == "active", 90)
    spoken = assert_speaks()
    journal = sh("journalctl", "-u", UNIT, "--no-pager", "-o", "cat")
    assert "Watchdog timeout" in journal, journal[-2000:]
    return spoken


def check_socket_activation() -> str:
    sh("systemctl", "stop", UNIT)
    assert show("ActiveState") == "inactive"
    return assert_speaks()


def check_no_sound_card() -> str:
    sh("systemctl", "stop", UNIT)
    config = Path("/etc/asound.conf")
    saved = config.read_text()
    config.write_text("pcm.!default { type hw card 0 }\n")
    try:
        sh("systemctl", "start", UNIT)
        status = wait_for(lambda: "no sound device" in show("StatusText") and show("StatusText"))
        assert show("ActiveState") == "active"
    finally:
        config.write_text(saved)
    wait_for(lambda: show("StatusText") == "ready")
    return f"{status!r}, then {assert_speaks()}"


def check_stop() -> str:
    began_s = time.monotonic()
    sh("systemctl", "stop", UNIT)
    took_s = time.monotonic() - began_s
    assert show("Result") == "success"
    assert took_s < 10
    sh("systemctl", "start", UNIT)
    return f"{took_s:.1f} s"


def limit_memory_tightly() -> None:
    """Set the lowest MemoryMax that the kernel takes: version 1 refuses one that is in use."""
    folder = Path("/sys/fs/cgroup/memory/system.slice") / UNIT
    for limit_mib in range(80, 400, 8):
        sh("systemctl", "set-property", "--runtime", UNIT, f"MemoryMax={limit_mib}M")
        file = folder / "memory.limit_in_bytes"
        if not file.exists() or int(file.read_text()) == limit_mib * 1024**2:
            return
    raise AssertionError("no limit was taken")


def check_memory_max() -> str:
    limit = show("MemoryMax")
    assert limit == str(1024**3), limit
    front = main_pid()
    worker = worker_pid()
    try:
        limit_memory_tightly()
        speak(f"{SECRET}, said by a worker that needs more than it may have.")
    finally:
        sh("systemctl", "set-property", "--runtime", UNIT, "MemoryMax=1G")
    wait_for(lambda: worker_pid() != worker)
    # Under a limit that no worker can live with, the service has become degraded; it recovers.
    spoken = wait_for(assert_speaks)
    return f"front {'kept' if main_pid() == front else 'replaced'}, then {spoken}"


def check_uninstall() -> str:
    sh(str(SOURCE / "scripts/install.sh"), "--uninstall", "--purge")
    left = [p for p in ("/opt/edge-tts", "/etc/edge-tts", "/var/lib/edge-tts") if Path(p).exists()]
    assert not left, left
    assert "edge-tts" not in sh("systemctl", "list-unit-files", "--no-legend", check=False)
    return "nothing left"


CHECKS: List[Callable[[], str]] = [
    install,
    check_ready,
    check_socket_mode,
    check_exposure,
    check_worker_killed,
    check_front_killed,
    check_socket_activation,
    check_no_sound_card,
    check_watchdog,
    check_duck_hook_released,
    check_memory_max,
    check_journal,
    check_stop,
    check_uninstall,
]


def main() -> None:
    with RESULT.open("w", buffering=1) as result:
        for check in CHECKS:
            name = check.__name__.replace("check_", "")
            began_s = time.monotonic()
            try:
                detail = check().splitlines()[-1:] or [""]
                result.write(f"ok {name} ({time.monotonic() - began_s:.1f} s): {detail[0]}\n")
            except Exception:  # noqa: BLE001 - every check must leave its line
                journal = sh("journalctl", "-u", UNIT, "--no-pager", "-n", "40", check=False)
                result.write(f"FAILED {name}\n{traceback.format_exc()}\n{journal}\n")


if __name__ == "__main__":
    main()
