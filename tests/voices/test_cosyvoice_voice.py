"""Tiny CosyVoice voices speak through the same code as real ones."""

from __future__ import annotations

import dataclasses
import logging

import numpy as np
import pytest
from cosyvoice_voices import EVERY, NAMES, SEED, TEXT_IDS, expected, unpack

from edge_tts import Speaker
from edge_tts.errors import EngineError, InputError, ModelError
from edge_tts.runtime.decoding import HostDecoding
from edge_tts.text.frontend import FrontEnd
from edge_tts.voices import catalog
from edge_tts.voices.cosyvoice import voice as voices
from edge_tts.voices.cosyvoice.flow import FlowPrompt
from edge_tts.voices.cosyvoice.layout import layout
from edge_tts.voices.cosyvoice.plausibility import Watch
from edge_tts.voices.cosyvoice.prefix import TextModel
from edge_tts.voices.cosyvoice.randomness import Randomness
from edge_tts.voices.cosyvoice.sampling import Sampler
from edge_tts.voices.cosyvoice.settings import Settings
from edge_tts.voices.cosyvoice.speakers import SpeakerPrompt, read_speakers
from edge_tts.voices.cosyvoice.supply import Supply
from edge_tts.voices.cosyvoice.text import model_text
from edge_tts.voices.cosyvoice.voice import Stages
from edge_tts.voices.voice import Preset

TEXT = "出门向左，then go on."
SPEAKERS = ("中文女", "英文男")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("voices"))


@pytest.fixture(autouse=True)
def store(root, monkeypatch):
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(root))


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def voice(name):
    loaded = catalog.load(name, 1)
    yield loaded
    loaded.close()


def segments(voice, text=TEXT):
    return list(FrontEnd(None, voice.measure, voice.segment_limit).segments(text))


def sound(voice, text=TEXT, speaker="中文女", speed=1.0):
    pieces = [p for s in segments(voice, text) for p in voice.synthesize(s, speaker, speed)]
    return np.concatenate(pieces)


@pytest.fixture
def stages(name):
    directory = catalog.find(name)
    opened = Stages.open(directory, Settings.read(directory.file("settings")), 1)
    yield opened
    opened.close()


def speech_tokens(name, stages, randomness):
    directory = catalog.find(name)
    settings = Settings.read(directory.file("settings"))
    who = read_speakers(directory.file("speakers"), SPEAKERS)["中文女"]
    prefix = stages.text.prefix(TEXT_IDS, who.embedding, np.zeros(0, np.int64), stages.model)
    sampler = Sampler(settings, randomness.uniform)
    n = len(TEXT_IDS)
    return who, np.array(list(stages.model.generate(prefix, sampler, 2 * n, 20 * n)), np.int32)


def test_tokens_and_sound_are_those_that_torch_made(name, stages):
    wanted_tokens, wanted_sound = expected(name)
    randomness = Randomness(SEED, stages.n_harmonics)
    who, tokens = speech_tokens(name, stages, randomness)
    assert tokens.tolist() == wanted_tokens.tolist()
    speaker = stages.flow_speaker.of_direction(who.embedding)
    found = stages.renderer.whole(tokens, FlowPrompt.empty(), speaker, randomness)
    assert found.shape[0] // EVERY == pytest.approx(len(wanted_sound), abs=1)
    assert np.abs(found[::EVERY] - wanted_sound).max() < 2e-3


def test_the_catalogue_lists_both_with_their_speakers():
    infos = {info.name: info for info in catalog.installed()}
    assert infos.keys() == set(NAMES)
    assert all(info.speakers == SPEAKERS for info in infos.values())


def test_the_same_text_gives_the_same_sound_and_others_another(voice):
    first = sound(voice)
    assert len(first) > 0.3 * voice.info.sample_rate_hz
    assert np.isfinite(first).all()
    assert np.abs(first).max() > 0.01
    assert np.array_equal(first, sound(voice))
    assert not np.array_equal(first, sound(voice, speaker="英文男")[: len(first)])


