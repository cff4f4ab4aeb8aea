"""Stores that fail: full, busy, damaged and read-only files, and traces that disagree with their store."""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from support.places import ROOT

from mcp_sim import Simulator, World
from mcp_sim.server.testing import connected
from mcp_sim.simulator import persistence
from mcp_sim.simulator.persistence import StoreKeeper, identity
from mcp_sim.types.errors import CRASH_CODE, BadArguments, Crash, StoreFailure, Unwritable, UsageError
from mcp_sim.types.json_values import decode
from mcp_sim.types.kinds import stores
from mcp_sim.world.sinks.stored_trace import StoredTrace
from mcp_sim.world.trace import header_line

DOCS = ROOT / "docs" / "serving.md"
LEVELS = ("OFF", "NORMAL", "FULL", "EXTRA")
"""What the numbers of `PRAGMA synchronous` mean."""

HEADER = header_line("small-crm", "", "1")
VERSION = ("counts", "facts", "occurrences", "memories", "index", "n", "applied")
EVENTS = """\
perturbations:
  - rate_limit: {limit: 1000, window: 1h}
    tools: create_deal
  - delayed_visibility: 2s
    tools: create_deal
    when: {nth: 1}
expect:
  - called: {tool: create_deal, at_least: 1}
"""


def deal(n: int) -> dict[str, Any]:
    return {"title": f"Order {n}", "amount": n, "contact_id": "con_00001"}


@asynccontextmanager
async def stored(
    simulator: Simulator, folder: Path, trace: str = "", patience: float = 60, name: str = "w"
) -> AsyncGenerator[World]:
    """Yield a stored world as a process has it, with a trace of this name if one is given."""
    store = stores["sqlite"].model_validate({"path": folder / "worlds.db", "patience": patience})
    async with Simulator(simulator.scenario) as fresh:
        with store.open(identity(simulator.scenario, None, "1")) as opened:
            written = StoredTrace(folder / trace, HEADER, name) if trace else None
            with closing(StoreKeeper(fresh, opened, name, written)) as keeper:
                yield keeper.world(None, "virtual")
            if written is not None:
                written.close()


def stored_lines(folder: Path) -> list[bytes]:
    with closing(sqlite3.connect(folder / "worlds.db")) as connection:
        return [line for (line,) in connection.execute("SELECT line FROM entries ORDER BY at")]


def traced_lines(path: Path) -> list[bytes]:
    """Return the lines of a trace, which must be whole, behind the header."""
    content = path.read_bytes()
    assert content.endswith(b"\n")
    assert content.splitlines()[0] == HEADER
    return content.splitlines()[1:]


def remembered(world: World) -> tuple[Any, ...]:
    """Return everything of a world that a call may change."""
    return (
        world.version,
        world.crashed,
        world.clock.elapsed(),
        list(world.ledger),
        [(past.index, past.tool, past.ok, past.at) for past in world.history],
        list(world.view.rows("deal")),
        {name: getattr(world.version, name) for name in VERSION},
        world.view.written("deal"),
        world.keyed_calls.size,
    )


