"""The arithmetic between CosyVoice's engines."""

from __future__ import annotations

import itertools
from typing import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.voices.cosyvoice.fixed_noise import fixed_noise
from edge_tts.voices.cosyvoice.flow import time_steps, visible_positions
from edge_tts.voices.cosyvoice.hops import growing_hops, official_hops
from edge_tts.voices.cosyvoice.joining import fade
from edge_tts.voices.cosyvoice.mel import log_mel
from edge_tts.voices.cosyvoice.plausibility import Watch, usual_seconds
from edge_tts.voices.cosyvoice.prefix import Affine
from edge_tts.voices.cosyvoice.sampling import Sampler, log_softmax
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.source import HarmonicSource
from edge_tts.voices.cosyvoice.stretch import resize, stretch

N_IDS = 40


def settings(generation="cosyvoice1"):
    return Settings(
        generation=generation,
        sample_rate_hz=22050 if generation == "cosyvoice1" else 24000,
        token_rate_hz=50 if generation == "cosyvoice1" else 25,
        samples_per_frame=256 if generation == "cosyvoice1" else 480,
        n_speech_tokens=N_IDS - 1,
        stop_ids=(N_IDS - 1,),
        top_p=0.8,
        top_k=25,
        repeat_window=10,
        repeat_share=0.1,
        guidance=0.7,
        n_steps=10,
        sine_level=0.1,
        noise_level=0.003,
        voiced_above_hz=10.0,
        n_heads=1,
        head_size=4,
        n_layers=1,
        max_positions=64,
    )


def sampler(*uniforms):
    numbers = iter(uniforms)
    return Sampler(settings(), lambda: next(numbers))


def scores(**probabilities):
    """Log probabilities; what is not named shares a sliver."""
    values = np.full(N_IDS, 1e-6)
    for name, probability in probabilities.items():
        values[int(name[1:])] = probability
    return np.log(values / values.sum()).astype(np.float32)


class TestSampling:
    def test_the_nucleus_includes_the_id_that_reaches_it(self):
        known = scores(_7=0.5, _3=0.35, _9=0.15)
        assert sampler(0.58).draw(known, []) == 7
        assert sampler(0.60).draw(known, []) == 3
        assert sampler(0.999).draw(known, []) == 3

    def test_at_least_one_id_is_kept(self):
        assert sampler(0.999).draw(scores(_7=0.95, _3=0.05), []) == 7

    def test_a_repetition_is_drawn_again_from_all_others(self):
        known = scores(_7=0.9, _3=0.05, _9=0.05)
        assert sampler(0.0, 0.4).draw(known, [7]) == 3
        assert sampler(0.0, 0.9).draw(known, [7]) == 9

    def test_what_lies_further_back_than_the_window_is_no_repetition(self):
        known = scores(_7=0.9, _3=0.1)
        assert sampler(0.0).draw(known, [7, *range(10, 20)]) == 7
        assert sampler(0.0, 0.5).draw(known, [7, *range(10, 19)]) == 3

    @given(
        st.lists(st.floats(-20, 20), min_size=N_IDS, max_size=N_IDS),
        st.lists(st.integers(0, N_IDS - 1), max_size=12),
        st.tuples(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True)),
    )
    def test_a_forbidden_id_is_never_drawn(self, values, history, uniforms):
        known = log_softmax(np.array(values, np.float32))
        known[0] = -np.inf
        drawn = sampler(*uniforms).draw(known, history)
        assert 0 < drawn < N_IDS


