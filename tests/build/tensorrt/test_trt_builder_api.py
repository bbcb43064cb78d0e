"""The builder is driven by what it offers: NVIDIA's own, and the interface of 8.5 as a table."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import onnx
import pytest
from trt_graphs import normed_convolution, save

from edge_tts.build.tensorrt import builder_api
from edge_tts.build.tensorrt.builder import profiles
from edge_tts.build.tensorrt.builder_api import AHEAD_OF_TIME
from edge_tts.build.tensorrt.engine_process import Job, build
from edge_tts.build.tensorrt.half import half_nodes
from edge_tts.build.tensorrt.recipe import KeepFp32, PartRecipe
from edge_tts.errors import EngineError

NORMS = KeepFp32(("ReduceMean", "Sqrt"))
PART = PartRecipe("part", "fp16", ({"T": (4, 20, 50)}, {"T": (51, 60, 70)}), NORMS)


def nvidias_builder():
    """NVIDIA's parser and builder, which run without a GPU; skips loudly where there are none."""
    try:
        return builder_api.load(AHEAD_OF_TIME)
    except EngineError as error:
        warnings.warn(f"NVIDIA's builder is not tested: {error}", UserWarning, stacklevel=2)
        return pytest.skip(f"NOT TESTED: {error}")


@pytest.fixture
def trt(recwarn):
    return nvidias_builder()


def job(graph, plan, precision="fp16", part=PART):
    return Job(
        module=AHEAD_OF_TIME,
        graph=str(graph),
        plan=str(plan),
        timing_cache=str(plan.with_suffix(".cache")),
        precision=precision,
        keep_fp32=part.keep_fp32,
        profiles=profiles(graph, part),
        workspace_mib=64,
        tactic_sources=(),
        compute_capabilities=("8.6",),
    )


@pytest.mark.parametrize("precision", ["fp16", "fp16-matrices", "fp32"])
def test_nvidias_builder_makes_a_plan(trt, tmp_path, precision):
    plan = tmp_path / "part.plan"
    outcome = build(job(normed_convolution(tmp_path / "g.onnx"), plan, precision))
    assert plan.stat().st_size > 1000
    assert (outcome.error, outcome.sm, outcome.flags) == ("", "8.6", ("STRONGLY_TYPED",))
    assert outcome.tensorrt == trt.__version__


def test_nvidias_parser_names_the_node_it_refuses(trt, tmp_path):
    graph = save(tmp_path / "g.onnx", [("Det", ["x"], "y", {})], {})
    with pytest.raises(EngineError, match=r"node 'y' \(Det\)") as caught:
        build(job(graph, tmp_path / "part.plan"))
    assert caught.value.code == "engine.graph_unsupported"
    assert not (tmp_path / "part.plan").exists()


def test_an_impossible_profile_is_refused(trt, tmp_path):
    graph = normed_convolution(tmp_path / "g.onnx")
    network = builder_api.Network(trt, str(graph))
    wrong = profiles(graph, PartRecipe("p", "fp16", ({"T": (4, 20, 50)},)))[0]["x"]
    with pytest.raises(EngineError):
        config, _ = network.configure(
            [{"x": type(wrong)(wrong.greatest, wrong.typical, wrong.least)}], 64, ()
        )
        network.build(config, None)


def test_missing_libraries_are_named_with_the_cure():
    with pytest.raises(EngineError, match="pip install"):
        builder_api.load("no_such_builder")
    neither = SimpleNamespace(
        NetworkDefinitionCreationFlag=object(), BuilderFlag=object(), __version__="7.1"
    )
    with pytest.raises(EngineError, match=r"7\.1 has neither"):
        builder_api.is_strongly_typed(neither)


class Layer85:
    """A layer as 8.5 has it."""

    def __init__(self, name, kind, dtype):
        self.name, self.type, self.num_outputs = name, kind, 1
        self._output = SimpleNamespace(dtype=dtype)
        self.precision = None
        self.output_types = {}

    def get_output(self, index):
        return self._output

    def set_output_type(self, index, dtype):
        self.output_types[index] = dtype


