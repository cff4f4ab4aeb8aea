"""Which values may nobody see, and what is a text without them?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

HIDDEN = "***"
_SHORTEST = 4
_TELLING = re.compile(r"(?i)token|secret|passw|passphrase|api.?key|auth|credential|bearer|(?:^|[_-])key$")
_LIKE_A_SECRET = re.compile(r"[A-Za-z0-9_.~+/=-]{20,}")


@dataclass(frozen=True, slots=True)
class Secrets:
    """The values that are hidden, wherever they stand in a text."""

    values: frozenset[str]

    def hidden(self, text: str) -> str:
        """The text with the values gone; longer ones first, since they may hold shorter ones."""
        for value in sorted(self.values, key=len, reverse=True):
            text = text.replace(value, HIDDEN)
        return text


def secrets_of(words: Iterable[str], values: Iterable[str], headers: Mapping[str, str]) -> Secrets:
    """What must not be shown of a command or URL and of headers, beside values that are secret as a whole."""
    found = {*values, *headers.values(), *_in_words(list(words))}
    found |= {part for value in headers.values() for part in value.split()}
    return Secrets(frozenset(value for value in found if len(value) >= _SHORTEST))


def _in_words(words: list[str]) -> Iterator[str]:
    before = ""
    for word in words:
        name, sign, value = word.partition("=")
        if "://" in word:
            yield from _in_url(word)
        elif _TELLING.search(name) and name.startswith("-") and sign:
            yield value
        elif before.startswith("-") and _TELLING.search(before) and "=" not in before and not word.startswith("-"):
            yield word
        elif _LIKE_A_SECRET.fullmatch(value or word) and re.search(r"\d", word) and "/" not in word:
            yield value or word
        before = word


def _in_url(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    for value in (parts.username, parts.password):
        if value:
            yield from (value, unquote(value))
    yield from (value for _, value in parse_qsl(parts.query))
    yield from (part for part in parts.query.split("&") if part)
