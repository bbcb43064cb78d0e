"""The fit finds a map again, reads what the teacher wrote and writes what the run time reads."""

import numpy as np
import pytest

from edge_tts.build.fast_voice.corpus import Line, build
from edge_tts.build.fast_voice.teacher import Rendering, utterances, write
from edge_tts.build.kokoro.fit_statistics import GROUPS, Examples, errors, fit, read, save
from edge_tts.text.g2p.vocabulary import symbol_ids
from edge_tts.text.tokens import Language
from edge_tts.voices.kokoro.generator import Acoustics
from edge_tts.voices.kokoro.statistics import StatisticsModel, describe

CHANNELS = np.array([3, 5])
N_CHANNELS = 8


def acoustics(seed, n_frames=60):
    random = np.random.default_rng(seed)
    return Acoustics(
        features=random.standard_normal((1, 512, n_frames)).astype(np.float16).astype(np.float32),
        f0_hz=random.uniform(80, 300, n_frames).astype(np.float32),
        energy=random.uniform(-10, 10, n_frames).astype(np.float32),
        style=random.standard_normal((1, 256)).astype(np.float32),
    )


def linear_examples(n, noise=0.0, seed=0):
    """Descriptions and statistics that both follow from four hidden quantities."""
    random, fixed = np.random.default_rng(seed), np.random.default_rng(1)
    hidden = random.standard_normal((n, 4))
    described = hidden @ fixed.standard_normal((4, sum(GROUPS)))
    values = hidden @ fixed.standard_normal((4, 2 * N_CHANNELS)) + 0.5
    values += noise * random.standard_normal(values.shape)
    return Examples(described, values, np.array(["af_heart"] * n), np.arange(n), CHANNELS)


def test_a_linear_map_is_learnt():
    model = fit(linear_examples(60), rank=4, penalty=1.0)
    unseen = linear_examples(20, seed=9)
    assert errors(model, unseen).max() < 0.1
    assert np.abs(unseen.values - model.offset).mean() > 0.5


def test_the_penalty_is_chosen_by_what_was_left_out():
    noisy = linear_examples(60, noise=3.0)
    chosen, lax = fit(noisy), fit(noisy, penalty=1e-6)
    assert np.abs(chosen.projection).sum() < np.abs(lax.projection).sum()


def test_the_same_data_give_the_same_file(tmp_path):
    for name in ("a.npz", "b.npz"):
        save(fit(linear_examples(40), rank=4), tmp_path / name)
    first, second = (StatisticsModel.read(tmp_path / name) for name in ("a.npz", "b.npz"))
    assert np.array_equal(first.basis, second.basis)
    assert np.array_equal(first.projection, second.projection)


def test_what_the_teacher_writes_is_fitted_and_predicted(tmp_path):
    random = np.random.default_rng(2)
    variances = random.uniform(0.5, 2, (30, N_CHANNELS)).astype(np.float32)
    for number in range(30):
        line = Line(f"{number:04d}-af_heart", "af_heart", Language.EN, "Hello.", 1.0)
        statistics = np.stack([variances[number] * 2, variances[number]])
        rendering = Rendering(np.zeros(60 * 300, np.float32), statistics, CHANNELS)
        write(tmp_path / f"{line.name}-0.npz", acoustics(number), rendering, line)
    examples = read(tmp_path)
    assert np.allclose(examples.described[7], describe(acoustics(7)), atol=1e-6)
    path = tmp_path / "map.npz"
    save(fit(examples, rank=8, penalty=1e-3), path)
    means, found = StatisticsModel.read(path).predict(acoustics(11))[:, :, 0]
    assert np.allclose(found, variances[11], rtol=0.15)
    assert np.allclose(means, 2 * variances[11], rtol=0.15)


def test_an_empty_folder_names_the_command(tmp_path):
    with pytest.raises(ValueError, match=r"fast_voice\.teacher"):
        read(tmp_path)


def test_the_teachers_utterances_are_pronounced_and_named_once():
    found = list(utterances(1))
    names = [name for name, _, _ in found]
    assert len(set(names)) == len(names) >= len(build(1))
    assert all(set(phonemes) <= set(symbol_ids()) for _, phonemes, _ in found)
    assert {line.name for _, _, line in found} == {line.name for line in build(1)}
