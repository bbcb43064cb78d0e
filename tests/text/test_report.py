"""Losses are counted in bounded memory."""

from __future__ import annotations

from edge_tts.text.report import (
    MAX_KINDS,
    MAX_SAMPLE_CHARS,
    NO_SYMBOL,
    OTHER,
    UNPRONOUNCED,
    Report,
    Tally,
)


def test_empty():
    assert Tally().report() == Report()
    assert Report().total == 0


def test_spaces_are_no_loss():
    tally = Tally()
    tally.add("emoji", " \n")
    assert tally.report().losses == ()


def test_samples_and_kinds_are_bounded():
    tally = Tally()
    tally.add("symbol", "x" * 1000)
    for number in range(2 * MAX_KINDS):
        tally.add(f"script:{number}", "y")
    report = tally.report()
    assert report.losses[0].count == 1000
    assert len(report.losses[0].sample) == MAX_SAMPLE_CHARS
    assert len(report.losses) <= MAX_KINDS + 1
    assert report.count(OTHER) == MAX_KINDS + 1
    assert report.total == 1000 + 2 * MAX_KINDS


def test_what_a_listener_misses_is_told_from_decoration():
    tally = Tally()
    for kind in ("emoji", "markup", "symbol", "script:Thai", UNPRONOUNCED, NO_SYMBOL):
        tally.add(kind, "x")
    heard = {loss.kind for loss in tally.report().unspeakable}
    assert heard == {"symbol", "script:Thai", UNPRONOUNCED, NO_SYMBOL}


def test_control_characters_are_shown_and_do_not_act():
    tally = Tally()
    tally.add("control", "\x1b\u202e")
    assert str(tally.report().losses[0]) == r"2 of control (\u001b\u202e)"
