"""Measure how long another world waits while a server is under attack, one server process per attack.

    python benchmarks/attacks.py [NAMES...]

A client calls a tool in a world of its own, again and again, before and during each attack. Time in which other
programs had the processor is not counted. NAMES choose the attacks whose names contain one of them. Each runs in a
process of its own, so that it does not delay the client that measures. The largest memory of the server during the
attack is shown, too. The exit status is 1 if a call waited for more than 250 ms during an attack, or if the server took
more than 1,500 MB.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from common.measuring import ratio
from common.wire import ERAS, Connection, Listening, Refused, queued_seconds, start_server

MOST_MILLISECONDS = 250
MOST_MEGABYTES = 1500
"""Half of what small machines for tests have: `--max-megabytes` is 1,024 by default, and a server starts at 130."""

LIMIT = 60.0
"""Seconds after which an attack is given up; its requests may still be in progress then."""

GONE = asyncio.IncompleteReadError, ConnectionError
"""What is raised where the server has ended, or has closed a connection."""

QUIET_CALLS = 200
ATTACK = "--attack"
MOST_SHOWN = 60
LINE = "{:30} {:>9} {:>9} {:>8} {:>9} {:>7}  {}"
TEXT, NUMBER, OBJECT = {"type": "string"}, {"type": "number"}, {"type": "object"}
TEXTS = {"type": "array", "items": TEXT}
MILLION = 1_000_000


SECONDS = 4.0
"""How long the pressure of a flood is kept up."""

AT_ONCE = 64
ANNOUNCE = "announce"
"""A tool of the server `news` that sends notifications: a long log entry, and that the list of tools has changed."""


def tool(name: str, about: str, /, **arguments: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": arguments, "required": list(arguments)[:1]}
    return {"name": name, "description": about, "inputSchema": schema}


SERVERS: dict[str, list[dict[str, Any]]] = {
    "desk": [
        tool("create_item", "Create an item", title=TEXT, data=OBJECT),
        tool("list_items", "List items", query=TEXT, limit={"type": "integer"}, sort_by=TEXT),
        tool("get_item", "Get an item", item_id=TEXT),
        tool("update_item", "Update an item", item_id=TEXT, title=TEXT),
        tool("search_items", "Search items by text", query=TEXT),
    ],
    "sql": [tool("query", "Run any SQL statement.", sql=TEXT)],
    "news": [tool(ANNOUNCE, "Announce something", text=TEXT)],
    "lists": [tool("weigh", "Weigh the items of a list", items={"type": "array"})],
    "program": [tool("loop", "Loop", text=TEXT), tool("grow", "Grow", text=TEXT)],
    "screen": [tool("show", "Open a page", path=TEXT, count=NUMBER), tool("press", "Press the button", count=NUMBER)],
}


SHIPPED = {
    "files": "filesystem",
    "shell": "terminal",
    "sheets": "excel",
    "calculator": "calculator",
    "keys": "redis_strings",
    "graph": "memory",
    "mail": "mail",
    "workspace": "workspace",
}
"""Server -> the service of the catalogue that it is."""

PROGRAMS = {
    "sql": """
from mcp_sim.libraries.sql import SqlError
from mcp_sim.programs import Refused, tool


@tool(verb="update", entity="sql_table")
def query(world, sql):
    try:
        return world.sql.run(sql).rows
    except SqlError as error:
        raise Refused(str(error))
""",
    "program": """
from mcp_sim.programs import tool

tables = {"thing": {"fields": {"name": ""}}}


@tool
def loop(world, text):
    while True:
        world.thing.find(name=text)


@tool
def grow(world, text):
    while True:
        text += text
""",
    "screen": """
from html import escape

from mcp_sim.libraries.screens import Redirect, Site, playwright
from mcp_sim.programs import tool

