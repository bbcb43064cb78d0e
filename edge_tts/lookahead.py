"""Synthesis ahead of playback: one thread, bounded in seconds of sound."""

from __future__ import annotations

import threading
from collections import deque
from typing import Deque, Iterator, Optional

from edge_tts.audio.chunk import AudioChunk

DEFAULT_LIMIT_S = 20.0


class Lookahead:
    """Iterate over `chunks` while a thread computes at most `limit_s` seconds ahead.

    The reader's thread stays free to handle signals, so that a stop never waits for the model.
    An error of the producer is raised to the reader after the chunks that precede it. `close`
    returns at once; the thread ends by itself at the producer's next chunk.
    """

    def __init__(self, chunks: Iterator[AudioChunk], limit_s: float = DEFAULT_LIMIT_S) -> None:
        self._chunks = chunks
        self._limit_s = limit_s
        self._ready: Deque[AudioChunk] = deque()
        self._ready_s = 0.0
        self._changed = threading.Condition()
        self._closed = False
        self._done = False
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._produce, name="synthesis", daemon=True)
        self._thread.start()

    def __iter__(self) -> "Lookahead":
        return self

    def __next__(self) -> AudioChunk:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._done or self._closed)
            if self._closed:
                raise StopIteration
            if self._ready:
                chunk = self._ready.popleft()
                self._ready_s -= chunk.duration_s
                self._changed.notify_all()
                return chunk
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            raise StopIteration

    def close(self) -> None:
        """Stop producing and drop what is ready. Does not wait."""
        with self._changed:
            self._closed = True
            self._ready.clear()
            self._changed.notify_all()

    def __enter__(self) -> "Lookahead":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _produce(self) -> None:
        try:
            for chunk in self._chunks:
                if not self._offer(chunk):
                    break
        except BaseException as error:  # noqa: BLE001 - the request boundary: handed to the reader
            self._error = error
        finally:
            close = getattr(self._chunks, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._done = True
                self._changed.notify_all()

    def _offer(self, chunk: AudioChunk) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._ready_s < self._limit_s or self._closed)
            if self._closed:
                return False
            self._ready.append(chunk)
            self._ready_s += chunk.duration_s
            self._changed.notify_all()
            return True
