"""The duck hook: commands that lower other sound before speech and raise it again after.

A marker file records that the first command has run. It is removed when the second has, so a
service that was killed in between is tidied up after by the next start, or by systemd's
ExecStopPost (`edge-tts service --release-duck`).
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence, Tuple

_log = logging.getLogger(__name__)

_TIMEOUT_S = 2.0


@dataclass(frozen=True)
class DuckHook:
    """`before` and `after` are argument lists, run without a shell."""

    before: Tuple[str, ...]
    after: Tuple[str, ...]
    marker: Path


class Duck:
    """Runs the hook's commands in order, one at a time, and never lets speech wait for them."""

    def __init__(self, hook: Optional[DuckHook]) -> None:
        self._hook = hook
        self._is_wanted = False
        self._is_down = False
        self._task: "Optional[asyncio.Task[None]]" = None

    def set(self, is_wanted: bool) -> None:
        """Ask for other sound to be low, or not."""
        if self._hook is None or is_wanted == self._is_wanted:
            return
        self._is_wanted = is_wanted
        if self._task is None or self._task.done():
            self._task = asyncio.get_event_loop().create_task(self._follow(self._hook))

    async def close(self) -> None:
        """Release the hook and wait until that is done."""
        self.set(False)
        if self._task is not None:
            await self._task

    async def _follow(self, hook: DuckHook) -> None:
        while self._is_down != self._is_wanted:
            self._is_down = self._is_wanted
            if self._is_down:
                if _set_marker(hook):
                    await _run(hook.before)
            else:
                await _run(hook.after)
                remove_marker(hook)


def _set_marker(hook: DuckHook) -> bool:
    """False where it cannot be: nothing would raise other sound again after a kill."""
    try:
        hook.marker.touch()
    except OSError as error:
        _log.error("other sound stays as it is, %s: %s", hook.marker, error.strerror)
        return False
    return True


def release_left_over(hook: DuckHook) -> bool:
    """Run `after` if a killed service has left other sound low; True when it had."""
    if not hook.marker.exists():
        return False
    try:
        subprocess.run(hook.after, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        _log.error("the duck hook failed: %s", error)
    remove_marker(hook)
    return True


def remove_marker(hook: DuckHook) -> None:
    """Note that nothing is ducked."""
    if hook.marker.exists():
        hook.marker.unlink()


async def _run(command: Sequence[str]) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.DEVNULL)
    except OSError as error:
        _log.error("the duck hook cannot be run: %s", error)
        return
    try:
        await asyncio.wait_for(process.wait(), _TIMEOUT_S)
    except asyncio.TimeoutError:
        _log.error("the duck hook took more than %.0f s and was ended", _TIMEOUT_S)
        process.kill()
        await process.wait()
