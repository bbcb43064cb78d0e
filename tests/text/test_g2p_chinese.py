"""Chinese tokens to phonemes: words, tones, unknown characters, damaged data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import List

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.errors import ModelError
from edge_tts.text.g2p.chinese import ChineseG2P
from edge_tts.text.g2p.pinyin import Syllable, parse_syllable, syllable_phonemes
from edge_tts.text.g2p.zh_lexicon import ChineseLexicon
from edge_tts.text.g2p.zh_polyphones import PolyphoneRules
from edge_tts.text.normalise import normalise
from edge_tts.text.tokens import Language, Span, Token, TokenKind

G2P = ChineseG2P()
KOKORO_SYMBOLS = frozenset(" abcdefhijklmnopstuwxyzɔɕəɚɛɤɥɨŋɻʂʊʦʨʰꭧ↓→↗↘")


def tokens(text: str) -> List[Token]:
    return [
        Token(char, TokenKind.WORD, Language.ZH, Span(position, position + 1))
        for position, char in enumerate(text)
    ]


def pinyin(text: str) -> str:
    """Tone-number pinyin, words apart."""
    words, syllables = G2P.read(text)
    spelled = [f"{s.base}{s.tone}" if s else "?" for s in syllables]
    return " ".join("".join(spelled[word.start : word.end]) for word in words)


@pytest.mark.parametrize(
    ("spelling", "phonemes"),
    [
        ("zhong1", "ꭧʊ→ŋ"),
        ("lü4", "ly↘"),
        ("lv4", "ly↘"),
        ("xue2", "ɕɥe↗"),
        ("quan2", "ʨʰɥɛ↗n"),
        ("shi4", "ʂɨ↘"),
        ("si4", "sɨ↘"),
        ("xi4", "ɕi↘"),
        ("you3", "jou↓"),
        ("wei2", "wei↗"),
        ("dui4", "twei↘"),
        ("er2", "ɚ↗"),
        ("de5", "tɤ"),
        ("de", "tɤ"),
    ],
)
def test_syllables_follow_the_convention_of_the_model(spelling: str, phonemes: str) -> None:
    assert syllable_phonemes(parse_syllable(spelling)) == phonemes


@pytest.mark.parametrize("spelling", ["", "zhong6", "hello", "xq1", "1"])
def test_what_is_no_syllable_is_refused(spelling: str) -> None:
    with pytest.raises(ValueError, match=r"syllable|tone"):
        parse_syllable(spelling)


def test_a_word_inside_a_run_starts_with_a_space() -> None:
    phonemes = [token.phonemes for token in G2P.pronounce(tokens("欢迎使用导航"))]
    assert phonemes == ["xwa→n", "i↗ŋ", " ʂɨ↓", "jʊ↘ŋ", " tau↓", "xa↗ŋ"]


def test_other_tokens_pass_and_part_the_runs() -> None:
    comma = Token(",", TokenKind.PUNCTUATION, Language.ZH, Span(2, 3))
    english = Token("GPS", TokenKind.WORD, Language.EN, Span(3, 6))
    given_tokens = [*tokens("你好"), comma, english, *tokens("好")]
    pronounced = G2P.pronounce(given_tokens)
    assert pronounced[2:4] == [comma, english]
    assert pronounced[4].phonemes == "xau↓"
    assert [token.span for token in pronounced] == [token.span for token in given_tokens]


def test_unknown_characters_stay_empty_and_are_counted() -> None:
    g2p = ChineseG2P()
    unknown = "\U0002ebf0"
    assert [token.phonemes for token in g2p.pronounce(tokens(unknown + "好"))] == ["", " xau↓"]
    assert g2p.unknown == {unknown: 1}


def test_rare_characters_are_read() -> None:
    assert pinyin("㙍䶮") == "duo1 yan3"


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [("銀行行長", "银行行长"), ("請在前方路口調頭", "请在前方路口调头"), ("長江大橋", "长江大桥")],
)
def test_traditional_text_reads_like_simplified(traditional: str, simplified: str) -> None:
    assert pinyin(traditional) == pinyin(simplified)


def test_a_traditional_character_keeps_a_reading_of_its_own() -> None:
    assert pinyin("他的髮") == "ta1 de5 fa4"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("你好", "ni2hao3"),
        ("五百米", "wu2bai2mi3"),
        ("展览馆", "zhan2lan2guan3"),
        ("小老虎", "xiao3lao2hu3"),
        ("一个", "yi2ge4"),
        ("一起", "yi4qi3"),
        ("一天", "yi4tian1"),
        ("第一", "di4yi1"),
        ("一号", "yi1hao4"),
        ("快一点", "kuai4yi4dian3"),
        ("下午一点", "xia4wu3yi1dian3"),
        ("一点半", "yi1dian3ban4"),
        ("三点一刻", "san1dian3yi2ke4"),
        ("三点一四", "san1dian3yi1si4"),
        ("负一层", "fu4yi1ceng2"),
        ("二零一一年", "er4 ling2 yi1 yi1 nian2"),
        ("三十一", "san1shi2yi1"),
        ("三比一胜", "san1bi3yi1sheng4"),
        ("乘一路公交", "cheng2yi1lu4gong1jiao1"),
        ("每天一班", "mei3tian1yi4ban1"),
        ("一班的同学", "yi1ban1de5tong2xue2"),
        ("一步一步", "yi2bu4yi2bu4"),
        ("一两天", "yi4liang3tian1"),
        ("一年级", "yi1nian2ji2"),
        ("不要", "bu2yao4"),
        ("不好", "bu4hao3"),
        ("不", "bu4"),
        ("对不起", "dui4bu5qi3"),
        ("好不好", "hao3bu5hao3"),
        ("看一看", "kan4yi5kan4"),
        ("等一等", "deng3yi5deng3"),
        ("爸爸", "ba4ba5"),
        ("我们", "wo3men5"),
        ("你的", "ni3 de5"),
    ],
)
def test_tones_in_connected_speech(text: str, expected: str) -> None:
    assert pinyin(text).replace(" ", "") == expected.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("驶入环岛", "shi3ru4 huan2dao3"),
        ("匝道", "za1dao4"),
        ("高架", "gao1jia4"),
        ("隧道", "sui4dao4"),
        ("服务区", "fu2wu4qu1"),
        ("收费站", "shou1fei4zhan4"),
        ("充电站", "chong1dian4zhan4"),
        ("剩余", "sheng4yu2"),
        ("掉头", "diao4tou2"),
    ],
)
def test_driving_words(text: str, expected: str) -> None:
    assert pinyin(text).replace(" ", "") == expected.replace(" ", "")


@settings(deadline=None)
@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=60))
def test_every_character_keeps_its_place_and_the_model_knows_the_symbols(text: str) -> None:
    pronounced = G2P.pronounce(tokens(text))
    assert [token.text for token in pronounced] == list(text)
    assert not set("".join(token.phonemes for token in pronounced)) - KOKORO_SYMBOLS
    words, syllables = G2P.read(text)
    assert [word.start for word in words][1:] == [word.end for word in words][:-1]
    assert len(syllables) == len(text)


def test_a_long_run_is_read_whole() -> None:
    _, syllables = G2P.read("前方路口左转" * 700)
    assert len(syllables) == 4200
    assert all(isinstance(syllable, Syllable) for syllable in syllables)


def test_every_rule_compiles_and_names_a_reading_its_character_has() -> None:
    lexicon = ChineseLexicon()
    for char, rules in PolyphoneRules().by_char.items():
        (hanzi,) = lexicon.hanzi(char)
        assert hanzi is not None
        for rule in rules:
            re.compile(rule.left)
            re.compile(rule.right)
            assert rule.reading in hanzi.readings, (char, rule)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"zh_word_keys\.npy.*reinstall"):
        ChineseLexicon(tmp_path)


def test_a_damaged_rule_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text("xing2\tno brackets\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"rules\.tsv.*not a rule"):
        PolyphoneRules(path)


def spoken(text: str) -> List[str]:
    """Phonemes of the tokens that a text is read as."""
    return [token.phonemes for token in G2P.pronounce(normalise(text))]


def test_a_direction_is_one_word() -> None:
    assert pinyin("徐泾东方向的车").split()[2:4] == ["dong1", "fang1xiang4"]
    assert pinyin("由西方向东方走").split()[1:4] == ["xi1fang1", "xiang4", "dong1fang1"]


def test_a_number_is_no_part_of_the_name_before_it() -> None:
    assert spoken("樊振东4:2胜")[3].startswith(" ")


def test_a_digit_of_a_code_keeps_its_tone() -> None:
    assert spoken("F1中国")[1] == syllable_phonemes(parse_syllable("yi1"))
    assert spoken("K1023+500处")[1] == syllable_phonemes(parse_syllable("yi4"))
