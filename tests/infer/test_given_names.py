"""Given states: searched fields, fields of singletons, and the table of a create, by name and description."""

from __future__ import annotations

from pathlib import Path

from support.given import STRING, Json, service, tool, value


async def test_the_reason_of_an_update_is_not_a_field_of_a_given_record(tmp_path: Path) -> None:
    state: Json = {"lamps": [{"lamp_id": "L1", "status": "active"}, {"lamp_id": "L2", "status": "suspended"}]}
    tools = tool("suspend_lamp", "lamp_id", "reason"), tool("get_lamp", "lamp_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("suspend_lamp", {"lamp_id": "L1", "reason": "Storm"})
        assert value(await world.call("get_lamp", {"lamp_id": "L1"})) == {"lamp_id": "L1", "status": "suspended"}


async def test_a_password_is_stored_but_never_shown(tmp_path: Path) -> None:
    state: Json = {"sailors": [{"sailor_id": "S1", "name": "Ada", "password": "anchor"}]}
    tools = tool("get_sailor", "sailor_id"), tool("change_sailor_password", "sailor_id", "password")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("change_sailor_password", {"sailor_id": "S1", "password": "tide"})
        assert value(await world.call("get_sailor", {"sailor_id": "S1"})) == {"sailor_id": "S1", "name": "Ada"}
        assert dict(world.view.get("sailor", "S1") or {})["password"] == "tide"


LETTERS: Json = {
    "letters": [
        {"id": 1, "author_email": "ada@hull.example", "heading": "Tide tables", "body": "Low", "read": True,
         "status": "received", "posted_datetime": "2030-01-01 09:00:00"},
        {"id": 2, "author_email": "bo@hull.example", "heading": "Buoys", "body": "Tide is high", "read": False,
         "status": "sent", "posted_datetime": "2030-02-01 09:00:00"},
    ]
}  # fmt: skip


async def test_a_query_searches_all_texts_and_a_search_matches_parts_of_texts(tmp_path: Path) -> None:
    tools = (
        tool("search_letters", "query", about="Search letters by body."),
        tool("search_archive_letters", heading=STRING, time_min=STRING),
    )
    async with service(tmp_path, LETTERS, *tools) as simulator, simulator.open("w") as world:
        for name, asked, found in (
            ("search_letters", {"query": "ada@"}, [1]),
            ("search_letters", {"query": "tide"}, [1, 2]),
            ("search_archive_letters", {"heading": "tide"}, [1]),
            ("search_archive_letters", {"time_min": "2030-01-15 00:00:00"}, [2]),
        ):
            assert [one["id"] for one in value(await world.call(name, asked))] == found, name
