"""Segmentation: nothing lost, nothing too long, cuts where a speaker would breathe."""

from __future__ import annotations

from typing import List, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.errors import InputError
from edge_tts.text.boundaries import Boundary, PauseTable, boundaries, sentences
from edge_tts.text.paragraphs import Break
from edge_tts.text.segment import DEFAULT_SIZES, Segmenter, SegmentSizes, Sentence, count_phonemes
from edge_tts.text.tokens import Language, Segment, Span, Token, TokenKind

MARKS = ',.!?:;—…()“”"'


def tokens_of(text: str, *, width: int = 1, start: int = 0) -> List[Token]:
    """Tokens of a simple text: words apart by spaces, hanzi one by one, marks alone.

    Each word has `width` phonemes per letter, and a space after it.
    """
    found: List[Token] = []
    position = start
    for piece in text.split(" "):
        word = ""
        for character in [*piece, " "]:
            is_hanzi = character >= "\u4e00" and character not in MARKS
            if word and (character in MARKS or character == " " or is_hanzi):
                span = Span(position - len(word), position)
                sound = word * width + " "
                found.append(Token(word, TokenKind.WORD, Language.EN, span, sound))
                word = ""
            span = Span(position, position + 1)
            if character in MARKS:
                found.append(Token(character, TokenKind.PUNCTUATION, Language.EN, span, character))
            elif is_hanzi:
                found.append(Token(character, TokenKind.WORD, Language.ZH, span, "xxxx "))
            elif character != " ":
                word += character
            position += 1
    return found


def cut(
    text: str, limit: int = 500, sizes: SegmentSizes = DEFAULT_SIZES, end: Break = Break.NONE
) -> List[Segment]:
    divided = sentences(tokens_of(text))
    parts = [
        Sentence(tokens, end if number == len(divided) else Break.NONE, number == len(divided))
        for number, tokens in enumerate(divided, 1)
    ]
    return list(Segmenter(count_phonemes, limit, sizes).segments(parts))


def texts(segments: Sequence[Segment]) -> List[str]:
    return [" ".join(token.text for token in segment.tokens) for segment in segments]


WORD_TOKENS = st.builds(
    lambda text, language, length: (text, TokenKind.WORD, language, length),
    st.text("abc", min_size=1, max_size=8),
    st.sampled_from(Language),
    st.integers(1, 12),
)
MARK_TOKENS = st.builds(
    lambda mark: (mark, TokenKind.PUNCTUATION, Language.EN, 1), st.sampled_from(MARKS)
)


@st.composite
def token_lists(draw: st.DrawFn) -> List[Token]:
    position, found = 0, []
    drawn = draw(st.lists(st.one_of(WORD_TOKENS, MARK_TOKENS), max_size=80))
    for text, kind, language, length in drawn:
        shares_span = bool(found) and draw(st.integers(0, 4)) == 0
        if not shares_span:
            position += draw(st.integers(0, 2))
        span = found[-1].span if shares_span else Span(position, position + len(text))
        position = span.end
        found.append(Token(text, kind, language, span, "x" * length + draw(st.sampled_from(" |"))))
    return found


@given(
    token_lists(),
    st.integers(30, 200),
    st.builds(
        SegmentSizes,
        comfortable=st.integers(20, 250),
        opening=st.integers(5, 80),
        opening_whole=st.one_of(st.none(), st.integers(20, 120)),
        growth=st.floats(1.0, 3.0),
        shortest=st.integers(0, 30),
    ),
)
def test_segments_hold_every_token_once_in_order_and_within_the_limit(
    tokens: List[Token], limit: int, sizes: SegmentSizes
) -> None:
    segments = list(Segmenter(count_phonemes, limit, sizes).segments([Sentence(tuple(tokens))]))

    def bare(found: Sequence[Token]) -> List[tuple]:
        return [(t.text, t.kind, t.language, t.span, t.phonemes.strip(" ")) for t in found]

    assert bare([t for segment in segments for t in segment.tokens]) == bare(tokens)
    assert [segment.index for segment in segments] == list(range(len(segments)))
    for segment in segments:
        assert segment.tokens
        assert count_phonemes(segment.tokens) <= limit
        assert segment.span.start == min(t.span.start for t in segment.tokens)
        assert segment.span.end == max(t.span.end for t in segment.tokens)
        assert not segment.phonemes.startswith(" ")
        assert not segment.phonemes.endswith(" ")


