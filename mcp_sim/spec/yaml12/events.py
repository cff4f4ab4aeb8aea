"""Which steps lead through a JSON or YAML text, and on which lines?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|([{}\[\]])|(\n)|([^\s{}\[\],:"]+)', re.DOTALL)


class Event(NamedTuple):
    """One step through a text. `sign` is one of `{ } [ ]`, `value`, `plain` (a scalar without quotes) or `alias`."""

    sign: str
    line: int
    text: str = ""
    anchor: str | None = None
    tag: str | None = None


def json_events(text: str) -> Iterator[Event]:
    """The events of a JSON text that the JSON parser has accepted, but for its numbers, keys and depth."""
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
                yield Event(sign, line, event.value, event.anchor, event.tag)
            elif sign := signs.get(type(event)):
                yield Event(sign, line, "", getattr(event, "anchor", None), getattr(event, "tag", None))
    finally:
        parser.dispose()
