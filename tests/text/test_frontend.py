"""The whole front end: raw text in, segments out."""

from __future__ import annotations

import tracemalloc
from typing import Iterator, List, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.text.boundaries import PauseTable
from edge_tts.text.frontend import MAX_WORD_LETTERS, FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.g2p.vocabulary import symbols
from edge_tts.text.lexicon_file import UserLexicon
from edge_tts.text.segment import count_phonemes
from edge_tts.text.spoken import spoken_text
from edge_tts.text.tokens import Language, Segment, Token, TokenKind

LIMIT = 510


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer()


@pytest.fixture
def front_end(pronouncer: Pronouncer) -> FrontEnd:
    return FrontEnd(pronouncer, count_phonemes, LIMIT)


def words_of(segments: Sequence[Segment]) -> List[Token]:
    return [t for s in segments for t in s.tokens if t.kind is TokenKind.WORD]


@given(
    st.text(
        st.one_of(st.sampled_from("aeTz 。.,，!?\n中文了12:/“”\"'%$-😀"), st.characters()),
        max_size=200,
    )
)
@settings(max_examples=60, deadline=None)
# CASES C04
def test_any_text_gives_speakable_segments(text: str) -> None:
    front_end = FrontEnd(SHARED, count_phonemes, LIMIT)
    end = 0
    for index, segment in enumerate(front_end.segments(text)):
        assert segment.index == index
        assert 0 < len(segment.phonemes) <= LIMIT
        assert symbols().issuperset(segment.phonemes)
        assert end <= segment.span.start <= segment.span.end <= len(text)
        end = segment.span.end
        assert any(token.kind is TokenKind.WORD for token in segment.tokens)


SHARED = Pronouncer()


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "？！…", "😀", "...", "—", "\u200b"])
def test_text_without_words_gives_no_segment(front_end: FrontEnd, text: str) -> None:  # CASES S09
    assert list(front_end.segments(text)) == []


def test_the_report_says_what_a_wordless_text_held(front_end: FrontEnd) -> None:
    assert list(front_end.segments("😀😀")) == []
    assert front_end.report.total == 2
    list(front_end.segments("Hello."))
    assert front_end.report.total == 0


@pytest.mark.parametrize("text", ["hello", "你好"])
def test_a_final_stop_is_added(front_end: FrontEnd, text: str) -> None:  # CASES S09
    (segment,) = front_end.segments(text)
    assert segment.phonemes.endswith(".")
    assert segment.pause_s == PauseTable().end_s


def test_abbreviations_times_and_decimals_make_one_sentence(front_end: FrontEnd) -> None:
    text = "Dr. Wu at 9 a.m. in v1.0.0"  # CASES S01, S02
    assert len(list(front_end.segments(text))) == 1


def test_all_of_a_chinese_text_is_read(front_end: FrontEnd) -> None:  # CASES S10
    text = "问题、文字，以及对话。第二句"
    read = "".join(token.text for token in words_of(list(front_end.segments(text))))
    assert read == "问题文字以及对话第二句"


def test_spaces_and_marks_follow_the_convention_of_the_model(front_end: FrontEnd) -> None:
    (segment,) = front_end.segments("Go, “left” (now) and stop!")
    shape = "".join("x" if c.isalpha() or c in "ˈˌ" else c for c in segment.phonemes)
    while "xx" in shape:
        shape = shape.replace("xx", "x")
    assert shape == "x, “x” (x) x x!"


def test_a_change_of_language_gets_a_space(front_end: FrontEnd) -> None:
    (segment,) = front_end.segments("打开Bluetooth吧。")
    position = next(i for i, t in enumerate(segment.tokens) if t.language is Language.EN)
    assert segment.tokens[position - 1].phonemes.endswith(" ")
    assert segment.tokens[position].phonemes.endswith(" ")


def test_a_language_tag_holds_over_lines(front_end: FrontEnd) -> None:
    segments = list(front_end.segments("[LNGen]one\n12\n[LNGzh]12"))
    languages = [segment.tokens[0].language for segment in segments]
    assert languages == [Language.EN, Language.EN, Language.ZH]


