"""The GPU as the engines of one voice share it: every byte has a purpose and a count.

Engines run one after another on one stream, so they share their working memory: one scratch block
for TensorRT's intermediate tensors and one arena for what goes in and out, with pinned host memory
of the same layout beside it. Both are taken when the voice is loaded, in their greatest size, and
never move: an utterance allocates nothing, and recorded graphs may hold on to the addresses.
"""

from __future__ import annotations

import contextlib
import enum
from typing import TYPE_CHECKING, Dict, Iterator, NamedTuple, Optional, Tuple

from edge_tts.errors import EngineError
from edge_tts.runtime.cuda import DEVICE_LOST, Cuda

if TYPE_CHECKING:
    import numpy as np

ALIGNMENT_BYTES = 256
"""TensorRT's requirement on scratch memory, and more than any tensor needs."""


class Purpose(enum.Enum):
    """What device memory is held for."""

    CONTEXT = "context"
    WEIGHTS = "weights"
    SCRATCH = "scratch"
    TRANSFER = "transfer"
    CACHE = "cache"
    TABLES = "tables"


class Block(NamedTuple):
    """Device memory that is allocated."""

    purpose: Purpose
    n_bytes: int


class Transfer(NamedTuple):
    """A stretch of the arena: an address on the device and pinned host memory of its size."""

    address: int
    host: "np.ndarray"


class Device:
    """Memory and stream that the engines of a voice share. Not thread-safe."""

    def __init__(self, cuda: Cuda, context_bytes: int = 0) -> None:
        """`context_bytes`: what the driver took when CUDA was started."""
        self.cuda = cuda
        self._context_bytes = context_bytes
        self.lost: Optional[EngineError] = None
        self._blocks: Dict[int, Block] = {}
        self._weights_bytes = 0
        self._scratch: Optional[Tuple[int, int]] = None
        self._arena: Optional[Transfer] = None

    @contextlib.contextmanager
    def active(self) -> Iterator[Cuda]:
        """Make the device current for the calling thread; once lost it stays lost."""
        if self.lost is not None:
            raise EngineError(str(self.lost), code=DEVICE_LOST)
        try:
            with self.cuda.current():
                yield self.cuda
        except EngineError as error:
            if error.code == DEVICE_LOST:
                self.lost = error
            raise

    @contextlib.contextmanager
    def releasing(self) -> Iterator[None]:
        """Make the device current to give things back. On a lost one there is nothing to give."""
        try:
            self.cuda.push()
        except EngineError:
            yield
            return
        try:
            yield
        finally:
            self.cuda.pop()

    def allocate(self, purpose: Purpose, n_bytes: int) -> int:
        """Address of new memory. Raises EngineError. Call while the device is active."""
        address = self.cuda.allocate(n_bytes)
        self._blocks[address] = Block(purpose, n_bytes)
        return address

    def free(self, address: int) -> None:
        """Give memory of `allocate` back."""
        del self._blocks[address]
        self.cuda.free(address)

    def reserve(self, scratch_bytes: int, arena_bytes: int) -> None:
        """Take the memory that all engines share, once. Raises EngineError and takes none."""
        with self.active() as cuda:
            scratch_bytes, arena_bytes = aligned(scratch_bytes), aligned(arena_bytes)
            scratch = self.allocate(Purpose.SCRATCH, scratch_bytes)
            self._scratch = (scratch, scratch_bytes)
            address = self.allocate(Purpose.TRANSFER, arena_bytes)
            self._arena = Transfer(address, cuda.allocate_pinned(arena_bytes))

    @property
    def scratch(self) -> Tuple[int, int]:
        """Address and size of the scratch block."""
        if self._scratch is None:
            raise EngineError("the device has no scratch memory yet", code="engine.closed")
        return self._scratch

    @property
    def arena(self) -> Transfer:
        """The whole arena."""
        if self._arena is None:
            raise EngineError("the device has no transfer memory yet", code="engine.closed")
        return self._arena

    def count_weights(self, n_bytes: int) -> None:
        """Record memory that TensorRT holds by itself; negative when it gives it back."""
        self._weights_bytes += n_bytes

    @property
    def memory_bytes(self) -> Dict[Purpose, int]:
        """Device memory held now, by purpose."""
        held = dict.fromkeys(Purpose, 0)
        held[Purpose.CONTEXT] = self._context_bytes
        held[Purpose.WEIGHTS] = self._weights_bytes
        for block in self._blocks.values():
            held[block.purpose] += block.n_bytes
        return held

    @property
    def pinned_bytes(self) -> int:
        """Host memory that is pinned now; the system counts it with the process."""
        return 0 if self._arena is None else self._arena.host.nbytes

    def close(self) -> None:
        """Give everything back, also on a lost device. Idempotent."""
        arena, self._arena, self._scratch = self._arena, None, None
        with self.releasing():
            if arena is not None:
                self.cuda.free_pinned(arena.host)
            for address in list(self._blocks):
                self.free(address)
        self._context_bytes = 0
        self.cuda.close()


def aligned(n_bytes: int) -> int:
    """The next multiple of the alignment, at least one."""
    return max(1, -(-n_bytes // ALIGNMENT_BYTES)) * ALIGNMENT_BYTES
