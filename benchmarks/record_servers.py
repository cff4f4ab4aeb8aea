"""Record sessions of real MCP servers, to compare mcp-sim with them.

    python benchmarks/record_servers.py OUT [--servers a,b] [--scratch FOLDER]

Each file NAME.yaml in `recorded_servers/` declares a server: its packages on npm or PyPI, its command, worlds (how a
given state is prepared, and the same state as a user of mcp-sim writes it) and sessions of calls. Packages are
installed into the scratch folder (default OUT/.servers), which needs the network once, and npm for some of them.

Each session runs in a new temporary folder. Recordings show that folder under a stable path (`shown_as`).
OUT/NAME/tools.json is the tools/list result, OUT/NAME/SESSION.jsonl a session (docs/recording.md). `mcp-sim measure`
replays them.

A text in a declaration may contain `{dir}`, the folder of the session, and the names under `keep` of an earlier call:
the first group of a regular expression, found in the text of its result. `{NAME:int}` alone is a number.

Exit status: 0 if all sessions were recorded, 1 if a server failed, 2 if the usage or a declaration is invalid.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Self, cast

import yaml
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from mcp_sim.spec.sessions import session_lines

DECLARATIONS = Path(__file__).with_name("recorded_servers")
SECONDS_PER_CALL = 60
PLACEHOLDER = re.compile(r"\{(\w+)\}")
NUMBER = re.compile(r"\{(\w+):int\}")


class Failed(Exception):
    """A server that could not be installed, prepared or called."""


class Declared(BaseModel):
    """A part of a declaration."""

    model_config = ConfigDict(extra="forbid")


class Call(Declared):
    """A call, written as `TOOL: ARGUMENTS`, and the values to keep from its result."""

    tool: str
    arguments: dict[str, Any]
    keep: dict[str, re.Pattern[str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_tool(cls, written: dict[str, Any]) -> dict[str, Any]:
        rest = {name: value for name, value in written.items() if name != "keep"}
        if len(rest) != 1:
            raise ValueError(f"expected one tool, got {sorted(rest)}")
        [(tool, arguments)] = rest.items()
        return {"tool": tool, "arguments": arguments or {}, "keep": written.get("keep", {})}


class Table(Declared):
    """The columns and rows of a table."""

    columns: list[str]
    rows: list[list[Any]]


class Database(Declared):
    """An SQLite database: statements, and rows for the tables that they create."""

    file: str
    statements: str
    tables: dict[str, Table | list[dict[str, Any]]] = {}


class World(Declared):
    """A given state: how to prepare it for the server, and how a user of mcp-sim writes it."""

    files: dict[str, str] = {}
    database: Database | None = None
    commands: list[list[str]] = []
    calls: list[Call] = []
    state: dict[str, Any]


class Session(Declared):
    """Calls in a world."""

    world: str
    calls: list[Call]


class Declaration(Declared):
    """A server and its sessions."""

    npm: list[str] = []
    pypi: list[str] = []
    command: list[str]
    environment: dict[str, str] = {}
    shown_as: str = "/data"
    worlds: dict[str, World]
    sessions: dict[str, Session]

    @model_validator(mode="after")
    def _worlds_exist(self) -> Self:
        for name, session in self.sessions.items():
            if session.world not in self.worlds:
                raise ValueError(f"sessions.{name}.world: expected one of {sorted(self.worlds)}, got {session.world!r}")
        return self


class Values:
    """The values of placeholders, and the real folder behind the shown one."""

    def __init__(self, temporary: Path, shown_as: str) -> None:
        self.shown = Path(shown_as)
        self.folder = temporary / self.shown.name
        self.home = temporary / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self._kept = {"dir": str(self.folder)}

    def fill(self, value: Any) -> Any:
        """Return a declared value with its placeholders replaced."""
        if isinstance(value, dict):
            given = cast("dict[str, Any]", value)
            return {self.fill(name): self.fill(item) for name, item in given.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in cast("list[Any]", value)]
        if not isinstance(value, str):
            return value
        if number := NUMBER.fullmatch(value):
            return int(self._kept[number[1]])
        return PLACEHOLDER.sub(lambda match: self._kept.get(match[1], match[0]), value)

    def keep(self, call: Call, answer: dict[str, Any]) -> None:
        """Remember the values that a call keeps. Raises `Failed` if the answer does not contain them."""
        blocks = answer.get("result", {}).get("content", [])
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        for name, pattern in call.keep.items():
            match = pattern.search(text)
            if match is None:
                raise Failed(f"{call.tool}: keep.{name}: {pattern.pattern!r} is not in {text[:300]!r}")
            self._kept[name] = match[1]

    def hide(self, value: Any) -> Any:
        """Return a value that shows the stable folder for the temporary one."""
        text = json.dumps(value, ensure_ascii=False)
        text = text.replace(str(self.folder), str(self.shown))
        return json.loads(text.replace(str(self.folder.parent), str(self.shown.parent)))


class Recorder:
    """An installed server, whose sessions are recorded into a folder."""

    def __init__(self, name: str, declaration: Declaration, scratch: Path, out: Path) -> None:
        self._name, self._declaration = name, declaration
        self._installed, self._out = scratch / name, out / name

    def install(self) -> None:
        """Install the server's packages, unless they are there. Raises `Failed`."""
        wanted = json.dumps([self._declaration.npm, self._declaration.pypi])
        mark = self._installed / "installed.json"
        if mark.exists() and mark.read_text() == wanted:
            return
        shutil.rmtree(self._installed, ignore_errors=True)
        self._installed.mkdir(parents=True)
        if self._declaration.npm:
            run(["npm", "install", "--prefix", str(self._installed), *self._declaration.npm], self._installed)
        if self._declaration.pypi:
            run([sys.executable, "-m", "venv", str(self._installed)], self._installed)
            run([str(self._installed / "bin/pip"), "install", "-q", *self._declaration.pypi], self._installed)
        mark.write_text(wanted)

    async def record(self) -> int:
        """Record all sessions. Returns the number of calls."""
        shutil.rmtree(self._out, ignore_errors=True)
        self._out.mkdir(parents=True)
        return sum([await self._record(name, session) for name, session in self._declaration.sessions.items()])

    async def _record(self, name: str, session: Session) -> int:
        world = self._declaration.worlds[session.world]
        with new_folder() as temporary:
            values = Values(temporary, self._declaration.shown_as)
            self._prepare(world, values)
            if world.calls:
                async with self._connect(values) as client:
                    [await self._call(client, call, values, must_succeed=True) for call in world.calls]
            async with self._connect(values) as client:
                tools, started = await list_tools(client), now()
                calls = [await self._call(client, call, values) for call in session.calls]
            header = self._header(name, values.fill(world.state), started, len(calls))
            self._write(f"{name}.jsonl", session_lines(values.hide(header), values.hide(calls)))
            listed = json.dumps(values.hide({"server": self._name, "tools": tools}), ensure_ascii=False, indent=1)
            self._write("tools.json", [listed])
        return len(calls)

    def _prepare(self, world: World, values: Values) -> None:
        for path, text in world.files.items():
            place = values.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        if world.database:
            create_database(world.database, values.folder)
        for command in world.commands:
            run(values.fill(command), values.folder, self._environment(values))

    @asynccontextmanager
    async def _connect(self, values: Values) -> AsyncGenerator[Client]:
        command, *arguments = values.fill(self._declaration.command)
        parameters = StdioServerParameters(
            command=self._program(command), args=arguments, env=self._environment(values), cwd=values.folder
        )
        with (self._installed / "stderr.txt").open("a") as log:
            connected = Client(
                stdio_client(parameters, errlog=log), mode="legacy", read_timeout_seconds=SECONDS_PER_CALL
            )
            async with connected as client:
                yield client

    async def _call(self, client: Client, call: Call, values: Values, *, must_succeed: bool = False) -> dict[str, Any]:
        arguments, at, began = values.fill(call.arguments), now(), perf_counter()
        answer = await call_tool(client, call.tool, arguments)
        taken = round((perf_counter() - began) * 1000, 3)
        if must_succeed and ("error" in answer or answer["result"].get("isError")):
            raise Failed(f"{call.tool} of the given state: {answer}")
        values.keep(call, answer)
        return {"tool": call.tool, "arguments": arguments, **answer, "at": at, "ms": taken}

    def _program(self, name: str) -> str:
        program = shutil.which(name, path=self._path())
        if program is None:
            raise Failed(f"command: {name!r} is not in the installed packages")
        return program

    def _environment(self, values: Values) -> dict[str, str]:
        shared = {"PATH": self._path(), "HOME": str(values.home), "TZ": "UTC", "LANG": "C.UTF-8"}
        return shared | values.fill(self._declaration.environment)

    def _path(self) -> str:
        own = [str(self._installed / folder) for folder in ("node_modules/.bin", "bin")]
        return os.pathsep.join([*own, os.environ["PATH"]])

    def _header(self, name: str, state: dict[str, Any], started: str, calls: int) -> dict[str, Any]:
        packages = ", ".join([f"npm:{each}" for each in self._declaration.npm] + self._declaration.pypi)
        known = {"server": self._name, "package": packages, "session": name, "started": started}
        return known | {"initial_state": state, "n_calls": calls}

    def _write(self, name: str, lines: Iterable[str]) -> None:
        (self._out / name).write_text("\n".join(lines) + "\n")


