"""Databases of the catalogue: SQLite and DuckDB as their servers print rows, and word what a statement gets wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import text, with_state

Json = Any

PETS: Json = {"pets": [{"id": 1, "name": "Pablo", "born": 2011}, {"id": 2, "name": "Nela", "born": None}]}
FARM: Json = {
    "database": "farm",
    "tables": {
        "fields": {
            "sql": "CREATE TABLE fields (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, hectares DOUBLE)",
            "rows": [{"id": 1, "name": "North", "hectares": 12.5}, {"id": 2, "name": "Creek", "hectares": 4.0}],
        }
    },
}


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


async def test_duckdb_shows_columns_with_types_and_counts_what_it_writes(tmp_path: Path) -> None:
    async with with_state(tmp_path, "duckdb", FARM).open() as world:

        async def run(sql: str) -> Json:
            return json.loads(text(await world.call("execute_query", {"sql": sql})))

        assert await run("SELECT * EXCLUDE (id) FROM fields ORDER BY hectares") == {
            "success": True,
            "columns": ["name", "hectares"],
            "columnTypes": ["VARCHAR", "DOUBLE"],
            "rows": [["Creek", 4.0], ["North", 12.5]],
            "rowCount": 2,
        }
        assert (await run("INSERT INTO fields VALUES (3, 'Hill', 7.25), (4, 'Marsh', 3.3)"))["rows"] == [[2]]
        await run("CREATE VIEW big AS SELECT name FROM fields WHERE hectares > 5")
        assert (await run("SELECT name FROM big ORDER BY name"))["rows"] == [["Hill"], ["North"]]
        missing = text(await world.call("list_columns", {"table": "ponds"}))
        assert json.loads(missing)["error"] == "Table or view not found: farm.main.ponds"


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        (
            "SELECT nam FROM fields",
            'Binder Error: Referenced column "nam" not found in FROM clause!\nCandidate bindings: "name"\n\n'
            "LINE 1: SELECT nam FROM fields\n               ^",
        ),
        (
            "SELECT * FROM feilds",
            'Catalog Error: Table with name feilds does not exist!\nDid you mean "fields"?\n\n'
            "LINE 1: SELECT * FROM feilds\n                      ^",
        ),
        ("INSERT INTO fields VALUES (1, 'Again', 1)", 'Duplicate key "id: 1" violates primary key constraint.'),
        ("INSERT INTO fields (id, name) VALUES (6, NULL)", "Constraint Error: NOT NULL constraint failed: fields.name"),
    ],
)
async def test_duckdb_words_a_wrong_statement_and_writes_nothing(sql: str, error: str, tmp_path: Path) -> None:
    async with with_state(tmp_path, "duckdb", FARM).open() as world:
        refused = await world.call("execute_query", {"sql": sql})
        assert not refused.ok
        shown = json.loads(text(refused).removeprefix("Error calling tool 'execute_query': "))
        assert shown["error"].endswith(error)
        assert world.ledger.steps[-1]["committed"] == []
