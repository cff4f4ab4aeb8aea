"""Records identified by required arguments instead of a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.services import service, value

Json = Any
TEXT = {"type": "string"}


def tool(name: str, *needed: str, about: str = "", output: Json = None, **more: Json) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(needed, TEXT) | more, "required": [*needed]}
    shown = {"outputSchema": output} if output else {}
    return {"name": name, "description": about, "inputSchema": schema} | shown


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}"


async def test_a_single_delete_identifies_a_record_by_all_required_arguments(tmp_path: Path) -> None:
    web = spec(
        tool("add_edge", "source", "target", "kind"),
        tool("remove_edge", "source", "target", "kind"),
        tool("list_edges"),
    )
    async with service(tmp_path, web, "records: {edge: 0}") as sim, sim.open() as world:
        one, other = {"source": "a", "target": "b", "kind": "x"}, {"source": "a", "target": "b", "kind": "y"}
        for edge in (one, other):
            value(await world.call("add_edge", edge))
        value(await world.call("remove_edge", one))
        (left,) = value(await world.call("list_edges", {}))["edges"]
        assert left["kind"] == "y"
        assert not (await world.call("remove_edge", one)).ok


async def test_append_adds_text_at_the_end(tmp_path: Path) -> None:
    made = {"type": "object", "properties": {"slug": TEXT, "message": TEXT}, "required": ["slug", "message"]}
    read = {"type": "object", "properties": {"slug": TEXT, "body": TEXT}, "required": ["slug", "body"]}
    diary = spec(
        tool("create_page", "slug", "body", output=made),
        tool("append_to_page", "slug", "body", output=made),
        tool("read_page", "slug", output=read),
    )
    async with service(tmp_path, diary, "records: {page: 0}") as sim, sim.open() as world:
        assert "message" not in world.scenario.domain.entities["page"].fields
        value(await world.call("create_page", {"slug": "may", "body": "Sun"}))
        value(await world.call("append_to_page", {"slug": "may", "body": "Rain"}))
        assert value(await world.call("read_page", {"slug": "may"})) == {"slug": "may", "body": "Sun\nRain"}
