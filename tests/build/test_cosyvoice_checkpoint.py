"""Checkpoints are read whole or refused with the reason; nothing in them is executed."""

from __future__ import annotations

import collections
import json
import pickle
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tiny_cosyvoice import N_SPEECH_TOKENS, weight_normed, write_checkpoint  # noqa: E402

from edge_tts.build.cosyvoice import config  # noqa: E402
from edge_tts.build.cosyvoice.checkpoint import Generation, read_checkpoint  # noqa: E402
from edge_tts.build.cosyvoice.flow import Flow  # noqa: E402
from edge_tts.build.cosyvoice.group_norm import GroupNorm  # noqa: E402
from edge_tts.build.cosyvoice.hift import Hift  # noqa: E402
from edge_tts.build.cosyvoice.qwen_lm import QwenLm  # noqa: E402
from edge_tts.build.cosyvoice.recipe import Recipe  # noqa: E402
from edge_tts.build.cosyvoice.transformer_lm import TransformerLm  # noqa: E402
from edge_tts.build.cosyvoice.weights import plain_names  # noqa: E402
from edge_tts.errors import ModelError  # noqa: E402

TENSORS = Path(__file__).parent / "data" / "cosyvoice_tensors.tsv"
DILATIONS = ((1, 3, 5),) * 3


def full_size_modules() -> dict:
    """Every module of CosyVoice-300M-SFT and CosyVoice2-0.5B at its published size."""
    encoder = config.BlocksConfig(512, 512, 8, 2048, 6)
    v1_lm = config.TransformerLmConfig(
        config.BlocksConfig(512, 1024, 16, 4096, 6),
        config.BlocksConfig(1024, 1024, 16, 4096, 14),
        51866,
        4096,
        192,
    )
    v2_lm = config.QwenLmConfig(896, 24, 14, 2, 4864, 1e6, 1e-6, 151936, 6561, 6564)
    hift = {"base": 512, "n_harmonics": 9, "resblock_kernels": (3, 7, 11), "dilations": DILATIONS}
    hift = {**hift, "f0_width": 512, "fft_size": 16, "hop": 4, "leak": 0.1}
    v1_hift = config.HiftConfig(
        rates=(8, 8), kernels=(16, 16), source_kernels=(7, 11), source_dilations=DILATIONS, **hift
    )
    v2_hift = config.HiftConfig(
        rates=(8, 5, 3),
        kernels=(16, 11, 7),
        source_kernels=(7, 7, 11),
        source_dilations=DILATIONS,
        **hift,
    )
    estimators = [
        config.EstimatorConfig(channels, 320, 12, 4, 8, 64, 1024, 1024, is_causal)
        for channels, is_causal in (((256, 256), False), ((256,), True))
    ]
    with torch.device("meta"):
        return {
            "v1/llm": TransformerLm(v1_lm),
            "v1/flow": Flow(config.FlowConfig(encoder, 0, 4096, 192, estimators[0])),
            "v1/hift": Hift(v1_hift),
            "v2/llm": QwenLm(v2_lm),
            "v2/flow": Flow(config.FlowConfig(encoder, 4, 6561, 192, estimators[1])),
            "v2/hift": Hift(v2_hift),
        }


def published(file: str) -> collections.Counter:
    """Name and shape → how often, weight norm folded into the tensor it is the norm of."""
    found = collections.Counter()
    for line in TENSORS.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{file}\t"):
            _, name, shape, count = line.split("\t")
            if not name.endswith("weight.original0"):
                name = name.replace(".parametrizations.weight.original1", ".weight")
                found[name, shape] += int(count)
    return found


@pytest.mark.parametrize("file", ["v1/llm", "v1/flow", "v1/hift", "v2/llm", "v2/flow", "v2/hift"])
def test_full_size_modules_have_the_published_names_and_shapes(file):
    found = collections.Counter(
        (re.sub(r"(?<=\.)\d+(?=\.)", "*", name), ",".join(map(str, value.shape)))
        for name, value in full_size_modules()[file].state_dict().items()
    )
    assert found == published(file)


@pytest.fixture(params=[1, 2])
def checkpoint(request, tmp_path):
    return write_checkpoint(tmp_path / "checkpoint", request.param)