def test_a_fresh_process_state_continues_exactly(name):
    """Nothing of an utterance is left behind that could change the next one."""
    with Speaker(name, n_threads=1) as fresh, Speaker(name, n_threads=1) as used:
        used.synthesize("先说些别的。")
        wanted, found = fresh.synthesize(TEXT), used.synthesize(TEXT)
    assert np.array_equal(wanted.samples, found.samples)


def test_speed_changes_the_length(voice):
    normal, fast = (len(sound(voice, speed=speed)) for speed in (1.0, 1.25))
    assert fast == pytest.approx(normal / 1.25, rel=0.05)


def test_an_unknown_speaker_is_refused(voice):
    with pytest.raises(InputError, match="中文女"):
        sound(voice, speaker="nobody")


def test_a_segment_beyond_the_limit_is_refused(voice):
    (segment, *_) = segments(voice)
    long = dataclasses.replace(segment, tokens=segment.tokens * 10)
    with pytest.raises(InputError) as caught:
        next(voice.synthesize(long, "中文女", 1.0))
    assert caught.value.code == "input.segment_too_long"


def test_a_damaged_part_is_named_and_not_loaded(name, tmp_path, monkeypatch):
    copy = unpack(tmp_path / "voices")
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(copy))
    path = copy / name / "small.npz"
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"small\.npz"):
        catalog.load(name)


def test_a_text_that_never_ends_is_tried_twice_and_then_refused(voice, monkeypatch, caplog):
    # As many tokens allowed as the model must speak: every attempt runs into the limit.
    endless = classmethod(lambda cls, text, n_ids, rate: cls(2 * n_ids, 2 * n_ids, n_ids, rate))
    monkeypatch.setattr(Watch, "over", endless)
    with caplog.at_level(logging.WARNING), pytest.raises(EngineError) as caught:
        sound(voice)
    assert caught.value.code == "engine.implausible_speech"
    assert len(caplog.records) == voices.ATTEMPTS


class TestChunks:
    """Sound computed in chunks joins to about the sound computed at once."""

    N_TOKENS = 260

    @pytest.fixture
    def pieces(self, stages):
        tokens = np.random.RandomState(1).randint(0, 60, self.N_TOKENS).astype(np.int32)
        speaker = stages.flow_speaker.of_direction(np.ones(8, np.float32))
        randomness = Randomness(SEED, stages.n_harmonics)
        made = stages.renderer.chunks(Supply.of(tokens), FlowPrompt.empty(), speaker, randomness)
        whole = stages.renderer.whole(
            tokens, FlowPrompt.empty(), speaker, Randomness(SEED, stages.n_harmonics)
        )
        return [piece for piece in made if len(piece)], whole

    def test_they_are_several_and_as_long_as_the_whole(self, pieces):
        chunks, whole = pieces
        assert len(chunks) >= 3
        assert sum(map(len, chunks)) == pytest.approx(len(whole), rel=0.02)

    def test_no_joint_is_louder_than_the_vocoder_may_be(self, pieces):
        chunks, _ = pieces
        assert np.abs(np.concatenate(chunks)).max() <= 0.99

    def test_the_first_is_computed_alone(self, stages):
        tokens = np.random.RandomState(1).randint(0, 60, self.N_TOKENS).astype(np.int32)
        speaker = stages.flow_speaker.of_direction(np.ones(8, np.float32))
        random = Randomness(SEED, stages.n_harmonics)
        supply = Supply.of(tokens)
        pieces = stages.renderer.chunks(supply, FlowPrompt.empty(), speaker, random)
        first = next(piece for piece in pieces if len(piece))
        assert 0 < len(first) < 60_000
        assert len(supply) < self.N_TOKENS / 2


def test_the_mel_of_a_chunk_is_the_same_whatever_is_computed_with_it(name, stages):
    """What lets CosyVoice 2 choose its chunks freely; CosyVoice 1 computes each on its own."""
    if name == "cosyvoice1":
        pytest.skip("its chunks do not share a flow")
    tokens = np.random.RandomState(1).randint(0, 60, 90).astype(np.int32)
    speaker = stages.flow_speaker.of_direction(np.ones(8, np.float32))
    early = stages.renderer.mel(
        tokens[:28], FlowPrompt.empty(), speaker, is_last=False, in_chunks=True
    )
    late = stages.renderer.mel(tokens, FlowPrompt.empty(), speaker, in_chunks=True)
    assert early.shape[2] == 50
    assert np.abs(late[:, :, :50] - early).max() < 1e-4


