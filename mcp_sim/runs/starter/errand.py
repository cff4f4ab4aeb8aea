"""Find calls that make a task: a read, and a write whose effect another read shows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import cast

from mcp_sim.runs.agents.script import Check
from mcp_sim.runs.starter.arguments import Sample, Sampler, narrowed
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Json, Key, Observation, Record, Tool, ToolResult
from mcp_sim.types.errors import Crash
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import is_key
from mcp_sim.types.plans import Plan
from mcp_sim.world.world import World

READS = ("list", "search", "get")
MOST_WRITES = 12  # each is tried in a world, and `init` should answer within seconds
MOST_READS = 30  # each is tried in a world, and `init` should answer within seconds
MOST_FIELDS = 2  # the most fields by which a written record is recognised


@frozen
class Use:
    """A call that works: a tool, and its arguments."""

    tool: str
    arguments: Record


@frozen
class Write(Use):
    """A call that creates a record, the fields by which it is recognised, and the read that finds it, if any."""

    entity: str = ""
    where: Record = field(default_factory=dict[str, Json])
    check: Check | None = None


@frozen
class Errand:
    """The calls of a task, and the records that they name: entity -> keys."""

    first: Use | None
    write: Write | None = None
    names: Mapping[str, Sequence[Key]] = field(default_factory=dict[str, Sequence[Key]])


async def errands(simulator: Simulator) -> AsyncIterator[Errand]:
    """Yield tasks for the tools of a scenario without faults, the most useful first."""
    finder = _Finder(simulator)
    reads = [use async for use in finder.reads()]
    writes = [written async for written in finder.writes()]
    for write, names in sorted(writes, key=lambda candidate: candidate[0].check is None):
        near = sorted(reads, key=lambda candidate: finder.distance(candidate[0], write, names))
        for use, others in near[:2]:
            yield Errand(use, write, _together(names, others))
        if not near:
            yield Errand(None, write, _together(names))
    for use, names in reads[:3]:
        yield Errand(use, None, _together(names))
    async for use, names in finder.others():
        yield Errand(use, None, _together(names))


def _together(*parts: Mapping[str, Key]) -> dict[str, list[Key]]:
    merged: dict[str, list[Key]] = {}
    for errand in parts:
        for entity, key in errand.items():
            merged[entity] = list(dict.fromkeys([*merged.get(entity, []), key]))
    return merged


class _Finder:
    """Tries calls, each in a world of its own."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator, self._domain = simulator, simulator.scenario.domain
        self._sampler = Sampler(self._domain, simulator.world().view)

    async def reads(self) -> AsyncIterator[tuple[Use, Mapping[str, Key]]]:
        """Yield reads that are answered."""
        for tool in islice(self._tools(READS), MOST_READS):
            async for errand in self._working(tool):
                yield errand

    async def others(self) -> AsyncIterator[tuple[Use, Mapping[str, Key]]]:
        """Yield calls of other tools that are answered."""
        verbs = ("compute", "update", "none", "create", "unknown", "delete")
        with_choices = [self._domain.tools[plan.tool] for plan in self._domain.plans.values() if plan.choices]
        for tool in islice((*self._tools(verbs), *with_choices), MOST_READS):
            async for errand in self._working(tool):
                yield errand

    async def writes(self) -> AsyncIterator[tuple[Write, Mapping[str, Key]]]:
        """Yield calls that create a record."""
        for tool in islice(self._tools(("create",)), MOST_WRITES):
            sample = self._sampler.sample(tool, {}, named=True)
            write = None if sample is None else await self._written(tool, sample)
            if sample is not None and write is not None:
                yield write, sample.names

    def distance(self, use: Use, write: Write, names: Mapping[str, Key]) -> int:
        """Return how far a read is from a write: of a record that it names, of its own entity, of another."""
        entity = self._domain.plans[use.tool].entity
        return 0 if entity in names else 1 if entity == write.entity else 2

    def _tools(self, verbs: Sequence[str]) -> Iterator[Tool]:
        """Return the tools with these verbs, in the order of the verbs; guesses come last."""
        plans = [plan for plan in self._domain.plans.values() if plan.verb in verbs and not plan.choices]
        plans.sort(key=lambda plan: (plan.guessed, verbs.index(plan.verb)))
        return (self._domain.tools[plan.tool] for plan in plans)

    async def _working(self, tool: Tool) -> AsyncIterator[tuple[Use, Mapping[str, Key]]]:
        for known, plan in _variants(self._domain.plans[tool.id]):
            sample = self._sampler.sample(tool, known, plan)
            if sample is None:
                continue
            if await self._answer(self._simulator.world(), tool.id, sample.arguments) is not None:
                yield Use(tool.id, sample.arguments), sample.names

    async def _answer(self, world: World, tool: str, arguments: Record) -> Observation | None:
        """Return the answer to a call, None if it fails."""
        try:
            observation = await world.call(tool, arguments)
        except Crash:
            return None
        return observation if observation.ok else None

    async def _written(self, tool: Tool, sample: Sample) -> Write | None:
        world, plan = self._simulator.world(), self._domain.plans[tool.id]
        if await self._answer(world, tool.id, sample.arguments) is None:
            return None
        # The record that the last call has written, if it is the only one of its entity.
        puts = [
            change
            for change in world.ledger.steps[-1]["committed"]
            if change["entity"] == plan.entity and change["op"] == "put"
        ]
        record = puts[0]["record"] if len(puts) == 1 else None
        if record is None or plan.entity is None:
            return None
        where = dict(islice(_recognisable(plan, sample.arguments, record), MOST_FIELDS))
        check = await self._check(world, plan, record, where)
        return Write(tool.id, sample.arguments, plan.entity, where, check) if where else None

    async def _check(self, world: World, write: Plan, record: Record, where: Record) -> Check | None:
        """Return a read that finds the record with these values."""
        if not where:
            return None
        for tool in self._tools(READS):
            plan = self._domain.plans[tool.id]
            if plan.entity != write.entity:
                continue
            for known in narrowed(plan, record):
                arguments = self._arguments(tool, plan, known, record, where)
                answer = None if arguments is None else await self._answer(world.fork(), tool.id, arguments)
                place = None if answer is None else next(_places(_value(answer), where, ""), None)
                if arguments is not None and place is not None:
                    return Check(call=tool.id, arguments=arguments, rows=place, where=where)
        return None

    def _arguments(self, tool: Tool, plan: Plan, known: Record, record: Record, where: Record) -> Record | None:
        """Return the arguments of a read of a record. A key that only the answer to the write shows is not known."""
        if plan.key is not None and plan.entity is not None:
            key = record.get(self._domain.entities[plan.entity].key)
            if key not in where.values():
                return None
            known = {**known, plan.key: key}
        sample = self._sampler.sample(tool, known)
        return None if sample is None else sample.arguments


