"""Stored worlds: what survives the process, which scenarios may open a store, and tagged JSON."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast
from zlib import crc32

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap

from mcp_sim import Simulator, World
from mcp_sim.server.testing import spawned
from mcp_sim.simulator import persistence
from mcp_sim.simulator.persistence import StoreKeeper, identity
from mcp_sim.simulator.tagged_json import TaggedJsonError, dumps, loads
from mcp_sim.types import Change, Due, Observation
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import stores
from mcp_sim.world.idempotency import KeyReused

FAULTS = """\
perturbations:
  - lost_ack: {}
    id: lost
    tools: create_deal
    when: {nth: 2}
    fires: {max: 1, cooldown: 5s}
  - rate_limit: {limit: 3, window: 10s}
    tools: get_contact
  - error: {status: 503}
    id: after-errors
    when: {history: {tool: create_deal, outcome: ok, at_least: 3}}
expect:
  - called: {tool: create_deal, at_most: 3, failed: true}
  - recovered: lost
  - not_called: delete_contact
  - order: [get_contact, create_deal]
  - state: {entity: deal, where: {title: Spring order}, count: 1}
  - unchanged: {except: [deal, {contact: {stage: customer}}]}
  - answered: {contains: {state: deal.size()}}
  - noticed: lost
  - max_calls: 3
  - max_duplicate_writes: 0
