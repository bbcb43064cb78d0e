"""The HTTP side on a loopback port, beside a front on the tone source, in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVICE = ROOT / "tests/service"
sys.path[:0] = [str(SERVICE), str(Path(__file__).resolve().parent)]


@pytest.fixture(autouse=True, scope="module")
def _importable_sources() -> Iterator[None]:
    """For the worker processes that the tests start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{SERVICE}:{ROOT}", prepend=":")
        yield


@pytest.fixture(scope="module")
def service(tmp_path_factory: Any, _importable_sources: None) -> Iterator[Any]:
    """A front on the tone source, shared by a module's tests."""
    yield from _service(tmp_path_factory)


@pytest.fixture(scope="module")
def slow_service(tmp_path_factory: Any, _importable_sources: None) -> Iterator[Any]:
    """The same, twice as fast as speech is heard."""
    yield from _service(tmp_path_factory, "0.05")


def _service(tmp_path_factory: Any, *options: str) -> Iterator[Any]:
    from running import running

    from edge_tts.service.supervisor import WorkerPolicy

    folder = tmp_path_factory.mktemp("service")
    # The policy of a real service: on a busy machine a worker may be mute for seconds.
    with running(folder, options=list(options), worker=WorkerPolicy()) as front:
        front.wait_ready()
        yield front


@pytest.fixture
def http_side(service: Any) -> Iterator[Any]:
    from http_side import HttpSide

    with HttpSide(service.path) as side:
        yield side


@pytest.fixture
def client(http_side: Any) -> Iterator[Any]:
    with http_side.client() as found:
        yield found
