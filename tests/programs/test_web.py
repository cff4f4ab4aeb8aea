"""The search engine and the web that it finds: the same pages from both, in every world."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.types import Change
from mcp_sim.world.world import World

LIGHTHOUSE = "https://coastalheritage.example/lights/ravenmoor"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_web_search")).open() as opened:
        yield opened


async def search(world: World, query: str, **options: Any) -> str:
    return value(await world.call("search/brave_web_search", {"query": query, **options}))


async def fetch(world: World, url: str, **options: Any) -> str:
    return value(await world.call("web/fetch", {"url": url, **options}))


def urls(text: str) -> list[str]:
    return re.findall(r"^URL: (\S+)$", text, re.MULTILINE)


def with_pages(folder: Path, tools: Any, pages: Any) -> Path:
    scenario = folder / "scenario.yaml"
    scenario.write_text(json.dumps({"mcp_sim": 1, "tools": tools, "world": {"state": {"pages": pages}}}))
    return scenario


async def test_pages_of_the_scenario_come_first_if_they_have_most_words(world: World) -> None:
    found = await search(world, "is the ravenmoor LIGHTHOUSE 34 metres tall?", count=3)
    assert urls(found)[0] == "https://community.example/ravenmoor-lighthouse-height"
    assert LIGHTHOUSE in urls(await search(world, "Ravenmoor lighthouse"))
    for query in ("Ravenmoor lighthouse built year tower height", "when was the ravenmoor lighthouse constructed?"):
        assert LIGHTHOUSE in urls(await search(world, query))[:2]
    assert LIGHTHOUSE not in urls(await search(world, "Ravenmoor bakery"))


async def test_the_same_question_has_the_same_answer_in_every_world_and_pages_go_on(world: World) -> None:
    first = await search(world, "sourdough starter", count=4)
    async with Simulator.load("web_search").open(seed=5) as other:
        assert value(await other.call("brave_web_search", {"query": "Sourdough  Starter?", "count": 4})) == first
    second = urls(await search(world, "sourdough starter", count=4, offset=1))
    assert len({*urls(first), *second}) == 8
    assert not await search(world, "sourdough starter", offset=9)


async def test_every_page_that_is_found_can_be_read_and_is_about_the_question(world: World) -> None:
    for block in (await search(world, "heat pump noise limits")).split("\n\n"):
        title, description, url = (line.partition(": ")[2] for line in block.splitlines())
        text = await fetch(world, url)
        assert text.startswith(f"Contents of {url}:\n# {title}\n")
        assert description in text
        assert "heat pump noise limits" in text


async def test_a_page_is_read_part_by_part(world: World) -> None:
    whole = (await fetch(world, LIGHTHOUSE)).partition("\n")[2]
    read, start = "", 0
    for _ in range(9):
        part = (await fetch(world, LIGHTHOUSE, max_length=50, start_index=start)).partition("\n")[2]
        text, _, more = part.partition("\n\n<error>Content truncated. Call the fetch tool with a start_index of ")
        read, start = read + text, int(more.partition(" ")[0] or 0)
        if not start:
            break
    assert read == whole
    assert "No more content available" in await fetch(world, LIGHTHOUSE, start_index=9_999)
    raw = await fetch(world, LIGHTHOUSE, raw=True)
    assert raw.startswith("Content type text/html; charset=utf-8 cannot be simplified to markdown")
    assert "<h2>Ravenmoor lighthouse</h2>" in raw


async def test_a_state_describes_pages_and_those_that_fail(tmp_path: Path) -> None:
    pages: Any = {"https://a.example/x": "# Opening hours\n\nOpen on Mondays.", "https://a.example/y": {"status": 404}}
    scenario = with_pages(tmp_path, "web_fetch", pages)
    async with Simulator.load(scenario).open() as world:
        assert "Open on Mondays." in value(await world.call("fetch", {"url": "https://a.example/x"}))
        gone = await world.call("fetch", {"url": "https://a.example/y"})
        assert message(gone) == "Error executing tool fetch: Failed to fetch https://a.example/y - status code 404"


async def test_the_pages_of_a_state_are_for_both_servers(tmp_path: Path) -> None:
    scenario = with_pages(tmp_path, {"search": "web_search", "web": "web_fetch"}, {"https://a.example/x": "Zithers."})
    async with Simulator.load(scenario).open() as world:
        assert urls(await search(world, "zithers", count=1)) == ["https://a.example/x"]
        assert await fetch(world, "https://a.example/x") == "Contents of https://a.example/x:\nZithers."
        assert world.view.count("page") == 1


async def test_pages_that_were_found_are_records_and_change_for_both_servers(world: World) -> None:
    given = world.view.count("page")
    found = await search(world, "sourdough starter", count=3)
    assert world.view.count("page") == given + 3
    assert await search(world, "sourdough starter", count=3) == found
    assert not {*urls(found)} & {*urls(await search(world, "sourdough", count=3))}
    first = urls(found)[0]
    page = world.view.get("page", first)
    assert page is not None
    await world.change([Change("put", "page", first, {**page, "title": "Moved", "text": "Now elsewhere."})], "editor")
    assert (await search(world, "sourdough starter", count=3)).startswith("Title: Moved\n")
    assert await fetch(world, first) == f"Contents of {first}:\nNow elsewhere."
    places = value(await world.call("search/brave_local_search", {"query": "bakery in Utrecht", "count": 2}))
    assert [row["name"] in places for _, row in world.view.rows("business")] == [True, True]


async def test_an_address_of_another_protocol_is_refused(world: World) -> None:
    answer = message(await world.call("web/fetch", {"url": "ftp://a.example/x"}))
    assert answer.endswith("Failed to fetch robots.txt ftp://a.example/robots.txt due to a connection issue")


@pytest.mark.parametrize("query", ["", "?!", "word " * 51, "x" * 401])
async def test_a_question_that_is_no_question_is_refused(query: str, world: World) -> None:
    answer = await world.call("search/brave_web_search", {"query": query})
    assert message(answer).startswith("Error: Brave API error: 422 Unprocessable Content\n")
