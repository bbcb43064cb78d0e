"""TensorRT 8.5's Python names over ONNX Runtime and the simulated GPU.

A "plan" is a line of JSON (graph, profiles, scratch) and a ballast of zeros; `simulated_plan`
writes them. The checks are those a real engine would need a debugger for.
"""

from __future__ import annotations

import enum
import json

import numpy as np
from simulated_gpu import LostError, MisuseError, OutOfMemoryError, gpu

__version__ = "8.5.2.2"
ALIGNMENT_BYTES = 256
_LOADED = []
"""Names of the graphs deserialised, in order."""


class TensorIOMode(enum.Enum):
    NONE = 0
    INPUT = 1
    OUTPUT = 2


class DataType(enum.Enum):
    FLOAT = 0
    HALF = 1
    INT8 = 2
    INT32 = 3
    BOOL = 4


class TacticSource(enum.IntEnum):
    CUBLAS = 0
    CUBLAS_LT = 1
    CUDNN = 2
    EDGE_MASK_CONVOLUTIONS = 3


_TYPES = {
    "tensor(float)": (DataType.FLOAT, np.float32),
    "tensor(float16)": (DataType.HALF, np.float16),
    "tensor(int32)": (DataType.INT32, np.int32),
    "tensor(int64)": (DataType.INT32, np.int32),
    "tensor(bool)": (DataType.BOOL, np.bool_),
}


class ILogger:
    class Severity(enum.Enum):
        INTERNAL_ERROR = 0
        ERROR = 1
        WARNING = 2
        INFO = 3
        VERBOSE = 4

    def __init__(self):
        self.is_initialised = True

    def log(self, severity, message):
        raise NotImplementedError


class Runtime:
    def __init__(self, logger):
        if not logger.is_initialised:
            raise MisuseError("ILogger.__init__ was not called")
        self._logger = logger

    def error(self, message):
        self._logger.log(ILogger.Severity.ERROR, message)

    def deserialize_cuda_engine(self, serialized_engine):
        raw = bytes(serialized_engine)
        head, _, ballast = raw.partition(b"\n")
        facts = json.loads(head)
        if len(ballast) != facts["ballast"]:
            raise MisuseError("a damaged plan reached TensorRT: on a board this may crash")
        try:
            gpu.count_allocation()
        except (OutOfMemoryError, LostError) as error:
            self.error(f"[defaultAllocator.cpp::allocate::20] Error Code 1: Cuda Runtime ({error})")
            return None
        _LOADED.append(facts["name"])
        return ICudaEngine(self, facts)


class ICudaEngine:
    def __init__(self, runtime, facts):
        import onnxruntime

        self._runtime = runtime
        self._facts = facts
        self._session = onnxruntime.InferenceSession(
            facts["graph"], providers=["CPUExecutionProvider"]
        )
        self._inputs = {item.name: item for item in self._session.get_inputs()}
        self._outputs = {item.name: item for item in self._session.get_outputs()}
        self._all = {**self._inputs, **self._outputs}
        self._busy_profiles = set()

    @property
    def num_io_tensors(self):
        return len(self._all)

    @property
    def num_optimization_profiles(self):
        return len(self._facts["profiles"])

    @property
    def device_memory_size(self):
        return self._facts["scratch"]

    @property
    def tactic_sources(self):
        return self._facts["tactic_sources"]

    def get_tensor_name(self, index):
        return list(self._all)[index]

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if name in self._inputs else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name):
        return _TYPES[self._all[name].type][0]

    def get_tensor_shape(self, name):
        return tuple(d if isinstance(d, int) else -1 for d in self._all[name].shape)

    def get_tensor_profile_shape(self, name, profile_index):
        return [tuple(shape) for shape in self._facts["profiles"][profile_index][name]]

    def create_execution_context_without_device_memory(self):
        try:
            gpu.count_allocation()
        except (OutOfMemoryError, LostError) as error:
            self._runtime.error(f"Cuda Runtime ({error})")
            return None
        return IExecutionContext(self)


