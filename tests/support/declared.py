"""Short forms of tools and schemas for tests of plans, and the domain that they define."""

from __future__ import annotations

from typing import Any

from support.strategies import scenario_of

from mcp_sim.types.domain import Domain

Json = Any
STRING: dict[str, Json] = {"type": "string"}
INTEGER: dict[str, Json] = {"type": "integer"}
DATE_TIME: dict[str, Json] = {"type": "string", "format": "date-time"}


def tool(name: str, arguments: Json = None, *required: str, output: Json = None, **more: Json) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": arguments or {}, "required": list(required)}
    return {"name": name, "inputSchema": schema, **more} | ({"outputSchema": output} if output else {})


def obj(**parts: Json) -> dict[str, Json]:
    return {"type": "object", "properties": parts, "required": [*parts]}


def domain(*tools: dict[str, Json]) -> Domain:
    return scenario_of([*tools]).domain