tables = {"note": {"fields": {"text": ""}}}
site = Site("https://big.example")
MANY = {
    "text": lambda n: escape("</p><script>alert(1)</script>\\u202e" * (n // 30)),
    "elements": lambda n: "<p>a <b>b</b></p>" * n,
    "deep": lambda n: ("<em>" * 150 + "x" + "</em>" * 150) * (n // 150),
    "options": lambda n: f"<select name=s>{'<option>o</option>' * n}</select>",
    "radios": lambda n: "<input type=radio name=r required>" * n,
    "fields": lambda n: "<label>F <input name=f value=v required></label>" * n,
}


@site.page("/loop")
def loop(world):
    raise Redirect("/loop")


@site.page("/<kind>")
def page(world, kind, n="1"):
    return f"<body><form method=post action='/sent'>{MANY[kind](int(n))}<button id=go>Go</button></form></body>"


@site.post("/sent")
def sent(world, f=()):
    world.note.add(text=str(len(f)))
    return "<body>Sent</body>"


@tool(verb="update", entity="tab")
def show(world, path, count=1):
    tab = world.screens.browser(world, site).tab
    tab.navigate(f"https://big.example/{path}?n={count}")
    shown = playwright.snapshot(tab.tree())
    tab.save()
    return f"{len(shown)} characters"


@tool(verb="update", entity="tab")
def press(world, count=1):
    tab = world.screens.browser(world, site).tab
    tab.click(tab.element("#go"))
    tab.save()
    return tab.url
""",
}
"""The programs of servers."""

EFFECTS: dict[str, Any] = {"news": {ANNOUNCE: {"notify": [{"log": "x" * 100_000}, {"changed": "tools"}]}}}


FAULTS = [
    {"error": {}, "tools": "lists/weigh", "when": {"state": "args.items.all(a, args.items.exists(b, b == a + 1))"}},
    {"error": {}, "tools": "lists/weigh", "when": {"state": "args.items.map(a, args.items).size() < 0"}},
]


@dataclass(frozen=True, slots=True)
class Attack:
    """Calls of one server in one world, each a tool and its arguments: `before` prepares the attack."""

    server: str
    calls: Sequence[tuple[str, dict[str, Any]]]
    before: Sequence[tuple[str, dict[str, Any]]] = ()

    async def run(self, server: Listening) -> str:
        """Make the calls one after the other. Return the beginning of the last answer."""
        return beginning(await run_calls(server, self.server, self.calls))

    async def prepare(self, server: Listening) -> None:
        """Make the calls before the attack. Raises `RuntimeError` if one of them fails: nothing would be attacked."""
        for prepared in self.before:
            answer = await run_calls(server, self.server, [prepared])
            if b'"result"' not in answer or b'"isError":true' in answer:
                raise RuntimeError(answer.decode())


class Flood(Protocol):
    """An attack by many connections, or by a request that no client would send."""

    async def run(self, server: Listening) -> str:
        """Attack a server. Return in a few words what was done."""
        ...


@asynccontextmanager
async def opened(server: Listening, paths: list[str], era: str) -> AsyncGenerator[list[Connection]]:
    """Yield open connections, which are aborted in the end. Those that are refused are left out."""
    limit, connections = asyncio.Semaphore(AT_ONCE), list[Connection]()

    async def open_one(path: str) -> None:
        connection = Connection(server.port, path, era)
        async with limit:
            try:
                await connection.open()
            except Refused:
                connection.abort()
            else:
                connections.append(connection)

    await asyncio.gather(*map(open_one, paths))
    try:
        yield connections
    finally:
        for connection in connections:
            connection.abort()


def call(connection: Connection, name: str, arguments: dict[str, Any] | None = None) -> bytes:
    return connection.encode_request("tools/call", {"name": name, "arguments": arguments or {}})


async def keep_calling(server: Listening, path: str, name: str) -> int:
    """Call a tool for some seconds, one call after the other. Return how many calls were answered."""
    answered = 0
    async with opened(server, [path], ERAS[1]) as (connection,):
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                while True:
                    await connection.exchange(call(connection, name))
                    answered += 1
    return answered


@dataclass(frozen=True, slots=True)
class Ahead:
    """The same request on many connections, several times ahead; the answers are not read."""

    connections: int
    worlds: int
    ahead: int

    async def run(self, server: Listening) -> str:
        paths = [f"/w/flood{n % self.worlds}/desk/mcp" for n in range(self.connections)]
        async with opened(server, paths, ERAS[1]) as connections:
            for connection in connections:
                connection.send(call(connection, "list_items", {"limit": 50}) * self.ahead)
            await asyncio.sleep(SECONDS)
        return f"{self.connections * self.ahead:,} requests sent"


@dataclass(frozen=True, slots=True)
class UnreadStreams:
    """Event streams of sessions in one world that are never read, while calls cause notifications to all of them."""

    streams: int

    async def run(self, server: Listening) -> str:
        async with opened(server, ["/w/flood/news/mcp"] * self.streams, ERAS[0]) as connections:
            for connection in connections:
                await connection.exchange(connection.encode_request("logging/setLevel", {"level": "info"}))
                connection.listen()
            answered = await keep_calling(server, "/w/flood/news/mcp", ANNOUNCE)
        return f"{len(connections):,} streams, {answered:,} calls that notify"


@dataclass(frozen=True, slots=True)
class UnreadAnswers:
    """Calls that answer with long event streams, which are never read."""

    connections: int

    async def run(self, server: Listening) -> str:
        paths = [f"/w/flood{n}/news/mcp" for n in range(self.connections)]
        async with opened(server, paths, ERAS[0]) as connections:
            for connection in connections:
                connection.send(call(connection, ANNOUNCE) * 20)
            await asyncio.sleep(SECONDS)
        return f"{len(connections):,} connections with 20 calls each"


@dataclass(frozen=True, slots=True)
class ManySessions:
    """Sessions in new worlds, opened as fast as possible on some connections, each with a call; then all are ended."""

    sessions: int

    async def run(self, server: Listening) -> str:
        limit, left = asyncio.Semaphore(AT_ONCE), list[Connection]()

        async def open_one(number: int) -> None:
            async with limit, opened(server, [f"/w/flood{number}/desk/mcp"], ERAS[0]) as connections:
                for connection in connections:
                    await connection.exchange(call(connection, "list_items", {"limit": 1}))
                    left.append(connection)

        async def end(connection: Connection) -> None:
            async with limit:
                await connection.end_session()

        with suppress(TimeoutError):
            async with asyncio.timeout(2 * SECONDS):
                await asyncio.gather(*map(open_one, range(self.sessions)))
        await asyncio.gather(*map(end, left))
        return f"{len(left):,} sessions opened, and ended"


@dataclass(frozen=True, slots=True)
class Uploads:
    """Bodies that arrive in many pieces, on many connections at the same time."""

    connections: int
    head: bytes
    piece: bytes
    pause: float
    """Seconds between two pieces on one connection."""

    async def run(self, server: Listening) -> str:
        async with opened(server, ["/w/flood/desk/mcp"] * self.connections, ERAS[1]) as connections:
            pieces = await asyncio.gather(*map(self._upload, connections))
        return f"{sum(pieces):,} pieces of {len(self.piece):,} bytes"

    async def _upload(self, connection: Connection) -> int:
        """Send pieces for some seconds, or until the server closes the connection. Return how many were sent."""
        sent = 0
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(SECONDS):
                await connection.send_and_drain(connection.head(self.head))
                while True:
                    await connection.send_and_drain(self.piece)
                    sent += 1
                    await asyncio.sleep(self.pause)
        return sent


@dataclass(frozen=True, slots=True)
class Idle:
    """Connections that have sent one request, and stay open."""

    count: int

    async def run(self, server: Listening) -> str:
        held = list[asyncio.StreamWriter]()
        for _ in range(self.count):
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                writer.write(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n")
                await reader.readuntil(b"}")
                held.append(writer)
        for writer in held:
            writer.close()
        return f"{len(held):,} connections"


@dataclass(frozen=True, slots=True)
class Body:
    """One request whose body is made by a function, with `@` where its arguments would be."""

    make: Callable[[bytes], bytes]

    async def run(self, server: Listening) -> str:
        async with opened(server, ["/w/attacked/desk/mcp"], ERAS[1]) as (connection,):
            whole = call(connection, "create_item", {"title": "a", "data": "@"})
            body = self.make(whole.partition(b"\r\n\r\n")[2])
            length = b"content-length: %d\r\nmcp-method: tools/call\r\nmcp-name: create_item" % len(body)
            try:
                answer = await connection.exchange(connection.head(length) + body)
            except Refused as refused:
                return f"HTTP status {refused.status}"
        return " ".join(json.dumps(json.loads(answer).get("error") or json.loads(answer)["result"])[:60].split())


def statement(sql: str) -> Attack:
    return Attack("sql", [("query", {"sql": sql})])


def expression(pattern: str, text: str = "a") -> Attack:
    return shell(f"grep -E '{pattern}' a.txt", text)


def shell(command: str, text: str, name: str = "a.txt", *more: tuple[str, dict[str, Any]]) -> Attack:
    """Return an attack by a command on a file with a text."""
    return Attack("shell", [("run_command", {"command": command})], [stdin_of(text, name), *more])


def stdin_of(text: str, name: str) -> tuple[str, dict[str, Any]]:
    return ("run_command", {"command": f"cat > {name}", "stdin": text})


def wildcards(pattern: str) -> Attack:
    return Attack("files", [("search_files", {"pattern": pattern, "path": FOLDER})], [file_of("x")])


def file_of(content: str) -> tuple[str, dict[str, Any]]:
    return ("write_file", {"path": f"{FOLDER}/a.txt", "content": content})


def calculation(text: str) -> Attack:
    return Attack("calculator", [("calculate", {"expression": text})])


def replacing(text: str) -> Callable[[bytes], bytes]:
    """Return a function that puts a text into a body instead of an argument."""
    return partial(_replaced, text)


def _replaced(text: str, body: bytes) -> bytes:
    return body.replace(b'"@"', text.encode())


def batched(body: bytes) -> bytes:
    return b"[%b]" % b",".join([body] * 10_000)


NUMBERS = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 100000) "
VALUES = ", ".join(f"({n})" for n in range(400))
LINES = "\n".join(f"line {n * 7919 % 10007}" for n in range(200_000))
FEW_LINES = "\n".join(LINES.split("\n")[:10_000])
SORTED_LINES = "\n".join(sorted(FEW_LINES.split("\n")))
CELLS = [["=1"], *([f"=A{n}+A{n}+A{n}"] for n in range(1, 60))]
WORKBOOK = ("create_workbook", {"path": "a.xlsx", "sheets": ["S"]})
FOLDER = "/srv/shared"
"""What the shipped `filesystem` serves."""
GRAPH = [{"name": f"n{n}", "entityType": "a", "observations": ["x"]} for n in range(4_000)]
GROUPS = 20_000

ATTACKS: Mapping[str, Attack | Flood] = {
    "SQL printf": statement("SELECT printf('%.*c', 900000000, 'x')"),
    "SQL recursion": statement(NUMBERS.replace(" LIMIT 100000", "") + "SELECT sum(n) FROM n"),
    "SQL join": statement(f"WITH a(x) AS (VALUES {VALUES}) SELECT count(*) FROM a, a b, a c WHERE a.x + b.x + c.x = 1"),
    "SQL time functions": statement(NUMBERS + "SELECT sum(date('now', n || ' days') > 'a') FROM n"),
    "SQL LIKE": statement(f"SELECT hex(zeroblob(4000)) LIKE '{'%0' * 4_000}x'"),
    "SQL GLOB": statement(f"SELECT '{'a' * 20_000}' GLOB '{'*a' * 10_000}b'"),
    "SQL REGEXP": statement(f"SELECT 'x' REGEXP '{'(' * GROUPS}a{')*' * GROUPS}'"),
    "SQL of 3 MB": statement(f"SELECT '{'x' * 3 * MILLION}'"),
    "SQL with many conditions": statement("SELECT 1 WHERE " + " OR ".join(["1 = 2"] * 100_000)),
    "SQL with many rows": statement(NUMBERS + "SELECT n, hex(zeroblob(400)) FROM n LIMIT 9999"),
    "expression, nested 4,000": expression("(" * 4_000 + "a" + ")*" * 4_000),
    "expression, nested 20,000": expression("(" * GROUPS + "a" + ")*" * GROUPS),
    "expression, repetitions": expression("((a{0,30}){0,30}){0,1}" * 200, "a" * 1_000),
    "expression, groups": expression("(a)" * 1_000, "a" * 30_000),
    "expression, many matches": expression("", "a" * MILLION),
    "wildcards [": wildcards("[" * 5_000),
    "wildcards **/": wildcards("**/" * 20_000),
    "wildcards for keys": Attack("keys", [("list", {"pattern": "[" * 5_000})], [("set", {"key": "a", "value": "1"})]),
    "300,000 keys": Attack("desk", [("create_item", {"title": "a", "data": {f"k{n}": 1 for n in range(300_000)}})]),
    "19,000 keys": Attack("desk", [("create_item", {"title": "a", **{f"k{n}": n for n in range(19_000)}})]),
    "1,000,000 items": Attack("desk", [("create_item", {"title": "a", "data": {"a": [0] * MILLION}})]),
    "1,000,000 empty texts": Attack("desk", [("create_item", {"title": "a", "data": {"a": [""] * MILLION}})]),
    "a text of 4 MB": Attack("desk", [("create_item", {"title": "x" * 4 * MILLION})]),
    "runs of digits": Attack("desk", [("create_item", {"title": ("0" * 3_999 + "x") * 1_000})]),
    "a search of 1 MB": Attack(
        "desk", [("search_items", {"query": "x y " * 250_000})], [("create_item", {"title": "x" * MILLION})]
    ),
    "an id of 4 MB": Attack("desk", [("get_item", {"item_id": "9" * 4 * MILLION})]),
    "grep": shell("grep line a.txt", LINES),
    "a file of empty lines": Attack(
        "files", [("read_text_file", {"path": f"{FOLDER}/a.txt"})], [file_of("\n" * MILLION)]
    ),
    "an edit": Attack(
        "files",
        [("edit_file", {"path": f"{FOLDER}/a.txt", "edits": [{"oldText": "line 1\n", "newText": "b"}]})],
        [file_of(LINES)],
    ),
    "diff of files": shell("diff a.txt b.txt", FEW_LINES, "a.txt", stdin_of(SORTED_LINES, "b.txt")),
    "shell sort": shell("sort a.txt | uniq -c | sort -rn", LINES),
    "shell words": shell("echo " + "'a' " * 500_000, "x"),
    "shell loop": shell("while true; do x=$x$x$x; done", "x"),
    "awk loop": shell("awk '{ while (1) x = x $0 x }' a.txt", "x"),
    "sed loop": shell("sed ':a; s/x/xx/; ta' a.txt", "x"),
    "a number of 1,000,000 digits": calculation("9" * MILLION),
    "a sum": calculation("+".join(["1"] * 500_000)),
    "factorials": calculation("factorial(99999)"),
    "a product": calculation("*".join(["9" * 4_000] * 900)),
    "a large range": Attack(
        "sheets", [("read_range", {"path": "a.xlsx", "sheet": "S", "range": "A1:XFD1048576"})], [WORKBOOK]
    ),
    "cells that grow": Attack(
        "sheets", [("write_range", {"path": "a.xlsx", "sheet": "S", "at": "A1", "rows": CELLS})], [WORKBOOK]
    ),
    "a graph": Attack("graph", [("read_graph", {})], [("create_entities", {"entities": GRAPH})]),
    "a program that loops": Attack("program", [("loop", {"text": "a"})]),
    "a program that grows": Attack("program", [("grow", {"text": "a"})]),
    "a screen, text of 1 MB": Attack("screen", [("show", {"path": "text", "count": MILLION})]),
    "a screen, 9,000 elements": Attack("screen", [("show", {"path": "elements", "count": 9_000})]),
    "a screen, too many elements": Attack("screen", [("show", {"path": "elements", "count": 50_000})]),
    "a screen, deep": Attack("screen", [("show", {"path": "deep", "count": 9_000})]),
    "a screen, endless redirects": Attack("screen", [("show", {"path": "loop"})]),
    "a screen, 10,000 options": Attack(
        "screen", [("show", {"path": "options", "count": 10_000}), ("press", {"count": 1})]
    ),
    "a screen, 10,000 radios": Attack(
        "screen", [("show", {"path": "radios", "count": 10_000}), ("press", {"count": 1})]
    ),
    "a screen, 9,000 fields": Attack("screen", [("show", {"path": "fields", "count": 9_000}), ("press", {"count": 1})]),
    "requests ahead, one world": Ahead(300, 1, 60),
    "requests ahead, 300 worlds": Ahead(300, 300, 60),
    "unread event streams": UnreadStreams(500),
    "unread answers with events": UnreadAnswers(300),
    "3,000 sessions": ManySessions(3_000),
    "bodies that trickle": Uploads(1_000, b"content-length: 4000000", b" ", 0.05),
    "chunks that trickle": Uploads(1_000, b"transfer-encoding: chunked", b"1\r\n \r\n", 0.05),
    "300 large bodies": Uploads(300, b"content-length: 4000000", b" " * 65_536, 0.0),
    "300 bodies of small chunks": Uploads(300, b"transfer-encoding: chunked", b"1\r\n \r\n" * 10_000, 0.0),
    "deep JSON": Body(replacing("[" * 2 * MILLION)),
    "deep JSON, closed": Body(replacing("[" * MILLION + "]" * MILLION)),
    "deep JSON, objects": Body(replacing('{"a":' * 400_000 + "1" + "}" * 400_000)),
    "deep JSON, 150 levels": Body(replacing("[" * 150 + "1" + "]" * 150)),
    "wide and deep JSON": Body(replacing(f"[{','.join(['[' * 100 + ']' * 100] * 10_000)}]")),
    "a JSON number of 4 MB": Body(replacing("9" * 4 * MILLION)),
    "a JSON fraction of 4 MB": Body(replacing("0." + "9" * 4 * MILLION)),
    "a JSON text of escapes": Body(replacing('"' + "\\u00e9" * 600_000 + '"')),
    "a batch of requests": Body(batched),
    "halves of characters": Body(replacing('"' + "\\ud83dx" * 500_000 + '"')),
    "halves of characters in keys": Body(replacing("{" + ",".join(f'"\\ud83d{n}": 1' for n in range(15_000)) + "}")),
    "nested macros of a trigger": Attack("lists", [("weigh", {"items": [*range(19_000)]})]),
    "nested macros of a trigger, 500": Attack("lists", [("weigh", {"items": [*range(490)]})]),
    "parentheses in a search": Attack("mail", [("search_emails", {"query": "(" * 50_000})]),
    "deep JSON in a text": Attack("workspace", [("API-post-search", {"query": "[" * 500_000})]),
    "10,000 distinct calls": Attack("desk", [("get_item", {"item_id": str(n)}) for n in range(10_000)]),
    "2,000 idle connections": Idle(2_000),
}


def request(connection: Connection, name: str, arguments: dict[str, Any]) -> bytes:
    return connection.encode_request("tools/call", {"name": name, "arguments": arguments})


async def run_calls(server: Listening, name: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> bytes:
    """Make calls in the attacked world, one after the other. Return the last answer."""
    answer = b""
    for tool_name, arguments in calls:
        connection = Connection(server.port, f"/w/attacked/{name}/mcp", ERAS[1])
        await connection.open()
        try:
            answer = await connection.exchange(request(connection, tool_name, arguments))
        except Refused as refused:
            answer = f"HTTP status {refused.status}".encode()
        finally:
            await connection.close()
    return answer


def beginning(answer: bytes) -> str:
    """Return the beginning of what an answer says."""
    reply: Any = json.loads(answer) if answer.startswith(b"{") else answer.decode()
    return " ".join(str(reply["result"]["content"][0]["text"] if "result" in reply else reply)[:MOST_SHOWN].split())


class Probe:
    """A client that calls a tool in another world, and notes how long each call takes.

    Time in which other programs had the processor is not counted: the machine may be busy.
    """

    def __init__(self, server: Listening) -> None:
        self._connection = Connection(server.port, "/w/quiet/desk/mcp", ERAS[1])
        self._processes = server.pid, os.getpid()
        self.waits: list[float] = []

    async def open(self) -> None:
        await self._connection.open()
        self._request = request(self._connection, "list_items", {"limit": 1})

    async def call(self) -> None:
        queued, began = [*map(queued_seconds, self._processes)], time.perf_counter()
        self.waits.append(0.0)
        try:
            await self._connection.exchange(self._request)
        finally:
            took = time.perf_counter() - began
            after = map(queued_seconds, self._processes)
            self.waits[-1] = took - sum(map(longest_queued, queued, after))

    async def call_forever(self) -> None:
        while True:
            await self.call()
            await asyncio.sleep(0.002)


def longest_queued(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    """Return how long the thread of a process waited for a processor that waited longest.

    One that has the interpreter of Python meanwhile lets all others wait.
    """
    return max((seconds - before.get(thread, 0.0) for thread, seconds in after.items()), default=0.0)


@dataclass(frozen=True, slots=True)
class Found:
    """The longest wait during an attack and before it, the duration of the attack, in seconds, and its answer.

    `megabytes` is the largest memory of the server meanwhile.
    """

    wait: float
    quiet: float
    took: float
    answer: str
    megabytes: int


async def measure(server: Listening, name: str) -> Found:
    """Measure an attack on a new server."""
    probe, attack = Probe(server), ATTACKS[name]
    await probe.open()
    for _ in range(QUIET_CALLS):
        await probe.call()
    quiet, probe.waits = max(probe.waits[QUIET_CALLS // 10 :]), []
    if isinstance(attack, Attack):
        await attack.prepare(server)
    forget_memory(server.pid)
    watch = asyncio.create_task(probe.call_forever())
    began, shown = time.perf_counter(), f"no answer within {LIMIT:.0f} s"
    with suppress(TimeoutError):
        async with asyncio.timeout(LIMIT):
            shown = await run_attack(server, name)
    took = time.perf_counter() - began
    watch.cancel()
    try:
        await watch
    except asyncio.CancelledError:
        pass
    except GONE:
        shown, probe.waits = "the server has ended", [*probe.waits, LIMIT]
    return Found(max(probe.waits), quiet, took, shown, largest_memory(server.pid))


def largest_memory(pid: int) -> int:
    """Return the most memory that a process has had since `forget_memory`, in megabytes; 0 if it has ended."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def forget_memory(pid: int) -> None:
    """Let the largest memory of a process be what it has now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


async def run_attack(server: Listening, name: str) -> str:
    """Run an attack in another process: even to encode its request delays the client that measures."""
    command = sys.executable, __file__, ATTACK, name, str(server.pid), str(server.port)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        shown, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return shown.decode().strip()


@contextmanager
def scenario() -> Generator[Path]:
    """Yield a scenario with all servers."""
    with TemporaryDirectory() as folder:
        for name, tools in SERVERS.items():
            spec: dict[str, Any] = {"mcp_sim": 1, "name": name, "tools": tools, "sim": EFFECTS.get(name, {})}
            if name in PROGRAMS:
                spec["program"] = f"{name}.py"
                Path(folder, f"{name}.py").write_text(PROGRAMS[name], encoding="utf-8")
            Path(folder, f"{name}.json").write_text(json.dumps(spec), encoding="utf-8")
        tools = {name: f"{name}.json" for name in SERVERS} | SHIPPED
        document = {
            "mcp_sim": 1,
            "name": "attacks",
            "tools": tools,
            "world": {"namespaces": True},
            "perturbations": FAULTS,
        }
        path = Path(folder, "attacks.json")
        path.write_text(json.dumps(document), encoding="utf-8")
        yield path


def main(names: Sequence[str]) -> int:
    longest, largest = 0.0, 0
    print(LINE.format("attack", "ms waited", "ms before", "ratio", "ms in all", "MB", "answer"))
    with scenario() as path:
        options = ["--http", "127.0.0.1:0", "--log-level", "error", "--trust", str(path.parent)]
        command = [sys.executable, "-m", "mcp_sim", "serve", str(path), *options]
        for name in ATTACKS:
            if not names or any(text in name for text in names):
                with start_server(command, ends_at_once=True) as server:
                    measured = asyncio.run(measure(server, name))
                waits = (
                    f"{measured.wait * 1000:,.0f}",
                    f"{measured.quiet * 1000:,.0f}",
                    ratio(measured.wait, measured.quiet),
                )
                took = f"{measured.took * 1000:,.0f}"
                print(LINE.format(name, *waits, took, measured.megabytes, measured.answer), flush=True)
                longest, largest = max(longest, measured.wait), max(largest, measured.megabytes)
    return int(longest * 1000 > MOST_MILLISECONDS or largest > MOST_MEGABYTES)


def attack_from_here(name: str, pid: str, port: str) -> int:
    """Run an attack in this process, and print what was done."""
    print(asyncio.run(ATTACKS[name].run(Listening(int(pid), int(port)))))
    return 0


if __name__ == "__main__":
    sys.exit(attack_from_here(*sys.argv[2:]) if sys.argv[1:2] == [ATTACK] else main(sys.argv[1:]))
