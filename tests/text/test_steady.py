"""The front end over a long life and under load: nothing grows, and nobody gets another's words."""

from __future__ import annotations

import gc
import sys
import tempfile
import threading
from pathlib import Path
from typing import Dict, List

import pytest

from edge_tts.text.frontend import FrontEnd
from edge_tts.text.g2p.pronouncer import Pronouncer
from edge_tts.text.segment import count_phonemes

LIMIT = 510
TEXTS = ["Turn left.", "前方200米右转。", "打开Bluetooth。", "GPS lost", "It's 3:25 PM.", "……"]


def front_end() -> FrontEnd:
    return FrontEnd(Pronouncer(), count_phonemes, LIMIT)


def read(front: FrontEnd, text: str) -> List[str]:
    return [segment.phonemes for segment in front.segments(text)]


def descriptors_and_files() -> List[int]:
    folders = (Path("/proc/self/fd"), Path(tempfile.gettempdir()))
    return [sum(1 for _ in folder.iterdir()) for folder in folders]


def allocated_blocks() -> int:
    gc.collect()
    return sys.getallocatedblocks()


# CASES C01
def test_three_thousand_short_calls_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    front = front_end()
    for text in TEXTS * 20:
        read(front, text)
    n_blocks, n_open = allocated_blocks(), descriptors_and_files()
    for text in TEXTS * 500:
        read(front, text)
    assert allocated_blocks() - n_blocks < 500
    assert descriptors_and_files() == n_open


# CASES C02
def test_threads_that_read_at_once_get_each_their_own_words() -> None:
    texts = {
        number: f"Gate {number}: 前往{number}号登机口, flight CA18{number}1 to Oslo. " * 3
        for number in range(10, 14)
    }
    alone = {number: read(front_end(), text) for number, text in texts.items()}
    together: Dict[int, List[List[str]]] = {number: [] for number in texts}

    def work(number: int) -> None:
        front = front_end()
        for _ in range(10):
            together[number].append(read(front, texts[number]))

    threads = [threading.Thread(target=work, args=(number,)) for number in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == {number: [words] * 10 for number, words in alone.items()}
