"""The simulated SQLite: rows as its server prints them, and statements that a tool refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.services import text, with_state

Json = Any

PETS: Json = {"pets": [{"id": 1, "name": "Pablo", "born": 2011}, {"id": 2, "name": "Nela", "born": None}]}


async def test_sqlite_shows_rows_as_python_prints_them(tmp_path: Path) -> None:
    async with with_state(tmp_path, "sqlite", PETS).open() as world:
        rows = await world.call("read_query", {"query": "SELECT name, born FROM pets ORDER BY id"})
        assert text(rows) == "[{'name': 'Pablo', 'born': 2011}, {'name': 'Nela', 'born': None}]"
        written = await world.call("write_query", {"query": "UPDATE pets SET born = 2019 WHERE born IS NULL"})
        assert text(written) == "[{'affected_rows': 1}]"
        assert text(await world.call("list_tables", {})) == "[{'name': 'pets'}]"
        columns = text(await world.call("describe_table", {"table_name": "pets"}))
        assert columns.startswith(
            "[{'cid': 0, 'name': 'id', 'type': 'INTEGER', 'notnull': 0, 'dflt_value': None, 'pk': "
        )


@pytest.mark.parametrize(
    ("tool", "query", "shown"),
    [
        ("read_query", "DELETE FROM pets", "Error: Only SELECT queries are allowed for read_query"),
        ("write_query", "SELECT 1", "Error: SELECT queries are not allowed for write_query"),
        ("create_table", "DROP TABLE pets", "Error: Only CREATE TABLE statements are allowed"),
        ("read_query", "SELECT age FROM pets", "Database error: no such column: age"),
    ],
)
async def test_each_tool_of_sqlite_takes_its_own_statements(tool: str, query: str, shown: str, tmp_path: Path) -> None:
    async with with_state(tmp_path, "sqlite", PETS).open() as world:
        assert text(await world.call(tool, {"query": query})) == shown
        assert world.ledger.steps[-1]["committed"] == []
