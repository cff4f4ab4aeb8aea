"""May a record hold what the arguments of a write say, so that every tool which shows it is allowed to?"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.backends.records.effects import Check, Consequence, Effect
from mcp_sim.backends.records.given import given, sets_of
from mcp_sim.backends.records.refusals import invalid
from mcp_sim.generate.shown import field_schemas
from mcp_sim.types import Json, Observation, Record, Tool, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import as_list, items, types_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import Plan

_SAYING_LITTLE = frozenset({"type", "title", "description", "examples", "default"})
_NUMBERS = frozenset({"integer", "number"})


def fitting(tool: Tool, plan: Plan, domain: Domain) -> Check | None:
    """What forbids a write that would make a record which a tool could not show; None where any may be shown."""
    entity = domain.entities[plan.entity or ""]
    arguments = {field: path for path, field in plan.sets.items()}
    fields = entity.fields if "*" in arguments else [field for field in arguments if field in entity.fields]
    tests = {field: found for field in fields if (found := _tests(domain, entity, field, plan))}
    if not tests:
        return None
    sets = [rule for rule in sets_of(tool, plan, domain, defaults=False) if rule.field in {*tests, "*"}]

    def refused(turn: Turn) -> Observation | None:
        for field, value in given(turn, sets).items():
            reason = next((why for test in tests.get(field, ()) for why in _reasons(test, value)), None)
            if reason is not None:
                argument = arguments.get(field, field)
                return invalid(tool, argument, value, f"Invalid {argument}: {reason}")
        return None

    return refused


def lines_fitting(tool: Tool, plan: Plan, domain: Domain) -> Consequence | None:
    """What forbids a write of lists of objects that lack, also when they are completed, what results must tell."""
    entity = domain.entities[plan.entity or ""]
    arguments = {field: path for path, field in plan.sets.items() if field in entity.fields}
    tests = {field: found for field in arguments if (found := _tests_of_lines(domain, entity, field))}
    if not tests:
        return None

    def refused(_turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        for field, lines in tests.items():
            value = effect.record.get(field)
            is_told = isinstance(value, list) and any(isinstance(one, dict) for one in as_list(value))
            reason = next((why for test in lines for why in test.problems(value)), None) if is_told else None
            if reason is not None:
                return invalid(tool, arguments[field], value, f"Invalid {arguments[field]}: {reason}")
        return effect

    return refused


def _tests_of_lines(domain: Domain, entity: Entity, field: str) -> list[Validator]:
    """What results say of the objects in a list."""
    lists = [schema for schema in _told(domain, entity, field) if "array" in types_of(schema)]
    return [test for schema in lists if items(schema) and (test := _validator(schema)) is not None]


def _tests(domain: Domain, entity: Entity, field: str, plan: Plan) -> list[Validator]:
    """What the results of tools say of a field beside its type; of its items, where one is added."""
    how, found = plan.how.get(field, "set"), list[Record]()
    for schema in _told(domain, entity, field) if how in {"set", "append", "join"} else ():
        part = items(schema) if how in {"append", "join"} and "array" in types_of(schema) else schema
        if part not in found and (part.keys() - _SAYING_LITTLE or "integer" in types_of(part)):
            found.append(part)
    return [test for part in found if (test := _validator(part)) is not None]


def _validator(schema: Record) -> Validator | None:
    """None for a schema that does not stand by itself."""
    try:
        return Validator(schema)
    except ValueError:
        return None


def _told(domain: Domain, entity: Entity, field: str) -> Iterator[Record]:
    known = entity.fields[field]
    return iter(()) if known.link is not None or known.derived is not None else field_schemas(domain, entity, field)


def _reasons(test: Validator, value: Json) -> tuple[str, ...]:
    """Why a value does not fit; nothing is said of one that would have to become something else first."""
    return test.problems(value) if _is_alike(value, test.schema) else ()


def _is_alike(value: Json, schema: Record) -> bool:
    kinds = {*types_of(schema)}
    match value:
        case bool() | None | dict():
            return False
        case str():
            return not kinds or "string" in kinds
        case int() | float():
            return not kinds or bool(kinds & _NUMBERS)
        case _:
            return "array" in kinds and not any(_is_completed(one, items(schema)) for one in as_list(value))


def _is_completed(item: Json, schema: Record) -> bool:
    """Is an item of a list completed before it is written, as objects are where objects are shown?"""
    kinds = {*types_of(schema)}
    return (isinstance(item, dict) and (not kinds or "object" in kinds)) or (isinstance(item, list) and not kinds)
