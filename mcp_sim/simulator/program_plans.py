"""The plans of tools that a program answers: what faults, reports and language models know of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from mcp_sim.types import Tool
from mcp_sim.types.frozen import frozen
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
    entity = _entity(function, verb, inferred)
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


def _entity(function: ProgramFunction, verb: Verb, inferred: Plan) -> str | None:
    """Return the table that the function works on: with several, the one that the tool is inferred to mean."""
    declared = function.options.get("entity")
    if declared is not None or verb in RECORDLESS:
        return declared
    effects = function.effects
    tables = sorted(_tables(effects, verb), key=lambda table: table not in effects.shows)
    guess = (inferred.entity or "").rpartition(".")[2]
    return guess if guess in tables else next(iter(tables), None)


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
