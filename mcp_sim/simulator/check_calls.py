"""Try each tool once, with arguments that fit its inputSchema, and what it creates with each other tool, in forks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from mcp_sim.generate.instances import Instances
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.simulator import world_step
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Record, Tool, ToolResult
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Crash, DocumentError, McpSimError, Problem
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.satisfiability import NoInstance
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.json_schema.validation import FORMATS, Validator
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World


async def problems_at_start(scenario: Scenario) -> list[Problem]:
    """Return why no world of a scenario can be opened.

    Nothing is tried where a language model or a real server would be asked, or where the document needs the user's
    trust: a check runs no such code.
    """
    is_local = all(entry.world_model.is_local for entry in scenario.world_models)
    if scenario.untrusted or scenario.relying or not is_local:
        return []
    try:
        async with Simulator(scenario).open():
            return []
    except DocumentError as error:
        return [*error.problems]


async def failing_tools(scenario: Scenario) -> list[str]:
    """Return which tools crash, or contradict what is inferred about them, as sentences.

    Nothing is tried where a program, a language model, a recording or a real server would answer, or where the document
    needs the user's trust.
    """
    is_planned = all(entry.kind == "builtin" for entry in scenario.world_models)
    if scenario.domain.programs or scenario.untrusted or scenario.relying or not is_planned:
        return []
    calm = replace(scenario, perturbations=(), expectations=())
    sentences = list[str]()
    with _quiet():
        async with Simulator(calm) as simulator, simulator.open() as world:
            for tool in scenario.domain.tools.values():
                arguments = _arguments(tool, world, scenario.domain)
                if arguments is not None:
                    sentences += [f"{tool.id}: {text}" for text in await _tried(world.fork(), tool, arguments)]
                    trips = _round_trips(world.fork(), tool, arguments, scenario.domain)
                    sentences += [f"{tool.id}: {text}" async for text in trips]
    return sentences


async def _round_trips(world: World, tool: Tool, arguments: Record, domain: Domain) -> AsyncIterator[str]:
    """Yield which tools that take the key of a record do not know the record that a tool creates."""
    plan = domain.plans[tool.id]
    entity = domain.entities.get(plan.entity or "")
    if plan.verb != "create" or plan.each is not None or entity is None or entity.inside is not None:
        return
    before = {key for key, _ in world.view.rows(entity.name)}
    with suppress(McpSimError):
        await world.call(tool.id, arguments)
    created = [key for key, _ in world.view.rows(entity.name) if key not in before]
    for id_, other in domain.plans.items():
        is_single = other.each is None and other.key in properties(domain.tools[id_].input_schema)
        if created and other.entity == entity.name and other.key is not None and is_single:
            asked = _arguments(domain.tools[id_], world, domain)
            why = None if asked is None else await _refusal(world.fork(), id_, {**asked, other.key: created[0]})
            if why is not None:
                yield f"{id_} refuses the {entity.name.replace('_', ' ')} that it creates: {why}"


async def _refusal(world: World, tool: str, arguments: Record) -> str | None:
    """Return how a call of a tool is refused. Crashes are reported where the tool is tried alone."""
    try:
        answer = await world.call(tool, arguments)
    except McpSimError:
        return None
    return None if answer.ok or not isinstance(answer.body, ToolResult) else str(answer.body.value)


async def _tried(world: World, tool: Tool, arguments: Record) -> list[str]:
    """Return what a call of a tool finds."""
    try:
        await world.call(tool.id, arguments)
    except Crash as crash:
        return [f"a valid call crashes: {crash.error}"]
    except McpSimError:  # such as a question that the client has to answer
        return []
    measured: Record = world.ledger.newest.get("measured") or {}
    findings: Sequence[str] = measured.get("findings") or ()
    return [f"what is inferred does not hold and is dropped: {finding}" for finding in findings]


def _arguments(tool: Tool, world: World, domain: Domain) -> Record | None:
    """Return arguments that fit the inputSchema, about a record that exists; None if none are found."""
    schema = expanded(tool.input_schema)
    moment = Moment(world.now, world.now)
    # A schema that no object fits makes null.
    arguments = as_object(value_maker("argument", "", schema)(chance_of(tool.id), {}, moment))
    for name in arguments:
        entity = domain.entity_named_by(domain.plans[tool.id], name)
        key = None if entity is None else world.view.sample_key(entity, 0.0)
        arguments[name] = arguments[name] if key is None else key
    if Validator(tool.input_schema, FORMATS).is_valid(arguments):
        return arguments
    try:
        nearest: Record = Instances(tool.input_schema).nearest(arguments)
    except NoInstance:
        return None
    return nearest


@contextmanager
def _quiet() -> Generator[None]:
    """Keep what is returned from being logged as well."""
    was_disabled, world_step.logger.disabled = world_step.logger.disabled, True
    try:
        yield
    finally:
        world_step.logger.disabled = was_disabled
