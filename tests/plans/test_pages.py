"""Tools that search pages and read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.backend_answers import INTEGER, STRING, Json, error_text, simulator, success_value, tool

from mcp_sim.plans.library import Library
from mcp_sim.plans.refusal import Refused
from mcp_sim.types.clock import DEFAULT_NOW

QUERY = {"query": STRING, "count": INTEGER}
ROWS: Json = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"title": STRING, "link": STRING, "snippet": STRING},
        "required": ["title", "link"],
    },
}
WEB = [
    tool("web_search", QUERY, {"results": ROWS}, "Search the web.", optional=["count"]),
    tool(
        "fetch_page", {"url": STRING, "max_length": INTEGER}, optional=["max_length"], about="Read a page as markdown."
    ),
]
DOCS = [tool("search_docs", {"query": STRING}, {"results": ROWS}), tool("fetch", {"id": STRING}, {"text": STRING})]
PAGES = [
    {"id": "install", "url": "https://tool.example/install", "title": "Install", "text": "Run the installer once."},
    {"id": "upgrade", "url": "https://tool.example/upgrade", "title": "Upgrade", "text": "Run the installer again."},
]


async def test_a_generated_page_is_found_read_by_address_and_found_again(tmp_path: Path) -> None:
    async with simulator(tmp_path, WEB) as sim, sim.open() as world, sim.open("other") as other:
        rows = success_value(await world.call("web_search", {"query": "vector databases", "count": 4}))["results"]
        assert len({row["link"] for row in rows}) == 4
        assert all("ector databases" in row["title"] for row in rows)
        assert (
            rows == success_value(await other.call("web_search", {"query": "vector databases", "count": 4}))["results"]
        )
        text = success_value(await world.call("fetch_page", {"url": rows[2]["link"]}))
        assert text.startswith(f"# {rows[2]['title']}\n")
        assert rows[2]["snippet"] in text
        assert success_value(await world.call("fetch_page", {"url": rows[2]["link"], "max_length": 9})) == text[:9]
        assert "empty" in error_text(await world.call("web_search", {"query": " "}))
        calls = [step for step in world.ledger.steps if step["entry"] == "call"]
        assert [step["guessed"] for step in calls] == [True, True, True, False]


async def test_given_pages_are_the_only_pages(tmp_path: Path) -> None:
    async with simulator(tmp_path, DOCS, {"documents": PAGES}) as sim, sim.open() as world:
        found = success_value(await world.call("search_docs", {"query": "upgrade installer"}))["results"]
        assert [row["title"] for row in found] == ["Upgrade", "Install"]
        assert success_value(await world.call("fetch", {"id": "install"})) == {"text": "Run the installer once."}
        assert success_value(await world.call("search_docs", {"query": "zebra"})) == {"results": []}
        assert "nowhere" in error_text(await world.call("fetch", {"id": "nowhere"}))


async def test_programs_search_and_read_pages(tmp_path: Path) -> None:
    async with simulator(tmp_path, DOCS, {"documents": PAGES}) as sim, sim.open() as world:
        pages = Library("pages", world.view, DEFAULT_NOW)
        assert [row["title"] for row in pages.search("upgrade installer", limit=1).value] == ["Upgrade"]
        assert pages.read("install").text == "Run the installer once."
        assert pages.read(["install", "Upgrade"], length=3).text == "Run\n\nRun"
        with pytest.raises(Refused, match="nowhere"):
            pages.read("nowhere")
    async with simulator(tmp_path, DOCS) as sim, sim.open() as world:
        pages = Library("pages", world.view, DEFAULT_NOW)
        (found,) = pages.search("owls", limit=1).value
        assert pages.read(found["url"]).facts["title"] == found["title"]