@given(token_lists())
def test_sentences_lose_only_marks_that_have_no_sound(tokens: List[Token]) -> None:
    joined = [token for sentence in sentences(tokens) for token in sentence]
    words = [token for token in tokens if token.kind is TokenKind.WORD]
    assert [token for token in joined if token.kind is TokenKind.WORD] == words
    remaining = iter(tokens)
    assert all(token in remaining for token in joined), "reordered or repeated"
    assert all(
        any(token.kind is TokenKind.WORD for token in sentence) for sentence in sentences(tokens)
    )


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=12), st.integers(12, 40), st.integers(3, 40)
)
def test_a_source_item_is_cut_only_if_it_exceeds_the_limit(
    runs: List[int], limit: int, comfortable: int
) -> None:
    tokens = [
        Token("n", TokenKind.WORD, Language.EN, Span(item, item + 1), "x ")
        for item, length in enumerate(runs)
        for _ in range(length)
    ]
    sizes = SegmentSizes(comfortable, comfortable, comfortable, opening_whole=None, shortest=3)
    segments = Segmenter(count_phonemes, limit, sizes).segments([Sentence(tuple(tokens))])
    edges = [(segment.tokens[0].span, segment.tokens[-1].span) for segment in segments]
    for (_, last), (first, _) in zip(edges, edges[1:]):
        assert last != first


def test_a_comma_within_a_source_item_is_no_place_to_cut() -> None:
    number = Span(0, 8)
    tokens = [
        Token(text, TokenKind.PUNCTUATION if text == "," else TokenKind.WORD, Language.EN, number)
        for text in ("five", ",", "two")
    ]
    assert boundaries(tokens)[:2] == [Boundary.FORBIDDEN, Boundary.INSIDE]


def test_a_sentence_within_the_target_stays_whole() -> None:
    assert texts(cut("Turn left, then keep right.")) == ["Turn left , then keep right ."]


# CASES S07
def test_a_fragment_joins_its_neighbour() -> None:
    assert len(cut("No. The exit is closed.")) == 1
    assert len(cut("The exit is closed. Sorry.")) == 1
    assert len(cut("The exit is closed. Please take the next one.")) == 2
    assert texts(cut("Welcome.")) == ["Welcome ."]


def test_the_first_segment_ends_at_the_first_comma_of_a_long_sentence() -> None:
    text = "because of heavy traffic ahead, we have found a faster route, which saves time today."
    assert texts(cut(text))[0] == "because of heavy traffic ahead ,"


def test_a_comma_that_would_leave_a_stump_is_no_place_to_cut() -> None:
    text = "yes, we have found a faster route that saves you eleven minutes of the way home, ok."
    assert len(cut(text)) == 1


def test_a_long_opening_without_marks_is_cut_at_a_phrase_if_wanted() -> None:
    text = (
        "this train will now continue without stopping because the platform lifts of the "
        "following stations are out of order today."
    )
    first = texts(cut(text, sizes=SegmentSizes(opening_whole=80)))[0]
    assert first == "this train will now continue without stopping"
    assert len(cut(text, sizes=SegmentSizes(opening_whole=None))) == 1


def test_segments_grow_up_to_the_comfortable_size() -> None:
    clause = "and the road goes on and on,"
    segments = cut(" ".join([clause] * 40), sizes=SegmentSizes(comfortable=200))
    sizes = [count_phonemes(segment.tokens) for segment in segments]
    assert sizes[0] < sizes[1] < sizes[2]
    assert max(sizes) <= 200
    assert all(segment.tokens[-1].text == "," for segment in segments)


def test_a_stronger_mark_wins_over_a_slightly_longer_segment() -> None:
    text = "one two three four five six; seven eight, nine ten eleven twelve thirteen fourteen"
    sizes = SegmentSizes(comfortable=50, opening=50, growth=1.0, shortest=5)
    tail = Segmenter(count_phonemes, 500, sizes)
    found = list(
        tail.segments([Sentence(tuple(tokens_of("ok."))), Sentence(tuple(tokens_of(text)))])
    )
    assert found[1].tokens[-1].text == ";"


@pytest.mark.parametrize(
    ("text", "pause_s"),
    [
        ("alpha beta gamma. delta epsilon zeta.", PauseTable().sentence_s),
        ("alpha beta gamma? delta epsilon zeta.", PauseTable().question_s),
        ("alpha beta gamma… delta epsilon zeta.", PauseTable().ellipsis_s),
        ("(alpha beta gamma.) delta epsilon zeta.", PauseTable().sentence_s),
        ('"alpha beta gamma!" delta epsilon zeta.', PauseTable().sentence_s),
    ],
)
def test_pauses_follow_the_mark_and_end_with_none(text: str, pause_s: float) -> None:
    assert [segment.pause_s for segment in cut(text)] == [pause_s, PauseTable().end_s]


