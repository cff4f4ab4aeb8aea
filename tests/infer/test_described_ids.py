"""What the description of a bare `id` tells: of which entity it is, and what ids look like."""

from __future__ import annotations

import pytest
from support.declared import INTEGER, STRING, Json, domain, obj, tool

OF_TASK: dict[str, Json] = {"type": "string", "description": "The ID of the task or subtask (e.g., 1 or 1.1)."}
SERVICE = [
    tool("add_task", {"title": STRING}, "title"),
    tool("list_tasks", {}),
    tool("add_subtask", {"parent_id": STRING, "title": STRING}, "parent_id", "title"),
    tool("update_status", {"id": OF_TASK, "new_status": {"enum": ["todo", "done"]}}, "id", "new_status"),
    tool("get_context", {"id": OF_TASK}, "id"),
]


def test_an_id_that_is_told_to_be_a_tasks_makes_the_tool_one_for_tasks() -> None:
    plans = domain(*SERVICE).plans
    found = {name: (plans[name].verb, plans[name].entity) for name in ("update_status", "get_context")}
    assert found == {"update_status": ("update", "task"), "get_context": ("get", "task")}
    assert plans["update_status"].sets == {"new_status": "status"}


def test_an_id_that_is_told_to_be_of_what_the_name_speaks_of_stays_so() -> None:
    of_comment = {"type": "string", "description": "The ID of the comment of the task"}
    plans = domain(*SERVICE, tool("get_comment", {"id": of_comment}, "id")).plans
    assert plans["get_comment"].entity == "comment"


@pytest.mark.parametrize(
    ("about", "like"),
    [("The ID of the task (e.g., 7 or 7.1)", "7"), ("e.g. TSK-0001", "TSK-0001"), ("e.g. 1.5", None),
     ("e.g. 2024-01-05", None)],
)  # fmt: skip
def test_ids_look_like_the_example_that_any_tool_gives(about: str, like: str | None) -> None:
    told: dict[str, Json] = {"type": "string", "description": about}
    found = domain(tool("get_task", {"id": STRING}, "id"), tool("delete_task", {"id": told}, "id"))
    assert found.entities["task"].key_like == (like or "task_00001")


def test_the_parent_of_a_subtask_is_a_task() -> None:
    assert domain(*SERVICE).entities["subtask"].fields["parent_id"].link == "task"
    tree = domain(tool("create_folder", {"parent_id": INTEGER}, output=obj(id=INTEGER, name=STRING)))
    assert tree.entities["folder"].fields["parent_id"].link == "folder"