class IExecutionContext:
    def __init__(self, engine):
        self._engine = engine
        self._scratch = None
        self._profile = None
        self._shapes = {}
        self._addresses = {}
        self._is_settled = False
        if 0 not in engine._busy_profiles:
            self._take_profile(0)

    def __del__(self):
        self._engine._busy_profiles.discard(self._profile)

    def _take_profile(self, profile):
        # Before PROFILE_SHARING_0806, no two contexts may use the same profile.
        if profile in self._engine._busy_profiles:
            raise MisuseError(f"two contexts use profile {profile}")
        self._engine._busy_profiles.discard(self._profile)
        self._engine._busy_profiles.add(profile)
        self._profile = profile

    def set_optimization_profile_async(self, profile_index, stream_handle):
        if not isinstance(stream_handle, int):
            raise TypeError("stream_handle must be int")
        self._take_profile(profile_index)
        return True

    def _set_scratch(self, address):
        if address % ALIGNMENT_BYTES:
            raise MisuseError("scratch memory is not aligned")
        gpu.view(address, self._engine.device_memory_size)
        self._scratch = address

    device_memory = property(fset=_set_scratch)

    def set_input_shape(self, name, shape):
        least, _, greatest = self._engine.get_tensor_profile_shape(name, self._profile)
        fits = len(shape) == len(least) and all(
            low <= size <= high for low, size, high in zip(least, shape, greatest)
        )
        if not fits:
            self._engine._runtime.error(f"{name}: {shape} is outside profile {self._profile}")
            return False
        self._shapes[name] = tuple(shape)
        self._is_settled = False
        return True

    def get_tensor_shape(self, name):
        if name in self._shapes:
            return self._shapes[name]
        if set(self._shapes) != set(self._engine._inputs):
            return self._engine.get_tensor_shape(name)
        return self._output_shapes()[name]

    def _output_shapes(self):
        key = json.dumps(self._shapes, sort_keys=True)
        known = self._engine.__dict__.setdefault("_known_shapes", {})
        if key not in known:
            zeros = {n: np.zeros(s, self._dtype(n)) for n, s in self._shapes.items()}
            known[key] = {n: a.shape for n, a in self._run(zeros).items()}
        return known[key]

    def _run(self, arrays):
        inputs = {
            name: array.astype(np.int64) if item.type == "tensor(int64)" else array
            for (name, item), array in zip(
                self._engine._inputs.items(), (arrays[n] for n in self._engine._inputs)
            )
        }
        return dict(zip(self._engine._outputs, self._engine._session.run(None, inputs)))

    def _dtype(self, name):
        return _TYPES[self._engine._all[name].type][1]

    def set_tensor_address(self, name, memory):
        if not isinstance(memory, int):
            raise TypeError("memory must be int")
        if memory % ALIGNMENT_BYTES:
            raise MisuseError(f"{name} is not aligned")
        self._addresses[name] = memory
        return True

    def execute_async_v3(self, stream_handle):
        if gpu.capture is not None and not self._is_settled:
            raise MisuseError("the first run after a change of shape was recorded")
        if gpu.capture is not None and not self._engine._facts["recordable"]:
            gpu.is_capture_spoilt = True
            self._engine._runtime.error("loops cannot be captured")
            return False
        if set(self._addresses) != set(self._engine._all):
            raise MisuseError(f"only {sorted(self._addresses)} are bound")
        if self._scratch is None and self._engine.device_memory_size:
            raise MisuseError("the context has no scratch memory")
        self._is_settled = True
        shapes, addresses = dict(self._shapes), dict(self._addresses)
        shapes.update(self._output_shapes())
        try:
            gpu.launch(lambda: self._execute(shapes, addresses))
        except LostError as error:
            self._engine._runtime.error(f"Cuda Runtime ({error})")
            return False
        return True

    def _execute(self, shapes, addresses):
        views = {}
        for name, shape in shapes.items():
            dtype = np.dtype(self._dtype(name))
            n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            views[name] = gpu.view(addresses[name], n_bytes).view(dtype).reshape(shape)
        self._check_overlaps(views)
        gpu.view(self._scratch, self._engine.device_memory_size)[:] = 0xEE
        inputs = {name: views[name].copy() for name in self._engine._inputs}
        for name, array in inputs.items():
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise MisuseError(f"{name} was read before it was written")
        for name, array in self._run(inputs).items():
            views[name][...] = array

    def _check_overlaps(self, views):
        for output in self._engine._outputs:
            for name, view in views.items():
                if name != output and np.shares_memory(view, views[output]):
                    raise MisuseError(f"{name} and {output} share memory")