# CASES S04
def test_a_word_of_ten_thousand_letters_is_read_whole(front_end: FrontEnd) -> None:
    segments = list(front_end.segments("abcdefghij" * 1000))
    assert all(len(segment.phonemes) <= LIMIT for segment in segments)
    read = words_of(segments)
    assert all(len(token.text) <= MAX_WORD_LETTERS for token in read)
    assert segments[0].span.start == 0
    assert segments[-1].span.end == 10_000


def test_lines_and_paragraphs_make_pauses(front_end: FrontEnd) -> None:
    pauses = [s.pause_s for s in front_end.segments("First line\nSecond line\n\nThird line\n😀")]
    assert pauses == [PauseTable().line_s, PauseTable().paragraph_s, PauseTable().end_s]


def test_a_live_stream_speaks_before_it_ends(front_end: FrontEnd) -> None:
    def pieces() -> Iterator[str]:
        yield "Hello there, traveller.\n"
        raise AssertionError("read too far")

    segment = next(front_end.segments(pieces()))
    assert words_of([segment])[0].text.lower() == "hello"


def test_a_megabyte_streams_in_bounded_memory(pronouncer: Pronouncer) -> None:
    n_read = 0

    def pieces() -> Iterator[str]:
        nonlocal n_read
        for number in range(16_000):
            n_read += 1
            yield f"The train on platform {number % 20} departs now, as planned. 列车即将出发。"

    front_end = FrontEnd(pronouncer, count_phonemes, LIMIT)
    segments = front_end.segments(pieces())
    next(segments)
    assert n_read < 10
    tracemalloc.start()
    for _ in zip(range(300), segments):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000
    assert n_read < 1000


def test_a_long_string_is_not_copied_whole(front_end: FrontEnd) -> None:
    text = "The doors open on the left side of the train. " * 22_000
    tracemalloc.start()
    first = next(front_end.segments(text))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first.pause_s > 0
    assert peak < 500_000


def test_a_voice_without_phonemes_gets_words() -> None:
    def measure(tokens: Sequence[Token]) -> int:
        return len(spoken_text(tokens))

    front_end = FrontEnd(None, measure, 80)
    segments = list(front_end.segments("请打开 Bluetooth, then wait (a moment)。" * 5))
    assert all(segment.phonemes == "" for segment in segments)
    assert all(measure(segment.tokens) <= 80 for segment in segments)
    written = spoken_text(segments[0].tokens)
    assert written.startswith("请打开 Bluetooth, then wait (a moment).")


def test_the_lexicon_is_read_anew_for_each_utterance(pronouncer: Pronouncer, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "lexicon.yaml"
    path.write_text("en: {Geis: {ipa: ɡˈIs}}", encoding="utf-8")
    lexicon = UserLexicon(path)
    front_end = FrontEnd(pronouncer, count_phonemes, LIMIT, lexicon=lexicon)
    assert "ɡˈIs" in next(front_end.segments("Call Geis now.")).phonemes
    path.write_text("en: {Geis: {ipa: ɡˈaɪst}}", encoding="utf-8")
    assert "ɡˈaɪst" in next(front_end.segments("Call Geis now.")).phonemes
    silent = FrontEnd(None, len, 50, lexicon=lexicon)
    assert next(silent.segments("Call Geis now.")).phonemes == ""


def test_given_phonemes_keep_the_spaces_around_the_word(pronouncer: Pronouncer, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "lexicon.yaml"
    path.write_text(
        "en: {Elm Street: {ipa: ˈɛlm}}\nzh: {芝罘: {pinyin: zhi1 fu2}}", encoding="utf-8"
    )
    front_end = FrontEnd(pronouncer, count_phonemes, LIMIT, lexicon=UserLexicon(path))
    (segment,) = front_end.segments("on Elm Street now.")
    assert " ˈɛlm " in segment.phonemes
    assert "  " not in segment.phonemes
    (segment,) = front_end.segments("我们去芝罘吧。")
    assert "ꭧɨ→fu↗" in segment.phonemes
