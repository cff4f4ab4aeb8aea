"""Services that take whole records by one tool, and make them there where they have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.services import message, service, value

PROMPTS = """
tools:
  - name: list_prompts
    inputSchema:
      type: object
      properties: {command: {type: string, description: Optional filter text to show only matching prompts}}
  - name: update_prompt
    inputSchema:
      type: object
      properties: {id: {type: string}, name: {type: string}, category: {type: string}, template: {type: string}}
      required: [id, name, category, template]
  - name: delete_prompt
    inputSchema: {type: object, properties: {id: {type: string}}, required: [id]}
  - name: modify_prompt
    inputSchema: {type: object, properties: {id: {type: string}, template: {type: string}}, required: [id]}
"""
WHOLE: dict[str, Any] = {"id": "greeting", "name": "Greet", "category": "talk", "template": "Hello"}


async def test_what_is_given_whole_and_removed_is_made_where_nothing_else_makes_it(tmp_path: Path) -> None:
    async with service(tmp_path, PROMPTS, "records: {prompt: 0}\n") as sim, sim.open() as world:
        assert "not found" in message(await world.call("modify_prompt", {"id": "greeting", "template": "Hi"}))
        await world.call("update_prompt", WHOLE)
        await world.call("update_prompt", {**WHOLE, "template": "Good day"})
        assert [one["template"] for one in value(await world.call("list_prompts", {}))["prompts"]] == ["Good day"]
        await world.call("delete_prompt", {"id": "greeting"})
        await world.call("update_prompt", WHOLE)
        assert world.view.count("prompt") == 1


@pytest.mark.parametrize(("text", "count"), [("greet", 1), ("nothing", 0)])
async def test_a_text_that_is_said_to_filter_is_searched_for(tmp_path: Path, text: str, count: int) -> None:
    async with service(tmp_path, PROMPTS, "records: {prompt: 0}\n") as sim, sim.open() as world:
        await world.call("update_prompt", WHOLE)
        assert len(value(await world.call("list_prompts", {"command": text}))["prompts"]) == count
