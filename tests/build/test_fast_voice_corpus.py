import re
from collections import Counter

from edge_tts.build.fast_voice.corpus import CHINESE_SPEAKERS, ENGLISH_SPEAKERS, build
from edge_tts.text.tokens import Language


def test_the_corpus_is_reproducible_and_names_are_unique() -> None:
    lines = build(40)
    assert lines == build(40)
    assert len({line.name for line in lines}) == len(lines) == 40 * 8


def test_a_prefix_covers_every_speaker() -> None:
    assert {line.speaker for line in build(3)} == {*ENGLISH_SPEAKERS, *CHINESE_SPEAKERS}


def test_templates_are_filled_and_texts_vary() -> None:
    texts = [line.text for line in build(100)]
    assert not [text for text in texts if re.search(r"[{}]", text)]
    assert len(set(texts)) > 0.6 * len(texts)


def test_speakers_read_mostly_their_own_language() -> None:
    counts = Counter((line.speaker[0], line.language) for line in build(200))
    assert counts["a", Language.EN] > 2 * counts["a", Language.ZH]
    assert counts["z", Language.ZH] > 5 * counts["z", Language.EN]
