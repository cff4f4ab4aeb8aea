"""Results of tools: the forms that schemas, examples and descriptions show, and texts that are JSON."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.described_forms import shown_form
from mcp_sim.types.json_schema.shapes import is_open, schema_of
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.result_schemas import TEXT_NAMES, result_schema, text_place


def find_json_texts(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return tool id -> the only property of its result, a text that is JSON unless the tool answers in sentences."""
    places = {id_: text_place(tool) or "" for id_, tool in tools.items()}
    return {id_: at for id_, at in places.items() if snake(at) in TEXT_NAMES and not tools[id_].prose}


def infer_output(tool: Tool, example: Json, *, is_text: bool) -> Record:
    """Return the outputSchema, else the shape of an example, else the form that the description shows, else {}.

    `is_text`: the result is JSON in a text, whose form the outputSchema does not declare.
    """
    if tool.output_schema is None and isinstance(example, dict | list):
        return schema_of(example)
    schema = {} if is_text else result_schema(tool)
    return schema if schema and not is_open(schema) else shown_form(tool.description)