@contextmanager
def new_folder() -> Generator[Path]:
    """Create a temporary folder under its real path, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="recorded-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def now() -> str:
    """Return the time as recordings have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def run(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a command. Raises `Failed` with the end of its output."""
    try:
        done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Failed(f"{command[0]}: not found") from error
    if done.returncode:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}\n{(done.stdout + done.stderr)[-1000:]}")


def create_database(database: Database, folder: Path) -> None:
    """Create a database with its rows."""
    connection = sqlite3.connect(folder / database.file)
    connection.executescript(database.statements)
    for name, table in database.tables.items():
        rows = table.rows if isinstance(table, Table) else [list(row.values()) for row in table]
        columns = table.columns if isinstance(table, Table) else list(table[0])
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", rows)
    connection.commit()
    connection.close()


async def list_tools(client: Client) -> list[dict[str, Any]]:
    """Return all pages of the tool list."""
    tools, cursor = list[dict[str, Any]](), None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def call_tool(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a call, whether or not it conforms to the tool's outputSchema."""
    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
    try:
        result = await client.session.send_request(request, CallToolResult)
    except MCPError as error:
        return {"error": error.error.model_dump(mode="json", exclude_none=True)}
    sent = result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta", "result_type"})
    return {"result": sent}


def read_declarations(names: Sequence[str] | None) -> dict[str, Declaration]:
    """Return the declared servers with these names, or all. Raises `Failed`."""
    files = {file.stem: file for file in sorted(DECLARATIONS.glob("*.yaml"))}
    if unknown := sorted(set(names or ()) - set(files)):
        raise Failed(f"--servers: expected some of {', '.join(files)}; got {', '.join(unknown)}")
    declared = dict[str, Declaration]()
    for name in names or files:
        try:
            declared[name] = Declaration.model_validate(yaml.safe_load(files[name].read_text()))
        except (yaml.YAMLError, ValidationError) as error:
            raise Failed(f"{files[name]}: {error}") from error
    return declared


def record_all(declared: dict[str, Declaration], scratch: Path, out: Path) -> int:
    """Record all servers, and report each on stderr. Returns the number of servers that failed."""
    failed = 0
    for name, declaration in declared.items():
        recorder = Recorder(name, declaration, scratch, out)
        try:
            report(f"{name}: installing, if necessary")
            recorder.install()
            calls = asyncio.run(recorder.record())
            report(f"{name}: recorded {len(declaration.sessions)} sessions, {calls} calls")
        except* (Failed, MCPError, OSError, ValidationError) as errors:
            failed += 1
            report(*(f"{name}: {error}" for error in flatten(errors)), f"{name}: see {scratch / name / 'stderr.txt'}")
    return failed


def flatten(error: BaseException) -> list[BaseException]:
    """Return the exceptions in a group."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for exception in group.exceptions for leaf in flatten(exception)]
    return [error]


def report(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr, flush=True)


def main() -> int:
    first, _, rest = str(__doc__).partition("\n\n")
    parser = argparse.ArgumentParser(
        description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="folder for the recordings")
    parser.add_argument("--servers", help="names of declared servers, separated by commas (default all)")
    parser.add_argument("--scratch", type=Path, help="folder for installed packages (default OUT/.servers)")
    options = parser.parse_args()
    try:
        declared = read_declarations(options.servers.split(",") if options.servers else None)
    except Failed as error:
        report(str(error))
        return 2
    out = options.out.resolve()
    return 1 if record_all(declared, (options.scratch or out / ".servers").resolve(), out) else 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
    sys.exit(130)
