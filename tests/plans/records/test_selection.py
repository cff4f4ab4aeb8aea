"""Lists and searches: words, clauses, order, pages, hidden records, and the choice of one record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import given
from support.services import message, service, value

Json = Any

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
    {verb: search, entity: note, query: query,
     paging: {limit: limit, offset: offset, sort: sort_by}}
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
async def test_a_search_finds_matching_rows_in_a_sensible_order(
    tmp_path: Path, asked: dict[str, Any], found: list[str]
) -> None:
    async with service(tmp_path, SPEC, WORLD) as sim, sim.open() as world:
        assert [note["id"] for note in value(await world.call("search_notes", asked))["results"]] == found


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"limit": -1}, "limit must not be negative, but is -1"),
        ({"offset": -3}, "offset"),
    ],
)
async def test_a_negative_page_is_refused_by_name(tmp_path: Path, asked: dict[str, Any], named: str) -> None:
    async with service(tmp_path, SPEC, WORLD) as sim, sim.open() as world:
        assert named in message(await world.call("search_notes", asked))


@pytest.mark.parametrize("asked", ["a" * 30_000, "a-" * 15_000, "9a" * 15_000 + ":"])
async def test_a_very_long_search_word_is_handled_quickly(tmp_path: Path, asked: str) -> None:
    async with service(tmp_path, SPEC, WORLD) as sim, sim.open() as world:
        assert value(await world.call("search_notes", {"query": asked}))["results"] == []


BOOLEAN: Json = {"type": "boolean"}
STATE: Json = {
    "lanterns": [
        {"id": "L1", "name": "Brass", "archived": False, "bought_on": "2029-11-03"},
        {"id": "L2", "name": "Tin", "archived": True, "bought_on": "2029-12-24"},
    ],
    "lamps": [{"id": "1", "name": "Desk", "owner_id": "7"}],
    "owners": [{"id": "7", "name": "Ada"}],
}
LANTERNS = (
    given.tool("list_lanterns", include_archived=BOOLEAN),
    given.tool("archive_lantern", "lantern_id"),
    given.tool("restore_lantern", "lantern_id"),
)


async def test_archived_records_are_listed_only_on_request(tmp_path: Path) -> None:
    async with given.service(tmp_path, STATE, *LANTERNS) as simulator, simulator.open("w") as world:
        assert await _named(world, {}) == ["Brass"]
        assert await _named(world, {"include_archived": False}) == ["Brass"]
        assert await _named(world, {"include_archived": True}) == ["Brass", "Tin"]


async def _named(world: Json, arguments: Json) -> list[str]:
    return [one["name"] for one in given.value(await world.call("list_lanterns", arguments))]
