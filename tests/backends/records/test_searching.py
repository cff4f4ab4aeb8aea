"""What a search or a list is asked for: words, clauses, order, pages; and what of it is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import given
from support.services import message, service, value

SPEC = """
tools:
  - name: search_notes
    inputSchema:
      type: object
      properties:
        query: {type: string}
        sort_by: {type: string}
        limit: {type: integer}
        offset: {type: integer}
entities:
  note:
    key_like: n-1
    fields:
      title: {type: string}
      body: {type: string}
      status: {type: string, enum: [open, closed]}
      size: {type: integer}
      tags: {type: array, items: {type: string}}
      created_at: {type: string, format: date-time}
sim:
  search_notes:
    {verb: search, entity: note, query: query, searched: [title, body], sort: sort_by,
     paging: {limit: limit, offset: offset}}
"""
WORLD = """
records:
  note:
    count: 4
    rows:
      - {id: n-1, title: The red bike, body: sold, status: closed, size: 3, tags: [shop],
         created_at: 2029-01-01T00:00:00Z}
      - {id: n-2, title: A lamp, body: for a bike, status: open, size: 5, tags: [home, shop],
         created_at: 2029-02-01T00:00:00Z}
      - {id: n-3, title: Bike, body: stolen, status: open, size: 3, tags: [], created_at: 2029-03-01T00:00:00Z}
      - {id: n-4, title: A boat, body: sinking, status: closed, size: 9, tags: [home], created_at: 2029-04-01T00:00:00Z}
"""


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"query": "bike"}, ["n-3", "n-1", "n-2"]),
        ({"query": "bike -sold"}, ["n-3", "n-2"]),
        ({"query": "bike status:open"}, ["n-3", "n-2"]),
        ({"query": "-status:open"}, ["n-1", "n-4"]),
        ({"query": "size>=5"}, ["n-2", "n-4"]),
        ({"query": "size:<5 status!=closed"}, ["n-3"]),
        ({"query": "tags:home"}, ["n-2", "n-4"]),
        ({"query": "created_at>2029-02-15"}, ["n-3", "n-4"]),
        ({"query": 'title:"red bike"'}, ["n-1"]),
        ({"sort_by": "size,-title"}, ["n-1", "n-3", "n-2", "n-4"]),
        ({"sort_by": "newest"}, ["n-4", "n-3", "n-2", "n-1"]),
        ({"sort_by": "created desc", "limit": 2}, ["n-4", "n-3"]),
        ({"limit": 0}, []),
        ({"offset": 9}, []),
    ],
)
async def test_a_question_finds_what_it_asks_for_in_a_sensible_order(
    tmp_path: Path, asked: dict[str, Any], found: list[str]
) -> None:
    async with service(tmp_path, SPEC, WORLD) as sim, sim.open() as world:
        assert [note["id"] for note in value(await world.call("search_notes", asked))["results"]] == found


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"query": "colour:red"}, "colour:red"),
        ({"sort_by": "colour"}, "choose from id, title"),
        ({"limit": -1}, "limit must not be negative, but is -1"),
        ({"offset": -3}, "offset"),
    ],
)
async def test_what_is_not_understood_is_refused_by_name(tmp_path: Path, asked: dict[str, Any], named: str) -> None:
    async with service(tmp_path, SPEC, WORLD) as sim, sim.open() as world:
        assert named in message(await world.call("search_notes", asked))


@pytest.mark.parametrize("asked", ["a" * 30_000, "a-" * 15_000, "9a" * 15_000 + ":"])
async def test_a_word_of_any_length_is_looked_for_at_once(tmp_path: Path, asked: str) -> None:
    async with service(tmp_path, SPEC, WORLD) as sim, sim.open() as world:
        assert value(await world.call("search_notes", {"query": asked}))["results"] == []


async def test_a_list_tells_no_more_than_it_is_said_to_tell(tmp_path: Path) -> None:
    rows = [{"id": at, "title": f"Log {at}", "created_at": f"2030-01-0{at}T00:00:00Z"} for at in range(1, 6)]
    tools = (
        given.tool("search_logs", "query", about="Search the logs. Returns at most 2 logs."),
        given.tool("find_logs", "query", about="Finds logs by title, the 3 most recent ones."),
        given.tool("list_logs", about="All logs of up to 3 days."),
    )
    async with given.service(tmp_path, {"logs": rows}, *tools) as simulator, simulator.open("w") as world:
        assert len(given.value(await world.call("search_logs", {"query": "log"}))) == 2
        assert [one["id"] for one in given.value(await world.call("find_logs", {"query": "log"}))] == [5, 4, 3]
        assert len(given.value(await world.call("list_logs", {}))) == 5


async def test_a_search_that_names_nothing_searches_what_is_listed(tmp_path: Path) -> None:
    state = {"letters": [{"id": "L1", "to": "Ada", "body": "Tea at noon"}, {"id": "L2", "to": "Bo", "body": "Rain"}]}
    tools = given.tool("list_letters"), given.tool("post_letter", "to", "body"), given.tool("search", "query")
    async with given.service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert [one["id"] for one in given.value(await world.call("search", {"query": "tea AT"}))] == ["L1"]
        await world.call("post_letter", {"to": "Cy", "body": "Tea is over"})
        assert [one["to"] for one in given.value(await world.call("search", {"query": "tea"}))] == ["Ada", "Cy"]
        assert given.value(await world.call("search", {"query": "snow"})) == []
