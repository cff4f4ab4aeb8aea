"""What a world commits: absorbed records, what is due, and nothing of a cancelled call."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from mcp_sim import Simulator
from mcp_sim.types import Attempt, Change, Due, Observation, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.kinds import Predictor, WorldModel
from mcp_sim.types.scenario import WorldModelEntry
from mcp_sim.world.commits import replayed

Say: TypeAlias = Callable[[Turn], Awaitable[Transition]]
SCENARIO = """\
mcp_sim: 1
tools: ponder.yaml
world: {records: {thought: 2}}
"""
SPEC = """\
mcp_sim: 1
name: ponder
tools: [{name: ponder, inputSchema: {type: object}}]
entities: {thought: {key_like: t_001, fields: {text: {type: string}}}}
"""


@dataclass(frozen=True, slots=True)
class Saying:
    """A predictor that calls a function."""

    answer: Say

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        return await self.answer(turn)


def saying(folder: Path, answer: Say, perturbations: str = "") -> Simulator:
    """Load a scenario with one tool, whose world model is a function."""

    class Oracle(WorldModel):
        """Answers as a test wants."""

        @asynccontextmanager
        async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
            yield Saying(answer)

    (folder / "ponder.yaml").write_text(SPEC)
    (folder / "scenario.yaml").write_text(SCENARIO + perturbations)
    scenario = Simulator.load(folder / "scenario.yaml").scenario
    return Simulator(replace(scenario, world_models=(WorldModelEntry(Oracle(), "oracle"),)))


def thought(key: str) -> Change:
    return Change("put", "thought", key, {"id": key, "text": key})


def text_observation(text: str) -> Observation:
    return Observation(ToolResult(text, form="text"))


async def test_absorbed_records_exist_if_the_observation_was_served(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> Transition:
        n = turn.index
        return Transition(
            text_observation("two thoughts"), changes=(thought(f"t_{n}0"),), absorbed=(thought(f"t_{n}1"),)
        )

    lost = "perturbations: [{lost_ack: {}, id: lost, when: {nth: 1}}]\n"
    async with saying(tmp_path, answer, lost).open() as world:
        start = world.view
        assert not (await world.call("ponder")).ok
        assert world.view.get("thought", "t_10") == {"id": "t_10", "text": "t_10"}
        assert world.view.get("thought", "t_11") is None
        assert (await world.call("ponder")).ok
        assert world.view.get("thought", "t_21") == {"id": "t_21", "text": "t_21"}
        assert [len(step["absorbed"]) for step in world.ledger.steps[1:]] == [0, 1]
        rebuilt = replayed(start, world.ledger.steps)
        assert list(rebuilt.rows("thought")) == list(world.view.rows("thought"))


async def test_due_changes_are_committed_as_events_before_the_next_call(tmp_path: Path) -> None:
    seen: list[int] = []

    async def answer(turn: Turn) -> Transition:
        seen.append(turn.view.count("thought"))
        soon = [Due(turn.now + timedelta(seconds=n), "muse", (thought(f"t_{n}"),)) for n in (2, 1)]
        return Transition(text_observation("later"), agenda=tuple(soon) if turn.index == 1 else ())

    async with saying(tmp_path, answer).open() as world:
        for _ in range(3):
            await world.call("ponder")
        assert seen == [2, 3, 4]
        entries = [(step["entry"], step["at"][-3:-1], step.get("actor")) for step in world.ledger.steps[1:]]
    calls = [("call", "01", None), ("call", "02", None), ("call", "03", None)]
    assert entries == [calls[0], ("event", "02", "muse"), calls[1], ("event", "03", "muse"), calls[2]]


async def test_due_changes_stay_if_the_next_call_crashes(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> Transition:
        if turn.view.count("thought") > 2:
            raise ValueError("too much to think of")
        return Transition(text_observation("later"), agenda=(Due(turn.now, "muse", (thought("t_9"),)),))

    async with saying(tmp_path, answer).open() as world:
        await world.call("ponder")
        with pytest.raises(Crash, match="too much to think of"):
            await world.call("ponder")
        assert world.view.get("thought", "t_9") is not None
        assert [entry.get("step", {}).get("entry", "crash") for entry in world.ledger] == [
            "reset",
            "call",
            "event",
            "crash",
        ]


async def test_a_cancelled_call_leaves_no_trace_and_the_next_is_answered(tmp_path: Path) -> None:
    asked = anyio.Event()

    async def answer(turn: Turn) -> Transition:
        turn.memory.set("thought", "of")
        if not asked.is_set():
            asked.set()
            await anyio.sleep_forever()
        return Transition(text_observation(str(turn.index)), changes=(thought("t_7"),))

    once = "perturbations: [{latency: 1s, id: once, when: {nth: 1}}]\n"
    async with saying(tmp_path, answer, once).open() as world:
        before = world.version
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.call, "ponder")
            await asked.wait()
            tasks.cancel_scope.cancel()
        assert world.version is before
        assert await world.call("ponder") == replace(text_observation("1"), delay=timedelta(seconds=1))


@pytest.mark.parametrize(
    "arguments",
    [
        {1: 2},
        {"where": [{None: 1}]},
        {"limit": float("inf")},
        {"contact_id": object()},
    ],
)
async def test_arguments_that_json_cannot_hold_are_bad_arguments_and_not_a_crash(arguments: Any) -> None:
    async with Simulator.load("calm_crm").open() as world:
        with pytest.raises(BadArguments, match="the arguments of list_deals are not JSON"):
            await world.call("list_deals", arguments)
        deep: Any = {}
        for _ in range(500):
            deep = {"in": deep}
        with pytest.raises(BadArguments):
            await world.call("list_deals", deep)
        await world.call("list_deals", {"contact_id": "\U0001f600 and \\ud800, which is only written so"})
        assert world.ledger.crashes == []
