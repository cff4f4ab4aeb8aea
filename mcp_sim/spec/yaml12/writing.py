"""Write values as readable YAML that is read back unchanged, and insert entries without changing any other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import Any, TypeAlias

from mcp_sim.spec.yaml12.nodes import WORDS, Path, compose, entries_of
from mcp_sim.spec.yaml12.reading import escaped, load
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object

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
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in as_object(value).items()) + "}"
    return f"[{', '.join(map(flow, as_list(value)))}]" if isinstance(value, list) else scalar(value)


def scalar(value: Json) -> str:
    """Return a string, number, boolean or null as YAML. Strings are quoted only if they could be misread."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _TAKEN:
        return value
    return escaped(json.dumps(value, ensure_ascii=False))


def _lines(value: Json, width: int, blocks: int) -> Iterator[str]:
    entries = [(f"{scalar(key)}:", item) for key, item in as_object(value).items()]
    entries += [("-", item) for item in as_list(value)]
    if not entries:
        yield flow(value)
    for head, item in entries:
        line = f"{head} {flow(item)}"
        if not (as_object(item) or as_list(item)) or (blocks <= 0 and len(line) <= width):
            yield line
            continue
        inner = _lines(item, width - _STEP, blocks - 1)
        yield f"- {next(inner)}" if head == "-" else head
        yield from (f"  {line}" for line in inner)


_Edit: TypeAlias = tuple[int, int, str]
"""A replacement of the text between two offsets."""


def insert_entries(
    text: str, entries: Record, is_open: Callable[[Path], bool], comments: Mapping[Path, str] | None = None
) -> str:
    """Return the text of a mapping with the entries inserted that it lacks.

    Existing entries stay unchanged; nested mappings at paths that `is_open` accepts are completed in the same way.
    `comments` are put above new entries that have a line of their own. Raises `UsageError` if nothing can be inserted.
    """
    if text.count("\r\n") == text.count("\n") > 0:
        return insert_entries(text.replace("\r\n", "\n"), entries, is_open, comments).replace("\n", "\r\n")
    before = load(text.encode(), "document").value
    insertion = _Insertion(text, is_open, comments or {})
    after, at = "", 0
    # At the same offset, inner edits come first, as they are yielded.
    for start, end, replacement in sorted(insertion.into(compose(text, "document"), entries, ()), key=itemgetter(0)):
        after += text[at:start] + replacement
        at = end
    after += text[at:]
    with suppress(DocumentError):
        if load(after.encode(), "document").value == merged(before, entries, is_open):
            return after
    raise UsageError("nothing can be inserted into a document written this way; insert the entries by hand")


def merged(value: Json, entries: Record, is_open: Callable[[Path], bool], path: Path = ()) -> Json:
    """Return the value of the text after the insertion."""
    result = {**as_object(value)}
    for name, entry in entries.items():
        known: Json = result.get(name)
        if known is None:
            result[name] = entry
        elif isinstance(known, dict) and isinstance(entry, dict) and is_open((*path, name)):
            result[name] = merged(known, as_object(entry), is_open, (*path, name))
    return result


class _Insertion:
    """Finds the places in a text where entries belong."""

    def __init__(self, text: str, is_open: Callable[[Path], bool], comments: Mapping[Path, str]) -> None:
        self.text, self.is_open, self.comments = text, is_open, comments
        self.flow = partial(json.dumps, ensure_ascii=False) if text.lstrip()[:1] == "{" else flow

    def into(self, node: Any, added: Record, path: Path) -> Iterator[_Edit]:
        """Yield the edits that insert entries into one mapping."""
        known = entries_of(node)
        fresh = {name: value for name, value in added.items() if name not in known}
        for name in added.keys() & known.keys():
            yield from self._onto(*known[name], added[name], (*path, name), in_braces=node.flow_style)
        if node.id == "scalar":  # a document without entries
            yield self._below(len(self.text), fresh, 0, path)
        elif fresh and node.flow_style:
            yield self._in_braces(node, fresh)
        elif fresh:
            yield self._below(_end(node), fresh, node.value[0][0].start_mark.column, path)

    def _onto(self, key: Any, node: Any, value: Json, path: Path, *, in_braces: bool) -> Iterator[_Edit]:
        """Yield the edits for an existing entry. In a block, null and an empty mapping become a block."""
        if node.start_mark.index < key.start_mark.index:  # an alias
            return
        start, end = len(self.text[: node.start_mark.index].rstrip(" ")), node.end_mark.index
        added = as_object(value)
        is_null = node.id == "scalar" and not node.style and WORDS.get(node.value, "") is None
        is_open = node.id == "mapping" and self.is_open(path)
        if is_null and (in_braces or not added):
            yield start, end, f" {self.flow(value)}"
        elif added and not in_braces and (is_null or (is_open and not node.value)):
            yield start, end, ""
            yield self._below(end, added, key.start_mark.column + _STEP, path)
        elif is_open:
            yield from self.into(node, added, path)

    def _in_braces(self, node: Any, fresh: Record) -> _Edit:
        """Add entries after the last one in `{...}`, in separate lines if the existing ones are."""
        body = [f"{self.flow(name)}: {self.flow(value)}" for name, value in fresh.items()]
        if not node.value:
            at = node.start_mark.index + 1
            return at, at, ", ".join(body)
        first = node.value[0][0].start_mark
        gap = f",\n{' ' * first.column}" if first.line > node.start_mark.line else ", "
        at = max(map(_end, node.value[-1]))
        return at, at, "".join(f"{gap}{entry}" for entry in body)

    def _below(self, at: int, entries: Record, indent: int, path: Path) -> _Edit:
        """Add lines below the line of an offset, or above it if a line begins there, as after a block scalar."""
        lines = "".join(self._lines(entries, indent, path))
        if self.text[:at][-1:] in ("", "\n"):
            return at, at, lines
        end = self.text.find("\n", at)
        at = len(self.text) if end < 0 else end
        return at, at, f"\n{lines.removesuffix(chr(10))}"

    def _lines(self, entries: Record, indent: int, path: Path) -> Iterator[str]:
        for name, entry in entries.items():
            here = (*path, name)
            if here in self.comments:
                yield f"{' ' * indent}# {self.comments[here]}\n"
            is_commented = any(comment[: len(here)] == here != comment for comment in self.comments)
            if is_commented and (inner := as_object(entry)):
                yield f"{' ' * indent}{scalar(name)}:\n"
                yield from self._lines(inner, indent + _STEP, here)
            else:
                yield dump({name: entry}, indent, blocks=1 if path else _SECTION)


def _end(node: Any) -> int:
    """Return the offset at which the text of a value ends: for a block, where its last part ends."""
    if node.id == "scalar" or node.flow_style or not node.value:
        return node.end_mark.index
    last = node.value[-1]
    return max(map(_end, last)) if node.id == "mapping" else _end(last)  # a value before its key is an alias