class Module85:
    """The names of TensorRT 8.5.2 that building uses, with the values its headers give them.

    From NVIDIA's pyCore.cpp and NvInfer.h at the tag 8.5.2.
    """

    __version__ = "8.5.2.2"
    NetworkDefinitionCreationFlag = SimpleNamespace(EXPLICIT_BATCH=0)
    BuilderFlag = SimpleNamespace(FP16=0, OBEY_PRECISION_CONSTRAINTS=12)
    TacticSource = SimpleNamespace(CUBLAS=0, CUBLAS_LT=1, CUDNN=2, EDGE_MASK_CONVOLUTIONS=3)
    PreviewFeature = SimpleNamespace(
        FASTER_DYNAMIC_SHAPES_0805="faster", DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805="none"
    )
    DataType = SimpleNamespace(FLOAT="float", HALF="half", INT32="int32")
    LayerType = SimpleNamespace(CONSTANT="constant", SHAPE="shape")


class Config85:
    def __init__(self, sources):
        self.sources, self.flags, self.previews = sources, set(), []

    def get_tactic_sources(self):
        return self.sources

    def set_tactic_sources(self, sources):
        self.sources = sources
        return True

    def set_flag(self, flag):
        self.flags.add(flag)

    def set_preview_feature(self, feature, value):
        self.previews.append((feature, value))


def test_85_is_weakly_typed_and_gets_no_external_libraries():
    assert not builder_api.is_strongly_typed(Module85)
    config = Config85(0b1111)
    assert builder_api.set_tactic_sources(Module85, config, ())
    assert config.sources == 0b1000, "only cuBLAS, cuBLASLt and cuDNN go"
    builder_api.set_tactic_sources(Module85, config, ("CUBLAS",))
    assert config.sources == 0b1001
    builder_api._set_previews(Module85, config)
    assert config.previews == [("faster", True), ("none", True)]


def test_85_holds_every_layer_at_fp32_that_the_recipe_keeps(tmp_path):
    model = onnx.load(str(normed_convolution(tmp_path / "g.onnx")))
    half = half_nodes(model, "fp16", NORMS)
    layers = [Layer85(node.name, "any", "float") for node in model.graph.node]
    layers += [
        Layer85("wide_1", "any", "float"),  # a second layer of the convolution
        Layer85("(Unnamed Layer* 3) [Shuffle]", "any", "float"),
        Layer85("indices", "any", "int32"),
        Layer85("weights", "constant", "float"),
    ]
    tensors = [SimpleNamespace(name=name, dtype="float") for name in ("x", "y")]
    network = builder_api.Network.__new__(builder_api.Network)
    network._trt = Module85
    network._builder = SimpleNamespace(platform_has_fast_fp16=True)
    network.network = SimpleNamespace(
        num_layers=len(layers),
        get_layer=lambda i: layers[i],
        num_inputs=1,
        get_input=lambda i: tensors[0],
        num_outputs=1,
        get_output=lambda i: tensors[1],
    )
    config = Config85(0)
    flags = network.constrain(config, half, ("x",))
    held = {layer.name for layer in layers if layer.precision == "float"}
    kept = {node.name for node in model.graph.node} - half
    assert held == {*kept, "(Unnamed Layer* 3) [Shuffle]"}
    assert all(layer.output_types == {0: "float"} for layer in layers if layer.name in held)
    assert config.flags == {0, 12}
    assert flags == ["FP16", "OBEY_PRECISION_CONSTRAINTS", f"fp32_layers={len(held)}"]
    assert [tensor.dtype for tensor in tensors] == ["half", "float"]


def test_single_precision_sets_no_flag_on_85():
    network = builder_api.Network.__new__(builder_api.Network)
    network._trt = Module85
    assert network.constrain(Config85(0), set(), ()) == []


def test_numbered_layers_belong_to_their_node():
    assert builder_api.node_of_layer("conv", {"conv"}) == "conv"
    assert builder_api.node_of_layer("conv_12", {"conv"}) == "conv"
    assert builder_api.node_of_layer("conv_12", {"conv", "conv_12"}) == "conv_12"
    assert builder_api.node_of_layer("other", {"conv"}) is None