@pytest.fixture
def second(tmp_path):
    return write_checkpoint(tmp_path / "second", 2)


def refusal(path: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        read_checkpoint(path)
    return caught.value


def change(file: Path, **tensors) -> None:
    weights = torch.load(file, weights_only=True)
    for name, value in tensors.items():
        if value is None:
            del weights[name]
        else:
            weights[name] = value
    torch.save(weights, file)


def test_a_checkpoint_is_read_with_its_sizes(checkpoint):
    read = read_checkpoint(checkpoint)
    assert read.lm_config.n_speech_tokens == N_SPEECH_TOKENS
    assert read.hift_config.samples_per_frame in {256, 480}
    assert list(read.speakers) == ["中文女", "英文男"]


def test_the_first_upload_of_version_2_had_the_recipe_name_of_version_1(second):
    (second / "cosyvoice2.yaml").rename(second / "cosyvoice.yaml")
    assert read_checkpoint(second).generation is Generation.V2


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("prefix", ["", "generator."])
def test_both_spellings_of_weight_norm_give_the_same_vocoder(second, old, prefix):
    weights = plain_names(torch.load(second / "hift.pt", weights_only=True))
    spelt = weight_normed(weights, old=old)
    torch.save({prefix + name: value for name, value in spelt.items()}, second / "hift.pt")
    found = read_checkpoint(second).hift.state_dict()
    assert found.keys() == weights.keys()
    assert all(torch.allclose(found[name], weights[name], atol=1e-6) for name in weights)


@pytest.mark.parametrize("file", ["llm.pt", "flow.pt", "hift.pt"])
class TestDamage:
    def test_missing(self, checkpoint, file):
        (checkpoint / file).unlink()
        assert refusal(checkpoint).code == "model.file_missing"

    @pytest.mark.parametrize(
        "content",
        [
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            b"<!DOCTYPE html><html>404</html>",
        ],
    )
    def test_pointers_and_web_pages(self, checkpoint, file, content):
        (checkpoint / file).write_bytes(content)
        assert refusal(checkpoint).code == "model.not_a_model"

    def test_truncated(self, checkpoint, file):
        content = (checkpoint / file).read_bytes()
        (checkpoint / file).write_bytes(content[: len(content) // 2])
        assert refusal(checkpoint).code == "model.file_truncated"

    def test_not_a_torch_file(self, checkpoint, file):
        (checkpoint / file).write_bytes(b"\x00" * 1000)
        error = refusal(checkpoint)
        assert error.code in {"model.checkpoint_invalid", "model.checkpoint_unsafe"}
        assert file in str(error)

    def test_hostile_pickle_is_not_executed(self, checkpoint, file, tmp_path):
        marker = tmp_path / "executed"
        torch.save({"x": _Hostile(str(marker))}, checkpoint / file)
        assert refusal(checkpoint).code == "model.checkpoint_unsafe"
        (checkpoint / file).write_bytes(pickle.dumps(_Hostile(str(marker)), protocol=2))
        assert refusal(checkpoint).code == "model.checkpoint_unsafe"
        assert not marker.exists()

    def test_an_unknown_tensor_is_named(self, checkpoint, file):
        change(checkpoint / file, surplus=torch.zeros(2))
        error = refusal(checkpoint)
        assert error.code == "model.checkpoint_invalid"
        assert "surplus" in str(error)


class _Hostile:
    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self):
        return (Path.touch, (Path(self._path),))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("llm.pt", "llm_decoder.bias"),
        ("flow.pt", "encoder.after_norm.weight"),
        ("hift.pt", "conv_post.bias"),
        ("flow.pt", "spk_embed_affine_layer.weight"),
    ],
)
def test_a_missing_tensor_is_named(checkpoint, file, name):
    change(checkpoint / file, **{name: None})
    error = refusal(checkpoint)
    assert error.code == "model.checkpoint_invalid"
    assert name in str(error)


