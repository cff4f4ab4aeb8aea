"""Facts that only a page itself may show: neither its address, title nor date, nor what a search shows of it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_sim.types import Json

_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences_of(text: str) -> list[str]:
    """Split a text at the ends of sentences and lines."""
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def numbers_in(text: str) -> list[float]:
    """Return the numbers that a text shows, in any notation."""
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


def shows(text: str, value: Json) -> bool:
    """Whether a text shows a value: a number in any notation (1871, 1,871), or the same words in this order."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) in numbers_in(text)
    words = _plain(str(value))
    return bool(words.strip()) and words in _plain(text)


def shown_values(text: str, values: Iterable[Json]) -> list[Json]:
    """Return those of the values that a text shows."""
    return [value for value in values if shows(text, value)]


def _plain(text: str) -> str:
    return f" {' '.join(word.casefold() for word in _WORD.findall(text))} "
