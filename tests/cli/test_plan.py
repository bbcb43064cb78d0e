"""`edge-tts plan` says what fits, by itself, and marks what is derived."""

from __future__ import annotations

import pytest

from edge_tts.build.plan.board import memory
from edge_tts.build.plan.platforms import PLATFORMS
from edge_tts.build.plan.published import VOICES, find
from edge_tts.build.plan.resident import predict
from edge_tts.build.plan.sizes import PartSize, VoiceSize, part_size
from edge_tts.cli.main import main
from edge_tts.errors import EXIT_OK, EXIT_USAGE


def plan(capsys, *arguments):
    assert main(["plan", *arguments]) == EXIT_OK
    return capsys.readouterr().out.splitlines()


def test_pure_fp16_does_not_fit_a_xavier_nx_and_a_mixed_plan_does(capsys):
    lines = plan(capsys, "--platform", "xavier-nx", "--budget", "1000")
    for voice in ("cosyvoice-300m", "cosyvoice2-0.5b"):
        assert any(f"{voice}, pure fp16" in line and "does not fit" in line for line in lines)
        assert any(f"{voice}: within 1000 MiB: " in line and "lm int8" in line for line in lines)
    assert any("kokoro: within 1000 MiB: fp16" in line for line in lines)


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_line_after_the_heading_is_marked(capsys, name):
    lines = plan(capsys, "--platform", name)
    assert lines[0] == PLATFORMS[name].title
    assert all(line.startswith("derived:") for line in lines[2:])


@pytest.mark.parametrize(
    "arguments", [[], ["--platform", "toaster"], ["here", "--platform", "orin"], ["--budget", "0"]]
)
def test_what_is_no_question_is_refused(arguments):
    assert main(["plan", *arguments]) == EXIT_USAGE


def test_parts_in_turns_count_once():
    voice = find("cosyvoice2-0.5b")
    together, in_turns = (
        memory(voice, choice, PLATFORMS["xavier-nx"], 20.0)
        for choice in (voice.choices[1], voice.choices[3])
    )
    estimator = voice.size.part("estimator").n_bytes("fp16") / 2**20
    assert together.weights - in_turns.weights == pytest.approx(estimator)


def test_published_sizes_are_those_of_the_checkpoints():
    totals = {voice.size.name: sum(part.n_linear for part in voice.size.parts) for voice in VOICES}
    assert totals["cosyvoice-300m"] / 1e6 == pytest.approx(436 - 26.6 - 4.2 - 14.7, rel=0.03)
    assert totals["cosyvoice2-0.5b"] / 1e6 == pytest.approx(639 - 136.1 - 5.9, rel=0.03)


def test_only_linear_layers_are_quantised_and_only_once():
    shapes = {"a.weight": (10, 20), "a.bias": (20,), "conv.weight": (4, 4, 3), "b.weight": (9, 9)}
    part = part_size("a", shapes, ("a.", "conv."))
    assert (part.n_linear, part.n_other) == (200, 68)
    assert part.n_bytes("int8") == 200 + 4 * 68
    assert part.n_bytes("fp16") == 2 * 268


def test_longer_segments_need_more():
    size = VoiceSize("mine", (PartSize("lm", 1 << 20),), 0, 1 << 10, 25, 50.0)
    short, long = (predict(size, {"lm": "int8"}, seconds) for seconds in (2.0, 20.0))
    assert short.weights == {"lm": 1.0}
    assert long.total > short.total
