"""Which values identify records: ids in many forms, counters of the given state, names where no id is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, refused, simulator, tool

Json = Any
NUMBER: Json = {"type": "integer"}


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def rows(name: str, row: Json) -> Json:
    return thing(**{name: {"type": "array", "items": row}})


def text(*names: str) -> Json:
    return dict.fromkeys(names, TEXT)


@pytest.mark.parametrize(
    ("field", "value", "held"),
    [
        ("parcel_counter", 812, {"17": {"label": "Oslo"}}),
        ("next_parcel_id", 812, {"17": {"label": "Oslo"}}),
        ("parcel_counter", 812, [{"id": 17, "label": "Oslo"}]),
        ("parcel_counter", 1, []),
        ("parcel_counter", 3, [{"id": 17, "label": "Oslo"}]),
    ],
)
async def test_new_ids_follow_the_counter_of_the_state(field: str, value: int, held: Json, tmp_path: Path) -> None:
    tools = [
        tool("create_parcel", label=TEXT, output=thing(parcel_id=NUMBER, label=TEXT)),
        tool("get_parcel", parcel_id=NUMBER, output=thing(id=NUMBER, label=TEXT)),
    ]
    async with simulator(tmp_path, tools, {"depot": {"parcels": held, field: value}}).open() as world:
        new = await answered(world, "create_parcel", label="Graz")
        assert new["parcel_id"] == max(value, 18 if held else 0)
        assert await answered(world, "get_parcel", parcel_id=new["parcel_id"]) == {
            "id": new["parcel_id"],
            "label": "Graz",
        }


@pytest.mark.parametrize("noun", ["synonym_set", "namespace", "mailbox"])
async def test_the_name_identifies_records_that_show_no_id(noun: str, tmp_path: Path) -> None:
    shown = thing(name=TEXT, size=NUMBER)
    tools = [
        tool(f"list_{noun}s", output=rows("results", shown)),
        tool(f"get_{noun}", **text(f"{noun}_name"), output=shown),
    ]
    async with simulator(tmp_path, [*tools, tool(f"create_{noun}", name=TEXT, output=shown)]).open() as world:
        first = (await answered(world, f"list_{noun}s"))["results"][0]
        new = await answered(world, f"create_{noun}", name="spare")
        for record in (first, new):
            assert await answered(world, f"get_{noun}", **{f"{noun}_name": record["name"]}) == record
        assert "nobody" in await refused(world, f"get_{noun}", **{f"{noun}_name": "nobody"})


@pytest.mark.parametrize("noun", ["playlist", "ticket", "repository"])
async def test_a_list_of_some_records_has_the_records_that_others_get(noun: str, tmp_path: Path) -> None:
    shown, many = thing(id=TEXT, name=TEXT), {"repository": "repositories"}.get(noun, f"{noun}s")
    tools = [
        tool(f"get_{noun}", **text(f"{noun}_id"), output=shown),
        tool(f"delete_{noun}", **text(f"{noun}_id")),
        tool(f"create_{noun}", name=TEXT, output=shown),
        tool(f"list_featured_{many}", output=rows(many, shown)),
    ]
    async with simulator(tmp_path, tools).open() as world:
        record = (await answered(world, f"list_featured_{many}"))[many][0]
        assert await answered(world, f"get_{noun}", **{f"{noun}_id": record["id"]}) == record


@pytest.mark.parametrize("noun", ["project", "incident"])
async def test_the_status_of_a_record_has_ids_of_its_own_where_tools_take_them(noun: str, tmp_path: Path) -> None:
    status, shown = thing(gid=TEXT, text=TEXT), thing(gid=TEXT, name=TEXT)
    tools = [
        tool(f"get_{noun}", **text(f"{noun}_gid"), output=shown),
        tool(f"create_{noun}", name=TEXT, output=shown),
        tool(f"create_{noun}_status", **text(f"{noun}_gid", "text"), output=status),
        tool(f"get_{noun}_status", **text(f"{noun}_status_gid"), output=status),
    ]
    async with simulator(tmp_path, tools).open() as world:
        whole = await answered(world, f"create_{noun}", name="Roof")
        new = await answered(world, f"create_{noun}_status", **{f"{noun}_gid": whole["gid"], "text": "late"})
        assert await answered(world, f"get_{noun}_status", **{f"{noun}_status_gid": new["gid"]}) == new


@pytest.mark.parametrize(("held", "name"), [("watch_list", "watchlist"), ("black_list", "blacklist")])
async def test_a_list_of_names_is_shown_however_its_name_is_written(held: str, name: str, tmp_path: Path) -> None:
    tools = [tool(f"get_{name}", output=rows(name, TEXT))]
    async with simulator(tmp_path, tools, {"desk": {held: ["NVDA", "OMEG"]}}).open() as world:
        assert await answered(world, f"get_{name}") == {name: ["NVDA", "OMEG"]}


@pytest.mark.parametrize(("noun", "part"), [("notebook", "cell"), ("presentation", "slide")])
async def test_what_the_state_says_of_the_only_document_is_shown(noun: str, part: str, tmp_path: Path) -> None:
    tools = [
        tool(f"get_{noun}_info"),
        tool(f"list_{part}s"),
        tool(f"delete_{part}", index=NUMBER),
        tool(f"add_{part}", content=TEXT),
    ]
    parts = [{"index": 0, "content": "Tides"}, {"index": 1, "content": "Ebb"}]
    state = {noun: {"name": "ebbe", "author": "Runa"}, f"{part}s": parts}
    async with simulator(tmp_path, tools, state).open() as world:
        shown = str(await answered(world, f"get_{noun}_info"))
        assert all(value in shown for value in ("ebbe", "Runa"))


@pytest.mark.parametrize(
    ("like", "schema"),
    [
        ("01G65Z755AFWAKHE12NY0CQ9FH", {"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"}),
        ("QA98", {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}$"}),
        ("bank_a", {"type": "string", "pattern": "^[a-z_]+$"}),
        ("acct-7", {"type": "string", "format": "uuid"}),
        (1207, {"type": "string", "minLength": 3}),
        ("1207", {"type": "integer"}),
    ],
)
async def test_new_ids_follow_an_example_only_as_far_as_their_schema_allows(
    like: Json, schema: Json, tmp_path: Path
) -> None:
    """The result would show another, valid id, under which no tool knows the record."""
    shown = thing(id={**schema, "examples": [like]}, label=TEXT)
    tools = [
        tool("list_parcels", output=rows("parcels", shown)),
        tool("create_parcel", label=TEXT, output=shown),
        tool("get_parcel", parcel_id=schema, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        known = (await answered(world, "list_parcels"))["parcels"]
        new = [await answered(world, "create_parcel", label=f"Graz {number}") for number in range(4)]
        assert len({record["id"] for record in (*known, *new)}) == len(known) + 4
        for record in (*known, *new):
            assert await answered(world, "get_parcel", parcel_id=record["id"]) == record
