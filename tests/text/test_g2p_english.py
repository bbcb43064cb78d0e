"""English words in context: readings, weak forms, letter runs, spacing."""

from __future__ import annotations

import re
from typing import List

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.text.g2p.english import EnglishG2P
from edge_tts.text.g2p.english_sounds import unknown_symbols
from edge_tts.text.tokens import Language, Span, Token, TokenKind

G2P = EnglishG2P()


def tokens(text: str) -> List[Token]:
    """Words and marks of `text`; `{GPS}` gives one token per letter, all with one span."""
    found: List[Token] = []
    for match in re.finditer(r"\{(\w+)\}|[\w'’-]+|[^\w\s]", text):
        span = Span(*match.span())
        is_word = match.group()[0].isalnum() or match.group(1)
        kind = TokenKind.WORD if is_word else TokenKind.PUNCTUATION
        pieces = list(match.group(1)) if match.group(1) else [match.group()]
        for piece in pieces:
            language = Language.ZH if "一" <= piece[0] <= "鿿" else Language.EN
            found.append(Token(piece, kind, language, span))
    return found


def spoken(text: str) -> str:
    return "".join(token.phonemes for token in G2P.pronounce(tokens(text)))


def word_in(text: str, word: str) -> str:
    """Phonemes of the first token spelt `word` in `text`."""
    for token in G2P.pronounce(tokens(text)):
        if token.text == word:
            return token.phonemes.strip()
    raise LookupError(word)


READINGS = [
    ("I read the news every day", "read", "ɹˈid"),
    ("Will you read this message", "read", "ɹˈid"),
    ("Please read the terms", "read", "ɹˈid"),
    ("I read the book yesterday", "read", "ɹˈɛd"),
    ("I have already read it", "read", "ɹˈɛd"),
    ("She read the sign", "read", "ɹˈɛd"),
    ("The letter was read aloud", "read", "ɹˈɛd"),
    ("Did you read it", "read", "ɹˈid"),
    ("Have you read it", "read", "ɹˈɛd"),
    ("Yesterday, I read it", "read", "ɹˈɛd"),
    ("It was late. I read it now", "read", "ɹˈid"),
    ("Mark it as read", "read", "ɹˈɛd"),
    ("Read receipts", "Read", "ɹˈid"),
    ("He wound the clock", "wound", "wˈWnd"),
    ("The wound is clean", "wound", "wˈund"),
    ("Seats that produce heat", "produce", "pɹədˈus"),
    ("People live in the city", "live", "lˈɪv"),
    ("Where do you live", "live", "lˈɪv"),
    ("The live broadcast starts", "live", "lˈIv"),
    ("We go live at nine", "live", "lˈIv"),
    ("He lives in Shanghai", "lives", "lˈɪvz"),
    ("Seat belts save lives", "lives", "lˈIvz"),
    ("The wind is strong", "wind", "wˈɪnd"),
    ("Wind down the window", "Wind", "wˈInd"),
    ("Close the door", "Close", "klˈOz"),
    ("The doors close at nine", "close", "klˈOz"),
    ("You are close to your destination", "close", "klˈOs"),
    ("Stay close", "close", "klˈOs"),
    ("Use the brake", "Use", "jˈuz"),
    ("The use of seat belts", "use", "jˈus"),
    ("The lift is in use", "use", "jˈus"),
    ("Record a message", "Record", "ɹəkˈɔɹd"),
    ("The record is kept", "record", "ɹˈɛkəɹd"),
    ("Take metformin twice", "metformin", "mɛtfˈɔɹmən"),
    ("Omeprazole before food", "Omeprazole", "OmˈɛpɹəzˌOl"),
    ("Call Ms Zheng", "Zheng", "ʤˈʌŋ"),
    ("Mr Cai is here", "Cai", "tsˈI"),
    ("Jokić scored", "Jokić", "jˈOkɪʧ"),
    ("Exit for Loughborough", "Loughborough", "lˈʌfbəɹə"),
    ("The race at Le Mans", "Le", "lˌə"),
    ("Record highs today", "Record", "ɹˈɛkəɹd"),
    ("They record highs and lows", "record", "ɹəkˈɔɹd"),
    ("Present day prices", "Present", "pɹˈɛzᵊnt"),
    ("Import taxes rose", "Import", "ˈɪmpˌɔɹt"),
    ("Long live the king", "live", "lˈɪv"),
    ("Live and learn", "Live", "lˈɪv"),
    ("The article I read this morning", "read", "ɹˈɛd"),
    ("I read every morning", "read", "ɹˈid"),
    ("The camera records your trip", "records", "ɹəkˈɔɹdz"),
    ("Cameras record the road", "record", "ɹəkˈɔɹd"),
    ("Present your ticket", "Present", "pɹizˈɛnt"),
    ("At the present moment", "present", "pɹˈɛzᵊnt"),
    ("An object ahead", "object", "ˈɑbʤəkt"),
    ("We object to that", "object", "əbʤˈɛkt"),
    ("Turn left in one minute", "minute", "mˈɪnət"),
    ("A minute amount of oil", "minute", "mInˈut"),
    ("Take the lead", "lead", "lˈid"),
    ("Toxic lead paint", "lead", "lˈɛd"),
    ("Tear gas", "Tear", "tˈɪɹ"),
    ("Tear along the line", "Tear", "tˈɛɹ"),
    ("Vehicles permit this", "permit", "pəɹmˈɪt"),
    ("The permit is required", "permit", "pˈɜɹmɪt"),
    ("Refuse the call", "Refuse", "ɹəfjˈuz"),
    ("The refuse bin is full", "refuse", "ɹˈɛfjˌus"),
    ("Content unavailable", "Content", "kˈɑntɛnt"),
    ("He is content with it", "content", "kəntˈɛnt"),
    ("Two separate rooms", "separate", "sˈɛpəɹət"),
    ("Separate the parts", "Separate", "sˈɛpəɹˌAt"),
    ("We estimate two hours", "estimate", "ˈɛstəmˌAt"),
    ("An estimate of time", "estimate", "ˈɛstəmət"),
    ("They produce cars", "produce", "pɹədˈus"),
    ("Fresh produce is sold here", "produce", "pɹˈOdˌus"),
    ("Do not desert me", "desert", "dəzˈɜɹt"),
    ("A desert road", "desert", "dˈɛzəɹt"),
    ("I used to drive", "used", "jˈust"),
    ("Used cars", "Used", "jˈuzd"),
    ("Upload your resume", "resume", "ɹˈɛzəmˌA"),
    ("Resume navigation", "Resume", "ɹəzˈum"),
    ("Polish the table", "Polish", "pˈɑlɪʃ"),
    ("A Polish car", "Polish", "pˈOlɪʃ"),
]


