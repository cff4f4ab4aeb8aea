"""Results in words, of tools that answer in prose."""

from __future__ import annotations

from pathlib import Path

from support.services import service, value

TOOLS = """
tools:
  - name: create_task
    inputSchema:
      type: object
      properties: {title: {type: string}, priority: {type: string, enum: [low, high]}}
      required: [title]
  - name: get_task
    inputSchema: {type: object, properties: {task_id: {type: string}}, required: [task_id]}
  - name: complete_task
    inputSchema: {type: object, properties: {task_id: {type: string}}, required: [task_id]}
  - name: list_tasks
    inputSchema: {type: object, properties: {status: {type: string}}}
  - name: delete_task
    inputSchema: {type: object, properties: {task_id: {type: string}}, required: [task_id]}
entities:
  task:
    key_like: task-1
    fields:
      title: {type: string}
      priority: {type: string, enum: [low, high]}
      status: {type: string, enum: [open, completed]}
    required: [title, priority, status]
"""
WORLD = """
records:
  task: {count: 1, rows: [{id: task-1, title: Paint the door, priority: low, status: open}]}
"""


async def test_a_wrapped_text_has_all_fields(tmp_path: Path) -> None:
    output = "outputSchema: {type: object, properties: {result: {type: string}}, required: [result]}"
    spec = "text: prose" + TOOLS.replace("    inputSchema", f"    {output}\n    inputSchema")
    async with service(tmp_path, spec, WORLD) as sim, sim.open() as world:
        made = value(await world.call("create_task", {"title": "Water the plants"}))["result"]
        assert made.startswith("Task task-2 created successfully\nId: task-2\nTitle: Water the plants")
        assert "Title: Water the plants" in value(await world.call("get_task", {"task_id": "task-2"}))["result"]
        listed = value(await world.call("list_tasks", {"status": "open"}))["result"]
        assert "Found 2 tasks:\n- task-1: Paint the door | low | open" in listed
        assert value(await world.call("delete_task", {"task_id": "task-2"})) == {
            "result": "Task task-2 deleted successfully"
        }
        assert value(await world.call("list_tasks", {"status": "completed"})) == {"result": "No tasks found"}
