"""Read documents: JSON with the JSON parser, everything else from YAML events."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from math import isinf
from typing import Any, cast

from mcp_sim.spec.yaml12.tree import DEEPEST, Tree, json_events, yaml_events
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.json_values import inner_values

LARGEST = 64 * 1024 * 1024
"""The largest document, in bytes."""

_HALF = re.compile(r"\\u[dD][89abAB]\w{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]\w\w)\\u[dD][c-fC-F]")
"""An escape of one half of a surrogate pair, unless a backslash precedes it."""

_NO_JSON = {"NaN", "Infinity", "-Infinity"}
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
        value, lines = self._places
        line = 1
        for segment in path:
            here = lines.get(id(value), {})
            if segment not in here:
                break
            line, value = here[segment], value[segment]
        return line

    @cached_property
    def _places(self) -> tuple[Json, dict[int, dict[Any, int]]]:
        """Return the value, read again, and the line of each part by the `id()` of its container."""
        tree = Tree(self.file)
        tree.build(json_events(self.text) if self.is_json else yaml_events(self.text))
        return tree.root, tree.lines


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
        line_start = data.rfind(b"\n", 0, error.start) + 1
        place = f"byte {error.start - line_start + 1} of the line"
        line = data.count(b"\n", 0, error.start) + 1
        raise _refused(file, line, f"is not UTF-8: {place} is 0x{data[error.start]:02x}") from None
    strict = file.endswith(".json")
    if strict or text.lstrip()[:1] in {"{", "[", '"'}:
        document = _from_json(text, file, strict=strict)
        if document is not None:
            return document
    return _from_yaml(text, file, is_foreign=is_foreign)


def _refused(file: str, line: int, message: str) -> DocumentError:
    return DocumentError([Problem(file, line, "", message)])


# JSON -----------------------------------------------------------------------------------------------------------------


class _Unusual(Exception):
    """The JSON parser found something that must be reported with its line."""


def _from_json(text: str, file: str, *, strict: bool) -> Document | None:
    """Return the document if the text is JSON, None if it is not and `strict` is false."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unrepeated, parse_float=_finite, parse_int=_whole, parse_constant=_refuse_constant
        )
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        if _height(value) <= DEEPEST:
            return Document(file, text, value, is_json=True)
    except json.JSONDecodeError as error:
        if not strict:
            return None
        raise _refused(file, error.lineno, f"invalid JSON: {error.msg} at column {error.colno}") from None
    except UnicodeEncodeError:
        line = text.count("\n", 0, cast("re.Match[str]", _HALF.search(text)).start()) + 1
        raise _refused(file, line, "incomplete character escape: \\ud800 to \\udfff come in pairs") from None
    except (_Unusual, RecursionError):
        pass
    tree = Tree(file)
    tree.build(json_events(text))
    if not strict:
        return None
    line = next(event.line for event in json_events(text) if event.text in _NO_JSON)
    raise _refused(file, line, "NaN and Infinity are not allowed in JSON")


def _unrepeated(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Unusual
    return value


def _finite(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise _Unusual
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Unusual from None


def _refuse_constant(_: str) -> Json:
    raise _Unusual


def _height(value: Json) -> int:
    """Return how deep a value is nested, at most one above the limit."""
    height = 0
    layer: list[Json] = [value] if isinstance(value, dict | list) else []
    while layer and height <= DEEPEST:
        height += 1
        inner = chain.from_iterable(map(inner_values, layer))
        layer = [inner_value for inner_value in inner if isinstance(inner_value, dict | list)]
    return height


# YAML -----------------------------------------------------------------------------------------------------------------


def _from_yaml(text: str, file: str, *, is_foreign: bool) -> Document:
    control = CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise _refused(
            file, line, f"the character U+{ord(control[0]):04X} is not allowed; write it as an escape in quotes"
        )
    tree = Tree(file, is_foreign=is_foreign)
    events = yaml_events(text)
    try:
        tree.build(events)
    except DocumentError:
        raise
    except import_module("yaml").MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        tree.problems.append(Problem(file, mark.line + 1 if mark else 0, "", _yaml_message(error)))
        raise DocumentError(tree.problems) from None
    document = Document(file, text, tree.root, is_json=False)
    document.__dict__["_places"] = (tree.root, tree.lines)
    return document


def _yaml_message(error: Any) -> str:
    """Return what the YAML parser found, with a hint for common mistakes."""
    if "nesting depth" in error.problem:  # PyYAML 6.0.4 looks ahead, and gives up before the tree does
        return f"is nested deeper than {DEEPEST} levels"
    column = f" at column {error.problem_mark.column + 1}" if error.problem_mark else ""
    if "alias" in (error.context or ""):
        return f'`*` begins an alias in YAML{column}; quote it if it is a glob: "*_contact"'
    hint = (
        "; if it is text, quote it; if it is a tab, write spaces" if "cannot start any token" in error.problem else ""
    )
    context = f" {error.context}," if error.context else ""
    return f"invalid YAML:{context} {error.problem}{column}{hint}".replace(":  ", ": ")
