"""Names the lexicon lacks: their characters are one word to the ear, so no space parts them."""

from __future__ import annotations

from typing import FrozenSet, List, Sequence

from edge_tts.text.g2p.zh_segment import Word


def _words_of(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


# The surnames of nine in ten people, less those that are mostly other words (和, 时, 路, 万 …).
SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢"
    "姜崔钟谭陆汪范廖石贾韦夏傅邹熊孟秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵钱严覃武戴莫孔汤温康施文牛樊葛"
    "邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申耿柳俞左祝裴阮尤柴柯童季解单仇查"
)
# Characters that no given name or place name is made of.
_FUNCTION = frozenset(
    "的了在是和与到去有不也都就还把被给让从对向为以及或但而且将要会能可请叫找我你您他她它们这那哪谁什么"
    "吗呢吧啊呀很太更最已再又没个位只条次号路线站点分秒米元说问看听打接来过上下里外前后左右"
)
_NUMERALS = frozenset("一二三四五六七八九十百千零两几")
_BEFORE_NAME = _words_of(
    "给 叫 找 请 是 和 与 跟 让 向 播放 拨打 呼叫 联系 致电 来自 通知 告诉 打给 发给 转给 "
    "歌手 演员 导演 作者 作家 主持人 乘客 旅客 顾客 用户 客人 司机 会员 患者 病人 "
    "同事 朋友 邻居 姓名 名叫 我叫"
)
_TITLES = _words_of(
    "先生 女士 小姐 老师 医生 大夫 师傅 经理 总经理 主任 教授 同学 律师 警官 阿姨 叔叔 总 "
    "局长 处长 校长 院长 部长 队长 站长 导演 博士 主席 书记"
)
_PLACES = frozenset("路街道区县镇乡村桥站山湖湾园巷弄里港岛河江寺庙塔楼馆厦苑坊")
_MAX_GIVEN = 2
_MAX_PLACE = 3


def join_names(text: str, words: Sequence[Word]) -> List[Word]:
    """`words` with the characters of each personal and place name in one word."""
    joined: List[Word] = []
    at = 0
    while at < len(words):
        end = _person_end(text, words, at) or _place_end(text, words, at)
        if end:
            joined.append(Word(words[at].start, words[end - 1].end, None))
            at = end
        else:
            joined.append(words[at])
            at += 1
    return joined


def _person_end(text: str, words: Sequence[Word], at: int) -> int:
    """Index after the name of a person that starts at word `at`; 0 when none does."""
    if not _is_single(words, at) or text[words[at].start] not in SURNAMES:
        return 0
    end = at + 1 + _count_free(text, words, at + 1, _MAX_GIVEN, _FUNCTION)
    if end == at + 1:
        return 0
    titled = end < len(words) and _spelling(text, words[end]) in _TITLES
    called = at > 0 and _spelling(text, words[at - 1]) in _BEFORE_NAME
    alone = at == 0 and (end == len(words) or _spelling(text, words[end]) == "的")
    return end if titled or called or alone else 0


def _place_end(text: str, words: Sequence[Word], at: int) -> int:
    """Index after a place name of single characters and a suffix: 科苑路."""
    length = _count_free(text, words, at, _MAX_PLACE, _FUNCTION | _NUMERALS)
    for n_characters in range(length, 1, -1):
        end = at + n_characters
        if _is_single(words, end) and text[words[end].start] in _PLACES:
            return end + 1
    return 0


def _count_free(
    text: str, words: Sequence[Word], at: int, most: int, excluded: FrozenSet[str]
) -> int:
    """How many single characters from word `at` may belong to a name."""
    count = 0
    while count < most and _is_single(words, at + count):
        if text[words[at + count].start] in excluded:
            break
        count += 1
    return count


def _is_single(words: Sequence[Word], at: int) -> bool:
    return at < len(words) and words[at].end - words[at].start == 1


def _spelling(text: str, word: Word) -> str:
    return text[word.start : word.end]
