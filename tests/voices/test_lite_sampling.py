"""Codes are drawn as `transformers` defines it, and loops are broken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from edge_tts.voices.lite.interleaving import frames, n_positions
from edge_tts.voices.lite.position_bias import HIDDEN, DecoderBias, EncoderBias, buckets
from edge_tts.voices.lite.sampling import Sampler, filtered, penalised, pick, probabilities
from edge_tts.voices.lite.settings import CodecLayout, Sampling

SCORES = arrays.arrays(np.float32, st.integers(2, 40), elements=st.floats(-20, 20, width=32))
PLAIN = Sampling(False, 1.0, 0, 1.0, 1.0, 0, 1.0)


def sampling(**changed):
    return Sampling(**{**PLAIN.__dict__, **changed})


def layout(interleaving="flat", delays=(0, 0), size=4):
    return CodecLayout(24000, 75, len(delays), size, interleaving, delays)


class TestFilters:
    @given(SCORES, st.integers(1, 40))
    def test_top_k_keeps_the_best(self, scores, k):
        kept = np.isfinite(filtered(scores, sampling(top_k=k)))
        assert kept.sum() >= min(k, len(scores))
        if not kept.all():
            assert scores[kept].min() > scores[~kept].max()

    @given(SCORES, st.floats(0.05, 0.99))
    def test_top_p_keeps_the_smallest_set_of_that_mass(self, scores, top_p):
        kept = np.isfinite(filtered(scores, sampling(top_p=top_p)))
        shares = probabilities(scores)
        assert shares[kept].sum() >= top_p - 1e-6
        without_smallest = shares[kept].sum() - shares[kept].min()
        assert without_smallest < top_p + 1e-6 or kept.sum() == 1

    def test_temperature_divides(self):
        scores = np.array([1, 2, 4], np.float32)
        assert filtered(scores, sampling(temperature=2.0)).tolist() == [0.5, 1, 2]

    def test_the_penalty_lowers_what_was_seen_on_either_side_of_zero(self):
        scores = np.array([2, 2, -2, -2], np.float32)
        found = penalised(scores, np.array([True, False, True, False]), 2.0)
        assert found.tolist() == [1, 2, -4, -2]

    @given(SCORES, st.floats(0, 1, exclude_max=True))
    def test_a_pick_inverts_the_cumulative_distribution(self, scores, uniform):
        index = pick(scores, uniform)
        cumulative = np.cumsum(probabilities(scores))
        assert index == 0 or cumulative[index - 1] <= uniform * cumulative[-1]

    def test_what_was_filtered_out_is_never_picked(self):
        scores = np.array([-np.inf, 0, -np.inf, 0, -np.inf], np.float32)
        assert {pick(scores, u) for u in np.linspace(0, 1, 99, endpoint=False)} == {1, 3}


class TestGuard:
    def test_a_code_that_fills_the_window_is_drawn_again_from_the_others(self):
        guarded = sampling(is_greedy=True, repeat_window=4, repeat_share=0.75)
        sampler = Sampler(guarded, layout(), iter(()).__next__)
        scores = np.array([5, 9, 1, 0], np.float32)
        assert [sampler.draw(scores, 0) for _ in range(7)] == [1, 1, 1, 1, 0, 0, 1]

    def test_codebooks_are_watched_apart(self):
        guarded = sampling(is_greedy=True, repeat_window=2, repeat_share=1.0)
        sampler = Sampler(guarded, layout(), iter(()).__next__)
        scores = np.array([5, 9, 1, 0], np.float32)
        assert [sampler.draw(scores, k % 2) for k in range(4)] == [1, 1, 1, 1]

    def test_the_end_is_never_put_off_by_it(self):
        guarded = sampling(is_greedy=True, repeat_window=1, repeat_share=0.1)
        sampler = Sampler(guarded, layout(), iter(()).__next__)
        scores = np.array([0, 0, 0, 0, 9], np.float32)
        assert [sampler.draw(scores, 0) for _ in range(3)] == [4, 4, 4]


class Script:
    """A model that wants given codes, whatever it is fed; remembers what that was."""

    def __init__(self, shape, codes, end):
        self._shape, self._codes, self._end = shape, codes, end
        self.fed = []

    def __call__(self, rows):
        position = len(self.fed)
        self.fed.append(list(rows))
        scores = np.zeros(self._shape.stop_id + 1, np.float32)
        for codebook, delay in enumerate(self._shape.delays):
            frame = position - delay
            if self._shape.interleaving == "flat":
                frame, turn = divmod(position, self._shape.n_codebooks)
                if turn != codebook:
                    continue
            if 0 <= frame < len(self._codes):
                scores[self._shape.row(codebook, self._codes[frame][codebook])] = 5
            if codebook == 0 and frame == self._end:
                scores[self._shape.stop_id] = 9
        return scores


class TestInterleaving:
    CODES = ((1, 2, 3), (0, 1, 0), (3, 3, 2), (2, 0, 1), (1, 1, 1))
    SHAPES = (
        layout("flat", (0, 0, 0)),
        layout("delay", (0, 1, 2)),
        layout("delay", (0, 0, 0)),
        layout("delay", (0, 2, 1)),
    )

    def drawn(self, shape, end, low=1, high=5):
        script = Script(shape, self.CODES, end)
        sampler = Sampler(sampling(is_greedy=True), shape, iter(()).__next__)
        return script, [tuple(frame) for frame in frames(shape, script, sampler, low, high)]

    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("end", [1, 2, 3, 4])
    def test_frames_end_where_the_model_ends(self, shape, end):
        script, found = self.drawn(shape, end)
        assert found == list(self.CODES[:end])
        assert len(script.fed) <= n_positions(shape, end)

    @pytest.mark.parametrize("shape", SHAPES)
    def test_they_end_at_the_limit_at_the_latest(self, shape):
        script, found = self.drawn(shape, end=None, high=4)
        assert found == list(self.CODES[:4])
        assert len(script.fed) <= n_positions(shape, 4)

    @pytest.mark.parametrize("shape", SHAPES)
    def test_the_end_may_not_come_too_early(self, shape):
        _, found = self.drawn(shape, end=1, low=3, high=4)
        assert found == list(self.CODES[:4])

    def test_flat_codes_are_fed_one_by_one(self):
        shape = self.SHAPES[0]
        script, _ = self.drawn(shape, end=2)
        rows = [shape.row(k, code) for frame in self.CODES[:2] for k, code in enumerate(frame)]
        assert script.fed == [[shape.start_row]] + [[row] for row in rows]

    def test_delayed_codes_are_fed_together_and_padded_at_both_ends(self):
        shape = self.SHAPES[1]
        script, _ = self.drawn(shape, end=2)
        pad, row = shape.pad_row, shape.row
        (a, b, c), (d, e, f) = self.CODES[:2]
        assert script.fed == [
            [shape.start_row] * 3,
            [row(0, a), pad, pad],
            [row(0, d), row(1, b), pad],
            [pad, row(1, e), row(2, c)],
        ]
        assert f in range(shape.codebook_size)


class TestPositionBias:
    TABLE = np.arange(16, dtype=np.float32).reshape(8, 2)

    def test_buckets_are_exact_nearby_and_shared_far_away(self):
        distances = -np.arange(0, 60)
        found = buckets(distances, 8, 20, is_causal=True)
        assert found[:4].tolist() == [0, 1, 2, 3]
        assert (np.diff(found) >= 0).all()
        assert found[-1] == 7

    def test_an_encoder_tells_before_from_after(self):
        bias = EncoderBias(self.TABLE, 20).between(9)
        assert bias.shape == (2, 9, 9)
        assert bias[0, 4, 5] != bias[0, 4, 3]
        assert np.array_equal(bias[:, 1:, 1:], bias[:, :-1, :-1])

    @given(st.integers(1, 6), st.integers(0, 50), st.integers(0, 20))
    def test_a_run_of_positions_has_the_biases_of_single_ones(self, n_new, n_past, n_spare):
        capacity = n_past + n_spare
        together = DecoderBias(self.TABLE, 20).between(n_new, n_past, capacity)
        assert together.shape == (2, n_new, capacity + n_new)
        for query in range(n_new):
            alone = DecoderBias(self.TABLE, 20).between(1, n_past + query, n_past + query)
            seen = np.concatenate(
                [together[:, query, :n_past], together[:, query, capacity : capacity + query + 1]],
                axis=1,
            )
            assert np.array_equal(seen, alone[:, 0])
            assert (together[:, query] == HIDDEN).sum() == 2 * (n_spare + n_new - query - 1)
