"""Rows of tables in a given state, in all common shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import Json, Record

_HELD = ("rows", "data", "records", "items", "entries", "values")
"""Names under which an object holds the rows of a table."""


def rows_of(value: Json, key: str, plain: str = "") -> list[Record] | None:
    """Return the rows of a table; None if the value is no table.

    A table is a list of objects, an object with one object for each key, `{columns, rows}` with a list for each row, or
    an object that holds one of these under `rows`, `data` or the like. Keys of an object become the field `key`. Where
    `plain` names a field, entries that are no objects become that field: a list of texts, or texts under keys.
    """
    if isinstance(value, list):
        return _listed(as_list(value), plain)
    if not isinstance(value, dict):
        return None
    body = cast("Record", value)
    held = next((body[name] for name in _HELD if isinstance(body.get(name), list)), None)
    if held is not None and (len(body) == 1 or isinstance(body.get("columns"), list)):
        return _with_columns(as_list(held), as_list(body.get("columns")), plain)
    return _keyed(body, key, plain)


def _listed(values: list[Json], plain: str) -> list[Record] | None:
    if all(isinstance(one, dict) for one in values):
        return cast("list[Record]", values)
    if not plain or any(isinstance(one, list) for one in values):
        return None
    return [as_object(one) or {plain: one} for one in values]


def _with_columns(rows: list[Json], columns: list[Json], plain: str) -> list[Record] | None:
    names = [str(as_object(one).get("name", one)) for one in columns]
    if not names or all(isinstance(row, dict) for row in rows):
        return _listed(rows, plain)
    if any(not isinstance(row, list) or len(as_list(row)) > len(names) for row in rows):
        return None
    return [dict(zip(names, as_list(row), strict=False)) for row in rows]


def _keyed(body: Mapping[str, Json], key: str, plain: str) -> list[Record] | None:
    if all(isinstance(one, dict) for one in body.values()):
        return [{key: at, **as_object(one)} for at, one in body.items()]
    if not plain:
        return None
    return [{key: at, **(as_object(one) or {plain: one})} for at, one in body.items()]
