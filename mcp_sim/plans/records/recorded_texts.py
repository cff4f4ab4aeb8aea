"""Recorded text results of a tool, and the error templates that recorded failures give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mcp_sim.plans.records.arguments import argument
from mcp_sim.types import Json, Record, Tool, render_plain_failure
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Example
from mcp_sim.types.error_templates import DEFAULT, Template, VendorErrors
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import MESSAGE_NAMES

_FAILS = re.compile(
    r"^\W*(error|failed|failure|invalid|cannot|could not|unable)\b|not found|does not exist|doesn't exist|no such|"
    r"already exists",
    re.IGNORECASE,
)


@frozen
class Sample:
    """A recorded text and the arguments of its call."""

    arguments: Record
    text: str


def result_text(result: Json) -> str | None:
    """Return the text that a recorded result is or wraps, or None for data."""
    if isinstance(result, str):
        return result
    body = as_object(result)
    inner: Json = next(iter(body.values())) if len(body) == 1 else None
    return inner if isinstance(inner, str) and snake(next(iter(body))) in MESSAGE_NAMES else None


def samples(examples: Iterable[Example], tool: Tool) -> Iterator[Sample]:
    """Yield the recorded texts of a tool."""
    for example in examples:
        result: Json = example.result
        if example.is_blocks and len(result) == 1:
            result = as_object(result[0]).get("text")
        text = result_text(result)
        if example.tool in {tool.id, tool.name} and text is not None:
            yield Sample(example.arguments, text)


def is_failure(text: str) -> bool:
    """Return whether a text reports a failure."""
    return _FAILS.search(text) is not None


def with_recorded_failures(tool: Tool, plan: Plan, domain: Domain) -> Tool:
    """Return the tool with failures worded like recorded ones, unless the spec words them."""
    if not isinstance(tool.render_failure, VendorErrors) and tool.render_failure is not render_plain_failure:
        return tool
    declared = tool.render_failure if isinstance(tool.render_failure, VendorErrors) else VendorErrors({})
    own = declared.templates
    templates: dict[str, Template] = {}
    for sample in samples(domain.examples, tool):
        kind = _kind_of_failure(sample.text)
        if kind is not None and kind not in own and DEFAULT not in own:
            templates.setdefault(kind, Template("text", _template(sample, plan)))
    return replace(tool, render_failure=replace(declared, templates={**templates, **own})) if templates else tool


def _kind_of_failure(text: str) -> str | None:
    if not is_failure(text):
        return None
    return (
        "conflict"
        if re.search(r"\balready\b|\bexists\b", text, re.IGNORECASE) and "not" not in text.lower()
        else ("not_found" if re.search(r"not found|not exist|doesn't exist|no such", text, re.IGNORECASE) else None)
    )


def _template(sample: Sample, plan: Plan) -> str:
    """Return the failure as a template with a slot for the value."""
    value: Json = argument(plan.key or "")(sample.arguments)
    values = (
        [value] if value is not ABSENT else [key for key in sample.arguments.values() if isinstance(key, str | int)]
    )
    text = sample.text.replace("{", "").replace("}", "")
    for first in values[:1]:
        text = re.sub(rf"(?<!\w){re.escape(str(first))}(?!\w)", "{value}", text)
    return text
