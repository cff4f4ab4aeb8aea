"""Records identified by required arguments instead of a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.services import message, service, value

from mcp_sim.simulator.compile import load

Json = Any
TEXT = {"type": "string"}


def tool(name: str, *needed: str, about: str = "", output: Json = None, **more: Json) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(needed, TEXT) | more, "required": [*needed]}
    shown = {"outputSchema": output} if output else {}
    return {"name": name, "description": about, "inputSchema": schema} | shown


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}"


async def test_arguments_that_all_tools_require_identify_the_record(tmp_path: Path) -> None:
    vault = spec(
        tool("write_leaf", "book", "leaf", "body"),
        tool("read_leaf", "book", "leaf"),
        tool("update_leaf", "book", "leaf", "body"),
        tool("delete_leaf", "book", "leaf"),
    )
    async with service(tmp_path, vault, "records: {leaf: 3}") as sim, sim.open() as world:
        for book in ("red", "blue"):
            value(await world.call("write_leaf", {"book": book, "leaf": "one", "body": f"{book}?"}))
        value(await world.call("update_leaf", {"book": "blue", "leaf": "one", "body": "blue!"}))
        bodies = [value(await world.call("read_leaf", {"book": b, "leaf": "one"}))["body"] for b in ("red", "blue")]
        assert bodies == ["red?", "blue!"]
        value(await world.call("delete_leaf", {"book": "red", "leaf": "one"}))
        assert not (await world.call("read_leaf", {"book": "red", "leaf": "one"})).ok
        assert (await world.call("read_leaf", {"book": "blue", "leaf": "one"})).ok
        assert "two" in message(await world.call("update_leaf", {"book": "blue", "leaf": "two", "body": "?"}))


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


def test_the_description_resolves_an_ambiguous_verb(tmp_path: Path) -> None:
    path = tmp_path / "desk.json"
    tools = [tool("open_case_details", "case_id", about="Gets the details of a case."), tool("list_cases")]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    plan = load(path).domain.plans["open_case_details"]
    assert (plan.verb, plan.entity, plan.key) == ("get", "case", "case_id")


def test_an_id_described_as_that_of_the_whole_names_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "desk.json"
    described: dict[str, Json] = {"id": {**TEXT, "description": "The id of the song to change"}}
    tools = [tool("get_song", "song_id"), tool("edit_song_verse", "verse", **described), tool("delete_song", "song_id")]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    plan = load(path).domain.plans["edit_song_verse"]
    assert (plan.verb, plan.entity, plan.key) == ("update", "song", "id")
