"""The duck hook: order, no shell, ownership, and release after a kill."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from edge_tts.errors import ConfigError
from edge_tts.service.duck import Duck, DuckHook, release_left_over
from edge_tts.service.settings import duck_hook


def hook(tmp_path: Path) -> DuckHook:
    log = tmp_path / "log"

    def command(word: str) -> "tuple[str, ...]":
        return ("/bin/sh", "-c", 'echo "$1" >> "$0"', str(log), word)

    return DuckHook(command("down"), command("up"), tmp_path / "ducked")


def log_of(tmp_path: Path) -> "list[str]":
    return (tmp_path / "log").read_text().split()


def test_other_sound_is_lowered_and_raised_in_turn(tmp_path: Path) -> None:
    async def main() -> None:
        duck = Duck(hook(tmp_path))
        for _ in range(2):
            duck.set(True)
            duck.set(True)
            while not log_of_exists(tmp_path, "down"):
                await asyncio.sleep(0.01)
            assert (tmp_path / "ducked").exists()
            await duck.close()
            assert not (tmp_path / "ducked").exists()
            assert log_of(tmp_path)[-2:] == ["down", "up"]

    asyncio.run(main())
    assert log_of(tmp_path) == ["down", "up"] * 2


def log_of_exists(tmp_path: Path, last: str) -> bool:
    path = tmp_path / "log"
    return path.exists() and log_of(tmp_path)[-1:] == [last]


# CASES A13
def test_a_killed_service_leaves_a_marker_that_the_next_one_acts_on(tmp_path: Path) -> None:
    left = hook(tmp_path)
    assert not release_left_over(left)
    left.marker.touch()
    assert release_left_over(left)
    assert log_of(tmp_path) == ["up"]
    assert not left.marker.exists()


def test_a_hook_that_cannot_run_does_not_stop_speech(tmp_path: Path) -> None:
    broken = DuckHook(("/nonexistent",), ("/nonexistent",), tmp_path / "ducked")

    async def main() -> None:
        duck = Duck(broken)
        duck.set(True)
        await duck.close()

    asyncio.run(main())
    assert not broken.marker.exists()
    broken.marker.touch()
    assert release_left_over(broken)


# CASES A13
def test_nothing_is_lowered_that_a_kill_would_leave_low(tmp_path: Path) -> None:
    commands = hook(tmp_path)
    unmarked = DuckHook(commands.before, commands.after, tmp_path / "absent" / "ducked")

    async def main() -> None:
        duck = Duck(unmarked)
        duck.set(True)
        await asyncio.sleep(0.05)
        await duck.close()

    asyncio.run(main())
    assert log_of(tmp_path) == ["up"]


def test_no_programs_no_hook(tmp_path: Path) -> None:
    assert duck_hook(tmp_path / "hooks", tmp_path) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can own a hook")
def test_only_roots_own_programs_become_hooks(tmp_path: Path) -> None:
    folder = tmp_path / "hooks"
    folder.mkdir(mode=0o755)
    (folder / "duck").touch(mode=0o755)
    with pytest.raises(ConfigError, match="both"):
        duck_hook(folder, tmp_path)
    (folder / "unduck").touch(mode=0o755)
    found = duck_hook(folder, tmp_path)
    assert found is not None
    assert found.before == (str(folder / "duck"),)
    (folder / "unduck").chmod(0o777)
    with pytest.raises(ConfigError) as caught:
        duck_hook(folder, tmp_path)
    assert caught.value.code == "config.unsafe"
    (folder / "unduck").chmod(0o755)
    os.chown(folder, 65534, 65534)
    with pytest.raises(ConfigError):
        duck_hook(folder, tmp_path)