def test_without_guidance_the_estimator_runs_one_row(stages, monkeypatch):
    flow, rows = stages.renderer.flow, []
    estimator = flow._estimator

    class Counted:
        def run(self, inputs):
            rows.extend(len(value) for key, value in inputs.items() if key != "visible")
            return estimator.run(inputs)

    monkeypatch.setattr(flow, "_estimator", Counted())
    monkeypatch.setattr(flow, "_settings", dataclasses.replace(flow._settings, guidance=0.0))
    speaker = stages.flow_speaker.of_direction(np.ones(8, np.float32))
    randomness = Randomness(SEED, stages.n_harmonics)
    samples = stages.renderer.whole(np.arange(20), FlowPrompt.empty(), speaker, randomness)
    assert set(rows) == {1}
    assert np.isfinite(samples).all()


def test_a_spoken_example_goes_before_the_text(name, stages):
    example = FlowPrompt(np.arange(6), np.zeros((12, 80), np.float32))
    who = SpeakerPrompt(np.ones(8, np.float32), np.arange(3), example)
    text_ids = np.concatenate([who.text_ids, TEXT_IDS])
    prefix = stages.text.prefix(text_ids, who.embedding, example.tokens, stages.model)
    marks = 3 if name == "cosyvoice1" else 2
    assert len(prefix) == len(text_ids) + len(example.tokens) + marks
    speaker = stages.flow_speaker.of_direction(who.embedding)
    tokens = np.arange(20, dtype=np.int32)
    randomness = Randomness(SEED, stages.n_harmonics)
    with_example = stages.renderer.whole(tokens, example, speaker, randomness)
    alone = stages.renderer.whole(tokens, FlowPrompt.empty(), speaker, randomness)
    assert len(with_example) == len(alone)


def test_chinese_marks_are_written_full_width_and_english_ones_not(voice):
    (chinese,) = segments(voice, "左转, 好吗?")
    assert model_text(chinese.tokens) == "左转，好吗？"
    (english,) = segments(voice, "Left, please.")
    assert model_text(english.tokens) == "Left, please."


class TestLaziness:
    """Sound begins before the last token is drawn, and stops wherever it is told to."""

    LONG = "今天天气真不错我们去公园走走吧好吗我想看花和湖水的"

    def test_the_first_sound_comes_before_the_last_token(self, name, voice, monkeypatch):
        drawn = count_steps(monkeypatch)
        (segment,) = segments(voice, self.LONG)
        speech = voice.synthesize(segment, "中文女", 1.0)
        next(piece for piece in speech if len(piece))
        n_at_first = 1 + len(drawn)
        for _ in speech:
            pass
        first_chunk = {"cosyvoice1": 120, "cosyvoice2": 28}[name]
        assert n_at_first == first_chunk
        assert len(drawn) > first_chunk

    def test_closing_stops_at_the_next_token_and_gives_the_cache_back(self, voice, monkeypatch):
        drawn = count_steps(monkeypatch)
        (segment,) = segments(voice, self.LONG)
        speech = voice.synthesize(segment, "中文女", 1.0)
        for _ in range(5):
            assert not len(next(speech))
        speech.close()
        # The first token comes from the prefix.
        assert len(drawn) == 4
        assert all(not len(decoding.past) for decoding in drawn)

    def test_the_cache_is_held_while_more_is_to_be_drawn_and_no_longer(self, voice, monkeypatch):
        drawn, held_bytes = count_steps(monkeypatch), []
        flow = voice._stages.renderer.flow
        estimator = flow._estimator

        class Watched:
            def run(self, inputs):
                blocks = (decoding._block for decoding in drawn)
                whole = (block if block.base is None else block.base for block in blocks)
                held_bytes.append(max(block.nbytes for block in whole))
                return estimator.run(inputs)

        monkeypatch.setattr(flow, "_estimator", Watched())
        (segment,) = segments(voice, self.LONG)
        for _ in voice.synthesize(segment, "中文女", 1.0):
            pass
        assert held_bytes[0] > 0
        assert held_bytes[-1] == 0

    def test_a_stopped_utterance_leaves_nothing_behind(self, voice):
        wanted = sound(voice)
        (segment,) = segments(voice, self.LONG)
        speech = voice.synthesize(segment, "中文女", 1.0)
        next(piece for piece in speech if len(piece))
        speech.close()
        assert np.array_equal(wanted, sound(voice))

    def test_the_speaker_passes_no_empty_chunk_to_its_user(self, name):
        with Speaker(name, n_threads=1) as speaker:
            chunks = list(speaker.stream(self.LONG))
        assert all(len(chunk.samples) for chunk in chunks)

    def test_exact_is_rendered_in_one_piece(self, name):
        voice = catalog.load(name, 1, Preset.EXACT)
        (segment,) = segments(voice, self.LONG)
        pieces = [p for p in voice.synthesize(segment, "中文女", 1.0) if len(p)]
        voice.close()
        assert len(pieces) == 1


