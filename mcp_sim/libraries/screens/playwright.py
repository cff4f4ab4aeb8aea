"""Print an accessibility tree as Playwright's MCP server does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mcp_sim.libraries.screens.accessibility import Child, Item

_LONGEST_NAME = 900
"""Longer names are left out, as Playwright does."""
_QUOTED = re.compile(
    r"^$|^\s|\s$|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|^-|[\n:](?:\s|$)|\s#|[\n\r]|^[&*\],?!>|@\"'#%]|[{}`]|^\["
)
"""Texts that YAML would read as something else."""
_WORDS = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})
_NUMBER = re.compile(r"\s*[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|0[xX][\da-fA-F]+|Infinity)\s*")
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f-\x9f]')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def snapshot(top: Item, reference: str = "", deepest: int = 0) -> str:
    """Return the items of a page as YAML, one line each; only the item with a reference, if one is given.

    `deepest`: how deep items are shown, counted from 0; 0 shows all.
    """
    shown = [_find(top, reference)] if reference else top.children
    lines = (
        line for child in shown if child is not None for line in _lines(child, 0, deepest or 10**9, may_point=True)
    )
    return "\n".join(lines)


def _find(item: Item, reference: str) -> Item | None:
    if item.ref == reference:
        return item
    inner = (_find(child, reference) for child in item.children if isinstance(child, Item))
    return next((match for match in inner if match is not None), None)


def _lines(child: Child, depth: int, deepest: int, *, may_point: bool) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(child, str):
        yield f"{pad}- text: {_value(child)}"
        return
    points = child.has_pointer and may_point and bool(child.ref)
    head = _head(child, points=points)
    key = f"{pad}- " + ("'" + head.replace("'", "''") + "'" if _needs_quotes(head) else head)
    has_text = len(child.children) == 1 and isinstance(child.children[0], str)
    children = child.children if depth < deepest or has_text else []
    if not children and not child.properties:
        yield key
    elif not child.properties and len(children) == 1 and isinstance(children[0], str):
        yield f"{key}: {_value(children[0])}"
    else:
        yield f"{key}:"
        for name, value in child.properties.items():
            yield f"{pad}  - /{name}: {_value(value)}"
        for inner in children:
            yield from _lines(inner, depth + 1, deepest, may_point=may_point and not points)


def _head(item: Item, *, points: bool) -> str:
    name = f" {json.dumps(item.name, ensure_ascii=False)}" if item.name and len(item.name) <= _LONGEST_NAME else ""
    flags = "".join(f" [{flag}]" for flag in item.flags)
    return f"{item.role}{name}{flags}{f' [ref={item.ref}]' if item.ref else ''}{' [cursor=pointer]' if points else ''}"


def _value(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"' if _needs_quotes(text) else text


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0], f"\\x{ord(match[0]):02x}")


def _needs_quotes(text: str) -> bool:
    return bool(_QUOTED.search(text) or _NUMBER.fullmatch(text) or text.lower() in _WORDS)
