"""Split nested records of a table off into tables of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from mcp_sim.generate.data_files.tables import KEY, Table, find_entity
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Entity


def unnested(table: Table, entity: Entity, domain: Domain) -> tuple[list[Record], dict[str, list[Record]]]:
    """Split off nested records of entities that link to this one. Return the rows without them, and them."""
    inner = dict(_inner(table, entity, domain))
    if not inner:
        return list(table.rows), {}
    rows_by_table: dict[str, list[Record]] = {name: [] for name, _ in inner.values()}
    rows: list[Record] = []
    for row in table.rows:
        key = row.get(entity.key, row.get(KEY))
        for column, (name, link) in inner.items():
            rows_by_table[name] += [{**entry, link: entry.get(link, key)} for entry in _parts(row.get(column))]
        rows.append({name: value for name, value in row.items() if name not in inner})
    return rows, rows_by_table


def _inner(table: Table, entity: Entity, domain: Domain) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the columns that hold records of an entity which links to this one, with its name and the link field."""
    for column in dict.fromkeys(name for row in table.rows for name, value in row.items() if _parts(value)):
        name = None if column in entity.fields else find_entity(column, domain.entities)
        fields = domain.entities[name].fields.values() if name is not None else ()
        link = next((field.name for field in fields if field.link == entity.name), None)
        if name is not None and link is not None:
            yield column, (name, link)


def _parts(value: Json) -> list[Record]:
    """Return the records in a list or in a mapping from keys."""
    if isinstance(value, dict):
        body = cast("Record", value)
        return (
            [{**row, KEY: key} for key, row in body.items()] if all(isinstance(r, dict) for r in body.values()) else []
        )
    if not isinstance(value, list):
        return []
    rows = cast("list[Json]", value)
    return cast("list[Record]", rows) if all(isinstance(row, dict) for row in rows) else []
