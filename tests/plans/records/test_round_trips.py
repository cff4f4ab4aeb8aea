"""What a call created, the next one can use: by whatever name tools ask for it, and with the parts that it had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import message, service, value

Json = Any
TEXT = {"type": "string"}
WRAPPER = {"type": "object", "properties": {"result": TEXT}, "required": ["result"]}
ANYTHING = {"type": "object", "additionalProperties": True}
RESULTS: list[dict[str, Json]] = [{}, {"outputSchema": WRAPPER}, {"outputSchema": ANYTHING}]


def tool(name: str, result: dict[str, Json], /, **arguments: Json) -> dict[str, Json]:
    schema = {"type": "object", "properties": arguments, "required": [*arguments]}
    return {"name": name, "description": name.replace("_", " "), "inputSchema": schema, **result}


def data(answer: Json) -> Json:
    shown = value(answer)
    return json.loads(shown["result"]) if [*shown] == ["result"] else shown


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("key", ["id", "{}_id", "{}Id"])
@pytest.mark.parametrize("noun", ["habit", "story", "recipe"])
async def test_a_create_shows_the_id_by_the_name_that_other_tools_ask_for(
    tmp_path: Path, noun: str, key: str, result: dict[str, Json]
) -> None:
    name = key.format(noun)
    asked = {name: TEXT}
    tools = [
        tool(f"create_{noun}", result, title=TEXT),
        tool(f"get_{noun}", result, **asked),
        tool(f"update_{noun}", result, **asked, title=TEXT),
        tool(f"delete_{noun}", result, **asked),
    ]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "state: {}") as sim, sim.open() as world:
        made = data(await world.call(f"create_{noun}", {"title": "First"}))
        mine = {name: made[name]}
        assert data(await world.call(f"get_{noun}", mine))["title"] == "First"
        assert data(await world.call(f"update_{noun}", {**mine, "title": "Second"}))["title"] == "Second"
        assert (await world.call(f"delete_{noun}", mine)).ok
        assert "not found" in message(await world.call(f"get_{noun}", mine))


@pytest.mark.parametrize(("parent", "child"), [("request", "task"), ("quiz", "question"), ("order", "line")])
async def test_the_parts_of_a_new_record_have_ids_of_their_own(tmp_path: Path, parent: str, child: str) -> None:
    parts = {"type": "array", "items": {"type": "object", "properties": {"title": TEXT}}}
    tools = [
        tool(f"create_{parent}", {}, subject=TEXT, **{f"{child}s": parts}),
        tool(f"add_{child}", {}, **{f"{parent}_id": TEXT}, title=TEXT),
        tool(f"list_{child}s", {}, **{f"{parent}_id": TEXT}),
        tool(f"remove_{child}", {}, **{f"{child}_id": TEXT}),
    ]
    given = f"records: {{{parent}: 0, {child}: 0}}"
    async with service(tmp_path, f"tools: {json.dumps(tools)}", given) as sim, sim.open() as world:
        asked = {"subject": "S", f"{child}s": [{"title": "A"}, {"title": "B"}]}
        made = value(await world.call(f"create_{parent}", asked))
        first, second = (part["id"] for part in made[f"{child}s"])
        assert (await world.call(f"remove_{child}", {f"{child}_id": first})).ok
        listed = value(await world.call(f"list_{child}s", {f"{parent}_id": made["id"]}))
        assert [(row["id"], row["title"]) for row in listed[f"{child}s"]] == [(second, "B")]


@pytest.mark.parametrize(
    ("more", "arguments"),
    [("note_add_tags", {"name": "n", "tags": "red"}), ("note_add_comment", {"name": "n", "comment": "Good"})],
)
async def test_what_is_added_to_a_record_does_not_conflict_with_it(
    tmp_path: Path, more: str, arguments: dict[str, str]
) -> None:
    tools = [
        tool("note_add", {}, name=TEXT, text=TEXT),
        tool("note_get", {}, name=TEXT),
        tool(more, {}, **dict.fromkeys(arguments, TEXT)),
    ]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "state: {}") as sim, sim.open() as world:
        assert (await world.call("note_add", {"name": "n", "text": "T"})).ok
        assert (await world.call(more, arguments)).ok
        assert value(await world.call("note_get", {"name": "n"}))["text"] == "T"
        assert "already exists" in message(await world.call("note_add", {"name": "n", "text": "T"}))


@pytest.mark.parametrize("state", ["state: {}", "state: {pots: [{id: 1, name: Fern}]}"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("get_session_info", {"session_id": "s-1"}), ("update_quest", {"quest_id": "q1", "title": "Find it"}),
     ("get_category_spending", {"month": "2026-11", "category": "food"}), ("start_engine", {"engine_id": "e"}),
     ("set_alarm", {"alarm_id": "a", "hour": "7"})],
)  # fmt: skip
async def test_what_this_world_cannot_know_is_never_missing(
    tmp_path: Path, name: str, arguments: dict[str, str], state: str
) -> None:
    given = [tool("list_pots", {}), tool(name, {}, **dict.fromkeys(arguments, TEXT))]
    async with service(tmp_path, f"tools: {json.dumps(given)}", state) as sim, sim.open() as world:
        assert (await world.call(name, arguments)).ok
        assert (await world.call(name, arguments)).ok


@pytest.mark.parametrize("name", ["set_timer", "put_timer", "save_timer", "timer_set"])
async def test_a_setter_creates_what_no_argument_names(tmp_path: Path, name: str) -> None:
    tools = [
        tool(name, {}, label=TEXT, seconds={"type": "integer"}),
        tool("list_timers", {}),
        tool("pause_timer", {}, timer_id=TEXT),
    ]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "records: {timer: 0}") as sim, sim.open() as world:
        made = value(await world.call(name, {"label": "Tea", "seconds": 180}))
        assert (await world.call("pause_timer", {"timer_id": made["timer_id"]})).ok
        [row] = value(await world.call("list_timers", {}))["timers"]
        assert (row["id"], row["label"], row["seconds"]) == (made["timer_id"], "Tea", 180)


@pytest.mark.parametrize("key", ["id", "plant_id"])
async def test_given_records_under_ids_are_listed_with_them(tmp_path: Path, key: str) -> None:
    tools = [tool("list_plants", {}), tool("water_plant", {}, **{key: TEXT})]
    state = "state: {plants: {p7f: {kind: Fern}, q2a: {kind: Moss}}}"
    async with service(tmp_path, f"tools: {json.dumps(tools)}", state) as sim, sim.open() as world:
        rows = value(await world.call("list_plants", {}))
        assert [row[key] for row in rows] == ["p7f", "q2a"]
        assert (await world.call("water_plant", {key: rows[1][key]})).ok


@pytest.mark.parametrize("name", ["error", "last_error", "error_message"])
async def test_no_success_contains_an_invented_failure(tmp_path: Path, name: str) -> None:
    parts = {"ok": {"type": "boolean"}, "text": TEXT, name: TEXT}
    shape = {"outputSchema": {"type": "object", "properties": parts, "required": [*parts]}}
    tools = [tool("get_note", shape, note_id=TEXT), tool("frobnicate", shape, knob=TEXT)]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "records: {note: 3}") as sim, sim.open() as world:
        for called, arguments in (("get_note", {"note_id": "note_00001"}), ("frobnicate", {"knob": "left"})):
            shown = value(await world.call(called, arguments))
            assert (shown["ok"], shown[name]) == (True, "")


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", ["get_next_chore", "get_current_chore"])
async def test_that_nothing_is_left_is_no_failure(tmp_path: Path, name: str, result: dict[str, Json]) -> None:
    tools = [tool("add_chore", result, title=TEXT), tool(name, result), tool("complete_chore", result, chore_id=TEXT)]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "records: {chore: 0}") as sim, sim.open() as world:
        assert data(await world.call(name, {})) == {"chore": None, "message": "No chore is left"}
        await world.call("add_chore", {"title": "Sweep"})
        assert data(await world.call(name, {}))["title"] == "Sweep"