class TestStretch:
    @pytest.mark.parametrize("n_tokens", [13, 40, 41, 45, 300])
    @pytest.mark.parametrize("prompt", [(0, 0), (17, 29)])
    def test_lengths_follow_the_token_rate(self, n_tokens, prompt):
        n_prompt, prompt_frames = prompt
        found = stretch(n_prompt, n_tokens, prompt_frames, 50, 22050 / 256)
        assert len(found.left) == prompt_frames + int(n_tokens / 50 * 22050 / 256)
        assert found.left.min() >= 0
        assert found.right.max() == n_prompt + n_tokens - 1

    def test_the_ends_of_a_long_text_do_not_depend_on_its_middle(self):
        first, second = (stretch(0, n, 0, 50, 22050 / 256) for n in (60, 90))
        assert np.array_equal(first.left[:34], second.left[:34])
        assert np.array_equal(first.left[-34:] + 30, second.left[-34:])

    @given(st.integers(1, 40), st.integers(1, 80))
    def test_a_straight_line_stays_straight_between_its_ends(self, n, n_frames):
        line = np.arange(n, dtype=np.float32)
        centres = (np.arange(n_frames) + 0.5) * n / n_frames - 0.5
        assert np.allclose(resize(line, n_frames), np.clip(centres, 0, n - 1), atol=1e-4)


class TestPlausibility:
    WATCH = Watch(min_tokens=20, max_tokens=400, shortest=30, token_rate_hz=50)

    def fault(self, tokens):
        """The first fault of a drawing, as the drawing meets it."""
        for n in range(1, len(tokens) + 1):
            found = self.WATCH.fault(tokens[:n], False)
            if found:
                return n, found
        return len(tokens), self.WATCH.fault(tokens, True)

    def test_speech_is_plausible(self):
        tokens = np.random.RandomState(0).randint(0, 4000, 200).tolist()
        assert self.fault(tokens) == (200, None)

    def test_no_stop_and_too_early_a_stop_are_not(self):
        tokens = np.random.RandomState(0).randint(0, 4000, 400).tolist()
        assert "did not stop within 8.0 s" in self.fault(tokens)[1]
        assert "stopped after 0.6 s" in self.fault(tokens[:29])[1]
        assert self.fault(tokens[:30])[1] is None

    @given(st.integers(1, 90), st.integers(0, 30))
    def test_a_loop_is_found_as_soon_as_it_is_long_enough(self, period, start):
        tokens = [*(1000 + n for n in range(start)), *(n % period for n in range(400))]
        n, found = self.fault(tokens)
        assert f"repeats {period / 50:.2f} s" in found
        assert n == start + period + max(75, 2 * period)

    def test_a_stretch_of_few_different_tokens_is_silence(self):
        varied = np.random.RandomState(0).randint(0, 4000, 50).tolist()
        silent = np.random.RandomState(1).randint(5000, 5003, 200).tolist()
        n, found = self.fault(varied + silent)
        assert n == 150
        assert "silent" in found

    def test_limits_follow_the_text(self):
        assert (
            usual_seconds("你好")
            < usual_seconds("你好，世界")
            < usual_seconds("你好[laughter]世界")
        )
        watch = Watch.over("你好，世界。", 6, 25)
        assert watch.min_tokens == 12
        assert watch.max_tokens == 120
        longer = Watch.over("a", 30, 25)
        assert longer.min_tokens < longer.max_tokens < 120


