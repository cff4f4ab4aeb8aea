"""Screens of a desktop: the objects that GTK programs show to AT-SPI, as OSWorld prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from mcp_sim.libraries.screens.android import View, Views, escaped
from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import CONTROLS, is_disabled, is_text_control, squeezed
from mcp_sim.libraries.screens.layout import Area, Box
from mcp_sim.libraries.screens.naming import is_hidden
from mcp_sim.libraries.screens.tables import name_lists, name_map, name_set

_ROLES = name_map("gtk_roles")
"""Role of ARIA -> the role that GTK 3 gives the same control; other groups are panels."""
_CONTROLS = name_set("gtk_controls")
"""Roles without objects within."""
_STATES = name_lists("gtk_states")
"""Role -> its states besides those of everything that is shown, as in dumps of mousepad and zenity."""
_SHOWN = ("enabled", "sensitive", "showing", "visible")
_LISTED = ("button", "heading", "item", "label", "link", "menu", "searchbox", "textbox")
_ALSO_LISTED = name_set("osworld_roles")
"""The roles that OSWorld lists: with these endings, and these."""


@dataclass(slots=True, eq=False)
class Accessible(View):
    """An object: `class_name` is its role, `flags` are its states."""

    name: str = ""


class Accessibles(Views):
    """The objects of a page of an app."""

    classes: ClassVar[Mapping[str, str]] = {role: _ROLES[role] for role in _CONTROLS}

    def objects(self) -> list[View]:
        """Return the objects that are shown."""
        return _spliced(self._views(self._layout.top))

    def _is_control(self, element: Element, role: str) -> bool:
        is_group = role in ("cell", "gridcell") and element.first("button", *CONTROLS) is not None
        return role in self.classes and not is_group

    def _line(self, box: Box, area: Area) -> View:
        return self._labelled(box.element, area, squeezed(box.text))

    def _control(self, element: Element, role: str, area: Area) -> View:
        kind = "password-text" if element.get("type") == "password" else _ROLES[role]
        value = self._form.value(element) if element.tag in CONTROLS else ""
        if is_text_control(element):  # the label beside a field names it: the field itself has no name
            shown = self._object(kind, area, element, "", str(value or ""))
            shown.text = "•" * len(shown.text) if kind == "password-text" else shown.text
            shown.flags |= {"multi_line" if element.tag == "textarea" else "single_line"}
        elif kind == "combo-box":
            shown = self._object(kind, area, element, self._chosen(element))
            options = new("menu", (0, 0, 0, 0), element, "")
            options.flags, options.children = frozenset({"enabled", "sensitive"}), [*self._closed(element)]
            shown.children = [options]
        elif kind == "table-cell":
            text = squeezed(self._tree.content(element))
            shown = self._object(kind, area, element, text, text)
        else:
            shown = self._object(kind, area, element, self._tree.name(element, role)[0])
            shown.flags |= {"checked"} if role in ("checkbox", "radio", "switch") and value else frozenset()
        return shown

    def _text(self, element: Element, role: str, area: Area) -> View:
        text = squeezed(element.get("aria-label") or self._tree.content(element))
        if role == "columnheader":
            return self._object("table-column-header", area, element, text)
        label = self._labelled(element, area, text)
        return label if role not in _ROLES else self._group(element, role, area, [label])

    def _group(self, element: Element, role: str, area: Area, children: list[View]) -> View:
        group = self._object(_ROLES.get(role, "panel"), area, element, squeezed(element.get("aria-label")))
        if role in ("row", "rowgroup"):  # the cells of GTK are directly in their table
            group.class_name = ""
        group.children = _spliced(children)
        if role == "menu":
            shown = [child for child in group.children if child.element.tag != "summary"]
            group.children = shown or [*self._closed(element)]
        return group

    def _closed(self, menu: Element) -> Iterator[View]:
        """Yield the items of a closed menu or list: they are known, but not on the screen."""
        for element in menu.elements:
            role = self._tree.role(element)
            if is_hidden(element):
                continue
            if role not in ("menu", "menuitem", "option", "separator"):
                yield from self._closed(element)
                continue
            name = self._tree.name(element, role, hidden=True)[0]
            item = self._object(_ROLES[role], (0, 0, 0, 0), element, name)
            item.flags -= {"showing"}
            item.children = [*self._closed(element)] if role == "menu" else []
            yield item

    def _labelled(self, element: Element, area: Area, text: str) -> Accessible:
        return self._object("label", area, element, text, text)

    def _object(self, role: str, area: Area, element: Element, name: str, text: str = "") -> Accessible:
        shown = new(role, area, element, name, text)
        shown.flags = self._flags(element, {*shown.flags}) - (
            {"enabled", "sensitive"} if is_disabled(element) else set()
        )
        return shown


def new(role: str, area: Area, element: Element, name: str, text: str = "") -> Accessible:
    """Return an object with the states that all of its role have."""
    return Accessible(role, area, element, text, flags=frozenset((*_SHOWN, *_STATES.get(role, ()))), name=name)


def _spliced(objects: Iterable[View]) -> list[View]:
    """Return objects; one without a role is replaced by those within it."""
    return [inner for item in objects for inner in (item.children if not item.class_name else [item])]


# printers -------------------------------------------------------------------------------------------------------------

_HEADER = "tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)"
_SPACES = {
    name: f"https://accessibility.ubuntu.example.org/ns/{space}"
    for name, space in (("st", "state"), ("attr", "attributes"), ("cp", "component"))
}


def table(root: View) -> str:
    """Return the objects on the screen as the table that agents of OSWorld get."""
    lines = [_HEADER]
    for item in root.walk():
        is_known = item.class_name in _ALSO_LISTED or item.class_name.endswith(_LISTED)
        is_shown = {"showing", "visible"} <= item.flags and min(item.area[2:]) > 0
        if isinstance(item, Accessible) and is_known and is_shown and (item.name or item.text):
            text = item.text if '"' not in item.text else '"' + item.text.replace('"', '""') + '"'
            cells = (item.name, text or '""', "", item.description, item.area[:2], item.area[2:])
            lines.append("\t".join([item.class_name, *map(str, cells)]))
    return "\n".join(lines)


def xml(root: View) -> str:
    """Return all objects as the XML from which OSWorld makes that table."""
    spaces = "".join(f' xmlns:{name}="{space}"' for name, space in _SPACES.items())
    return "".join(_nodes(root, spaces))


def _nodes(item: View, spaces: str = "") -> Iterator[str]:
    name = item.name if isinstance(item, Accessible) else ""
    states = "".join(f' st:{state}="true"' for state in sorted(item.flags))
    is_placed = {"showing", "visible"} <= item.flags
    place = f' cp:screencoord="{item.area[:2]}" cp:size="{item.area[2:]}"' if is_placed else ""
    yield f'<{item.class_name}{spaces} name="{escaped(name)}"{states}{place}>{escaped(item.text)}'
    for child in item.children:
        yield from _nodes(child)
    yield f"</{item.class_name}>"
