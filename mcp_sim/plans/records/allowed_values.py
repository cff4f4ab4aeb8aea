"""Check the values of a write: declared choices and ranges, time spans, schemas of results."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeAlias

from mcp_sim.generate.conformance import field_schemas
from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.effects import Check, Consequence, Effect
from mcp_sim.plans.records.field_values import assigned_values, assignments_of
from mcp_sim.plans.refusal import invalid
from mcp_sim.types import Json, Observation, Record, Tool, Turn
from mcp_sim.types.argument_descriptions import describe_arguments
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, at, items, main_type, types_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan

Test: TypeAlias = "Callable[[Json], str | None]"
"""Returns why a value is not allowed, or None if it is."""

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(
    rf"(?:(?<![\w.,:/'\"-]){_NUMBER}\s?(?:-|–|\.\.|to)\s?{_NUMBER}|\bbetween {_NUMBER} and {_NUMBER})"
    r"(?![\w:/'\"-]|\.\d)",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\b(?:e\.?g\.?|for example|such as|like|typically|usually|about|around|recommended|if|or)\b", re.IGNORECASE
)
_PAIRS = (
    ("start", "end"), ("starts", "ends"), ("begin", "end"), ("from", "to"), ("from", "until"), ("since", "until"),
    ("check_in", "check_out"), ("checkin", "checkout"), ("departure", "return"), ("pickup", "dropoff"),
    ("pickup", "return"),
)  # fmt: skip
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:$|[T ])")
_ANNOTATIONS = frozenset({"type", "title", "description", "examples", "default"})
_NUMBERS = frozenset({"integer", "number"})


def declared_values_check(tool: Tool, plan: Plan) -> Check | None:
    """Return the check of values against the ranges in descriptions, or None if they are missing.

    The check also refuses a time span that ends before it begins.
    """
    schema = expanded(describe_arguments(tool).input_schema)
    parts = {path: at(schema, path) for path in plan.sets}
    tests = {path: _within(*ends) for path, ends in declared_ranges(parts, tool.description).items()}
    spans = [(start, argument(start), end, argument(end)) for start, end in time_spans(plan.sets)]
    if not tests and not spans:
        return None
    compiled = [(path, argument(path), test) for path, test in tests.items()]

    def refused(turn: Turn) -> Observation | None:
        for path, fetch, test in compiled:
            value = fetch(turn.call.arguments)
            why = test(value)
            if why is not None:
                return invalid(tool, path, value, f"Invalid {path}: {why}")
        for begin, begun, end, ended in spans:
            last = ended(turn.call.arguments)
            if is_reversed(begun(turn.call.arguments), last):
                return invalid(tool, end, last, f"{end} must be after {begin}")
        return None

    return refused


def _within(least: float, most: float) -> Test:
    def test(value: Json) -> str | None:
        wrong = isinstance(value, int | float) and not least <= value <= most
        return f"{value} is not between {least:g} and {most:g}" if wrong else None

    return test


def declared_ranges(schemas: dict[str, Record], about: str) -> dict[str, tuple[float, float]]:
    """Return the declared minimum and maximum of numeric arguments.

    The description of the tool counts for its only numeric argument.
    """
    numbers = {name: schema for name, schema in schemas.items() if main_type(schema) in {"integer", "number"}}
    ranges = {name: _range(str(number.get("description", ""))) for name, number in numbers.items()}
    if len(ranges) == 1:
        ranges = {name: value or _range(about) for name, value in ranges.items()}
    return {name: value for name, value in ranges.items() if value is not None}


def _range(text: str) -> tuple[float, float] | None:
    """Return the only range in a text, or None if the text is ambiguous."""
    ranges: Collection[tuple[str, ...]] = _RANGE.findall(text)
    if len(ranges) != 1 or _LOOSE.search(text):
        return None
    least, most = (float(item) for item in next(iter(ranges)) if item)
    return (least, most) if least < most else None


def time_spans(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of arguments that begin and end a time span: `check_in` and `check_out`."""
    by_name = {snake(path): path for path in paths}
    spans = [(name, _ended(name, *pair)) for name in by_name for pair in _PAIRS]
    pairs = [(by_name[name], by_name[end]) for name, end in spans if end != name and end in by_name]
    ends = [end for _, end in pairs]
    return [pair for pair in pairs if ends.count(pair[1]) == 1 and pair[0] not in ends]


