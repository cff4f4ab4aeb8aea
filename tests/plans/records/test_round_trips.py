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
    about = name.replace("_", " ") + " as JSON" * (result == {"outputSchema": WRAPPER})
    return {"name": name, "description": about, "inputSchema": schema, **result}


def data(answer: Json) -> Json:
    shown = value(answer)
    if [*shown] == ["result"]:
        return json.loads(shown["result"])
    return shown


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
        assert "not found" in (await world.call(f"get_{noun}", mine)).text


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


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("purchase_cargo", {"cargo_id": "s-1", "units": "3"}),
        ("make_offer", {"id": "d-1", "note": "Half of it"}),
        ("post_position", {"id": "t-1", "position": "4"}),
        ("save_draft", {"name": "n", "text": "T"}),
    ],
)
async def test_what_only_perhaps_creates_a_record_does_not_conflict_with_it(
    tmp_path: Path, name: str, arguments: dict[str, str]
) -> None:
    given = [tool(name, {}, **dict.fromkeys(arguments, TEXT)), tool("list_ships", {})]
    async with service(tmp_path, f"tools: {json.dumps(given)}", "") as sim, sim.open() as world:
        for _ in range(2):
            assert (await world.call(name, arguments)).ok


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


async def test_no_computed_success_has_the_status_of_a_failure(tmp_path: Path) -> None:
    tools = [tool("transfer", {}, source=TEXT, amount={"type": "number"}), tool("get_note", {}, note_id=TEXT)]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "records: {note: 1}") as sim, sim.open() as world:
        answers = [data(await world.call("transfer", {"source": "a", "amount": at})) for at in range(1, 40)]
        assert {answer["status"] for answer in answers} == {"succeeded", "pending"}


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", ["get_next_chore", "get_current_chore"])
async def test_that_nothing_is_left_is_no_failure(tmp_path: Path, name: str, result: dict[str, Json]) -> None:
    tools = [tool("add_chore", result, title=TEXT), tool(name, result), tool("complete_chore", result, chore_id=TEXT)]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "records: {chore: 0}") as sim, sim.open() as world:
        assert data(await world.call(name, {})) == {"chore": None, "message": "No chore is left"}
        await world.call("add_chore", {"title": "Sweep"})
        assert data(await world.call(name, {}))["title"] == "Sweep"


@pytest.mark.parametrize(
    ("verb", "noun"), [("book", "booking"), ("reserve", "reservation"), ("schedule", "scheduling"), ("buy", "buying")]
)
async def test_an_act_makes_the_record_that_is_named_after_it(tmp_path: Path, verb: str, noun: str) -> None:
    tools = [
        tool("create_room", {}, name=TEXT),
        tool(f"{verb}_room", {}, room=TEXT, day=TEXT),
        tool(f"get_{noun}", {}, **{f"{noun}_id": TEXT}),
        tool(f"cancel_{noun}", {}, **{f"{noun}_id": TEXT}),
    ]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "") as sim, sim.open() as world:
        assert "id" not in value(await world.call("create_room", {"name": "Fjord"}))
        assert "already exists" in message(await world.call("create_room", {"name": "Fjord"}))
        made = value(await world.call(f"{verb}_room", {"room": "Fjord", "day": "Monday"}))
        mine = {f"{noun}_id": made[f"{noun}_id"]}
        assert value(await world.call(f"get_{noun}", mine)).items() >= {"room": "Fjord", "day": "Monday"}.items()
        assert value(await world.call(f"cancel_{noun}", mine))["status"] == "cancelled"
        assert value(await world.call(f"get_{noun}", mine))["status"] == "cancelled"
        assert not (await world.call(f"get_{noun}", {f"{noun}_id": f"{made[f'{noun}_id']}9"})).ok


async def test_an_id_that_a_create_issued_is_needed_and_named_as_other_tools_take_it(tmp_path: Path) -> None:
    tools = [
        tool("start_attempt", {}, player=TEXT),
        tool("submit_answer", {}, attempt_id=TEXT, choice=TEXT),
        tool("add_todo", {}, title=TEXT),
        tool("list_todos", {}),
        tool("add_reminder", {}, todo_id=TEXT, text=TEXT),
        tool("list_reminders", {}),
    ]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "") as sim, sim.open() as world:
        attempt = value(await world.call("start_attempt", {"player": "Ada"}))
        answer = {"attempt_id": attempt["attempt_id"], "choice": "b"}
        assert value(await world.call("submit_answer", answer)).items() >= answer.items()
        todo = value(await world.call("add_todo", {"title": "Sweep"}))["todo_id"]
        assert value(await world.call("add_reminder", {"todo_id": todo, "text": "Now"}))["todo_id"] == todo
        assert "not found" in message(await world.call("add_reminder", {"todo_id": "unknown", "text": "Now"}))


async def test_what_is_done_is_hidden_unless_it_is_asked_for(tmp_path: Path) -> None:
    flag = {"include_done": {"type": "boolean", "default": False}}
    hiding = {"name": "list_todos", "description": "", "inputSchema": {"type": "object", "properties": flag}}
    tools = [tool("add_todo", {}, title=TEXT), tool("complete_todo", {}, todo_id=TEXT), hiding]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "state: {}") as sim, sim.open() as world:
        ids = [value(await world.call("add_todo", {"title": name}))["todo_id"] for name in ("Sweep", "Mop")]
        await world.call("complete_todo", {"todo_id": ids[0]})
        assert [row["title"] for row in value(await world.call("list_todos"))["todos"]] == ["Mop"]
        assert len(value(await world.call("list_todos", {"include_done": True}))["todos"]) == 2


async def test_what_is_written_again_replaces_what_was_there(tmp_path: Path) -> None:
    tools = [tool("write_page", {}, name=TEXT, text=TEXT), tool("read_page", {}, name=TEXT)]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "") as sim, sim.open() as world:
        for text in ("First", "Second"):
            assert (await world.call("write_page", {"name": "plan", "text": text})).ok
        assert value(await world.call("read_page", {"name": "plan"}))["text"] == "Second"


async def test_ids_have_the_type_that_tools_take(tmp_path: Path) -> None:
    about = 'Show a task. Returns {"task": {"id": "...", "title": "..."}}'
    tools = [tool("add_task", {}, title=TEXT), {**tool("show_task", {}, id={"type": "integer"}), "description": about}]
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "") as sim, sim.open() as world:
        made = value(await world.call("add_task", {"title": "Sweep"}))
        assert value(await world.call("show_task", {"id": made["id"]}))["task"]["title"] == "Sweep"
