"""The supervisor with real worker processes, killed, hung and broken."""

from __future__ import annotations

import asyncio
import functools
from typing import Any, Awaitable, Callable, List

import numpy as np
import pytest
from tone_source import tone

from edge_tts.errors import EdgeTTSError
from edge_tts.service.messages import Manner
from edge_tts.service.supervisor import (
    RenderCancelledError,
    Supervisor,
    WorkerLostError,
    WorkerPolicy,
    WorkerState,
    worker_command,
)
from edge_tts.service.worker_link import Begun, Piece, Reply

POLICY = WorkerPolicy(silence_s=1.0, ping_every_s=0.2, first_pause_s=0.01, longest_pause_s=0.02)
TONE = "tone_source:open_tone"
TEXT = "One. Two two. Three."


def with_worker(
    *options: str, source: str = TONE
) -> Callable[[Callable[[Supervisor], Awaitable[None]]], Callable[[], None]]:
    def decorate(test: Callable[[Supervisor], Awaitable[None]]) -> Callable[[], None]:
        async def run() -> None:
            supervisor = Supervisor(worker_command(source, options), POLICY)
            supervisor.start()
            try:
                await test(supervisor)
            finally:
                await supervisor.close()

        def wrapper() -> None:
            asyncio.run(run())

        functools.update_wrapper(wrapper, test)
        del wrapper.__wrapped__  # type: ignore[attr-defined]  # pytest would see the argument
        return wrapper

    return decorate


async def spoken(supervisor: Supervisor, text: str, segment: int, **kwargs: Any) -> np.ndarray:
    replies: List[Reply] = []
    await supervisor.render(text, text, Manner(**kwargs), segment, replies.append)
    assert isinstance(replies[0], Begun)
    pieces = [reply.chunk.samples for reply in replies if isinstance(reply, Piece)]
    return np.concatenate(pieces)


@with_worker()
async def test_segments_are_rendered_on_demand_and_in_any_order(supervisor: Supervisor) -> None:
    assert await supervisor.settled() is WorkerState.READY
    assert supervisor.facts is not None
    assert supervisor.facts.name == "tone"
    for index, sentence in [(2, " Three."), (0, "One."), (1, " Two two.")]:
        np.testing.assert_array_equal(await spoken(supervisor, TEXT, index), tone(sentence))
    done = await supervisor.render("u", TEXT, Manner(), 3, lambda reply: None)
    assert done.exhausted


@with_worker()
async def test_the_workers_own_errors_keep_their_code(supervisor: Supervisor) -> None:
    await supervisor.settled()
    for _ in range(2):
        with pytest.raises(EdgeTTSError) as caught:
            await spoken(supervisor, "No.", 0, language="xx")
        assert caught.value.code == "input.unknown_language"
    with pytest.raises(EdgeTTSError, match="ZeroDivisionError") as caught:
        await spoken(supervisor, "BUG.", 0)
    assert caught.value.code == "internal"
    np.testing.assert_array_equal(await spoken(supervisor, TEXT, 0), tone("One."))
    assert supervisor.n_restarts == 0


@with_worker()
async def test_a_crash_is_noticed_and_the_next_worker_serves(supervisor: Supervisor) -> None:
    await supervisor.settled()
    with pytest.raises(WorkerLostError):
        await spoken(supervisor, "CRASH.", 0)
    await asyncio.sleep(0.05)
    assert await supervisor.settled() is WorkerState.READY
    np.testing.assert_array_equal(await spoken(supervisor, TEXT, 0), tone("One."))
    assert supervisor.n_restarts == 1


@with_worker()
async def test_a_hang_is_ended_by_the_alarm(supervisor: Supervisor) -> None:
    await supervisor.settled()
    with pytest.raises(WorkerLostError):
        await spoken(supervisor, "HANG.", 0)


@with_worker("0.05")
async def test_a_cancel_does_not_wait_and_the_worker_stays(supervisor: Supervisor) -> None:
    await supervisor.settled()
    task = asyncio.ensure_future(spoken(supervisor, "A" * 200, 0))
    await asyncio.sleep(0.1)
    supervisor.cancel()
    with pytest.raises(RenderCancelledError):
        await task
    np.testing.assert_array_equal(await spoken(supervisor, TEXT, 0), tone("One."))
    assert supervisor.n_restarts == 0


@with_worker()
async def test_a_cancelled_render_leaves_no_stale_replies_behind(supervisor: Supervisor) -> None:
    await supervisor.settled()
    for index in range(20):
        task = asyncio.ensure_future(spoken(supervisor, "B" * (40 + index), 0))
        await asyncio.sleep(0.002)
        supervisor.cancel()
        await asyncio.gather(task, return_exceptions=True)
        np.testing.assert_array_equal(await spoken(supervisor, TEXT, 1), tone(" Two two."))


@with_worker()
async def test_an_idle_worker_that_dies_is_replaced(supervisor: Supervisor) -> None:
    await supervisor.settled()
    first = supervisor.pid
    supervisor.kill()
    while supervisor.n_restarts == 0:
        await asyncio.sleep(0.01)
    await supervisor.settled()
    assert supervisor.pid != first
    np.testing.assert_array_equal(await spoken(supervisor, TEXT, 0), tone("One."))


@with_worker()
async def test_recycling_is_not_a_failure(supervisor: Supervisor) -> None:
    await supervisor.settled()
    first = supervisor.pid
    supervisor.recycle()
    await asyncio.sleep(0.05)
    await supervisor.settled()
    assert supervisor.pid != first
    assert supervisor.n_restarts == 0


@with_worker(source="tone_source:open_never")
async def test_a_voice_that_never_loads_ends_in_degraded(supervisor: Supervisor) -> None:
    assert await supervisor.settled() is WorkerState.DEGRADED
    assert supervisor.last_fault is not None
    assert "this voice is broken" in str(supervisor.last_fault)
    with pytest.raises(WorkerLostError):
        await spoken(supervisor, TEXT, 0)


@with_worker()
async def test_pings_keep_an_idle_worker_alive(supervisor: Supervisor) -> None:
    await supervisor.settled()
    await asyncio.sleep(1.5)
    assert supervisor.n_restarts == 0
    np.testing.assert_array_equal(await spoken(supervisor, TEXT, 0), tone("One."))
