"""Given states: searched fields, fields of singletons, and the table of a create, by name and description."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, service, tool, value


async def test_a_password_is_stored_but_never_shown(tmp_path: Path) -> None:
    state: Json = {"sailors": [{"sailor_id": "S1", "name": "Ada", "password": "anchor"}]}
    tools = tool("get_sailor", "sailor_id"), tool("change_sailor_password", "sailor_id", "password")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("change_sailor_password", {"sailor_id": "S1", "password": "tide"})
        assert value(await world.call("get_sailor", {"sailor_id": "S1"})) == {"sailor_id": "S1", "name": "Ada"}
        assert dict(world.view.get("sailor", "S1") or {})["password"] == "tide"
