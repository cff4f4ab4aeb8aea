"""A browser over sites: its tabs, the notices in front of them, and the requests to sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from mcp_sim.libraries.screens.front import LAYOUT, NOTICE
from mcp_sim.libraries.screens.site import Answer, ScreenError, Site, resolved
from mcp_sim.libraries.screens.tab import Tab, new_tab
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json, Record

TAB = "tab"
"""The table of tabs."""
PAGE = "screen_page"
"""The table of the pages that tabs show or go back to. They are beside the tabs, which each step writes."""
_MOST_REDIRECTS = 20
"""As browsers: a page that always sends elsewhere is an error."""
_MOST_TABS = 20


class Browser:
    """The tabs of a world, over some sites. `world` is what the functions of the sites get."""

    def __init__(self, store: Store, world: Any, sites: Sequence[Site]) -> None:
        self._store, self._world = store, world
        self._sites = {site.origin: site for site in sites}
        self.sent = list[Json]()
        """The requests of this call: method, address, status."""

    @property
    def tabs(self) -> list[Record]:
        """The tabs, in the order in which they were opened."""
        return [*self._store.rows(TAB)]

    @property
    def tab(self) -> Tab:
        """The current tab. The first action opens one."""
        tabs = self.tabs
        record = next((tab for tab in tabs if tab["current"]), tabs[0] if tabs else None)
        return Tab(self, {**new_tab(1), "current": True} if record is None else {**record})

    @property
    def notice(self) -> Record | None:
        """The notice in front of all tabs, if there is one."""
        return next(({**notice} for notice in self._store.rows(NOTICE) if notice["answer"] is None), None)

    @property
    def layout(self) -> Record | None:
        """The layout of all pages, if it was changed."""
        return self._store.get(LAYOUT, "layout")

    def open(self) -> Tab:
        """Open another tab, which is then the current one. Raises `ScreenError` if there are too many."""
        tab = Tab(self, {**self._new_record(), "current": True})
        self.choose(None)
        tab.save()
        return tab

    def open_beside(self, url: str) -> None:
        """Open an address in a tab that is not the current one. Raises `ScreenError` if there are too many."""
        tab = Tab(self, self._new_record())
        tab.navigate(url)
        tab.save()

    def _new_record(self) -> Record:
        tabs = self.tabs
        if len(tabs) >= _MOST_TABS:
            raise ScreenError(f"at most {_MOST_TABS} tabs can be open")
        return new_tab(1 + max((int(tab["id"].removeprefix("tab-")) for tab in tabs), default=0))

    def select(self, index: int) -> Tab:
        """Make a tab the current one."""
        tabs = self._checked(index)
        self.choose(tabs[index]["id"])
        return self.tab

    def close(self, index: int | None = None) -> None:
        """Close a tab, by default the current one."""
        tabs = self.tabs
        if not tabs:
            return
        at = next((at for at, tab in enumerate(tabs) if tab["current"]), 0) if index is None else index
        tabs = self._checked(at)
        closed = tabs.pop(at)
        self._store.remove(TAB, closed["id"])
        self.forget({entry["page"] for entry in (closed, *closed["back"]) if entry["page"]})
        if closed["current"] and tabs:
            self.choose(tabs[max(0, at - 1)]["id"])

    def choose(self, key: str | None) -> None:
        """Make the tab with this id the current one."""
        for tab in self.tabs:
            if tab["current"] != (tab["id"] == key):
                self._store.put(TAB, tab["id"], {**tab, "current": tab["id"] == key})

    def put(self, record: Record, notice: Record | None) -> None:
        """Write a tab, and the notice in front of it."""
        self._store.put(TAB, record["id"], record)
        if notice is not None:
            self._store.put(NOTICE, notice["id"], notice)

    def page(self, key: str | None) -> Record | None:
        """Return a page."""
        return None if key is None else self._store.get(PAGE, key)

    def keep(self, page: Record) -> None:
        """Write a page. Of each address in a tab the newest answer is kept, which is what going back shows."""
        self._store.put(PAGE, page["id"], page)

    def forget(self, pages: set[str]) -> None:
        """Remove pages."""
        for key in sorted(pages):
            self._store.remove(PAGE, key)

    def request(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> tuple[str, Answer]:
        """Return the answer to a request and its address, after redirects. Raises `ScreenError` without one."""
        for _ in range(_MOST_REDIRECTS):
            url = resolved(url)
            parts = urlsplit(url)
            site = self._sites.get(f"{parts.scheme}://{parts.netloc}")
            if site is None:
                raise ScreenError(f"net::ERR_NAME_NOT_RESOLVED at {url}")
            answer = site.answer(self._world, method, parts.path or "/", parts.query, form)
            self.sent.append([method, url, answer.status])
            if not answer.location:
                return url, answer
            method, form, url = "GET", (), resolved(url, answer.location)
        raise ScreenError(f"net::ERR_TOO_MANY_REDIRECTS at {url}")

    def _checked(self, index: int) -> list[Record]:
        tabs = self.tabs
        if not 0 <= index < len(tabs):
            raise ScreenError(f"Tab {index} not found")
        return tabs