def _variants(plan: Plan) -> Iterator[tuple[Record, Plan]]:
    """Yield the plans of a tool, each with the argument that chooses it."""
    if plan.choice is None:
        yield {}, plan
    else:
        yield from (({plan.choice: value}, choice) for value, choice in plan.choices.items())


def _recognisable(plan: Plan, arguments: Record, record: Record) -> Iterator[tuple[str, Json]]:
    """Yield the fields of a record that the arguments of its creation have set: texts with several words first."""
    values = [*_scalars(arguments)]
    fields = [(name, value) for name, value in record.items() if name in plan.sets.values() and value in values]
    scalars = [(name, value) for name, value in fields if is_key(value)]
    yield from sorted(scalars, key=lambda pair: (not isinstance(pair[1], str), " " not in str(pair[1])))


def _scalars(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        for inner in cast("Record", value).values():
            yield from _scalars(inner)
    else:
        yield value


def _places(value: Json, where: Record, path: str) -> Iterator[str]:
    """Yield the paths of lists with a record that fits, and of records that fit."""
    if isinstance(value, list):
        rows = [cast("Record", row) for row in cast("list[Json]", value) if isinstance(row, dict)]
        if any(where.items() <= row.items() for row in rows):
            yield path
    elif isinstance(value, dict):
        body = cast("Record", value)
        if all(body.get(name) == inner for name, inner in where.items()):
            yield path
        for name, inner_value in body.items():
            if "." not in name:
                yield from _places(inner_value, where, f"{path}.{name}" if path else name)


def _value(observation: Observation) -> Json:
    """Return the value of an answer as an agent reads it: the JSON in a text, if it is JSON."""
    value = observation.body.value if isinstance(observation.body, ToolResult) else None
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
