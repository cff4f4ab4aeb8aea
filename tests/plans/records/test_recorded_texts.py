"""Results in words: one recorded text is the template of all others."""

from __future__ import annotations

from pathlib import Path

from support.services import message, service, value

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
EXAMPLES = """
examples:
  - {tool: create_task, arguments: {title: Buy milk}, result: "Task task-1 created: 'Buy milk'"}
  - tool: get_task
    arguments: {task_id: task-1}
    result: |-
      Task task-1
      Title: Buy milk
      Status: open
  - {tool: get_task, arguments: {task_id: task-77}, result: "Error: there is no task task-77; it was not found"}
  - {tool: complete_task, arguments: {task_id: task-1}, result: "Marked task-1 (Buy milk) as done"}
  - tool: list_tasks
    result: |-
      Found 2 tasks:
      1. [open] Buy milk (ID: task-1)
      2. [completed] Call Bob (ID: task-2)
  - {tool: list_tasks, arguments: {status: completed}, result: "Nothing is completed."}
"""
WORLD = """
records:
  task: {count: 1, rows: [{id: task-1, title: Paint the door, priority: low, status: open}]}
"""


async def test_one_recorded_text_per_tool_is_the_template_of_all_others(tmp_path: Path) -> None:
    async with service(tmp_path, TOOLS + EXAMPLES, WORLD) as sim, sim.open() as world:
        made = await world.call("create_task", {"title": "Water the plants", "priority": "high"})
        assert value(made) == "Task task-2 created: 'Water the plants'"
        assert value(await world.call("get_task", {"task_id": "task-2"})) == (
            "Task task-2\nTitle: Water the plants\nStatus: open"
        )
        assert (
            value(await world.call("complete_task", {"task_id": "task-1"})) == "Marked task-1 (Paint the door) as done"
        )
        assert value(await world.call("list_tasks", {})) == (
            "Found 2 tasks:\n1. [completed] Paint the door (ID: task-1)\n2. [open] Water the plants (ID: task-2)"
        )


async def test_one_row_is_singular_and_an_empty_list_reads_as_recorded(tmp_path: Path) -> None:
    async with service(tmp_path, TOOLS + EXAMPLES, WORLD) as sim, sim.open() as world:
        one = value(await world.call("list_tasks", {}))
        assert one.startswith("Found 1 task:\n1. [open] Paint the door (ID: task-1)")
        assert value(await world.call("list_tasks", {"status": "completed"})) == "Nothing is completed."


async def test_a_recorded_failure_is_the_template_of_others(tmp_path: Path) -> None:
    async with service(tmp_path, TOOLS + EXAMPLES, WORLD) as sim, sim.open() as world:
        text = message(await world.call("get_task", {"task_id": "task-5"}))
        assert text == "Error: there is no task task-5; it was not found"


async def test_a_wrapped_text_has_all_fields(tmp_path: Path) -> None:
    output = "outputSchema: {type: object, properties: {result: {type: string}}, required: [result]}"
    spec = "text: prose" + TOOLS.replace("    inputSchema", f"    {output}\n    inputSchema")
    async with service(tmp_path, spec, WORLD) as sim, sim.open() as world:
        made = value(await world.call("create_task", {"title": "Water the plants"}))["result"]
        assert made == "Task task-2 created successfully: Water the plants"
        assert "Title: Water the plants" in value(await world.call("get_task", {"task_id": "task-2"}))["result"]
        listed = value(await world.call("list_tasks", {"status": "open"}))["result"]
        assert listed.startswith("Found 2 tasks:\n- task-1: Paint the door (")
        assert value(await world.call("delete_task", {"task_id": "task-2"})) == {"result": "Task task-2 deleted"}
        assert value(await world.call("list_tasks", {"status": "completed"})) == {"result": "No tasks found"}
