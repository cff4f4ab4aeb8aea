"""Write values as readable YAML that is read back unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from mcp_sim.spec.yaml12.reading import CONTROL
from mcp_sim.types import Json

WIDTH = 116
"""The longest line, in characters, for a value written in one line."""

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./()%+-]*(?: [A-Za-z0-9_$./()%+-]+)*")
_TAKEN = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"])
"""Words that some YAML parsers do not read as strings."""


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
            yield from _entry(f"{scalar(key)}:", item, width, blocks)
    elif isinstance(value, list) and value:
        for item in cast("list[Json]", value):
            yield from _item(item, width, blocks)
    else:
        yield flow(value)


def _items(value: Json) -> list[tuple[str, Json]]:
    return list(cast("Mapping[str, Json]", value).items())


def _entry(head: str, value: Json, width: int, blocks: int) -> Iterator[str]:
    line = f"{head} {flow(value)}"
    if _fits(line, value, width, blocks):
        yield line
        return
    yield head
    yield from (f"  {inner}" for inner in _lines(value, width - 2, blocks - 1))


def _item(value: Json, width: int, blocks: int) -> Iterator[str]:
    line = f"- {flow(value)}"
    if _fits(line, value, width, blocks):
        yield line
        return
    for number, inner in enumerate(_lines(value, width - 2, blocks - 1)):
        yield f"{'  ' if number else '- '}{inner}"


def _fits(line: str, value: Json, width: int, blocks: int) -> bool:
    """Whether a value is written in the same line as its key."""
    return not (isinstance(value, dict | list) and value) or (blocks <= 0 and len(line) <= width)
