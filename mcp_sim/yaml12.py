"""What JSON value does a YAML or JSON text hold, and on which line does each part of it stand?

Values are exactly JSON's: `NO`, `on`, `12:30`, `0o7` and dates are strings. Repeated keys, keys that are no strings,
tags, and texts that are too large, too deep or grow too far through aliases are refused. JSON is read by the JSON
parser; its lines are looked up only when there is something to report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import chain
from math import isinf
from typing import Any, NamedTuple, TypeAlias, cast

from mcp_sim.errors import DocumentError, Problem
from mcp_sim.types import Json

Path: TypeAlias = tuple[str | int, ...]
"""Where in a value: keys and indexes from the root."""

LARGEST = 64 * 1024 * 1024
DEEPEST = 128
MOST_ALIASED = 100_000
"""How many values the aliases of a document may stand for in all."""

LONGEST_PATH = 12
"""A problem's path is cut after so many parts."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "~": None, "": None}

_NO_JSON = {"NaN", "Infinity", "-Infinity"}
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|([{}\[\]])|(\n)|([^\s{}\[\],:"]+)', re.DOTALL)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Document:
    """A text that was read: its value, and the lines of its parts."""

    file: str
    text: str
    value: Json
    is_json: bool

    def line(self, path: Sequence[Hashable]) -> int:
        """The line (from 1) of a part; of the nearest part around it where there is none."""
        value, lines = self._places
        line = 1
        for part in path:
            here = lines.get(id(value), {})
            if part not in here:
                break
            line, value = here[part], value[part]
        return line

    @cached_property
    def _places(self) -> tuple[Json, dict[int, dict[Any, int]]]:
        """The value once more, and by container (its id) the line of each part."""
        tree = _Tree(self.file)
        tree.grow(_json_events(self.text) if self.is_json else _yaml_events(self.text))
        return tree.root, tree.lines


def load(data: bytes, file: str) -> Document:
    """The document in these bytes; `file` is the name that problems bear. Raises DocumentError."""
    text = _decoded(data, file)
    strict = file.endswith(".json")
    if strict or text.lstrip()[:1] in {"{", "[", '"'}:
        document = _from_json(text, file, strict=strict)
        if document is not None:
            return document
    return _from_yaml(text, file)


def dotted(path: Sequence[str | int]) -> str:
    """`perturbations[0].when.nth`"""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _decoded(data: bytes, file: str) -> str:
    if len(data) > LARGEST:
        raise _refused(file, 0, f"is larger than {LARGEST // (1024 * 1024)} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line_start = data.rfind(b"\n", 0, error.start) + 1
        place = f"byte {error.start - line_start + 1} of the line"
        line = data.count(b"\n", 0, error.start) + 1
        raise _refused(file, line, f"is not UTF-8: {place} is 0x{data[error.start]:02x}") from None


def _refused(file: str, line: int, message: str, path: Path = ()) -> DocumentError:
    return DocumentError([Problem(file, line, dotted(path), message)])


# JSON -----------------------------------------------------------------------------------------------------------------


class _Unusual(Exception):
    """The JSON parser met something that has to be reported with its place."""


def _from_json(text: str, file: str, *, strict: bool) -> Document | None:
    """The document, if the text is JSON; None if it is not and need not be."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unrepeated, parse_float=_finite, parse_int=_whole, parse_constant=_refuse_constant
        )
        if _height(value) <= DEEPEST:
            return Document(file, text, value, is_json=True)
    except json.JSONDecodeError as error:
        if not strict:
            return None
        raise _refused(file, error.lineno, f"is not JSON: {error.msg} at column {error.colno}") from None
    except (_Unusual, RecursionError):
        pass
    tree = _Tree(file)
    tree.grow(_json_events(text))
    if not strict:
        return None
    line = next(event.line for event in _json_events(text) if event.text in _NO_JSON)
    raise _refused(file, line, "NaN and Infinity are no JSON")


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
    """How deep a value is nested; stops counting one above the limit."""
    height = 0
    layer: list[Json] = [value] if isinstance(value, dict | list) else []
    while layer and height <= DEEPEST:
        height += 1
        inner = chain.from_iterable(map(_parts, layer))
        layer = [part for part in inner if isinstance(part, dict | list)]
    return height


def _parts(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return cast("dict[str, Json]", value).values()
    return cast("list[Json]", value) if isinstance(value, list) else ()


# events ---------------------------------------------------------------------------------------------------------------


class _Event(NamedTuple):
    """One step through a text. `sign` is one of `{ } [ ]`, `value`, `plain` (a scalar without quotes) or `alias`."""

    sign: str
    line: int
    text: str = ""
    anchor: str | None = None
    tag: str | None = None


def _json_events(text: str) -> Iterator[_Event]:
    """The events of a JSON text that the JSON parser has accepted, but for its numbers, keys and depth."""
    line = 1
    for token in _TOKEN.finditer(text):
        string, bracket, newline, bare = token.groups()
        if newline:
            line += 1
        elif string:
            yield _Event("value", line, json.loads(string, strict=False))
        else:
            yield _Event(bracket or "plain", line, bare or "")


def _yaml_events(text: str) -> Iterator[_Event]:
    """The events of a YAML text. Raises what the YAML parser raises."""
    yaml: Any = import_module("yaml")  # not needed for JSON
    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    signs: dict[Any, str] = {
        yaml.MappingStartEvent: "{",
        yaml.MappingEndEvent: "}",
        yaml.SequenceStartEvent: "[",
        yaml.SequenceEndEvent: "]",
        yaml.AliasEvent: "alias",
        yaml.DocumentStartEvent: "document",
    }
    try:
        while (event := parser.get_event()) is not None:
            line = event.start_mark.line + 1
            if isinstance(event, yaml.ScalarEvent):
                sign = "plain" if event.implicit[0] else "value"
                yield _Event(sign, line, event.value, event.anchor, event.tag)
            elif sign := signs.get(type(event)):
                yield _Event(sign, line, "", getattr(event, "anchor", None), getattr(event, "tag", None))
    finally:
        parser.dispose()


def _from_yaml(text: str, file: str) -> Document:
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise _refused(file, line, f"the character U+{ord(control[0]):04X} must be written as an escape in quotes")
    tree = _Tree(file)
    events = _yaml_events(text)
    try:
        tree.grow(events)
    except DocumentError:
        raise
    except import_module("yaml").MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        tree.problems.append(Problem(file, mark.line + 1 if mark else 0, "", _yaml_sentence(error)))
        raise DocumentError(tree.problems) from None
    document = Document(file, text, tree.root, is_json=False)
    document.__dict__["_places"] = (tree.root, tree.lines)
    return document


def _yaml_sentence(error: Any) -> str:
    """What the YAML parser found, and what is usually meant by it."""
    column = f" at column {error.problem_mark.column + 1}" if error.problem_mark else ""
    if "alias" in (error.context or ""):
        return f'`*` begins an alias in YAML{column}; quote it where a glob is meant: "*_contact"'
    hint = "; quote the text if it is one" if "cannot start any token" in error.problem else ""
    context = f" {error.context}" if error.context else ""
    return f"is not YAML:{context} {error.problem}{column}{hint}".replace(":  ", ": ")


# the value ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """A container that is being read. `size` and `height` include what its aliases stand for."""

    value: Json
    anchor: str | None
    line: int
    key: str | None = None
    key_line: int = 0
    size: int = 1
    height: int = 1
    lines: dict[Any, int] = field(default_factory=dict[Any, int])


class _Kept(NamedTuple):
    """What an anchor names."""

    value: Json
    size: int
    height: int


class _Tree:
    """Grows a value from events, with the line of each part. Collects what is wrong, as far as it can be gone on."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Json = None
        self.lines: dict[int, dict[Any, int]] = {}
        self.problems: list[Problem] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, _Kept] = {}
        self._aliased = 0
        self._documents = 0

    def grow(self, events: Iterator[_Event]) -> None:
        """Read all events. Raises DocumentError with all that is wrong."""
        steps: dict[str, Callable[[_Event], None]] = {
            "{": lambda event: self._begin({}, event),
            "[": lambda event: self._begin([], event),
            "}": lambda _: self._end(),
            "]": lambda _: self._end(),
            "value": lambda event: self._scalar(event.text, event),
            "plain": self._plain,
            "alias": self._alias,
            "document": self._document,
        }
        for event in events:
            if event.tag is not None:
                self._note(event.line, f"the tag {event.tag!r} is not allowed: values are JSON's")
            steps[event.sign](event)
        if self.problems:
            raise DocumentError(self.problems)

    def _document(self, event: _Event) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(event.line, "holds a second document; one file is one document")

    def _begin(self, value: dict[str, Json] | list[Json], event: _Event) -> None:
        if len(self._open) >= DEEPEST:
            self._stop(event.line, f"is nested deeper than {DEEPEST} levels")
        if self._expects_key():
            self._stop(event.line, "a key must be a string")
        self._open.append(_Open(value, event.anchor, event.line))

    def _end(self) -> None:
        done = self._open.pop()
        self.lines[id(done.value)] = done.lines
        self._place(done.value, done.line, done.anchor, done.size, done.height)

    def _plain(self, event: _Event) -> None:
        """A scalar without quotes: a JSON word, a JSON number, or a string."""
        text = event.text
        if self._expects_key():
            if text in _WORDS or _NUMBER.fullmatch(text):
                self._note(event.line, f'a key must be a string; quote it: "{text}"')
            return self._scalar(text, event)
        if text in _WORDS:
            return self._scalar(_WORDS[text], event)
        return self._scalar(self._number(text, event.line) if _NUMBER.fullmatch(text) else text, event)

    def _number(self, text: str, line: int) -> Json:
        try:
            value = float(text) if set(text) & set(".eE") else int(text)
        except ValueError:
            value = float("inf")
        if value in (float("inf"), float("-inf")):
            self._note(line, f"the number {text[:20]}... is too large")
        return value

    def _scalar(self, value: Json, event: _Event) -> None:
        if not self._expects_key():
            return self._place(value, event.line, event.anchor, 1, 0)
        mapping = self._open[-1]
        if value in mapping.value:
            self._note(event.line, f"the key {value!r} is repeated; it stands in line {mapping.lines[value]} already")
        mapping.key, mapping.key_line = value, event.line
        if event.anchor:
            self._anchors[event.anchor] = _Kept(value, 1, 0)
        return None

    def _alias(self, event: _Event) -> None:
        name = event.anchor or ""
        if name not in self._anchors:
            self._note(event.line, f'`*{name}` is an alias of nothing; quote it where a glob is meant: "*{name}"')
        kept = self._anchors.get(name, _Kept(None, 1, 0))
        self._aliased += kept.size
        if self._aliased > MOST_ALIASED:
            self._stop(event.line, f"its aliases stand for more than {MOST_ALIASED} values")
        if len(self._open) + kept.height > DEEPEST:
            self._stop(event.line, f"is nested deeper than {DEEPEST} levels through the alias *{name}")
        if not self._expects_key():
            return self._place(kept.value, event.line, None, kept.size, kept.height)
        if not isinstance(kept.value, str):
            self._stop(event.line, "a key must be a string")
        return self._scalar(kept.value, event._replace(anchor=None))

    def _place(self, value: Json, line: int, anchor: str | None, size: int, height: int) -> None:
        """Put a finished value where it belongs."""
        if anchor:
            self._anchors[anchor] = _Kept(value, size, height)
        if not self._open:
            self.root = value
            return
        outer = self._open[-1]
        outer.size += size
        outer.height = max(outer.height, height + 1)
        if outer.key is not None:
            outer.value[outer.key], outer.lines[outer.key] = value, outer.key_line
            outer.key = None
        else:
            outer.lines[len(outer.value)] = line
            outer.value.append(value)

    def _expects_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _path(self) -> Path:
        parts: list[str | int] = []
        for outer in self._open:
            if isinstance(outer.value, list):
                parts.append(len(outer.lines))
            elif outer.key is not None:
                parts.append(outer.key)
        return tuple(parts)

    def _note(self, line: int, message: str) -> None:
        self.problems.append(Problem(self.file, line, dotted(self._path()[:LONGEST_PATH]), message))

    def _stop(self, line: int, message: str) -> None:
        self._note(line, message)
        raise DocumentError(self.problems)
