"""Roles and names of elements, as Playwright computes them (`roleUtils.ts`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import BUTTONS, Form, is_disabled, parsed_integer, squeezed
from mcp_sim.libraries.screens.tables import name_lists, name_map, name_set

ROLES = name_map("roles")
"""Element -> its role (ARIA in HTML); others are generic."""
INPUTS = name_map("roles_of_inputs")
"""Type of an input -> its role; others are textboxes."""
_WITH_LISTS = frozenset({"", "email", "search", "tel", "text", "url"})
"""Types of inputs that are comboboxes if they have a list of suggestions."""
_VALID_ROLES = name_set("other_roles").union(ROLES.values(), INPUTS.values())
_NAMED_BY_CONTENT = name_set("roles_named_by_content")
_PARTS_OF_NAMES = name_set("roles_in_names")
"""Roles whose content is part of the name of an element around them."""
_NAMELESS = name_set("nameless_roles")
_VALUED = frozenset({"progressbar", "scrollbar", "slider", "spinbutton", "meter"})
_LANDMARKS = frozenset({"article", "complementary", "main", "navigation", "region"})
_SECTIONS = frozenset({"article", "aside", "main", "nav", "section"})
_NAMED_BY: Mapping[str, str] = {"fieldset": "legend", "table": "caption", "figure": "figcaption"}
"""Element -> the child that names it."""
_PARENTS = name_lists("presenting_parents")
"""Element -> the parents that pass on that they are only presentation."""
_GLOBAL = name_set("global_attributes")
"""Attributes with which an element is more than presentation."""
INLINE = name_set("inline_elements")
BOXES = frozenset({"button", "input", "select", "textarea", "img", "progress", "meter"})
"""Elements that take place without content."""
_INVISIBLE = frozenset({"datalist", "head", "link", "meta", "source", "title"})
_DISPLAY = re.compile(r"(?:^|;)\s*display\s*:\s*([\w-]+)")


def is_hidden(element: Element) -> bool:
    """Whether an element is not shown."""
    is_closed = (element.tag == "input" and element.get("type") == "hidden") or (
        element.tag == "dialog" and not element.has("open")
    )
    return element.tag in _INVISIBLE or element.has("hidden") or is_closed or _display(element) == "none"


def is_inline(element: Element) -> bool:
    """Whether an element is part of a line of text."""
    return (_display(element) or ("inline" if element.tag in INLINE else "block")).startswith("inline")


def is_plain_inline(element: Element) -> bool:
    """Whether an element flows in a line, and is not a box of its own there."""
    display = _display(element)
    return (
        display == "inline" if display else element.tag in INLINE and (element.tag == "img" or element.tag not in BOXES)
    )


def _display(element: Element) -> str:
    style = _DISPLAY.search(element.get("style"))
    return style[1] if style else ""


@dataclass(slots=True, frozen=True)
class _Within:
    """What a text is computed for."""

    target: str = ""
    """`self` for the element that is named, `descendant` within it."""
    is_reference: bool = False
    """Whether `aria-labelledby` leads here."""
    is_label: bool = False
    """Whether it is a label, or the child that names its parent."""
    shows_hidden: bool = False
    """Whether what leads here is hidden itself, so that hidden texts count."""
    visited: set[Element] = field(default_factory=set[Element])
    sources: set[Element] = field(default_factory=set[Element])
    """The elements that the text is from."""


class Naming:
    """The roles and names of the elements of a page in a state."""

    unread: frozenset[str] = frozenset()
    """Elements whose content is not part of the name of an element around them."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._roles = dict[int, str]()

    @cached_property
    def _ids(self) -> dict[str, Element]:
        ids = dict[str, Element]()
        for element in self._form.root.walk():
            if element.get("id"):
                ids.setdefault(element.get("id"), element)
        return ids

    @cached_property
    def _labels(self) -> dict[int, list[Element]]:
        labels = dict[int, list[Element]]()
        for label in (element for element in self._form.root.walk() if element.tag == "label"):
            target = self.labelled(label)
            if target is not None:
                labels.setdefault(target.place, []).append(label)
        return labels

    def labelled(self, label: Element) -> Element | None:
        """Return the control of a label."""
        if label.get("for"):
            return self._ids.get(label.get("for"))
        controls = ("input", "select", "textarea", "button", "meter", "output", "progress")
        return next((inner for inner in label.walk() if inner.tag in controls and inner.get("type") != "hidden"), None)

    def is_shown(self, element: Element) -> bool:
        """Whether an element is shown: it and those around it are not hidden, nor in details that are closed."""
        inner = element
        for outer in element.above():
            if is_hidden(outer) or (outer is not element and self.is_closed(outer) and inner.tag != "summary"):
                return False
            inner = outer
        return True

    def is_closed(self, element: Element) -> bool:
        """Whether an element is a `details` that shows only its summary."""
        return element.tag == "details" and not self._form.values.get(str(element.place), element.has("open"))

    def _is_silent(self, element: Element) -> bool:
        """Whether an element is hidden from the names of others."""
        return any(outer.get("aria-hidden") == "true" for outer in element.above()) or not self.is_shown(element)

    # roles

    def role(self, element: Element) -> str:
        """Return the role of an element; '' for one that is only presentation."""
        known = self._roles.get(element.place)
        if known is None:
            known = self._roles[element.place] = self._role(element)
        return known

    def _role(self, element: Element) -> str:
        given = given_role(element)
        if given not in ("", "none", "presentation"):
            return given
        own = self._own_role(element)
        if own == "presentation":
            return ""
        role = "" if own and any(map(_is_presentation, _presenting(element))) else own or "generic"
        return "" if given and not _is_more_than_presentation(element) else role

    def _own_role(self, element: Element) -> str:
        """Return the role that an element has by itself; '' for a generic one."""
        match element.tag:
            case "a":
                return "link" if element.has("href") else ""
            case "input":
                return self._input_role(element)
            case "select":
                is_list = element.has("multiple") or (parsed_integer(element.get("size")) or 1) > 1
                return "listbox" if is_list else "combobox"
            case "img":
                is_plain = element.has("alt") and not element.get("alt") and not element.get("title")
                return "presentation" if is_plain and not _has_global_attribute(element) else "img"
            case "header" | "footer":
                role = "banner" if element.tag == "header" else "contentinfo"
                return "" if any(map(_is_section, element.above())) else role
            case "section" | "form":
                is_named = element.has("aria-label") or element.has("aria-labelledby")
                return ("region" if element.tag == "section" else "form") if is_named else ""
            case "td":
                table = element.closest("table")
                is_grid = table is not None and given_role(table) in ("grid", "treegrid")
                return "gridcell" if is_grid else "cell"
            case "th":
                return _header_role(element)
            case tag:
                return ROLES.get(tag, "")

    def _input_role(self, element: Element) -> str:
        kind = element.get("type").lower()
        suggestions = self._ids.get(element.get("list")) if kind in _WITH_LISTS else None
        return "combobox" if suggestions is not None and suggestions.tag == "datalist" else INPUTS.get(kind, "textbox")

    # names

    def name(self, element: Element, role: str, *, hidden: bool = False) -> tuple[str, set[Element]]:
        """Return the name of an element, and the elements that the name is from. `hidden`: also of one not shown."""
        if role in _NAMELESS and not (role == "generic" and not element.get("role")):
            return "", set()
        within = _Within(target="self", shows_hidden=hidden)
        return squeezed(self._text_of(element, within)), within.sources

    def content(self, element: Element) -> str:
        """Return the text that an element shows, with the values of its controls."""
        return self._inner_text(element, _Within(is_label=True, visited={element}))

    def _text_of(self, element: Element, within: _Within) -> str:
        """Return the text of an element within a name."""
        if element in within.visited or (not within.shows_hidden and self._is_silent(element)):
            return ""
        if element.tag in self.unread and within.target == "descendant":
            return ""
        references = self._references(element)
        if references and not within.is_reference:
            text = " ".join(self._text_of_other(other, within, is_label=False) for other in references)
            if text:
                return text
        role = "" if self.role(element) == "generic" and not element.get("role") else self.role(element)
        is_part = within.is_reference or within.is_label or within.target == "descendant"
        value = self._value_text(element, role) if is_part and element not in references else None
        if value is None:
            value = element.get("aria-label") if element.get("aria-label").strip() else None
        if value is None and role:
            value = self._native_text(element, within)
        if value is not None:
            within.visited.add(element)
            is_choice = is_part and element.tag == "select"
            within.sources.update((self._chosen_options(element) if is_choice else [element]) if value.strip() else ())
            return value
        return self._content_or_title(element, role, within)

    def _references(self, element: Element) -> list[Element]:
        names = dict.fromkeys(element.get("aria-labelledby").split())
        return [self._ids[name] for name in names if name in self._ids]

    def _text_of_other(self, other: Element, within: _Within, *, is_label: bool) -> str:
        hidden = self._is_silent(other)
        return self._text_of(other, _Within("", not is_label, is_label, hidden, within.visited, within.sources))

    def _value_text(self, element: Element, role: str) -> str | None:
        """Return the value that a control contributes to the name of another; None for other elements."""
        if role in ("textbox", "searchbox"):
            return str(self._form.value(element) or "") if element.tag in ("input", "textarea") else element.text
        if role in ("combobox", "listbox"):
            if element.tag == "input":
                return str(self._form.value(element) or "")
            return " ".join(squeezed(option.text) for option in self._chosen_options(element))
        if role in _VALUED:
            return element.get("aria-valuetext") or element.get("aria-valuenow") or element.get("value")
        return "" if role == "menu" else None

    def _chosen_options(self, select: Element) -> list[Element]:
        """Return the options of a list that are chosen."""
        options = [option for option in select.walk() if self.role(option) == "option"]
        if select.tag != "select":
            return [option for option in options if option.get("aria-selected") == "true"]
        return [option for option in options if self._form.is_chosen(option)] or options[:1]

    def _native_text(self, element: Element, within: _Within) -> str | None:
        """Return the name that HTML gives an element; None if its content or title is."""
        kind = element.get("type").lower() if element.tag == "input" else ""
        title = element.get("title")
        if kind in BUTTONS - {"image"}:
            usual = {"submit": "Submit", "reset": "Reset"}.get(kind, title)
            return element.get("value") if element.get("value").strip() else usual
        if element.tag in ("input", "button", "output", "textarea", "select", "meter", "progress"):
            return self._control_text(element, kind, within)
        if element.tag == "img":
            return element.get("alt") if element.get("alt").strip() else title
        if element.tag not in _NAMED_BY or self._references(element):
            return None
        child = next((child for child in element.elements if child.tag == _NAMED_BY[element.tag]), None)
        if child is None:
            return None if element.tag == "table" else title
        within.visited.add(element)
        hidden = self._is_silent(child)
        inner = replace(within, target="descendant", is_label=True, shows_hidden=hidden)
        return self._text_of(child, inner)

    def _control_text(self, control: Element, kind: str, within: _Within) -> str | None:
        labels = self._labels.get(control.place, ())
        within.visited.add(control)
        if labels:
            return " ".join(filter(None, (self._text_of_other(label, within, is_label=True) for label in labels)))
        if control.tag == "button":
            within.visited.discard(control)
            return None
        if kind == "file":
            return "Choose File"
        if kind == "image":
            return next(filter(str.strip, (control.get("alt"), control.get("title"))), "Submit")
        can_hint = control.tag == "textarea" or (
            control.tag == "input" and kind in ("", "text", "password", "number", "search", "tel", "email", "url")
        )
        return control.get("title") or (control.get("placeholder") if can_hint else "")

    def _content_or_title(self, element: Element, role: str, within: _Within) -> str:
        is_part = within.target == "descendant" and role in _PARTS_OF_NAMES
        is_named = role in _NAMED_BY_CONTENT or is_part or element.tag == "summary"
        within.visited.add(element)
        if is_named or within.is_reference or within.is_label:
            inner = replace(within, target="descendant") if within.target else within
            text = self._inner_text(element, inner)
            if text.strip() if within.target == "self" else text:
                within.sources.add(element)
                return text
        title = element.get("title") if self.role(element) else ""
        within.sources.update({element} if title.strip() else ())
        return title if title.strip() else ""

    def _inner_text(self, element: Element, within: _Within) -> str:
        parts = list[str]()
        for child in element.children:
            if isinstance(child, str):
                parts.append(child)
            else:
                text = self._text_of(child, within)
                is_apart = not is_plain_inline(child) or child.tag == "br" or is_hidden(child)
                parts.append(f" {text} " if is_apart else text)
        return "".join(parts)


