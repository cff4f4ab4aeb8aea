"""Redact secrets from what is recorded: by key, by pattern, and known values wherever they appear.

The same secret becomes the same placeholder, `<redacted:KIND-NUMBER>`, so that calls still match their recordings.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from mcp_sim.recordings.capture.secret_words import SecretKeys, compiled_patterns, is_open_value, re2
from mcp_sim.spec.foreign.secrets import find_secrets
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json, Record

SHORTEST_KNOWN = 6
"""A shorter secret is redacted at its key only: as a part of other texts it may be anything."""

MOST_KNOWN = 5000
"""The most secrets that are looked for everywhere."""

MOST_PLACES = 3
"""The most places that are named for a kind of secret."""

_NAME = re2.compile(
    r"(?i)[a-z0-9_.-]*(?:passw|passphrase|passcode|secret|token|key|auth|credential|cookie|pwd|\bpin\b|otp|cvv|jwt|\bpat\b"
    r"|mnemonic|connection.?string)[a-z0-9_.-]*"
)
"""A name in a text that may be that of a secret."""

_VALUE = re.compile(
    r"(?:\\*[\"'])?\s{0,4}(?:=>|[:=])\s{0,4}"
    r"(?:(?P<quote>\\*[\"'])(?P<quoted>(?:(?!(?P=quote)).){1,4096})(?P=quote)|(?P<bare>[^\s\"'`,;&<>{}\[\]()\\]{4,4096}))"
)
_LONG_PART = re.compile(r"[A-Za-z0-9_.~+=-]{16,}")

_SCHEMA_VALUES = ("default", "const", "example", "examples")
"""Keywords of a JSON Schema with values that it describes."""


class Redactor:
    """Replaces secrets by placeholders, and counts them.

    `keys` and `patterns` are further ones. Raises `UsageError` for an invalid pattern.
    """

    def __init__(self, keys: Iterable[str] = (), patterns: Sequence[str] = ()) -> None:
        self._own = [key.lower() for key in keys]
        self._keys = SecretKeys(self._own)
        self._patterns = compiled_patterns(patterns)
        self._placeholders = dict[str, str]()
        self._numbers = Counter[str]()
        self._known = dict[str, str]()
        self._finder: Any = None
        self._found = Counter[str]()
        self._places = dict[str, dict[str, None]]()

    # what is secret ---------------------------------------------------------------------------------------------------

    def learn(self, value: str, kind: str) -> str:
        """Redact a value wherever it appears from now on, unless it is too short for that. Return its placeholder."""
        if value not in self._placeholders:
            self._numbers[kind] += 1
            self._placeholders[value] = f"<redacted:{kind}-{self._numbers[kind]}>"
        if _is_distinctive(value) and len(self._known) < MOST_KNOWN and value not in self._known:
            for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, "")):
                self._known.setdefault(form, self._placeholders[value])
            self._finder = None
        return self._placeholders[value]

    def learn_environment(self, environment: Mapping[str, str]) -> None:
        """Learn the values of variables whose names look secret, and passwords in URLs."""
        for name, value in environment.items():
            if self._keys.names_a_secret(name) and not is_open_value(value) and not _is_path(value):
                self.learn(value.strip(), "environment")
            for found in self._patterns["url-password"].finditer(value):
                self._learn_part(found[1], "environment")

    def redact_command(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command, or a URL, without secrets, which are learned."""
        found = {*find_secrets(words, (), {}).values, *(part for word in words for part in _in_path(word))}
        secrets = [value for value in found if not is_open_value(value)]
        known = {value: self.learn(value, "argument") for value in sorted(secrets, key=len, reverse=True)}
        return [reduce(lambda text, value: text.replace(value, known[value]), known, word) for word in words]

    def learn_header(self, name: str, value: str) -> None:
        """Learn the secrets in an HTTP header: its cookies, its token, or the password of its user."""
        kind = self._keys.kind(name)
        if kind is None:
            return
        if "cookie" in name.lower():
            for pair in value.split(";"):
                self._learn_part(pair.partition("=")[2].strip(), "cookie")
            return
        scheme, _, rest = value.strip().partition(" ")
        self._learn_part(rest.strip() or scheme, kind)
        if scheme.lower() == "basic":
            with suppress(Base64Error, ValueError):
                self._learn_part(b64decode(rest).decode().partition(":")[2], kind)

    def _learn_part(self, value: str, kind: str) -> None:
        for form in {value, unquote(value)}:
            if form and not PLACEHOLDER.search(form):
                self.learn(form, kind)

    # redacting --------------------------------------------------------------------------------------------------------

    def redact(self, value: Json, place: str) -> Json:
        """Return a value without secrets. `place` names it in the report.

        A secret that is found at its key is also replaced where it appeared before that key.
        """
        known, counts = len(self._known), self._found.copy()
        redacted = self._redacted(value, place, None)
        if len(self._known) == known:
            return redacted
        self._found = counts
        return self._redacted(value, place, None)

    def redact_schemas(self, value: Json, place: str) -> Json:
        """Return a list of tools without secrets: there a key `password` describes a value, and has none."""
        return self._in_schema(value, place, None)

    def _redacted(self, value: Json, place: str, kind: str | None) -> Json:
        """Return a value without secrets; `kind` is that of the key that it is under, if that is secret."""
        if isinstance(value, dict):
            parts = cast("Record", value).items()
            return {
                self._text(name, place): self._redacted(part, f"{place}.{name}", self._kind(name) or kind)
                for name, part in parts
            }
        if isinstance(value, list):
            return [self._redacted(part, place, kind) for part in cast("list[Json]", value)]
        if kind is not None and self._is_secret(value, kind):
            return self._secret(value, kind, place)
        return self._text(value, place) if isinstance(value, str) else value

    def _in_schema(self, value: Json, place: str, kind: str | None) -> Json:
        if isinstance(value, dict):
            named = cast("Record", value)
            parts = {
                name: self._redacted(part, f"{place}.{name}", kind)
                if kind is not None and name in _SCHEMA_VALUES
                else self._in_schema(part, f"{place}.{name}", self._kind(name) or (kind if name == "items" else None))
                for name, part in named.items()
            }
            return {self._text(name, place): part for name, part in parts.items()}
        if isinstance(value, list):
            return [self._in_schema(part, place, None) for part in cast("list[Json]", value)]
        return self._text(value, place) if isinstance(value, str) else value

    def _kind(self, name: str) -> str | None:
        return name.lower() if name.lower() in self._own else self._keys.kind(name)

    def _is_secret(self, value: Json, kind: str) -> bool:
        """Whether the value of a secret key is one: texts are, numbers for some keys only."""
        if isinstance(value, str):
            return not is_open_value(value) and PLACEHOLDER.fullmatch(value) is None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (kind in self._own or self._keys.holds_numbers(kind))

    def _secret(self, value: str | float, kind: str, place: str) -> str:
        """Return the placeholder of a secret. The scheme before a token stays."""
        text = str(value)
        scheme, sign, rest = text.partition(" ")
        if sign and scheme.lower() in {"bearer", "basic", "token"}:
            return f"{scheme} {self._secret(rest.strip(), kind, place)}"
        return self._note(self.learn(text, kind), place)

    def _text(self, text: str, place: str) -> str:
        """Return a text without secrets: known ones, those of patterns, and values of secret keys in it."""
        for learn in (self._without_known, self._without_patterns, self._without_assigned, self._without_known):
            text = learn(text, place)
        return text

    def _without_known(self, text: str, place: str) -> str:
        if not self._known:
            return text
        if self._finder is None:
            self._finder = re2.compile("|".join(map(re2.escape, sorted(self._known, key=len, reverse=True))))

        def placeholder(found: Any) -> str:
            return self._note(self._known[found[0]], place)

        return cast("str", self._finder.sub(placeholder, text))

    def _without_patterns(self, text: str, place: str) -> str:
        for kind, pattern in self._patterns.items():
            text = _replaced(text, self._matches(pattern, kind, text, place))
        return text

    def _matches(self, pattern: Any, kind: str, text: str, place: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and placeholder of each match of a pattern."""
        for found in pattern.finditer(text):
            group = 1 if pattern.groups and found[1] is not None else 0
            secret: str = found[group]
            if secret and "<redacted:" not in secret and not is_open_value(secret):
                yield found.start(group), found.end(group), self._note(self.learn(secret, kind), place)

    def _without_assigned(self, text: str, place: str) -> str:
        return _replaced(text, self._assigned(text, place))

    def _assigned(self, text: str, place: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and placeholder of values such as `password: "..."` and `API_KEY=...` in a text."""
        for name in _NAME.finditer(text):
            kind = self._kind(name[0].strip(".-"))
            found = _VALUE.match(text, name.end()) if kind else None
            if kind is None or found is None:
                continue
            group = "quoted" if found["quoted"] is not None else "bare"
            secret = found[group]
            is_plain = group == "bare" and not (re.search(r"\d", secret) or name[0].isupper())
            if not is_plain and not is_open_value(secret) and "<redacted:" not in secret:
                yield found.start(group), found.end(group), self._note(self.learn(secret, kind), place)

    # the report -------------------------------------------------------------------------------------------------------

    def _note(self, placeholder: str, place: str) -> str:
        kind = placeholder.removeprefix("<redacted:").rpartition("-")[0]
        self._found[kind] += 1
        places = self._places.setdefault(kind, {})
        if len(places) <= MOST_PLACES:
            places[place] = None
        return placeholder

    def report(self) -> Iterator[str]:
        """Yield a line for each kind of secret: how often it was redacted, how many different ones, and where."""
        different = Counter(one.removeprefix("<redacted:").rpartition("-")[0] for one in self._placeholders.values())
        for kind, times in sorted(self._found.items()):
            places = [self._hidden(place) for place in self._places[kind]]
            more = ", ..." if len(places) > MOST_PLACES else ""
            where = ", ".join(places[:MOST_PLACES]) + more
            yield f"{kind}: {times} times, {different[kind]} different; in {where}"

    def _hidden(self, place: str) -> str:
        """Return the name of a place without secrets, which keys may be."""
        for value, placeholder in self._known.items():
            place = place.replace(value, placeholder)
        return place


def _is_distinctive(value: str) -> bool:
    """Whether a value is long and odd enough to be looked for in every text."""
    if len(value) < SHORTEST_KNOWN or is_open_value(value):
        return False
    return not value.isalpha() or len(value) >= SHORTEST_KNOWN + 2


def _is_path(value: str) -> bool:
    """Whether a value is an absolute path to something that exists, such as that of a file with a key."""
    return value.startswith("/") and Path(value).exists()


def _in_path(word: str) -> Iterator[str]:
    """Yield the parts of a URL's path that look like secrets."""
    for part in urlsplit(word).path.split("/") if "://" in word else ():
        if _LONG_PART.fullmatch(part) and re.search(r"\d", part):
            yield part


def _replaced(text: str, found: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with parts replaced, which do not overlap and come in order."""
    parts, at = list[str](), 0
    for start, end, other in found:
        if start >= at:
            parts += [text[at:start], other]
            at = end
    return "".join((*parts, text[at:])) if parts else text
