"""What trainers ask of worlds: calls without a loop, faults of their own, many seeds in turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import anyio.from_thread
import anyio.to_thread
import pytest

from mcp_sim import Simulator, World
from mcp_sim.types import Record
from mcp_sim.types.errors import BadArguments, DocumentError, UsageError

SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
CALLS: list[tuple[str, Record]] = [
    ("search_contacts", {"query": "Ada"}),
    ("create_deal", SPRING),
    ("create_deal", SPRING),
    ("update_contact", {"contact_id": "con_00001", "stage": "customer"}),
    ("no_such_tool", {}),
]


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    simulator = Simulator.load("flaky_crm")
    with anyio.from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(simulator):
        yield simulator


def steps(world: World) -> list[Record]:
    return world.ledger.steps


async def test_a_call_without_a_loop_within_one_and_from_another_thread_leave_the_same_ledger() -> None:
    async with Simulator.load("flaky_crm") as simulator:
        awaited, within, beside = (simulator.world(name) for name in ("awaited", "within", "beside"))
        for tool, arguments in CALLS:
            await awaited.call(tool, arguments)
            within.call_sync(tool, arguments)
            await anyio.to_thread.run_sync(beside.call_sync, tool, arguments)
        assert steps(awaited) == steps(within) == steps(beside)
        with pytest.raises(BadArguments):
            within.call_sync("create_deal", {"title": object()})


def test_worlds_are_called_from_many_threads_at_once(simulator: Simulator) -> None:
    def make_calls(number: int) -> str:
        world = simulator.world(f"w{number}", seed=number % 3)
        for tool, arguments in CALLS:
            world.call_sync(tool, arguments)
        return json.dumps(steps(world))

    with ThreadPoolExecutor(8) as pool:
        ledgers = list(pool.map(make_calls, range(48)))
    assert len(set(ledgers)) == 3
    assert all(ledger == ledgers[number % 3] for number, ledger in enumerate(ledgers))


def test_a_world_has_an_intensity_and_faults_of_its_own(simulator: Simulator) -> None:
    usual, silent = simulator.world("usual"), simulator.world("silent", faults=False)
    busy = simulator.world("busy", faults=[{"error": {"status": 503}, "tools": "get_*", "id": "down"}])
    half = simulator.world("half", intensity=0.5)
    assert not usual.call_sync("create_deal", SPRING).ok
    assert silent.call_sync("create_deal", SPRING).ok
    assert silent.grade("done").outcome != "not exercised"
    refused = busy.call_sync("get_contact", {"contact_id": "con_00001"})
    assert (refused.ok, refused.text) == (False, "503 Service Unavailable")
    assert (steps(half)[0]["intensity"], steps(silent)[0]["faults"]) == (0.5, False)
    assert (half.scenario.intensity, usual.scenario.intensity) == (0.5, 1)
    half.reset()
    assert half.scenario.intensity == 0.5
    with pytest.raises(UsageError):
        simulator.world("wrong", intensity=2)
    with pytest.raises(DocumentError):
        simulator.world("wrong", faults=[{"no_such_fault": {}}])


def test_the_records_of_many_seeds_are_kept_as_long_as_they_fit(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = simulator.base(1).entities() and simulator.base(1)
    for seed in range(2, 40):
        simulator.base(seed).entities()
    assert simulator.base(1) is first
    monkeypatch.setattr("mcp_sim.simulator.simulator.BASES_BYTES", 10_000_000)
    for seed in range(100, 140):
        simulator.base(seed).entities()
    assert simulator.base(1) is not first
