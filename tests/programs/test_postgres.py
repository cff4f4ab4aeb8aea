"""The simulated PostgreSQL: types, constraints, definitions and plans from end to end, and what it refuses."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

Json = Any
SCHEMA = """
CREATE TABLE rooms (code VARCHAR(4) PRIMARY KEY, seats INTEGER CHECK (seats > 0));
CREATE TABLE talks (
  id SERIAL PRIMARY KEY, title TEXT NOT NULL, room VARCHAR(4) REFERENCES rooms(code), fee NUMERIC(8,2) DEFAULT 0,
  is_open BOOLEAN DEFAULT true, day DATE, notes JSONB, UNIQUE (room, day)
);
INSERT INTO rooms VALUES ('A1', 40), ('B2', 12);
INSERT INTO talks (title, room, fee, day, notes) VALUES
  ('Tides', 'A1', 12.5, '2029-05-01', '{"level": 2}'), ('Gauges', 'B2', 7, '2029-05-02', NULL);
"""


@pytest.fixture
async def shop() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_postgres")).open() as opened:
        yield opened


@pytest.fixture(scope="module")
def conference(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    path = tmp_path_factory.mktemp("talks") / "talks.yaml"
    lines = "\n".join(f"      {line}" for line in SCHEMA.splitlines())
    path.write_text(f"mcp_sim: 1\ntools: postgres\nworld:\n  state:\n    sql: |\n{lines}\n", encoding="utf-8")
    return load(path)


@pytest.fixture
async def talks(conference: Scenario) -> AsyncIterator[World]:
    async with Simulator(conference).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> str:
    [block] = value(await world.call(tool, arguments))["result"]
    return block["text"]


async def sql(world: World, text: str) -> str:
    return await ask(world, "execute_sql", sql=text)


async def test_rows_have_the_values_of_the_types_of_their_columns(talks: World) -> None:
    assert await sql(talks, "SELECT title, fee, is_open, day, notes FROM talks WHERE id = 1") == (
        "[{'title': 'Tides', 'fee': Decimal('12.50'), 'is_open': True, 'day': datetime.date(2029, 5, 1), "
        "'notes': {'level': 2}}]"
    )
    assert await sql(talks, "SELECT count(*), sum(fee), avg(fee), notes->>'level' AS level FROM talks GROUP BY 4") == (
        "[{'count': 1, 'sum': Decimal('7.00'), 'avg': Decimal('7.0000000000000000'), 'level': None}, "
        "{'count': 1, 'sum': Decimal('12.50'), 'avg': Decimal('12.5000000000000000'), 'level': '2'}]"
    )
    assert await sql(talks, "SELECT 1, now()::date, (SELECT max(seats) FROM rooms)") == (
        "[{'?column?': 1, 'now': datetime.date(2030, 1, 1), 'max': 40}]"
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO talks (room) VALUES ('A1')", 'null value in column "title" of relation "talks" violates'),
        ("INSERT INTO talks (title, room) VALUES ('X', 'Z9')", 'Key (room)=(Z9) is not present in table "rooms".'),
        ("INSERT INTO rooms VALUES ('A1', 3)", 'unique constraint "rooms_pkey"\nDETAIL:  Key (code)=(A1) already'),
        ("INSERT INTO rooms VALUES ('C3', 0)", 'violates check constraint "rooms_seats_check"\nDETAIL:  Failing row'),
        ("UPDATE rooms SET seats = seats - 12 WHERE code = 'B2'", "Failing row contains (B2, 0)."),
        ("INSERT INTO rooms VALUES ('LONG1', 3)", "value too long for type character varying(4)"),
        ("UPDATE talks SET day = 'soon'", 'invalid input syntax for type date: "soon"'),
        ("DELETE FROM rooms WHERE code = 'A1'", 'Key (code)=(A1) is still referenced from table "talks".'),
        ("DROP TABLE rooms", "constraint talks_room_fkey on table talks depends on table rooms"),
        ("SELECT colour FROM talks", 'column "colour" does not exist\nLINE 1: SELECT colour FROM talks\n        '),
        ("SELECT * FROM guests",
         'relation "guests" does not exist\nLINE 1: SELECT * FROM guests\n                      ^'),
        ("SELECT room, title FROM talks GROUP BY room", 'column "talks.title" must appear in the GROUP BY clause'),
        ("SELECT room FROM talks GROUP BY 9", "GROUP BY position 9 is not in select list"),
        ("SELEC 1", 'syntax error at or near "SELEC"\nLINE 1: SELEC 1\n        ^'),
        ("SELECT title FROM talks WHERE", "syntax error at end of input"),
        ("CREATE EXTENSION hypopg", 'extension "hypopg" is not available'),
        ('"talks"', 'syntax error at or near ""talks""'),
        ('"a"."b"', 'syntax error at or near ""a""'),
        ("SELECT '\0'", "cannot contain NUL"),
        (f"SELECT {'(' * 300}1{')' * 300}", "stack depth limit exceeded"),
        ("SHOW everything", 'unrecognized configuration parameter "everything"'),
        ("BEGIN; DELETE FROM talks; ROLLBACK TO start_of_it", "ROLLBACK TO SAVEPOINT is not supported"),
        ("DELETE FROM talks; SELEC 1",
         'at or near "SELEC"\nLINE 1: DELETE FROM talks; SELEC 1\n                           ^'),
        ("DROP TABLE rooms CASCADE", "DROP TABLE ... CASCADE of a table that others refer to is not supported"),
        ("DROP VIEW talks", '"talks" is not a view'),
        ("DROP INDEX nowhere", 'index "nowhere" does not exist'),
        ("TRUNCATE rooms", 'foreign key constraint\nDETAIL:  Table "talks" references "rooms".'),
        ("ALTER TABLE talks ALTER COLUMN day SET NOT NULL", "ALTER TABLE ... ALTER COLUMN day SET NOT NULL is not"),
        ("ALTER TABLE talks ALTER COLUMN day SET DEFAULT now()", "is not supported by this database"),
        ("CREATE TABLE pg_relation (name TEXT)", 'unacceptable relation name "pg_relation"'),
        ("ALTER TABLE talks RENAME TO pg_sequence", 'unacceptable relation name "pg_sequence"'),
        ("CREATE TABLE sql_table (name TEXT)", "The name sql_table is reserved"),
        ("UPDATE rooms SET seats = 1e200 * 1e200", "out of range"),
        ("SELECT extract(millennium FROM day) FROM talks", "The part MILLENNIUM of a time is not supported"),
        ("INSERT INTO rooms VALUES ('C3', 5); DELETE FROM guests", 'relation "guests" does not exist'),
    ],
)  # fmt: skip
async def test_what_is_refused_is_a_text_that_says_why_and_writes_no_row(
    statement: str, message: str, talks: World
) -> None:
    everything = "SELECT (SELECT count(*) FROM rooms) AS rooms, (SELECT count(*) FROM talks) AS talks"
    before = await sql(talks, everything)
    answer = await sql(talks, statement)
    assert answer.startswith("Error: ")
    assert message in answer
    assert await sql(talks, everything) == before == "[{'rooms': 2, 'talks': 2}]"


async def test_sequences_go_on_after_failures_deletions_and_copies(talks: World) -> None:
    await sql(talks, "INSERT INTO talks (title, room) VALUES ('X', 'Z9')")
    assert await sql(talks, "INSERT INTO talks (title) VALUES ('Wind') RETURNING id") == "[{'id': 4}]"
    await sql(talks, "DELETE FROM talks WHERE id = 4")
    assert await sql(talks, "INSERT INTO talks (title) VALUES ('Rain') RETURNING id") == "[{'id': 5}]"
    await sql(talks, "INSERT INTO talks (title) SELECT title || ' again' FROM talks")
    assert await sql(talks, "INSERT INTO talks (title) VALUES ('Snow') RETURNING id") == "[{'id': 9}]"
    copied = "INSERT INTO odd (note) VALUES ('x'); INSERT INTO odd (note) SELECT note FROM odd"
    assert await sql(talks, f'CREATE TABLE odd ("No. 1" SERIAL PRIMARY KEY, note TEXT); {copied}') == "No results"


async def test_definitions_change_what_the_tools_show(talks: World) -> None:
    assert await sql(talks, "ALTER TABLE rooms ADD COLUMN floor SMALLINT NOT NULL DEFAULT 1") == "No results"
    assert await sql(talks, "CREATE INDEX rooms_floor_idx ON rooms USING btree (floor DESC)") == "No results"
    found = ast.literal_eval(await ask(talks, "get_object_details", schema_name="public", object_name="rooms"))
    assert found["columns"][2] == {"column": "floor", "data_type": "smallint", "is_nullable": "NO", "default": "1"}
    assert [one["name"] for one in found["constraints"]][:2] == ["rooms_seats_check", "rooms_pkey"]
    assert found["indexes"][1]["definition"] == "CREATE INDEX rooms_floor_idx ON public.rooms USING btree (floor DESC)"
    await sql(
        talks, "CREATE VIEW fees AS SELECT title, fee FROM talks; ALTER TABLE rooms RENAME COLUMN floor TO storey"
    )
    assert await ask(talks, "list_objects", schema_name="public", object_type="view") == (
        "[{'schema': 'public', 'name': 'fees', 'type': 'VIEW'}]"
    )
    assert await sql(talks, "SELECT fee FROM fees ORDER BY fee LIMIT 1") == "[{'fee': Decimal('7.00')}]"
    columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'rooms' ORDER BY ordinal_position"
    assert "storey" in await sql(talks, columns)
    await sql(talks, "DROP TABLE talks CASCADE")
    assert "talks" not in await ask(talks, "list_objects", schema_name="public")


async def test_a_plan_scans_what_the_statement_reads_and_changes_nothing(shop: World) -> None:
    joined = "SELECT c.name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name LIMIT 3"
    plan = await ask(shop, "explain_query", sql=joined)
    assert [line.strip().split(" (")[0] for line in plan.splitlines()] == [
        "→ Limit", "→ Aggregate", "→ Hash Join", "→ Seq Scan", "→ Seq Scan",
    ]  # fmt: skip
    plan = await ask(shop, "explain_query", sql="DELETE FROM orders WHERE id = 3")
    assert "Index Scan" in plan
    assert await sql(shop, "SELECT count(*) FROM orders") == "[{'count': 48}]"
    missing = await ask(shop, "explain_query", sql="SELECT * FROM nothing", analyze=True)
    assert missing.startswith('Error: Error executing explain plan: relation "nothing" does not exist')


async def test_the_world_is_alive(shop: World) -> None:
    assert "'System Schema'" in await ask(shop, "list_schemas")
    statuses = await sql(shop, "SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status")
    assert [one["status"] for one in ast.literal_eval(statuses)] == ["cancelled", "paid", "pending", "shipped"]
    items = "SELECT count(*) AS n FROM order_items i JOIN orders o ON o.id = i.order_id JOIN products USING (sku)"
    assert await sql(shop, items) == await sql(shop, "SELECT count(*) AS n FROM order_items")
    future = "SELECT count(*) AS n FROM orders WHERE placed_at > now()"
    assert await sql(shop, future) == "[{'n': 0}]"
    assert "sequences have healthy" in await ask(shop, "analyze_db_health", health_type="index, sequence")


async def test_worlds_that_take_turns_see_their_own_rows() -> None:
    async with Simulator(compiled("calm_postgres")) as simulator:
        one, other = simulator.world(), simulator.world()
        orders = "SELECT count(*) AS n FROM orders"
        assert await sql(one, "DELETE FROM orders WHERE id <= 8") == "No results"
        assert await sql(other, "INSERT INTO orders (customer_id) VALUES (1) RETURNING id") == "[{'id': 49}]"
        forked = one.fork()
        assert await sql(forked, "DELETE FROM orders WHERE id = 9; CREATE TABLE notes (id INTEGER)") == "No results"
        assert [await sql(world, orders) for world in (one, other, forked)] == [
            "[{'n': 40}]",
            "[{'n': 49}]",
            "[{'n': 39}]",
        ]
        assert "does not exist" in await sql(one, "SELECT * FROM notes")


@pytest.mark.parametrize(
    ("text", "open_talks"),
    [
        ("BEGIN; UPDATE talks SET is_open = false WHERE id = 1; COMMIT", 1),
        ("-- close one\nSTART TRANSACTION; UPDATE talks SET is_open = false WHERE id = 1; END;", 1),
        ("SET search_path TO public; UPDATE talks SET is_open = false", 0),
        ("UPDATE talks SET title = 'a; b' WHERE id = 1; UPDATE talks SET is_open = false WHERE title = 'a; b'", 1),
        ("UPDATE talks SET is_open = false WHERE id = 1; COMMIT; DELETE FROM talks; DROP TABLE talks; ROLLBACK", 1),
        ("BEGIN; UPDATE talks SET is_open = false; ROLLBACK", 2),
    ],
)
async def test_statements_beside_those_of_the_session_are_run(text: str, open_talks: int, talks: World) -> None:
    assert await sql(talks, text) == "No results"
    assert await sql(talks, "SELECT count(*) AS n FROM talks WHERE is_open") == f"[{{'n': {open_talks}}}]"


async def test_the_last_statement_of_a_text_is_the_one_that_is_answered(talks: World) -> None:
    assert await sql(talks, "SELECT 1 AS one; SHOW server_encoding") == "[{'server_encoding': 'UTF8'}]"
    assert await sql(talks, "SET x = 1; SELECT 1 AS one") == "[{'one': 1}]"
    assert await sql(talks, "/* only */ VACUUM FULL talks") == "No results"


async def test_a_plan_that_is_analyzed_runs_the_statement(talks: World) -> None:
    plan = await ask(talks, "explain_query", sql="DELETE FROM talks WHERE id = 1", analyze=True)
    assert plan.startswith("Planning Time")
    assert await sql(talks, "SELECT count(*) AS n FROM talks") == "[{'n': 1}]"
    assert Simulator(compiled("calm_postgres")).scenario.domain.plans["explain_query"].verb == "update"
