"""Schemas of results: from the output schema, examples, the description or the plan."""

from __future__ import annotations

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.described_forms import shown_result
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    is_open,
    items,
    main_type,
    map_of,
    properties,
    schema_of,
)
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import result_schema

_SUCCESS = vocabulary("success ok successful deleted removed updated created acknowledged found")


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