class TestSource:
    @pytest.mark.parametrize("generation", ["cosyvoice1", "cosyvoice2"])
    def test_a_steady_pitch_is_a_steady_sine(self, generation):
        known = settings(generation)
        source = HarmonicSource(np.ones(1, np.float32), 0.0, known)
        n = 40 * known.samples_per_frame
        f0 = np.full(40, 220.0, np.float32)
        turns = np.zeros(1, np.float32)
        waves = source.waves(f0, turns, np.zeros((n, 1), np.float32))[:, 0]
        spectrum = np.abs(np.fft.rfft(waves * np.hanning(n)))
        peak_hz = spectrum.argmax() * known.sample_rate_hz / n
        assert peak_hz == pytest.approx(220, abs=known.sample_rate_hz / n)
        assert np.abs(waves).max() == pytest.approx(0.1, rel=0.01)

    def test_silence_is_noise_alone(self):
        known = settings()
        source = HarmonicSource(np.ones(9, np.float32), 0.0, known)
        noise = np.random.RandomState(0).standard_normal((2560, 9)).astype(np.float32)
        waves = source.waves(np.zeros(10, np.float32), np.zeros(9, np.float32), noise)
        assert np.allclose(waves, noise * 0.1 / 3, atol=1e-7)

    def test_the_phase_does_not_drift_over_a_long_text(self):
        known = settings()
        source = HarmonicSource(np.ones(1, np.float32), 0.0, known)
        n_frames = 1000
        n = n_frames * known.samples_per_frame
        f0 = np.full(n_frames, 200.0, np.float32)
        waves = source.waves(f0, np.zeros(1, np.float32), np.zeros((n, 1), np.float32))[:, 0]
        increment = float(np.float32(200.0) / np.float32(22050))
        exact = 0.1 * np.sin(2 * np.pi * increment * np.arange(1, n + 1))
        assert np.abs(waves - exact)[-1000:].max() < 1e-3


def test_faded_sounds_that_agree_stay_as_they_are():
    tone = np.sin(np.arange(400) * 0.1).astype(np.float32)
    assert np.allclose(fade(tone, tone[:200], like_official=False), tone, atol=1e-6)
    # The official windows sum to more than one, which is the reason for not using them.
    loud = fade(np.ones(400, np.float32), np.ones(200, np.float32), like_official=True)
    assert loud.max() == pytest.approx(1.08, abs=0.001)


def test_the_fixed_noise_is_torchs():
    # torch.manual_seed(0); torch.randn(1, 80, 15000)[0, 0, :4]
    noise = fixed_noise()
    assert noise.shape == (1, 80, 15000)
    assert np.allclose(noise[0, 0, :4], [-1.125840, -1.152360, -0.250579, -0.433879], atol=1e-5)
    assert noise.std() == pytest.approx(1, abs=0.01)


def test_times_run_from_0_to_1_and_begin_slowly():
    times = time_steps(10)
    assert times[0] == 0
    assert times[-1] == pytest.approx(1)
    assert np.all(np.diff(np.diff(times)) > 0)


def test_positions_see_to_the_end_of_their_chunk():
    assert visible_positions(7, 3).tolist() == [3, 3, 3, 6, 6, 6, 7]
    assert visible_positions(3, 25).tolist() == [3, 3, 3]


def test_a_speaker_counts_by_direction_alone():
    layer = Affine(np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    long, short = (layer.of_direction(np.array([3.0, 0, 4]) * scale) for scale in (1, 9))
    assert np.allclose(long, [[0.6, 0, 0.8]])
    assert np.allclose(long, short)


def test_the_mel_of_a_tone_peaks_at_its_band():
    tone = np.sin(2 * np.pi * 1000 * np.arange(24000) / 24000).astype(np.float32)
    mel = log_mel(tone, 24000, 480)
    assert mel.shape == (50, 80)
    # 1 kHz is 15 of the 45.2 Slaney mels up to 8 kHz, spread over 81 steps.
    assert abs(int(mel[25].argmax()) + 1 - 15 / 45.2 * 81) <= 1


def _work(hops: Iterable[int], n: int) -> float:
    """Tokens that the flow is computed for, over the `n` that there are."""
    ends = itertools.takewhile(lambda end: end < n, itertools.accumulate(hops))
    return (sum(ends) + n) / n


@pytest.mark.parametrize("n", [60, 149, 150, 449, 450, 500])
def test_growing_hops_compute_little_twice(n):
    assert _work(growing_hops(n), n) <= min(1.75, _work(official_hops(), n))


def test_hops_end_where_chunks_of_the_attention_mask_end():
    ends = list(itertools.accumulate(growing_hops(500)))
    assert ends == [25, 75, 225]
    assert list(itertools.accumulate(itertools.islice(official_hops(), 4))) == [25, 75, 175, 275]
