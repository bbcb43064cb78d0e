"""`edge-tts http`: a client of the running service, checked before it serves."""

from __future__ import annotations

import argparse
import socket
from pathlib import Path

import pytest

from edge_tts.cli import http
from edge_tts.errors import ConfigError, ServiceError


def invoke(folder: Path, *arguments: str) -> int:
    config = folder / "config.yaml"
    config.write_text(f"service:\n  socket: {folder / 's.sock'}\n")
    config.chmod(0o600)
    parser = argparse.ArgumentParser()
    http.add_parser(parser.add_subparsers())
    args = parser.parse_args(["http", *arguments])
    args.config = str(config)
    return http.run(args)


def test_an_address_that_cannot_be_had_is_explained(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        with pytest.raises(ConfigError, match=r"set http\.listen to another address"):
            invoke(tmp_path, "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    for wrong in ("8765", "localhost:x", ":1", "localhost:70000"):
        with pytest.raises(ConfigError, match="HOST:PORT"):
            invoke(tmp_path, "--listen", wrong)
    with pytest.raises(ConfigError, match="token_file") as caught:
        invoke(tmp_path, "--listen", "0.0.0.0:0")
    assert caught.value.code == "config.unsafe"


def test_without_its_packages_it_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge_tts.http.access.PACKAGES", ("no_such_package",))
    with pytest.raises(ServiceError, match="no_such_package") as caught:
        invoke(tmp_path)
    assert caught.value.code == "service.library_missing"
