"""Names of people and places are one word to the ear."""

from __future__ import annotations

import pytest

from edge_tts.text.g2p.chinese import ChineseG2P

G2P = ChineseG2P()


def words_of(text):
    words, _ = G2P.read(text)
    return [text[word.start : word.end] for word in words]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("打电话给张三", "张三"),
        ("张伟先生", "张伟"),
        ("请邓紫棋到三号柜台", "邓紫棋"),
        ("告诉李雷我到了", "李雷"),
        ("周深的新歌", "周深"),
        ("导航到科苑路", "科苑路"),
    ],
)
def test_names_the_lexicon_lacks_stay_whole(text, name):
    assert name in words_of(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("车到了", ["车", "到", "了"]),
        ("江边路滑", ["江边", "路", "滑"]),
        ("石油价格高", ["石油价格", "高"]),
        ("文件已发送", ["文件", "已", "发送"]),
        ("雷很响", ["雷", "很", "响"]),
    ],
)
def test_a_surname_that_is_another_word_here_joins_nothing(text, words):
    assert words_of(text) == words
