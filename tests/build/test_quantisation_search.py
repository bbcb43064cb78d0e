"""The search keeps the fewest of the worst layers that are enough."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_tts.build.quantisation.calibration import LayerError
from edge_tts.build.quantisation.search import keep_sensitive

AMPLE_S = 60.0


def errors(n):
    return [LayerError(f"layer{i}", float(i), 1000) for i in range(n)]


@given(st.integers(1, 70), st.data())
def test_it_finds_the_fewest_that_are_enough(n_layers, data):
    needed = data.draw(st.integers(0, n_layers))
    trials = []

    def trial(kept):
        trials.append(kept)
        return 50.0 if len(kept) >= needed else 10.0

    found = keep_sensitive(errors(n_layers), trial, 40.0, AMPLE_S)
    assert found.reached
    assert found.kept == tuple(f"layer{i}" for i in range(needed))
    assert found.n_trials == len(trials) <= 15


def test_what_cannot_be_reached_is_said():
    found = keep_sensitive(errors(3), lambda kept: float(len(kept)), 40.0, AMPLE_S)
    assert not found.reached
    assert found.snr_db == 3.0


def test_without_time_only_the_start_is_tried():
    found = keep_sensitive(errors(3), lambda kept: float(len(kept)), 2.0, 0.0)
    assert found.n_trials == 1
    assert not found.reached
