"""The installed default voice itself: sound, silence, speed, memory."""

import numpy as np
import psutil
import pytest

from edge_tts.audio.level import TARGET_LUFS, loudness_lufs
from edge_tts.errors import ModelError
from edge_tts.speaker import Speaker
from edge_tts.text.tokens import Language, Segment, Span, Token, TokenKind
from edge_tts.voices import catalog
from edge_tts.voices.kokoro.speakers import SPEAKERS
from edge_tts.voices.voice import Preset

pytestmark = pytest.mark.voice
HELLO = "wˈɛlkəm əbˈɔɹd."


@pytest.fixture(scope="module", params=[Preset.EXACT, Preset.STREAM], ids=lambda p: p.value)
def voice(request):
    try:
        loaded = catalog.load("kokoro", preset=request.param)
    except ModelError as error:
        pytest.skip(str(error))
    yield loaded
    loaded.close()


def speak(voice, phonemes, speaker="af_heart", speed=1.0):
    span = Span(0, 1)
    token = Token("x", TokenKind.WORD, Language.EN, span, phonemes)
    pieces = voice.synthesize(Segment(0, (token,), span, 0.0), speaker, speed)
    return np.concatenate([*pieces])


def test_the_prepared_voice_is_within_its_gate():
    gate = catalog.find("kokoro").manifest.gate
    assert 0 < gate.mel_distance_db <= gate.limit_db


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_every_speaker_speaks_at_a_sane_level(voice, speaker):
    sound = speak(voice, HELLO, speaker)
    assert 0.5 < len(sound) / 24_000 < 2.5
    loudness = loudness_lufs(sound * voice.gain(speaker), 24_000)
    assert loudness == pytest.approx(TARGET_LUFS, abs=4)


# CASES S07
@pytest.mark.parametrize(
    ("text", "least_s", "most_s"),
    [
        ("Pause.", 0.3, 1.0),
        ("Yes.", 0.2, 0.9),
        ("Go!", 0.15, 0.9),
        ("Turn left.", 0.4, 1.2),
        ("好。", 0.15, 0.9),
        ("左转。", 0.3, 1.2),
    ],
)
def test_an_utterance_of_a_word_or_two_is_said_once_and_whole(text, least_s, most_s):
    with Speaker() as speaker:
        sound = np.abs(speaker.synthesize(text).samples)
    audible = np.flatnonzero(sound > 0.02)
    assert least_s < (audible[-1] - audible[0]) / 24_000 < most_s
    # A word that is garbled or said twice has a hole, or stays faint.
    assert np.diff(audible).max() < 0.25 * 24_000
    assert sound.max() > 0.1


def test_is_deterministic(voice):
    assert np.array_equal(speak(voice, HELLO), speak(voice, HELLO))


def test_little_silence_is_left_around_the_speech(voice):
    sound = np.abs(speak(voice, HELLO))
    audible = np.flatnonzero(sound > 0.01)
    assert audible[0] < 0.25 * 24_000
    assert len(sound) - audible[-1] < 0.6 * 24_000


@pytest.mark.parametrize("speed", [0.7, 1.4])
def test_speed_changes_the_duration_in_proportion(voice, speed):
    def spoken_s(sound):
        audible = np.flatnonzero(np.abs(sound) > 0.01)
        return (audible[-1] - audible[0]) / 24_000

    phonemes = "ðə nˈɛkst stˈɑp ɪz ðə sˈɛntɹəl stˈAʃən"
    ratio = spoken_s(speak(voice, phonemes)) / spoken_s(speak(voice, phonemes, speed=speed))
    assert ratio == pytest.approx(speed, rel=0.12)


def test_memory_is_level_over_many_lengths(voice):
    """CASES E14: every new input length made the arena grow."""
    process = psutil.Process()
    text = "ðə nˈɛkst stˈɑp ɪz ðə sˈɛntɹəl "
    speak(voice, (text * 2)[:40])
    before = process.memory_info().rss
    for length in range(4, 36, 8):
        speak(voice, (text * 2)[:length])
    assert process.memory_info().rss - before < 20e6
