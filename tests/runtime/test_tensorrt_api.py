"""Only calls that TensorRT really has: in 8.5 by a written table, later by NVIDIA's own bindings.

The table lists what the Python bindings of TensorRT 8.5.2 define, read from their source
(github.com/NVIDIA/TensorRT, tag 8.5.2, python/src/infer/pyCore.cpp). The bindings of TensorRT-RTX,
which have the interface of TensorRT 10 and 11, are imported where they are installed:
`python -m pip install tensorrt_rtx_cu12_bindings tensorrt_rtx_cu12_libs`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import tiny_decoder

from edge_tts.runtime import tensorrt_api
from edge_tts.runtime.decoding import Cache
from edge_tts.runtime.tensorrt_loading import PlanFile, TensorRtEngines

RUNTIME = Path(tensorrt_api.__file__).parent

TENSORRT_8_5 = {
    "Runtime": {"deserialize_cuda_engine", "error_recorder", "gpu_allocator", "logger"},
    "ILogger": {"Severity", "log"},
    "ICudaEngine": {
        "create_engine_inspector",
        "create_execution_context",
        "create_execution_context_without_device_memory",
        "device_memory_size",
        "engine_capability",
        "get_tensor_bytes_per_component",
        "get_tensor_dtype",
        "get_tensor_format",
        "get_tensor_location",
        "get_tensor_mode",
        "get_tensor_name",
        "get_tensor_profile_shape",
        "get_tensor_shape",
        "is_shape_inference_io",
        "name",
        "num_io_tensors",
        "num_layers",
        "num_optimization_profiles",
        "refittable",
        "serialize",
        "tactic_sources",
    },
    "IExecutionContext": {
        "active_optimization_profile",
        "all_binding_shapes_specified",
        "device_memory",
        "engine",
        "execute_async_v3",
        "get_tensor_address",
        "get_tensor_shape",
        "get_tensor_strides",
        "infer_shapes",
        "set_input_shape",
        "set_optimization_profile_async",
        "set_tensor_address",
    },
    "TensorIOMode": {"NONE", "INPUT", "OUTPUT"},
    "DataType": {"FLOAT", "HALF", "INT8", "INT32", "BOOL", "UINT8"},
    "TacticSource": {
        "CUBLAS",
        "CUBLAS_LT",
        "CUDNN",
        "EDGE_MASK_CONVOLUTIONS",
        "JIT_CONVOLUTIONS",
    },
}
REPLACED = {
    "create_execution_context_without_device_memory": "create_execution_context",
    "device_memory_size": "device_memory_size_v2",
    "device_memory": "set_device_memory",
}
"""Calls of 8.5 that later releases no longer have, and what is called where that exists."""

_RECEIVERS = {
    "_engine": "ICudaEngine",
    "engine": "ICudaEngine",
    "_context": "IExecutionContext",
    "context": "IExecutionContext",
    "_runtime": "Runtime",
}


def calls():
    """(class, name) of every attribute the product looks up on an object of TensorRT's."""
    found = set()
    for module in ("tensorrt_api.py", "tensorrt_plan.py"):
        tree = ast.parse((RUNTIME / module).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                receiver = getattr(node.value, "attr", getattr(node.value, "id", None))
                if receiver in _RECEIVERS and node.attr not in _OURS:
                    found.add((_RECEIVERS[receiver], node.attr))
    return found


_OURS = {"deserialise", "failure"}
"""Methods of `tensorrt_api.Runtime`, which is called `_runtime` too."""


def test_every_call_exists_in_8_5_or_is_looked_for_first():
    newer = set(REPLACED.values())
    used = calls()
    assert {name for _, name in used} > {"execute_async_v3", "set_tensor_address"}
    unknown = {
        (kind, name) for kind, name in used if name not in TENSORRT_8_5[kind] and name not in newer
    }
    assert unknown == set()


def test_the_stand_in_offers_nothing_that_8_5_has_not(gpu):
    import tensorrt

    assert not hasattr(tensorrt, "ExecutionContextAllocationStrategy")
    assert not hasattr(tensorrt, "nptype")  # broken in 8.5 with later numpy: must not be called
    for kind, names in TENSORRT_8_5.items():
        offered = {name for name in vars(getattr(tensorrt, kind)) if not name.startswith("_")}
        extra = offered - names - {"is_initialised", "error", "name", "value"}
        assert extra == set(), kind


def test_every_call_exists_in_the_real_bindings():
    trt = pytest.importorskip("tensorrt_rtx_bindings")
    for kind, name in calls():
        assert hasattr(getattr(trt, kind), REPLACED.get(name, name)), (kind, name)
    for name in ("USER_MANAGED",):
        assert hasattr(trt.ExecutionContextAllocationStrategy, name)
    for name in ("FLOAT", "HALF", "INT8", "INT32", "INT64", "BOOL", "UINT8"):
        assert hasattr(trt.DataType, name)
    assert trt.TensorIOMode.INPUT != trt.TensorIOMode.OUTPUT


def test_the_real_bindings_take_our_log(monkeypatch):
    trt = pytest.importorskip("tensorrt_rtx_bindings")
    log = tensorrt_api._new_log(trt)
    assert isinstance(log, trt.ILogger)
    log.log(trt.ILogger.Severity.ERROR, "what went wrong")
    assert log.last_error == "what went wrong"


def modernise(tensorrt, monkeypatch):
    """Give the stand-in the interface of TensorRT 11 in place of the calls it no longer has."""

    class Strategy:
        USER_MANAGED = object()

    def create(self, strategy):
        assert strategy is Strategy.USER_MANAGED
        return tensorrt.IExecutionContext(self)

    def lend(self, memory, size):
        assert size >= self._engine.device_memory_size_v2
        self._set_scratch(memory)

    engine, context = tensorrt.ICudaEngine, tensorrt.IExecutionContext
    size = engine.device_memory_size
    monkeypatch.setattr(tensorrt, "ExecutionContextAllocationStrategy", Strategy, raising=False)
    monkeypatch.setattr(engine, "device_memory_size_v2", size, raising=False)
    monkeypatch.setattr(engine, "create_execution_context", create, raising=False)
    monkeypatch.setattr(context, "set_device_memory", lend, raising=False)
    monkeypatch.delattr(engine, "create_execution_context_without_device_memory")
    monkeypatch.delattr(context, "device_memory")


def test_engines_run_through_the_later_interface(gpu, tmp_path, monkeypatch):
    import tensorrt
    from simulated_plan import write_plan

    modernise(tensorrt, monkeypatch)
    graph = tiny_decoder.write(tmp_path / "static.onnx", static=True)
    path = write_plan(tmp_path / "lm.plan", graph, tiny_decoder.profiles())
    cache: Cache = tiny_decoder.CACHE
    engines = TensorRtEngines()
    engines.open({"lm": PlanFile(path, cache)})
    assert engines.failures == {}
    decoding = engines.engines["lm"].decode(cache, 4, {"positions": tiny_decoder.TABLE})
    hidden = decoding.step({"x": np.ones((2, tiny_decoder.WIDTH), np.float32)})["hidden"]
    assert hidden.shape == (2, tiny_decoder.WIDTH)
    engines.close()
