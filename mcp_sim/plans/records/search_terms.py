"""Parse the text of a search: words, excluded words, and field clauses such as `status:open`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import nan
from typing import TypeAlias

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.plans.records.arguments import Fetch, argument
from mcp_sim.types import COMPARISONS, Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, main_type
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.time_formats import seconds_of

Test: TypeAlias = Callable[[Record], bool]

LONGEST_QUERY = 10_000
"""Characters of the text of a search; the rest of a longer one is ignored."""

_CLAUSE = re.compile(
    r"(?<![\w.-])(-?)([A-Za-z_][\w.-]*)(?::(>=|<=|>|<)?|(>=|<=|!=|>|<|==?))(\"[^\"]*\"|'[^']*'|[^\s\"']+)"
)
_WORD = re.compile(r"[^\s\"'(),;]+")
_SIGNS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


@frozen
class Terms:
    """What a text searches for. `unwanted` words must not occur."""

    words: Sequence[str] = ()
    unwanted: Sequence[str] = ()
    tests: Sequence[Test] = field(default_factory=tuple[Test, ...])


NOTHING = Terms()


def query_argument(plan: Plan) -> Fetch:
    """Return a getter for the text that a call searches for, cut off if it is too long."""
    fetch = argument(plan.query or "")

    def query(arguments: Mapping[str, Json]) -> Json:
        text = fetch(arguments)
        return text[:LONGEST_QUERY] if isinstance(text, str) else text

    return query


def term_parser(entity: Entity) -> Callable[[Json], Terms]:
    """Compile a parser of searches over an entity. Clauses about unknown fields count as words."""
    fields = {snake(name): name for name in entity.fields}

    def parse(text: Json) -> Terms:
        if not isinstance(text, str):
            return NOTHING
        if ":" not in text and not re.search(r"[<>=]|(^|\s)-\w", text):
            return Terms(_WORD.findall(text.lower()))
        tests: list[Test] = []

        def taken(match: re.Match[str]) -> str:
            name = fields.get(snake(match[2]))
            if name is None:
                return match[0]
            sign = match[3] or match[4] or ":"
            tests.append(_test(entity, name, sign, match[5].strip("\"'"), wanted=not match[1]))
            return " "

        left = _CLAUSE.sub(taken, text).lower()
        unwanted = re.findall(r"(?:^|\s)-(\w[^\s\"'(),;]*)", left)
        left = re.sub(r"(?:^|\s)-\w[^\s\"'(),;]*", " ", left)
        return Terms(_WORD.findall(left), unwanted, tuple(tests))

    return parse


def _test(entity: Entity, name: str, sign: str, value: str, *, wanted: bool) -> Test:
    schema = entity.fields[name].schema
    if sign in _SIGNS:
        compare = COMPARISONS[_SIGNS[sign]]
        if time_meaning(name, schema) is not None:
            seconds = seconds_of(schema)
            bound = seconds(value)
            return lambda record: compare(seconds(record.get(name)), bound) is wanted
        number = _number(value)
        return lambda record: compare(_number(record.get(name)), number) is wanted
    lowered = value.lower()
    whole = main_type(schema) in {"integer", "number", "boolean"} or "enum" in schema
    equal = wanted != (sign == "!=")
    return lambda record: _holds(record.get(name), lowered, whole=whole) is equal


def _number(value: Json) -> float:
    try:
        return float(value) if isinstance(value, str | int | float) else nan
    except ValueError:
        return nan


def _holds(held: Json, wanted: str, *, whole: bool) -> bool:
    """Return whether a field has the value: entirely (`whole`), as part of its text, or as an item of a list."""
    if isinstance(held, list):
        return any(_holds(item, wanted, whole=True) for item in as_list(held))
    if held is None:
        return wanted in {"null", "none"}
    text = str(held).lower()
    return text == wanted if whole else wanted in text
