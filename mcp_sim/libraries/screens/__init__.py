"""Screens of sites: pages in plain HTML, the browser that shows them, and the forms in which servers print them.

`world.screens` is a `Screens`. `world.screens.browser(world, site)` is a browser over sites, which a program declares
with `Site`: `@site.page("/parts/<id>")` returns HTML, `@site.post("/cart")` acts on a form. Tabs are records of the
table `tab`. `world.screens.device(world, apps, size)` is a phone, `.desktop(...)` a desktop: their apps are sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_sim.libraries.screens import android, atspi, browsergym, picture, playwright
from mcp_sim.libraries.screens.browser import PAGE, TAB, Browser
from mcp_sim.libraries.screens.desktop import Desktop
from mcp_sim.libraries.screens.device import App, Device
from mcp_sim.libraries.screens.dom import Element, HtmlError, parse
from mcp_sim.libraries.screens.front import LAYOUT, NOTICE, layout_record, notice_record, usual_notices
from mcp_sim.libraries.screens.person import screens
from mcp_sim.libraries.screens.site import NotFound, NotReady, Redirect, ScreenError, Site, reason
from mcp_sim.libraries.screens.tab import BLANK, Tab, new_tab
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field

__all__ = [
    "BLANK", "LAYOUT", "NOTICE", "PAGE", "TAB", "App", "Browser", "Desktop", "Device", "Element", "HtmlError",
    "NotFound", "NotReady", "Redirect", "ScreenError", "Screens", "Site", "Tab", "android", "atspi", "browsergym",
    "entities", "layout_record", "library", "new_tab", "notice_record", "parse", "picture", "playwright", "reason",
    "screens", "usual_notices",
]  # fmt: skip


class Screens:
    """The screens of a world."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def browser(self, world: Any, *sites: Site) -> Browser:
        """Return the browser of the world over some sites. Their functions get `world`."""
        return Browser(self._store, world, sites)

    def device(self, world: Any, apps: Sequence[App], size: tuple[int, int]) -> Device:
        """Return the phone of the world: its apps, and the width and height of its screen."""
        return Device(self._store, world, apps, size)

    def desktop(self, world: Any, apps: Sequence[App], size: tuple[int, int]) -> Desktop:
        """Return the desktop of the world: its apps, and the width and height of its screen."""
        return Desktop(self._store, world, apps, size)


library = Screens


def entities(_state: Json) -> list[Entity]:
    """Return the entities of tabs, of their pages, of notices in front of them, and of the layout."""
    records = {
        TAB: (new_tab(1), ("url", "values", "dialog")),
        PAGE: ({"id": "", "title": "", "html": "", "status": 200}, ()),
        NOTICE: (notice_record(1, "", "", "", ()), ("answer",)),
        LAYOUT: (layout_record(None, names=False), ()),
    }
    return [
        Entity(
            table, "id", None, {name: Field(name, {}) for name in record}, natural=True,  # numbers are used again
            display=display,
        )
        for table, (record, display) in records.items()
    ]  # fmt: skip
