"""The player on an output whose clock and faults the test controls, and on a real sound server."""

from __future__ import annotations

import math
import queue
import threading
import time
from typing import Any, Callable, List, Optional

import numpy as np
import pytest

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.device_sink import SinkStats
from edge_tts.errors import AudioError
from edge_tts.service.player import DeviceChanged, Ended, Player, SegmentBegan, Started

RATE_HZ = 24000


class ManualOutput:
    """Plays only when `advance` is called; can be lost and can be missing."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.heard: List[float] = []
        self.queue: List[float] = []
        self.n_aborts = 0
        self.n_closed = 0
        self.n_left_at_finish: List[int] = []
        self.is_lost = False
        self.n_refusals = 0

    def advance(self, n_samples: int) -> None:
        with self.lock:
            self.heard += self.queue[:n_samples]
            del self.queue[:n_samples]

    def lose(self, n_refusals: int) -> None:
        """The device goes; its next `n_refusals` reopenings fail."""
        with self.lock:
            self.is_lost, self.n_refusals = True, n_refusals
            self.queue.clear()

    def open(self) -> None:
        self.reopen()

    def reopen(self) -> None:
        with self.lock:
            if self.n_refusals:
                self.n_refusals -= 1
                raise AudioError("still gone", code="audio.no_device")
            self.is_lost = False

    def write(self, chunk: AudioChunk) -> None:
        self.check()
        with self.lock:
            self.queue += chunk.samples.tolist()

    def finish(self) -> None:
        self.check()
        self.n_left_at_finish.append(len(self.queue))

    def drain(self) -> None:
        self.check()

    def abort(self) -> None:
        with self.lock:
            self.n_aborts += 1
            self.queue.clear()

    def close(self) -> None:
        self.n_closed += 1

    def check(self) -> None:
        if self.is_lost:
            raise AudioError("gone", code="audio.device_lost")

    @property
    def played_samples(self) -> int:
        with self.lock:
            return len(self.heard)

    @property
    def queued_s(self) -> float:
        with self.lock:
            return len(self.queue) / RATE_HZ

    @property
    def stats(self) -> SinkStats:
        return SinkStats(1, 0, 0, 0)


class Stage:
    """A player on a manual output, and the events it has told."""

    def __init__(self, n_refusals: int = 0, keep_warm_s: float = math.inf) -> None:
        self.output = ManualOutput()
        self.output.n_refusals = n_refusals
        self.events: "queue.Queue[Any]" = queue.Queue()
        self.player = Player(self.output, self.events.put, keep_warm_s)
        self.player.start()

    def feed(self, run: int, samples: np.ndarray, segment: int = 0, offset: int = 0) -> None:
        self.player.feed(run, AudioChunk(samples, RATE_HZ, segment, offset, True))

    def wait_for(self, kind: type) -> Any:
        while True:
            event = self.events.get(timeout=5)
            if isinstance(event, kind):
                return event

    def play_out(self, n_samples: Optional[int] = None) -> None:
        """Let time pass until `n_samples` have been heard, or until the take has ended."""

        def is_done() -> bool:
            if n_samples is not None:
                return self.output.played_samples >= n_samples
            return not self.events.empty() and isinstance(self.events.queue[-1], Ended)

        until(is_done, lambda: self.output.advance(100))


def until(condition: Callable[[], bool], each: Callable[[], None] = lambda: None) -> None:
    deadline_s = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline_s
        each()
        time.sleep(0.001)


@pytest.fixture
def stage() -> Any:
    made = Stage()
    yield made
    made.player.close()


def ramp(n_samples: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + n_samples, dtype=np.float32)


def test_a_take_is_heard_whole_and_told_in_order(stage: Stage) -> None:
    stage.player.begin(1)
    stage.feed(1, ramp(3000))
    stage.feed(1, ramp(2000, 3000), segment=1)
    stage.player.complete(1)
    stage.play_out()
    told = [stage.events.get() for _ in range(5)]
    assert told == [
        DeviceChanged("open"),
        Started(1),
        SegmentBegan(1, 0),
        SegmentBegan(1, 1),
        Ended(1, 5000 / RATE_HZ),
    ]
    assert stage.output.heard == ramp(5000).tolist()


def test_nothing_is_told_before_it_is_heard(stage: Stage) -> None:
    stage.player.begin(1)
    stage.feed(1, ramp(3000))
    until(lambda: stage.output.queued_s > 0)
    time.sleep(0.05)
    assert [type(event) for event in list(stage.events.queue)] == [DeviceChanged]
    stage.output.advance(1)
    assert stage.wait_for(Started) == Started(1)


def test_only_a_little_is_written_ahead(stage: Stage) -> None:
    stage.player.begin(1)
    stage.feed(1, ramp(RATE_HZ * 5))
    time.sleep(0.3)
    assert stage.output.queued_s < 0.3
    assert stage.player.buffered_s(1) == 5.0


def test_a_halt_silences_what_is_written_and_the_next_take_follows(stage: Stage) -> None:
    stage.player.begin(1)
    stage.feed(1, ramp(RATE_HZ))
    stage.play_out(1000)
    stage.player.halt(1)
    stage.player.begin(2)
    stage.feed(2, -ramp(500))
    stage.player.complete(2)
    stage.play_out()
    assert stage.output.n_aborts == 1
    n_heard = len(stage.output.heard) - 500
    assert stage.output.heard[:n_heard] == ramp(n_heard).tolist()
    assert stage.output.heard[n_heard:] == (-ramp(500)).tolist()


def test_a_hold_keeps_the_position_to_the_sample(stage: Stage) -> None:
    stage.player.begin(1)
    stage.feed(1, ramp(20000))
    stage.player.complete(1)
    for position in (1000, 1017, 9000):
        stage.play_out(position)
        stage.player.hold(1)
        until(lambda: stage.output.queued_s == 0.0)
        stage.player.go_on(1)
    stage.play_out()
    assert stage.output.heard == ramp(20000).tolist()


@pytest.mark.parametrize("n_refusals", [0, 2])
def test_a_lost_device_is_reopened_and_speech_goes_on(stage: Stage, n_refusals: int) -> None:
    stage.player.begin(1)
    stage.feed(1, ramp(20000))
    stage.player.complete(1)
    stage.play_out(3000)
    stage.output.lose(n_refusals)
    lost = None
    while lost is None or lost.state != "lost":
        lost = stage.wait_for(DeviceChanged)
    assert lost.fault is not None
    assert stage.wait_for(DeviceChanged).state == "open"
    stage.play_out()
    assert stage.output.heard == ramp(20000).tolist()


# CASES A10
def test_a_device_that_is_missing_at_first_delays_but_loses_nothing() -> None:
    stage = Stage(n_refusals=2)
    stage.player.begin(1)
    stage.feed(1, ramp(1000))
    stage.player.complete(1)
    stage.play_out()
    stage.player.close()
    assert stage.output.heard == ramp(1000).tolist()


def test_a_sound_system_that_hangs_for_good_is_known_as_such(stage: Stage) -> None:
    hung = AudioError("hung again and again", code="audio.hung")
    stage.player._lose_device(None, AudioError("away", code="audio.device_lost"))
    assert not stage.player.is_hung
    stage.player._lose_device(None, hung)
    assert stage.player.is_hung


def test_the_output_knows_the_end_before_it_runs_dry(stage: Stage) -> None:
    stage.player.begin(1)
    stage.feed(1, ramp(1000))
    stage.player.complete(1)
    until(lambda: bool(stage.output.n_left_at_finish))
    assert stage.output.n_left_at_finish[0] == 1000
    stage.play_out()


def test_an_unused_device_is_released_and_opened_again_by_the_next_take() -> None:
    stage = Stage(keep_warm_s=0.05)
    stage.player.begin(1)
    stage.feed(1, ramp(1000))
    time.sleep(0.2)  # a take that waits for its sound keeps the device
    assert stage.output.n_closed == 0
    stage.player.complete(1)
    stage.play_out()
    states = [stage.wait_for(DeviceChanged).state for _ in range(2)]
    assert (states, stage.output.n_closed) == (["open", "resting"], 1)
    stage.output.n_refusals = 1  # meanwhile somebody else has taken it, for a moment
    stage.player.begin(2)
    stage.feed(2, ramp(500, 1000))
    stage.player.complete(2)
    assert [stage.wait_for(DeviceChanged).state for _ in range(2)] == ["lost", "open"]
    until(lambda: stage.output.played_samples == 1500, lambda: stage.output.advance(100))
    stage.player.close()
    assert stage.output.heard == ramp(1500).tolist()


def test_an_empty_take_ends(stage: Stage) -> None:
    stage.player.begin(1)
    stage.player.complete(1)
    assert stage.wait_for(Ended) == Ended(1, 0.0)


def test_orders_for_a_take_that_is_over_are_ignored(stage: Stage) -> None:
    stage.player.begin(2)
    stage.feed(1, ramp(100))
    stage.player.halt(1)
    stage.player.hold(1)
    stage.feed(2, ramp(100))
    stage.player.complete(2)
    stage.play_out()
    assert stage.output.heard == ramp(100).tolist()
