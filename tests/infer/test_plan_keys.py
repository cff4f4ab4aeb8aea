"""Plans: states of records, and keys that callers choose."""

from __future__ import annotations

import pytest
from support.declared import STRING, domain, obj, tool


def test_a_state_may_be_what_arguments_of_other_tools_say_and_begins_with_the_first() -> None:
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


def test_where_no_schema_tells_of_records_a_tool_that_closes_them_tells_of_their_state() -> None:
    found = domain(
        tool("add_ticket", {"text": STRING}, "text"),
        tool("close_ticket", {"ticket_id": STRING}, "ticket_id"),
        tool("list_tickets", {}),
    )
    assert found.entities["ticket"].fields["status"].schema["enum"] == ["open", "closed"]
    assert found.plans["close_ticket"].fixed == {"status": "closed"}


def test_a_switch_that_says_it_is_done_needs_no_state_beside_it() -> None:
    found = domain(
        tool("add_todo", {"text": STRING}, "text"),
        tool("update_todo", {"todo_id": STRING, "completed": {"type": "boolean"}}, "todo_id"),
        tool("complete_todo", {"todo_id": STRING}, "todo_id"),
    )
    assert "status" not in found.entities["todo"].fields


@pytest.mark.parametrize(
    ("made", "asked", "key"),
    [
        ("branch_name", "branch_name", "branch_name"),
        ("name", "branch_name", "name"),
        ("branch_name", "name", "branch_name"),
        ("name", "branch", "name"),
    ],
)
def test_what_a_create_names_its_record_by_is_the_key(made: str, asked: str, key: str) -> None:
    found = domain(
        tool("create_branch", {"base": STRING, made: STRING}, "base", made),
        tool("delete_branch", {asked: STRING}, asked),
        tool("list_branches", {}),
    )
    assert (found.entities["branch"].key, found.entities["branch"].natural) == (key, True)
    assert found.plans["delete_branch"].key == asked


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("get_pull_request", ["workspaceSlug", "repoSlug", "prId"], "prId"),
        ("get_repository", ["workspaceSlug", "repoSlug"], "repoSlug"),
        ("remove_server_configuration", ["client", "server_name"], "server_name"),
        ("get_booking", ["booking_reference"], "booking_reference"),
    ],
)
def test_of_several_arguments_the_one_that_fits_the_noun_is_the_key(name: str, arguments: list[str], key: str) -> None:
    assert domain(tool(name, dict.fromkeys(arguments, STRING), *arguments)).plans[name].key == key
