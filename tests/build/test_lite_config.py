"""What a lite checkpoint's JSON files may say. Needs no torch."""

from __future__ import annotations

import json

import pytest

from edge_tts.build.lite import precision
from edge_tts.build.lite.config import read_config
from edge_tts.build.lite.generation import read_sampling
from edge_tts.build.lite.json_file import JsonFile
from edge_tts.build.lite.recognition import is_lite_checkpoint
from edge_tts.errors import InputError, ModelError
from edge_tts.voices.lite.settings import CodecLayout
from edge_tts.voices.lite.tags import known_tags

GOOD = {
    "model_type": "t5",
    "vocab_size": 300,
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 24,
    "num_heads": 2,
    "num_layers": 3,
    "feed_forward_proj": "gated-gelu",
    "codec": {
        "model": "encodec_24khz",
        "sample_rate": 24000,
        "frame_rate": 75,
        "num_codebooks": 2,
        "codebook_size": 64,
        "code_offsets": [100, 200],
        "interleaving": "delay",
        "delays": [0, 1],
    },
}
GENERATION = {"do_sample": True, "temperature": 0.8, "top_k": 30, "top_p": 0.9, "num_beams": 1}


def changed(path, **fields):
    """`GOOD` with other fields; `codec__x` changes a field of the section, None removes one."""
    document = json.loads(json.dumps(GOOD))
    for key, value in fields.items():
        section, name = (
            (document["codec"], key[7:]) if key.startswith("codec__") else (document, key)
        )
        section.pop(name, None)
        if value is not None:
            section[name] = value
    (path / "config.json").write_text(json.dumps(document), encoding="utf-8")
    return JsonFile.read(path / "config.json")


def generation(path, **fields):
    (path / "generation_config.json").write_text(
        json.dumps({**GENERATION, **fields}), encoding="utf-8"
    )
    return JsonFile.read(path / "generation_config.json")


def test_all_fields_are_read(tmp_path):
    config = read_config(changed(tmp_path))
    assert config.codec == CodecLayout(24000, 75, 2, 64, "delay", (0, 1))
    assert config.offsets == (100, 200)
    assert (config.start_id, config.pad_id, config.end_id) == (0, 0, 1)
    assert (config.t5.n_encoder_layers, config.t5.n_decoder_layers) == (3, 3)
    assert config.t5.is_gated
    assert config.t5.scales_output


def test_an_untied_head_is_not_scaled_unless_the_file_says_so(tmp_path):
    assert not read_config(changed(tmp_path, tie_word_embeddings=False)).t5.scales_output
    file = changed(tmp_path, tie_word_embeddings=True, scale_decoder_outputs=False)
    assert not read_config(file).t5.scales_output


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"model_type": "bart"}, "'model_type'"),
        ({"architectures": ["T5EncoderModel"]}, "'architectures'"),
        ({"feed_forward_proj": "gated-silu"}, "'feed_forward_proj'"),
        ({"is_encoder_decoder": False}, "'is_encoder_decoder'"),
        ({"codec__model": "encodec_48khz"}, "'codec.model'"),
        ({"codec__sample_rate": 48000}, "'codec.sample_rate'"),
        ({"codec__interleaving": "parallel"}, "'codec.interleaving'"),
    ],
)
def test_what_this_version_cannot_build_is_named(tmp_path, fields, named):
    with pytest.raises(ModelError, match=named) as caught:
        read_config(changed(tmp_path, **fields))
    assert caught.value.code == "model.checkpoint_unsupported"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"codec": None}, "'codec'"),
        ({"d_model": None}, "'d_model' is missing"),
        ({"d_model": 0}, "'d_model'"),
        ({"num_heads": True}, "'num_heads'"),
        ({"d_ff": "many"}, "'d_ff'"),
        ({"relative_attention_num_buckets": 30}, "'relative_attention_num_buckets'"),
        ({"relative_attention_max_distance": 16}, "'relative_attention_max_distance'"),
        ({"codec__num_codebooks": 33}, "'codec.num_codebooks'"),
        ({"codec__frame_rate": 0}, "'codec.frame_rate'"),
        ({"codec__frame_rate": None}, "'codec.frame_rate' is missing"),
        ({"codec__code_offsets": [100]}, "'codec.code_offsets' must hold 2"),
        ({"codec__code_offsets": [100, 250]}, "'codec.code_offsets' reach to id 313"),
        ({"codec__code_offsets": [100, 163]}, "'codec.code_offsets' give one id to two"),
        ({"codec__code_offsets": [0, 200]}, "'decoder_start_token_id' is 0"),
        ({"codec__delays": None}, "'codec.delays' is missing"),
        ({"codec__delays": [1, 0]}, "'codec.delays'"),
        ({"codec__delays": [0, 17]}, "'codec.delays'"),
        ({"codec__delays": [0, 1, 2]}, "'codec.delays'"),
        ({"codec__interleaving": "flat"}, "'codec.delays' belongs"),
        ({"eos_token_id": 300}, "'eos_token_id' is 300"),
        ({"eos_token_id": 0}, "'eos_token_id' must differ"),
        ({"pad_token_id": 210}, "'pad_token_id' is 210"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, fields, named):
    with pytest.raises(ModelError, match=named) as caught:
        read_config(changed(tmp_path, **fields))
    assert caught.value.code == "model.checkpoint_invalid"
    assert "config.json" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_object_is_refused(tmp_path, content):
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ModelError):
        JsonFile.read(tmp_path / "config.json")
    assert not is_lite_checkpoint(tmp_path)


