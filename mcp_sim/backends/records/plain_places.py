"""What stands at a place of a result whose name alone asks for it: counts, pages, a status, a field?"""

from __future__ import annotations

from typing import Any

from mcp_sim.backends.records.arguments import ABSENT
from mcp_sim.backends.records.facts import Facts, Fill
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import constants, is_nullable, main_type
from mcp_sim.types.paths import NOWHERE, value_at


def of_record(field: str) -> Fill:
    """A field of the record that stands under another name."""

    def fill(facts: Facts) -> Json:
        value = value_at(facts.record or {}, field)
        return ABSENT if value is NOWHERE else value

    return fill


def text_of(fill: Fill) -> Fill:
    """The same, of a place that must hold a text: an empty one where there is nothing to tell."""

    def told(facts: Facts) -> Json:
        value = fill(facts)
        return "" if value is ABSENT else value

    return told


def status(schema: Record) -> Fill:
    choices = [value for value in constants(schema) if str(value).lower() in {"ok", "success", "successful", "done"}]
    word: Any = choices[0] if choices else next(iter(constants(schema)), "success")
    return lambda _facts: word


def nothing(schema: Record) -> Fill | None:
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
