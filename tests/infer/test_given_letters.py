"""Given letters: where searches look, which lists are of those in one state, and in which state one is sent."""

from __future__ import annotations

from pathlib import Path

from support.given import STRING, Json, service, tool, value

LETTERS: Json = {
    "letters": [
        {"id": 1, "author_email": "ada@hull.example", "heading": "Tide tables", "body": "Low", "read": True,
         "status": "received", "posted_datetime": "2030-01-01 09:00:00"},
        {"id": 2, "author_email": "bo@hull.example", "heading": "Buoys", "body": "Tide is high", "read": False,
         "status": "sent", "posted_datetime": "2030-02-01 09:00:00"},
    ]
}  # fmt: skip


async def test_where_a_search_looks_is_told_by_its_name_and_its_description(tmp_path: Path) -> None:
    tools = (
        tool("search_letters_by_author_email", "query"),
        tool("search_letters", "query", about="Search letters by body."),
        tool("search_archive_letters", heading=STRING, time_min=STRING),
        tool("get_unread_letters"),
        tool("send_letter", "heading", "body"),
        tool("get_sent_letters"),
    )

    async with service(tmp_path, LETTERS, *tools) as simulator, simulator.open("w") as world:
        for name, asked, found in (
            ("search_letters_by_author_email", {"query": "ada"}, [1]),
            ("search_letters", {"query": "tide"}, [2]),
            ("search_archive_letters", {"heading": "tide"}, [1]),
            ("search_archive_letters", {"time_min": "2030-01-15 00:00:00"}, [2]),
            ("get_unread_letters", {}, [2]),
        ):
            assert [one["id"] for one in value(await world.call(name, asked))] == found, name
        await world.call("send_letter", {"heading": "Fog", "body": "Dense"})
        assert [one["heading"] for one in value(await world.call("get_sent_letters", {}))] == ["Buoys", "Fog"]
