"""The public API refuses what it cannot do, on a tiny voice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from edge_tts import EdgeTTSError, Speaker
from edge_tts.service.messages import Manner
from edge_tts.service.voice_source import VoiceSource
from edge_tts.speaker import split_voice_name

sys.path.insert(0, str(Path(__file__).parent / "voices"))
from tiny_kokoro import write_voice


@pytest.fixture(autouse=True)
def _voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(tmp_path))
    write_voice(tmp_path / "tiny")


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"language": "fr"}, "input.unknown_language"),
        ({"speaker": "nobody"}, "input.unknown_speaker"),
        ({"speed": 5}, "input.invalid"),
        ({"volume": float("nan")}, "input.invalid"),
    ],
)
def test_a_delivery_that_cannot_be_is_refused_at_once(
    wrong: "dict[str, object]", code: str
) -> None:
    with pytest.raises(EdgeTTSError) as caught:
        Speaker("tiny", **wrong)
    assert caught.value.code == code
    with Speaker("tiny") as speaker, pytest.raises(EdgeTTSError) as caught:
        speaker.stream("Hello.", **wrong)
    assert caught.value.code == code


def test_a_language_may_be_given_by_its_tag() -> None:
    with Speaker("tiny", language="en") as speaker:
        assert len(speaker.synthesize("Hello.").samples) > 0


def test_a_lexicon_may_be_named_by_a_string(tmp_path: Path) -> None:
    (tmp_path / "words.yaml").write_text("en:\n  Geis: guys\n")
    with Speaker("tiny", lexicon=str(tmp_path / "words.yaml")) as speaker:
        (segment,) = speaker.segments("Geis")
    assert segment.tokens[0].text == "guys"


def test_a_misspelt_name_is_taken_for_what_it_resembles() -> None:
    assert split_voice_name("tiny", "tiny") == ("tiny", None)
    assert split_voice_name("tinny", "tiny") == ("tinny", None)
    assert split_voice_name("af_heart", "tiny") == ("tiny", "af_heart")
    assert split_voice_name("af_hart", "tiny") == ("tiny", "af_hart")
    assert split_voice_name("tiny/af_heart", "other") == ("tiny", "af_heart")


def test_the_service_offers_the_nearest_speaker() -> None:
    with Speaker("tiny") as speaker, pytest.raises(EdgeTTSError, match="af_heart") as caught:
        list(VoiceSource(speaker).segments("Hello.", Manner(voice="af_hart")))
    assert caught.value.code == "input.unknown_voice"


def test_an_ssml_mark_stands_at_the_first_sample_of_what_follows() -> None:
    text = "<speak>Hello.<break time='1s'/><mark name='door'/>The door.<mark name='end'/></speak>"
    with Speaker("tiny") as speaker:
        chunks = list(speaker.stream(text, ssml=True))
        before = speaker.synthesize("<speak>Hello.<break time='1s'/></speak>", ssml=True)
    starts = [sum(len(chunk.samples) for chunk in chunks[:at]) for at in range(len(chunks))]
    marks = {name: start for start, chunk in zip(starts, chunks) for name in chunk.marks}
    assert list(marks) == ["door", "end"]
    assert marks["door"] == len(before.samples)
    rest = [len(chunk.samples) for start, chunk in zip(starts, chunks) if start >= marks["end"]]
    assert sum(rest) == round(0.4 * 24000), "only the pause of the end comes after it"


def test_a_break_is_as_long_as_it_says_at_any_speed() -> None:
    with Speaker("tiny") as speaker:
        for speed in (0.5, 1.0, 2.0):
            with_break, without = (
                len(
                    speaker.synthesize(
                        f"<speak>Hello.{pause}</speak>", ssml=True, speed=speed
                    ).samples
                )
                for pause in ("<break time='2s'/>", "<break time='1s'/>")
            )
            assert with_break - without == 24000


def test_ssml_that_is_none_is_refused_at_once() -> None:
    with Speaker("tiny") as speaker, pytest.raises(EdgeTTSError) as caught:
        speaker.stream("Hello.", ssml=True)
    assert caught.value.code == "input.ssml_invalid"
