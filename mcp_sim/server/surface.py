"""What a server of a scenario presents to its clients, as plain JSON. Needs nothing of the SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.scenario import ServerSpec
from mcp_sim.types.surface import ToolInteraction

MOST_DIGITS = 10  # the position in a list of tools is shorter, and int() is slow for long texts


def offers(spec: ServerSpec, interactions: Mapping[str, ToolInteraction]) -> frozenset[str]:
    """Return what a server has besides tools: `resources`, `prompts`, `completions`, `logging`."""
    own = [interactions[tool] for tool in spec.tools if tool in interactions]
    has = {
        "resources": bool(spec.resources),
        "prompts": bool(spec.prompts),
        "completions": any(resource.choices for resource in (*spec.resources, *spec.prompts)),
        "logging": any(notice["method"] == "notifications/message" for each in own for notice in each.notices),
    }
    return frozenset(capability for capability, is_had in has.items() if is_had or capability in spec.capabilities)


def handshake_listing(tools: Sequence[Tool]) -> list[Record]:
    """Return tool definitions without outputSchemas that are not objects, which protocols with a handshake forbid."""
    return [_for_handshake(tool.definition) for tool in tools]


def _for_handshake(definition: Record) -> Record:
    schema = definition.get("outputSchema")
    if schema is None or schema.get("type") == "object":
        return definition
    return {name: value for name, value in definition.items() if name != "outputSchema"}


def page(name: str, definitions: list[Record], cursor: Json, size: int | None) -> Record:
    """Return a page of a list, and the cursor of the next. Raises `ValueError` for a cursor that was never returned."""
    begin = 0
    if cursor is not None:
        begin = int(cursor) if isinstance(cursor, str) and cursor.isdecimal() and len(cursor) < MOST_DIGITS else 0
        if size is None or not 0 < begin < len(definitions) or begin % size:
            raise ValueError("Invalid cursor")
    end = len(definitions) if size is None else begin + size
    shown: Record = {name: definitions[begin:end]}
    return {**shown, "nextCursor": str(end)} if end < len(definitions) else shown