def count_steps(monkeypatch):
    """A list that grows by its decoding with every step of one token."""
    steps, step = [], HostDecoding.step

    def counted(decoding, rows):
        if decoding.n_positions:
            steps.append(decoding)
        return step(decoding, rows)

    monkeypatch.setattr(HostDecoding, "step", counted)
    return steps


class TestSecondAttempt:
    """A fault takes back only what has not been heard."""

    def tokens(self, faults):
        """Drawn by an attempt that fails where `faults` says, in chunks of three."""
        attempts = []

        def draw(attempt, spoken):
            attempts.append(tuple(spoken))
            yield from (100 * attempt + n for n in range(len(spoken), 8))

        def fault_of(tokens, is_complete):
            return faults.get((len(attempts), len(tokens), is_complete))

        supply = Supply(draw, fault_of, 2)
        taken = []
        while True:
            for _ in supply.drawn_to(len(taken) + 3):
                pass
            part = supply.take(len(taken), len(taken) + 3).tolist()
            taken += part
            if len(part) < 3:
                return taken, attempts

    def test_the_second_goes_on_after_what_was_taken(self):
        taken, attempts = self.tokens({(1, 5, False): "it loops"})
        assert attempts == [(), (0, 1, 2)]
        assert taken == [0, 1, 2, 103, 104, 105, 106, 107]

    def test_a_fault_at_the_end_is_mended_too(self):
        taken, attempts = self.tokens({(1, 8, True): "it stopped too early"})
        assert attempts == [(), (0, 1, 2, 3, 4, 5)]
        assert taken == [0, 1, 2, 3, 4, 5, 106, 107]

    def test_the_last_attempt_ends_in_an_error(self):
        with pytest.raises(EngineError, match="2 times: it hums") as caught:
            self.tokens({(1, 5, False): "it loops", (2, 6, False): "it hums"})
        assert caught.value.code == "engine.implausible_speech"

    def test_the_model_goes_on_as_if_it_had_spoken_the_tokens_itself(self, name, stages):
        randomness = Randomness(SEED, stages.n_harmonics)
        who, tokens = speech_tokens(name, stages, randomness)
        prefix = stages.text.prefix(TEXT_IDS, who.embedding, np.zeros(0, np.int64), stages.model)
        again = Randomness(SEED, stages.n_harmonics)
        scores = []

        def recorded(_, history):
            scores.append(len(history))
            return 0

        class Greedy:
            draw = staticmethod(recorded)

        n = len(tokens)
        rest = stages.model.generate(prefix, Greedy, 0, n + 3, tokens.tolist())
        assert list(rest) == [0, 0, 0]
        assert scores == [n, n + 1, n + 2]
        assert again.uniform() != randomness.uniform()