def test_wrong_types_and_shapes_are_named(checkpoint):
    change(checkpoint / "flow.pt", **{"encoder_proj.bias": torch.zeros(80).half()})
    assert "torch.float16" in str(refusal(checkpoint))
    change(checkpoint / "flow.pt", **{"encoder_proj.bias": torch.zeros(81)})
    assert "(81,) instead of (80,)" in str(refusal(checkpoint))
    change(checkpoint / "flow.pt", **{"encoder_proj.bias": [1.0]})
    assert "list, not a tensor" in str(refusal(checkpoint))


def test_a_layer_too_few_is_not_taken_for_a_smaller_model(second):
    known = json.loads((second / "CosyVoice-BlankEN" / "config.json").read_text())
    known["num_hidden_layers"] += 1
    (second / "CosyVoice-BlankEN" / "config.json").write_text(json.dumps(known))
    assert "layers.2." in str(refusal(second))


def test_channels_that_make_no_whole_groups_are_no_model():
    with pytest.raises(ValueError, match="30 channels"):
        GroupNorm(8, 30)


def test_version_3_is_recognised_and_refused(second):
    (second / "cosyvoice2.yaml").rename(second / "cosyvoice3.yaml")
    error = refusal(second)
    assert error.code == "model.checkpoint_unsupported"
    assert "CosyVoice 3" in str(error)


def test_an_empty_folder_is_refused(tmp_path):
    assert refusal(tmp_path).code == "model.file_missing"


def test_a_missing_qwen_folder_is_refused(second):
    (second / "CosyVoice-BlankEN" / "config.json").unlink()
    assert "CosyVoice-BlankEN" in str(refusal(second))


def test_speakers_of_the_zero_shot_kind_are_read(second):
    entry = {
        "prompt_text": torch.tensor([[1, 2, 3]]),
        "flow_prompt_speech_token": torch.tensor([[4, 5]], dtype=torch.int32),
        "prompt_speech_feat": torch.zeros(1, 4, 80),
        "flow_embedding": torch.ones(1, 8),
    }
    torch.save({"mine": entry}, second / "spk2info.pt")
    speaker = read_checkpoint(second).speakers["mine"]
    assert speaker.prompt_text.tolist() == [1, 2, 3]
    assert speaker.prompt_tokens.tolist() == [4, 5]
    assert speaker.prompt_mel.shape == (4, 80)


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {},
        {"embedding": torch.zeros(1, 9)},
        {"embedding": torch.zeros(1, 8), "prompt_speech_feat": torch.zeros(1, 4, 81)},
    ],
)
def test_other_speakers_are_refused(second, entry):
    torch.save({"mine": entry}, second / "spk2info.pt")
    assert refusal(second).code == "model.checkpoint_invalid"


class TestRecipe:
    def read(self, tmp_path, text):
        (tmp_path / "recipe.yaml").write_text(text, encoding="utf-8")
        return Recipe.read(tmp_path / "recipe.yaml")

    def test_tags_are_names_and_never_run(self, tmp_path):
        marker = tmp_path / "executed"
        text = f"a: !new:os.system\n  command: touch {marker}\nb: !apply:os.mkdir [{marker}]\n"
        recipe = self.read(tmp_path, text)
        assert recipe.kind("a") == "system"
        assert not marker.exists()

    def test_python_objects_are_refused(self, tmp_path):
        with pytest.raises(ModelError, match="not YAML"):
            self.read(tmp_path, "c: !!python/object/apply:os.getcwd []\n")

    def test_references_and_products(self, tmp_path):
        recipe = self.read(tmp_path, "a: 25\nb: !ref <a>\nc:\n  d: !ref <a> * <b>\n")
        assert recipe.integer("c.d") == 625

    @pytest.mark.parametrize(
        "text",
        ["a: !ref <a>\n", "a: !ref <b> + 1\nb: 1\n", "a: !ref <none>\n", "a: x\n", "a: -1\n"],
    )
    def test_what_is_no_number_is_refused(self, tmp_path, text):
        with pytest.raises(ModelError, match="not a CosyVoice recipe"):
            self.read(tmp_path, text).integer("a")

    @pytest.mark.parametrize("text", ["[1, 2", "- 1\n", "a: " + "[" * 5000, "\x00"])
    def test_what_is_no_mapping_is_refused(self, tmp_path, text):
        with pytest.raises(ModelError, match="not a CosyVoice recipe"):
            self.read(tmp_path, text)