@contextmanager
def largest_file(size: int) -> Generator[None]:
    """Let this process write no file beyond a size, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only(folder: Path) -> Generator[None]:
    """Let this process only read a folder and its files; root, whom no mode keeps from writing, is another user."""
    if not hasattr(os, "seteuid"):
        pytest.skip("this platform has no users of this kind")
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)


# durability -----------------------------------------------------------------------------------------------------------


async def test_the_connection_of_a_store_has_the_durability_that_the_documentation_states(
    crm: Callable[[str], Simulator], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = re.search(r"`PRAGMA journal_mode = (\w+)` and `synchronous = (\w+)`", DOCS.read_text(encoding="utf-8"))
    assert stated is not None
    made, connect = list[sqlite3.Connection](), sqlite3.connect

    def noted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        made.append(connect(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    for _ in range(2):  # a new file, and one that exists
        async with stored(crm(""), tmp_path) as world:
            await world.call("create_deal", deal(1))
            found = [made[-1].execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
            assert found == [stated[1].lower(), LEVELS.index(stated[2])]


# a store that cannot be written ---------------------------------------------------------------------------------------


async def test_a_call_that_cannot_be_stored_did_not_happen(crm: Callable[[str], Simulator], tmp_path: Path) -> None:
    simulator = crm(EVENTS)
    async with stored(simulator, tmp_path, "t.jsonl") as world, stored(simulator, tmp_path) as other:
        await world.call("create_deal", deal(0))
        before = remembered(world), stored_lines(tmp_path), traced_lines(tmp_path / "t.jsonl")
        full = (tmp_path / "worlds.db-wal").stat().st_size
        for n in range(1, 4):
            with largest_file(full), pytest.raises(Crash, match=r"worlds\.db"):
                await world.call("create_deal", deal(n), f"key {n}")
        assert (remembered(world), stored_lines(tmp_path), traced_lines(tmp_path / "t.jsonl")) == before
        await other.call("create_deal", deal(8))
        await world.call("create_deal", deal(9))
        lines = stored_lines(tmp_path)
        assert traced_lines(tmp_path / "t.jsonl") == lines
    titles = [decode(line)["step"].get("arguments", {}).get("title") for line in lines]
    assert [title for title in titles if title] == ["Order 0", "Order 8", "Order 9"]
    assert [decode(line)["step"]["n"] for line in lines] == list(range(1, len(lines) + 1))
    async with stored(simulator, tmp_path) as again:
        assert remembered(again)[2:] == remembered(world)[2:]


async def test_a_busy_store_is_a_crash_and_not_the_fault_of_the_arguments(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    async with stored(crm(""), tmp_path, patience=0.05) as world, connected(world) as client:
        with closing(sqlite3.connect(tmp_path / "worlds.db", isolation_level=None)) as rival:
            rival.execute("BEGIN IMMEDIATE")
            with pytest.raises(Exception, match="could not be completed") as caught:
                await client.call_tool("create_deal", deal(1))
            assert getattr(caught.value, "code", None) == CRASH_CODE
            with pytest.raises(Crash, match=r"worlds\.db is busy"):
                await world.call("create_deal", deal(2))
            rival.execute("ROLLBACK")
        assert not (await client.call_tool("create_deal", deal(3))).is_error
        assert world.view.count("deal") == 3


async def test_worlds_of_one_process_take_turns(crm: Callable[[str], Simulator], tmp_path: Path) -> None:
    simulator = crm("")
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db", "patience": 0.05})
    async with Simulator(simulator.scenario) as fresh:
        with store.open(identity(simulator.scenario, None, "1")) as opened:
            one, two = (StoreKeeper(fresh, opened, name).world(None, "virtual") for name in ("one", "two"))
            opened.acquire()
            with pytest.raises(Crash, match="in use by another world"):
                await one.call("create_deal", deal(1))
            opened.release()
            await two.call("create_deal", deal(1))
            await one.call("create_deal", deal(2))
            assert (one.view.count("deal"), two.view.count("deal")) == (3, 3)


async def test_what_is_stored_for_a_call_does_not_grow_with_earlier_calls(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    async with stored(crm(EVENTS), tmp_path) as world:
        for n in range(100):
            await world.call("create_deal", deal(n))
            await world.call("get_contact", {"contact_id": "con_00001"})
    with closing(sqlite3.connect(tmp_path / "worlds.db")) as connection:
        lengths = "SELECT max(length(delta)) FROM entries WHERE at BETWEEN ? AND ?"
        first, last = (connection.execute(lengths, bounds).fetchone()[0] for bounds in ((2, 20), (180, 200)))
    assert last < first + 100


async def test_arguments_that_are_no_json_do_not_come_between_two_stored_calls(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    simulator = crm(EVENTS)
    async with stored(simulator, tmp_path) as world:
        with pytest.raises(BadArguments):
            await world.call("create_deal", {"amount": float("nan")})
        await world.call("create_deal", deal(1))
        before = remembered(world)
    async with stored(simulator, tmp_path) as again:
        assert remembered(again)[1:] == before[1:]


@pytest.mark.parametrize("short", [0, persistence.SHORT], ids=["with snapshots", "from the start"])
async def test_a_stored_world_can_be_reset_and_not_forked(
    crm: Callable[[str], Simulator], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    monkeypatch.setattr(persistence, "SHORT", short)
    simulator = crm(EVENTS)
    async with stored(simulator, tmp_path) as world, stored(simulator, tmp_path) as other:
        for n in range(4):
            await world.call("create_deal", deal(n), f"key {n}")
        world.reset()
        await world.call("create_deal", deal(9), "key 1")
        await other.call("create_deal", deal(10))
        await world.call("get_contact", {"contact_id": "con_00001"})
        with pytest.raises(UsageError, match="cannot be forked"):
            world.fork()
        before = remembered(world)
    for _ in range(2):
        async with stored(simulator, tmp_path) as again:
            assert remembered(again)[1:] == before[1:]
            assert again.grade() == world.grade()


# files that cannot be read --------------------------------------------------------------------------------------------


async def test_flipped_bytes_are_an_error_or_reported_or_change_nothing(
    crm: Callable[[str], Simulator], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    simulator, folder = crm(""), tmp_path / "damaged"
    async with stored(simulator, tmp_path) as world:
        for n in range(8):
            await world.call("create_deal", deal(n))
        whole = world.ledger.steps
        log = (tmp_path / "worlds.db-wal").read_bytes()
    content = (tmp_path / "worlds.db").read_bytes()
    draws, outcomes = random.Random(1), list[str]()
    for trial in range(80):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if trial < 60:
            (folder / "worlds.db").write_bytes(flipped(content, draws))
        else:  # a process was killed, and its write-ahead log is damaged
            (folder / "worlds.db").write_bytes(content[:4096])
            (folder / "worlds.db-wal").write_bytes(flipped(log, draws))
        try:
            async with stored(simulator, folder) as again:
                steps = again.ledger.steps
                assert steps == whole[: len(steps)]
                assert len(steps) == len(whole) or trial >= 60 or "it goes on after step" in caplog.text
            caplog.clear()
        except UsageError as error:
            outcomes.append(str(error))
    assert all("worlds.db" in outcome for outcome in outcomes)
    assert 0 < len(outcomes) < 80


def flipped(content: bytes, draws: random.Random) -> bytes:
    """Return the content of a file with one or eight flipped bits."""
    damaged = bytearray(content)
    for _ in range(draws.choice((1, 8))):
        damaged[draws.randrange(len(damaged))] ^= 1 << draws.randrange(8)
    return bytes(damaged)


async def test_a_store_that_is_damaged_while_it_is_served_is_a_crash(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    simulator = crm("")
    async with stored(simulator, tmp_path) as world, stored(simulator, tmp_path) as other:
        await other.call("create_deal", deal(1))
        with closing(sqlite3.connect(tmp_path / "worlds.db")) as connection, connection:
            connection.execute("UPDATE entries SET line = '{' WHERE at = 2")
        before = remembered(world)
        with pytest.raises(Crash, match=r"worlds\.db is damaged: .*entry 2 .*; put back a copy, or remove it"):
            await world.call("create_deal", deal(2))
        assert remembered(world) == before


@pytest.mark.parametrize("lost", ["entries SET at = 'x' WHERE at = 2", "sqlite_master SET name = CAST(x'c8' AS TEXT)"])
async def test_values_of_another_type_are_damage(crm: Callable[[str], Simulator], tmp_path: Path, lost: str) -> None:
    simulator = crm("")
    async with stored(simulator, tmp_path) as world:
        await world.call("create_deal", deal(1))
        await world.call("create_deal", deal(2))
    with closing(sqlite3.connect(tmp_path / "worlds.db")) as connection, connection:
        connection.executescript(f"PRAGMA writable_schema = ON; UPDATE {lost}")
    with pytest.raises(StoreFailure, match=r"worlds\.db is damaged: .*; put back a copy, or remove it"):
        async with stored(simulator, tmp_path):
            pass


@pytest.mark.parametrize("lost", ["line = '{'", "checksum = 1", "delta = '{}'"])
async def test_a_damaged_world_reopens_at_its_last_good_step(
    crm: Callable[[str], Simulator], tmp_path: Path, lost: str, caplog: pytest.LogCaptureFixture
) -> None:
    simulator = crm("")
    async with stored(simulator, tmp_path) as world:
        for n in range(4):
            await world.call("create_deal", deal(n))
        whole = world.ledger.steps
    with closing(sqlite3.connect(tmp_path / "worlds.db")) as connection, connection:
        connection.execute(f"UPDATE entries SET {lost} WHERE at = 4")
    async with stored(simulator, tmp_path) as again:
        assert again.ledger.steps == whole[:3]
        assert "worlds.db is damaged" in caplog.text
        assert (await again.call("list_deals", {})).ok
        await again.call("create_deal", deal(9))
        before = dict(again.view.rows("deal"))
    caplog.clear()
    async with stored(simulator, tmp_path) as last:
        assert dict(last.view.rows("deal")) == before
        assert last.ledger.steps[-1] == again.ledger.steps[-1]
    assert not caplog.text


async def test_a_store_that_may_not_be_written_is_refused(crm: Callable[[str], Simulator]) -> None:
    simulator = crm("")
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with stored(simulator, folder) as world:
            await world.call("create_deal", deal(1))
        with read_only(folder), pytest.raises(StoreFailure, match=r"store .*worlds\.db cannot be read or written"):
            async with stored(simulator, folder):
                pass


async def test_a_store_of_an_older_format_is_refused(crm: Callable[[str], Simulator], tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "worlds.db")) as connection, connection:
        connection.execute("CREATE TABLE about (identity TEXT NOT NULL)")
        connection.execute("CREATE TABLE worlds (name TEXT PRIMARY KEY, revision INTEGER, state BLOB)")
    with pytest.raises(StoreFailure, match=r"its format is older than 4, not 4; use another file, or remove it"):
        async with stored(crm(""), tmp_path):
            pass


# traces ---------------------------------------------------------------------------------------------------------------


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda text: b"",
    "torn header": lambda text: HEADER[:20],
    "lines missing": lambda text: b"\n".join(text.splitlines()[:2]) + b"\n",
    "torn line": lambda text: text[:-20],
    "torn line too much": lambda text: text + b'{"world":"w","step":{"n":9',
    "line too much": lambda text: text + text.splitlines()[-1].replace(b'"n":4', b'"n":5') + b"\n",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_after_a_restart_the_trace_is_what_the_store_has(
    crm: Callable[[str], Simulator], tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    simulator, trace = crm(""), tmp_path / "t.jsonl"
    async with stored(simulator, tmp_path, "t.jsonl") as world:
        for n in range(3):
            await world.call("create_deal", deal(n))
    trace.write_bytes(change(trace.read_bytes()))
    async with stored(simulator, tmp_path, "t.jsonl") as world:
        assert traced_lines(trace) == stored_lines(tmp_path)
        await world.call("create_deal", deal(3))
    assert traced_lines(trace) == stored_lines(tmp_path)
    assert len(stored_lines(tmp_path)) == 5


async def test_the_trace_of_another_store_is_refused_and_stays(crm: Callable[[str], Simulator], tmp_path: Path) -> None:
    simulator, trace = crm(""), tmp_path / "t.jsonl"
    async with stored(simulator, tmp_path, "t.jsonl") as world:
        await world.call("create_deal", deal(1))
    content = trace.read_bytes()
    (tmp_path / "worlds.db").unlink()
    for _ in range(2):
        with pytest.raises(Unwritable, match="it has calls of the world w that the store does not have"):
            async with stored(simulator, tmp_path, "t.jsonl"):
                pass
    trace.write_bytes(b"my notes")
    with pytest.raises(Unwritable, match="it is not a trace"):
        async with stored(simulator, tmp_path, "t.jsonl"):
            pass
    assert (content.count(b"\n"), trace.read_bytes()) == (3, b"my notes")


@pytest.mark.parametrize("names", [("t.jsonl", "t.jsonl"), ("t.jsonl", "u.jsonl")], ids=["one trace", "two traces"])
async def test_processes_with_one_store_write_its_whole_ledger(
    crm: Callable[[str], Simulator], tmp_path: Path, names: tuple[str, str]
) -> None:
    simulator = crm("")
    async with stored(simulator, tmp_path, names[0]) as one, stored(simulator, tmp_path, names[1]) as two:
        for n in range(6):
            await (one, two)[n % 2].call("create_deal", deal(n))
    assert len(stored_lines(tmp_path)) == 7
    assert [traced_lines(tmp_path / name) for name in names] == [stored_lines(tmp_path)] * 2


async def test_two_worlds_of_one_store_share_a_trace(crm: Callable[[str], Simulator], tmp_path: Path) -> None:
    simulator = crm("")
    both = stored(simulator, tmp_path, "t.jsonl", name="a"), stored(simulator, tmp_path, "t.jsonl", name="b")
    async with both[0] as one, both[1] as two:
        for world in (one, two, one):
            await world.call("create_deal", deal(1))
    async with stored(simulator, tmp_path, "t.jsonl", name="a") as one:
        await one.call("create_deal", deal(2))
    worlds = [decode(line)["world"] for line in traced_lines(tmp_path / "t.jsonl")]
    assert "".join(worlds) == "abab" + "aa"
    assert sorted(traced_lines(tmp_path / "t.jsonl")) == sorted(stored_lines(tmp_path))


async def test_a_call_that_is_stored_is_answered_and_a_full_trace_holds_up_the_next(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    simulator, trace = crm(""), tmp_path / "t.jsonl"
    trace.write_bytes(HEADER + b"\n" + b'{"world":"other","padding":"%b"}\n' % (b"x" * 4_000_000))
    async with stored(simulator, tmp_path, "t.jsonl") as world:
        with largest_file(trace.stat().st_size + 100):
            await world.call("create_deal", deal(1))
            with pytest.raises(Crash, match="cannot write the trace"):
                await world.call("create_deal", deal(2))
        assert traced_lines(trace)[1:] == stored_lines(tmp_path)[:1]
        await world.call("create_deal", deal(3))
        assert traced_lines(trace)[1:] == stored_lines(tmp_path)
    assert [decode(line)["step"]["n"] for line in stored_lines(tmp_path)] == [1, 2, 3]
