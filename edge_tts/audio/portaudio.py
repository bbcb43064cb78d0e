"""PortAudio, reached through python-sounddevice, from one thread only.

PortAudio's calls are not thread-safe and some can hang in a driver, so all of them run on one
owner thread and the caller waits for a bounded time. A call that hangs costs its thread, not the
process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Callable, Iterator, List, Optional, Tuple, TypeVar

from edge_tts.errors import AudioError

CALL_TIMEOUT_S = 10.0
_MAX_QUEUED = 16
_MAX_HUNG = 3

_UNANTICIPATED_HOST_ERROR = -9999
_FORMAT_REFUSALS = (-9998, -9997)  # invalid channel count, invalid sample rate
_DEVICE_UNAVAILABLE = -9985
_HOST_BUSY = (-16, -11)  # EBUSY, EAGAIN as ALSA reports them

_Result = TypeVar("_Result")


class _Owner:
    """One daemon thread that runs PortAudio calls in order."""

    def __init__(self) -> None:
        self._calls: "queue.Queue[Tuple[Future[Any], Callable[[], Any]]]" = queue.Queue(_MAX_QUEUED)
        threading.Thread(target=self._run, name="portaudio", daemon=True).start()

    def submit(self, function: Callable[[], _Result]) -> "Future[_Result]":
        future: "Future[_Result]" = Future()
        try:
            self._calls.put_nowait((future, function))
        except queue.Full:
            future.set_exception(_hung(0.0))
        return future

    def _run(self) -> None:
        while True:
            future, function = self._calls.get()
            try:
                future.set_result(function())
            except Exception as error:  # noqa: BLE001 - handed to the waiting caller as it is
                future.set_exception(error)
            del future, function


class _Library:
    """The process's one PortAudio: its owner thread, and how many streams it has open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: Optional[_Owner] = None
        self._n_hung = 0
        self.n_streams = 0
        self.is_fresh = True
        self.alsa_handler: Any = None

    def owner(self) -> _Owner:
        with self._lock:
            if self._n_hung >= _MAX_HUNG:
                raise AudioError(
                    "the sound system has hung repeatedly; restart this process",
                    code="audio.hung",
                )
            if self._owner is None:
                self._owner = _Owner()
            return self._owner

    def abandon(self, owner: _Owner) -> None:
        with self._lock:
            if self._owner is owner:
                self._owner = None
                self._n_hung += 1


_library = _Library()


def call(function: Callable[[], _Result], timeout_s: float = CALL_TIMEOUT_S) -> _Result:
    """Run `function` on the owner thread and return its result.

    Raises AudioError `audio.device_lost` when it does not return in time.
    """
    owner = _library.owner()
    future = owner.submit(function)
    try:
        return future.result(timeout=timeout_s)
    except FutureTimeoutError:
        _library.abandon(owner)
        raise _hung(timeout_s) from None


def library() -> Any:
    """The `sounddevice` module. AudioError `audio.no_portaudio` where it cannot be loaded.

    Call on the owner thread: the first import initialises PortAudio.
    """
    try:
        with quiet_stderr():
            import sounddevice

            if _library.alsa_handler is None:
                _library.alsa_handler = _quiet_alsa()
    except (ImportError, OSError) as error:
        raise AudioError(
            "the sound library PortAudio is missing; install it with "
            "'sudo apt-get install libportaudio2', or write a file with -o FILE.wav",
            code="audio.no_portaudio",
        ) from error
    return sounddevice


def refresh() -> None:
    """Let PortAudio look for devices again; without effect while a stream is open.

    PortAudio freezes its device list when it is initialised. Call on the owner thread.
    """
    sounddevice = library()
    if _library.n_streams or _library.is_fresh:
        _library.is_fresh = False
        return
    with quiet_stderr():
        # python-sounddevice offers no public way to do this.
        sounddevice._terminate()
        sounddevice._initialize()


def high_latency_s(device_index: int) -> float:
    """The device's own idea of a safe latency. Call on the owner thread."""
    return float(library().query_devices(device_index)["default_high_output_latency"])


def open_stream(**settings: Any) -> Any:
    """Open a `RawOutputStream`. Call on the owner thread."""
    with quiet_stderr():
        stream = library().RawOutputStream(**settings)
    _library.n_streams += 1
    return stream


def close_stream(stream: Any) -> None:
    """Drop what the device still holds and close. Call on the owner thread."""
    # Stopping waits for the device and can hang after an unplug; aborting does not wait.
    with quiet_stderr():
        stream.abort(ignore_errors=True)
        stream.close(ignore_errors=True)
    _library.n_streams -= 1


def is_format_refusal(error: Exception) -> bool:
    """True if a stream did not open because of its rate or number of channels."""
    return _error_number(error) in _FORMAT_REFUSALS


def explained(error: Exception, device_name: str) -> AudioError:
    """The AudioError for a stream on `device_name` that PortAudio would not open or start."""
    number = _error_number(error)
    host = error.args[2] if len(error.args) > 2 else None
    is_busy = number == _DEVICE_UNAVAILABLE
    if number == _UNANTICIPATED_HOST_ERROR and isinstance(host, tuple):
        is_busy = len(host) > 1 and host[1] in _HOST_BUSY
    if is_busy:
        return AudioError(
            f"the sound device {device_name!r} is in use by another program; stop that program, "
            "or choose another device ('edge-tts devices')",
            code="audio.device_busy",
        )
    if number in _FORMAT_REFUSALS:
        return AudioError(
            f"the sound device {device_name!r} takes none of the usual rates; choose another "
            "device ('edge-tts devices')",
            code="audio.rate_unsupported",
        )
    reasons: List[str] = [str(error.args[0]) if error.args else str(error)]
    if isinstance(host, tuple) and len(host) > 2:
        reasons.append(str(host[2]).strip())
    return AudioError(
        f"the sound device {device_name!r} cannot be opened ({'; '.join(reasons)}); check that it "
        "is connected and that its sound server runs ('edge-tts devices')",
        code="audio.no_device",
    )


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Keep ALSA's and PortAudio's own messages off stderr: they bypass Python and mislead."""
    try:
        saved = os.dup(2)
    except OSError:  # stderr is closed: there is nothing to keep quiet
        yield
        return
    silent = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(silent, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(silent)


def _quiet_alsa() -> Any:
    """Take ALSA's error messages while streams run; its errors reach us as codes anyway.

    Returns the handler, which must outlive PortAudio.
    """
    handler_type = ctypes.CFUNCTYPE(
        None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p
    )
    handler = handler_type(lambda *_message: None)
    # Without ALSA (not Linux) there is nothing to quieten.
    with contextlib.suppress(OSError):
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(handler)
    return handler


def _error_number(error: Exception) -> Optional[int]:
    """PortAudio's number for an error of python-sounddevice, if it carries one."""
    return error.args[1] if len(error.args) > 1 and isinstance(error.args[1], int) else None


def _hung(timeout_s: float) -> AudioError:
    return AudioError(
        f"the sound system did not answer within {timeout_s:g} s; check the device and its driver",
        code="audio.device_lost",
    )
