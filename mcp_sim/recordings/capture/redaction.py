"""Redact secrets from what is recorded: by key, by pattern, and known values wherever they appear.

The same secret becomes the same placeholder, `<redacted:KIND-NUMBER>`, so that calls still match their recordings.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from html import escape
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, quote_plus, unquote

from mcp_sim.recordings.capture import secret_words
from mcp_sim.recordings.capture.secret_words import is_open_value, re2
from mcp_sim.spec.foreign.secrets import find_secrets
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json, Record, as_object
from mcp_sim.types.urls import split_url

SHORTEST_KNOWN = 6  # a shorter secret is redacted at its key only: as a part of other texts it may be anything

MOST_KNOWN = 8000  # the most forms of secrets that are looked for everywhere

FINDER_BYTES = 256 << 20
"""The most memory for finding known secrets. With too little, it takes a thousand times as long."""

MOST_PLACES = 3  # the most places that are named for a kind of secret

_NAME = re2.compile(
    r"(?i)(?:(?:api|access|account|client|private|secret|signing) )?"
    r"[a-z0-9_.-]*(?:passw|_pass|kennwort|contrase.{1,2}a|senha|mot de passe"
    r"|passphrase|passcode|secret|token|key|auth|credential|cookie|pwd|\bpin\b|otp|cvv|jwt|\bpat\b"
    r"|mnemonic|connection.?string)[a-z0-9_.-]*"
)
"""A name in a text that may be that of a secret."""

_WORD = (
    r"(?:(?P<quote>\\*[\"'`])(?P<quoted>(?:(?!(?P=quote)).){1,4096})(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;&<>{}\[\]()\\]{4,4096}))"
)
_VALUE = re.compile(
    r"(?:\\*[\"'])?(?:\s{0,4}(?:=>|[:=])\s{0,4}(?:[|>][+-]?\n\s{0,40})?|>|\\*[\"']\s{1,4}value="
    r"|(?P<loose>\\*[\"']\s{0,4},\s{0,4}|\s(?:is|lautet|es|est):?\s|\s{1,4}(?=`|[\w+/=-]{20})))" + _WORD
)
"""What follows a name: an assignment, or loosely another word, as in `the password is ...`."""

_OPTION_VALUE = re.compile(r"[= ]" + _WORD)  # what follows an option of a command: `--token VALUE`

_NAMING, _NAMED = ("name", "key", "header", "variable"), frozenset({"value", "values"})
"""Keys of an object that names a value, and the keys of the value: `{"name": "password", "value": "..."}`."""
_UPPER_KEY = re.compile(r"[A-Z0-9_]+_KEY")  # a variable of the environment that may hold the key of a service

_LONGEST_INNER = 256
"""The longest value within another, as in `token=key=...`. A hostile text repeats a name without end, and each value
would be searched for afterwards."""

_LONG_PART = re.compile(r"[A-Za-z0-9_.~+=-]{16,}")

_SCHEMA_VALUES = ("default", "const", "example", "examples", "_meta")
"""Keywords of a JSON Schema, or of a tool, with values."""

_SCHEMA_PARTS = ("items", "anyOf", "oneOf", "allOf")  # keywords of a JSON Schema with schemas of the same value

_SCHEMA_NAMES = ("properties", "patternProperties", "$defs", "definitions")
"""Keywords of a JSON Schema with schemas by name."""

_SHORTEST_ENCODED = 8  # shorter texts are valid base64 by chance

_WRAPPED = re.compile(r"(?:[A-Za-z0-9+/_-]{32,128}\r?\n){1,4096}[A-Za-z0-9+/_-]{1,128}={0,2}")
"""Base64 in several lines, as in mails."""


class Redactor:
    """Replaces secrets by placeholders, and counts them.

    `keys` and `patterns` are further ones. Raises `UsageError` for an invalid pattern.
    """

    def __init__(self, keys: Iterable[str] = (), patterns: Sequence[str] = ()) -> None:
        self._own = [key.lower() for key in keys]
        self._keys = secret_words.SecretKeys(self._own)
        self._patterns = secret_words.compiled_patterns(patterns)
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
            for form in _forms(value):
                self._known.setdefault(form, self._placeholders[value])
            self._finder = None
        return self._placeholders[value]

    def learn_environment(self, environment: Mapping[str, str]) -> None:
        """Learn the values of variables whose names look secret, and passwords in URLs."""
        for name, value in environment.items():
            if self._keys.names_a_secret(name) and not is_open_value(value) and not _is_path(value):
                self.learn(value.strip(), "environment")
            for match in self._patterns["url-password"].finditer(value):
                self._learn_part(match[1], "environment")

    def redact_command(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command, or a URL, without secrets, which are learned."""
        hidden = {*find_secrets(words, (), {}).values, *(segment for word in words for segment in _in_path(word))}
        secrets = [value for value in hidden if not is_open_value(value)]
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
            self._learn_basic(rest, kind)

    def _learn_basic(self, credentials: str, kind: str) -> None:
        """Learn the password in the credentials of a user as HTTP encodes them."""
        with suppress(Base64Error, ValueError):
            self._learn_part(b64decode(credentials).decode().partition(":")[2], kind)

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
        """Return a list of tools without secrets: there a key `password` describes a value, and does not hold one."""
        return self._in_schema(value, place, None)

    def _redacted(self, value: Json, place: str, kind: str | None) -> Json:
        """Return a value without secrets; `kind` is that of the key that it is under, if that is secret."""
        if isinstance(value, dict):
            parts = cast("Record", value)
            names = (text for key, text in parts.items() if key.lower() in _NAMING and isinstance(text, str))
            kind_by_name = next(filter(None, map(self._kind, names)), None)
            return {
                self._text(name, place): self._redacted(
                    inner,
                    f"{place}.{name}",
                    self._kind(name) or (kind_by_name if name.lower() in _NAMED else None) or kind,
                )
                for name, inner in parts.items()
            }
        if isinstance(value, list):
            return self._redacted_list(cast("list[Json]", value), place, kind)
        if kind is not None and self._is_secret(value, kind):
            return self._secret(value, kind, place)
        return self._text(value, place) if isinstance(value, str) else value

    def _redacted_list(self, values: list[Json], place: str, kind: str | None) -> list[Json]:
        """Return a list without secrets. One of a name and a value, as headers are, is read as such."""
        values = self._without_split(values, place)
        match values:
            case [str() as name, str() as value] if kind is None and re.search(r"\d", value):
                return [self._text(name, place), self._redacted(value, place, self._kind(name))]
            case _:
                options = [None, *(self._option_kind(item) for item in values)]  # of the item before
                pairs = zip(values, options, strict=False)
                return [self._redacted(item, place, option or kind) for item, option in pairs]

    def _option_kind(self, word: Json) -> str | None:
        """Return the kind of secret that follows an option in the words of a command."""
        is_option = isinstance(word, str) and word.startswith("-") and "=" not in word
        return self._kind(word.lstrip("-")) if is_option else None

    def _without_split(self, values: list[Json], place: str) -> list[Json]:
        """Return content blocks without known secrets that begin in one text and end in a later one."""
        texts = {at: text for at, value in enumerate(values) if isinstance(text := as_object(value).get("text"), str)}
        if len(texts) < 2 or self._known_in("".join(texts.values())) == sum(map(self._known_in, texts.values())):
            return values
        joined = self._without_known("".join(texts.values()), place)
        first, *rest = texts
        emptied = {first: joined, **dict.fromkeys(rest, "")}
        return [
            {**cast("Record", value), "text": emptied[at]} if at in emptied else value
            for at, value in enumerate(values)
        ]

    def _known_in(self, text: str) -> int:
        """Return how often known secrets are in a text."""
        finder = self._known_finder
        return 0 if finder is None else len(finder.findall(text))

    def _in_schema(self, value: Json, place: str, kind: str | None, *, has_names: bool = False) -> Json:
        """Return a part of a list of tools without secrets.

        `kind` is that of the value that a schema describes. `has_names`: the keys are names, and no keywords.
        """
        if isinstance(value, dict):
            parts = {
                name: self._redacted(inner, f"{place}.{name}", kind)
                if name in _SCHEMA_VALUES and not has_names
                else self._in_schema(
                    inner,
                    f"{place}.{name}",
                    self._kind(name) or (kind if name in _SCHEMA_PARTS else None),
                    has_names=name in _SCHEMA_NAMES and not has_names,
                )
                for name, inner in cast("Record", value).items()
            }
            return {self._text(name, place): inner for name, inner in parts.items()}
        if isinstance(value, list):
            return [self._in_schema(item, place, kind) for item in cast("list[Json]", value)]
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
            if scheme.lower() == "basic":
                self._learn_basic(rest, kind)
            return f"{scheme} {self._secret(rest.strip(), kind, place)}"
        return self._note(self.learn(text, kind), place)

    def _text(self, text: str, place: str) -> str:
        """Return a text without secrets: known ones, those of patterns, and values of secret keys in it."""
        text = self._without_patterns(self._without_known(text, place), place)
        text = _replaced(text, self._assigned(text, place))
        return self._without_known(text, place)

    def _without_known(self, text: str, place: str) -> str:
        finder = self._known_finder
        if finder is None:
            return text

        def placeholder(value: Any) -> str:
            return self._note(self._known[value[0]], place)

        shown = cast("str", finder.sub(placeholder, text))
        return _WRAPPED.sub(lambda lines: self._without_wrapped(lines[0], place), shown)

    def _without_wrapped(self, lines: str, place: str) -> str:
        """Return Base64 in several lines as it is, or the placeholder of a known secret in it."""
        known = self._known_finder.search(re.sub(r"\s", "", lines))
        return lines if known is None else self._note(self._known[known[0]], place)

    @property
    def _known_finder(self) -> Any:
        """What finds known secrets, or None."""
        if self._finder is None and self._known:
            options = re2.Options()
            options.max_mem = FINDER_BYTES
            forms = sorted(self._known, key=len, reverse=True)
            self._finder = re2.compile("|".join(map(re2.escape, forms)), options)
        return self._finder

    def _without_patterns(self, text: str, place: str) -> str:
        for kind, pattern in self._patterns.items():
            text = _replaced(text, self._matches(pattern, kind, text, place))
        for kind, pattern, entropy in secret_words.service_patterns(text):
            text = _replaced(text, self._matches(pattern, kind, text, place, entropy))
        return text

    def _matches(
        self, pattern: Any, kind: str, text: str, place: str, entropy: float = 0.0
    ) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and placeholder of each match of a pattern with at least this entropy."""
        for match in pattern.finditer(text):
            group = 1 if pattern.groups and match[1] is not None else 0
            secret: str = match[group]
            is_weak = entropy and secret_words.entropy_of(secret) < entropy
            rest = match.groupdict().get("random")
            if is_weak or (rest is not None and not secret_words.is_random(rest)):
                continue
            if secret and "<redacted:" not in secret and not is_open_value(secret):
                if kind == "basic-credentials":
                    self._learn_basic(secret, kind)
                if "%" in secret:  # the query of a URL
                    self._learn_part(unquote(secret), kind)
                yield match.start(group), match.end(group), self._note(self.learn(secret, kind), place)

    def _assigned(self, text: str, place: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and placeholder of values such as `password: "..."` and `API_KEY=...` in a text."""
        end = 0  # of the last run of signs in which a value was
        for name in _NAME.finditer(text):
            kind = self._kind(name[0].strip(".-")) or ("key" if _UPPER_KEY.fullmatch(name[0]) else None)
            follows = _OPTION_VALUE if name[0].startswith("--") else _VALUE
            match = follows.match(text, name.end()) if kind else None
            if kind is None or match is None:
                continue
            group = "quoted" if match["quoted"] is not None else "bare"
            secret = match[group]
            if group == "bare":
                is_inner, end = name.start() < end, match.end(group)
                if is_inner and len(secret) > _LONGEST_INNER:
                    continue
            is_marked = name[0].isupper() or text[max(0, name.start() - 1)] in "?&"
            is_plain = group == "bare" and not (re.search(r"\d", secret) or is_marked)
            is_loose = match.groupdict().get("loose") is not None
            if (is_loose or kind == "key") and not secret_words.is_random(secret):
                continue
            if not is_plain and not is_open_value(secret) and "<redacted:" not in secret:
                if "%" in secret:  # the query of a URL
                    self._learn_part(unquote(secret), kind)
                yield match.start(group), match.end(group), self._note(self.learn(secret, kind), place)

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
        different = Counter(
            placeholder.removeprefix("<redacted:").rpartition("-")[0] for placeholder in self._placeholders.values()
        )
        for kind, times in sorted(self._found.items()):
            places = [self._hidden(place) for place in self._places[kind]]
            more = ", ..." if len(places) > MOST_PLACES else ""
            where = ", ".join(places[:MOST_PLACES]) + more
            often = "once" if times == 1 else f"{times} times"
            yield f"{kind}: {often}, {different[kind]} different; in {where}"

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


