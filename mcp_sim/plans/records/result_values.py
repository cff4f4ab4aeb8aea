"""The facts that a result can show, their schemas, and values of places that are defined by their name.

A schema comes from the output schema, examples, the description or the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp_sim.plans.records.effects import Batch
from mcp_sim.plans.records.figures import as_number, total_of
from mcp_sim.plans.records.selection import Page
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.described_forms import shown_result
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    is_nullable,
    is_open,
    items,
    main_type,
    map_of,
    properties,
    schema_of,
)
from mcp_sim.types.json_values import NOWHERE, value_at
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import result_schema

EMPTY = Page((), 0)
_PRICES = ("price", "unit_price", "price_each", "cost", "unit_cost")
_COUNTS = ("quantity", "qty")
_LINES = ("line_total", "subtotal", "total", "total_price", "amount")
_TOTALS = frozenset({"total", "total_price", "total_amount", "total_cost", "subtotal", "grand_total", "total_value"})
_NUMBERS = frozenset({"integer", "number"})


_SUCCESS = vocabulary("success ok successful deleted removed updated created acknowledged found")


@dataclass(slots=True)
class Facts:
    """What a result can show. `view` is the state after the call's own changes.

    `record` and `key` are those of a single record, `page` is a list, `batch` is the outcome of several items.
    """

    turn: Turn
    view: View
    record: Record | None = None
    key: Key | None = None
    page: Page = EMPTY
    batch: Batch | None = None
    guesses: list[str] = field(default_factory=list[str])
    """The properties of the result that were generated, since nothing determines them. Rendering fills it."""


Fill: TypeAlias = Callable[[Facts], Json]


Render: TypeAlias = Callable[[Facts], Observation]


def record_value(field: str) -> Fill:
    """Return what fills a place with a field of the record that has another name."""

    def fill(facts: Facts) -> Json:
        value = value_at(facts.record or {}, field)
        return ABSENT if value is NOWHERE else value

    return fill


def as_text(fill: Fill) -> Fill:
    """Return what fills a place that must be a text. Absent values become an empty text."""

    def fill_text(facts: Facts) -> Json:
        value = fill(facts)
        return "" if value is ABSENT else value

    return fill_text


def status(schema: Record) -> Fill:
    """Return what fills a status of success, as one of the schema's choices."""
    choices = [value for value in constants(schema) if str(value).lower() in {"ok", "success", "successful", "done"}]
    word: Any = choices[0] if choices else next(iter(constants(schema)), "success")
    return lambda _facts: word


def nothing(schema: Record) -> Fill | None:
    """Return what fills a place with null or an empty value."""
    if is_nullable(schema):
        return lambda _facts: None
    return (lambda _facts: []) if main_type(schema) == "array" else lambda _facts: ""


