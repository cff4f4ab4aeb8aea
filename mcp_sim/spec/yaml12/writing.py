"""Write values as readable YAML that is read back unchanged, and insert entries without changing any other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

from mcp_sim.spec.yaml12.reading import CONTROL, load
from mcp_sim.spec.yaml12.tree import Path, dotted
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen

WIDTH = 116
"""The longest line, in characters, for a value written in one line."""

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./()%+-]*(?: [A-Za-z0-9_$./()%+-]+)*")
_TAKEN = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"])
"""Words that some YAML parsers do not read as strings."""


_STEP = 2  # the indentation of all documents that ship
_SECTION = 2
"""Block levels of a new top-level key: each of its entries gets a line."""


def dump(value: Json, indent: int = 0, blocks: int = 1) -> str:
    """Return a value as YAML, indented by `indent` spaces.

    Long mappings and lists are written as blocks. The outer `blocks` levels always are, unless they are empty.
    """
    return "".join(f"{' ' * indent}{line}\n" for line in _lines(value, WIDTH - indent, blocks - 1))


def flow(value: Json) -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(inner)}" for key, inner in _items(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, cast("list[Json]", value))) + "]"
    return scalar(value)


def scalar(value: Json) -> str:
    """Return a string, number, boolean or null as YAML. Strings are quoted only if they could be misread."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _TAKEN:
        return value
    return CONTROL.sub(lambda item: f"\\u{ord(item[0]):04x}", json.dumps(value, ensure_ascii=False))


def _lines(value: Json, width: int, blocks: int) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in _items(value):
            head = f"{scalar(key)}:"
            line = f"{head} {flow(item)}"
            if _fits(line, item, width, blocks):
                yield line
            else:
                yield head
                yield from (f"  {inner}" for inner in _lines(item, width - 2, blocks - 1))
    elif isinstance(value, list) and value:
        for item in cast("list[Json]", value):
            line = flow(item)
            lines = [line] if _fits(f"- {line}", item, width, blocks) else _lines(item, width - 2, blocks - 1)
            yield from (f"{'  ' if number else '- '}{inner}" for number, inner in enumerate(lines))
    else:
        yield flow(value)


def _items(value: Json) -> list[tuple[str, Json]]:
    return list(cast("Mapping[str, Json]", value).items())


def _fits(line: str, value: Json, width: int, blocks: int) -> bool:
    """Whether a value is written in the same line as its key."""
    return not (isinstance(value, dict | list) and value) or (blocks <= 0 and len(line) <= width)


class _Edit(NamedTuple):
    """A replacement of the text between two offsets."""

    start: int
    end: int
    text: str


@frozen
class _Entry:
    """An entry of a mapping in the text. `is_elsewhere`: the value is an alias of another place."""

    key: Any
    value: Any

    @property
    def is_elsewhere(self) -> bool:
        return self.value.start_mark.index < self.key.start_mark.index

    @property
    def is_null(self) -> bool:
        return self.value.tag == "tag:yaml.org,2002:null" and not self.is_elsewhere


def insert_entries(
    text: str, entries: Record, is_open: Callable[[Path], bool], comments: Mapping[Path, str] | None = None
) -> str:
    """Return the text of a mapping with the entries inserted that it lacks.

    Existing entries stay unchanged; nested mappings at paths that `is_open` accepts are completed in the same way.
    `comments` are put above new entries that have a line of their own. Raises `UsageError` if nothing can be inserted.
    """
    if not text.strip():
        return dump(entries)
    if text.count("\r\n") == text.count("\n") > 0:
        return insert_entries(text.replace("\r\n", "\n"), entries, is_open, comments).replace("\n", "\r\n")
    before = load(text.encode(), "document").value
    insertion = _Insertion(text, is_open, comments or {})
    edits = sorted(insertion.into(insertion.root, entries, ()))
    after = text
    for edit in reversed(edits):
        after = after[: edit.start] + edit.text + after[edit.end :]
    if load(after.encode(), "document").value != merged(before, entries, is_open):
        raise UsageError("nothing can be inserted into a document written this way; insert the entries by hand")
    return after


def merged(value: Json, entries: Record, is_open: Callable[[Path], bool], path: Path = ()) -> Json:
    """Return the value of the text after the insertion."""
    known = cast("Record", value)
    result = dict(known)
    for name, entry in entries.items():
        here = (*path, name)
        if known.get(name) is None:
            result[name] = entry
        elif isinstance(known[name], dict) and isinstance(entry, dict) and is_open(here):
            result[name] = merged(known[name], cast("Record", entry), is_open, here)
    return result


