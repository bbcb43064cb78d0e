"""The finisher: edges, level, pause, and the promise that pieces do not matter."""

from __future__ import annotations

from typing import List

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.chunk import AudioChunk
from edge_tts.audio.finish import EdgeShape, SegmentFinisher
from edge_tts.audio.level import LIMIT_CEILING
from edge_tts.errors import AudioError, InputError

RATE_HZ = 24000
EDGES = EdgeShape(lead_s=0.03, tail_s=0.06)


def hum(duration_s: float, amplitude: float = 0.3, hz: float = 210.0) -> np.ndarray:
    t = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    return (amplitude * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def noise(duration_s: float, rms: float, seed: int = 1) -> np.ndarray:
    draws = np.random.RandomState(seed).standard_normal(round(duration_s * RATE_HZ))
    return (rms * draws).astype(np.float32)


def silence(duration_s: float) -> np.ndarray:
    return noise(duration_s, 10 ** (-75 / 20))


def finish(pieces: List[np.ndarray], pause_s: float = 0.0, **options: float) -> np.ndarray:
    finisher = SegmentFinisher(RATE_HZ, edges=EDGES)
    return joined(list(finisher.finish(pieces, 3, pause_s, **options)))


def joined(chunks: List[AudioChunk]) -> np.ndarray:
    assert [chunk.is_final for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    offset = 0
    for chunk in chunks:
        assert chunk.offset == offset
        assert chunk.samples.dtype == np.float32
        offset += len(chunk.samples)
    return np.concatenate([chunk.samples for chunk in chunks])


def cut(sound: np.ndarray, cuts: List[int]) -> List[np.ndarray]:
    return np.split(sound, sorted(c % (len(sound) + 1) for c in cuts))


SPEECH = np.concatenate(
    (silence(0.4), hum(0.3), silence(0.35), hum(0.2, 0.9, 140.0), noise(0.1, 0.004), silence(0.9))
)


@settings(max_examples=40, deadline=None)
@given(
    cuts=st.lists(st.integers(0, len(SPEECH)), max_size=12),
    tempo=st.sampled_from([0.5, 0.83, 1.0, 1.4, 2.0]),
)
def test_same_samples_however_the_voice_cuts_its_pieces(cuts: List[int], tempo: float) -> None:
    whole = finish([SPEECH], 0.25, gain=1.3, volume=0.8, tempo=tempo)
    assert np.array_equal(finish(cut(SPEECH, cuts), 0.25, gain=1.3, volume=0.8, tempo=tempo), whole)


def test_edges_are_brought_to_lead_and_tail_and_the_pause_is_exact() -> None:
    sound = finish([silence(0.4), hum(0.5), silence(1.05)], pause_s=0.125)
    expected_s = EDGES.lead_s + 0.5 + EDGES.tail_s + 0.125
    assert abs(len(sound) / RATE_HZ - expected_s) <= 0.010 + 1e-9  # two blocks of the trim's grain
    assert not sound[-round(0.125 * RATE_HZ) :].any()


@pytest.mark.parametrize("rate_hz", [16000, 22050, 24000, 44100, 48000])
@pytest.mark.parametrize("pause_s", [0.0, 0.0101, 0.25, 1.7])
# CASES A03
def test_pause_is_sample_exact_at_every_rate(rate_hz: int, pause_s: float) -> None:
    def length(pause: float) -> int:
        finisher = SegmentFinisher(rate_hz)
        return len(joined(list(finisher.finish([hum(0.2)], 0, pause))))

    assert length(pause_s) - length(0.0) == round(pause_s * rate_hz)


def test_sound_that_fills_the_whole_segment_gets_lead_and_tail_added() -> None:
    lead, tail = round(EDGES.lead_s * RATE_HZ), round(EDGES.tail_s * RATE_HZ)
    sound = finish([hum(0.2)])
    assert len(sound) == lead + round(0.2 * RATE_HZ) + tail
    assert not sound[:lead].any()
    assert not sound[-tail:].any()


def test_inner_pause_is_never_shortened() -> None:
    long = finish([silence(0.2), hum(0.2), silence(3.0), hum(0.2), silence(0.2)])
    short = finish([silence(0.2), hum(0.2), silence(0.5), hum(0.2), silence(0.2)])
    assert len(long) - len(short) == round(2.5 * RATE_HZ)


def test_faint_fricative_at_both_ends_is_kept() -> None:
    fricative = noise(0.12, 10 ** (-50 / 20))
    with_it = finish([silence(0.3), fricative, hum(0.3), fricative, silence(0.5)])
    without = finish([silence(0.3), hum(0.3), silence(0.5)])
    assert abs(len(with_it) - len(without) - 2 * len(fricative)) <= 4 * 120


@pytest.mark.parametrize("dc", [0.0, 0.05])
# CASES A05
def test_edges_do_not_click(dc: float) -> None:
    sound = finish([hum(0.3) + np.float32(dc)], pause_s=0.1)
    padded = np.concatenate((np.zeros(1, np.float32), sound))
    inner_step = np.abs(np.diff(hum(0.3))).max()
    assert np.abs(np.diff(padded)).max() <= inner_step + dc * np.pi / 240 + 1e-6


def test_dc_does_not_pass_for_speech() -> None:
    dc = np.float32(0.05)
    with_dc = finish([silence(0.4) + dc, hum(0.3) + dc, silence(0.5) + dc])
    assert len(with_dc) == len(finish([silence(0.4), hum(0.3), silence(0.5)]))


def test_peaks_are_bent_and_never_clipped() -> None:
    sound = finish([hum(0.3, 3.0)], volume=2.0)
    assert 0.9 < np.abs(sound).max() < LIMIT_CEILING
    assert np.count_nonzero(np.abs(sound) == np.abs(sound).max()) < 100


def test_quiet_sound_passes_the_limiter_unchanged() -> None:
    tone = hum(0.2, 0.5)
    sound = finish([tone])
    lead, fade = round(EDGES.lead_s * RATE_HZ), 120
    inner = sound[lead + fade : lead + len(tone) - fade]
    assert np.array_equal(inner, tone[fade:-fade])


def test_gain_and_volume_multiply_the_level() -> None:
    reference, louder = finish([hum(0.2, 0.1)]), finish([hum(0.2, 0.1)], gain=2.0, volume=1.5)
    assert np.allclose(louder, 3.0 * reference, atol=1e-6)
    assert not finish([hum(0.2)], volume=0.0).any()


def test_tempo_changes_speech_and_not_edges_or_pause() -> None:
    pieces = [silence(0.4), hum(1.0), silence(0.4)]
    normal, fast = finish(pieces, 0.5), finish(pieces, 0.5, tempo=2.0)
    assert abs(len(normal) - len(fast) - 0.5 * RATE_HZ) <= 0.03 * RATE_HZ


@pytest.mark.parametrize("pieces", [[], [np.zeros(0, np.float32)], [silence(0.5)]])
def test_segment_without_speech_is_only_its_pause(pieces: List[np.ndarray]) -> None:
    assert np.array_equal(finish(pieces, 0.2), np.zeros(round(0.2 * RATE_HZ), np.float32))
    assert len(finish(pieces, 0.0)) == 0


def test_speech_shorter_than_one_block_survives() -> None:
    assert np.abs(finish([hum(0.004, 0.8, 900.0)])).max() > 0.05


def test_last_partial_block_of_speech_is_kept() -> None:
    click_free_end = np.concatenate((hum(0.2), silence(0.2), hum(0.004, 0.8, 900.0)))
    lead, tail = round(EDGES.lead_s * RATE_HZ), round(EDGES.tail_s * RATE_HZ)
    assert len(finish([click_free_end])) == lead + len(click_free_end) + tail


def test_first_sound_leaves_before_the_voice_is_done() -> None:
    asked = []

    def pieces():  # type: ignore[no-untyped-def]
        for number in range(9):
            asked.append(number)
            yield hum(0.5)

    first = next(SegmentFinisher(RATE_HZ).finish(pieces(), 0, 0.0))
    assert not first.is_final
    assert len(asked) == 2  # one is kept back to know which chunk is the last


def test_closing_the_chunks_closes_the_voice() -> None:
    closed = []

    def pieces():  # type: ignore[no-untyped-def]
        try:
            while True:
                yield hum(0.3)
        finally:
            closed.append(True)

    chunks = SegmentFinisher(RATE_HZ).finish(pieces(), 0, 0.0)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]
    assert closed == [True]


def test_long_silence_is_held_within_bounds() -> None:
    def pieces():  # type: ignore[no-untyped-def]
        yield hum(0.2)
        for _ in range(70):
            yield silence(1.0)

    chunks = list(SegmentFinisher(RATE_HZ).finish(pieces(), 0, 0.0))
    assert max(len(chunk.samples) for chunk in chunks) <= RATE_HZ


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_no_number_never_gets_out(bad: float) -> None:
    piece = hum(0.3)
    piece[1000] = bad
    with pytest.raises(AudioError) as caught:
        finish([piece])
    assert caught.value.code == "audio.not_finite"


def test_stereo_is_refused() -> None:
    with pytest.raises(AudioError):
        finish([np.zeros((10, 2), np.float32)])


@pytest.mark.parametrize(
    "options",
    [{"volume": -0.1}, {"volume": np.nan}, {"gain": 1e9}, {"tempo": 2.1}, {"pause_s": -1.0}],
)
def test_settings_out_of_range_are_named(options: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=next(iter(options))):
        finish([hum(0.1)], **options)
