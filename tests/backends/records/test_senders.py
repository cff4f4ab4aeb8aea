"""What a new record holds that no argument says: who sent it, as the state tells, and collections that are empty."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, Json, service, tool, value

_FOG: Json = {"id": 1, "sender": "bo@hull.example", "text": "Fog", "copies": ["cy"], "seen_by": {"bo": "1 May"}}
_TIDE: Json = {"id": 2, "sender": "ada@hull.example", "text": "Tide", "copies": [], "seen_by": {"cy": "2 May"}}
POST: Json = {"post_office": {"address": "ada@hull.example", "box_number": "B7", "letters": [_FOG, _TIDE]}}


async def test_a_new_record_is_from_whom_the_state_names_and_begins_with_empty_collections(tmp_path: Path) -> None:
    tools = tool("send_letter", "text"), tool("get_letter", "id", id=INTEGER)
    async with service(tmp_path, POST, *tools) as simulator, simulator.open("w") as world:
        await world.call("send_letter", {"text": "Calm"})
        found = value(await world.call("get_letter", {"id": 3}))
        assert found == {"id": 3, "sender": "ada@hull.example", "text": "Calm", "copies": [], "seen_by": {}}
