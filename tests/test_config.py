"""Configuration: every source, every kind of mistake, and the page that documents the table."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts import config
from edge_tts.errors import CODES, ConfigError
from edge_tts.text.boundaries import PauseTable

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def own_directories(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    for name in list(os.environ):
        if name.startswith("EDGE_TTS_"):
            monkeypatch.delenv(name)


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    return str(path)


def error_of(tmp_path: Path, text: str) -> ConfigError:
    path = write(tmp_path / "c.yaml", text)
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    return caught.value


def test_defaults_come_from_the_table():
    loaded = config.load()
    assert loaded == config.Config()
    assert loaded.voice == "kokoro"
    assert loaded.pauses.sentence_s == config.OPTIONS["pauses.sentence_s"].default


def test_a_later_source_overrides_an_earlier_one(tmp_path):
    write(tmp_path / "xdg/edge-tts/config.yaml", "speed: 0.6\nvolume: 0.5\nvoice: a\n")
    named = write(tmp_path / "named.yaml", "speed: 0.7\nvolume: 0.7\n")
    loaded = config.load(named, {"speed": 0.9, "volume": None}, {"EDGE_TTS_SPEED": "0.8"})
    assert (loaded.voice, loaded.volume, loaded.speed) == ("a", 0.7, 0.9)


def test_nested_section_and_its_variable(tmp_path):
    path = write(tmp_path / "c.yaml", "pauses:\n  clause_s: 0.3\n  sentence_s: 1\naudio:\n")
    assert config.load(path).pauses == config.Pauses(clause_s=0.3, sentence_s=1.0)
    loaded = config.load(path, environment={"EDGE_TTS_PAUSES_CLAUSE_S": "0.5"})
    assert loaded.pauses.clause_s == 0.5


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("voice: kokoro\nsped: 1\n", "config.unknown_key", [":2:", "'sped'", "'speed'"]),
        ("pauses:\n  sentense_s: 1\n", "config.unknown_key", [":2:", "'pauses.sentence_s'"]),
        ("qqqqqq: 1\n", "config.unknown_key", [":1:", "known:", "voice"]),
        ("\nspeed: 3\n", "config.out_of_range", [":2:", "between 0.5 and 2", "3"]),
        ("speed: .nan\n", "config.out_of_range", [":1:"]),
        ("budget_mib: 1001\n", "config.out_of_range", ["between 200 and 1000"]),
        ("language: fr\n", "config.out_of_range", ["auto, zh, en", "'fr'"]),
        ("language: no\n", "config.wrong_type", ["text", "False", "quotes"]),
        ("speed: true\n", "config.wrong_type", ["a number", "True"]),
        ("speed: fast\n", "config.wrong_type", ["a number", "'fast'"]),
        ("speed: null\n", "config.wrong_type", ["a number"]),
        ("threads: 1.5\n", "config.wrong_type", ["a whole number", "1.5"]),
        ("threads: .inf\n", "config.wrong_type", ["a whole number"]),
        ("speed: [1]\n", "config.wrong_type", ["a single value"]),
        ("pauses: 3\n", "config.wrong_type", [":1:", "'pauses'"]),
        ("- speed\n", "config.wrong_type", [":1:", "the file"]),
        ("voice: a\nvoice: b\n", "config.invalid", [":2:", "twice"]),
        ("voice: 'a\n", "config.unreadable", ["not YAML"]),
        ("voice: !!python/object:os.system x\n", "config.wrong_type", ["voice"]),
        ("a: &a {a: *a}\n", "config.unknown_key", [":1:"]),
        ("voice: \x00\n", "config.unreadable", ["not YAML"]),
        ("#" * 70_000, "config.unreadable", ["larger than"]),
    ],
)
def test_mistakes_name_file_line_and_remedy(tmp_path, text, code, words):
    error = error_of(tmp_path, text)
    assert error.code == code
    assert str(tmp_path / "c.yaml") in str(error)
    for word in words:
        assert word in str(error)


def test_mistakes_in_variables_and_flags_name_them():
    with pytest.raises(ConfigError, match=r"EDGE_TTS_SPEED: speed must be between") as caught:
        config.load(environment={"EDGE_TTS_SPEED": "9"})
    assert caught.value.code == "config.out_of_range"
    with pytest.raises(ConfigError, match="did you mean 'EDGE_TTS_VOLUME'"):
        config.load(environment={"EDGE_TTS_VOLUM": "1"})
    with pytest.raises(ConfigError, match=r"^--speed: "):
        config.load(flags={"speed": 0.1})


def test_variables_of_other_rooms_and_empty_ones_are_left_alone():
    environment = {"EDGE_TTS_VOICES_DIR": "/v", "EDGE_TTS_WHEELS": "/w", "EDGE_TTS_SPEED": ""}
    assert config.load(environment=environment) == config.Config()


def test_missing_file_and_bad_encoding(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        config.load(str(tmp_path / "absent.yaml"))
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"voice: caf\xe9\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        config.load(str(path))


def test_a_relative_path_counts_from_the_file_that_names_it(tmp_path):
    path = write(tmp_path / "there/c.yaml", "lexicon: words.yaml\n")
    assert config.load(path).lexicon == tmp_path / "there/words.yaml"
    given_as_flag = config.load(flags={"lexicon": "words.yaml"}).lexicon
    assert given_as_flag == Path.cwd() / "words.yaml"
    assert config.load(flags={"lexicon": "~/w.yaml"}).lexicon == Path.home() / "w.yaml"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root refuses files of other users")
def test_root_refuses_a_file_others_may_change(tmp_path):
    path = write(tmp_path / "c.yaml", "speed: 1.1\n")
    assert config.load(path).speed == 1.1
    for damage in (lambda: Path(path).chmod(0o666), lambda: os.chown(path, 1234, 0)):
        Path(path).chmod(0o644)
        os.chown(path, 0, 0)
        damage()
        with pytest.raises(ConfigError, match="chown root:root") as caught:
            config.load(path)
        assert caught.value.code == "config.unsafe"


NUMERIC = [option for option in config.OPTIONS.values() if option.kind in (int, float)]


@given(option=st.sampled_from(NUMERIC), value=st.floats())
def test_no_number_outside_its_range_gets_through(option, value):
    try:
        loaded = config.load(environment={option.variable: repr(value)})
    except ConfigError as error:
        assert error.code in CODES
        return
    result = loaded
    for name in option.key.split("."):
        result = getattr(result, name)
    assert option.low <= result <= option.high


@given(text=st.text(max_size=200))
def test_any_text_is_a_configuration_or_a_named_error(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    path.chmod(0o644)
    try:
        config.load(str(path))
    except ConfigError as error:
        assert str(path) in str(error)


def test_the_pauses_are_the_front_end_s():
    table = dataclasses.asdict(PauseTable())
    ours = dataclasses.asdict(config.Pauses())
    assert ours == {name: table[name] for name in ours}


def test_the_page_lists_exactly_the_table():
    page = (ROOT / "docs/config.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z_.]+)` \|(.*)\|$", page, re.MULTILINE))
    assert rows.keys() == config.OPTIONS.keys()
    for option in config.OPTIONS.values():
        assert option.help in rows[option.key]
        assert f"`{option.variable}`" in rows[option.key]
        if option.default is not None:
            assert f"`{option.default}`" in rows[option.key]
        for choice in option.choices:
            assert f"`{choice}`" in rows[option.key]
        if option.kind in (int, float):
            assert f"{option.low:g}–{option.high:g}" in rows[option.key]
