"""Rows of tables in a given state, in all common shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import Json, Record
from mcp_sim.types.lexicon.english import is_plural, last_word
from mcp_sim.types.lexicon.terms import terms

_HELD = ("rows", "data", "records", "items", "entries", "values")
"""Names under which an object holds the rows of a table."""
_COLLECTIONS = terms("nouns.collections")
_COLUMNS = ("columns", "headers", "header")
"""Names under which it holds the names of their columns."""


def rows_of(value: Json, key: str, plain: str = "") -> list[Record] | None:
    """Return the rows of a table; None if the value is not a table.

    A table is a list of objects, an object with one object for each key, `{columns, rows}` with a list for each row, or
    an object that holds one of these under `rows`, `data` or the like. Keys of an object become the field `key`. Where
    `plain` names a field, entries that are not objects become that field: a list of texts, or texts under keys.
    """
    held, _ = unwrap_rows(value)
    if isinstance(held, list):
        values = as_list(held)
        if _are_objects(values):
            return cast("list[Record]", values)
        if not plain or any(isinstance(value, list) for value in values):
            return None
        return [_entry(value, plain) for value in values]
    return _keyed(as_object(held), key, plain) if isinstance(held, dict) else None


def unwrap_rows(value: Json) -> tuple[Json, Record]:
    """Return the rows that an object holds under `rows`, `data` or the like, and what it holds besides.

    Rows that are lists become objects if the object names their columns. Without columns, only numbers may be besides,
    such as a count. A value of any other shape is returned as it is, with nothing besides.
    """
    body = as_object(value)
    name, named = _first_in(body, _HELD, _may_be_rows), _first_in(body, _COLUMNS, _may_be_columns)
    if not name:
        return value, {}
    rows = _with_columns(body[name], column_names(body[named])) if named else body[name]
    besides = {column: held for column, held in body.items() if column not in {name, named}}
    is_table = bool(named) or all(isinstance(held, int | float) for held in besides.values())
    return (rows, besides) if is_table and rows is not None else (value, {})


def column_names(columns: Json) -> list[str]:
    """Return the names of columns: of a list of names or of objects with a `name`, or of an object by name."""
    listed = as_list(columns) or [*as_object(columns)]
    return [str(as_object(item).get("name", item)) for item in listed]


def _first_in(body: Record, names: Sequence[str], is_meant: Callable[[Json], bool]) -> str:
    """Return the first of the names whose value is meant; empty if it is missing."""
    return next((name for name in names if is_meant(body.get(name))), "")


def _may_be_columns(value: Json) -> bool:
    return isinstance(value, list | dict)


def _may_be_rows(value: Json) -> bool:
    return isinstance(value, list) or (_are_objects([*as_object(value).values()]) and bool(value))


def _are_objects(values: Sequence[Json]) -> bool:
    return all(isinstance(value, dict) for value in values)


def _with_columns(held: Json, names: Sequence[str]) -> list[Json] | None:
    """Return rows as objects; None if the columns do not fit them."""
    rows = as_list(held)
    if isinstance(held, list) and not all(isinstance(row, list) for row in rows):
        return rows
    if not isinstance(held, list) or len(set(names)) < len(names):
        return None
    is_fitting = all(len(as_list(row)) <= len(names) for row in rows)
    return [dict(zip(names, as_list(row), strict=False)) for row in rows] if is_fitting else None


def _keyed(body: Mapping[str, Json], key: str, plain: str) -> list[Record] | None:
    if not plain and not _are_objects([*body.values()]):
        return None
    return [{key: at, **_entry(value, plain)} for at, value in body.items()]


def _entry(value: Json, plain: str) -> Record:
    return cast("Record", value) if isinstance(value, dict) else {plain: value}


def lists_of_names(value: Json) -> Iterator[frozenset[str]]:
    """Yield the lists of different texts in a state that are not under a name of their own."""
    for inner in as_object(value).values():
        names = [item for item in as_list(inner) if isinstance(item, str)]
        if names and len({*names}) == len(as_list(inner)):
            yield frozenset(names)
        yield from lists_of_names(inner)


def unwrap_table(name: str, value: Json) -> tuple[Json, Record]:
    """Return the rows that a table holds under `rows` or the like, and what it holds besides.

    An object that names no columns is a table only if its name is that of a collection: the `items` of a `cart` are a
    part of the cart.
    """
    is_table = is_collection(name) or "columns" in as_object(value)
    return unwrap_rows(value) if is_table else (value, {})


def is_collection(name: str) -> bool:
    return is_plural(last_word(name)) or last_word(name) in _COLLECTIONS
