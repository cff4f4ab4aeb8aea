"""Screens of sites: pages in plain HTML, the browser that shows them, and the forms in which servers print them.

`world.screens` is a `Screens`. `world.screens.browser(world, site)` is a browser over sites, which a program declares
with `Site`: `@site.page("/parts/<id>")` returns HTML, `@site.post("/cart")` acts on a form. Tabs are records of the
table `tab`.
"""

from __future__ import annotations

from typing import Any

from mcp_sim.libraries.screens import playwright
from mcp_sim.libraries.screens.browser import BLANK, TAB, Browser, DialogOpen, ScreenError, Tab
from mcp_sim.libraries.screens.dom import Element, HtmlError, parse
from mcp_sim.libraries.screens.site import NotFound, Redirect, Site
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field

__all__ = [
    "BLANK", "Browser", "DialogOpen", "Element", "HtmlError", "NotFound", "Redirect", "ScreenError", "Screens", "Site",
    "Tab", "entities", "library", "parse", "playwright",
]  # fmt: skip


class Screens:
    """The screens of a world."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def browser(self, world: Any, *sites: Site) -> Browser:
        """Return the browser of the world over some sites. Their functions get `world`."""
        return Browser(self._store, world, sites)


library = Screens


def entities(_state: Json) -> list[Entity]:
    """Return the entity of tabs."""
    names = [
        "id", "current", "url", "title", "html", "status", "values", "focus", "dialog", "references", "given", "loads",
        "back", "answers",
    ]  # fmt: skip
    return [Entity(TAB, "id", None, {name: Field(name, {}) for name in names}, natural=True)]  # numbers are used again