def test_a_web_page_and_a_missing_file_are_called_so(tmp_path):
    with pytest.raises(ModelError, match="missing"):
        JsonFile.read(tmp_path / "config.json")
    (tmp_path / "config.json").write_text("<!DOCTYPE html>", encoding="utf-8")
    with pytest.raises(ModelError, match="web page"):
        JsonFile.read(tmp_path / "config.json")


def test_a_lite_checkpoint_is_known_by_its_section(tmp_path):
    changed(tmp_path, model_type="bart")
    assert is_lite_checkpoint(tmp_path)
    changed(tmp_path, codec=None)
    assert not is_lite_checkpoint(tmp_path)


def test_sampling_is_read(tmp_path):
    config = read_config(changed(tmp_path))
    found = read_sampling(generation(tmp_path, max_length=2000, typical_p=1.0), config)
    assert (found.is_greedy, found.temperature, found.top_k, found.top_p) == (False, 0.8, 30, 0.9)
    assert found.repetition_penalty == 1.0
    assert read_sampling(generation(tmp_path, do_sample=False), config).is_greedy


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_beams", 4),
        ("typical_p", 0.5),
        ("forced_bos_token_id", 3),
        ("suppress_tokens", [1]),
        ("eos_token_id", 7),
        ("temperature", 0),
        ("top_p", 1.5),
        ("top_k", -1),
        ("repetition_penalty", 0),
        ("do_sample", "yes"),
    ],
)
def test_generation_that_would_differ_is_refused(tmp_path, field, value):
    config = read_config(changed(tmp_path))
    with pytest.raises(ModelError, match=field):
        read_sampling(generation(tmp_path, **{field: value}), config)


def test_precisions():
    assert precision.parse("balanced") == {"encoder": "int8", "decoder": "int8"}
    assert precision.parse("decoder=int4, encoder=fp32") == {"decoder": "int4", "encoder": "fp32"}
    assert precision.name_of(precision.parse("exact")) == "fp32"
    assert precision.name_of({"decoder": "int4"}) == "mixed"
    for text in ("tiny", "codec=int8", "decoder=int2", ""):
        with pytest.raises(InputError, match="give a preset"):
            precision.parse(text)


def test_tags_are_found_among_pieces():
    pieces = [("[LNGzh]", 3), ("▁[LNGen]", 4), ("[SPKa b]", 5), ("[SPKbob]", 6), ("SPK", 7)]
    assert known_tags(pieces) == ({"zh": 3}, {"bob": 6})
