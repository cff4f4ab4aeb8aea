"""Render outcomes of calls: under the output schema, in the form of an example, or as plain text or JSON.

A backend returns an outcome with facts under names of its own; `structured` finds the properties that hold them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from mcp_sim.plans.operation import Names
from mcp_sim.plans.outcome import Outcome, as_text
from mcp_sim.plans.rendering.described_results import returns_data
from mcp_sim.plans.rendering.structured import Content, schema_renderer
from mcp_sim.plans.rendering.templates import Scope, template_renderer
from mcp_sim.types import Json, Observation, Record, Tool, ToolResult, Turn
from mcp_sim.types.domain import Domain, Example
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties, schema_of
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import result_schema, text_place

_OPEN: Record = {"type": "object"}
_PAGED = terms("arguments.cursor") | {"page", "page_size"}
"""Arguments for paging. Tools with one of them answer in data."""


class Render(Protocol):
    """Renders the outcomes of a tool."""

    def __call__(self, turn: Turn, outcome: Outcome, *, changed: bool) -> Observation:
        """Return the observation of an outcome. `changed`: the call writes something."""
        ...


def outcome_renderer(tool: Tool, plan: Plan, domain: Domain, names: Names) -> Render:
    """Return the function that renders the outcomes of a tool."""
    usual = _usual_renderer(tool, domain, names)
    if not plan.result:
        return usual
    template = template_renderer(tool, plan.result)

    def render(turn: Turn, outcome: Outcome, *, changed: bool) -> Observation:
        return template(_scope(turn, outcome)) or usual(turn, outcome, changed=changed)

    return render


def _scope(turn: Turn, outcome: Outcome) -> Scope:
    """Return what a template can show of an outcome: its facts, the fields of the main one, and its text."""
    main: Json = outcome.facts.get(outcome.main)
    rows: list[Json] = as_list(main)
    if not isinstance(main, list):
        rows = next((listed for fact in outcome.facts.values() if (listed := as_list(fact))), rows)
    facts: Record = {"text": outcome.text, "count": len(rows), **outcome.facts}
    listed = [as_object(row) or {"value": row} for row in rows]
    return Scope(turn.call.arguments, turn.now, turn.start, as_object(main), listed, facts)


def _usual_renderer(tool: Tool, domain: Domain, names: Names) -> Render:
    """Return what renders outcomes under the output schema, like an example, or as plain text or JSON."""
    examples = [
        example for example in domain.examples if example.tool in {tool.id, tool.name} and not example.is_blocks
    ]
    shape, form = _shape(tool, examples)
    if shape is None and not examples and _answers_in_data(tool, domain):
        shape, form = _OPEN, "json"
    if shape is not None:
        fit = schema_renderer(shape, names)
        is_text = text_place(tool) is not None and not returns_data(tool.description)

        def fitted(turn: Turn, outcome: Outcome, *, changed: bool) -> Observation:
            content = Content(turn, outcome, changed, outcome.is_json and not is_text)
            return Observation(ToolResult(fit(content), form=form))

        return fitted
    worded = sentence_renderer(examples)

    def render(turn: Turn, outcome: Outcome, *, changed: bool) -> Observation:
        if outcome.is_json and not examples:
            return Observation(ToolResult(outcome.value, form="json"))
        sentence = worded(turn.call.arguments) if changed else None
        return Observation(ToolResult(sentence or outcome.text, form="text"))

    return render


def _shape(tool: Tool, examples: list[Example]) -> tuple[Record | None, Any]:
    """Return the schema of results, declared or derived from an example, and the form of results."""
    if tool.output_schema is not None:
        return result_schema(tool), "structured"
    shown = next((example.result for example in examples if as_object(example.result) or as_list(example.result)), None)
    return (None if shown is None else schema_of(shown)), "json"


def _answers_in_data(tool: Tool, domain: Domain) -> bool:
    """Return whether a tool answers in data: its description says so, or a tool of its server has paging."""
    others = (
        properties(expanded(known_tool.input_schema))
        for known_tool in domain.tools.values()
        if known_tool.server == tool.server
    )
    return returns_data(tool.description) or any(not _PAGED.isdisjoint(map(snake, names)) for names in others)


def sentence_renderer(examples: Sequence[Example]) -> Callable[[Record], str | None]:
    """Return a function that renders the arguments of a call as a sentence, as in recorded calls.

    The function returns None if no example consists of arguments and fixed text only.
    """
    templates = [parts for example in examples if (parts := _template(example)) is not None]

    def worded(arguments: Record) -> str | None:
        fitting = (parts for parts in templates if {pair[1] for pair in parts if pair[1]} <= arguments.keys())
        template = next(fitting, None)
        return None if template is None else "".join(text or as_text(arguments[name]) for text, name in template)

    return worded


def _template(example: Example) -> list[tuple[str, str]] | None:
    """Split the text of a recorded call into fixed texts and names of arguments. Return None if it is not a template.

    A text with other numbers shows the record, not only the arguments, so it is not a template.
    """
    slots = {as_text(value): name for name, value in example.arguments.items() if len(as_text(value)) > 1}
    if not isinstance(example.result, str) or not slots:
        return None
    ordered = "|".join(f"({re.escape(text)})" for text in sorted(slots, key=len, reverse=True))
    pieces = filter(None, re.split(ordered, example.result))
    parts = [("", slots[piece]) if piece in slots else (piece, "") for piece in pieces]
    own = "".join(text for text, _ in parts)
    is_usable = any(name for _, name in parts) and not re.search(r"\d|\n", own)
    return parts if is_usable else None
