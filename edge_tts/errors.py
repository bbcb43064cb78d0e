"""The error tree: one class per room, one stable code per cause.

The code is what scripts, protocol peers and log filters match on; the message is for people and
says what to do next. `CODES` is the single list of codes; `docs/errors.md` is held to it by a test.
"""

from __future__ import annotations

from typing import Dict, Optional

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_MODEL = 4
EXIT_AUDIO = 5
EXIT_BUSY = 6
EXIT_NO_SERVICE = 7
EXIT_INTERRUPTED = 130

CODES: Dict[str, str] = {
    "internal": "a fault in edge_tts itself",
    "input.invalid": "the request cannot be spoken as it stands",
    "input.encoding": "the text is not valid UTF-8",
    "usage.invalid": "the command line cannot be understood",
    "usage.unknown_command": "there is no such command",
    "input.ssml_invalid": "the text is not SSML that can be spoken",
    "input.batch_invalid": "a batch file or one of its lines cannot be read",
    "input.unknown_tag": "a tag in the text is not one that is obeyed",
    "input.unsplittable": "a single word is longer than the voice can speak in one go",
    "config.invalid": "a configuration value is unusable",
    "config.unreadable": "a configuration file is missing, too large or not YAML",
    "config.unsafe": "a configuration file may be changed by other users",
    "config.unknown_key": "there is no such configuration key",
    "config.wrong_type": "a configuration value is of the wrong type",
    "config.out_of_range": "a configuration value is outside its range",
    "input.segment_too_long": "a segment has more phonemes than the voice can speak at once",
    "input.unknown_symbol": "the voice has no symbol for a phoneme",
    "input.unusable_recording": "a recording cannot serve as a speaker's example",
    "input.unknown_preset": "there is no preset of this name",
    "model.invalid": "a voice or one of its files is unusable",
    "model.not_installed": "no voice of this name is installed",
    "model.manifest_invalid": "a voice's voice.yaml is missing, malformed or of another version",
    "model.file_missing": "a file of the voice is missing",
    "model.file_truncated": "a file of the voice is shorter or longer than it must be",
    "model.file_damaged": "a file of the voice does not have the contents it must have",
    "model.not_a_model": "a file of the voice is a web page or a pointer instead of a model",
    "model.unsafe_file": "a file of the voice may be changed by other users, or is a link",
    "model.source_wrong": "the files to install a voice from are missing or are not this voice",
    "model.download_failed": "the voice's packages could not be fetched",
    "model.gate_failed": "the prepared voice does not sound like its source and was discarded",
    "model.checkpoint_invalid": "a file of a checkpoint does not hold what it must hold",
    "model.checkpoint_unsafe": "a file of a checkpoint would run code when unpacked",
    "model.checkpoint_unsupported": "this checkpoint's architecture cannot be built",
    "model.preset_missing": "the voice was installed without the files this preset needs",
    "model.unwritable": "the voice directory cannot be written",
    "model.busy": "another process is installing or removing voices",
    "engine.failed": "an inference engine could not be opened or run",
    "engine.load_failed": "the runtime refuses a model part",
    "engine.library_missing": "a library that this kind of voice needs is not installed",
    "engine.run_failed": "a model part failed while running",
    "engine.closed": "an engine was used after it had been closed",
    "engine.output_invalid": "a model yielded values that cannot be speech",
    "engine.implausible_speech": "a voice yielded sound that cannot be the text, twice",
    "engine.graph_unsupported": "a graph holds what the TensorRT parser cannot take",
    "engine.build_failed": "TensorRT could not build an engine",
    "engine.manifest_invalid": "the record beside a TensorRT engine is missing or malformed",
    "engine.plan_rejected": "a TensorRT engine did not pass its comparison with the reference",
    "engine.plan_foreign": "a TensorRT engine was built for another board or TensorRT version",
    "engine.plan_stale": "a TensorRT engine was built from another version of the voice",
    "engine.plan_missing": "the file of a TensorRT engine is missing or unsafe",
    "engine.plan_truncated": "the file of a TensorRT engine has another length than it must have",
    "engine.plan_damaged": "the file of a TensorRT engine has other contents than it must have",
    "engine.tensorrt_missing": "TensorRT cannot be imported, or is older than 8.5",
    "engine.device_missing": "there is no CUDA device, or no way to reach it",
    "engine.out_of_memory": "the GPU's memory is exhausted or fragmented",
    "engine.device_lost": "the GPU has failed and nothing on it can be relied on",
    "engine.shape_unsupported": "a TensorRT engine was not built for an input of this size",
    "audio.failed": "sound could not be played or written",
    "audio.not_finite": "a voice yielded samples that are not sound",
    "audio.disk_full": "there is no space left for the sound file",
    "audio.unwritable": "the sound file cannot be written",
    "audio.encoder_missing": "the library for this compressed format is not installed",
    "audio.closed_pipe": "the reader of stdout or of a pipe has gone",
    "audio.no_portaudio": "the system library PortAudio is not installed",
    "audio.no_device": "there is no sound device, or it cannot be opened",
    "audio.unknown_device": "no sound device has this name",
    "audio.ambiguous_device": "several sound devices have this name",
    "audio.device_busy": "another program uses the sound device",
    "audio.rate_unsupported": "the sound device or file does not take this sample rate",
    "audio.device_lost": "the sound device went away or stopped answering",
    "audio.hung": "the sound system hangs again and again; only a new process can use it",
    "budget.exceeded": "the memory budget leaves no room for this work",
    "service.failed": "the announcer service could not do this",
    "service.bad_frame": "the bytes received are not a protocol frame",
    "service.frame_too_large": "a part of a protocol frame exceeds its limit",
    "service.bad_request": "a request's fields are missing, of the wrong type or out of range",
    "service.too_many_connections": "the service has as many clients as it may have",
    "service.too_many_requests": "a connection has as many live requests as it may have",
    "service.idle_timeout": "a connection was silent for too long and is closed",
    "service.slow_reader": "a client does not read what the service sends it",
    "service.duplicate_id": "the utterance id is already in use",
    "service.unknown_session": "no session of this name is open",
    "service.not_running": "no service answers on the socket",
    "service.already_running": "another service answers on the socket",
    "service.unauthorized": "a request came without the token that it needs",
    "service.host_refused": "an HTTP request came under a foreign name or from a foreign page",
    "service.body_too_large": "the body of an HTTP request exceeds its limit",
    "service.deadline": "an HTTP request took longer than it may",
    "service.no_such_page": "there is nothing at this HTTP address",
    "service.library_missing": "the packages of the extra http are not installed",
    "service.stopping": "the service is shutting down",
    "service.worker_lost": "the worker process died or stopped making progress",
    "budget.queue_full": "the queue of this priority is full",
    "budget.session_full": "the session has as much queued as it may have",
    "budget.busy": "the service is short of memory and takes no new work",
    "input.unknown_speaker": "the voice has no speaker of this name",
    "input.unknown_language": "no language of this tag is spoken",
    "input.unknown_voice": "the service speaks with another voice",
    "input.text_too_long": "the text exceeds the limit of one request",
    "prompt.invalid": "a stored prompt is damaged or of another version",
}