"""
DEAL: dict[str, Any] = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("create_deal", DEAL),
    ("get_contact", {"contact_id": "con_00001"}),
    ("update_contact", {"contact_id": "con_00001", "stage": "customer"}),
    ("create_deal", DEAL),
    ("get_contact", {"contact_id": "con_00001"}),
    ("get_contact", {"contact_id": "con_00002"}),
    ("get_contact", {"contact_id": "con_00001"}),
    ("create_deal", DEAL),
    ("create_deal", {**DEAL, "title": "Summer order"}),
    ("list_deals", {}),
    ("nothing_of_the_kind", {}),
    ("update_contact", {"contact_id": "con_00001", "stage": "churned"}),
]


async def call_in_one_process(simulator: Simulator) -> World:
    """Return a world after all calls in one process."""
    async with simulator.open("w") as world:
        for tool, arguments in CALLS:
            await world.call(tool, arguments)
        return world


async def call_in_store(
    simulator: Simulator, path: Path, calls: list[tuple[str, dict[str, Any]]], name: str = "w"
) -> World:
    """Make calls in a stored world as a separate process would, and return the world."""
    store = stores["sqlite"].model_validate({"path": path})
    with store.open(identity(simulator.scenario, None, "1")) as opened:
        async with Simulator(simulator.scenario) as fresh:
            world = StoreKeeper(fresh, opened, name).world(None, "virtual")
            for tool, arguments in calls:
                await world.call(tool, arguments)
            return world


@pytest.mark.parametrize("short", [0, persistence.SHORT], ids=["with snapshots", "from the start"])
async def test_a_process_for_each_call_leaves_the_same_ledger_as_one_for_all(
    crm: Callable[[str], Simulator], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    monkeypatch.setattr(persistence, "SHORT", short)
    simulator = crm(FAULTS)
    whole = await call_in_one_process(simulator)
    for call in CALLS[:-1]:
        await call_in_store(simulator, tmp_path / "worlds.db", [call])
    last = await call_in_store(simulator, tmp_path / "worlds.db", CALLS[-1:])
    assert last.ledger.steps == whole.ledger.steps
    assert {part["id"] for step in last.ledger.steps for part in step.get("perturbations", [])} >= {
        "lost",
        "after-errors",
    }
    assert last.grade() == whole.grade()
    assert list(last.view.rows("deal")) == list(whole.view.rows("deal"))
    assert [(past.index, past.tool, past.ok, past.at) for past in last.history] == [
        (past.index, past.tool, past.ok, past.at) for past in whole.history
    ]


async def test_two_processes_share_one_world(crm: Callable[[str], Simulator], tmp_path: Path) -> None:
    simulator = crm("")
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})
    store_identity = identity(simulator.scenario, None, "1")
    async with Simulator(simulator.scenario) as one, Simulator(simulator.scenario) as other:
        with store.open(store_identity) as first, store.open(store_identity) as second:
            worlds = [
                StoreKeeper(one, first, "w").world(None, "virtual"),
                StoreKeeper(other, second, "w").world(None, "virtual"),
            ]
            async with anyio.create_task_group() as tasks:
                for n in range(20):
                    tasks.start_soon(worlds[n % 2].call, "create_deal", {**DEAL, "title": f"Order {n}"})
    last = await call_in_store(simulator, tmp_path / "worlds.db", [])
    assert last.view.count("deal") == 22
    assert len({key for key, _ in last.view.rows("deal")}) == 22
    assert [step["n"] for step in last.ledger.steps] == list(range(1, 22))


async def test_requests_with_the_same_key_are_one_call_across_processes(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    simulator = crm("perturbations:\n  - latency: 5s\n    tools: create_deal\n    when: {nth: 2}\n")
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("a", "create_deal", DEAL),
        ("b", "create_deal", DEAL),
        ("c", "nothing", {}),
        ("d", "get_contact", {}),
    ]

    async def answers() -> list[Observation]:
        with store.open(identity(simulator.scenario, None, "1")) as opened:
            async with Simulator(simulator.scenario) as fresh:
                world = StoreKeeper(fresh, opened, "w").world(None, "virtual")
                found = [await world.call(tool, arguments, key) for key, tool, arguments in calls]
                with pytest.raises(KeyReused):
                    await world.call("create_deal", {**DEAL, "amount": 1}, "a")
                assert world.view.count("deal") == 4
                return found

    first = await answers()
    assert [type(one.body).__name__ for one in first] == ["ToolResult", "ToolResult", "RpcError", "ToolResult"]
    assert first[1].delay == timedelta(seconds=5)
    assert await answers() == first


async def test_a_running_process_knows_the_keys_that_another_process_stored(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    simulator = crm("")
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})
    store_identity = identity(simulator.scenario, None, "1")
    async with Simulator(simulator.scenario) as one, Simulator(simulator.scenario) as other:
        with store.open(store_identity) as first, store.open(store_identity) as second:
            worlds = [
                StoreKeeper(one, first, "w").world(None, "virtual"),
                StoreKeeper(other, second, "w").world(None, "virtual"),
            ]
            async with anyio.create_task_group() as tasks:
                for n in range(12):
                    tasks.start_soon(worlds[n % 2].call, "create_deal", DEAL, f"key {n % 3}")
    assert (await call_in_store(simulator, tmp_path / "worlds.db", [])).view.count("deal") == 5


async def test_worlds_of_one_store_are_isolated(crm: Callable[[str], Simulator], tmp_path: Path) -> None:
    simulator = crm("")
    await call_in_store(simulator, tmp_path / "worlds.db", [("create_deal", DEAL)], "a")
    other = await call_in_store(simulator, tmp_path / "worlds.db", [], "b")
    assert other.view.count("deal") == 2


async def test_a_cancelled_call_changes_nothing_and_releases_the_store(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    simulator = crm("")
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})
    with store.open(identity(simulator.scenario, None, "1")) as opened:
        async with Simulator(simulator.scenario) as fresh:
            world = StoreKeeper(fresh, opened, "w").world(None, "virtual")
            with anyio.CancelScope() as scope:
                scope.cancel()
                await world.call("create_deal", DEAL)
            assert scope.cancelled_caught
    assert (await call_in_store(simulator, tmp_path / "worlds.db", [])).view.count("deal") == 2


async def test_a_store_of_another_scenario_seed_or_intensity_is_refused(
    crm: Callable[[str], Simulator], tmp_path: Path
) -> None:
    path = tmp_path / "worlds.db"
    simulator = crm("")
    await call_in_store(simulator, path, [])
    store = stores["sqlite"].model_validate({"path": path})
    milder = replace(simulator.scenario, intensity=0.5)
    others = [(crm(FAULTS).scenario, None), (simulator.scenario, 8), (milder, None)]
    for other in [identity(scenario, seed, "1") for scenario, seed in others]:
        with pytest.raises(UsageError, match="has worlds of small-crm"), store.open(other):
            pass


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be looked at" * 100])
async def test_an_empty_file_becomes_a_store_and_any_other_file_is_refused(
    crm: Callable[[str], Simulator], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "worlds.db"
    path.write_bytes(content)
    simulator = crm("")
    if content:
        with pytest.raises(UsageError, match="not a store"):
            await call_in_store(simulator, path, [])
    else:
        await call_in_store(simulator, path, [])


async def test_what_was_tampered_with_is_not_taken_over(
    crm: Callable[[str], Simulator], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    simulator = crm("")
    await call_in_store(simulator, tmp_path / "worlds.db", [("create_deal", DEAL)])
    delta = b'{"occurrences": {}, "rest": "[[[\\"data\\",\\"os\\"]],0]"}'
    with sqlite3.connect(tmp_path / "worlds.db") as connection:
        (line,) = connection.execute("SELECT line FROM entries WHERE at = 2").fetchone()
        changed = (delta, crc32(delta, crc32(line)))
        connection.execute("UPDATE entries SET delta = ?, checksum = ? WHERE at = 2", changed)
    connection.close()
    await call_in_store(simulator, tmp_path / "worlds.db", [])
    assert "entry 2 is not as it was saved" in caplog.text


async def test_a_real_clock_advances_between_processes_and_a_virtual_one_does_not(
    crm: Callable[[str], Simulator],
) -> None:
    async with crm("").open(clock="real") as world:
        away = world.clock.resumed(timedelta(seconds=5), away=60.0)
        assert timedelta(seconds=65) <= away.elapsed() < timedelta(seconds=70)
    async with crm("").open(clock="virtual") as world:
        assert world.clock.resumed(timedelta(seconds=5), away=60.0).elapsed() == timedelta(seconds=5)


async def test_a_client_that_starts_a_process_for_each_call_keeps_its_world(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "worlds.db"), "--trace", str(tmp_path / "trace.jsonl"))
    ids = list[str]()
    for _ in range(2):
        async with spawned("calm_crm", *store, "--world", "mine", "--log-level", "warning") as client:
            result = await client.call_tool("create_deal", DEAL)
            ids.append(cast("dict[str, str]", result.structured_content)["id"])
    assert ids == ["deal_0081", "deal_0082"]
    assert len((tmp_path / "trace.jsonl").read_bytes().splitlines()) == 4


# tagged JSON ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    """A chain, like a transcript."""

    word: str
    before: Link | None


class Pair(NamedTuple):
    """Two values, like the progress of an effect."""

    first: Any
    second: Any


@dataclass
class Changeable:
    """A dataclass that is not frozen."""

    word: str


leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
    | st.datetimes(timezones=st.just(UTC))
    | st.timedeltas()
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.frozensets(st.integers())
        | st.dictionaries(st.text(st.characters(codec="utf-8")) | st.integers(), inner)
        | st.dictionaries(st.tuples(st.text(max_size=3), st.integers(0, 9)), inner).map(HashTrieMap)
        | st.builds(Link, st.text(max_size=3), st.none())
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=20,
)


@given(values)
def test_loads_returns_the_value_that_dumps_wrote(value: Any) -> None:
    again = loads(dumps(value))
    assert again == value
    assert type(again) is type(value)


def test_a_long_chain_needs_no_recursion_and_shared_values_stay_shared() -> None:
    chain: Link | None = None
    for n in range(5000):
        chain = Link(str(n), chain)
    again = loads(dumps((chain, chain)))
    assert again[0] is again[1]
    assert (again[0].word, again[0].before.before.word) == ("4999", "4997")


def test_deferred_commits_are_stored() -> None:
    due = Due(datetime(2030, 1, 1, tzinfo=UTC), "job", (Change("put", "deal", 7, {"id": 7}, part=1, expected=2),))
    assert loads(dumps((due,))) == (due,)


@pytest.mark.parametrize("value", [object(), {1, 2}, print, b"bytes"])
def test_a_value_that_is_not_data_is_refused(value: Any) -> None:
    with pytest.raises(TaggedJsonError):
        dumps(value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"[[],0]",
        b'[[["list",0]],0]',
        b'[[["exec","print(1)"]],0]',
        b'[[["data","subprocess","Popen",["args"],["ls"]]],0]',
        f'[[["data","{__name__}","Changeable",["word"],["x"]]],0]'.encode(),
        b'[[["data","no_such_module","X",[]]],0]',
        f'[[["data","{__name__}","Link",["nothing"],["x"]]],0]'.encode(),
    ],
)
def test_a_text_that_is_not_tagged_json_of_known_data_is_refused(text: bytes) -> None:
    with pytest.raises(TaggedJsonError):
        loads(text)
