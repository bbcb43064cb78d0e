"""The Kokoro pipeline from phonemes to samples, on tiny engines."""

import numpy as np
import pytest
from tiny_kokoro import LEVEL, write_voice

from edge_tts.errors import EngineError, InputError
from edge_tts.text.tokens import Language, Segment, Span, Token, TokenKind
from edge_tts.voices.kokoro.acoustic_model import frames_per_token
from edge_tts.voices.kokoro.silence import EDGE_FRAMES, MARGIN_FRAMES, MIN_FRAMES, select
from edge_tts.voices.kokoro.speakers import SPEAKERS, StyleTables
from edge_tts.voices.kokoro.voice import SEGMENT_LIMIT, KokoroVoice

SAMPLES_PER_TOKEN = 4 * 600


def segment(phonemes):
    span = Span(0, 1)
    token = Token("x", TokenKind.WORD, Language.EN, span, phonemes)
    return Segment(0, (token,), span, 0.0)


@pytest.fixture
def voice(tmp_path):
    with_voice = KokoroVoice.load(write_voice(tmp_path / "tiny"), n_threads=1)
    yield with_voice
    with_voice.close()


def speak(voice, phonemes, speed=1.0):
    return np.concatenate([*voice.synthesize(segment(phonemes), "af_heart", speed)])


def test_speaks_every_phoneme_and_leaves_the_padding_out(voice):
    sound = speak(voice, "ə" * 20)
    assert sound.dtype == np.float32
    assert np.count_nonzero(sound == np.float32(LEVEL)) == 20 * SAMPLES_PER_TOKEN


def test_the_same_segment_gives_the_same_samples(voice):
    assert np.array_equal(speak(voice, "həlˈO"), speak(voice, "həlˈO"))


@pytest.mark.parametrize("speed", [0.5, 0.8, 1.25, 2.0])
def test_speed_scales_the_speech(voice, speed):
    spoken = np.count_nonzero(speak(voice, "ə" * 30, speed))
    assert spoken == 30 * round(4 / speed) * 600


def test_a_single_phoneme_is_long_enough_for_the_generator(voice):
    assert np.count_nonzero(speak(voice, "ə", 2.0)) == 2 * 600


def test_no_phonemes_no_sound(voice):
    assert list(voice.synthesize(segment(""), "af_heart", 1.0)) == []


def test_a_segment_at_the_limit_is_spoken_and_one_above_is_refused(voice):
    speak(voice, "ə" * SEGMENT_LIMIT)
    with pytest.raises(InputError) as error:
        speak(voice, "ə" * (SEGMENT_LIMIT + 1))
    assert error.value.code == "input.segment_too_long"


def test_an_unknown_symbol_is_named_instead_of_dropped(voice):
    with pytest.raises(InputError, match="'7'") as error:
        speak(voice, "ə7")
    assert error.value.code == "input.unknown_symbol"


def test_an_unknown_speaker_gets_the_nearest_name(voice):
    with pytest.raises(InputError, match="zf_xiaobei") as error:
        list(voice.synthesize(segment("ə"), "zf_xiaobai", 1.0))
    assert error.value.code == "input.unknown_speaker"


def test_samples_that_are_not_numbers_never_leave_the_voice(tmp_path):
    voice = KokoroVoice.load(write_voice(tmp_path / "nan", audio_bias=float("nan")), n_threads=1)
    with pytest.raises(EngineError) as error:
        speak(voice, "ə")
    assert error.value.code == "engine.output_invalid"


def test_an_implausibly_long_utterance_is_refused_before_it_is_computed(tmp_path):
    voice = KokoroVoice.load(write_voice(tmp_path / "slow", frames=900.0), n_threads=1)
    with pytest.raises(EngineError) as error:
        speak(voice, "ə" * 10)
    assert error.value.code == "engine.output_invalid"


def test_a_closed_voice_says_so(voice):
    voice.close()
    voice.close()
    with pytest.raises(EngineError) as error:
        speak(voice, "ə")
    assert error.value.code == "engine.closed"


def test_its_engines_tell_an_observer_which_part_ran(voice):
    parts = []
    voice.engines.observe(lambda part, inputs, outputs: parts.append(part))
    speak(voice, "ə")
    assert parts[:3] == ["encoder", "prosody", "decoder"]
    assert set(parts[3:]) == {"stream_generator"}


def test_measure_counts_what_the_limit_is_about(voice):
    tokens = segment("həlˈO").tokens
    assert voice.measure(tokens * 3) == 15


class TestDurations:
    def test_only_inner_tokens_are_scaled(self):
        frames = frames_per_token(np.array([16.0, 8.0, 4.0, 10.0]), speed=0.5)
        assert frames.tolist() == [16, 16, 8, 10]

    def test_every_token_gets_a_frame(self):
        assert frames_per_token(np.array([16.0, 0.1, 0.2, 9.0]), 2.0).tolist() == [16, 1, 1, 9]

    def test_short_utterances_are_padded_at_the_end(self):
        frames = frames_per_token(np.array([1.0, 1.0, 1.0]), 1.0)
        assert 2 * frames.sum() == MIN_FRAMES
        assert frames[:2].tolist() == [1, 1]


class TestSilence:
    def test_silence_far_from_speech_is_left_out_and_accounted_for(self):
        energy = np.full(200, -10.0)
        energy[80:120] = 5.0
        chosen = select(energy)
        assert (chosen.start, chosen.end) == (80 - MARGIN_FRAMES, 120 + MARGIN_FRAMES)
        n_left_out = (chosen.lead_share + chosen.tail_share) * 200
        assert len(chosen.kept) + round(n_left_out) == 200
        assert chosen.kept[:EDGE_FRAMES].tolist() == list(range(EDGE_FRAMES))
        assert chosen.kept[-EDGE_FRAMES:].tolist() == list(range(200 - EDGE_FRAMES, 200))

    @pytest.mark.parametrize("energy", [5.0, -10.0], ids=["all speech", "no speech"])
    def test_nothing_is_left_out_when_there_is_nothing_to_leave_out(self, energy):
        chosen = select(np.full(MIN_FRAMES, energy))
        assert chosen.kept.tolist() == list(range(MIN_FRAMES))
        assert chosen.lead_share == chosen.tail_share == 0

    @pytest.mark.parametrize("position", [0, 15, 29])
    def test_speech_anywhere_is_kept(self, position):
        energy = np.full(MIN_FRAMES, -10.0)
        energy[position] = 0.0
        assert position in select(energy).kept


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_every_shipped_speaker_has_its_table(speaker):
    styles = StyleTables()
    short, long = styles.row(speaker, 1), styles.row(speaker, 600)
    assert short.shape == long.shape == (1, 256)
    assert short.dtype == np.float32
    assert not np.array_equal(short, long)
