"""Descriptions that tell of the arguments line by line, as docstrings do."""

from __future__ import annotations

from pathlib import Path

from support.given import STRING, refused, service, tool, value

_ADD = """Plant a tree.

    Args:
        species: What to plant.
        light: One of "sun", "shade" or
            "half". Defaults to "sun".
        soil: Any soil, e.g. one of "clay" or "sand".
"""


async def test_a_value_that_the_description_does_not_list_is_refused(tmp_path: Path) -> None:
    tools = tool("add_tree", "species", about=_ADD, light=STRING, soil=STRING), tool("list_trees")
    async with service(tmp_path, {"trees": []}, *tools) as simulator, simulator.open("w") as world:
        assert refused(await world.call("add_tree", {"species": "oak", "light": "moon"}))
        await world.call("add_tree", {"species": "oak", "light": "half", "soil": "peat"})
        assert [(one["light"], one["soil"]) for one in value(await world.call("list_trees", {}))] == [("half", "peat")]
