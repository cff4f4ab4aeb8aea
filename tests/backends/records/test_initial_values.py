"""Records that one tool makes and another begins, and several that are asked for by their references."""

from __future__ import annotations

from pathlib import Path

from support.given import STRING, refused, service, tool, value

_STATUS = {"type": "string", "enum": ["waiting", "in_progress", "over"]}
_TOOLS = (
    tool("create_voyage", "ship", status=_STATUS),
    tool("start_voyage", "voyage_ref"),
    tool("get_voyage", "voyage_ref"),
    tool("view_voyages", "voyage_refs", voyage_refs={"type": "array", "items": STRING}),
)


async def test_what_others_make_is_begun_and_not_made_again(tmp_path: Path) -> None:
    async with service(tmp_path, {"voyages": []}, *_TOOLS) as simulator, simulator.open("w") as world:
        one = value(await world.call("create_voyage", {"ship": "Ada", "status": "waiting"}))["voyage_ref"]
        await world.call("start_voyage", {"voyage_ref": one})
        assert world.view.count("voyage") == 1
        assert value(await world.call("get_voyage", {"voyage_ref": one}))["status"] == "in_progress"
        assert refused(await world.call("start_voyage", {"voyage_ref": "nowhere"}))


async def test_several_are_asked_for_by_their_references(tmp_path: Path) -> None:
    async with service(tmp_path, {"voyages": []}, *_TOOLS) as simulator, simulator.open("w") as world:
        made = [value(await world.call("create_voyage", {"ship": ship}))["voyage_ref"] for ship in ("Ada", "Bo", "Cy")]
        seen = value(await world.call("view_voyages", {"voyage_refs": [made[0], made[2]]}))
        assert [one["ship"] for one in seen] == ["Ada", "Cy"]
