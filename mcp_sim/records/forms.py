"""Which form has a tool's result, judged by its outputSchema, its examples, or its plan alone?"""

from __future__ import annotations

from mcp_sim.domain import Domain, Plan
from mcp_sim.schemas import (
    as_list,
    as_object,
    expanded,
    schema_of,
)
from mcp_sim.types import Json, Record, Tool


def form(tool: Tool, plan: Plan, domain: Domain) -> Record:
    """The outputSchema; else the shape of an example; else the plainest that holds what there is to tell."""
    if tool.output_schema is not None:
        return expanded(tool.output_schema)
    example = example_of(tool, domain)
    return schema_of(example) if example is not None else _plain_schema(plan)


def example_of(tool: Tool, domain: Domain) -> Json:
    values = [example for example in domain.examples if not example.is_blocks]
    results: list[Json] = [example.result for example in values if example.tool in {tool.id, tool.name}]
    return next((value for value in results if as_object(value) or as_list(value)), None)


def _plain_schema(plan: Plan) -> Record:
    envelope = plan.envelope
    if envelope.rows is None:
        return {"type": "object"}
    rows: Record = {"type": "array", "items": {"type": "object"}}
    if not envelope.rows:
        return rows
    parts: Record = {envelope.rows: rows}
    if envelope.total is not None:
        parts[envelope.total] = {"type": "integer"}
    if plan.paging.cursor and envelope.cursor is not None:
        parts[envelope.cursor] = {"type": ["string", "null"]}
    return {"type": "object", "properties": parts, "required": [*parts]}
