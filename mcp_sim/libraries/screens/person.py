"""Screens for a person: the page that an agent sees, as HTML that only shows, or in the form of a printer.

The HTML is written anew from the parsed page. Scripts, addresses and styles are left out, and every text is escaped, so
that nothing in a record runs or loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from html import escape
from typing import Literal

from mcp_sim.libraries.screens import browsergym, playwright
from mcp_sim.libraries.screens.browser import PAGE, TAB
from mcp_sim.libraries.screens.dom import VOID, Element, parse
from mcp_sim.libraries.screens.forms import Form, option_value
from mcp_sim.libraries.screens.front import LAYOUT, NOTICE, shown_page
from mcp_sim.libraries.screens.naming import is_hidden
from mcp_sim.libraries.screens.tab import tree_of
from mcp_sim.libraries.screens.tables import name_set
from mcp_sim.types import Record

_KEPT = name_set("shown_attributes")
"""Attributes that only show. Values and choices are added as they were entered."""

_TARGETS = frozenset({"a", "button", "input", "select", "summary", "textarea"})
"""Elements that a person acts on. They carry their references, which calls of tools take."""

Rows = Callable[[str], Iterable[Record]]
"""Returns the records of a table."""


FormOfScreen = Literal["html", "playwright", "browsergym"]
"""HTML, or the lines of a printer."""


def screens(names: Iterable[str], rows: Rows, form: FormOfScreen = "html") -> Iterator[str]:
    """Yield what each screen among these tables shows. In worlds with `namespaces` each server has its own."""
    for name in sorted(names):
        server, _, table = name.rpartition(".")
        if table == TAB:
            shown = _screen(partial(_rows_of, rows, f"{server}." if server else ""), form)
            if shown:
                yield shown


def _rows_of(rows: Rows, prefix: str, table: str) -> Iterable[Record]:
    return rows(f"{prefix}{table}")


def _screen(rows: Rows, shown_as: FormOfScreen) -> str:
    """Return what is in front: the open notice, else the page of the current tab; '' if there is no tab."""
    tab = next((tab for tab in rows(TAB) if tab["current"]), None)
    notice = next((notice for notice in rows(NOTICE) if notice["answer"] is None), None)
    front = tab if notice is None else notice
    if front is None:
        return ""
    if notice is not None:
        root = parse(notice["html"])
    else:
        html = next((page["html"] for page in rows(PAGE) if page["id"] == front["page"]), "")
        root = shown_page(html, front["update"], next(iter(rows(LAYOUT)), None))
    form, url = Form(root, front["values"]), "" if tab is None else tab["url"]
    match shown_as:
        case "html":
            return _html(form, front, url)
        case "playwright":
            return playwright.snapshot(tree_of(form, front).build())
        case "browsergym":
            return browsergym.flattened(form, front["title"], url, front["focus"], with_clickable=True)


def _html(form: Form, front: Record, url: str) -> str:
    bar = f"<p><code>{escape(url)}</code></p><hr>" if url else ""
    dialog: Record = front["dialog"] or Record()
    question = f'<p role="alert"><strong>{escape(str(dialog["message"]))}</strong></p>' if "message" in dialog else ""
    kept = front["references"]  # an element that got another name has none until someone looks
    if not kept:
        tree = tree_of(form, front)
        tree.build()
        kept = tree.references
    references = {int(place): entry[0] for place, entry in kept.items()}
    body = "".join(_written(form.root.first("body") or form.root, form, references))
    return f"<!doctype html><meta charset=utf-8><title>{escape(front['title'])}</title>{bar}{question}{body}"


def _written(element: Element, form: Form, references: Mapping[int, str]) -> Iterator[str]:
    if is_hidden(element):
        return
    tag = element.tag if element.tag not in ("#document", "html", "body", "form") else "div"
    attributes = {name: value for name, value in element.attributes.items() if name in _KEPT or name[:5] == "aria-"}
    if element.tag in _TARGETS and element.place in references:
        attributes["data-ref"] = references[element.place]
    shown = "".join(f' {name}="{escape(value)}"' for name, value in {**attributes, **_entered(element, form)}.items())
    yield f"<{tag}{shown}>"
    if tag in VOID:
        return
    if tag == "textarea":
        yield "\n" + escape(str(form.value(element)))
    else:
        for child in element.children:
            if isinstance(child, str):
                yield escape(child)
            else:
                yield from _written(child, form, references)
    yield f"</{tag}>"


def _entered(element: Element, form: Form) -> dict[str, str]:
    """Return the attributes that show what was entered."""
    kind = element.get("type")
    match element.tag:
        case "a":
            shown = {"tabindex": "0", "role": element.get("role") or "link"} if element.has("href") else {}
        case "details":
            shown = {"open": ""} if form.values.get(str(element.place), element.has("open")) else {}
        case "option":
            shown = {"value": option_value(element), **({"selected": ""} if form.is_chosen(element) else {})}
        case "meter" | "progress":
            shown = {"value": element.get("value")}
        case "input" if kind in ("checkbox", "radio"):
            shown = {"checked": ""} if form.value(element) else {}
        case "input" if kind == "password":
            shown = {"value": "•" * len(str(form.value(element)))}
        case "input" if kind != "file":
            shown = {"value": str(form.value(element))}
        case _:
            shown = {}
    return shown
