"""Tools about the caller that the given state names."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, refused, service, tool, value

CHOIR: Json = {
    "current_user": "u1",
    "users": {"u1": {"name": "Ada"}, "u2": {"name": "Bo"}},
    "concerts": {
        "C1": {"title": "Spring", "singers": ["u2"], "place": "hall"},
        "C2": {"title": "Autumn", "singers": ["u1", "u2"], "place": "barn"},
    },
    "songs": {"S1": {"title": "Rain", "owner": "u1"}, "S2": {"title": "Snow", "owner": "u2"}},
}
TOOLS = (
    tool("whoami"), tool("get_my_concerts"), tool("list_my_songs"), tool("switch_user", "user_id"),
    tool("join", "concert_id", about="Sing in a concert."), tool("leave", "concert_id", about="Sing there no more."),
    tool("list_songs"), tool("get_concert", "concert_id"), tool("get_user", "user_id"),
)  # fmt: skip


async def test_whoami_shows_the_caller_and_switch_user_changes_it(tmp_path: Path) -> None:
    async with service(tmp_path, CHOIR, *TOOLS) as simulator, simulator.open("w") as world:
        assert value(await world.call("whoami", {})) == {"user_id": "u1", "name": "Ada"}
        assert refused(await world.call("switch_user", {"user_id": "u9"}))
        await world.call("switch_user", {"user_id": "u2"})
        assert value(await world.call("whoami", {}))["name"] == "Bo"


async def test_my_records_are_those_the_caller_owns_or_is_listed_in(tmp_path: Path) -> None:
    async with service(tmp_path, CHOIR, *TOOLS) as simulator, simulator.open("w") as world:
        assert [one["title"] for one in value(await world.call("get_my_concerts", {}))] == ["Autumn"]
        assert [one["title"] for one in value(await world.call("list_my_songs", {}))] == ["Rain"]
        assert len(value(await world.call("list_songs", {}))) == 2
        await world.call("switch_user", {"user_id": "u2"})
        assert len(value(await world.call("get_my_concerts", {}))) == 2


async def test_the_caller_joins_a_list_once_and_leaves_it_once(tmp_path: Path) -> None:
    async with service(tmp_path, CHOIR, *TOOLS) as simulator, simulator.open("w") as world:
        assert value(await world.call("join", {"concert_id": "C1"}))["singers"] == ["u2", "u1"]
        assert refused(await world.call("join", {"concert_id": "C1"}))
        assert refused(await world.call("join", {"concert_id": "C9"}))
        await world.call("leave", {"concert_id": "C1"})
        assert refused(await world.call("leave", {"concert_id": "C1"}))
        assert value(await world.call("get_concert", {"concert_id": "C1"}))["singers"] == ["u2"]
