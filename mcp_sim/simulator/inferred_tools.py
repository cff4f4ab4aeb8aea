"""Infer what the tools of a server do, once for equal tools and states.

Guessed plans come with the lines of a tool spec that would correct them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from mcp_sim.plans.infer import Inferred, infer
from mcp_sim.plans.infer.arguments import key_argument, noun_of_key
from mcp_sim.plans.infer.names import ParsedName, parse_names
from mcp_sim.spec.yaml12 import flow, scalar
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain, Entity, Example
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.json_values import READS
from mcp_sim.types.options import duration
from mcp_sim.types.plans import RECORDLESS, Envelope, Idempotency, Plan, Verb
from mcp_sim.types.programs import PROGRAM, Program, ProgramFunction, TableEffects

_WRITES: tuple[Verb, ...] = ("create", "delete", "update")


@frozen
class Programmed:
    """What programs answer, and the tables that they declare."""

    tools: frozenset[str]
    tables: frozenset[str]
    takes_state: bool
    """Whether functions write the first records of these tables."""

    @classmethod
    def of(cls, programs: Iterable[Program | None]) -> Programmed:
        programs = [program for program in programs if program is not None]
        functions = {tool: function for program in programs for tool, function in program.functions.items()}
        tables = frozenset(table for program in programs for table in program.tables)
        takes_state = any("initial" in program.hooks for program in programs)
        return cls(frozenset(functions), tables, takes_state)

    def leaves_some(self, tools: Iterable[str]) -> bool:
        """Return whether plans answer some of these tools."""
        return not self.tools.issuperset(tools)


def plan_functions(program: Program, tools: Mapping[str, Tool], inferred: Mapping[str, Plan]) -> dict[str, Plan]:
    """Return a plan for each tool that a program answers.

    Its effect is as the decorator declares it, else as the function's syntax tree shows it. Where both leave it open,
    the `inferred` plan decides.
    """
    return {
        tool: _plan(tools[tool], function, program, inferred[tool])
        for tool, function in program.functions.items()
        if tool in tools
    }


def _plan(tool: Tool, function: ProgramFunction, program: Program, inferred: Plan) -> Plan:
    verb = _verb(function, inferred)
    # The table that the function works on: with several, the one that the tool is inferred to mean.
    declared = function.options.get("entity")
    if declared is not None or verb in RECORDLESS:
        entity = declared
    else:
        effects = function.effects
        tables = sorted(_tables(effects, verb), key=lambda table: table not in effects.shows)
        guess = (inferred.entity or "").rpartition(".")[2]
        entity = guess if guess in tables else next(iter(tables), None)
    where = f"{program.path.name}:{function.line} {function.name}"
    rows = function.options.get("rows")
    plan = Plan(
        tool.id,
        verb,
        None if entity is None else f"{program.prefix}{entity}",
        PROGRAM,
        key=_key(function, tool, verb, entity, inferred),
        envelope=Envelope() if rows is None else Envelope(rows=rows),
        idempotency=_idempotency(function, tool),
    )
    return plan.with_basis(1.0, f"answered by {where}", source="declared")


def _idempotency(function: ProgramFunction, tool: Tool) -> Idempotency | None:
    """Return the argument that the decorator names: as the tool has it, or as the parameter that takes it."""
    declared, expires = function.options.get("idempotency"), function.options.get("expires")
    if declared is None:
        return None
    arguments = properties(tool.input_schema)
    argument = next((name for name in arguments if declared in (name, function.parameter(name))), declared)
    return Idempotency(argument, None if expires is None else duration(expires).total_seconds())


def _verb(function: ProgramFunction, inferred: Plan) -> Verb:
    declared, effects = function.options.get("verb"), function.effects
    if declared is not None:
        return cast("Verb", declared)
    reads: Verb = inferred.verb if inferred.verb in READS else "get" if effects.keys else "list"
    tables: dict[Verb, tuple[str, ...]] = {
        "create": effects.creates,
        "delete": effects.deletes,
        "update": effects.updates,
    }
    writes: list[Verb] = [verb for verb in _WRITES if tables[verb] and not function.options.get("reads")]
    if writes:
        return inferred.verb if inferred.verb in writes else writes[0]
    if effects.reads or function.options.get("reads"):
        return reads
    if (effects.uses_libraries or effects.is_partial) and inferred.verb not in RECORDLESS:
        return inferred.verb
    return "update" if effects.uses_libraries else "compute"


def _tables(effects: TableEffects, verb: Verb) -> Iterable[str]:
    match verb:
        case "create":
            return effects.creates
        case "delete":
            return effects.deletes
        case "update":
            return effects.updates
        case _:
            return dict.fromkeys((*effects.shows, *effects.reads))


def _key(function: ProgramFunction, tool: Tool, verb: Verb, entity: str | None, inferred: Plan) -> str | None:
    """Return the argument that names the record."""
    declared = function.options.get("key")
    if declared is not None or entity is None:
        return declared
    keys = function.effects.new_keys if verb == "create" else function.effects.keys
    parameter, *path = ("" if verb in {"list", "search"} else keys.get(entity, "")).split(".")
    candidates = (
        ".".join((argument, *path))
        for argument in properties(tool.input_schema)
        if function.parameter(argument) == parameter
    )
    guess = inferred.key if (inferred.entity or "").rpartition(".")[2] == entity else None
    return next(candidates, guess)


_MOST_COMPARED, _LONGEST_COMPARED = 2_000, 200_000
"""A state with more values than this, or with longer texts, is not compared with others. The states of all servers are
compared in pairs at each start."""

_KEPT = 128
"""Results that a process keeps: more than there are shipped scenarios, which `check` reads one after another."""


T = TypeVar("T")


@frozen
class ServerEvidence:
    """What is known of one server before inference."""

    tools: Mapping[str, Tool]
    """Its tools, by id."""
    state: Json = None
    """The given state, or None."""
    examples: Sequence[Example] = ()
    """Recorded calls."""
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """What specs declare under `sim:`, by tool id."""


def infer_planned(evidence: ServerEvidence, declared: Mapping[str, Entity], programmed: Programmed) -> Inferred:
    """Return what is inferred of the tools that no program answers. Equal tools and states are inferred once."""
    if not _is_small(evidence.state):
        return _anew(evidence, declared, programmed)
    tools = [(tool.id, tool.definition, tool.prose) for tool in evidence.tools.values()]
    answered = (sorted(programmed.tools), programmed.takes_state)
    text = repr((tools, answered, evidence.state, evidence.overrides, evidence.examples, declared))
    return _once(ByText(text, (evidence, declared, programmed)))


def infer_functions(tools: Mapping[str, Tool], declared: Mapping[str, Entity]) -> Mapping[str, Plan]:
    """Return what is inferred of tools that a program answers. Equal tools are inferred once."""
    text = repr(([(tool.id, tool.definition, tool.prose) for tool in tools.values()], declared))
    return _functions(ByText(text, (tools, declared)))


@lru_cache(maxsize=_KEPT)
def _functions(known: ByText[tuple[Mapping[str, Tool], Mapping[str, Entity]]]) -> Mapping[str, Plan]:
    tools, declared = known.value
    return infer(tools, declared, {}, ()).plans


def _is_small(state: Json) -> bool:
    """Whether a state has few enough values, and short enough texts, to be compared with others."""
    left, length = list[Json]([state]), 0
    for _ in range(_MOST_COMPARED):
        if not left:
            return length <= _LONGEST_COMPARED
        value = left.pop()
        length += len(value) if isinstance(value, str) else 0
        if isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else cast("list[Json]", value)
    return False


@lru_cache(maxsize=_KEPT)
def _once(known: ByText[tuple[ServerEvidence, Mapping[str, Entity], Programmed]]) -> Inferred:
    return _anew(*known.value)


def _anew(evidence: ServerEvidence, declared: Mapping[str, Entity], programmed: Programmed) -> Inferred:
    planned = {name: tool for name, tool in evidence.tools.items() if name not in programmed.tools}
    state = None if programmed.takes_state else evidence.state
    return infer(planned, declared, evidence.overrides, evidence.examples, state)


@frozen
class ByText(Generic[T]):
    """A value that equals another one if both have the same text."""

    text: str
    value: T = field(compare=False)


def corrections(domain: Domain) -> Mapping[str, str]:
    """Return for the id of every tool with a guessed plan the line to write under `sim:`, for a person to correct."""
    parsed_names = parse_names(tool.name for tool in domain.tools.values())
    names = {id_: domain.tools[id_].name for id_, plan in domain.plans.items() if plan.guessed}
    return {
        id_: f"{scalar(name)}: {flow(_suggest(domain.plans[id_], domain, parsed_names[name]))}"
        for id_, name in names.items()
    }


def alternatives(domain: Domain) -> Mapping[str, str]:
    """Return for guesses that a tool touches no records the update that it makes otherwise."""
    guesses = (plan for plan in domain.plans.values() if plan.guessed and plan.verb == "none")
    keys = ((plan.tool, _key_of_record(plan, domain)) for plan in guesses)
    return {id_: flow({"verb": "update", "entity": noun_of_key(key), "key": key}) for id_, key in keys if key}


def _key_of_record(plan: Plan, domain: Domain) -> str | None:
    """Return the argument of a tool that is named after the key of some entity."""
    arguments = properties(expanded(domain.tools[plan.tool].input_schema))
    return next((name for name in arguments if noun_of_key(name) in domain.entities), None)


def _suggest(plan: Plan, domain: Domain, parsed: ParsedName) -> Record:
    if plan.verb == "none":
        return {"verb": "none"}
    entity = plan.entity or "_".join(parsed.noun) or next(iter(domain.entities), "record")
    verb = next((verb for verb in (plan.verb, parsed.verb) if verb != "unknown"), "get")
    key = plan.key or key_argument("get", entity, "id", expanded(domain.tools[plan.tool].input_schema))[0]
    return {"verb": verb, "entity": entity, **({"key": key} if key and verb in {"get", "update", "delete"} else {})}
