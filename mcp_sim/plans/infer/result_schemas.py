"""Results of tools: the forms that schemas, examples and descriptions show, and texts that are JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.described_forms import shown_form
from mcp_sim.types.json_schema.shapes import is_open, schema_of
from mcp_sim.types.json_values import canonical
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.result_schemas import TEXT_NAMES, mentions_data, result_schema, text_place

_IDENTIFIER = re.compile(r"(?<![\w/.=-])[a-z]+(?:_[a-z0-9]+)+(?![\w/=.(-])")


def find_json_texts(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return tool id -> the only property of its result, if its text is JSON.

    The description says so, or has fields that are not arguments (`with stable task_ref values`), as those of other
    tools of the server may do.
    """
    known = " ".join(f"{tool.name} {canonical(tool.input_schema)}" for tool in tools.values())
    places = {id_: place for id_, tool in tools.items() if snake(place := text_place(tool) or "") in TEXT_NAMES}
    talking = {tools[id_].server for id_ in places if _mentions_fields(tools[id_].description, known)}
    return {
        id_: at for id_, at in places.items() if mentions_data(tools[id_].description) or tools[id_].server in talking
    }


def _mentions_fields(description: str, known: str) -> bool:
    return any(name not in known for name in _IDENTIFIER.findall(description))


def infer_output(tool: Tool, example: Json, *, is_text: bool) -> Record:
    """Return the outputSchema, else the shape of an example, else the form that the description shows, else {}.

    `is_text`: the result is JSON in a text, whose form the outputSchema does not declare.
    """
    if tool.output_schema is None and isinstance(example, dict | list):
        return schema_of(example)
    schema = {} if is_text else result_schema(tool)
    return schema if schema and not is_open(schema) else shown_form(tool.description)
