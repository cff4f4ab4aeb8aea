"""Arguments that say how a write is done, or whether: overwrite, append, mode, draft, confirm; and flags of lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import given, services
from support.given import refused, service, value

Json = Any
FLAG: dict[str, Json] = {"type": "boolean"}
BODY: Json = {"name": "memo", "body": "One"}
STATE: Json = {"templates": [{"name": "memo", "body": "Old", "tags": ["a"], "status": "active"}]}
READ = given.tool("get_template", "name")


async def templates(folder: Path, tool: Json, arguments: Json) -> Json:
    """Call the tool, and return the template; None if the call is refused."""
    async with service(folder, STATE, tool, READ) as simulator, simulator.open("w") as world:
        if refused(await world.call(tool["name"], arguments)):
            return None
        return value(await world.call("get_template", {"name": "memo"}))


async def test_overwrite_replaces_an_existing_record_and_its_absence_refuses(tmp_path: Path) -> None:
    tool = given.tool("create_template", "name", "body", overwrite={**FLAG, "default": False})
    assert await templates(tmp_path, tool, BODY) is None
    assert await templates(tmp_path, tool, {**BODY, "overwrite": False}) is None
    found = await templates(tmp_path, tool, {**BODY, "overwrite": True})
    assert (found["body"], found.get("tags")) == ("One", None) or found["tags"] != ["a"]
    assert "overwrite" not in found


async def test_append_adds_to_texts_and_lists(tmp_path: Path) -> None:
    lists = {"type": "array", "items": given.STRING}
    tool = given.tool("update_template", "name", body=given.STRING, tags=lists, append=FLAG)
    change = {"name": "memo", "body": "New", "tags": ["b"]}
    found = await templates(tmp_path, tool, {**change, "append": True})
    assert (found["body"], found["tags"]) == ("Old\nNew", ["a", "b"])
    found = await templates(tmp_path, tool, {**change, "append": False})
    assert (found["body"], found["tags"]) == ("New", ["b"])


@pytest.mark.parametrize(
    ("mode", "body"), [("append", "Old\nOne"), ("overwrite", "One"), ("merge", "One"), ("create", None)]
)
async def test_a_mode_says_what_happens_to_an_existing_record(tmp_path: Path, mode: str, body: str | None) -> None:
    modes = {"type": "string", "enum": ["create", "append", "overwrite", "merge"]}
    found = await templates(tmp_path, given.tool("save_template", "name", "body", mode=modes), {**BODY, "mode": mode})
    assert (None if found is None else found["body"]) == body


async def test_a_mode_with_other_values_is_a_field(tmp_path: Path) -> None:
    modes = {"type": "string", "enum": ["driving", "walking"]}
    tools = given.tool("create_route", "start", mode=modes), given.tool("list_routes")
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("create_route", {"start": "Oslo", "mode": "walking"}))["mode"] == "walking"


async def test_an_unconfirmed_deletion_does_nothing(tmp_path: Path) -> None:
    for flag, unconfirmed in ((FLAG, {"confirm": False}), ({**FLAG, "default": False}, {})):
        tool = given.tool("delete_template", "name", confirm=flag)
        async with service(tmp_path, STATE, tool, READ) as simulator, simulator.open("w") as world:
            failure = await world.call("delete_template", {"name": "memo", **unconfirmed})
            assert refused(failure)
            assert "confirm must be true" in str(failure.body)
            value(await world.call("get_template", {"name": "memo"}))
            value(await world.call("delete_template", {"name": "memo", "confirm": True}))
            assert refused(await world.call("get_template", {"name": "memo"}))


POSTS = """
tools:
  - name: create_post
    inputSchema:
      {type: object, properties: {title: {type: string}, draft: {type: boolean}}, required: [title]}
entities: {post: {fields: {title: {type: string}, status: {type: string, enum: [draft, published]}}}}
"""


async def test_a_draft_is_created_in_its_state(tmp_path: Path) -> None:
    async with services.service(tmp_path, POSTS, "records: {post: 0}") as simulator, simulator.open("w") as world:
        assert value(await world.call("create_post", {"title": "Later", "draft": True}))["status"] == "draft"
        assert value(await world.call("create_post", {"title": "Now", "draft": False}))["status"] == "published"


@pytest.mark.parametrize("name", ["unread", "unread_only", "only_unread"])
async def test_unread_lists_what_is_not_read(tmp_path: Path, name: str) -> None:
    state = {"letters": [{"id": 1, "to": "Ada", "is_read": True}, {"id": 2, "to": "Bo", "is_read": False}]}
    flags: dict[str, Json] = {name: FLAG}
    tool = given.tool("list_letters", about="List letters.", **flags)
    async with service(tmp_path, state, tool) as sim, sim.open("w") as world:
        assert [one["id"] for one in value(await world.call("list_letters", {name: True}))] == [2]
        assert len(value(await world.call("list_letters", {}))) == 2


async def test_an_optional_mode_has_its_first_value(tmp_path: Path) -> None:
    modes = {"type": "string", "enum": ["overwrite", "append"]}
    tools = given.tool("write_file", "path", "content", mode=modes), given.tool("read_file", "path")
    async with service(tmp_path, {"files": {"a.txt": "one"}}, *tools) as simulator, simulator.open("w") as world:
        for mode, content in (({}, "two"), ({"mode": "append"}, "twotwo")):
            value(await world.call("write_file", {"path": "a.txt", "content": "two", **mode}))
            assert value(await world.call("read_file", {"path": "a.txt"})) == content


async def test_a_key_may_be_protected_from_being_overwritten(tmp_path: Path) -> None:
    tools = given.tool("set", "key", "value", overwrite=FLAG), given.tool("get", "key"), given.tool("delete", "key")
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        value(await world.call("set", {"key": "a", "value": "1"}))
        assert refused(await world.call("set", {"key": "a", "value": "2", "overwrite": False}))
        value(await world.call("set", {"key": "a", "value": "3", "overwrite": True}))
        assert value(await world.call("get", {"key": "a"})) == "3"
