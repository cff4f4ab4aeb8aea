"""Tools that take SQL: a database over the world whose writes are ordinary changes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, backends, refused, simulator, tool

from mcp_sim import Simulator
from mcp_sim.plans.library import Library
from mcp_sim.plans.refusal import Refused

Json = Any
NOW = datetime(2030, 1, 1, tzinfo=UTC)
TOOLS = [
    tool("read_query", "Execute a SELECT query", query=TEXT),
    tool("write_query", "Execute an INSERT, UPDATE or DELETE query", query=TEXT),
    tool("create_table", "Create a table in the SQLite database", query=TEXT),
    tool("list_tables", "List all tables"),
    tool("describe_table", table_name=TEXT),
]
NONE: list[str] = []
STATE: Json = {
    "users": [
        {"id": 3, "name": "Ada", "tags": ["a", "b"], "active": True},
        {"id": 1, "name": "Bo", "tags": NONE, "active": False},
    ],
    "log": {"columns": ["at", "what"], "rows": [["09:00", "in"], ["17:00", "out"]]},
}
PARTS = {"id": TEXT, "name": TEXT, "email": TEXT}
CUSTOMER = {"type": "object", "properties": PARTS, "required": [*PARTS]}
MIXED = [
    tool("create_customer", "Create a customer", name=TEXT, email=TEXT, output=CUSTOMER),
    tool("get_customer", "Get a customer", customer_id=TEXT, output=CUSTOMER),
    tool("delete_customer", "Delete a customer", customer_id=TEXT),
    tool("run-sql", "Run any SQL statement.", needed="sql", sql=TEXT, params={"type": "array"}),
]


@pytest.fixture
def database(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, TOOLS, STATE)


async def test_given_tables_are_listed_described_and_queried(database: Simulator) -> None:
    assert set(backends(database).values()) == {"sql query", "sql write", "sql create", "sql tables", "sql describe"}
    async with database.open() as world:
        assert await answered(world, "list_tables") == [{"name": "users"}, {"name": "log"}]
        rows = await answered(world, "describe_table", table_name="users")
        assert [(one["name"], one["type"], one["pk"]) for one in rows][:2] == [
            ("id", "INTEGER", 1),
            ("name", "TEXT", 0),
        ]
        assert await answered(world, "read_query", query="SELECT name FROM users WHERE active ORDER BY id;") == [
            {"name": "Ada"}
        ]
        assert await answered(world, "read_query", query="select count(*) as n from log join users") == [{"n": 4}]


async def test_written_rows_are_records_that_keep_their_types(database: Simulator) -> None:
    async with database.open() as world:
        done = await answered(world, "write_query", query="UPDATE users SET name = upper(name), active = 1")
        assert done["affected_rows"] == 2
        assert world.view.get("users", 3) == {"id": 3, "name": "ADA", "tags": ["a", "b"], "active": True}
        assert world.view.get("users", 1) == {"id": 1, "name": "BO", "tags": NONE, "active": True}
        done = await answered(world, "write_query", query="INSERT INTO users(name) VALUES ('Cy'), ('Di')")
        assert done == {"affected_rows": 2, "last_insert_id": 5}
        await answered(world, "write_query", query="DELETE FROM log WHERE what = 'in'")
        assert [record for _, record in world.view.rows("log")] == [{"rowid": 2, "at": "17:00", "what": "out"}]
        assert (await answered(world, "write_query", query="DELETE FROM users WHERE id = 99"))["affected_rows"] == 0


async def test_a_created_table_is_in_forks_and_can_be_altered_and_dropped(database: Simulator) -> None:
    async with database.open() as world:
        await answered(
            world,
            "create_table",
            query="CREATE TABLE notes (id TEXT PRIMARY KEY, body TEXT, made TEXT DEFAULT CURRENT_TIMESTAMP)",
        )
        await answered(world, "write_query", query="INSERT INTO notes(id, body) VALUES ('a', 'first')")
        other = world.fork("other")
        await answered(world, "write_query", query="ALTER TABLE notes ADD COLUMN stars INTEGER DEFAULT 5")
        assert (await answered(world, "read_query", query="SELECT id, stars FROM notes")) == [{"id": "a", "stars": 5}]
        assert "2030-01-01" in str(world.view.get("notes", "a"))
        assert (await answered(other, "read_query", query="SELECT * FROM notes"))[0].keys() == {"id", "body", "made"}
        await answered(world, "write_query", query="DROP TABLE notes")
        assert "users" in await refused(world, "read_query", query="SELECT * FROM notes")
        assert world.view.count("notes") == 0
        assert await answered(other, "read_query", query="SELECT id FROM notes") == [{"id": "a"}]


async def test_errors_name_the_cause(database: Simulator) -> None:
    async with database.open() as world:
        assert '"FORM"' in await refused(world, "read_query", query="SELECT * FORM users")
        assert "users, log" in await refused(world, "read_query", query="SELECT * FROM user")
        assert "nmae" in await refused(world, "read_query", query="SELECT nmae FROM users")
        assert "UNIQUE" in await refused(world, "write_query", query="INSERT INTO users(id) VALUES (3)")
        assert "DELETE" in await refused(world, "read_query", query="DELETE FROM users")
        assert "SELECT" in await refused(world, "write_query", query="/* x */ -- y\n SELECT 1")
        assert "one statement" in await refused(world, "read_query", query="SELECT 1; SELECT 2")
        assert "empty" in await refused(world, "read_query", query=" -- nothing")
        assert "log" in await refused(world, "describe_table", table_name="logs")


ESCAPES = [
    ("ATTACH DATABASE '/etc/passwd' AS x", "ATTACH"), ("PRAGMA journal_mode = WAL", "journal_mode"),
    ("PRAGMA user_version = 7", "user_version"), ("SELECT load_extension('x.so')", "load_extension"),
    ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", "steps"),
    ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n", "LIMIT"),
    ("SELECT zeroblob(900000000)", "too big"), ("BEGIN", "transaction"), ("VACUUM INTO '/tmp/x'", "VACUUM"),
    ("CREATE TEMP TABLE t(a)", "temporary"), ("SAVEPOINT a", "SAVEPOINT"),
    ("INSERT INTO users(name) VALUES (x'00')", "Binary"), ("SELECT hex(zeroblob(400000))", "too big"),
    ("WITH n(i, s) AS (SELECT 1, zeroblob(9000) UNION ALL SELECT i + 1, s || '' FROM n) SELECT max(s) FROM n", "steps"),
    ("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT replace(hex(i), '1', name) FROM n, users", "steps"),
    ("SELECT * FROM sqlite_temp_master", "sqlite_temp"), ("SELECT name REGEXP '(' FROM users", "missing )"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "reason"), ESCAPES, ids=[one[:24] for one, _ in ESCAPES])
async def test_statements_that_leave_the_sandbox_are_refused_with_a_reason(
    tmp_path: Path, statement: str, reason: str
) -> None:
    tools = [tool("execute_sql", "Run SQL", sql=TEXT), tool("list_tables")]
    async with simulator(tmp_path, tools, STATE).open() as world:
        assert reason in await refused(world, "execute_sql", sql=statement)
        assert await answered(world, "execute_sql", sql="SELECT count(*) AS n FROM users") == [{"n": 2}]


async def test_time_and_randomness_are_those_of_the_world(database: Simulator) -> None:
    query = "SELECT date('now') AS day, strftime('%Y') AS year, CURRENT_DATE AS same, random() AS chance"
    async with database.open() as one, database.open("two") as other:
        rows = await answered(one, "read_query", query=query)
        assert rows == await answered(other, "read_query", query=query)
        assert (rows[0]["day"], rows[0]["year"], rows[0]["same"]) == ("2030-01-01", "2030", "2030-01-01")


async def test_sql_and_other_tools_share_their_records(tmp_path: Path) -> None:
    async with simulator(tmp_path, MIXED, world={"records": {"customer": 3}}).open() as world:
        made = await answered(world, "create_customer", name="Ada", email="ada@vos.example")
        query = "SELECT * FROM customers WHERE name = ?"
        assert await answered(world, "run-sql", sql=query, params=["Ada"]) == [made]
        await answered(world, "run-sql", sql="UPDATE customers SET name = 'Eva' WHERE id = ?", params=[made["id"]])
        assert (await answered(world, "get_customer", customer_id=made["id"]))["name"] == "Eva"
        assert "NOT NULL" in await refused(world, "run-sql", sql="INSERT INTO customers(name) VALUES ('nobody')")
        assert "dropped" in await refused(world, "run-sql", sql="DROP TABLE customers")
        await answered(world, "delete_customer", customer_id=made["id"])
        assert await answered(world, "run-sql", sql="SELECT count(*) AS n FROM customers") == [{"n": 3}]


async def test_a_state_may_be_a_script(tmp_path: Path) -> None:
    script = "CREATE TABLE a (k TEXT PRIMARY KEY, v); INSERT INTO a VALUES ('x', 1); CREATE TABLE b (n);"
    async with simulator(tmp_path, TOOLS, {"dump": script}).open() as world:
        assert await answered(world, "read_query", query="SELECT * FROM a") == [{"k": "x", "v": 1}]
        assert [one["name"] for one in await answered(world, "list_tables")] == ["a", "b"]


async def test_the_default_order_does_not_depend_on_earlier_statements(database: Simulator) -> None:
    async with database.open() as world:
        await answered(world, "create_table", query="CREATE TABLE t (k TEXT PRIMARY KEY)")
        await answered(world, "write_query", query="INSERT INTO t VALUES ('b'), ('a'), ('c')")
        other = world.fork("other")
        await answered(world, "write_query", query="DELETE FROM t WHERE k = 'b'")
        await answered(world, "write_query", query="INSERT INTO t VALUES ('b')")
        await answered(world, "read_query", query="SELECT rowid, k FROM t")
        rows = await answered(other, "read_query", query="SELECT rowid, k FROM t")
        assert rows == [{"rowid": 1, "k": "b"}, {"rowid": 2, "k": "a"}, {"rowid": 3, "k": "c"}]


def test_queries_in_other_languages_do_not_match(tmp_path: Path) -> None:
    tools = [
        tool("graphql_query", "Run a GraphQL query", query=TEXT), tool("search_issues", "Search with JQL", query=TEXT),
        tool("search_contacts", "Search contacts: select a query, update it from the list", query=TEXT),
        tool("list_tables", "Tables of a base", base_id=TEXT),
    ]  # fmt: skip
    assert not [one for one in backends(simulator(tmp_path, tools)).values() if one.startswith("sql")]


async def test_pattern_matching_takes_bounded_time(database: Simulator) -> None:
    long = "a" * 5000
    async with database.open() as world:
        tests = (f"'{long}' LIKE '{'%a' * 40}%b'", f"'{long}' GLOB '{'*a' * 40}*b'", "'A_c' LIKE 'a^_C' ESCAPE '^'")
        query = "SELECT " + ", ".join(f"{test} AS {name}" for test, name in zip(tests, "abc", strict=True))
        assert await answered(world, "read_query", query=query) == [{"a": 0, "b": 0, "c": 1}]
        query = f"SELECT name FROM users WHERE name REGEXP '^A' AND NOT '{long}' REGEXP '(a+)+$b'"
        assert await answered(world, "read_query", query=query) == [{"name": "Ada"}]


ENGINES = [
    ("PostgreSQL", "SELECT name::text AS n FROM public.users WHERE name ILIKE $1 LIMIT 1", ["a%"], [{"n": "Ada"}]),
    ("PostgreSQL", "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1", None,
     [{"table_name": "log"}, {"table_name": "users"}]),
    ("PostgreSQL", "SELECT EXTRACT(YEAR FROM NOW() - INTERVAL '2 days') AS y", None, [{"y": 2029}]),
    ("MySQL", "SELECT LEFT(`name`, 1) AS n, YEAR(NOW()) AS y FROM `users` LIMIT 1, 1", None, [{"n": "A", "y": 2030}]),
    ("PostgreSQL", "SELECT count(*), max(id) AS m FROM users", None, [{"count": 2, "m": 3}]),
    ("PostgreSQL", "SELECT sum(x) FROM (VALUES (1), (2), (4)) AS t(x)", None, [{"sum": 7}]),
    ("MySQL", "SHOW TABLES", None, [{"Tables_in_main": "log"}, {"Tables_in_main": "users"}]),
    ("SQL Server", "SELECT TOP 1 name FROM dbo.users ORDER BY id DESC", None, [{"name": "Ada"}]),
]  # fmt: skip


@pytest.mark.parametrize(("database", "statement", "params", "rows"), ENGINES)
async def test_other_dialects_are_translated(
    tmp_path: Path, database: str, statement: str, params: Json, rows: Json
) -> None:
    tools = [tool("query", f"Run SQL on {database}", needed="sql", sql=TEXT, params={"type": "array"})]
    async with simulator(tmp_path, tools, STATE).open() as world:
        arguments = {"sql": statement} if params is None else {"sql": statement, "params": params}
        result = await answered(world, "query", **arguments)
        assert sorted(result, key=str) == sorted(rows, key=str)


async def test_another_dialect_creates_and_describes_tables_and_reports_syntax_errors(tmp_path: Path) -> None:
    tools = [tool("execute", "Run any SQL statement on a Postgres database", sql=TEXT)]
    async with simulator(tmp_path, tools, STATE).open() as world:
        await answered(
            world, "execute", sql="CREATE TABLE t (id SERIAL PRIMARY KEY, at TIMESTAMPTZ DEFAULT now(), n INT)"
        )
        upsert = "INSERT INTO t (id, n) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n RETURNING n"
        assert await answered(world, "execute", sql=upsert) == [{"n": 2}]
        assert await answered(world, "execute", sql=upsert.replace("2)", "5)")) == [{"n": 5}]
        described = await answered(world, "execute", sql="DESCRIBE t")
        assert [(one["Field"], one["Key"]) for one in described] == [("id", "PRI"), ("at", ""), ("n", "")]
        assert "tables: users, log, t" in await refused(world, "execute", sql="DESCRIBE nothing")
        assert 'near "1"' in await refused(world, "execute", sql="SELEC 1")
        assert "one statement" in await refused(world, "execute", sql="SELECT 1; DROP TABLE t")
        await answered(world, "execute", sql="TRUNCATE TABLE t")
        assert world.view.count("t") == 0


async def test_alternating_worlds_see_their_own_rows(tmp_path: Path) -> None:
    tools = [tool("execute_sql", "Run SQL", sql=TEXT), tool("list_tables")]
    async with simulator(tmp_path, tools, STATE) as sim, sim.open() as one:
        await answered(one, "execute_sql", sql="UPDATE users SET name = 'Eva' WHERE id = 3")
        other = one.fork("other")
        await answered(other, "execute_sql", sql="DELETE FROM users WHERE id = 3")
        await answered(one, "execute_sql", sql="INSERT INTO users (id, name) VALUES (9, 'Io')")
        query = "SELECT group_concat(name) AS names FROM (SELECT name FROM users ORDER BY id)"
        assert await answered(other, "execute_sql", sql=query) == [{"names": "Bo"}]
        assert await answered(one, "execute_sql", sql=query) == [{"names": "Bo,Eva,Io"}]
        async with sim.open("third") as third:
            assert await answered(third, "execute_sql", sql=query) == [{"names": "Bo,Ada"}]


LIBRARY: Json = {
    "books": [{"isbn": "978-1", "title": "The Salt Road", "year": 1998, "price": 12},
              {"isbn": "978-2", "title": "Glass Rivers", "year": 2011, "price": 9.5, "lent": True}],
    "loans": {"columns": ["due", "id", "isbn"], "rows": [["2026-10-02", 1, "978-1"]]},
}  # fmt: skip
ANALYSIS = [
    tool("query", "Execute a SQL query and return the results", sql=TEXT),
    tool("update_data", "Execute an UPDATE or INSERT SQL statement", table=TEXT, sql=TEXT),
    tool("attach_database", "Attach another SQLite database", alias=TEXT, database_name=TEXT),
    tool("list_attached_databases", "List all attached databases"),
    tool("get_database_path", "Get the path to the database"),
    tool("analyze_table", "Perform statistical analysis on a table", table=TEXT),
]


@pytest.mark.parametrize("state", [LIBRARY, {"database": LIBRARY}], ids=["by name", "in a database"])
async def test_given_tables_keep_their_columns_beside_tools_that_run_no_statements(tmp_path: Path, state: Json) -> None:
    sim = simulator(tmp_path, ANALYSIS, state)
    assert {tool for tool, name in backends(sim).items() if name.startswith("sql ")} == {"query", "update_data"}
    async with sim.open() as world:
        first, second = await answered(world, "query", sql="SELECT * FROM books")
        assert [*first.items()] == [("isbn", "978-1"), ("title", "The Salt Road"), ("year", 1998), ("price", 12.0),
                                    ("lent", None)]  # fmt: skip
        assert second["lent"] == 1
        described = await answered(world, "query", sql="PRAGMA table_info(books)")
        assert [(one["name"], one["type"], one["pk"]) for one in described] == [
            ("isbn", "TEXT", 1), ("title", "TEXT", 0), ("year", "INTEGER", 0), ("price", "REAL", 0),
            ("lent", "BOOLEAN", 0)]  # fmt: skip
        assert await answered(world, "query", sql="SELECT name FROM sqlite_master WHERE type = 'table'") == [
            {"name": "books"},
            {"name": "loans"},
        ]
        added = await answered(
            world, "update_data", table="books", sql="INSERT INTO books VALUES ('978-5', 'Tin Moon', 2023, 2, 0)"
        )
        assert added["affected_rows"] == 1
        assert (await answered(world, "query", sql="SELECT year FROM books WHERE isbn = '978-5'")) == [{"year": 2023}]
        twice = "INSERT INTO books (isbn) VALUES ('978-5')"
        assert "UNIQUE" in await refused(world, "update_data", table="books", sql=twice)


# one backend behind several tools -------------------------------------------------------------------------------------

PEOPLE: Json = {"people": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]}
_DESCRIBED = [tool("list_tables", "List the tables"), tool("describe_table", "Describe one", table_name=TEXT)]
# given states ---------------------------------------------------------------------------------------------------------

ADA: Json = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]
# Python ---------------------------------------------------------------------------------------------------------------


async def test_operations_are_called_from_python(database: Simulator) -> None:
    async with database.open() as world:
        sql = Library("sql", world.view, NOW)
        assert sql.query("SELECT name FROM users WHERE id = ?", [3]).value == [{"name": "Ada"}]
        sql.create("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)")
        sql.write(["INSERT INTO notes (body) VALUES ('a')", "INSERT INTO notes (body) VALUES ('b')"])
        assert sql.execute("UPDATE users SET active = 1").text == "2 rows affected"
        assert sql.query("SELECT body FROM notes", limit=1).text == '[{"body":"a"}]'
        assert [one["name"] for one in sql.tables().value] == ["users", "log", "notes"]
        assert [one["name"] for one in sql.describe("notes").value] == ["id", "body"]
        assert "CREATE TABLE notes" in sql.schema().text
        assert (sql.info().facts["table_count"], sql.databases().text) == (3, "main")
        assert world.view.count("notes") == 0
        with pytest.raises(Refused, match="no such column"):
            sql.query("SELECT nowhere FROM users")


async def test_a_text_result_has_the_rows_as_json(tmp_path: Path) -> None:
    wrapped = {"type": "object", "properties": {"result": TEXT}, "required": ["result"]}
    tools = [tool("query", "Run SQL", output=wrapped, sql=TEXT), tool("tables", output=wrapped), *_DESCRIBED]
    async with simulator(tmp_path, tools, PEOPLE).open() as world:
        found = await answered(world, "query", sql="SELECT * FROM people WHERE id = 2")
        assert found == {"result": '[{"id":2,"name":"Bo"}]'}
        assert (await answered(world, "query", sql="DELETE FROM people"))["result"] == "2 rows affected"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("SELECT printf('%.*c', 900000000, 'x')", "too big"),
        ("SELECT format('%900000000d', 1)", "too big"),
        ("SELECT sum(date('now') > n) FROM n", "more than 1,000,000 steps"),
        ("SELECT sum(hex(zeroblob(4000)) || n LIKE '%0%0%0%0%0%0%0%0%0%0%0x') FROM n", "more than 1,000,000 steps"),
        (f"SELECT '' GLOB '{'*a' * 5_000}'", "longer than 1,000 characters"),
        (f"SELECT 'x' REGEXP '{'(' * 4_000}a{')*' * 4_000}'", "longer than 4,000 characters"),
    ],
)
async def test_functions_that_take_too_long_are_refused(database: Simulator, statement: str, reason: str) -> None:
    numbers = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 20000) "
    async with database.open() as world:
        assert reason in await refused(world, "read_query", query=numbers + statement)
        large = "SELECT printf('%5d of %*d in 2029000%%', 7, 3, 40000) AS text"
        assert await answered(world, "read_query", query=large) == [{"text": "    7 of 40000 in 2029000%"}]