def _pages(facts: Facts) -> int:
    limit = facts.page.limit or max(1, facts.page.total)
    return -(-facts.page.total // limit)


def _page_number(facts: Facts) -> int:
    return facts.page.offset // facts.page.limit + 1 if facts.page.limit else 1


def _page_size(facts: Facts) -> int:
    return facts.page.limit if facts.page.limit is not None else facts.page.total


NUMBERS: dict[str, Fill] = {
    **dict.fromkeys(
        ("count", "returned", "returned_count", "num_results", "result_count", "size"), lambda f: len(f.page.rows)
    ),
    **dict.fromkeys(("page", "page_number", "current_page"), _page_number),
    **dict.fromkeys(("limit", "page_size", "per_page"), _page_size),
    **dict.fromkeys(("pages", "total_pages", "page_count", "num_pages"), _pages),
    **dict.fromkeys(("offset", "skip", "start"), lambda facts: facts.page.offset),
}


def row_sum(name: str, schema: Record, entity: Entity) -> Fill | None:
    """Return what fills a number with the sum of the rows' amounts, or None if its name asks for no total."""
    if main_type(schema) not in _NUMBERS:
        return None
    numbers = {snake(known): known for known, field in entity.fields.items() if main_type(field.schema) in _NUMBERS}
    summed = _summed(name.removeprefix("total_"), numbers) if name.startswith("total_") else None
    if summed is not None:
        return lambda facts: total_of([record.get(summed) for _, record in facts.page.rows])
    if name not in _TOTALS:
        return None
    line, price, count = (_first(names, numbers) for names in (_LINES, _PRICES, _COUNTS))
    if (line or price) is None:
        return None
    return lambda facts: total_of([_cost(record, line, price, count) for _, record in facts.page.rows])


def _summed(name: str, numbers: Mapping[str, str]) -> str | None:
    """Return the number with this name, or the one with the fewest words that ends with it: `distance_km` of `km`."""
    ending = sorted((known.count("_"), known) for known in numbers if known.endswith(f"_{name}"))
    is_clear = bool(ending) and [count for count, _ in ending].count(ending[0][0]) == 1
    return numbers.get(name) or (numbers[ending[0][1]] if is_clear else None)


def _first(names: Iterable[str], among: Mapping[str, str]) -> str | None:
    return next((among[name] for name in names if name in among), None)


def _cost(record: Record, line: str | None, price: str | None, count: str | None) -> Json:
    """Return the amount of a row: its total, else its price times its quantity."""
    if line is not None:
        return record.get(line)
    each, times = as_number(record.get(price or "")), as_number(record.get(count or "", 1))
    return None if each is None or times is None else each * times


def result_form(tool: Tool, plan: Plan, domain: Domain) -> Record:
    """Return the schema of a tool's results: the output schema if it is specific, else that of an example.

    Without both, it is what the description shows, else a plain schema of the plan's envelope.
    """
    declared = result_schema(tool) if tool.output_schema is not None else None
    if declared is not None and _is_confirmation(declared, plan, domain):
        return {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
    if declared is not None and not is_open(declared):
        return declared
    example = example_of(tool, domain)
    if example is not None:
        return schema_of(example)
    return shown_result(tool.description) or _plain_schema(plan)


def _is_confirmation(schema: Record, plan: Plan, domain: Domain) -> bool:
    """Return whether a write returns a mapping of texts that cannot be its record."""
    if plan.verb not in {"create", "update", "delete"} or main_type(map_of(schema)) != "string":
        return False
    fields = domain.entities[plan.entity or ""].fields.values()
    return plan.verb == "delete" or any(main_type(field.schema) != "string" for field in fields if not field.hidden)


def example_of(tool: Tool, domain: Domain) -> Json:
    """Return the first recorded result of a tool that is an object or a list, or None."""
    values = [example for example in domain.examples if not example.is_blocks]
    results: list[Json] = [example.result for example in values if example.tool in {tool.id, tool.name}]
    return next((value for value in results if as_object(value) or as_list(value)), None)


def _plain_schema(plan: Plan) -> Record:
    envelope = plan.envelope
    if plan.verb == "delete" and envelope.key and envelope.success:
        return {"type": "object", "properties": {envelope.success: {"type": "boolean"}, envelope.key: {}}}
    rows: Record = {"type": "array", "items": {"type": "object"}}
    if envelope.rows == "":
        return rows
    parts: Record = {} if envelope.rows is None else {envelope.rows: rows}
    if envelope.total is not None:
        parts[envelope.total] = {"type": "integer"}
    if plan.paging.cursor and envelope.cursor is not None:
        parts[envelope.cursor] = {"type": ["string", "null"]}
    return {"type": "object", **({"properties": parts, "required": [*parts]} if parts else {})}


def is_optional(schema: Record) -> bool:
    """Return whether the description says that the value may be missing."""
    return "optional" in str(schema.get("description", "")).lower()


def is_success_flag(name: str, schema: Record) -> bool:
    """Return whether a property of a result reports if the call succeeded."""
    return main_type(schema) == "boolean" and (snake(name) in _SUCCESS or snake(name).endswith("_status"))


def required_by_default(schema: Record) -> Record:
    """Return the schema with all properties required that are not described as optional.

    Objects that declare `required` are kept.
    """
    parts = {name: required_by_default(subschema) for name, subschema in properties(schema).items()}
    needed = schema.get("required", [name for name, subschema in parts.items() if not is_optional(subschema)])
    inner = required_by_default(items(schema)) if items(schema) else None
    return {
        **schema,
        **({"properties": parts, "required": needed} if parts else {}),
        **({"items": inner} if inner is not None else {}),
    }