def _forms(value: str) -> Iterator[str]:
    """Yield the forms in which a secret appears: as it is, in JSON, URLs and HTML, and in a text in Base64 or hex."""
    yield value
    yield from (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    for quoted in (quote(value, ""), quote(value), quote_plus(value), quote(quote(value, ""), "")):
        yield quoted
        yield re.sub(r"%..", lambda sign: sign[0].lower(), quoted)
    yield from (escape(value), escape(value, quote=False))
    data = value.encode("utf-8", "surrogatepass")
    yield from (data.hex(), data.hex().upper())
    yield from _in_base64(data)
    yield from _in_base64(b64encode(data))


def _in_base64(data: bytes) -> Iterator[str]:
    """Yield what a text in Base64 has of some bytes, wherever they are in it."""
    for before in range(3):  # the characters that depend on the secret alone, for each place of its first byte
        encoded = b64encode(bytes(before) + data).rstrip(b"=").decode()
        whole = encoded[(0, 2, 3)[before] : (before + len(data)) * 8 // 6]
        if len(whole) >= _SHORTEST_ENCODED:
            yield whole
            yield whole.replace("+", "-").replace("/", "_")
            yield quote(whole, "")


def _is_path(value: str) -> bool:
    """Whether a value is an absolute path to something that exists, such as that of a file with a key."""
    return value.startswith("/") and Path(value).exists()


def _in_path(word: str) -> Iterator[str]:
    """Yield the parts of a URL's path that look like secrets."""
    for segment in split_url(word).path.split("/") if "://" in word else ():
        if _LONG_PART.fullmatch(segment) and re.search(r"\d", segment):
            yield segment


def _replaced(text: str, value: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with parts replaced, which do not overlap and come in order."""
    parts, at = list[str](), 0
    for start, end, other in value:
        if start >= at:
            parts += [text[at:start], other]
            at = end
    return "".join((*parts, text[at:])) if parts else text
