"""Which texts that tools declare as their results hold JSON, as their descriptions tell?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import cast

from mcp_sim.infer.result_forms import shown_result, text_place
from mcp_sim.infer.result_forms.prose import TEXTS, says_data, speaks
from mcp_sim.types import Json, Tool
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.words import snake

_IDENTIFIER = re.compile(r"(?<![\w/.=-])[a-z]+(?:_[a-z0-9]+)+(?![\w/=.(-])")


def data_texts(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Tool id -> the property whose text is JSON.

    So it is where a tool's own description says or shows it, and for all tools of a server whose descriptions speak of
    fields that no argument has (`with stable task_ref values`): who names them has them read from data.
    """
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    found: dict[str, str] = {}
    for mine in by_server.values():
        wrapped = {tool.id: place for tool in mine if snake(place := text_place(tool) or "") in TEXTS}
        names_fields = bool(wrapped) and _names_fields([tool for tool in mine if tool.id in wrapped], mine)
        found |= {id_: place for id_, place in wrapped.items() if _is_data(tools[id_], names_fields=names_fields)}
    return found


def _is_data(tool: Tool, *, names_fields: bool) -> bool:
    if says_data(tool.description) or shown_result(tool.description) is not None:
        return True
    return names_fields and not speaks(tool.description)


def _names_fields(wrapped: list[Tool], tools: list[Tool]) -> bool:
    """Do descriptions name what no tool, argument or choice is called, as only fields of results are?"""
    known = {name for tool in tools for name in _names(tool.input_schema)}
    named = {name for tool in wrapped for name in _IDENTIFIER.findall(tool.description)} - known
    return any(not any(name in tool.name for tool in tools) for name in named)


def _names(schema: Json) -> Iterator[str]:
    """What arguments and their choices are called, at any depth."""
    if isinstance(schema, list):
        for part in cast("list[Json]", schema):
            yield from _names(part)
    elif isinstance(schema, dict):
        said = as_object(schema)
        yield from as_object(said.get("properties"))
        yield from (one for one in as_list(said.get("enum")) if isinstance(one, str))
        for part in said.values():
            yield from _names(part)
