"""Where the service listens: addresses, TCP, and who else may be there."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from edge_tts.errors import ConfigError
from edge_tts.service.sockets import (
    default_socket,
    find_socket,
    is_alive,
    listen_tcp,
    listen_unix,
    parse_address,
    removed_at_end,
)


@pytest.mark.parametrize(
    ("address", "parsed"),
    [("127.0.0.1:80", ("127.0.0.1", 80)), ("[::1]:80", ("::1", 80)), ("host:0", ("host", 0))],
)
def test_addresses(address: str, parsed: "tuple[str, int]") -> None:
    assert parse_address(address) == parsed


@pytest.mark.parametrize("address", ["", "host", ":80", "host:", "host:x", "host:70000"])
def test_bad_addresses_are_configuration_errors(address: str) -> None:
    with pytest.raises(ConfigError):
        parse_address(address)


def test_tcp_listens_where_it_is_told_and_says_when_it_cannot() -> None:
    with listen_tcp("127.0.0.1:0") as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with pytest.raises(ConfigError, match=r"service\.tcp"):
            listen_tcp(f"127.0.0.1:{port}")


def test_a_socket_that_cannot_be_bound_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"service\.socket"):
        listen_unix(tmp_path / "file" / "s.sock")


def test_a_socket_in_a_new_folder_can_be_reached_by_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "new" / "s.sock"
    with listen_unix(path):
        assert path.parent.stat().st_mode & 0o700 == 0o700
        assert path.stat().st_mode & 0o777 == 0o660


def test_a_file_in_the_way_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    path.write_text("precious")
    with pytest.raises(ConfigError):
        listen_unix(path)
    assert path.read_text() == "precious"


def test_a_running_service_is_found(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    assert find_socket(path) is None
    with listen_unix(path):
        assert is_alive(path)
        assert find_socket(path) == path
    assert not is_alive(path)


def test_users_have_a_socket_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    assert default_socket() == Path("/run/user/1000/edge-tts/edge-tts.sock")
    monkeypatch.setattr("os.geteuid", lambda: 987654)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/var/tmp")
    assert default_socket() == Path("/var/tmp/edge-tts-987654/edge-tts.sock")


def test_a_unit_listens_in_the_folder_that_systemd_gives_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 987654)
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/edge-tts:/run/other")
    assert default_socket() == Path("/run/edge-tts/edge-tts.sock")


def test_a_folder_among_all_others_must_be_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    folder = tmp_path / f"edge-tts-{os.geteuid()}"
    place = folder / "s.sock"
    with listen_unix(place):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert find_socket(place) == place
        folder.chmod(0o777)  # as if somebody else had made it
        assert find_socket(place) is None
    with pytest.raises(ConfigError) as caught:
        listen_unix(place)
    assert caught.value.code == "config.unsafe"


def test_a_socket_goes_with_its_service_and_a_successors_stays(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with listen_unix(path), removed_at_end(path):
        assert path.exists()
    assert not path.exists()
    with listen_unix(path) as first:
        with removed_at_end(path):
            first.close()
            second = listen_unix(path)
        assert path.exists()
    second.close()
