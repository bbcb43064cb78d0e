"""Recipes are read whole or refused with the place that is wrong."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import yaml

from edge_tts.build.tensorrt import recipe
from edge_tts.build.tensorrt.recipe import KeepFp32, Limits
from edge_tts.errors import ConfigError

EXAMPLE = {
    "format": 1,
    "voice": "v",
    "family": "kokoro",
    "limits": {"min_snr_db": 30, "max_mel_distance_db": 1.0},
    "keep_fp32": {"operators": ["Exp"]},
    "parts": [
        {
            "name": "a",
            "precision": "fp16",
            "profiles": [{"T": [1, 2, 3]}],
            "keep_fp32": {"nodes": ["norm"]},
        },
        {
            "name": "b",
            "precision": "fp32",
            "profiles": [{}],
            "limits": {"min_snr_db": 1, "max_mel_distance_db": 2},
        },
    ],
}
SHIPPED = sorted(
    path.stem for path in recipe.ENGINES_DIR.glob("*.yaml") if path.name != recipe.PLATFORMS_FILE
)


def read(tmp_path, document):
    path = tmp_path / "v.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return recipe.read_recipe(path)


def test_parts_take_the_voices_defaults(tmp_path):
    first, second = (read(tmp_path, EXAMPLE).part(name) for name in "ab")
    assert first.keep_fp32 == KeepFp32(("Exp",), ("norm",))
    assert (first.limits, second.limits) == (Limits(30.0, 1.0), Limits(1.0, 2.0))
    assert first.ladder() == ("fp16", "fp16-matrices", "fp32", "onnx")
    assert second.ladder() == ("fp32", "onnx")


@pytest.mark.parametrize("voice", SHIPPED)
def test_every_shipped_recipe_is_readable_on_every_platform(voice):
    found = recipe.read_recipe(recipe.recipe_path(voice))
    assert found.voice == voice
    for name in ("xavier-nx", "orin", "thor", "generic"):
        platform = recipe.read_platform(name)
        assert "CUDNN" not in platform.tactic_sources
        digests = {recipe.digest(found.part(part.name), platform) for part in found.parts}
        assert len(digests) == len(found.parts)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format=2), "format 2"),
        (lambda d: d.update(extra=1), "unknown key 'extra'"),
        (lambda d: d.pop("limits"), "lacks the key 'limits'"),
        (lambda d: d["parts"][0].update(precision="half"), "parts: precision must be one of"),
        (lambda d: d["parts"][0].update(profiles=[]), "profiles must not be empty"),
        (lambda d: d["parts"][0].update(profiles=[{"T": [3, 2, 1]}]), "axis T needs three rising"),
        (lambda d: d["parts"][0].update(profiles=[{"T": [1, 2]}]), "axis T needs three rising"),
        (lambda d: d["parts"][0].update(profiles=[{"T": "1"}]), "T must be a list"),
        (lambda d: d["parts"][0]["keep_fp32"].update(nodes=["("]), r"'\(' is not a pattern"),
        (lambda d: d["parts"][1].update(name="a"), "two parts have the same name"),
        (lambda d: d["limits"].update(min_snr_db="x"), "min_snr_db must be a number"),
        (lambda d: d.update(voice=True), "voice must be text"),
    ],
)
def test_a_wrong_recipe_is_refused_with_the_place(tmp_path, change, words):
    document = copy.deepcopy(EXAMPLE)
    change(document)
    with pytest.raises(ConfigError, match=words):
        read(tmp_path, document)


@pytest.mark.parametrize("text", ["", "[", "- 1", "\x00"])
def test_what_is_no_recipe_is_refused(tmp_path, text):
    path = tmp_path / "v.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="not a usable recipe"):
        recipe.read_recipe(path)


def test_unknown_names_list_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match="known: xavier-nx, orin, thor, generic"):
        recipe.read_platform("nano")
    with pytest.raises(ConfigError, match=r"there are: .*kokoro"):
        recipe.recipe_path("nobody")
    with pytest.raises(ConfigError, match="it has a, b"):
        read(tmp_path, EXAMPLE).part("c")
    with pytest.raises(ConfigError, match="there are: none"):
        recipe.recipe_path("nobody", folder=tmp_path / "empty")


def test_a_recipe_serves_every_voice_whose_name_begins_with_its_own():
    assert recipe.recipe_path("CosyVoice-300M-SFT").name == "cosyvoice-300m.yaml"
    assert recipe.recipe_path("CosyVoice2-0.5B").name == "cosyvoice2-0.5b.yaml"
    assert recipe.recipe_path("kokoro").name == "kokoro.yaml"
    assert recipe.recipe_path("mine", "lite").name == "lite.yaml"


def test_lengths_follow_the_axes():
    profile = {"T": (1, 10, 100), "n+m": (2, 3, 4)}
    shapes = recipe.shapes({"x": (1, 512, "T"), "y": (1, "120T+1"), "z": ("n+m",)}, profile, 1)
    assert shapes == {"x": (1, 512, 10), "y": (1, 1201), "z": (3,)}
    with pytest.raises(ConfigError, match="'U'"):
        recipe.length("U", profile, 0)


def test_a_digest_changes_with_everything_that_shapes_an_engine(tmp_path):
    platform = recipe.read_platform("xavier-nx")
    part = read(tmp_path, EXAMPLE).part("a")
    variants = [
        (part, platform),
        (replace(part, precision="fp32"), platform),
        (replace(part, keep_fp32=KeepFp32()), platform),
        (replace(part, profiles=({"T": (1, 2, 4)},)), platform),
        (part, replace(platform, workspace_mib=1)),
    ]
    assert len({recipe.digest(*variant) for variant in variants}) == len(variants)
