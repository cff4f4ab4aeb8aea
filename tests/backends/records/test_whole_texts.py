"""Tools that answer with the text of a record alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import message, service, value

Json = Any
STRING = {"type": "string"}


def tool(name: str, description: str, *arguments: str, output: Json = None) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(arguments, STRING), "required": [*arguments]}
    declared = {} if output is None else {"outputSchema": output}
    return {"name": name, "description": description, "inputSchema": schema, **declared}


def wiki(*more: Json) -> str:
    made = tool("create_page", "Create a page", "title", "content")
    return f"tools: {json.dumps([made, tool('list_pages', 'List all pages'), *more])}\n"


WRAPPED = {"type": "object", "properties": {"result": STRING}, "required": ["result"]}


@pytest.mark.parametrize("output", [None, WRAPPED])
async def test_what_is_read_of_a_page_is_its_text(tmp_path: Path, output: Json) -> None:
    tools = wiki(tool("read_page", "Read the content of a page", "title", output=output))
    async with service(tmp_path, tools, "records: {}") as sim, sim.open() as world:
        value(await world.call("create_page", {"title": "Home", "content": "Welcome.\nCome in."}))
        read = value(await world.call("read_page", {"title": "Home"}))
        assert read == ("Welcome.\nCome in." if output is None else {"result": "Welcome.\nCome in."})
        assert "Away" in message(await world.call("read_page", {"title": "Away"}))


async def test_a_tool_that_promises_more_than_the_text_tells_the_record(tmp_path: Path) -> None:
    tools = wiki(tool("read_page", "Read a page with its content and metadata, as JSON", "title"))
    async with service(tmp_path, tools, "records: {}") as sim, sim.open() as world:
        value(await world.call("create_page", {"title": "Home", "content": "Welcome."}))
        assert value(await world.call("read_page", {"title": "Home"}))["title"] == "Home"
