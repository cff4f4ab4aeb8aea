"""A database as programs call it."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import Any

import pytest
from support.library_stores import new_store

from mcp_sim.libraries.sql import Sql, SqlError, entities

Json = Any


def test_statements_read_and_write_the_tables_of_the_world_all_or_none() -> None:
    store = new_store()
    sql = Sql(store)
    sql.run("CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT)")
    inserted = sql.run("INSERT INTO pets (name) VALUES (?), (?)", ["Pablo", "Nela"])
    assert (inserted.affected, inserted.last_id, list(inserted.columns)) == (2, 2, [])
    store.put("pets", 3, {"id": 3, "name": "Bruno"})
    with pytest.raises(SqlError, match="no such table: gone"):
        sql.run(["DELETE FROM pets", "SELECT * FROM gone"])
    assert [row["name"] for row in sql.run("SELECT name FROM pets ORDER BY name DESC").rows] == [
        "Pablo",
        "Nela",
        "Bruno",
    ]
    sql.run("ALTER TABLE pets ADD COLUMN age INTEGER")
    sql.run("UPDATE pets SET age = 3 WHERE id = 1")
    assert store.get("pets", 1) == {"id": 1, "name": "Pablo", "age": 3}
    assert [column["name"] for column in sql.columns("pets")] == ["id", "name", "age"]
    assert [*sql.tables] == ["pets"]


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("INSERT INTO pets VALUES (1, 'Twin')", "constraint"),
        ("SELEC 1", "syntax"),
        ("", "syntax"),
        ("ATTACH 'x' AS y", "forbidden"),
        ("SELECT colour FROM pets", "invalid"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", "forbidden"),
    ],
)
def test_a_statement_that_fails_says_what_kind_of_failure_it_is(statement: str, kind: str) -> None:
    sql = Sql(new_store())
    sql.load({"pets": [{"id": 1, "name": "Pablo"}]})
    with pytest.raises(SqlError) as raised:
        sql.run(statement)
    assert raised.value.kind == kind


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT median(n) AS x FROM t", 2),
        ("SELECT string_agg(word, '+' ORDER BY n DESC) AS x FROM t", "c+b+a"),
        ("SELECT date_trunc('month', DATE '2026-05-17') AS x", "2026-05-01 00:00:00"),
        ("SELECT concat(word, NULL, '!') AS x FROM t WHERE n = 1", "a!"),
        ("SELECT count(*) AS x FROM t WHERE word ~ '^[ab]$'", 2),
        ("SELECT sum(n) AS x FROM generate_series(1, 4) AS s(n)", 10),
    ],
)
def test_functions_of_other_databases_are_translated(query: str, expected: Json) -> None:
    sql = Sql(new_store())
    sql.load({"t": [{"n": 1, "word": "a"}, {"n": 2, "word": "b"}, {"n": 3, "word": "c"}]})
    assert sql.run(query, dialect="postgres").rows == [{"x": expected}]


@pytest.mark.parametrize(
    "state",
    [
        {"pets": [{"id": 1, "name": "Pablo"}, {"id": 2, "name": None}]},
        {"database": {"tables": {"pets": {"columns": ["id", "name"], "rows": [[1, "Pablo"], [2, None]]}}}},
        {"tables": [{"name": "pets", "rows": [{"id": 1, "name": "Pablo"}, {"id": 2, "name": None}]}]},
        {"sql": "CREATE TABLE pets (id INTEGER PRIMARY KEY, name); INSERT INTO pets VALUES (1, 'Pablo'), (2, NULL)"},
    ],
)  # fmt: skip
def test_tables_of_a_given_state_are_read_in_all_shapes(state: Json) -> None:
    sql = Sql(new_store())
    assert sql.load(state)
    assert sql.run("SELECT id, name FROM pets ORDER BY id").rows == [
        {"id": 1, "name": "Pablo"},
        {"id": 2, "name": None},
    ]
    assert {entity.name for entity in entities(state)} == {"sql_table", "pets"}
    assert not Sql(new_store()).load({"note": "nothing"})


SCRIPT = """
CREATE VIEW named AS SELECT id FROM pets WHERE name IS NOT NULL;
CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE "log" (word TEXT);
CREATE UNIQUE INDEX names ON pets (name);
CREATE TRIGGER noted AFTER INSERT ON pets BEGIN INSERT INTO log VALUES (new.name || ' came; hello'); END;
INSERT INTO pets VALUES (1, 'Pablo'), (2, NULL);
"""


@pytest.mark.parametrize("state", [SCRIPT, {"sql": SCRIPT}, {"db": {"schema": {"all": SCRIPT}}}])
def test_views_indexes_and_triggers_of_a_given_state_work(state: Json) -> None:
    sql = Sql(new_store())
    assert sql.load(state)
    assert sql.run("SELECT * FROM named").rows == [{"id": 1}]
    assert [*sql.views] == ["named"]
    assert {*sql.tables} == {"pets", "log"}
    with pytest.raises(SqlError, match=r"UNIQUE constraint failed: pets\.name"):
        sql.run("INSERT INTO pets VALUES (3, 'Pablo')")
    sql.run("INSERT INTO pets VALUES (3, 'Olga')")
    words = [row["word"] for row in sql.run("SELECT word FROM log").rows]
    assert words == ["Pablo came; hello", None, "Olga came; hello"]
    sql.run("DROP VIEW named")
    assert not sql.views
    assert {entity.name for entity in entities(state)} == {"sql_table", "pets", "log"}


@pytest.mark.parametrize(
    "trigger",
    [
        "AFTER INSERT ON pets BEGIN INSERT INTO log VALUES ('new ' || new.name); END",
        "AFTER INSERT ON pets BEGIN UPDATE pets SET name = upper(name) WHERE id = new.id; END",
        "BEFORE UPDATE ON pets WHEN new.name = 'Olga' BEGIN INSERT INTO log VALUES (old.name || new.name); END",
        "AFTER DELETE ON pets BEGIN DELETE FROM log; INSERT INTO log VALUES ('gone ' || old.name); END",
        "BEFORE DELETE ON pets BEGIN SELECT RAISE(ABORT, 'pets stay'); END",
        "INSTEAD OF INSERT ON shown BEGIN INSERT INTO pets (name) VALUES (new.name || '!'); END",
    ],
)
def test_triggers_act_once_for_each_row_as_in_sqlite(trigger: str) -> None:
    statements = [
        "CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT)",
        "CREATE TABLE log (word TEXT)",
        "CREATE VIEW shown AS SELECT name FROM pets",
        "INSERT INTO pets VALUES (1, 'Pablo'), (2, 'Ines')",
        f"CREATE TRIGGER noted {trigger}",
        "INSERT INTO pets VALUES (3, 'Kofi'), (4, 'Ada')",
        "UPDATE pets SET name = 'Olga' WHERE id < 3",
        "DELETE FROM pets WHERE id = 2",
        "INSERT INTO shown VALUES ('Eve')",
        "DROP TRIGGER noted",
        "INSERT INTO pets VALUES (9, 'Last')",
    ]
    real, simulated = sqlite3.connect(":memory:", isolation_level=None), Sql(new_store())
    for statement in statements:
        outcomes = list[str]()
        for run in (real.execute, simulated.run):
            try:
                run(statement)
                outcomes.append("")
            except (sqlite3.Error, SqlError) as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        for query in ("SELECT id, name FROM pets ORDER BY id", "SELECT word FROM log"):
            with suppress(sqlite3.OperationalError):
                expected = real.execute(query).fetchall()
                assert [tuple(row.values()) for row in simulated.run(query).rows] == expected


def test_a_statement_writes_a_limited_number_of_rows() -> None:
    sql = Sql(new_store())
    sql.load({"users": [{"id": 1, "name": "x" * 900_000}]})
    more = "INSERT INTO users (name) SELECT name FROM users"
    for _ in range(4):
        sql.run(more)
    with pytest.raises(SqlError, match="write fewer"):
        sql.run(more)
    assert sql.run("SELECT count(*) AS n FROM users").rows == [{"n": 16}]


@pytest.mark.parametrize("text", ["[1e999]", "[NaN]", "[" * 5000 + "]" * 5000, f"[{'9' * 5000}]"])
def test_invalid_json_stays_a_text_in_a_column_of_lists(text: str) -> None:
    store = new_store()
    sql = Sql(store)
    sql.load({"users": [{"id": 1, "tags": ["a"]}]})
    sql.run(f"UPDATE users SET tags = '{text}'")
    assert store.get("users", 1) == {"id": 1, "tags": text}
