"""What value do the events of a text make, with the line of each part? What it may not hold is noted with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from mcp_sim.spec.yaml12.events import Event
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem

Path: TypeAlias = tuple[str | int, ...]
"""Where in a value: keys and indexes from the root."""

DEEPEST = 128
"""How deep a value may be nested."""

MOST_ALIASED = 100_000
"""How many values the aliases of a document may stand for in all."""

LONGEST_PATH = 12
"""A problem's path is cut after so many parts."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "~": None, "": None}


def dotted(path: Sequence[str | int]) -> str:
    """`perturbations[0].when.nth`"""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


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


class Tree:
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

    def grow(self, events: Iterator[Event]) -> None:
        """Read all events. Raises DocumentError with all that is wrong."""
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
                self._note(event.line, f"the tag {event.tag!r} is not allowed: values are JSON's")
            steps[event.sign](event)
        if self.problems:
            raise DocumentError(self.problems)

    def _document(self, event: Event) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(event.line, "holds a second document; one file is one document")

    def _begin(self, value: dict[str, Json] | list[Json], event: Event) -> None:
        if len(self._open) >= DEEPEST:
            self._stop(event.line, f"is nested deeper than {DEEPEST} levels")
        if self._expects_key():
            self._stop(event.line, "a key must be a string")
        self._open.append(_Open(value, event.anchor, event.line))

    def _end(self) -> None:
        done = self._open.pop()
        self.lines[id(done.value)] = done.lines
        self._place(done.value, done.line, done.anchor, done.size, done.height)

    def _plain(self, event: Event) -> None:
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

    def _scalar(self, value: Json, event: Event) -> None:
        if not self._expects_key():
            return self._place(value, event.line, event.anchor, 1, 0)
        mapping = self._open[-1]
        if value in mapping.value:
            self._note(event.line, f"the key {value!r} is repeated; it stands in line {mapping.lines[value]} already")
        mapping.key, mapping.key_line = value, event.line
        if event.anchor:
            self._anchors[event.anchor] = _Kept(value, 1, 0)
        return None

    def _alias(self, event: Event) -> None:
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
