"""Tools that write several records at once, and what happens to the items that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.services import Json, message, service, value

TASKS = """
tools:
  - name: create_tasks
    inputSchema:
      type: object
      properties:
        project_id: {type: string}
        tasks:
          type: array
          items: {type: object, properties: {title: {type: string}, priority: {type: integer}}, required: [title]}
      required: [project_id, tasks]
  - name: get_task
    inputSchema: {type: object, properties: {task_id: {type: string}}, required: [task_id]}
  - name: close_tasks
    inputSchema: {type: object, properties: {task_ids: {type: array, items: {type: string}}}, required: [task_ids]}
  - name: delete_tasks
    inputSchema: {type: object, properties: {task_ids: {type: array, items: {type: string}}}, required: [task_ids]}
  - name: list_tasks
    inputSchema: {type: object, properties: {project_id: {type: string}}}
entities:
  project: {key_like: p-1, fields: {name: {type: string}}}
  task:
    key_like: t-1
    fields:
      title: {type: string}
      priority: {type: integer}
      status: {type: string, enum: [open, closed]}
      project_id: {link: project}
    required: [title, status]
sim:
  create_tasks:
    {verb: create, entity: task, each: tasks,
     sets: {tasks.title: title, tasks.priority: priority, project_id: project_id}}
  close_tasks: {verb: update, entity: task, each: task_ids, key: task_ids, fixed: {status: closed}, sets: {}}
  delete_tasks: {verb: delete, entity: task, each: task_ids, key: task_ids}
  list_tasks: {verb: list, entity: task, filters: {project_id: project_id}}
"""
WORLD = """
records:
  project: {count: 1, rows: [{id: p-1, name: Office}]}
  task: {count: 1, rows: [{id: t-1, title: Paint the door, status: closed, project_id: p-1}]}
"""


async def test_each_item_of_a_batch_becomes_a_record_with_the_shared_values(tmp_path: Path) -> None:
    async with service(tmp_path, TASKS, WORLD) as sim, sim.open() as world:
        asked = {"project_id": "p-1", "tasks": [{"title": "Buy oil", "priority": 2}, {"title": "Call Bo"}]}
        made = value(await world.call("create_tasks", asked))["tasks"]
        assert [(task["id"], task["title"], task["project_id"]) for task in made] == [
            ("t-2", "Buy oil", "p-1"),
            ("t-3", "Call Bo", "p-1"),
        ]
        assert value(await world.call("get_task", {"task_id": "t-2"})) == made[0]
        assert value(await world.call("list_tasks", {"project_id": "p-1"}))["count"] == 3
        step = [line["step"] for line in world.ledger][1]
        assert [(change["key"], change["part"]) for change in step["committed"]] == [("t-2", 0), ("t-3", 1)]


async def test_failed_items_of_a_batch_are_reported_and_the_others_are_written(tmp_path: Path) -> None:
    async with service(tmp_path, TASKS, WORLD) as sim, sim.open() as world:
        await world.call("create_tasks", {"project_id": "p-1", "tasks": [{"title": "Buy oil"}]})
        result = value(await world.call("close_tasks", {"task_ids": ["t-1", "t-2", "t-9"]}))
        assert [task["id"] for task in result["tasks"]] == ["t-2"]
        assert [(row["index"], row["id"]) for row in result["errors"]] == [(0, "t-1"), (2, "t-9")]
        assert "already closed" in result["errors"][0]["error"]
        assert "t-9 not found" in result["errors"][1]["error"]
        assert value(await world.call("get_task", {"task_id": "t-2"}))["status"] == "closed"
        assert value(await world.call("delete_tasks", {"task_ids": ["t-1", "t-1"]})) == {
            "deleted": ["t-1"],
            "errors": [{"index": 1, "id": "t-1", "error": "Task t-1 not found"}],
        }


async def test_a_batch_with_only_failures_fails_and_an_empty_one_does_nothing(tmp_path: Path) -> None:
    async with service(tmp_path, TASKS, WORLD) as sim, sim.open() as world:
        assert "t-8" in message(await world.call("delete_tasks", {"task_ids": ["t-8"]}))
        both = message(await world.call("delete_tasks", {"task_ids": ["t-8", "t-9"]}))
        assert "item 1" in both
        assert "t-9" in both
        assert value(await world.call("delete_tasks", {"task_ids": []})) == {"deleted": []}
        asked = {"project_id": "p-7", "tasks": [{"title": "Buy oil"}]}
        assert "p-7" in message(await world.call("create_tasks", asked))
        assert value(await world.call("list_tasks", {}))["count"] == 1


RESULT = "outputSchema: {type: object, properties: {PROPERTIES}}"
ROWS = """results: {type: array, items: {type: object, required: [id, success], properties: {id: {type: string},
  success: {type: boolean}, error: {type: [string, 'null']}}}}"""
COUNTS = "deleted_count: {type: integer}, failed: {type: array, items: {type: string}}"
NO_INTERACTION = "deleted: {type: array, items: {type: string}}"


@pytest.mark.parametrize(
    ("properties", "result"),
    [
        (ROWS, {"results": [{"id": "t-1", "success": True},
                            {"id": "t-9", "success": False, "error": "Task t-9 not found"}]}),
        (COUNTS, {"deleted_count": 1, "failed": ["Task t-9 not found"]}),
        (COUNTS.replace("string", "integer"), {"deleted_count": 1, "failed": [1]}),
        (NO_INTERACTION, None),
    ],
)  # fmt: skip
async def test_the_output_schema_decides_how_failures_are_reported_or_whether_all_is_refused(
    tmp_path: Path, properties: str, result: Json
) -> None:
    output = RESULT.replace("PROPERTIES", " ".join(properties.split()))
    spec = TASKS.replace("  - name: delete_tasks\n", f"  - name: delete_tasks\n    {output}\n")
    async with service(tmp_path, spec, WORLD) as sim, sim.open() as world:
        answer = await world.call("delete_tasks", {"task_ids": ["t-1", "t-9"]})
        if result is None:
            assert "nothing was written" in message(answer)
            assert world.view.count("task") == 1
        else:
            assert value(answer) == result
            assert world.view.count("task") == 0
        none_left = await world.call("delete_tasks", {"task_ids": ["t-9"]})
        if result is None:
            assert "t-9" in message(none_left)
        else:
            rows = [row for row in result.get("results", ()) if row["id"] == "t-9"]
            failed = [0 if item == 1 else item for item in result.get("failed", ())]  # the index is now the first
            assert value(none_left) == ({"results": rows} if rows else {"deleted_count": 0, "failed": failed})


async def test_a_fault_writes_part_of_a_batch_and_reports_it(tmp_path: Path) -> None:
    ending = """
    perturbations:
      - partial_batch: {items: [2]}
    """
    async with service(tmp_path, TASKS, WORLD, ending=ending) as sim, sim.open() as world:
        asked = {"project_id": "p-1", "tasks": [{"title": "Buy oil"}, {"title": "Call Bo"}]}
        result = value(await world.call("create_tasks", asked))["tasks"]
        assert result[1] == {"item": 2, "error": "could not be processed"}
        assert [row["title"] for _, row in world.view.rows("task")] == ["Paint the door", "Buy oil"]