@pytest.mark.parametrize(("text", "word", "expected"), READINGS)
def test_homographs_follow_their_neighbours(text: str, word: str, expected: str) -> None:
    assert word_in(text, word) == expected


WEAK_FORMS = [
    ("the car", "the", "ðə"),
    ("the apple", "the", "ði"),
    ("the hour", "the", "ði"),
    ("to you", "to", "tə"),
    ("to Austin", "to", "tʊ"),
    ("where to?", "to", "tu"),
    ("in a car", "in", "ɪn"),
    ("plug it in", "in", "ˈɪn"),
    ("a car", "a", "ɐ"),
    ("an hour", "an", "ɐn"),
    ("yes I will", "will", "wˈɪl"),
    ("it will rain", "will", "wɪl"),
]


@pytest.mark.parametrize(("text", "word", "expected"), WEAK_FORMS)
def test_function_words_weaken(text: str, word: str, expected: str) -> None:
    assert word_in(text, word) == expected


def test_letters_of_an_acronym_are_one_word_with_stress_on_the_last() -> None:
    assert spoken("no {GPS} signal") == "nˈO ʤˌipˌiˈɛs sˈɪɡnᵊl"


def test_letters_of_different_items_stay_apart() -> None:
    assert spoken("B C") == "bˈi sˈi"


def test_letter_a_and_article_a_differ() -> None:
    assert word_in("go to gate A", "A") == "ˈA"
    assert word_in("A car", "A") == "ɐ"
    assert word_in("{ETA} now", "A") == "ˈA"
    assert word_in("take the A train", "A") == "ˈA"
    assert word_in("A to Z", "A") == "ˈA"


def test_letter_written_together_with_a_number_is_a_letter() -> None:
    code = [
        Token("A", TokenKind.WORD, Language.EN, Span(0, 1)),
        Token("forty", TokenKind.WORD, Language.EN, Span(1, 3)),
    ]
    assert "".join(token.phonemes for token in G2P.pronounce(code)) == "ˈA fˈɔɹɾi"


def test_short_words_are_not_plurals_of_letters() -> None:
    assert word_in("Is this free", "Is") == "ˌɪz"
    assert word_in("As you like", "As") == "ˌæz"
    assert word_in("The Cs and Bs", "Cs") == "sˈiz"


def test_abbreviation_that_is_also_a_word_is_spelled_unless_all_is_capitals() -> None:
    assert word_in("made in the US today", "US") == "jˌuˈɛs"
    assert word_in("CALL US TODAY", "US") == "ˌʌs"


def test_spaces_stand_only_between_english_words() -> None:
    pronounced = G2P.pronounce(tokens("你 hello world, again"))
    assert [token.phonemes for token in pronounced] == ["", "həlˈO", " wˈɜɹld", "", "əɡˈɛn"]


def test_tokens_of_others_come_back_untouched() -> None:
    given_tokens = [
        Token("好", TokenKind.WORD, Language.ZH, Span(0, 1), "xau"),
        Token("Geis", TokenKind.WORD, Language.EN, Span(1, 5), "ɡˈIs"),
        Token(".", TokenKind.PUNCTUATION, Language.EN, Span(5, 6)),
    ]
    assert G2P.pronounce(given_tokens) == given_tokens


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), max_size=6))
def test_any_text_gives_known_symbols_and_keeps_every_token(words: List[str]) -> None:
    given_tokens = [Token(w, TokenKind.WORD, Language.EN, Span(0, 1)) for w in words]
    pronounced = G2P.pronounce(given_tokens)
    assert [token.text for token in pronounced] == words
    assert unknown_symbols("".join(token.phonemes for token in pronounced)) == ""


AMBIGUOUS = ("I", "read", "a", "close", "live", "record", "the", "to", "US", "B", "that")


@given(st.lists(st.sampled_from(AMBIGUOUS), max_size=8))
def test_any_order_of_ambiguous_words_is_spoken_whole(words: List[str]) -> None:
    pronounced = G2P.pronounce(
        [Token(w, TokenKind.WORD, Language.EN, Span(i, i + 1)) for i, w in enumerate(words)]
    )
    assert all(token.phonemes for token in pronounced)
