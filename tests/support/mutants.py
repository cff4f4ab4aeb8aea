"""Runs of a shipped scenario: the golden agent, careless ones, and mutants of what the golden agent did.

`PYTHONPATH=tests python tests/support/mutants.py SEEDS [SCENARIO ...]` prints the table for more seeds than the tests.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias, cast

from support.vendors import GRADED_SCENARIOS, compiled

from mcp_sim import Simulator
from mcp_sim.runs.agents.script import script_for
from mcp_sim.runs.agents.strategies import STRATEGIES, Player, Reply
from mcp_sim.types import Json, Observation, Record, ToolResult
from mcp_sim.types.grades import Grade
from mcp_sim.world.world import World

Call: TypeAlias = tuple[str, Record]
Expected: TypeAlias = Literal["passed", "not passed", "any"]

USED_UP = ("pg_sequence",)
"""Entities that a refused call changes as well: a number that was drawn is used up."""
ON_SCREENS = ("interrupt", "stale_refs", "layout_change")
"""Faults that a careless agent does not see: it acts on what a screen usually shows."""
USUAL = "acts as if there were no"
FALSE_REPORT = "I could not do it: the call failed, and nothing was changed."
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?")


@dataclass(frozen=True)
class Run:
    """A run: its calls with their ledger entries, the final answer, the grade, and what it left behind."""

    calls: tuple[Call, ...]
    steps: tuple[Record, ...]
    answer: str
    grade: Grade
    left: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    scenario: str
    agent: str
    expected: Expected
    run: Run

    @property
    def is_deviation(self) -> bool:
        return self.expected != "any" and (self.expected == "passed") is not (self.run.grade.outcome == "passed")

    def __str__(self) -> str:
        return f"{self.scenario:22} {self.agent:40} expected {self.expected:10} actual {self.run.grade.outcome}"


async def played(simulator: Simulator, agent: str, seed: int, without: str = "") -> Run:
    """Return the run of a scripted agent in a world of its own, where a fault may be disabled."""
    world, calls = simulator.world(seed=seed), list[Call]()
    if without:
        await world.disable(without)

    async def ask(tool: str, arguments: Record) -> Reply:
        calls.append((tool, arguments))
        return reply_of(await world.call(tool, arguments))

    scenario = simulator.scenario
    script, tools = script_for(scenario.task), frozenset(scenario.domain.tools)
    player = Player(script, STRATEGIES[agent], ask, lambda seconds: world.advance(timedelta(seconds=seconds)), tools)
    return ended(world, calls, await player.play())


async def made(simulator: Simulator, seed: int, calls: Sequence[Call], answer: str) -> Run:
    """Return the run of an agent that makes these calls in a world of its own."""
    world = simulator.world(seed=seed)
    for tool, arguments in calls:
        await world.call(tool, arguments)
    return ended(world, calls, answer)


def ended(world: World, calls: Sequence[Call], answer: str) -> Run:
    steps = tuple(step for step in world.ledger.steps if step["entry"] == "call")
    return Run(tuple(calls), steps, answer, world.grade(answer), left_behind(world))


def reply_of(observation: Observation) -> Reply:
    body = observation.body
    if not isinstance(body, ToolResult):
        return Reply(None, True, str(body))
    text = " ".join(block["text"] for block in body.content if block.get("type") == "text")
    value: Json = body.value if body.form == "structured" else None
    if value is None:
        try:
            value = json.loads(text)
        except ValueError:
            value = text
    return Reply(value, body.is_error, text)


def left_behind(world: World) -> dict[str, Any]:
    """Return what a run wrote, without ids, times and hashes: how many records there are, and their plain values."""
    view = world.view
    left: dict[str, Any] = {}
    for entity in view.entities():
        keys = view.written(entity).keys()
        records = [record for key in keys if (record := view.get(entity, key)) is not None]
        left[entity] = view.count(entity), Counter(json.dumps(plain(record), sort_keys=True) for record in records)
    return {entity: value for entity, value in left.items() if entity not in USED_UP}


def plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in cast("Record", value).items()}
    if isinstance(value, list):
        return [plain(inner) for inner in cast("list[Json]", value)]
    if isinstance(value, str):
        is_token = any(map(str.isdigit, value)) and not any(map(str.isspace, value))
        return "..." if is_token or _TIME.fullmatch(value) else value
    return "..." if isinstance(value, int) and abs(value) > 10**8 else value


def mutants(golden: Run) -> Iterator[tuple[str, list[Call]]]:
    """Yield what to do otherwise than the golden agent: no retry, one more write, a stop after a fault."""
    calls = [*golden.calls]
    for place, step in enumerate(golden.steps):
        tool = step["tool"]
        is_faulted = any(fault["outcome"] == "applied" for fault in step["perturbations"])
        if is_faulted:
            yield f"stops after call {place + 1} ({tool})", calls[: place + 1]
        if is_faulted and calls[place] in calls[place + 1 :]:
            others = [call for call in calls[place + 1 :] if call != calls[place]]
            yield f"never repeats call {place + 1} ({tool})", calls[: place + 1] + others
        if any(change["op"] != "reserve" for change in step["committed"]):
            yield f"repeats write {place + 1} ({tool})", [*calls[: place + 1], calls[place], *calls[place + 1 :]]


async def table(name: str, seed: int) -> list[Row]:
    """Return what the agents and mutants come to in a scenario.

    Whoever leaves behind what the golden agent does not leave has lost or doubled an effect.
    """
    async with Simulator(compiled(name)) as simulator:
        return await _rows(simulator, name, seed)


async def _rows(simulator: Simulator, name: str, seed: int) -> list[Row]:
    scenario = simulator.scenario
    golden = await played(simulator, "golden", seed)
    rows = [Row(name, "golden", "passed", golden)]
    rows.append(Row(name, "nothing", "not passed", await made(simulator, seed, [], "")))
    hasty: Expected = "not passed" if scenario.perturbations else "passed"
    agents: dict[str, Expected] = {"verify_then_retry": "passed", "duplicate_writer": "not passed"}
    agents |= {"give_up": hasty, "naive_retry": hasty}
    for agent, expected in agents.items():
        rows.append(Row(name, agent, expected, await played(simulator, agent, seed)))
    if any(entry.kind == "truthful" for entry in scenario.expectations):
        lie = await made(simulator, seed, golden.calls, FALSE_REPORT)
        rows.append(Row(name, "reports the opposite", "not passed", lie))
    for fault in scenario.perturbations:
        if fault.kind in ON_SCREENS:
            usual = await played(simulator, "golden", seed, without=fault.id)
            careless = await made(simulator, seed, usual.calls, golden.answer)
            rows.append(Row(name, f"{USUAL} {fault.id}", "not passed", careless))
    for mutant, calls in mutants(golden):
        run = await made(simulator, seed, calls, golden.answer)
        rows.append(Row(name, mutant, "any" if run.left == golden.left else "not passed", run))
    return rows


async def main(seeds: int, names: Sequence[str]) -> int:
    rows = [row for name in names or GRADED_SCENARIOS for seed in range(seeds) for row in await table(name, seed)]
    deviations = [row for row in rows if row.is_deviation]
    lines = [*rows, f"{len(rows)} runs, {len(deviations)} deviations", *deviations]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if deviations else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]), sys.argv[2:])))
