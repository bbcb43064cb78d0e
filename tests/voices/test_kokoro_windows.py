"""Speech made in windows: nothing lost at the joins, the same every time, bounded, early."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_kokoro import LEVEL, PARTS, write_voice

from edge_tts.errors import EngineError, InputError, ModelError
from edge_tts.speaker import Speaker
from edge_tts.text.tokens import Language, Segment, Span, Token, TokenKind
from edge_tts.voices import catalog
from edge_tts.voices.kokoro import voice as kokoro_voice
from edge_tts.voices.kokoro.generator import Acoustics
from edge_tts.voices.kokoro.silence import speech
from edge_tts.voices.kokoro.source import SAMPLES_PER_FRAME, HarmonicSource
from edge_tts.voices.kokoro.statistics import StatisticsModel, describe
from edge_tts.voices.kokoro.voice import KokoroVoice
from edge_tts.voices.kokoro.windows import (
    CONTEXT_FRAMES,
    SHORTEST_FRAMES,
    WINDOW_FRAMES,
    WindowedGenerator,
    plan,
)
from edge_tts.voices.voice import Preset

MIXER = np.linspace(-0.5, 0.5, 10).astype(np.float32)
SAMPLES_PER_TOKEN = 4 * 600


def acoustics(n_frames, seed=0):
    random = np.random.default_rng(seed)
    return Acoustics(
        features=random.standard_normal((1, 512, n_frames)).astype(np.float32),
        f0_hz=np.where(np.arange(n_frames) % 50 < 35, 180, 0).astype(np.float32),
        energy=np.full(n_frames, 3, np.float32),
        style=random.standard_normal((1, 256)).astype(np.float32),
    )


class TestPlan:
    @given(start=st.integers(0, 500), length=st.integers(1, 2000))
    def test_windows_follow_one_another_from_start_to_end(self, start, length):
        windows = [*plan(start, start + length)]
        assert windows[0][0] == start
        assert windows[-1][1] == start + length
        assert all(left[1] == right[0] for left, right in zip(windows, windows[1:]))

    @given(length=st.integers(1, 2000))
    def test_no_window_is_tiny_or_longer_than_the_longest(self, length):
        sizes = [stop - start for start, stop in plan(0, length)]
        assert max(sizes) < max(WINDOW_FRAMES) + SHORTEST_FRAMES
        assert len(sizes) == 1 or min(sizes) >= SHORTEST_FRAMES

    def test_the_first_window_is_the_smallest(self):
        sizes = [stop - start for start, stop in plan(0, 800)]
        assert sizes[0] == min(sizes)
        assert sizes[: len(WINDOW_FRAMES)] == list(WINDOW_FRAMES)

    def test_no_frames_no_windows(self):
        assert [*plan(5, 5)] == []


class LocalEngine:
    """A generator whose sample depends on the features of nearby frames only."""

    reach = CONTEXT_FRAMES - 1

    def __init__(self):
        self.sizes = []

    def run(self, inputs):
        features = inputs["features"][0, 0]
        assert inputs["harmonics"].shape == (1, 22, 60 * len(features) + 1)
        self.sizes.append(len(features))
        kernel = np.ones(2 * self.reach + 1)
        near = np.convolve(features, kernel, mode="same")
        return {"audio": np.repeat(near, SAMPLES_PER_FRAME).astype(np.float32)}


class NothingKnown:
    def predict(self, _):
        return np.zeros((2, 1, 1), np.float32)


def test_windows_join_to_what_the_whole_would_be():
    whole, windowed = LocalEngine(), LocalEngine()
    utterance = acoustics(400)
    harmonics = HarmonicSource(MIXER).harmonics(utterance.f0_hz)
    expected = whole.run({"features": utterance.features, "harmonics": harmonics})["audio"]
    generator = WindowedGenerator(windowed, HarmonicSource(MIXER), NothingKnown())
    pieces = [*generator.run(utterance)]
    assert np.allclose(np.concatenate(pieces), expected, atol=1e-4)
    assert len(pieces) == len([*plan(0, 400)])
    assert max(windowed.sizes) <= max(WINDOW_FRAMES) + SHORTEST_FRAMES + 2 * CONTEXT_FRAMES


def test_the_first_piece_is_known_after_one_window():
    engine = LocalEngine()
    pieces = WindowedGenerator(engine, HarmonicSource(MIXER), NothingKnown()).run(acoustics(4000))
    assert len(next(pieces)) == WINDOW_FRAMES[0] * SAMPLES_PER_FRAME
    assert engine.sizes == [WINDOW_FRAMES[0] + CONTEXT_FRAMES]


@settings(deadline=None, max_examples=30)
@given(start=st.integers(0, 99), length=st.integers(1, 100))
def test_a_window_of_harmonics_is_cut_from_the_whole(start, length):
    f0_hz = acoustics(200).f0_hz
    source = HarmonicSource(MIXER)
    whole = source.harmonics(f0_hz)[:, :, 60 * start : 60 * (start + length) + 1]
    window = source.track(f0_hz).window(start, start + length)
    assert np.allclose(whole, window, atol=1e-6)


class TestStatistics:
    @pytest.fixture
    def model(self):
        return StatisticsModel.read()

    def test_the_shipped_map_covers_every_channel(self, model):
        n_channels = int(model.channels.sum())
        assert model.basis.shape[1] == 2 * n_channels
        assert np.isfinite(model.basis).all()

    @pytest.mark.parametrize("n_frames", [30, 1200])
    def test_predictions_are_statistics(self, model, n_frames):
        means, variances = model.predict(acoustics(n_frames))
        assert means.shape == variances.shape == (int(model.channels.sum()), 1)
        assert np.isfinite(means).all()
        assert (variances > 0).all()

    def test_absurd_features_are_clipped(self, model):
        loud = acoustics(100)
        loud.features[:] *= 1e4
        assert np.isfinite(model.predict(loud)).all()

    def test_an_unvoiced_utterance_can_be_described(self):
        whisper = acoustics(100)
        whisper.f0_hz[:] = 0
        assert np.isfinite(describe(whisper)).all()

    def test_a_damaged_file_is_named(self, tmp_path):
        path = tmp_path / "statistics.npz"
        path.write_bytes(b"PK not an archive")
        with pytest.raises(ModelError, match=r"statistics\.npz") as error:
            StatisticsModel.read(path)
        assert error.value.code == "model.file_damaged"


def segment(phonemes):
    span = Span(0, 1)
    return Segment(0, (Token("x", TokenKind.WORD, Language.EN, span, phonemes),), span, 0.0)


def speak(voice, phonemes):
    return np.concatenate([*voice.synthesize(segment(phonemes), "af_heart", 1.0)])


class TestPreset:
    @pytest.fixture
    def voice(self, tmp_path):
        directory = write_voice(tmp_path / "tiny")
        with_voice = KokoroVoice.load(directory, n_threads=1, preset=Preset.STREAM)
        yield with_voice
        with_voice.close()

    def test_every_phoneme_is_spoken(self, voice):
        sound = speak(voice, "ə" * 40)
        assert np.isclose(sound, LEVEL, atol=1e-6).sum() == 40 * SAMPLES_PER_TOKEN

    def test_the_same_segment_gives_the_same_samples(self, voice):
        assert np.array_equal(speak(voice, "həlˈO" * 9), speak(voice, "həlˈO" * 9))

    def test_samples_that_are_not_numbers_never_leave_the_voice(self, tmp_path):
        directory = write_voice(tmp_path / "nan", audio_bias=float("nan"))
        with pytest.raises(EngineError) as error:
            speak(KokoroVoice.load(directory, 1, Preset.STREAM), "ə")
        assert error.value.code == "engine.output_invalid"

    def test_a_voice_installed_before_names_the_command(self, tmp_path):
        old = write_voice(tmp_path / "old", parts=PARTS[:-1])
        KokoroVoice.load(old, 1, Preset.EXACT).close()
        with pytest.raises(ModelError, match="voices install tiny") as error:
            KokoroVoice.load(old, 1, Preset.STREAM)
        assert error.value.code == "model.preset_missing"

    @pytest.mark.parametrize(("shipped", "advice"), [(False, "stream"), (True, "voices install")])
    def test_the_fast_preset_says_what_to_do(self, tmp_path, monkeypatch, shipped, advice):
        monkeypatch.setattr(kokoro_voice, "STYLE_DIR", tmp_path)
        if shipped:
            (tmp_path / "fast_generator.onnx").touch()
        with pytest.raises(ModelError, match=advice) as error:
            KokoroVoice.load(write_voice(tmp_path / "tiny"), 1, Preset.FAST)
        assert error.value.code == "model.preset_missing"

    def test_the_catalogue_and_the_speaker_pass_it_on(self, store):
        voice = catalog.load("tiny", 1, Preset.STREAM)
        assert isinstance(voice._generator, WindowedGenerator)
        voice.close()
        with Speaker("tiny", n_threads=1, preset="stream") as speaker:
            assert isinstance(speaker._voice._generator, WindowedGenerator)

    def test_an_unknown_preset_is_refused(self, store):
        with pytest.raises(InputError, match="exact, stream, fast") as error:
            Speaker("tiny", preset="faster")
        assert error.value.code == "input.unknown_preset"


def test_the_configuration_knows_the_presets():
    from edge_tts.config import OPTIONS
    from edge_tts.voices.voice import DEFAULT_PRESET

    option = OPTIONS["preset"]
    assert option.choices == tuple(preset.value for preset in Preset)
    assert option.default == DEFAULT_PRESET.value


def test_an_utterance_without_sound_is_all_speech():
    assert speech(np.full(50, -10.0), 4, 12) == (0, 50)
