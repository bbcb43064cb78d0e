"""Phrases: exact round trips, the bounded cache, the store on disk and its damages."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from running import expected, pcm, running
from tone_source import ToneSource

from edge_tts.audio.wav import to_pcm16
from edge_tts.cli import prompts as command
from edge_tts.config import Config
from edge_tts.errors import InputError, ModelError
from edge_tts.service.messages import Manner
from edge_tts.service.phrases import Phrase, PhraseCache, PhraseKey, PhraseSegment
from edge_tts.service.prompts import PromptStore

TEXT = "One. Two two."
KEY = PhraseKey(TEXT, Manner(), "tone", "1")


def phrase() -> Phrase:
    source = ToneSource(0.0)
    return command.rendered(source, TEXT, Manner())


def test_stored_sound_is_the_sound_that_was_rendered(tmp_path: Path) -> None:
    store = PromptStore(tmp_path)
    store.put(KEY, phrase())
    stored = store.get(KEY)
    assert stored == phrase()
    samples = np.concatenate([chunk.samples for chunk in stored.chunks(0)])
    np.testing.assert_array_equal(to_pcm16(samples), expected("One.", " Two two."))
    (second,) = stored.chunks(1)
    assert (second.segment_index, second.offset, second.is_final) == (1, 0, True)


@pytest.mark.parametrize(
    "other",
    [
        PhraseKey("Other.", Manner(), "tone", "1"),
        PhraseKey(TEXT, Manner(speed=1.1), "tone", "1"),
        PhraseKey(TEXT, Manner(speaker="x"), "tone", "1"),
        PhraseKey(TEXT, Manner(), "other", "1"),
        PhraseKey(TEXT, Manner(), "tone", "2"),
    ],
)
def test_whatever_changes_the_sound_changes_the_address(tmp_path: Path, other: PhraseKey) -> None:
    store = PromptStore(tmp_path)
    store.put(KEY, phrase())
    assert other.digest != KEY.digest
    assert store.get(other) is None
    assert store.n_damaged == 0


def flip_sound(store: PromptStore) -> None:
    path = store.directory / f"{KEY.digest}.wav"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))


def cut_sound(store: PromptStore) -> None:
    path = store.directory / f"{KEY.digest}.wav"
    path.write_bytes(path.read_bytes()[:-10])


def remove_sound(store: PromptStore) -> None:
    (store.directory / f"{KEY.digest}.wav").unlink()


def break_manifest(store: PromptStore) -> None:
    (store.directory / f"{KEY.digest}.json").write_text('{"key": {')


def wrong_spans(store: PromptStore) -> None:
    path = store.directory / f"{KEY.digest}.json"
    fields = json.loads(path.read_text())
    fields["spans"][0][2] += 1
    path.write_text(json.dumps(fields))


def negative_span(store: PromptStore) -> None:
    path = store.directory / f"{KEY.digest}.json"
    fields = json.loads(path.read_text())
    fields["spans"][0][2] = -1
    path.write_text(json.dumps(fields))


DAMAGES = [flip_sound, cut_sound, remove_sound, break_manifest, wrong_spans, negative_span]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_counted_and_never_played(tmp_path: Path, damage: object) -> None:
    store = PromptStore(tmp_path)
    store.put(KEY, phrase())
    damage(store)  # type: ignore[operator]
    assert store.get(KEY) is None
    assert store.n_damaged == 1
    with pytest.raises(ModelError) as caught:
        store.verify(next(store.manifests()))
    assert caught.value.code == "prompt.invalid"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_store_that_is_closed_to_the_service_does_not_silence_it(tmp_path: Path) -> None:
    store = PromptStore(tmp_path / "prompts")
    store.put(KEY, phrase())
    store.directory.chmod(0o700)
    os.seteuid(65534)
    try:
        found, is_there = store.get(KEY), store.has(KEY)
    finally:
        os.seteuid(0)
    assert (found, is_there, store.n_damaged) == (None, False, 1)
    assert store.get(KEY) == phrase()


def test_a_prompt_under_another_ones_name_is_found(tmp_path: Path) -> None:
    store = PromptStore(tmp_path)
    store.put(KEY, phrase())
    for suffix in ("wav", "json"):
        (tmp_path / f"{KEY.digest}.{suffix}").rename(tmp_path / f"{'0' * 64}.{suffix}")
    with pytest.raises(ModelError, match="digest"):
        store.verify(next(store.manifests()))


def test_a_store_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    store = PromptStore(tmp_path / "absent")
    assert store.get(KEY) is None
    assert list(store.manifests()) == []


def test_prompts_are_spoken_without_a_worker(tmp_path: Path) -> None:
    from edge_tts.service.replies import VoiceFacts

    PromptStore(tmp_path / "prompts").put(KEY, phrase())
    facts = VoiceFacts("tone", "1", ["en"], ["sine"], 24000, "MIT", "test")
    source = "tone_source:open_never"
    with running(tmp_path, source=source, facts=facts) as front, front.client() as client:
        frames = list(client.speak(TEXT))
    assert frames[1].data["source"] == "prompt"
    assert frames[-1].data["reason"] == "done"
    np.testing.assert_array_equal(pcm(tmp_path / "out.pcm"), expected("One.", " Two two."))


def test_the_cache_takes_what_repeats_and_stays_within_its_bounds() -> None:
    cache = PhraseCache(1000)
    assert not cache.wants("a")
    assert cache.wants("a")
    for name in "abcdefgh":
        cache.put(name, Phrase(24000, (PhraseSegment(0, 1, bytes(200)),)))
    assert cache.n_bytes == 1000
    assert cache.get("a") is None
    assert cache.get("h") is not None
    cache.put("huge", Phrase(24000, (PhraseSegment(0, 1, bytes(251)),)))
    assert cache.get("huge") is None
    for number in range(2000):
        cache.wants(str(number))
    assert not cache.wants("0")
    cache.clear()
    assert (cache.n_bytes, len(cache)) == (0, 0)


def test_the_phrase_file_is_read_with_comments_and_each_phrase_once(tmp_path: Path) -> None:
    path = tmp_path / "phrases.txt"
    path.write_text("# stations\nNext stop.\n\n  欢迎乘车。 \nNext stop.\n", encoding="utf-8")
    assert command.read_phrases(path) == {"Next stop.": 2, "欢迎乘车。": 4}
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        command.read_phrases(path)
    with pytest.raises(InputError):
        command.read_phrases(tmp_path / "absent")


def test_a_bad_phrase_is_named_and_the_others_are_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("edge_tts.service.voice_source.VoiceSource", lambda speaker: speaker)
    monkeypatch.setattr("edge_tts.speaker.open_speaker", lambda config: ToneSource(0.0))
    path = tmp_path / "phrases.txt"
    path.write_text("One.\n# next\n☃\nTwo ☃.\n", encoding="utf-8")
    store = PromptStore(tmp_path / "prompts")
    assert command._render(path, Config(), store, False) == 3
    said = capsys.readouterr()
    assert said.out == f"2 rendered, 0 kept, 1 failed in {store.directory}\n"
    assert f"error[input.invalid]: {path}:3: " in said.err
    assert "3/3 rendered, not spoken: 1 of symbol (☃): Two ☃." in said.err
    path.write_text("Two ☃.\n", encoding="utf-8")
    assert command._render(path, Config(), store, False) == 0
    assert "1/1 kept, not spoken: 1 of symbol (☃)" in capsys.readouterr().err


def test_an_empty_store_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command._list(PromptStore(tmp_path)) == 0
    assert capsys.readouterr().err == f"no phrases in {tmp_path}\n"


def test_a_phrase_without_words_is_refused() -> None:
    with pytest.raises(InputError):
        command.rendered(ToneSource(0.0), "  ", Manner())
