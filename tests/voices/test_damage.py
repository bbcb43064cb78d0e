"""Damaged, foreign and hostile voice directories: each is named, none is loaded (CASES E08)."""

import os
import shutil

import pytest
import yaml

from edge_tts.errors import ModelError
from edge_tts.voices import catalog
from edge_tts.voices.manifest import FILE_NAME, VoiceDirectory

HTML = b"<!DOCTYPE html><html><body>404: not found</body></html>"
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb\n"
    b"size 92361271\n"
)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def link(path):
    moved = path.rename(path.with_suffix(".moved"))
    path.symlink_to(moved)


def become_a_directory(path):
    path.unlink()
    path.mkdir()


FILE_DAMAGE = [
    ("missing", lambda path: path.unlink(), "model.file_missing"),
    ("truncated", truncate, "model.file_truncated"),
    ("empty", lambda path: path.write_bytes(b""), "model.file_truncated"),
    ("web page", lambda path: path.write_bytes(HTML), "model.not_a_model"),
    ("LFS pointer", lambda path: path.write_bytes(POINTER), "model.not_a_model"),
    ("one bit", flip_a_bit, "model.file_damaged"),
    ("link", link, "model.unsafe_file"),
    ("directory", become_a_directory, "model.unsafe_file"),
]


@pytest.mark.parametrize("file", ["encoder.onnx", "generator.onnx", "source.npy"])
@pytest.mark.parametrize(("kind", "damage", "code"), FILE_DAMAGE, ids=[d[0] for d in FILE_DAMAGE])
def test_a_damaged_file_is_named_and_not_loaded(store, file, kind, damage, code):
    damage(store / "tiny" / file)
    with pytest.raises(ModelError, match=file) as error:
        catalog.load("tiny")
    assert error.value.code == code
    assert [fault.code for fault in catalog.find("tiny").faults()] == [code]


def test_swapped_files_are_both_named(store):
    one, other = store / "tiny" / "prosody.onnx", store / "tiny" / "decoder.onnx"
    one.rename(store / "tiny" / "swap")
    other.rename(one)
    (store / "tiny" / "swap").rename(other)
    names = " ".join(str(fault) for fault in catalog.find("tiny").faults())
    assert "prosody.onnx" in names
    assert "decoder.onnx" in names


@pytest.mark.skipif(os.geteuid() != 0, reason="only root must distrust files others may write")
def test_root_refuses_files_that_everybody_may_write(store):
    (store / "tiny" / "encoder.onnx").chmod(0o666)
    with pytest.raises(ModelError, match="chmod o-w") as error:
        catalog.load("tiny")
    assert error.value.code == "model.unsafe_file"


def edit(key, value):
    def change(document):
        document[key] = value

    return change


def edit_part(key, value):
    def change(document):
        document["parts"][0][key] = value

    return change


def edit_voice(key, value):
    def change(document):
        document["voice"][key] = value

    return change


MANIFEST_DAMAGE = [
    ("unknown key", edit("colour", "red"), "colour"),
    ("unknown part key", edit_part("url", "http://x"), "url"),
    ("missing part key", lambda d: d["parts"][0].pop("sha256"), "sha256"),
    ("missing gate", lambda d: d.pop("gate"), "gate"),
    ("newer format", edit("format", 99), "99"),
    ("no parts", edit("parts", []), "parts"),
    ("parts of another type", edit("parts", "encoder.onnx"), "parts"),
    ("the same part twice", lambda d: d["parts"].append(d["parts"][0]), "same name"),
    ("parent directory", edit_part("file", "../../etc/passwd"), "plain file name"),
    ("absolute path", edit_part("file", "/etc/passwd"), "plain file name"),
    ("hidden file", edit_part("file", ".bashrc"), "plain file name"),
    ("line break in a name", edit_part("file", "a.onnx\nb"), "plain file name"),
    ("not a hash", edit_part("sha256", "abc"), "sha256"),
    ("negative size", edit_part("size_bytes", -1), "size_bytes"),
    ("size as a text", edit_part("size_bytes", "12"), "size_bytes"),
    ("shapes as a text", edit_part("inputs", "tokens"), "inputs"),
    ("shape of floats", edit_part("inputs", {"tokens": [1.5]}), "shape"),
    ("unknown language", edit_voice("languages", ["xx", "en"]), "xx"),
    ("default speaker unknown", edit_voice("default_speakers", ["a", "b"]), "default_speakers"),
    ("name as a number", edit_voice("name", 7), "name"),
]


@pytest.mark.parametrize(
    ("kind", "change", "word"), MANIFEST_DAMAGE, ids=[damage[0] for damage in MANIFEST_DAMAGE]
)
def test_a_foreign_manifest_is_refused_with_the_reason(store, kind, change, word):
    path = store / "tiny" / FILE_NAME
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(ModelError, match=word) as error:
        catalog.load("tiny")
    assert error.value.code == "model.manifest_invalid"
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"- a list", b"a: [", b"\xff\xfe", b"!!python/object:os.system {}", b"#" * 70_000],
    ids=["empty", "list", "not YAML", "not UTF-8", "Python object", "too long"],
)
def test_a_manifest_that_is_something_else_is_refused(store, content):
    (store / "tiny" / FILE_NAME).write_bytes(content)
    with pytest.raises(ModelError) as error:
        catalog.find("tiny")
    assert error.value.code == "model.manifest_invalid"


def test_a_family_of_a_later_version_is_refused(store):
    path = store / "tiny" / FILE_NAME
    path.write_text(path.read_text().replace("family: kokoro", "family: later"), encoding="utf-8")
    with pytest.raises(ModelError, match="later"):
        catalog.load("tiny")


def test_listing_skips_a_broken_voice_and_keeps_the_others(store, caplog):
    shutil.copytree(store / "tiny", store / "broken")
    (store / "broken" / FILE_NAME).write_text("nonsense", encoding="utf-8")
    assert [voice.name for voice in catalog.installed()] == ["tiny"]
    assert "broken" in caplog.text


def test_an_absent_voice_gets_the_nearest_name_or_the_command(store):
    with pytest.raises(ModelError, match="did you mean 'tiny'") as error:
        catalog.find("tinny")
    assert error.value.code == "model.not_installed"
    with pytest.raises(ModelError, match="voices install kokoro"):
        catalog.find("kokoro")


def test_a_manifest_survives_writing_and_reading(store):
    from edge_tts.voices import manifest

    read = VoiceDirectory.read(store / "tiny").manifest
    assert manifest.parse(manifest.render(read), store) == read
