"""Random walks over a scenario: successes, crashes, violations, and records that are found again."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

from support.checker import Report, judged, judged_tables
from support.walking import MAKING, Walker

from mcp_sim import Simulator
from mcp_sim.types import Observation, Record, Tool, ToolResult
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Crash
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import types_of
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

READING = {
    "get": frozenset({"get", "read", "view", "show", "fetch", "retrieve", "describe"}),
    "list": frozenset({"list", "search", "find", "all", "query", "filter"}),
}

MOST_PROBES = 60
"""The share of created records that are looked for."""

MOST_PAGES = 50

ASKING = frozenset({"pattern", "query", "search", "text", "term", "keyword"})
"""Words in the names of search arguments."""


@dataclass
class Walked:
    """The result of a walk. `created` counts the records that were looked for, by the kind of tool that looked."""

    calls: int = 0
    succeeded: int = 0
    crashes: list[str] = field(default_factory=list[str])
    created: dict[str, int] = field(default_factory=lambda: {"get": 0, "list": 0})
    found: dict[str, int] = field(default_factory=lambda: {"get": 0, "list": 0})
    lost: list[str] = field(default_factory=list[str])
    failures: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    report: Report = field(default_factory=lambda: Report(0, 0, ()))

    @property
    def success(self) -> float:
        return self.succeeded / self.calls if self.calls else 1.0

    @property
    def found_again(self) -> float:
        """The share of created records that a later get or list showed."""
        sought = sum(self.created.values())
        return sum(self.found.values()) / sought if sought else 1.0

    def __add__(self, other: Walked) -> Walked:
        mine, its = self.report, other.report
        return Walked(
            self.calls + other.calls,
            self.succeeded + other.succeeded,
            [*self.crashes, *other.crashes],
            {kind: self.created[kind] + other.created[kind] for kind in self.created},
            {kind: self.found[kind] + other.found[kind] for kind in self.found},
            report=Report(mine.calls + its.calls, mine.succeeded + its.succeeded, mine.violations + its.violations),
        )


def unperturbed(scenario: Scenario) -> Scenario:
    """Return the scenario without perturbations."""
    return replace(scenario, perturbations=(), expectations=())


def plans_json(domain: Domain) -> dict[str, Any]:
    """Return plans and entities as `mcp-sim plan --json` prints them."""
    tools = {plan.tool: {**asdict(plan), "guessed": plan.guessed} for plan in domain.plans.values()}
    entities = {entity.name: asdict(entity) for entity in domain.entities.values()}
    return json.loads(json.dumps({"tools": tools, "entities": entities}))


async def walked(scenario: Scenario, seed: int, calls: int) -> Walked:
    """Make calls on a world without faults, look for the created records, and check the whole ledger."""
    async with Simulator(unperturbed(scenario), ledger_keep=4 * calls + 1000).open(seed=seed) as world:
        result = Walked()
        walker = Walker(tools_of(world), seed, world)
        start = rows_of(world)
        created = [record async for record in _walk(world, walker, calls, result)]
        plans = plans_json(scenario.domain)
        if scenario.domain.programs:
            result.report = judged_tables(world.ledger, plans, start)
            return result
        await _look_for(world, walker, created, result)
        result.report = judged(world.ledger, plans)
        return result


def rows_of(world: World) -> dict[str, dict[Any, Any]]:
    """Return the records of a world by entity and key, as plain JSON."""
    names = world.view.entities()
    return {name: {key: json.loads(json.dumps(row)) for key, row in world.view.rows(name)} for name in names}


def tools_of(world: World) -> list[Tool]:
    return [tool for server in world.scenario.servers for tool in world.catalogue(server)]


async def _walk(world: World, walker: Walker, calls: int, result: Walked) -> AsyncGenerator[Made]:
    for _ in range(calls):
        tool, arguments = walker.call()
        observation = await _called(world, tool, arguments, result)
        if observation is None:
            continue
        walker.learn(tool, arguments, observation)
        result.calls, result.succeeded = result.calls + 1, result.succeeded + observation.ok
        if not observation.ok:
            result.failures.setdefault(tool.name, []).append(f"{json.dumps(arguments)[:200]} -> {text_of(observation)}")
        for record in _made(world, tool, observation):
            yield record


async def _called(world: World, tool: Tool, arguments: dict[str, Any], result: Walked) -> Observation | None:
    try:
        return await world.call(tool.id, arguments)
    except Crash as crash:
        result.crashes.append(f"{tool.id} {json.dumps(arguments)[:300]}: {crash.error[:300]}")
        return None


# what was created, and whether it is found ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A record that a call created; without a key if only the answer shows it."""

    tool: Tool
    entity: str
    key: Any


def _made(world: World, tool: Tool, observation: Observation) -> Iterator[Made]:
    plan = world.scenario.domain.plans[tool.id]
    name = {*words(tool.name)}
    says_so = bool(name & MAKING) and not name & (READING["get"] | READING["list"])
    if not observation.ok or not (plan.verb == "create" or says_so):
        return
    committed = world.ledger.newest["step"]["committed"]
    if not committed:
        yield Made(tool, plan.entity or "", None)
    for change in committed:
        if change["op"] == "put" and world.view.version(change["entity"], change["key"]) == 1:
            yield Made(tool, change["entity"], change["key"])


