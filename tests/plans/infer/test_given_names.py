"""Given states: searched fields, fields of singletons, and the table of a create, by name and description."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.given import INTEGER, STRING, Json, refused, service, tool, value


async def test_a_password_is_stored_but_never_shown(tmp_path: Path) -> None:
    state: Json = {"sailors": [{"sailor_id": "S1", "name": "Ada", "password": "anchor"}]}
    tools = tool("get_sailor", "sailor_id"), tool("change_sailor_password", "sailor_id", "password")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("change_sailor_password", {"sailor_id": "S1", "password": "tide"})
        assert value(await world.call("get_sailor", {"sailor_id": "S1"})) == {"sailor_id": "S1", "name": "Ada"}
        assert dict(world.view.get("sailor", "S1") or {})["password"] == "tide"


@pytest.mark.parametrize("kind", [STRING, INTEGER])
@pytest.mark.parametrize("field", ["title", "name", "subject"])
async def test_given_rows_without_ids_get_those_that_tools_take(tmp_path: Path, field: str, kind: Json) -> None:
    state: Json = {"letters": [{field: "Frost"}, {field: "Wind"}]}
    tools = tool("list_letters"), tool("get_letter", letter_id=kind), tool("write_letter", field)
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        rows = [*value(await world.call("list_letters", {})), value(await world.call("write_letter", {field: "Hail"}))]
        keys = [row["id"] for row in rows]
        assert len({*keys}) == 3
        found = [value(await world.call("get_letter", {"letter_id": key}))[field] for key in keys]
        assert found == ["Frost", "Wind", "Hail"]


@pytest.mark.parametrize(
    ("argument", "about"),
    [
        ("identifier", "Show a letter by ID or title."),
        ("letter_id", "Read the letter with an id or title."),
        ("letter", "Show one letter."),
    ],
)
async def test_records_are_found_by_title_where_a_tool_takes_ids_or_titles(
    tmp_path: Path, argument: str, about: str
) -> None:
    state: Json = {"letters": [{"id": 7, "title": "Frost"}, {"id": 8, "title": "Wind"}]}
    tools = tool("list_letters"), tool("get_letter", argument, about=about)
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        for asked in ("Wind", "8"):
            assert value(await world.call("get_letter", {argument: asked}))["title"] == "Wind"
        assert refused(await world.call("get_letter", {argument: "Hail"}))


@pytest.mark.parametrize("field", ["name", "path", "title"])
async def test_an_argument_called_like_the_entity_takes_what_people_call_a_record(tmp_path: Path, field: str) -> None:
    state: Json = {"letters": [{"letter_id": "a1", field: "/in/frost"}, {"letter_id": "a2", field: "/in/wind"}]}
    tools = tool("list_letters"), tool("get_letter", "letter")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_letter", {"letter": "/in/wind"}))["letter_id"] == "a2"
        assert refused(await world.call("get_letter", {"letter": "/in/hail"}))