def given_role(element: Element) -> str:
    """Return the first role of an element that exists, '' if none is given."""
    return next((role for role in element.get("role").split() if role in _VALID_ROLES), "")


def _presenting(element: Element) -> Iterable[Element]:
    """Yield the elements around a part of a list or table that it belongs to."""
    inner = element
    while inner.parent is not None and inner.parent.tag in _PARENTS.get(inner.tag, ()):
        inner = inner.parent
        yield inner


def _is_presentation(element: Element) -> bool:
    return given_role(element) in ("none", "presentation") and not _is_more_than_presentation(element)


def _is_more_than_presentation(element: Element) -> bool:
    is_native = element.tag in ("button", "details", "select", "textarea", "input") or (
        element.tag == "a" and element.has("href")
    )
    return _has_global_attribute(element) or (is_native and not is_disabled(element))


def _has_global_attribute(element: Element) -> bool:
    return any(name in _GLOBAL for name in element.attributes) or element.has("tabindex")


def _is_section(element: Element) -> bool:
    return element.get("role") in _LANDMARKS if element.has("role") else element.tag in _SECTIONS


def _header_role(header: Element) -> str:
    """Return the role of a `th`, by its scope or its neighbours."""
    scope = header.get("scope")
    if scope in ("col", "colgroup"):
        return "columnheader"
    if scope in ("row", "rowgroup"):
        return "rowheader"
    row = header.parent
    cells = [*row.elements] if row is not None else [header]
    at = cells.index(header)
    neighbours = [*cells[max(0, at - 1) : at], *cells[at + 1 : at + 2]]
    if not neighbours:
        table = header.closest("table")
        rows = () if table is None else (element for element in table.walk() if element.tag == "tr")
        return "columnheader" if next(islice(rows, 1, None), None) else ""
    if len(neighbours) > 1 and all(cell.tag == "th" for cell in neighbours):
        return "columnheader"
    data = (cell for cell in neighbours if cell.tag == "td")
    return "rowheader" if any(cell.text.strip() or [*cell.elements] for cell in data) else "columnheader"
