"""Read documents: JSON with the JSON parser, everything else from the nodes of YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from math import isfinite
from typing import Any

from mcp_sim.spec.yaml12.nodes import DEEPEST, compose, entries_of, value_of
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.json_values import nests_deeper

LARGEST = 64 * 1024 * 1024
"""The largest document, in bytes."""

_STRING_OR_TAB = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|\t')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Document:
    """A text with its value, and the lines of its parts."""

    file: str
    text: str
    value: Json
    is_json: bool

    def line(self, path: Sequence[Hashable]) -> int:
        """Return the line of a part, counted from 1. If the part does not exist, return the line of its container."""
        line, node = 1, self._root
        for segment in path:
            entries = self._entries(node)
            if segment not in entries:
                break
            key, node = entries[segment]
            line = key.start_mark.line + 1
        return line

    @cached_property
    def _root(self) -> Any:
        """Return the root node. It is composed when a line is needed, as nodes take more memory than values."""
        return compose(_as_yaml(self.text, self.file) if self.is_json else self.text, self.file)

    @cached_property
    def _entries(self) -> Callable[[Any], dict[Any, tuple[Any, Any]]]:
        return cache(entries_of)


def load(data: bytes, file: str, *, is_foreign: bool = False) -> Document:
    """Return the document in these bytes. `file` is the name that problems show. Raises `DocumentError`.

    In a foreign document, of another program, keys that are not strings are read as strings, merge keys merge, and
    `True` is a literal like `true`.
    """
    if len(data) > LARGEST:
        raise _refused(file, 0, f"is larger than {LARGEST // (1024 * 1024)} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"is not UTF-8: byte {column} of the line is 0x{data[error.start]:02x}"
        raise _refused(file, data.count(b"\n", 0, error.start) + 1, message) from None
    if file.endswith(".json") or text.lstrip()[:1] in {"{", "[", '"'}:
        with suppress(ValueError, RecursionError):
            return Document(file, text, _parsed(text), is_json=True)
        if _is_json(text, file):
            return Document(file, text, value_of(_as_yaml(text, file), file), is_json=True)
    control = CONTROL.search(text)
    if control:
        message = f"the character U+{ord(control[0]):04X} is not allowed; write it as an escape in quotes"
        raise _refused(file, _line_at(text, control.start()), message)
    return Document(file, text, value_of(text, file, is_foreign=is_foreign), is_json=False)


def _line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _refused(file: str, line: int, message: str) -> DocumentError:
    return DocumentError([Problem(file, line, "", message)])


def _is_json(text: str, file: str) -> bool:
    """Whether a text is JSON, regardless of its keys and numbers. Raises `DocumentError` if a `.json` file is not."""
    try:
        json.loads(text, parse_int=float)
    except RecursionError:  # as YAML, it is nested too deep as well
        return False
    except json.JSONDecodeError as error:
        if not file.endswith(".json"):
            return False
        raise _refused(file, error.lineno, f"invalid JSON: {error.msg} at column {error.colno}") from None
    return True


def _parsed(text: str) -> Json:
    """Return the value of a JSON text. Raises `ValueError` or `RecursionError` also for values that are not allowed."""
    value = json.loads(text, object_pairs_hook=_unrepeated, parse_float=_finite, parse_constant=_finite)
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode()
    if nests_deeper(value, DEEPEST):
        raise RecursionError
    return value


def _unrepeated(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is repeated")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


def _as_yaml(text: str, file: str) -> str:
    """Return a JSON text as YAML with the same lines.

    PyYAML reads no surrogate pairs, and without libyaml no tabs. Only after a `?` may a key be longer than 1,024
    characters, or in another line than its colon.
    """

    def as_yaml(match: re.Match[str]) -> str:
        string, colon = match.groups()
        if not string:
            return " "
        whole = json.dumps(json.loads(string), ensure_ascii=False)
        if _HALF.search(whole):
            message = "incomplete character escape: \\ud800 to \\udfff come in pairs"
            raise _refused(file, _line_at(text, match.start()), message)
        return f"? {escaped(whole)}{colon} " if colon else escaped(whole)

    return _STRING_OR_TAB.sub(as_yaml, text)


def escaped(text: str) -> str:
    """Return a quoted text with escapes for the characters that are not allowed."""
    return CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