class TestStyle:
    def test_the_same_seed_is_the_same_sound_and_another_is_not(self, name):
        with Speaker(name, n_threads=1) as speaker:
            first, again = (speaker.synthesize(TEXT, seed=7).samples for _ in range(2))
            other = speaker.synthesize(TEXT, seed=8).samples
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)

    def test_an_instruction_changes_what_the_model_is_given(self, name, monkeypatch):
        given, prefix = [], TextModel.prefix

        def recorded(text, ids, speaker, example, model):
            given.append((text, ids, speaker, example))
            return prefix(text, ids, speaker, example, model)

        monkeypatch.setattr(TextModel, "prefix", recorded)
        with Speaker(name, n_threads=1) as speaker:
            plain = speaker.synthesize(TEXT).samples
            told = speaker.synthesize(TEXT, instruct="慢慢说").samples
        assert not np.array_equal(plain, told)
        (_, plain_ids, plain_speaker, _), (_, told_ids, told_speaker, example) = given
        assert told_ids[-len(plain_ids) :].tolist() == plain_ids.tolist()
        assert len(told_ids) > len(plain_ids)
        assert plain_speaker is not None
        assert told_speaker is None
        assert not len(example)


class TestLayouts:
    EXAMPLE = FlowPrompt(np.arange(6), np.zeros((12, 80), np.float32))

    def test_an_example_with_its_words_goes_to_the_model(self):
        who = SpeakerPrompt(np.ones(8, np.float32), np.arange(3), self.EXAMPLE)
        found = layout(who)
        assert found.text_ids.tolist() == [0, 1, 2]
        assert found.example.tolist() == list(range(6))
        assert found.speaker is who.embedding

    def test_an_example_without_words_does_not(self):
        who = SpeakerPrompt(np.ones(8, np.float32), np.zeros(0, np.int64), self.EXAMPLE)
        found = layout(who)
        assert not len(found.text_ids)
        assert not len(found.example)
        assert found.speaker is who.embedding

    def test_an_instruction_takes_the_place_of_example_and_speaker(self):
        who = SpeakerPrompt(np.ones(8, np.float32), np.arange(3), self.EXAMPLE)
        found = layout(who, np.array([9, 10]))
        assert found.text_ids.tolist() == [9, 10]
        assert not len(found.example)
        assert found.speaker is None


class TestFallback:
    """Segments that every attempt fails in are spoken by another voice, when one is named."""

    @pytest.fixture
    def astray(self, monkeypatch):
        endless = classmethod(lambda cls, text, n, rate: cls(2 * n, 2 * n, n, rate))
        over = Watch.over
        # Only the first voice: the fallback's texts have another length.
        rates = {"cosyvoice1": 50, "cosyvoice2": 25}

        def switched(first):
            def limits(text, n_ids, rate):
                chosen = endless.__func__ if rate == rates[first] else None
                return chosen(Watch, text, n_ids, rate) if chosen else over(text, n_ids, rate)

            monkeypatch.setattr(Watch, "over", limits)

        return switched

    def test_it_says_the_whole_segment_at_the_first_voices_rate(self, name, astray):
        other = next(known for known in NAMES if known != name)
        with Speaker(other, n_threads=1) as speaker:
            wanted = speaker.synthesize(TEXT)
        astray(name)
        with Speaker(name, n_threads=1, fallback=other, preset="exact") as speaker:
            found = speaker.synthesize(TEXT)
        assert found.sample_rate_hz != wanted.sample_rate_hz
        assert found.duration_s == pytest.approx(wanted.duration_s, abs=0.6)
        assert np.abs(found.samples).max() > 0.01

    def test_a_fallback_that_is_not_there_is_named_at_once(self, name):
        with pytest.raises(ModelError, match="nobody"):
            Speaker(name, fallback="nobody")

    def test_what_does_not_go_astray_is_the_voices_own(self, name):
        other = next(known for known in NAMES if known != name)
        with Speaker(name, n_threads=1) as plain, Speaker(
            name, n_threads=1, fallback=other
        ) as backed:
            assert np.array_equal(plain.synthesize(TEXT).samples, backed.synthesize(TEXT).samples)
