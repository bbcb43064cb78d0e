import threading
import time

import numpy as np
import pytest

from edge_tts.audio.chunk import AudioChunk
from edge_tts.errors import EngineError
from edge_tts.lookahead import Lookahead


def chunk(index: int, n_samples: int = 2400) -> AudioChunk:
    return AudioChunk(np.full(n_samples, index, np.float32), 24000, index, 0, True)


def test_chunks_arrive_in_order_and_complete() -> None:
    assert [c.segment_index for c in Lookahead(chunk(i) for i in range(50))] == list(range(50))


def test_error_arrives_after_the_chunks_before_it() -> None:
    def produce():
        yield chunk(0)
        raise EngineError("broken")

    ahead = Lookahead(produce())
    assert next(ahead).segment_index == 0
    with pytest.raises(EngineError, match="broken"):
        next(ahead)
    with pytest.raises(StopIteration):
        next(ahead)


def test_producer_stays_within_the_limit() -> None:
    produced = []

    def produce():
        for i in range(100):
            produced.append(i)
            yield chunk(i)

    ahead = Lookahead(produce(), limit_s=0.5)
    first = next(ahead)
    deadline = time.monotonic() + 5
    while len(produced) < 6 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    # 0.5 s of 0.1 s chunks are queued, one more waits in the producer's hands.
    assert first.segment_index == 0
    assert len(produced) <= 8
    assert [c.segment_index for c in ahead] == list(range(1, 100))


def test_close_does_not_wait_for_a_busy_producer() -> None:
    release = threading.Event()
    closed = threading.Event()

    def produce():
        try:
            yield chunk(0)
            release.wait(10)
            yield chunk(1)
        finally:
            closed.set()

    ahead = Lookahead(produce())
    assert next(ahead).segment_index == 0
    ahead.close()
    with pytest.raises(StopIteration):
        next(ahead)
    assert not closed.is_set()
    release.set()
    assert closed.wait(5)
