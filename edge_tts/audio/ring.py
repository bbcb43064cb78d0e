"""The bounded store between the writer of sound and the device's callback."""

from __future__ import annotations

import time
from typing import Any


class PlaybackRing:
    """One writer thread, one callback thread, no lock.

    Each counter is changed by one side only and only ever grows while the stream runs, so either
    side may read the other's at any time. Positions count device frames.
    """

    def __init__(self, capacity_frames: int, frame_bytes: int, lead_in_frames: int) -> None:
        self._capacity = capacity_frames
        self._frame_bytes = frame_bytes
        self._store = memoryview(bytearray(capacity_frames * frame_bytes))
        self._silence = memoryview(bytes(capacity_frames * frame_bytes))
        self.written_frames = 0
        self.read_frames = 0
        self.silent_frames = 1
        """Frames of silence given to the device since the last frame of sound."""
        self.lead_in_frames = lead_in_frames
        self.expecting = False
        """True between the first write of an utterance and its drain: silence then is a fault."""
        self.n_starved = 0
        self.n_device_underruns = 0
        self.muted = False
        self.called_at_s = time.monotonic()

    @property
    def free_frames(self) -> int:
        """Room for the writer."""
        return self._capacity - (self.written_frames - self.read_frames)

    @property
    def queued_frames(self) -> int:
        """Frames written and not yet taken by the device."""
        return self.written_frames - self.read_frames

    def put(self, data: memoryview) -> int:
        """Copy as many whole frames as fit; returns the number of frames taken."""
        taken = min(self.free_frames, len(data) // self._frame_bytes)
        start = self.written_frames % self._capacity
        first = min(taken, self._capacity - start)
        size = self._frame_bytes
        self._store[start * size : (start + first) * size] = data[: first * size]
        self._store[: (taken - first) * size] = data[first * size : taken * size]
        self.written_frames += taken
        return taken

    def clear(self) -> None:
        """Drop what is queued. Only while no callback runs."""
        self.read_frames = self.written_frames
        self.expecting = False
        self.muted = False

    def callback(self, out: Any, n_frames: int, _times: Any, status: Any) -> None:
        """PortAudio's callback: copy what there is, then silence."""
        if status and status.output_underflow:
            self.n_device_underruns += 1
        taken = self._copy_out(out, n_frames)
        if taken < n_frames:
            self._fill(out, taken, n_frames)
        self.called_at_s = time.monotonic()

    def _copy_out(self, out: Any, n_frames: int) -> int:
        if self.lead_in_frames > 0:
            self.lead_in_frames -= n_frames
            return 0
        if self.muted:
            return 0
        taken = min(n_frames, self.written_frames - self.read_frames)
        if taken == 0:
            return 0
        start = self.read_frames % self._capacity
        first = min(taken, self._capacity - start)
        size = self._frame_bytes
        out[0 : first * size] = self._store[start * size : (start + first) * size]
        if first < taken:
            out[first * size : taken * size] = self._store[0 : (taken - first) * size]
        self.silent_frames = 0
        self.read_frames += taken
        return taken

    def _fill(self, out: Any, taken: int, n_frames: int) -> None:
        size = self._frame_bytes
        # A device may ask for more than the ring holds; silence then comes in several copies.
        for start in range(taken, n_frames, self._capacity):
            stop = min(n_frames, start + self._capacity)
            out[start * size : stop * size] = self._silence[: (stop - start) * size]
        if self.expecting and not self.muted and (taken or not self.silent_frames):
            self.n_starved += 1
        self.silent_frames += n_frames - taken