class EdgeTTSError(Exception):
    """Base of every error this package raises on purpose.

    `code` is stable across releases and listed in `CODES`.
    """

    default_code = "internal"
    exit_code = 1

    def __init__(self, message: str, *, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        if self.code not in CODES:
            raise ValueError(f"error code {self.code!r} is not listed in edge_tts.errors.CODES")


class InputError(EdgeTTSError):
    """The text or an option of the request is unusable."""

    default_code = "input.invalid"
    exit_code = EXIT_INPUT


class ConfigError(EdgeTTSError):
    """A configuration file, variable or flag is unusable."""

    default_code = "config.invalid"
    exit_code = EXIT_USAGE


class ModelError(EdgeTTSError):
    """A voice directory or checkpoint is missing, damaged or foreign."""

    default_code = "model.invalid"
    exit_code = EXIT_MODEL


class EngineError(EdgeTTSError):
    """An inference engine refused to load or run."""

    default_code = "engine.failed"
    exit_code = EXIT_MODEL


class AudioError(EdgeTTSError):
    """A sound device or an audio file could not be used."""

    default_code = "audio.failed"
    exit_code = EXIT_AUDIO


class BudgetError(EdgeTTSError):
    """The work would exceed a memory or queue budget; try again later."""

    default_code = "budget.exceeded"
    exit_code = EXIT_BUSY


class ServiceError(EdgeTTSError):
    """The announcer service is absent or could not do what was asked."""

    default_code = "service.failed"
    exit_code = EXIT_NO_SERVICE
