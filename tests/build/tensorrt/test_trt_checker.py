"""Every operator and spelling that a TensorRT parser cannot take is refused, with a remedy."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edge_tts.build.tensorrt import checker
from edge_tts.build.tensorrt.operators import DATA, TRAPS, VERSIONS, operators
from edge_tts.errors import EngineError

FLOAT = TensorProto.FLOAT


def model(nodes, constants=(), *, opset=17, element=FLOAT, functions=()):
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in dict(constants).items()]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, [1, 4, "t"])],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        tensors,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions))


def node(op_type, inputs=("x",), domain="", **attributes):
    return helper.make_node(
        op_type, list(inputs), ["y"], name="the/node", domain=domain, **attributes
    )


def causes(a_model, version="8.5"):
    return [finding.cause for finding in checker.check(a_model, version)]


UNSUPPORTED_85 = sorted(name for name, op in operators("8.5").items() if not op.is_supported)


@pytest.mark.parametrize("op_type", UNSUPPORTED_85)
def test_each_unsupported_operator_is_refused(op_type):
    with pytest.raises(EngineError) as caught:
        checker.require(model([node(op_type)]), "part", ["8.5"])
    assert caught.value.code == "engine.graph_unsupported"
    assert f"node 'the/node' ({op_type}) is not supported" in str(caught.value)


@pytest.mark.parametrize("op_type", sorted(TRAPS))
def test_each_trap_operator_is_refused_with_its_reason(op_type):
    for version in TRAPS[op_type].versions:
        (finding,) = checker.check(model([node(op_type)]), version)
        assert finding.cause == TRAPS[op_type].cause
        assert "data/operators" not in finding.remedy, "a trap has a remedy of its own"


def test_the_operators_named_in_the_rules_are_refused():
    for op_type in ("InstanceNormalization", "CumSum", "NonZero", "LayerNormalization"):
        assert causes(model([node(op_type)])), op_type


def test_releases_differ_as_their_tables_do():
    layer_norm, attention = model([node("LayerNormalization")]), model([node("Attention")])
    assert [bool(causes(layer_norm, version)) for version in VERSIONS] == [True, False, False]
    assert all(causes(attention, version) for version in VERSIONS)  # 10.14 is not 10.3
    assert not causes(model([node("Gelu")]), "10")


def test_an_unknown_operator_and_a_foreign_domain_are_refused():
    assert causes(model([node("NoSuchOperator")])) == ["is not supported"]
    assert "com.microsoft" in causes(model([node("FastGelu", domain="com.microsoft")]))[0]


def test_a_newer_opset_and_local_functions_are_refused():
    assert "opset 18" in causes(model([node("Relu")], opset=18))[0]
    function = helper.make_function(
        "own", "f", ["x"], ["y"], [node("Relu")], [helper.make_opsetid("", 17)]
    )
    assert causes(model([node("Relu")], functions=[function])) == ["holds local functions"]


@pytest.mark.parametrize("element", [TensorProto.INT64, TensorProto.DOUBLE, TensorProto.UINT8])
def test_inputs_that_releases_bind_differently_are_refused(element):
    (finding,) = checker.check(model([node("Cast", to=FLOAT)], element=element), "8.5")
    assert finding.place == "input 'x'"


@pytest.mark.parametrize(
    "bad",
    [
        node("ReduceMean", ("x", "axes")),
        node("Slice", ("x", "c", "c", "x")),
        node("Squeeze", ("x", "x")),
        node("Unsqueeze", ("x", "x")),
        node("ReduceSum", ("x", "x")),
        node("TopK", ("x", "x")),
        node("ScatterND", ("x", "c", "x"), reduction="add"),
        node("ScatterElements", ("x", "c", "x"), reduction="mul"),
        node("LSTM", ("x", "c", "c"), input_forget=1),
        node("Mod", ("x", "x")),
        node("Resize", ("x", "", "c"), mode="cubic"),
        node("Resize", ("x", "", "c"), mode="nearest", antialias=1),
        node("Einsum", ("x", "x"), equation="...i,...i->..."),
    ],
    ids=lambda bad: f"{bad.op_type}-{len(bad.attribute)}",
)
def test_spellings_the_parser_misreads_are_refused(bad):
    assert len(causes(model([bad], {"c": [1], "axes": [2]}))) == 1


def test_good_spellings_pass_in_every_release():
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["a"], "a", axes=[2], keepdims=1),
        helper.make_node("Slice", ["a", "c", "c", "c"], ["b"], "b"),
        helper.make_node(
            "Constant", [], ["axis"], "axis", value=numpy_helper.from_array(np.ones(1, np.int64))
        ),
        helper.make_node("Unsqueeze", ["b", "axis"], ["d"], "d"),
        helper.make_node("ScatterND", ["d", "c", "d"], ["y"], "y", reduction="none"),
    ]
    for version in VERSIONS:
        assert checker.check(model(nodes, {"c": np.array([1])}), version) == []
    checker.require(model(nodes, {"c": np.array([1])}), "part")


def test_names_must_be_unique():
    first = helper.make_node("Relu", ["x"], ["a"], name="same")
    second = helper.make_node("Relu", ["a"], ["y"], name="same")
    assert causes(model([first, second])) == ["belongs to several nodes"]


def test_a_long_list_is_cut():
    nodes = [helper.make_node("CumSum", ["x"], [f"y{i}"], name=f"n{i}") for i in range(9)]
    with pytest.raises(EngineError, match="and 4 more"):
        checker.require(model(nodes), "part", ["8.5"])


def test_tables_name_their_source():
    assert "Apache-2.0" in (DATA / "README.md").read_text(encoding="utf-8")
    assert onnx.defs.has("Conv")
    assert operators("8.5")["Conv"].is_supported
