"""Tools with all arguments inside one, as frameworks with argument models declare them."""

from __future__ import annotations

from pathlib import Path

from support.given import NUMBER, STRING, Json, refused, service, tool, value


def _wrapped(name: str, *required: str, **arguments: Json) -> Json:
    """Return a tool whose arguments are inside `params`, declared by a reference."""
    plain = tool(name, *required, **arguments)["inputSchema"]
    whole = {"type": "object", "properties": {"params": {"$ref": "#/$defs/Asked"}}, "required": ["params"]}
    return {"name": name, "inputSchema": {**whole, "$defs": {"Asked": plain}}}


BERTHS = (
    _wrapped("add_berth", "pier", width=NUMBER),
    _wrapped("get_berth", "berth_id"),
    _wrapped("list_berths", pier=STRING, limit={"type": "integer"}),
    _wrapped("delete_berth", "berth_id"),
)


async def test_arguments_in_a_wrapper_get_roles(tmp_path: Path) -> None:
    async with service(tmp_path, {}, *BERTHS) as simulator, simulator.open("w") as world:
        for pier in ("east", "west", "west"):
            await world.call("add_berth", {"params": {"pier": pier, "width": 4}})
        listed = value(await world.call("list_berths", {"params": {"pier": "west"}}))["berths"]
        assert [one["pier"] for one in listed] == ["west", "west"]
        assert len(value(await world.call("list_berths", {"params": {"limit": 1}}))["berths"]) == 1
        asked = {"params": {"berth_id": listed[0]["id"]}}
        assert value(await world.call("get_berth", asked))["width"] == 4
        await world.call("delete_berth", asked)
        assert refused(await world.call("get_berth", asked))


async def test_an_error_names_what_is_missing_in_the_wrapper(tmp_path: Path) -> None:
    async with service(tmp_path, {}, *BERTHS) as simulator, simulator.open("w") as world:
        assert refused(await world.call("add_berth", {"params": {"width": 4}}))
        assert refused(await world.call("add_berth", {}))


async def test_arguments_in_two_wrappers_get_roles(tmp_path: Path) -> None:
    def twice(name: str, *required: str, **arguments: Json) -> Json:
        inner = tool(name, *required, **arguments)["inputSchema"]
        params: Json = {"type": "object", "properties": {"params": inner}, "required": ["params"]}
        whole: Json = {"type": "object", "properties": {"input": params}, "required": ["input"]}
        return {"name": name, "inputSchema": whole}

    tools = twice("add_berth", "pier", width=NUMBER), twice("get_berth", "berth_id"), twice("delete_berth", "berth_id")
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = value(await world.call("add_berth", {"input": {"params": {"pier": "east", "width": 4}}}))
        assert made["pier"] == "east"
        asked = {"input": {"params": {"berth_id": made["id"]}}}
        assert value(await world.call("get_berth", asked))["width"] == 4
        await world.call("delete_berth", asked)
        assert refused(await world.call("get_berth", asked))
        assert refused(await world.call("get_berth", {"input": {}}))


async def test_records_of_open_entities_exist_for_wrapped_keys_filters_and_queries(tmp_path: Path) -> None:
    tools = _wrapped("get_weather", "city"), _wrapped("search_songs", "query"), _wrapped("list_films", "genre")
    async with service(tmp_path, {"berths": []}, *tools) as simulator, simulator.open("w") as world:
        weather = value(await world.call("get_weather", {"params": {"city": "Oslo"}}))
        songs = value(await world.call("search_songs", {"params": {"query": "rain"}}))["results"]
        films = value(await world.call("list_films", {"params": {"genre": "comedy"}}))["films"]
    assert weather["city"] == "Oslo"
    assert songs
    assert {film["genre"] for film in films} == {"comedy"}
