"""Switches: arguments of a write that say how it is done (`overwrite`, `append`, `mode`), or whether (`confirm`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Literal, TypeAlias, cast

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import constants, main_type, properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import by_word

WriteMode: TypeAlias = Literal["refuse", "keep", "update", "replace", "append"]
"""What a write does to a record that exists."""

ReadMode: TypeAlias = Callable[[Mapping[str, Json]], WriteMode | None]
"""Returns what the arguments of a call say about the mode; None if they say nothing."""

_EFFECTS: Mapping[str, tuple[WriteMode | None, WriteMode | None]] = {
    "overwrite": ("replace", "refuse"),
    "append": ("append", None),
}
"""Flag -> what it means if it is true, and if it is false."""


def find_switch(name: str, schema: Record) -> str | None:
    """Return the kind of switch that an argument is: `overwrite`, `append`, `mode` or `confirm`; None for others.

    A mode is a switch only if all its values are known modes of writing.
    """
    kind = by_word("arguments.switch").get(snake(name))
    if kind != "mode":
        return kind if main_type(schema) == "boolean" else None
    values, known = [str(value).lower() for value in constants(schema)], by_word("arguments.write_mode")
    return kind if values and all(value in known for value in values) else None


def mode_reader(schema: Record, taken: Collection[str]) -> ReadMode | None:
    """Return what reads the mode of a write from its arguments, or None if no argument says it.

    `schema` is that of the arguments. Arguments in `taken` have another meaning.
    """
    parts = {name: subschema for name, subschema in properties(schema).items() if name not in taken}
    readers = [
        (name, kind, subschema.get("default"))
        for name, subschema in parts.items()
        if (kind := find_switch(name, subschema))
    ]
    switches = [pair for pair in readers if pair[1] != "confirm"]
    if not switches:
        return None

    def read(arguments: Mapping[str, Json]) -> WriteMode | None:
        modes: Iterator[WriteMode | None] = (
            _mode(kind, arguments.get(name, default)) for name, kind, default in switches
        )
        return next((mode for mode in modes if mode is not None), None)

    return read


def _mode(kind: str, value: Json) -> WriteMode | None:
    if isinstance(value, bool) and kind in _EFFECTS:
        return _EFFECTS[kind][0 if value else 1]
    return cast("WriteMode | None", by_word("arguments.write_mode").get(str(value).lower()))


def confirmation(schema: Record, taken: Collection[str]) -> tuple[str, bool] | None:
    """Return the flag that must be true for a tool to do anything, and its default, or None."""
    parts = {name: subschema for name, subschema in properties(schema).items() if name not in taken}
    flags = (name for name, value in parts.items() if find_switch(name, value) == "confirm")
    return next(((name, parts[name].get("default") is not False) for name in flags), None)
