"""Calls through the public Simulator: state, ledger, determinism, crashes, forks."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.warm import PYTHON

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import BrokenDelivery, Observation, RpcError, Step, ToolResult
from mcp_sim.types.conditions import matcher
from mcp_sim.types.errors import Crash, Unwritable, UsageError
from mcp_sim.types.scenario import Stub
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World

SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_contacts", {"query": "Ada"}),
    ("create_deal", SPRING),
    ("create_deal", SPRING),
    ("list_deals", {"contact_id": "con_00001"}),
    ("update_contact", {"contact_id": "con_00001", "stage": "customer"}),
    ("update_contact", {"contact_id": "con_00001", "stage": "customer"}),
    ("get_contact", {"contact_id": "con_00001"}),
    ("get_contact", {"contact_id": "con_99999"}),
    ("no_such_tool", {}),
    ("create_deal", {"title": 7}),
]


async def make_calls(world: World, calls: list[tuple[str, dict[str, Any]]] = CALLS) -> list[Observation]:
    return [await world.call(tool, arguments) for tool, arguments in calls]


def outcomes_by_kind(world: World) -> dict[str, str]:
    """Return the current outcome by kind of expectation."""
    return {verdict.kind: verdict.outcome for verdict in world.grade().verdicts}


def result(observation: Observation) -> ToolResult:
    assert isinstance(observation.body, ToolResult), observation
    return observation.body


async def test_a_lost_acknowledgement_creates_the_deal_and_a_retry_creates_a_second_one() -> None:
    async with Simulator.load("flaky_crm").open() as world:
        first = await world.call("create_deal", SPRING)
        assert result(first).is_error
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        second = await world.call("create_deal", SPRING)
        assert not result(second).is_error
        assert len(world.view.find("deal", "title", "Spring order")) == 2
        step = world.ledger.steps[1]
        assert step["perturbations"] == [{"id": "lost-deal", "kind": "lost_ack", "outcome": "applied", "why": "nth 1"}]
        assert step["served"]["is_error"] is True
        assert step["truth"]["observation"]["result"]["title"] == "Spring order"
        assert step["committed"] == step["truth"]["changes"]
        outcomes = {"state": "failed", "called": "passed", "recovered": "failed", "truthful": "not judged"}
        assert outcomes_by_kind(world) == outcomes


async def test_an_unperturbed_call_serves_the_truth_and_its_step_has_null_as_served() -> None:
    async with Simulator.load("calm_crm").open() as world:
        await world.call("get_contact", {"contact_id": "con_00001"})
        step = world.ledger.steps[1]
        assert step["served"] is None
        assert step["truth"]["observation"]["result"]["id"] == "con_00001"
        assert (step["committed"], step["perturbations"], step["guessed"]) == ([], [], False)


async def test_steps_are_numbered_calls_are_indexed_and_the_first_step_is_a_reset() -> None:
    async with Simulator.load("calm_crm").open("w", seed=3, stream="s") as world:
        await make_calls(world)
        steps = world.ledger.steps
        assert [step["n"] for step in steps] == list(range(1, len(CALLS) + 2))
        assert [step.get("index") for step in steps] == [None, *range(1, len(CALLS) + 1)]
        assert steps[0] == {
            "n": 1,
            "entry": "reset",
            "at": "2029-03-01T09:00:00Z",
            "seed": 3,
            "stream": "s",
            "clock": {"mode": "virtual", "now": "2029-03-01T09:00:00Z"},
        }
        assert steps[1]["at"] == "2029-03-01T09:00:01Z"


async def test_a_call_of_an_unknown_tool_is_a_step_with_an_error() -> None:
    async with Simulator.load("calm_crm").open() as world:
        observation = await world.call("no_such_tool", {"a": 1})
        assert observation.body == RpcError(-32602, "Unknown tool: no_such_tool")
        assert world.ledger.steps[-1]["tool"] == "no_such_tool"


async def test_invalid_arguments_are_an_error_that_names_each_of_them() -> None:
    async with Simulator.load("calm_crm").open() as world:
        body = result(await world.call("create_deal", {"title": 7, "amount": "much"}))
        assert body.is_error
        assert "title" in body.value
        assert "amount" in body.value
        assert "contact_id" in body.value
        assert world.ledger.steps[-1]["committed"] == []


async def test_the_same_calls_give_the_same_steps_in_worlds_of_other_names() -> None:
    async with Simulator.load("flaky_crm") as simulator:
        alone = simulator.world("alone")
        await make_calls(alone)
        twins = [simulator.world(f"twin-{n}") for n in range(5)]
        async with anyio.create_task_group() as group:
            for twin in twins:
                group.start_soon(make_calls, twin)
        for twin in twins:
            assert twin.ledger.steps == alone.ledger.steps
        other = simulator.world("other", seed=8)
        await make_calls(other)
        assert other.ledger.steps[1:] != alone.ledger.steps[1:]


def test_the_same_calls_give_the_same_steps_in_every_process(tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_text("".join(json.dumps({"tool": tool, "arguments": args}) + "\n" for tool, args in CALLS))

    def steps(hash_seed: str) -> list[Any]:
        trace = tmp_path / f"{hash_seed}.jsonl"
        command = [PYTHON, "-m", "mcp_sim", "play", "flaky_crm", str(calls), "--trace", str(trace)]
        done = subprocess.run(command, env={"PYTHONHASHSEED": hash_seed}, check=False, capture_output=True)
        assert done.returncode == 2, done.stderr  # one of the tools does not exist
        return [json.loads(line)["step"] for line in trace.read_text().splitlines()[1:]]

    assert steps("1") == steps("2")
    assert len(steps("1")) == len(CALLS) + 1


def test_the_hash_of_a_scenario_is_the_same_in_every_process(tmp_path: Path) -> None:
    names = [f"part{number}" for number in range(8)]
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"NAME = {name!r}\n")
    (tmp_path / "parts.py").write_text(
        f"import {', '.join(names)}\nfrom mcp_sim.programs import tool\n\n@tool\ndef act(world):\n    return 1\n"
    )
    tools = [{"name": "act", "inputSchema": {"type": "object"}}]
    document = {"mcp_sim": 1, "name": "parts", "tools": tools, "program": "parts.py"}
    (tmp_path / "parts.yaml").write_text(json.dumps(document))
    script = "import sys; from mcp_sim.simulator.compile import load; print(load(sys.argv[1]).sha256)"

    def scenario_hash(hash_seed: str) -> str:
        command = [PYTHON, "-c", script, str(tmp_path / "parts.yaml")]
        return subprocess.run(
            command, env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
        ).stdout

    assert len({scenario_hash(hash_seed) for hash_seed in "123"}) == 1


async def test_a_fork_continues_like_its_parent_and_is_isolated_from_it() -> None:
    async with Simulator.load("flaky_crm").open() as world:
        await make_calls(world, CALLS[:4])
        fork = world.fork()
        await make_calls(world, CALLS[4:])
        count = world.view.count("deal")
        await make_calls(fork, CALLS[4:])
        assert fork.ledger.steps == world.ledger.steps
        await fork.call("create_deal", SPRING)
        assert (world.view.count("deal"), fork.view.count("deal")) == (count, count + 1)


async def test_a_fork_with_its_own_stream_has_other_draws() -> None:
    calls = [("update_contact", {"contact_id": f"con_{n:05d}", "stage": "lead"}) for n in range(1, 40)]
    async with Simulator.load("flaky_crm").open() as world:
        forks = [world.fork(stream=stream) for stream in ("", "a", "b")]
        outcomes = [[observation.ok for observation in await make_calls(fork, calls)] for fork in forks]
        assert outcomes[0] == [observation.ok for observation in await make_calls(world, calls)]
        assert len(set(map(tuple, outcomes))) > 1


async def test_a_reset_restores_the_initial_state_and_the_ledger_continues() -> None:
    async with Simulator.load("flaky_crm").open() as world:
        await make_calls(world)
        first = world.ledger.steps
        world.reset()
        assert not world.view.find("deal", "title", "Spring order")
        await make_calls(world)
        again = world.ledger.steps[len(first) :]
        assert [{**step, "n": 0} for step in again] == [{**step, "n": 0} for step in first]


async def test_replaying_the_committed_changes_yields_the_state() -> None:
    async with Simulator.load("flaky_crm").open() as world:
        start = world.view
        await make_calls(world)
        rebuilt = replayed(start, world.ledger.steps)
        for entity in world.view.entities():
            assert list(rebuilt.rows(entity)) == list(world.view.rows(entity))


def with_stub(**stub: Any) -> Simulator:
    """Return the calm CRM with a stub for one contact. A document with such a result would be refused."""
    is_second = Stub("get_contact", {"contact_id": matcher("con_00002")}, **stub)
    return Simulator(replace(load("calm_crm"), stubs=(is_second,)))


async def test_a_crash_is_raised_and_recorded_and_does_not_change_the_world() -> None:
    async with with_stub(result={"no": "such shape"}).open() as world:
        before = world.version
        with pytest.raises(Crash, match="violates the outputSchema"):
            await world.call("get_contact", {"contact_id": "con_00002"})
        assert world.version == before
        assert world.ledger.crashes[0]["tool"] == "get_contact"
        assert "step" not in world.ledger.newest
        assert (await world.call("get_contact", {"contact_id": "con_00001"})).ok
        assert world.ledger.steps[-1]["index"] == 1


async def test_a_stub_answers_instead_of_the_world_and_is_marked_in_the_ledger() -> None:
    async with with_stub(error="gone fishing").open() as world:
        body = result(await world.call("get_contact", {"contact_id": "con_00002"}))
        assert (body.is_error, body.value) == (True, "gone fishing")
        assert world.ledger.steps[-1]["stub"] is True
        assert (await world.call("get_contact", {"contact_id": "con_00001"})).ok
        assert "stub" not in world.ledger.steps[-1]


async def test_arguments_that_are_not_json_are_refused_without_a_step() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    async with Simulator.load("calm_crm").open() as world:
        for arguments in ({"a": deep}, {"a": float("nan")}, {"a": object()}):
            with pytest.raises(UsageError):
                await world.call("get_contact", arguments)
        assert len(world.ledger.steps) == 1


async def test_cancelling_a_waiting_call_leaves_the_world_unchanged_and_usable() -> None:
    async with Simulator.load("calm_crm").open() as world:
        before = world.version
        async with world.lock, anyio.create_task_group() as tasks:
            tasks.start_soon(world.call, "create_deal", SPRING)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert world.version is before
        assert (await world.call("create_deal", SPRING)).ok


async def test_the_ledger_keeps_only_the_newest_entries() -> None:
    async with Simulator(Simulator.load("calm_crm").scenario, ledger_keep=5).open() as world:
        await make_calls(world)
        assert [step["n"] for step in world.ledger.steps] == list(range(len(CALLS) - 3, len(CALLS) + 2))


async def test_flaky_crm_is_not_vacuous_for_any_seed_up_to_99() -> None:
    async with Simulator.load("flaky_crm") as simulator:
        for seed in range(100):
            world = simulator.world(seed=seed)
            observation = await world.call("create_deal", SPRING)
            assert not isinstance(observation.body, BrokenDelivery)
            assert world.ledger.steps[-1]["perturbations"][0]["outcome"] == "applied", seed
            assert outcomes_by_kind(world)["recovered"] == "passed", seed


class Full:
    """A sink with room for a limited number of lines."""

    def __init__(self, room: int) -> None:
        self.room, self.lines = room, list[bytes]()

    def write(self, line: bytes, step: Step | None = None) -> None:
        if len(self.lines) == self.room:
            raise Unwritable("the ledger", "here", "no room")
        self.lines.append(line)

    def close(self) -> None:
        return


async def test_a_call_that_a_sink_cannot_record_is_a_crash_and_not_committed() -> None:
    full, other = Full(2), Full(99)
    async with Simulator(load("calm_crm"), [full, other]).open() as world:
        assert (await world.call("create_deal", SPRING)).ok
        before = world.version
        with pytest.raises(Crash, match="no room"):
            await world.call("create_deal", SPRING)
        assert world.version == before
    assert [b'"crash"' in line for line in other.lines] == [False, False, True]
    assert len(world.ledger.crashes) == 1


@pytest.mark.parametrize("tool", ["a/b", "crm/get_contact", "/", ""])
async def test_the_error_of_an_unknown_tool_repeats_its_name(tool: str) -> None:
    async with Simulator.load("calm_crm").open() as world:
        assert (await world.call(tool)).body == RpcError(-32602, f"Unknown tool: {tool}")
