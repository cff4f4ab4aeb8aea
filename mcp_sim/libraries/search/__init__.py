"""Full-text search over tables, and the pages of a simulated web.

`world.search` is a `Search`. It finds records of any table by their words. Its table `page` has the pages of the given
state: described ones, and pages that templates make from `rows`, which are tables of the world too.
"""

from __future__ import annotations

from contextlib import suppress

from mcp_sim.libraries.search.index import PAGE, Search, snippet, words_of
from mcp_sim.libraries.search.pages import PageError, Rows, page
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import schema_of

__all__ = ["PageError", "Search", "entities", "library", "page", "snippet", "words_of"]

library = Search


def entities(state: Json) -> list[Entity]:
    """Return the entity of pages, and those of the rows that pages are made from."""
    fields = {name: Field(name, {**schema_of(value), "default": value}) for name, value in page("").items()}
    fields["preview"] = Field("preview", {"type": ["string", "null"], "default": None})
    every = [Entity(PAGE, "url", None, fields, natural=True)]
    with suppress(PageError):  # the start of the world reports it
        given = Rows.of(state)
        for table, rows in given.tables.items():
            names = dict.fromkeys(name for row in rows.values() for name in row)
            fields = {name: Field(name, {}, given.links.get((table, name))) for name in names}
            every.append(Entity(table, "id", None, fields, natural=True))
    return every
