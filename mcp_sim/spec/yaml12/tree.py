"""Build a value from the events of a YAML or JSON text, with the line of each part."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.json_schema.shapes import as_list, as_object

Path: TypeAlias = tuple[str | int, ...]
"""A place in a value: keys and indexes from the root."""

DEEPEST = 128
"""The deepest nesting of a value. Deeper ones would exceed Python's recursion limit where they are read."""

MOST_ALIASED = 100_000
"""The most values that the aliases of a document may expand to in total. Ten aliases of ten aliases each grow to 10^n
values ("billion laughs")."""

LONGEST_PATH = 12
"""The most parts of a path that a problem shows."""

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|([{}\[\]])|(\n)|([^\s{}\[\],:"]+)', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "~": None, "": None}
_CORE_WORDS = {form: value for word, value in _WORDS.items() for form in (word, word.title(), word.upper())}
"""The literals of the core schema of YAML 1.2, section 10.3.2: other programs write `True` as well."""


def dotted(path: Sequence[str | int]) -> str:
    """Return a path as text, such as `perturbations[0].when.nth`."""
    return "".join(f"[{segment}]" if isinstance(segment, int) else f".{segment}" for segment in path).removeprefix(".")


# events ---------------------------------------------------------------------------------------------------------------


class Event(NamedTuple):
    """One step through a text. `sign` is one of `{ } [ ]`, `value`, `plain` (a scalar without quotes) or `alias`."""

    sign: str
    line: int
    text: str = ""
    anchor: str | None = None
    tag: str | None = None


def json_events(text: str) -> Iterator[Event]:
    """Yield the events of a JSON text. The JSON parser has accepted it, except perhaps its numbers, keys and depth."""
    line = 1
    for token in _TOKEN.finditer(text):
        string, bracket, newline, bare = token.groups()
        if newline:
            line += 1
        elif string:
            yield Event("value", line, json.loads(string, strict=False))
        else:
            yield Event(bracket or "plain", line, bare or "")


def yaml_events(text: str) -> Iterator[Event]:
    """Yield the events of a YAML text. Raises what the YAML parser raises."""
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
                yield Event(sign, line, event.value, event.anchor, event.tag)
            elif sign := signs.get(type(event)):
                yield Event(sign, line, "", getattr(event, "anchor", None), getattr(event, "tag", None))
    finally:
        parser.dispose()


# values ---------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """A container that is being read. `size` and `height` include its expanded aliases."""

    value: Json
    anchor: str | None
    line: int
    key: str | None = None
    key_line: int = 0
    size: int = 1
    height: int = 1
    lines: dict[Any, int] = field(default_factory=dict[Any, int])


class _Anchored(NamedTuple):
    """The value that an anchor names."""

    value: Json
    size: int
    height: int


_MERGE = "<<"
"""The key of YAML 1.1 under which a mapping takes the keys of others, which many OpenAPI documents use."""


class Tree:
    """Builds a value from events, with the line of each part. Collects problems and continues where it can."""

    def __init__(self, file: str, *, is_foreign: bool = False) -> None:
        self.file = file
        self._is_foreign = is_foreign
        self._words = _CORE_WORDS if is_foreign else _WORDS
        self.root: Json = None
        self.lines: dict[int, dict[Any, int]] = {}
        self.problems: list[Problem] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._aliased = 0
        self._documents = 0

    def build(self, events: Iterator[Event]) -> None:
        """Read all events. Raises `DocumentError` with all problems."""
        steps: dict[str, Callable[[Event], None]] = {
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
                self._note(event.line, f"the tag {event.tag!r} is not allowed; write plain JSON values")
            steps[event.sign](event)
        if self.problems:
            raise DocumentError(self.problems)

    def _document(self, event: Event) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(event.line, "has a second document; a file holds one document")

    def _begin(self, value: dict[str, Json] | list[Json], event: Event) -> None:
        if len(self._open) >= DEEPEST:
            self._stop(event.line, f"is nested deeper than {DEEPEST} levels")
        if self._expects_key():
            self._stop(event.line, "a key must be a string")
        self._open.append(_Open(value, event.anchor, event.line))

    def _end(self) -> None:
        done = self._open.pop()
        self.lines[id(done.value)] = done.lines
        mapping = as_object(done.value)
        if self._is_foreign and _MERGE in mapping:
            # Add the keys of the mappings under the merge key that the mapping itself lacks; earlier mappings win.
            merged = mapping.pop(_MERGE)
            for source in as_list(merged) or [merged]:
                for key, value in as_object(source).items():
                    mapping.setdefault(key, value)
        self._place(done.value, done.line, done.anchor, done.size, done.height)

    def _plain(self, event: Event) -> None:
        """Read a scalar without quotes: a JSON literal, a JSON number, or a string."""
        text = event.text
        if self._expects_key():
            if not self._is_foreign and (text in _WORDS or _NUMBER.fullmatch(text)):
                self._note(event.line, f'a key must be a string; quote it: "{text}"')
            return self._scalar(text, event)
        if text in self._words:
            return self._scalar(self._words[text], event)
        if not _NUMBER.fullmatch(text):
            return self._scalar(text, event)
        try:
            value = float(text) if set(text) & set(".eE") else int(text)
        except ValueError:
            value = float("inf")
        if value in (float("inf"), float("-inf")):
            self._note(event.line, f"the number {text[:20]}... is too large")
        return self._scalar(value, event)

    def _scalar(self, value: Json, event: Event) -> None:
        if not self._expects_key():
            return self._place(value, event.line, event.anchor, 1, 0)
        mapping = self._open[-1]
        if value in mapping.value:
            self._note(event.line, f"duplicate key {value!r}; it is already in line {mapping.lines[value]}")
        mapping.key, mapping.key_line = value, event.line
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(value, 1, 0)
        return None

    def _alias(self, event: Event) -> None:
        name = event.anchor or ""
        if name not in self._anchors:
            self._note(event.line, f'`*{name}` is an alias without an anchor; quote it if it is a glob: "*{name}"')
        target = self._anchors.get(name, _Anchored(None, 1, 0))
        self._aliased += target.size
        if self._aliased > MOST_ALIASED:
            self._stop(event.line, f"its aliases expand to more than {MOST_ALIASED} values")
        if len(self._open) + target.height > DEEPEST:
            self._stop(event.line, f"is nested deeper than {DEEPEST} levels through the alias *{name}")
        if not self._expects_key():
            return self._place(target.value, event.line, None, target.size, target.height)
        if not isinstance(target.value, str):
            self._stop(event.line, "a key must be a string")
        return self._scalar(target.value, event._replace(anchor=None))

    def _place(self, value: Json, line: int, anchor: str | None, size: int, height: int) -> None:
        """Put a finished value into its container."""
        if anchor:
            self._anchors[anchor] = _Anchored(value, size, height)
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