def _ended(name: str, begun: str, ended: str) -> str:
    return re.sub(rf"(?<![a-z]){begun}(?![a-z])", ended, name)


def is_reversed(begun: Json, ended: Json) -> bool:
    """Return whether a span ends before it begins. Compares dates, and times in the same format."""
    if not (isinstance(begun, str) and isinstance(ended, str) and _DAY.match(begun) and _DAY.match(ended)):
        return False
    is_alike = len(begun) == len(ended) and begun[19:] == ended[19:]
    return ended < begun if is_alike else ended[:10] < begun[:10] and begun[10:] == ended[10:] == ""


def schema_check(tool: Tool, plan: Plan, domain: Domain) -> Check | None:
    """Return the check that refuses a write whose record no tool could show, or None if any record can be shown."""
    entity = domain.entities[plan.entity or ""]
    arguments = {field: path for path, field in plan.sets.items()}
    fields = entity.fields if "*" in arguments else [field for field in arguments if field in entity.fields]
    tests = {field: validators for field in fields if (validators := _tests(domain, entity, field, plan))}
    if not tests:
        return None
    sets = [rule for rule in assignments_of(tool, plan, domain, defaults=False) if rule.field in {*tests, "*"}]

    def refused(turn: Turn) -> Observation | None:
        for field, value in assigned_values(turn, sets).items():
            reason = next((why for test in tests.get(field, ()) for why in _reasons(test, value)), None)
            if reason is not None:
                argument = arguments.get(field, field)
                return invalid(tool, argument, value, f"Invalid {argument}: {reason}")
        return None

    return refused


def line_schema_check(tool: Tool, plan: Plan, domain: Domain) -> Consequence | None:
    """Return the check of lists of objects against result schemas."""
    entity = domain.entities[plan.entity or ""]
    arguments = {field: path for path, field in plan.sets.items() if field in entity.fields}
    tests = {field: validators for field in arguments if (validators := _line_tests(domain, entity, field))}
    if not tests:
        return None

    def refused(_turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        for field, lines in tests.items():
            value = effect.record.get(field)
            has_objects = isinstance(value, list) and any(isinstance(item, dict) for item in as_list(value))
            reason = next((why for test in lines for why in test.problems(value)), None) if has_objects else None
            if reason is not None:
                return invalid(tool, arguments[field], value, f"Invalid {arguments[field]}: {reason}")
        return effect

    return refused


def _line_tests(domain: Domain, entity: Entity, field: str) -> list[Validator]:
    """Return the validators that result schemas give for the objects in a list."""
    lists = [schema for schema in _result_schemas(domain, entity, field) if "array" in types_of(schema)]
    return [test for schema in lists if items(schema) and (test := _validator(schema)) is not None]


def _tests(domain: Domain, entity: Entity, field: str, plan: Plan) -> list[Validator]:
    """Return the validators that result schemas give for a field, or for its items if one item is added."""
    how, tests = plan.how.get(field, "set"), list[Record]()
    for schema in _result_schemas(domain, entity, field) if how in {"set", "append"} else ():
        inner = items(schema) if how == "append" and "array" in types_of(schema) else schema
        if inner not in tests and (inner.keys() - _ANNOTATIONS or "integer" in types_of(inner)):
            tests.append(inner)
    return [test for subschema in tests if (test := _validator(subschema)) is not None]


def _validator(schema: Record) -> Validator | None:
    """Return the validator of a schema, or None if the schema is not self-contained."""
    try:
        return Validator(schema)
    except ValueError:
        return None


def _result_schemas(domain: Domain, entity: Entity, field: str) -> Iterator[Record]:
    known = entity.fields[field]
    return iter(()) if known.link is not None else field_schemas(domain, entity, field)


def _reasons(test: Validator, value: Json) -> tuple[str, ...]:
    """Return why a value does not fit. A value that is converted later has no reasons."""
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
            return "array" in kinds and not any(_is_completed(item, items(schema)) for item in as_list(value))


def _is_completed(item: Json, schema: Record) -> bool:
    """Return whether an item of a list is completed before it is written, like objects where results show objects."""
    kinds = {*types_of(schema)}
    return (isinstance(item, dict) and (not kinds or "object" in kinds)) or (isinstance(item, list) and not kinds)
