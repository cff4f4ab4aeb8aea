"""Arguments that say how a write is done, or whether: overwrite, append, mode, confirm; and flags of lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import given
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


@pytest.mark.parametrize(
    ("mode", "body"), [("append", "Old\nOne"), ("overwrite", "One"), ("merge", "One"), ("create", None)]
)
async def test_a_mode_says_what_happens_to_an_existing_record(tmp_path: Path, mode: str, body: str | None) -> None:
    modes = {"type": "string", "enum": ["create", "append", "overwrite", "merge"]}
    found = await templates(tmp_path, given.tool("save_template", "name", "body", mode=modes), {**BODY, "mode": mode})
    assert (None if found is None else found["body"]) == body


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
