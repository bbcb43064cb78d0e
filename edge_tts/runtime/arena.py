"""How the inputs and outputs of one run lie in the arena."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, NamedTuple, Tuple

import numpy as np

from edge_tts.errors import EngineError
from edge_tts.runtime.device import Transfer, aligned

if TYPE_CHECKING:
    from edge_tts.runtime.cuda import Cuda


class Slot(NamedTuple):
    """An array in the arena."""

    start: int
    shape: Tuple[int, ...]
    dtype: "np.dtype[Any]"

    @property
    def n_bytes(self) -> int:
        """Size of the array."""
        return size_of(self.shape, self.dtype)


def size_of(shape: Tuple[int, ...], dtype: "np.dtype[Any]") -> int:
    """Bytes of an array."""
    return int(np.prod(shape, dtype=np.int64)) * int(dtype.itemsize)


class Layout:
    """Slots one after another, each aligned."""

    def __init__(self, arrays: "Mapping[str, Tuple[Tuple[int, ...], np.dtype[Any]]]") -> None:
        """`arrays`: shape and type by name."""
        self.slots: Dict[str, Slot] = {}
        self.n_bytes = 0
        for name, (shape, dtype) in arrays.items():
            self.slots[name] = Slot(self.n_bytes, shape, dtype)
            self.n_bytes += aligned(self.slots[name].n_bytes)


class Placed:
    """A layout in a particular arena."""

    def __init__(self, layout: Layout, arena: Transfer) -> None:
        """Raises EngineError when it does not fit."""
        if layout.n_bytes > arena.host.nbytes:
            raise EngineError(
                f"{layout.n_bytes} bytes do not fit the transfer memory of {arena.host.nbytes}",
                code="engine.shape_unsupported",
            )
        self._slots = layout.slots
        self._arena = arena

    @property
    def addresses(self) -> Dict[str, int]:
        """Where each array lies on the device."""
        return {name: self._arena.address + slot.start for name, slot in self._slots.items()}

    def upload(self, cuda: "Cuda", name: str, array: "np.ndarray") -> None:
        """Queue the copy of an array of the slot's shape and type to the device."""
        host = self._host(name)
        host[...] = array
        if array.size:
            cuda.copy_in(self._arena.address + self._slots[name].start, host)

    def download(self, cuda: "Cuda", name: str) -> None:
        """Queue the copy of an array from the device."""
        host = self._host(name)
        if host.size:
            cuda.copy_out(host, self._arena.address + self._slots[name].start)

    def take(self, name: str) -> "np.ndarray":
        """A downloaded array, as memory of its own; halves become float32."""
        host = self._host(name)
        if host.dtype == np.float16:
            return host.astype(np.float32)
        return host.copy()

    def _host(self, name: str) -> "np.ndarray":
        slot = self._slots[name]
        stretch = self._arena.host[slot.start : slot.start + slot.n_bytes]
        array: np.ndarray = stretch.view(slot.dtype).reshape(slot.shape)
        return array
