"""What comes in front of a page or changes how it is shown: notices, updates, another layout."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from html import escape
from pkgutil import get_data

from mcp_sim.libraries.screens.dom import Element, parse
from mcp_sim.libraries.screens.forms import squeezed
from mcp_sim.types import Json, Record

NOTICE = "screen_notice"
"""The table of notices, in front of the screen until one of their buttons is pressed."""
LAYOUT = "screen_layout"
"""The table of the layout: at most one record, for all pages."""
_FIRST_LOAD = 900
"""Notices count as pages that no tab gets to, so that references of a page never mean an element of a notice."""
_PERMUTED = frozenset({"body", "header", "footer", "main", "nav", "aside", "section", "form", "fieldset", "ul", "div"})
"""Elements whose order is a matter of design. In lists with numbers, tables and texts it has a meaning."""
_FIRST = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary"})
"""Elements that head what follows, and so stay where they are."""
_NAMED = frozenset({"a", "button", "label", "legend", "h1", "h2", "h3", "th", "summary", "option"})
_COUNT = re.compile(r"(.*?)( ?\(\d+\))?")


@cache
def _words() -> Record:
    return json.loads(get_data("mcp_sim.libraries.screens", "front.json") or b"")


def usual_notices() -> Mapping[str, Record]:
    """Return the usual notices by kind."""
    return _words()["notices"]


def notice_record(number: int, kind: str, title: str, text: str, buttons: Sequence[str], check: str = "") -> Record:
    """Return the record of a notice. `check` names a box that must be ticked first."""
    box = f"<p><label><input type='checkbox' required> {escape(check)}</label></p>" if check else ""
    pressed = "".join(f'<button name="button" value="{escape(name)}">{escape(name)}</button>' for name in buttons)
    html = (
        f'<title>{escape(title)}</title><body><div role="dialog" aria-label="{escape(title)}"><h2>{escape(title)}</h2>'
        f"<p>{escape(text)}</p><form>{box}{pressed}</form></div></body>"
    )
    return {
        "id": f"notice-{number}", "kind": kind, "title": title, "html": html, "answer": None, "values": {},
        "focus": None, "start": None, "dialog": None, "references": {}, "given": 0, "loads": _FIRST_LOAD + number,
    }  # fmt: skip


def shown_page(html: str, update: str, layout: Record | None) -> Element:
    """Return the root of a page as it is shown. `update`: a line that has appeared at its top."""
    if not update and layout is None:
        return parse(html)
    return _changed(html, update, json.dumps(layout))


@lru_cache(maxsize=64)
def _changed(html: str, update: str, layout_text: str) -> Element:
    layout: Record | None = json.loads(layout_text)
    copy = _Copy(layout or {})
    root = copy.of(parse(html), None)
    if update:
        body = root.first("body") or root
        line = Element("p", {"role": "status"}, body, 1 + max(element.place for element in root.walk()))
        line.children.append(update)
        body.children.insert(0, line)
    return root


class _Copy:
    """Copies a page into another layout. Elements keep their places, and so their values and references."""

    def __init__(self, layout: Record) -> None:
        self._seed: Json = layout.get("seed")
        names: Mapping[str, str] = layout.get("names") or {}
        self._names = {name.casefold(): other for name, other in names.items()}

    def of(self, element: Element, parent: Element | None) -> Element:
        """Return a copy of an element, with all within."""
        copy = Element(element.tag, {**element.attributes}, parent, element.place)
        copy.children = [child if isinstance(child, str) else self.of(child, copy) for child in element.children]
        is_button = copy.get("type") in ("submit", "button", "reset") and not copy.has("name")
        for name in ("aria-label", "value") if is_button else ("aria-label",):  # with a name, the value is sent
            if copy.has(name):
                copy.attributes[name] = self._called(copy.get(name))
        if copy.tag in _NAMED:
            copy.children = [self._called(child) if isinstance(child, str) else child for child in copy.children]
        if self._seed is not None and element.tag in _PERMUTED:
            # The order is the same on every page of the same form.
            moved = [at for at, child in enumerate(copy.children) if isinstance(child, Element) and _may_move(child)]
            order = sorted(moved, key=lambda at: sha256(f"{self._seed} {copy.tag} {at}".encode()).digest())
            if order == moved:
                order.reverse()
            children = [*copy.children]
            for at, source in zip(moved, order, strict=True):
                children[at] = copy.children[source]
            copy.children = children
        return copy

    def _called(self, text: str) -> str:
        """Return a text with another name, if the whole of it is one; a number in brackets may follow."""
        match = _COUNT.fullmatch(squeezed(text))
        other = self._names.get(match[1].casefold()) if match is not None else None
        if match is None or other is None:
            return text
        return re.sub(r"\S.*\S|\S", lambda _: other + (match[2] or ""), text, count=1, flags=re.DOTALL)


def _may_move(element: Element) -> bool:
    is_hidden = element.tag in ("title", "meta", "link", "head") or element.get("type") == "hidden"
    return element.tag not in _FIRST and not is_hidden


def layout_record(seed: int | None, names: bool | Mapping[str, str]) -> Record:
    """Return the record of a layout.

    `seed`: for the order of elements; None: as it is. `names`: whether usual names have others, or more names.
    """
    given = {} if isinstance(names, bool) else {**names}
    return {"id": "layout", "seed": seed, "names": {**_words()["names"], **given} if names else {}}
