"""The simulated DuckDB: types, divisions, several statements in one call, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.services import message, value

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
SCENARIO = """\
mcp_sim: 1
tools: duckdb
world:
  state:
    database: harbour
    sql: |
      CREATE TABLE boats (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, length DOUBLE, built DATE, sold BOOLEAN);
      INSERT INTO boats VALUES (1, 'Heron', 9.5, '2019-05-01', false), (2, 'Tern', 7.0, '2024-03-09', true);
      CREATE TABLE berths (price DECIMAL(8,2));
      INSERT INTO berths VALUES (18.5);
      CREATE VIEW big AS SELECT * FROM boats WHERE length > 9;
"""


@pytest.fixture
async def harbour(tmp_path: Path) -> AsyncIterator[World]:
    path = tmp_path / "harbour.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    async with Simulator.load(path).open() as world:
        yield world


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    """Return the JSON in the text of a result."""
    return json.loads(value(await world.call(tool, arguments))["result"])


async def run(world: World, sql: str) -> Json:
    return await ask(world, "execute_query", sql=sql)


@pytest.mark.parametrize(
    ("sql", "types", "rows"),
    [
        ("SELECT id, name, length, built, sold FROM boats WHERE id = 2",
         ["INTEGER", "VARCHAR", "DOUBLE", "DATE", "BOOLEAN"], [[2, "Tern", 7.0, "2024-03-09", True]]),
        ("SELECT 7 / 2 AS a, 7 // 2 AS b, -7 // 2 AS c", ["DOUBLE", "INTEGER", "INTEGER"], [[3.5, 3, -3]]),
        ("SELECT count(*) AS n, avg(length) AS mean FROM boats", ["BIGINT", "DOUBLE"], [[2, 8.25]]),
        ("SELECT sold, count(*) AS n FROM boats GROUP BY ALL ORDER BY sold", ["BOOLEAN", "BIGINT"],
         [[False, 1], [True, 1]]),
        ("SELECT name FROM big", ["VARCHAR"], [["Heron"]]),
        ("SELECT * EXCLUDE (id, built, sold) FROM boats WHERE id = 1", ["VARCHAR", "DOUBLE"], [["Heron", 9.5]]),
        ("FROM boats SELECT name ORDER BY length", ["VARCHAR"], [["Tern"], ["Heron"]]),
        ("SELECT name FROM boats WHERE name ILIKE 'h%'", ["VARCHAR"], [["Heron"]]),
        ("SELECT year(built) AS y FROM boats ORDER BY y DESC LIMIT 1", ["BIGINT"], [[2024]]),
        ("SELECT name FROM boats WHERE built > '2030-01-01'", ["VARCHAR"], []),
        ("SELECT price FROM berths", ["DECIMAL(8,2)"], [["18.50"]]),
    ],
)  # fmt: skip
async def test_rows_have_the_values_and_types_of_duckdb(
    harbour: World, sql: str, types: list[str], rows: list[list[Json]]
) -> None:
    body = await run(harbour, sql)
    assert (body["columnTypes"], body["rows"], body["rowCount"]) == (types, rows, len(rows))


async def test_of_several_statements_all_act_and_the_last_one_answers(harbour: World) -> None:
    body = await run(
        harbour, "UPDATE boats SET length = 8 WHERE id = 2; INSERT INTO boats VALUES (3, 'Smew', 6, NULL, NULL)"
    )
    assert (body["columns"], body["rows"]) == (["Count"], [[1]])
    assert (await run(harbour, "SELECT sum(length) AS s FROM boats"))["rows"] == [[23.5]]


@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        (
            "SELECT nme FROM boats",
            "BinderException",
            [
                'Binder Error: Referenced column "nme" not found in FROM clause!\nCandidate bindings: "name"',
                "\n\nLINE 1: SELECT nme FROM boats\n               ^",
            ],
        ),
        (
            "SELECT * FROM boat",
            "CatalogException",
            ['Catalog Error: Table with name boat does not exist!\nDid you mean "boats"?\n\nLINE 1: SELECT'],
        ),
        ("SELCT 1", "ParserException", ['syntax error at or near "SELCT"']),
        ("SELECT name FROM boats WHERE", "ParserException", ["Parser Error: syntax error at end of input"]),
        (
            "INSERT INTO boats (id, nme) VALUES (9, 'Gull')",
            "BinderException",
            ['Table "boats" does not have a column with name "nme"\n\nDid you mean: "name"'],
        ),
        ("INSERT INTO boats (id, name) VALUES (1, 'Gull')", "ConstraintException", ['"id: 1"', "primary key"]),
        ("INSERT INTO boats (id) VALUES (9)", "ConstraintException", ["NOT NULL constraint failed: boats."]),
        ("CREATE TABLE boats (id INTEGER)", "CatalogException", ["boats", "already exists"]),
    ],
)
async def test_a_refused_statement_names_the_exception_and_changes_nothing(
    harbour: World, sql: str, kind: str, words: list[str]
) -> None:
    text = message(await harbour.call("execute_query", {"sql": sql}))
    body = json.loads(text.removeprefix("Error calling tool 'execute_query': "))
    assert body["errorType"] == kind
    assert [word for word in words if word not in body["error"]] == []
    assert harbour.ledger.steps[-1]["committed"] == []


async def test_tables_views_and_columns_are_listed(harbour: World) -> None:
    tables = await ask(harbour, "list_tables")
    assert {table["name"]: table["type"] for table in tables["tables"]} == {
        "boats": "table",
        "berths": "table",
        "big": "view",
    }
    columns = (await ask(harbour, "list_columns", table="boats"))["columns"]
    assert [(column["name"], column["type"], column["nullable"]) for column in columns] == [
        ("id", "INTEGER", False),
        ("name", "VARCHAR", False),
        ("length", "DOUBLE", True),
        ("built", "DATE", True),
        ("sold", "BOOLEAN", True),
    ]
    assert (await ask(harbour, "list_databases"))["databases"][0]["name"] == "harbour"


async def test_an_unknown_table_has_no_columns(harbour: World) -> None:
    body = await ask(harbour, "list_columns", table="boat")
    assert (body["success"], body["errorType"]) == (False, "NotFoundError")
    assert "harbour.main.boat" in body["error"]