class _Insertion:
    """Finds the places in a text where entries belong."""

    def __init__(self, text: str, is_open: Callable[[Path], bool], comments: Mapping[Path, str]) -> None:
        yaml: Any = import_module("yaml")
        self.text, self.is_open, self.comments = text, is_open, comments
        self.root: Any = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.is_json = text.lstrip()[:1] == "{"

    def into(self, node: Any, entries: Record, path: Path) -> Iterator[_Edit]:
        """Yield the edits that insert entries into one mapping."""
        known = {key.value: _Entry(key, value) for key, value in node.value}
        fresh = {name: entry for name, entry in entries.items() if name not in known}
        for name in entries.keys() & known.keys():
            yield from self._onto(known[name], entries[name], (*path, name), node)
        if not fresh:
            return
        if node.flow_style:
            yield self._in_braces(node, fresh)
        else:
            yield self._below(node, fresh, path)

    def _onto(self, entry: _Entry, value: Json, path: Path, node: Any) -> Iterator[_Edit]:
        """Yield the edits for an existing entry."""
        if entry.is_null:
            yield self._in_place(entry, value, path, in_braces=node.flow_style)
        elif not (isinstance(value, dict) and hasattr(entry.value, "flow_style") and self.is_open(path)):
            return
        elif entry.is_elsewhere:
            if cast("Record", value).keys() <= {key.value for key, _ in entry.value.value}:
                return
            raise UsageError(f"{dotted(path)} is an alias of another part, so nothing can be inserted there")
        elif not entry.value.value and not node.flow_style:
            yield self._in_place(entry, value, path, in_braces=False)
        elif entry.value.tag == "tag:yaml.org,2002:map":
            yield from self.into(entry.value, cast("Record", value), path)

    def _in_place(self, entry: _Entry, value: Json, path: Path, *, in_braces: bool) -> _Edit:
        """Replace null or an empty mapping by a value."""
        start, end = entry.value.start_mark.index, entry.value.end_mark.index
        if in_braces:
            return _Edit(start, end, self._flow(value))
        lines = "".join(self._lines(cast("Record", value), entry.key.start_mark.column + _STEP, path))
        at = self._line_end(max(end, entry.key.end_mark.index))
        kept = self.text[end:at].rstrip() if end > entry.key.end_mark.index else self.text[start:at].rstrip()
        return _Edit(min(start, at), at, f"{kept.lstrip(' ')}\n{lines.removesuffix(chr(10))}")

    def _in_braces(self, node: Any, fresh: Record) -> _Edit:
        """Add entries after the last one in `{...}`, in separate lines if the existing ones are."""
        first = node.value[0][0] if node.value else None
        last = _end(node.value[-1][1]) if node.value else node.start_mark.index + 1
        is_tall = first is not None and first.start_mark.line > node.start_mark.line
        gap = f"\n{' ' * first.start_mark.column}" if is_tall and first is not None else " " if node.value else ""
        body = f",{gap}".join(f"{self._flow(name)}: {self._flow(value)}" for name, value in fresh.items())
        return _Edit(last, last, f",{gap}{body}" if node.value else body)

    def _below(self, node: Any, fresh: Record, path: Path) -> _Edit:
        """Add lines with entries after the last one of a block."""
        last = _Entry(*node.value[-1])
        at = self._line_end(max(last.key.end_mark.index, 0 if last.is_elsewhere else _end(last.value)))
        lines = "".join(self._lines(fresh, node.value[0][0].start_mark.column, path))
        if at > 0 and self.text[at - 1 : at] == "\n" and at == _end(last.value):  # after a block scalar
            return _Edit(at, at, lines)
        return _Edit(at, at, f"\n{lines.removesuffix(chr(10))}")

    def _lines(self, entries: Record, indent: int, path: Path) -> Iterator[str]:
        for name, entry in entries.items():
            if (*path, name) in self.comments:
                yield f"{' ' * indent}# {self.comments[*path, name]}\n"
            here = len(path) + 1
            is_commented = any(len(comment) > here and comment[:here] == (*path, name) for comment in self.comments)
            if isinstance(entry, dict) and is_commented:
                yield f"{' ' * indent}{scalar(name)}:\n"
                yield from self._lines(cast("Record", entry), indent + _STEP, (*path, name))
            else:
                yield dump({name: entry}, indent, blocks=1 if path else _SECTION)

    def _flow(self, value: Json) -> str:
        return json.dumps(value, ensure_ascii=False) if self.is_json else flow(value)

    def _line_end(self, at: int) -> int:
        """Return the end of the line at an offset; the offset itself if a line begins there."""
        if self.text[at - 1 : at] == "\n":
            return at
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


def _end(node: Any) -> int:
    """Return the offset at which the text of a value ends: for a block, where its last part ends."""
    if not hasattr(node, "flow_style") or node.flow_style or not node.value:
        return node.end_mark.index
    last: Any = node.value[-1]
    if not isinstance(last, tuple):
        return _end(last)
    key, value = cast("tuple[Any, Any]", last)
    return max(key.end_mark.index, _end(value))
