"""The lite voice's codes, networks and checkpoints, on tones; needs what trains it."""

import dataclasses
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from edge_tts.build.lite_voice import evaluate, language_model, page  # noqa: E402
from edge_tts.build.lite_voice.codes import (  # noqa: E402
    CODEBOOK_SIZE,
    N_CODEBOOKS,
    Quantiser,
    log_mel_frames,
)
from edge_tts.build.lite_voice.corpus import is_held_out, sentences  # noqa: E402
from edge_tts.build.lite_voice.language_model import IGNORED, LAYOUT, interleaved  # noqa: E402
from edge_tts.build.lite_voice.train import CODEC, LANGUAGE_MODEL, Run  # noqa: E402
from edge_tts.build.lite_voice.training import Limits, train  # noqa: E402
from edge_tts.voices.lite.interleaving import frames  # noqa: E402
from edge_tts.voices.lite.sampling import Sampler  # noqa: E402
from edge_tts.voices.lite.settings import Sampling  # noqa: E402

GREEDY = Sampling(True, 1.0, 0, 1.0, 1.0, 0, 1.0)


@pytest.fixture(autouse=True)
def one_thread():
    """Networks this small lose more by waiting for each other's threads than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A teacher's folder: texts of the corpus, two of them held out, and one tone per character."""
    folder = tmp_path_factory.mktemp("data")
    texts = sentences()[:400]
    held_out = [text for text in texts if is_held_out(text)][:2]
    for n, text in enumerate([*texts[:10], *held_out]):
        tones = [_tone(200 + 10 * (ord(character) % 97)) for character in text]
        np.savez(folder / f"{n:05d}.npz", audio=np.concatenate(tones).astype(np.float16), text=text)
    return folder


@pytest.fixture
def run(data, tmp_path):
    return Run.open(data, tmp_path / "run")


def _tone(hz):
    at = np.arange(3600) / 24_000
    return sum(np.sin(2 * np.pi * k * hz * at) / k for k in range(1, 6)) * 0.2


def test_each_codebook_brings_the_latents_nearer(run):
    audio = run.sentences[0].recording.audio
    wanted = (log_mel_frames(audio) - run.quantiser.mean) @ run.quantiser.basis
    errors = []
    for n in range(1, N_CODEBOOKS + 1):
        fewer = dataclasses.replace(run.quantiser, codebooks=run.quantiser.codebooks[:n])
        errors.append(np.square(wanted - fewer.latents(fewer.encode(audio))).mean())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.1 * np.square(wanted).mean()


def test_a_run_keeps_its_quantiser_and_vocabulary(run, data):
    again = Run.open(data, run.folder)
    assert np.array_equal(again.quantiser.codebooks, run.quantiser.codebooks)
    assert isinstance(again.quantiser, Quantiser)
    text = run.sentences[0].recording.text
    assert again.vocabulary.encode(text) == run.vocabulary.encode(text)


def test_training_sees_the_positions_that_the_run_time_draws():
    n_text = 50
    codes = np.random.default_rng(0).integers(CODEBOOK_SIZE, size=(9, N_CODEBOOKS))
    ids, targets = interleaved(codes, n_text)
    seen = []

    def step(rows):
        scores = np.zeros(LAYOUT.stop_id + 1, np.float32)
        for codebook, target in enumerate(targets[len(seen)]):
            if codebook == 0 and target == CODEBOOK_SIZE:
                scores[LAYOUT.stop_id] = 1
            elif target != IGNORED:
                scores[LAYOUT.row(codebook, target)] = 1
        seen.append([n_text + row if row < LAYOUT.start_row else 0 for row in rows])
        return scores

    sampler = Sampler(GREEDY, LAYOUT, lambda: 0.0)
    drawn = list(frames(LAYOUT, step, sampler, 1, 100))
    assert np.array_equal(drawn, codes)
    assert np.array_equal(seen, ids)


@pytest.mark.parametrize("network", [CODEC, LANGUAGE_MODEL])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(run, data, tmp_path, network):
    train(run.trainer(network), Limits(steps=2, report_every=2))
    train(run.trainer(network), Limits(steps=4, report_every=2))
    whole = Run.open(data, tmp_path / "whole").trainer(network)
    train(whole, Limits(steps=4, report_every=2))
    resumed = run.trainer(network)
    assert resumed.step == whole.step == 4
    pairs = zip(resumed.average.parameters(), whole.average.parameters())
    assert all(torch.equal(got, wanted) for got, wanted in pairs)
    lines = (run.folder / f"{network}.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["step"] for line in lines] == [2, 4]


def test_a_call_ends_after_its_minutes_with_a_checkpoint(run):
    train(run.trainer(CODEC), Limits(steps=1000, minutes=0.0))
    assert run.trainer(CODEC).step == 1


def test_the_end_and_each_codebook_are_learnt(run):
    task = run.trainer(LANGUAGE_MODEL).task
    batch = task.batch(run.sentences[:2])
    wanted = batch.targets
    scores = torch.zeros(*wanted.shape[:2], task.network.config.vocab_size)
    for codebook, first in enumerate(language_model.offsets(run.vocabulary.size)):
        known = (wanted[..., codebook] != IGNORED) & (wanted[..., codebook] < CODEBOOK_SIZE)
        row, position = known.nonzero(as_tuple=True)
        scores[row, position, first + wanted[..., codebook][known]] = 30.0
    row, position = (wanted[..., 0] == CODEBOOK_SIZE).nonzero(as_tuple=True)
    assert len(row) == 2
    scores[row, position, 1] = 30.0
    loss, hits = task.errors(scores, wanted)
    assert float(loss) < 1e-6
    assert hits == 1.0


def test_the_run_becomes_a_voice_that_sounds_as_it_was_trained(run):
    pytest.importorskip("matplotlib")
    for network in (CODEC, LANGUAGE_MODEL):
        train(run.trainer(network), Limits(steps=1))
    evaluate.evaluate(run, 1)
    (name,) = [each.recording.name for each in run.sentences if each.recording.is_held_out][:1]
    samples = run.folder / "samples"
    assert {path.parent.name for path in samples.glob(f"*/{name}.wav")} == set(evaluate.KINDS)
    voice = evaluate.built_voice(run)
    codes = run.sentences[0].codes[:20]
    stream = voice._stages.codec.stream()
    ours = np.concatenate([stream.decode(codes[:9]), stream.decode(codes[9:])])
    latents = torch.from_numpy(run.quantiser.latents(codes).T.copy())[None]
    with torch.no_grad():
        theirs = run.trainer(CODEC).average(latents).ravel().numpy()
    voice.close()
    assert np.abs(ours - theirs).max() < 1e-4 * max(1.0, np.abs(theirs).max())
    assert name in page.write_page(run.folder).read_text(encoding="utf-8")
