"""TensorRT engines on a simulated GPU that checks every address, copy and lifetime."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import tiny_decoder
from onnx import TensorProto, helper

from edge_tts.errors import EngineError
from edge_tts.runtime.device import Purpose
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.runtime.tensorrt_loading import PlanFile, TensorRtEngines

STAND_IN = Path(__file__).parent / "stand_in"
SCRATCH = {"small": 1 << 12, "large": 1 << 18}


def write_affine(path, factor, element=TensorProto.FLOAT, index=TensorProto.INT32):
    """y = factor · x, row k of it twice; `k` int, to show that whole numbers are narrowed."""
    float_type = helper.tensor_dtype_to_np_dtype(element)
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "factor"], ["y"]),
            helper.make_node("Gather", ["y", "k"], ["row"]),
        ],
        "affine",
        [
            helper.make_tensor_value_info("x", element, ["n", 3]),
            helper.make_tensor_value_info("k", index, ["k"]),
        ],
        [
            helper.make_tensor_value_info("y", element, ["n", 3]),
            helper.make_tensor_value_info("row", element, ["k", 3]),
        ],
        [onnx.numpy_helper.from_array(np.asarray(factor, float_type), "factor")],
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return path


def profile(least, typical, greatest):
    return {"x": [(n, 3) for n in (least, typical, greatest)], "k": [(1,), (1,), (4,)]}


@pytest.fixture
def files(gpu, tmp_path):
    """Two plans of different sizes: `small` triples in halves, `large` doubles."""
    from simulated_plan import write_plan

    small = write_affine(tmp_path / "small.onnx", 3, TensorProto.FLOAT16)
    large = write_affine(tmp_path / "large.onnx", 2, index=TensorProto.INT64)
    ranges = [profile(1, 4, 8), profile(9, 16, 32)]
    return {
        name: PlanFile(
            write_plan(
                tmp_path / f"{name}.plan", graph, ranges, ballast=size, scratch=SCRATCH[name]
            )
        )
        for name, graph, size in (("small", small, 100), ("large", large, 5000))
    }


def opened(files):
    engines = TensorRtEngines()
    engines.open(files)
    assert engines.failures == {}
    return engines


def x_of(n):
    return np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)


def test_results_are_those_of_the_onnx_graph(files, tmp_path):
    engines = opened(files)
    k = np.array([0, 0], np.int64)
    with OnnxEngine(tmp_path / "large.onnx") as reference:
        for n in (1, 8, 9, 32, 3):
            expected = reference.run({"x": x_of(n), "k": k})
            result = engines.engines["large"].run({"x": x_of(n), "k": k})
            assert all(np.array_equal(result[name], expected[name]) for name in expected)
    engines.close()


def test_halves_are_the_engines_own_matter(files):
    engines = opened(files)
    result = engines.engines["small"].run({"x": x_of(4), "k": np.array([1])})
    assert result["y"].dtype == np.float32
    assert np.allclose(result["y"], 3 * x_of(4), rtol=1e-2)
    engines.close()


def test_results_outlive_the_next_run(files):
    engines = opened(files)
    engine = engines.engines["large"]
    first = engine.run({"x": x_of(4), "k": np.array([0])})
    engine.run({"x": x_of(5), "k": np.array([0])})
    engines.close()
    assert np.array_equal(first["y"], 2 * x_of(4))


def test_the_largest_plan_is_loaded_first_and_scratch_is_shared(gpu, files):
    engines = opened(files)
    import tensorrt

    assert tensorrt._LOADED[-2:] == ["large", "small"]
    held = engines.device.memory_bytes
    assert held[Purpose.SCRATCH] == max(SCRATCH.values())
    sizes = [file.path.stat().st_size for file in files.values()]
    assert held[Purpose.WEIGHTS] == sum(sizes)
    assert held[Purpose.SCRATCH] + held[Purpose.TRANSFER] == gpu.held_bytes
    assert engines.device.pinned_bytes == held[Purpose.TRANSFER]
    engines.close()
    assert sum(engines.device.memory_bytes.values()) == 0
    assert (gpu.memory, gpu.pinned, gpu.graphs) == ({}, {}, {})


def test_what_the_driver_took_for_the_context_is_counted(gpu, files, monkeypatch):
    from edge_tts.runtime import tensorrt_loading

    readings = iter([100 << 20, 350 << 20])
    monkeypatch.setattr(tensorrt_loading, "_driver_bytes", lambda: next(readings))
    engines = opened(files)
    assert engines.device.memory_bytes[Purpose.CONTEXT] == 250 << 20
    engines.close()
    assert sum(engines.device.memory_bytes.values()) == 0


def test_an_utterance_allocates_nothing(gpu, files):
    engines = opened(files)
    n_allocations = gpu.n_allocations
    for n in range(1, 33):
        engines.engines["large"].run({"x": x_of(n), "k": np.array([0])})
    assert gpu.n_allocations == n_allocations
    engines.close()


def test_the_same_shape_again_is_recorded_once_and_replayed(gpu, files):
    engines = opened(files)
    engine = engines.engines["large"]
    for offset in range(5):
        result = engine.run({"x": x_of(7) + offset, "k": np.array([6])})
        assert np.array_equal(result["y"], 2 * (x_of(7) + np.float32(offset)))
    assert (gpu.n_captures, gpu.n_graph_launches) == (1, 4)
    engine.run({"x": x_of(3), "k": np.array([0])})
    assert gpu.graphs == {}  # a graph of another shape must not be replayed
    engines.close()


def test_a_plan_that_cannot_be_recorded_runs_without_a_graph(gpu, files, tmp_path):
    from simulated_plan import write_plan

    path = write_plan(
        tmp_path / "loop.plan", tmp_path / "large.onnx", [profile(1, 2, 3)], recordable=False
    )
    engines = opened({"loop": PlanFile(path)})
    for offset in range(4):
        result = engines.engines["loop"].run({"x": x_of(3) + offset, "k": np.array([0])})
        assert np.array_equal(result["y"], 2 * (x_of(3) + np.float32(offset)))
    assert (gpu.n_captures, gpu.n_graph_launches) == (0, 0)
    engines.close()


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"x": x_of(4)}, "engine.run_failed"),
        ({"x": x_of(4), "k": np.array([0]), "z": x_of(1)}, "engine.run_failed"),
        ({"x": x_of(4), "k": np.array([0.0])}, "engine.run_failed"),
        ({"x": x_of(4), "k": np.array([1 << 40])}, "engine.run_failed"),
        ({"x": x_of(33), "k": np.array([0])}, "engine.shape_unsupported"),
        ({"x": x_of(0), "k": np.array([0])}, "engine.shape_unsupported"),
        ({"x": x_of(4)[0], "k": np.array([0])}, "engine.shape_unsupported"),
    ],
    ids=["missing", "unknown", "float index", "too large", "too long", "too short", "rank"],
)
def test_wrong_inputs_are_engine_errors(files, inputs, code):
    engines = opened(files)
    with pytest.raises(EngineError) as caught:
        engines.engines["large"].run(inputs)
    assert caught.value.code == code
    assert np.array_equal(
        engines.engines["large"].run({"x": x_of(4), "k": np.array([0])})["y"], 2 * x_of(4)
    )
    engines.close()


def test_half_precision_that_overflows_is_not_handed_on(files):
    engines = opened(files)
    with pytest.raises(EngineError) as caught:
        engines.engines["small"].run({"x": np.full((1, 3), 60000, np.float32), "k": np.array([0])})
    assert caught.value.code == "engine.output_invalid"
    engines.close()


def test_a_plan_that_calls_cudnn_is_refused(files, tmp_path):
    from simulated_plan import write_plan

    path = write_plan(
        tmp_path / "cudnn.plan", tmp_path / "large.onnx", [profile(1, 2, 3)], tactic_sources=4
    )
    engines = TensorRtEngines()
    engines.open({**files, "cudnn": PlanFile(path)})
    assert engines.failures["cudnn"].code == "engine.plan_foreign"
    assert sorted(engines.engines) == ["large", "small"]
    engines.close()


def test_a_closed_engine_says_so(files):
    engines = opened(files)
    engines.close()
    engines.close()
    with pytest.raises(EngineError) as caught:
        engines.engines["large"].run({"x": x_of(4), "k": np.array([0])})
    assert caught.value.code == "engine.closed"


def decoded(engine, rows):
    decoding = engine.decode(tiny_decoder.CACHE, sum(map(len, rows)), {"positions": TABLE})
    found = [decoding.step({"x": x})["hidden"] for x in rows]
    decoding.close()
    return np.concatenate(found)


TABLE = tiny_decoder.TABLE
ROWS = np.random.default_rng(2).standard_normal((16, tiny_decoder.WIDTH)).astype(np.float32)
STEPS = [ROWS[:5], *(ROWS[i : i + 1] for i in range(5, 16))]


@pytest.fixture(params=[TensorProto.FLOAT, TensorProto.FLOAT16], ids=["fp32", "fp16"])
def decoder(gpu, request, tmp_path):
    from simulated_plan import write_plan

    static = tiny_decoder.write(tmp_path / "static.onnx", static=True, element=request.param)
    path = write_plan(tmp_path / "lm.plan", static, tiny_decoder.profiles())
    engines = opened({"lm": PlanFile(path, tiny_decoder.CACHE)})
    yield engines.engines["lm"]
    engines.close()
    assert gpu.memory == {}


def test_decoding_equals_the_onnx_form(decoder, tmp_path):
    tiny_decoder.write(tmp_path / "dynamic.onnx", static=False)
    with OnnxEngine(tmp_path / "dynamic.onnx") as reference:
        expected = decoded(reference, STEPS)
    for _ in range(2):  # the second utterance must not see the cache of the first
        assert np.allclose(decoded(decoder, STEPS), expected, rtol=0.02, atol=0.02)


def test_the_cache_never_leaves_the_device(gpu, decoder):
    memory = decoder._cache_memory
    spans = {
        name: (address, address + gpu.memory[address].nbytes)
        for name, address in memory.addresses.items()
    }
    gpu.downloads.clear()
    decoded(decoder, STEPS)
    for address, n_bytes in gpu.downloads:
        assert all(address + n_bytes <= low or address >= high for low, high in spans.values())
    # What comes back is one row of `hidden` for each position, and nothing of `new_cache`.
    item_bytes = decoder.plan.tensors["hidden"].dtype.itemsize
    assert sum(n for _, n in gpu.downloads) == len(ROWS) * tiny_decoder.WIDTH * item_bytes


def test_steps_are_replayed_from_one_graph_per_size_of_cache(gpu, decoder):
    decoded(decoder, STEPS)
    # Positions 5 … 8 fit the small cache, 9 … 15 need the large one: each first step is run as it
    # is, the next recorded, the others replayed.
    assert gpu.n_captures == 2
    assert gpu.n_graph_launches == len(STEPS) - 1 - 2
    assert len(gpu.graphs) == 2


def test_cache_and_tables_are_counted_and_kept_for_the_next_utterance(gpu, decoder):
    held = decoder.device.memory_bytes
    item_bytes = decoder.plan.tensors["cache"].dtype.itemsize
    size, width = tiny_decoder.SIZES[-1], tiny_decoder.WIDTH
    assert held[Purpose.CACHE] == size * 2 * width * item_bytes
    assert held[Purpose.TABLES] == (size + tiny_decoder.PROMPT) * width * item_bytes
    n_allocations = gpu.n_allocations
    decoded(decoder, STEPS)
    n_graphs = gpu.n_captures
    decoded(decoder, STEPS)
    assert gpu.n_allocations - n_allocations == gpu.n_captures
    assert n_graphs == 2


def test_a_sequence_longer_than_the_plan_is_refused(decoder):
    with pytest.raises(EngineError) as caught:
        decoder.decode(tiny_decoder.CACHE, 17, {"positions": TABLE})
    assert caught.value.code == "engine.shape_unsupported"


def test_neither_torch_nor_onnx_runtime_nor_tensorrt_is_imported_without_need():
    program = (
        "import sys, edge_tts.runtime.selection, edge_tts.runtime.tensorrt_decoding\n"
        "names = {'tensorrt', 'pycuda', 'torch', 'onnxruntime', 'onnx'} & set(sys.modules)\n"
        "sys.exit(f'imported: {names}' if names else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_loading_plans_imports_no_onnx_runtime(tmp_path):
    """The stand-in's engine does, so the path is followed up to the moment it is asked for one."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from edge_tts.runtime.tensorrt_loading import TensorRtEngines\n"
        "engines = TensorRtEngines(); engines.open({}); engines.close()\n"
        "sys.exit('onnxruntime' in sys.modules or 'torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, str(STAND_IN)], check=True, timeout=60)


def test_a_machine_without_tensorrt_or_device_says_what_to_install(gpu, monkeypatch):
    from edge_tts.runtime import cuda_library

    def missing():
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.setattr(cuda_library, "load_library", missing)
    with pytest.raises(EngineError, match="pip install pycuda") as caught:
        TensorRtEngines()
    assert caught.value.code == "engine.device_missing"
    monkeypatch.setitem(sys.modules, "tensorrt", None)
    with pytest.raises(EngineError, match="python3-libnvinfer") as caught:
        TensorRtEngines()
    assert caught.value.code == "engine.tensorrt_missing"
