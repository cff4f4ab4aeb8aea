"""The search engine that knows only the pages of its world, in the forms of several servers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.services import message, value

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World

STATE: Any = {
    "pages": {
        "https://bridges.example/sele": {"text": "The bridge of Sele has five arches.", "date": "2029-02-20"},
        "https://old.example/sele": {"text": "The bridge of Sele had four arches.", "date": "1998-02-20"},
        "https://old.example/gone": {"text": "The arches of Sele.", "status": 404},
    }
}
SERVERS = {"search": "search_world", "exa": "exa", "tavily": "tavily", "brave": "brave", "web": "web_fetch"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    scenario = tmp_path / "scenario.yaml"
    world: Any = {"now": "2029-03-01T09:00:00Z", "state": STATE}
    scenario.write_text(json.dumps({"mcp_sim": 1, "tools": SERVERS, "world": world}))
    async with Simulator.load(scenario).open() as opened:
        yield opened


async def call(world: World, tool: str, **arguments: Any) -> str:
    return value(await world.call(tool, arguments))


async def test_every_server_finds_and_reads_the_same_pages(world: World) -> None:
    new = "https://bridges.example/sele"
    found = await call(world, "search/web_search", query="how many arches has the bridge of Sele")
    assert f"{new}\nTitle: The bridge of Sele has five arches.\nSnippet: The bridge of Sele has" in found
    assert "Date: 2029-02-20" in found
    assert "gone" not in found
    assert await call(world, "search/web_extractor", url=new) == "The bridge of Sele has five arches."
    assert f"URL: {new}\nPublished: 2029-02-20" in await call(world, "exa/web_search_exa", query="arches of Sele")
    read = await call(world, "exa/web_fetch_exa", urls=[new, "https://none.example"], maxCharacters=10)
    assert "The bridge\n" in read
    assert "Error fetching https://none.example" in read
    assert "five arches" in await call(world, "tavily/tavily_extract", urls=[new])
    assert await call(world, "web/fetch", url=new) == f"Contents of {new}:\nThe bridge of Sele has five arches."


async def test_a_search_is_limited_to_dates_sites_and_phrases(world: World) -> None:
    async def sites(**options: Any) -> list[str]:
        text = await call(world, "tavily/tavily_search", query="bridge of Sele", **options)
        return [line.removeprefix("URL: https://").split("/")[0] for line in text.splitlines() if "URL: " in line]

    assert len(await sites()) == 2
    assert await sites(time_range="month") == await sites(start_date="2000-01-01") == ["bridges.example"]
    assert await sites(end_date="2000-01-01") == await sites(include_domains=["old.example"]) == ["old.example"]
    assert await sites(exclude_domains=["old.example"]) == ["bridges.example"]


async def test_what_is_not_in_the_world_is_not_found(world: World) -> None:
    assert await call(world, "search/web_search", query="zithers") == "No results for 'zithers'. Try other words."
    for beyond in (1e300, 2**63 - 1):
        assert "No results" in await call(world, "search/web_search", query="arches of Sele", count=2.0, offset=beyond)
    failed = await world.call("search/web_extractor", {"url": "https://old.example/gone"})
    assert message(failed) == "Failed to extract https://old.example/gone: 404 Not Found"


async def test_brave_finds_news_and_summarizes_them_and_knows_no_places(world: World) -> None:
    async def shown(tool: str, **arguments: Any) -> list[str]:
        observation = await world.call(f"brave/{tool}", arguments)
        assert isinstance(observation.body, ToolResult)
        assert not observation.body.is_error
        return [block["text"] for block in observation.body.content]

    key, first, second = await shown("brave_web_search", query="arches of Sele", summary=True)
    assert {json.loads(text)["url"].split("/")[2] for text in (first, second)} == {"bridges.example", "old.example"}
    [news] = await shown("brave_news_search", query="arches of Sele", freshness="pm")
    assert json.loads(news)["age"] == "2029-02-20"
    assert not await shown("brave_news_search", query="arches of Sele", freshness="2000-01-01to2001-01-01")
    assert len(await shown("brave_news_search", query="arches of Sele", freshness="1990-01-01to2001-01-01")) == 1
    key = key.removeprefix("Summarizer key: ")
    [summary] = await shown("brave_summarizer", key=key, inline_references=True)
    assert "five arches. (https://bridges.example/sele)" in summary
    for odd in ("x", "[]", "{}"):
        assert "Unable" in message(await world.call("brave/brave_summarizer", {"key": odd}))
    arguments = {"query": "arches of Sele", "maximum_number_of_urls": 1}
    context: Any = value(await world.call("brave/brave_llm_context", arguments))
    [source] = context["sources"]
    assert source.endswith("/sele")
    assert "Falling back" in (await shown("brave_local_search", query="arches of Sele"))[0]
    assert message(await world.call("brave/brave_web_search", {"query": "zithers"})) == "No web results found"
    for tool in ("image", "video", "place"):
        assert (await world.call(f"brave/brave_{tool}_search", {"query": "Sele"})).ok