async def _look_for(world: World, walker: Walker, created: Sequence[Made], result: Walked) -> None:
    alive = [
        record for record in created if record.key is None or world.view.get(record.entity, record.key) is not None
    ]
    for probe in alive[:: max(1, len(alive) // MOST_PROBES)]:
        for kind in ("get", "list"):
            readers = _readers(world, probe, kind)
            if not readers:
                continue
            result.created[kind] += 1
            asked = readers if probe.key is not None else []
            shown = [reader for reader in asked if await _shows(world, walker, reader, probe, result)]
            if shown:
                result.found[kind] += 1
            else:
                result.lost.append(f"{probe.tool.name}: {probe.entity} {probe.key!r} by {kind} ({readers[0].tool})")


def _readers(world: World, created: Made, kind: str) -> list[Plan]:
    """Return the tools that should show a record: by their plans, or by their names if nothing was written."""
    domain = world.scenario.domain
    if created.key is None:
        nouns = set(words(created.tool.name)) - MAKING
        return [
            plan
            for plan in domain.plans.values()
            if READING[kind].intersection(words(domain.tools[plan.tool].name))
            and nouns
            and nouns <= {*words(domain.tools[plan.tool].name)}
        ]
    verbs = {"get"} if kind == "get" else {"list", "search"}
    mine = [plan for plan in domain.plans.values() if plan.entity == created.entity and plan.verb in verbs]
    record = world.view.get(created.entity, created.key) or {}
    return [
        plan
        for plan in mine
        if (plan.key is not None if kind == "get" else _can_ask_for(plan, record, domain.tools[plan.tool]))
    ]


def _can_ask_for(plan: Plan, record: Record, tool: Tool) -> bool:
    """Whether the record has all fields that a list requires as arguments."""
    needed = {*tool.input_schema.get("required", ())}
    return all(record.get(rule.field) for argument, rule in plan.filters.items() if argument in needed)


async def _shows(world: World, walker: Walker, plan: Plan, created: Made, result: Walked) -> bool:
    """Whether a tool shows a record when it is called with the record's values."""
    record = world.view.get(created.entity, created.key) or {}
    tool = world.scenario.domain.tools[plan.tool]
    schemas = expanded(tool.input_schema).get("properties", {})
    known: Record = {argument: record[rule.field] for argument, rule in plan.filters.items() if rule.field in record}
    for argument, value in known.items():
        if "array" in types_of(schemas.get(argument, {})) and not isinstance(value, list):
            known[argument] = [value]
    if plan.key is not None:
        known[plan.key] = created.key
    needed = {*tool.input_schema.get("required", ())}
    arguments = {**walker.needed(tool), **{name: value for name, value in known.items() if name in needed}}
    if plan.verb == "get" and plan.key is not None:
        arguments[plan.key] = created.key
    arguments |= {name: str(created.key).rpartition("/")[2] for name in needed if ASKING.intersection(words(name))}
    for _ in range(MOST_PAGES):
        observation = await _called(world, tool, arguments, result)
        if observation is None or not observation.ok:
            return False
        if json.dumps(created.key).strip('"') in text_of(observation, 10**9):
            return True
        following = _next_page(plan, arguments, observation)
        if following is None:
            return False
        arguments = following
    return False


def _next_page(plan: Plan, arguments: dict[str, Any], observation: Observation) -> dict[str, Any] | None:
    body, paging, envelope = observation.body, plan.paging, plan.envelope
    value = body.value if isinstance(body, ToolResult) else None
    rows = _at(value, envelope.rows)
    if not isinstance(rows, list) or not rows:
        return None
    count = len(rows)  # pyright: ignore[reportUnknownArgumentType] - rows of anything
    if paging.cursor is not None and isinstance(_at(value, envelope.cursor), str):
        return {**arguments, paging.cursor: _at(value, envelope.cursor)}
    if paging.offset is not None:
        return {**arguments, paging.offset: arguments.get(paging.offset, 0) + count}
    if paging.page is not None:
        return {**arguments, paging.page: arguments.get(paging.page, paging.first_page) + 1}
    if paging.limit is not None and arguments.get(paging.limit) != (paging.most or 1000):
        return {**arguments, paging.limit: paging.most or 1000}
    return None


def _at(value: Any, path: str | None) -> Any:
    for name in path.split(".") if path else ():
        value = cast("Record", value).get(name) if isinstance(value, dict) else None
    return None if path is None else value


def text_of(observation: Observation, most: int = 300) -> str:
    """Return an answer as an agent reads it."""
    body = observation.body
    if isinstance(body, ToolResult):
        return (body.value if isinstance(body.value, str) else json.dumps(body.value, ensure_ascii=False))[:most]
    return str(body)[:most]
