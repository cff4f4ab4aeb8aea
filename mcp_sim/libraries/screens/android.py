"""Screens of Android: the views of a page, as `uiautomator dump` and mobile-mcp print them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import ClassVar

from mcp_sim.libraries.screens.accessibility import Tree
from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import Form, is_disabled, is_text_control, squeezed
from mcp_sim.libraries.screens.layout import Area, Box, Layout
from mcp_sim.libraries.screens.naming import is_inline
from mcp_sim.libraries.screens.tables import name_map
from mcp_sim.types import Record

_CLASSES = name_map("android_classes")
"""Role -> the class of the view in `android.widget`."""
_CHECKABLE = frozenset({"checkbox", "radio", "switch"})
_HEADER = (
    "One element per line: @ref Type text= label= name= value= id= at=x,y size=WxH [focused] [selected] [checked] "
    "[disabled]"
)


@dataclass(slots=True, eq=False)
class View:
    """A view of the screen."""

    class_name: str
    area: Area
    element: Element
    text: str = ""
    description: str = ""
    hint: str = ""
    identifier: str = ""
    flags: frozenset[str] = frozenset({"enabled"})
    children: list[View] = field(default_factory=list["View"])

    def walk(self) -> Iterator[View]:
        """Yield this view and all within, outer ones first."""
        waiting: list[View] = [self]
        while waiting:
            view = waiting.pop()
            yield view
            waiting.extend(reversed(view.children))


class Views:
    """The views of a page of an app. `focus` is the place of the element with the focus."""

    classes: ClassVar[Mapping[str, str]] = _CLASSES
    """Role -> the class of its view, for roles that are controls."""

    def __init__(self, form: Form, layout: Layout, package: str, focus: int | None) -> None:
        self._form, self._layout, self.package, self._focus = form, layout, package, focus
        self._tree = Tree(form, focus, "", {}, 0)

    def root(self, size: tuple[int, int]) -> View:
        """Return the views of the whole screen."""
        page = self._layout.top
        return View("android.widget.FrameLayout", (0, 0, *size), page.element, children=[*self._views(page)])

    def _views(self, box: Box) -> Iterator[View]:
        area = self._layout.shown(box)
        inner = (view for child in box.children for view in self._views(child))
        if area is None:
            if box.children:  # what is fixed may be within something that is not on the screen
                yield from inner
            return
        if box.text:
            yield self._line(box, area)
            return
        role = self._tree.role(box.element)
        if self._is_control(box.element, role):
            yield self._control(box.element, role, area)
        elif self._is_text(box):
            yield self._text(box.element, role, area)
        else:
            yield self._group(box.element, role, area, [*inner])

    def _is_text(self, box: Box) -> bool:
        """Whether an element only has text: its own, and that of elements which are part of its line."""
        inner = (child for child in box.children if not child.text)
        return bool(box.children or box.element.get("aria-label")) and all(
            is_inline(child.element)
            and not self._is_control(child.element, self._tree.role(child.element))
            and not _is_tapped(child.element)
            and not child.element.get("id")
            and self._is_text(child)
            for child in inner
        )

    def _is_control(self, _element: Element, role: str) -> bool:
        return role in self.classes

    def _line(self, box: Box, area: Area) -> View:
        return View("android.widget.TextView", area, box.element, box.text)

    def _control(self, element: Element, role: str, area: Area) -> View:
        view = View(f"android.widget.{self.classes[role]}", area, element, identifier=self._identifier(element))
        flags = {"clickable", "focusable"} if role not in ("img", "meter", "progressbar") else set[str]()
        value = self._form.value(element) if element.tag in ("input", "select", "textarea") else ""
        if role in _CHECKABLE:
            is_on = bool(value) if element.tag == "input" else element.get("aria-checked") == "true"
            flags |= {"checkable", *(("checked",) if is_on else ())}
            view.description = squeezed(element.get("aria-label"))
        elif is_text_control(element):
            flags |= {"long-clickable", *(("password",) if element.get("type") == "password" else ())}
            view.hint = element.get("placeholder") or self._tree.name(element, role)[0]
            text = str(value or "")
            # an empty field reports its hint as its text, as Android does
            view.text = ("•" * len(text) if "password" in flags else text) or view.hint
        elif element.tag == "select":
            view.children = [View("android.widget.TextView", area, element, self._chosen(element))]
            view.description = squeezed(element.get("aria-label"))
        elif role == "slider":
            view.description, view.text = self._tree.name(element, role)[0], str(value or "")
        else:
            self._name(view, role)
        view.flags = self._flags(element, flags)
        return view

    def _text(self, element: Element, role: str, area: Area) -> View:
        view = View("android.widget.TextView", area, element, identifier=self._identifier(element))
        self._name(view, role)
        view.flags = self._flags(element, {"clickable", "focusable"} if _is_tapped(element) else set())
        return view

    def _group(self, element: Element, role: str, area: Area, children: list[View]) -> View:
        name = "androidx.recyclerview.widget.RecyclerView" if role == "list" else "android.view.ViewGroup"
        flags = {"clickable", "focusable"} if _is_tapped(element) else set[str]()
        if element is self._layout.top.element and self._layout.most_scroll:
            flags.add("scrollable")
        view = View(name, area, element, children=children, identifier=self._identifier(element))
        view.description, view.flags = squeezed(element.get("aria-label")), self._flags(element, flags)
        return view

    def _name(self, view: View, role: str) -> None:
        """Give a view its text, or only a description if the text is replaced by one."""
        element = view.element
        computed = self._tree.name(element, role)[0] if element.tag in ("img", "input") else ""
        description = squeezed(element.get("aria-label")) or (computed if role == "img" else "")
        text = computed or squeezed(self._tree.content(element))
        view.text, view.description = ("", description) if description else (text, "")

    def _chosen(self, select: Element) -> str:
        options = (option for option in select.walk() if option.tag == "option" and self._form.is_chosen(option))
        return ", ".join(squeezed(option.text) for option in options)

    def _identifier(self, element: Element) -> str:
        name = element.get("id")
        return name if not name or ":" in name else f"{self.package}:id/{name}"

    def _flags(self, element: Element, flags: set[str]) -> frozenset[str]:
        if not is_disabled(element):
            flags.add("enabled")
        if element.place == self._focus:
            flags.add("focused")
        if element.get("aria-selected") == "true" or element.get("aria-current"):
            flags.add("selected")
        return frozenset(flags)


def _is_tapped(element: Element) -> bool:
    return (element.tag == "a" and element.has("href")) or element.tag in ("label", "summary")


# printers -------------------------------------------------------------------------------------------------------------

_FLAGS = (
    "checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long-clickable", "password",
    "selected",
)  # fmt: skip
_ESCAPED = {
    **dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "."),
    9: "&#9;",
    10: "&#10;",
    13: "&#13;",
    ord('"'): "&quot;",
}
"""Characters that attributes cannot have as they are; for those that XML cannot have, Android prints a dot."""


def uiautomator(root: View, package: str) -> str:
    """Return the screen as `uiautomator dump` prints it."""
    head = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
    return "".join([head, *_nodes(root, 0, package), "</hierarchy>"])


def _nodes(view: View, index: int, package: str) -> Iterator[str]:
    x, y, width, height = view.area
    values = {
        "index": str(index), "text": view.text, "resource-id": view.identifier, "class": view.class_name,
        "package": package, "content-desc": view.description,
        **{flag: str(flag in view.flags).lower() for flag in _FLAGS},
        "bounds": f"[{x},{y}][{x + width},{y + height}]", "hint": view.hint,
    }  # fmt: skip
    attributes = " ".join(f'{name}="{escaped(value)}"' for name, value in values.items())
    yield f"<node {attributes}{'>' if view.children else ' />'}"
    for at, child in enumerate(view.children):
        yield from _nodes(child, at, package)
    if view.children:
        yield "</node>"


def escaped(text: str) -> str:
    """Return a text as it is written in XML."""
    return escape(text, quote=False).translate(_ESCAPED)


def listed(root: View) -> list[tuple[str, View]]:
    """Return the views that mobile-mcp lists, with their references."""
    views = (
        view
        for view in root.walk()
        if view.text or view.description or view.hint or view.identifier or view.flags & {"clickable", "checkable"}
    )
    return [(f"@e{number}", view) for number, view in enumerate(views, 1)]


def elements(root: View, style: str = "text") -> str:
    """Return the views of a screen as mobile-mcp lists them, as lines (`text`) or as `json`."""
    if style == "json":
        text = json.dumps([_element(*pair) for pair in listed(root)], ensure_ascii=False, separators=(",", ":"))
        return f"Found these elements on screen: {text}"
    return "\n".join([_HEADER, *(_line(*pair) for pair in listed(root))])


def _element(reference: str, view: View) -> Record:
    x, y, width, height = view.area
    names = {"label": view.description, "identifier": view.identifier}
    values = {name: value for name, value in names.items() if value}
    place = {"x": x, "y": y, "width": width, "height": height}
    states: Record = {flag: True for flag in ("focused", "selected", "checked") if flag in view.flags}
    if "enabled" not in view.flags:
        states["enabled"] = False
    return {"ref": reference, "type": view.class_name, "text": view.text, **values, "coordinates": place, **states}


def _line(reference: str, view: View) -> str:
    x, y, width, height = view.area
    names = {"text": view.text, "label": view.description, "id": view.identifier}
    parts = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in names.items() if value]
    states = [flag for flag in ("focused", "selected", "checked") if flag in view.flags]
    states += [] if "enabled" in view.flags else ["disabled"]
    kind = view.class_name.rpartition(".")[2]
    return " ".join([reference, kind, *parts, f"at={x},{y}", f"size={width}x{height}", *states])