@pytest.mark.parametrize(
    ("end", "pause_s"),
    [
        (Break.NONE, PauseTable().sentence_s),
        (Break.LINE, PauseTable().line_s),
        (Break.BLANK, PauseTable().paragraph_s),
    ],
)
def test_line_structure_makes_pauses(end: Break, pause_s: float) -> None:
    parts = [Sentence(tuple(tokens_of("alpha beta.")), end)]
    assert [s.pause_s for s in Segmenter(count_phonemes, 500).segments(parts)] == [pause_s]


def test_a_clause_cut_pauses_less_than_a_sentence() -> None:
    segments = cut("because of heavy traffic ahead, " + "we have found a faster route for you" * 2)
    assert segments[0].pause_s == PauseTable().comma_s < PauseTable().sentence_s


def test_six_hundred_letters_without_marks_are_cut_between_words() -> None:  # CASES S04
    segments = cut(" ".join(["abcde"] * 120), limit=100)
    assert sum(len(segment.tokens) for segment in segments) == 120
    assert all(count_phonemes(segment.tokens) <= 100 for segment in segments)


def test_a_token_above_the_limit_is_an_error() -> None:
    token = Token("x" * 50, TokenKind.WORD, Language.EN, Span(0, 50), "x" * 50)
    with pytest.raises(InputError) as caught:
        list(Segmenter(count_phonemes, 40).segments([Sentence((token,))]))
    assert caught.value.code == "input.unsplittable"


def test_a_measure_that_does_not_add_up_is_still_obeyed() -> None:
    def measure(tokens: Sequence[Token]) -> int:
        return len(tokens) ** 2

    tokens = tuple(tokens_of("one two three four five six seven eight nine ten"))
    segments = list(Segmenter(measure, 9).segments([Sentence(tokens)]))
    assert [len(segment.tokens) for segment in segments] == [3, 3, 3, 1]


def test_segments_come_before_later_sentences_are_read() -> None:
    def parts():  # type: ignore[no-untyped-def]
        yield Sentence(tuple(tokens_of("alpha beta gamma.")))
        raise AssertionError("read too far")

    first = next(Segmenter(count_phonemes, 500).segments(parts()))
    assert first.tokens[0].text == "alpha"


def test_chinese_is_cut_between_words_only() -> None:
    tokens = [
        Token("字", TokenKind.WORD, Language.ZH, Span(i, i + 1), "xxxx" + " " * (i % 2))
        for i in range(60)
    ]
    after = boundaries(tokens)
    assert set(after[0:-1:2]) == {Boundary.INSIDE}
    sizes = SegmentSizes(opening=40, opening_whole=60)
    segments = list(Segmenter(count_phonemes, 100, sizes).segments([Sentence(tuple(tokens))]))
    assert len(segments) > 1
    assert all(len(segment.tokens) % 2 == 0 for segment in segments)


def test_leading_marks_make_no_segment() -> None:
    number = [Token("n", TokenKind.WORD, Language.EN, Span(2, 3), "x" * 9 + " ")] * 20
    tokens = [*tokens_of("!)"), *number]
    assert boundaries(tokens)[:2] == [Boundary.FORBIDDEN] * 2
    segments = list(Segmenter(count_phonemes, 500).segments([Sentence(tuple(tokens))]))
    assert len(segments) == 1


def test_marks_stay_with_their_word() -> None:
    tokens = tokens_of('go to “Elm Street” (north) and "wait" here')
    after = dict(zip([t.text + str(i) for i, t in enumerate(tokens)], boundaries(tokens)))
    assert after["“2"] is Boundary.FORBIDDEN
    assert after["Street4"] is Boundary.FORBIDDEN
    assert after["north7"] is Boundary.FORBIDDEN
    assert after['"10'] is Boundary.FORBIDDEN
    assert after["and9"] is Boundary.PHRASE
    assert after["wait11"] is Boundary.FORBIDDEN


def test_a_first_clause_is_cut_off_sooner_in_chinese_than_in_english() -> None:
    chinese = "前方两百米左转，然后靠右行驶".replace("，", ",")
    english = "turn left in two hundred meters, then keep right at the roundabout."
    assert len(cut(chinese)) == 2
    assert len(cut(english)) == 1
