"""Keys of entities: names that callers choose, described ids, id types, and the states of records."""

from __future__ import annotations

import pytest
from support.declared import STRING, domain, obj, tool


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


@pytest.mark.parametrize("argument", ["task_id", "task_ids", "taskIds"])
def test_a_list_filtered_by_its_own_ids_compares_keys(argument: str) -> None:
    ids = {"type": "array", "items": STRING} if argument.endswith("s") else STRING
    found = domain(
        tool("create_task", {"title": STRING}, "title"),
        tool("search_tasks", {"query": STRING, argument: ids}),
    )
    assert found.plans["search_tasks"].filters[argument].field == found.entities["task"].key
    assert found.entities["task"].fields.keys() & {"task_id"} <= {found.entities["task"].key}


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
