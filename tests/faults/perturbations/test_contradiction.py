"""contradiction: an older page shows other numbers than a newer one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.fault_specs import PAGES
from support.services import value

from mcp_sim import Simulator
from mcp_sim.types.errors import DocumentError

OLD = "https://fieldnotes.example/sele"
SELE: dict[str, Any] = {"where": {"url": {"contains": "sele"}}, "older": "100d"}


def simulator(folder: Path, options: Any = SELE, tools: str = "search_world", world: str = PAGES) -> Simulator:
    entry = json.dumps({"contradiction": options, "id": "old", "when": {"nth": 1}})
    scenario = folder / "scenario.yaml"
    scenario.write_text(f"mcp_sim: 1\ntools: {tools}\n{world}perturbations: [{entry}]\n", encoding="utf-8")
    return Simulator.load(scenario)


async def test_an_older_copy_with_other_numbers_is_found_beside_the_page(tmp_path: Path) -> None:
    async with simulator(tmp_path).open() as world:
        found = value(await world.call("web_search", {"query": "bridge of Sele"}))
        assert "Date: 2029-02-20" in found
        assert "Date: 2028-11-12" in found
        assert OLD in found
        text = value(await world.call("web_extractor", {"url": OLD}))
        shape = re.fullmatch(r"The bridge of Sele has (\d+) arches and (\d,\d+) steps\.", text)
        assert shape is not None
        assert shape[1] != "5"
        assert abs(int(shape[2].replace(",", "")) - 1200) in range(1, 181)
        assert world.view.count("page") == 3, "it is there for good, once"
        assert value(await world.call("web_extractor", {"url": "https://bridges.example/sele"})).count("5 arches") == 1


async def test_a_copy_shows_no_more_than_its_page_before_it_is_read(tmp_path: Path) -> None:
    state = {
        "rows": {"bridge": [{"id": "b1", "name": "Sele", "arches": 5}]},
        "withhold": {"snippet": ["bridge.arches"]},
        "templates": [
            {
                "about": "bridge",
                "url": "https://b.example/{name:slug}",
                "title": "{name}",
                "text": ["It has {arches} arches. A bridge."],
            }
        ],
    }
    async with simulator(tmp_path, {}, world=f"world: {json.dumps({'state': state})}\n").open() as world:
        found = value(await world.call("web_search", {"query": "how many arches"}))
        assert "fieldnotes.example/sele" in found
        assert not re.search(r"has \d+ arches", found)


def test_worlds_without_pages_are_refused_at_load(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="only worlds with the table 'page' have sources"):
        simulator(tmp_path, tools="crm", world="")
