"""What SSML's attributes may say: pauses, rates, volumes, languages (W3C SSML 1.1)."""

from __future__ import annotations

import re
from typing import Dict, NoReturn, Optional

from edge_tts.errors import InputError
from edge_tts.text.tokens import Language

MAX_BREAK_S = 10.0
MIN_RATE, MAX_RATE = 0.5, 2.0
MAX_VOLUME = 2.0

_TIME = re.compile(r"\+?(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})(ms|s)")
_PERCENT = re.compile(r"([+-]?)(\d{1,4}(?:\.\d{1,4})?)%")
_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,4})?")
_DECIBEL = re.compile(r"([+-]?\d{1,3}(?:\.\d{1,4})?)dB")

_BREAKS_S = {"none": 0.0, "x-weak": 0.1, "weak": 0.2, "medium": 0.4, "strong": 0.7, "x-strong": 1.2}
_RATES = {"x-slow": 0.6, "slow": 0.8, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.6}
_VOLUMES = {"silent": 0.0, "x-soft": 0.25, "soft": 0.5, "medium": 1.0, "default": 1.0}
_VOLUMES.update({"loud": 1.4, "x-loud": 2.0})


def break_s(attributes: Dict[str, str]) -> float:
    """Length of a `break` in seconds; `time` counts before `strength`."""
    time = attributes.get("time")
    if time is None:
        return _named("strength", attributes.get("strength", "medium").strip(), _BREAKS_S)
    match = _TIME.fullmatch(time.strip())
    if match is None:
        _fail(f"time={time[:40]!r} is no time; write 500ms or 1.5s")
    duration_s = float(match.group(1)) * (0.001 if match.group(2) == "ms" else 1.0)
    if duration_s > MAX_BREAK_S:
        _fail(f"a break of {duration_s:g} s is longer than {MAX_BREAK_S:g} s; write several")
    return duration_s


def rate(value: Optional[str], outer: float) -> float:
    """Speaking rate as a factor: `120%`, `+20%`, `1.2` or a name; within [0.5, 2]."""
    if value is None:
        return outer
    value = value.strip()
    percent = _PERCENT.fullmatch(value)
    if percent:
        share = float(percent.group(2)) / 100.0
        factor = {"": share, "+": 1.0 + share, "-": 1.0 - share}[percent.group(1)]
    elif _NUMBER.fullmatch(value):
        factor = float(value)
    else:
        return _named("rate", value, _RATES)
    return _within("rate", value, outer * factor, MIN_RATE, MAX_RATE)


def volume(value: Optional[str], outer: float) -> float:
    """Factor on the amplitude: `-6dB`, `0` to `100`, `+20%` or a name; within [0, 2]."""
    if value is None:
        return outer
    value = value.strip()
    decibel, percent = _DECIBEL.fullmatch(value), _PERCENT.fullmatch(value)
    if decibel:
        factor = outer * 10.0 ** (float(decibel.group(1)) / 20.0)
    elif percent and percent.group(1):
        share = float(percent.group(1) + percent.group(2)) / 100.0
        factor = outer * (1.0 + share)
    elif percent or _NUMBER.fullmatch(value):
        factor = float(value.rstrip("%")) / 100.0
    else:
        return _named("volume", value, _VOLUMES)
    return _within("volume", value, factor, 0.0, MAX_VOLUME)


def language(tag: Optional[str], outer: Optional[Language]) -> Optional[Language]:
    """Language of a BCP 47 tag such as `zh-CN`. Raises InputError `input.unknown_language`."""
    if tag is None:
        return outer
    try:
        return Language(tag.strip().replace("_", "-").split("-")[0].lower())
    except ValueError:
        known = ", ".join(known.value for known in Language)
        raise InputError(
            f"xml:lang={tag[:40]!r} is not spoken; known: {known}", code="input.unknown_language"
        ) from None


def _named(attribute: str, value: str, names: Dict[str, float]) -> float:
    if value not in names:
        _fail(f"{attribute}={value[:40]!r} is not known; known: {', '.join(names)}")
    return names[value]


def _within(attribute: str, value: str, factor: float, low: float, high: float) -> float:
    if not low <= factor <= high:
        _fail(f"{attribute}={value!r} comes to a factor of {factor:g}; from {low:g} to {high:g}")
    return factor


def _fail(problem: str) -> NoReturn:
    raise InputError(f"not SSML that can be spoken: {problem}", code="input.ssml_invalid")
