"""Have the voice say what it was never trained on, along the path that users take.

    python -m edge_tts.build.lite_voice.evaluate DATA RUN [--sentences N]

Writes RUN/checkpoint, builds RUN/voices/lite_xiaobei from it as `edge-tts build` does, and speaks
held-out sentences into RUN/samples/voice. Beside them lie `teacher` and `codec`, the teacher's own
codes through EnCodec, which show what of an error is the language model's. A judge finds what
should be heard in RUN/samples/sentences.tsv (id, lang, text, spoken).
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import List

import numpy as np
import torch

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.sink import WavSink
from edge_tts.build.lite.prepare import build
from edge_tts.build.lite_voice.checkpoint import write_checkpoint
from edge_tts.build.lite_voice.recordings import Coded
from edge_tts.build.lite_voice.teacher import SAMPLE_RATE_HZ, SPEAKER
from edge_tts.build.lite_voice.train import CODEC, LANGUAGE_MODEL, Run
from edge_tts.errors import EngineError
from edge_tts.text.frontend import FrontEnd
from edge_tts.voices.lite.voice import LiteVoice
from edge_tts.voices.manifest import VoiceDirectory

log = logging.getLogger(__name__)

VOICE = "lite_xiaobei"
KINDS = ("teacher", "codec", "voice")
DEFAULT_SENTENCES = 8


def evaluate(run: Run, n_sentences: int) -> None:
    """Build the voice and write the samples."""
    held_out = [each for each in run.sentences if each.recording.is_held_out][:n_sentences]
    samples = run.folder / "samples"
    for kind in KINDS:
        (samples / kind).mkdir(parents=True, exist_ok=True)
    write_list(held_out, samples / "sentences.tsv")
    voice = built_voice(run)
    decoder = run.trainer(CODEC).average
    for each in held_out:
        name = f"{each.recording.name}.wav"
        latents = torch.from_numpy(run.quantiser.latents(each.codes).T.copy())[None]
        with torch.no_grad():
            resynthesis = decoder(latents).ravel().numpy()
        write_wav(each.recording.audio, samples / "teacher" / name)
        write_wav(resynthesis, samples / "codec" / name)
        write_wav(spoken(voice, each.recording.text), samples / "voice" / name)
    voice.close()


def built_voice(run: Run) -> LiteVoice:
    """The voice of the run as it stands, written, built and loaded again."""
    folder = run.folder / "checkpoint"
    write_checkpoint(
        folder,
        run.trainer(LANGUAGE_MODEL).average,
        run.trainer(CODEC).average,
        run.quantiser,
        run.vocabulary,
    )
    voice = run.folder / "voices" / VOICE
    build(folder, voice, log.info)
    return LiteVoice.load(VoiceDirectory.read(voice))


def spoken(voice: LiteVoice, text: str) -> "np.ndarray":
    """What the voice makes of a text; what was heard before it went astray, where it does."""
    pieces: List[np.ndarray] = [np.zeros(1, np.float32)]
    try:
        for segment in FrontEnd(None, voice.measure, voice.segment_limit).segments(text):
            for piece in voice.synthesize(segment, SPEAKER, 1.0):
                pieces.append(piece)
    except EngineError as error:
        log.warning("%s: %s", text, error)
    return np.concatenate(pieces)


def write_list(sentences: List[Coded], path: Path) -> None:
    """The sentences, as `bench/sentences.tsv` has them."""
    rows = [("id", "lang", "text", "spoken")]
    for each in sentences:
        rows.append((each.recording.name, "zh", each.recording.text, each.recording.text))
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def write_wav(samples: "np.ndarray", path: Path) -> None:
    """16 bit mono WAV."""
    with WavSink(path, SAMPLE_RATE_HZ) as sink:
        sink.write(AudioChunk(samples, SAMPLE_RATE_HZ, 0, 0, True))


def main() -> int:
    parser = argparse.ArgumentParser(description="Speak held-out sentences with a run's voice.")
    parser.add_argument("data", type=Path, help="folder of the teacher's sentences")
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("--sentences", type=int, default=DEFAULT_SENTENCES)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    evaluate(Run.open(arguments.data, arguments.run), arguments.sentences)
    return 0


if __name__ == "__main__":
    sys.exit(main())
