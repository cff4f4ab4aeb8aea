"""Keys of entities: names that callers choose, described ids, id types, and the states of records."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.declared import INTEGER, STRING, Json, domain, obj, tool
from support.given import service, value
from support.given import tool as given_tool

from mcp_sim import Simulator


def test_choices_of_other_tools_are_states_and_a_new_record_gets_the_initial_one() -> None:
    states = ["done", "in_progress", "pending"]
    found = domain(
        tool("create_task", {"title": STRING}, "title"),
        tool("list_tasks", {"status": {"type": "string", "enum": [*states, "all"]}}),
        tool("complete_task", {"task_id": STRING}, "task_id"),
        tool("get_task", {"task_id": STRING}, "task_id", output=obj(id=STRING, title=STRING, status=STRING)),
    )
    schema = found.entities["task"].fields["status"].schema
    assert (schema["enum"], schema["default"]) == (states, "pending")
    assert found.plans["complete_task"].fixed == {"status": "done"}


def test_a_verb_implies_a_state_if_no_schema_shows_the_records() -> None:
    found = domain(
        tool("add_ticket", {"text": STRING}, "text"),
        tool("close_ticket", {"ticket_id": STRING}, "ticket_id"),
        tool("list_tickets", {}),
    )
    assert found.entities["ticket"].fields["status"].schema["enum"] == ["open", "closed"]
    assert found.plans["close_ticket"].fixed == {"status": "closed"}


def test_a_completed_flag_replaces_a_state() -> None:
    found = domain(
        tool("add_todo", {"text": STRING}, "text"),
        tool("update_todo", {"todo_id": STRING, "completed": {"type": "boolean"}}, "todo_id"),
        tool("complete_todo", {"todo_id": STRING}, "todo_id"),
    )
    assert "status" not in found.entities["todo"].fields


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("get_pull_request", ["workspaceSlug", "repoSlug", "prId"], "prId"),
        ("get_repository", ["workspaceSlug", "repoSlug"], "repoSlug"),
        ("remove_server_configuration", ["client", "server_name"], "server_name"),
        ("get_booking", ["booking_reference"], "booking_reference"),
    ],
)
def test_the_argument_that_fits_the_noun_is_the_key(name: str, arguments: list[str], key: str) -> None:
    assert domain(tool(name, dict.fromkeys(arguments, STRING), *arguments)).plans[name].key == key


OF_TASK: dict[str, Json] = {"type": "string", "description": "The ID of the task or subtask (e.g., 1 or 1.1)."}
SERVICE = [
    tool("add_task", {"title": STRING}, "title"),
    tool("list_tasks", {}),
    tool("add_subtask", {"parent_id": STRING, "title": STRING}, "parent_id", "title"),
    tool("update_status", {"id": OF_TASK, "new_status": {"enum": ["todo", "done"]}}, "id", "new_status"),
    tool("get_context", {"id": OF_TASK}, "id"),
]


def test_the_noun_of_the_name_wins_if_the_id_description_has_it() -> None:
    of_comment = {"type": "string", "description": "The ID of the comment of the task"}
    plans = domain(*SERVICE, tool("get_comment", {"id": of_comment}, "id")).plans
    assert plans["get_comment"].entity == "comment"


def test_the_parent_of_a_subtask_is_a_task() -> None:
    assert domain(*SERVICE).entities["subtask"].fields["parent_id"].link == "task"
    tree = domain(tool("create_folder", {"parent_id": INTEGER}, output=obj(id=INTEGER, name=STRING)))
    assert tree.entities["folder"].fields["parent_id"].link == "folder"


async def test_undeclared_ids_have_the_type_of_other_ids(tmp_path: Path) -> None:
    tools = (
        given_tool("add_buoy", "colour"),
        given_tool("get_buoy", "buoy_id", buoy_id=INTEGER),
        given_tool("add_sighting", "spot"),
        given_tool("list_sightings"),
    )
    async with service(tmp_path, {"buoys": [], "sightings": []}, *tools) as simulator, simulator.open("w") as world:
        for spot in ("north", "south"):
            await world.call("add_sighting", {"spot": spot})
        assert [one["id"] for one in value(await world.call("list_sightings", {}))] == [1, 2]


async def test_a_declared_entity_without_a_key_has_that_of_given_records(tmp_path: Path) -> None:
    spec = {
        "mcp_sim": 1,
        "tools": [
            tool("add_task", {"title": STRING}, "title"),
            tool("get_task", {"task_id": STRING}, "task_id"),
        ],
        "entities": {"task": {"key_like": "T-1", "fields": {"title": STRING}}},
    }
    scenario = {
        "mcp_sim": 1,
        "tools": "desk.yaml",
        "world": {"state": {"tasks": [{"task_id": "T-5", "title": "Milk"}]}},
    }
    (tmp_path / "desk.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    async with Simulator.load(tmp_path / "run.yaml").open() as world:
        assert value(await world.call("get_task", {"task_id": "T-5"}))["title"] == "Milk"


async def test_an_argument_named_like_the_key_is_the_key_of_a_new_record(tmp_path: Path) -> None:
    tools = (
        given_tool("create_bottle", "bottle_id", "name", bottle_id=INTEGER),
        {**given_tool("get_bottle", "name"), "outputSchema": obj(name=STRING, colour=STRING)},
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = value(await world.call("create_bottle", {"bottle_id": 7, "name": "tall"}))
        assert (made["bottle_id"], made["name"]) == (7, "tall")
        assert value(await world.call("get_bottle", {"name": "tall"}))["name"] == "tall"
