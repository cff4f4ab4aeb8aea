"""Print a page as BrowserGym does: Chromium's accessibility tree, with a number (`bid`) for each element."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from struct import pack, unpack
from typing import TYPE_CHECKING

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import (
    CONTROLS,
    Form,
    is_disabled,
    is_text_control,
    is_well_formed,
    parsed_integer,
    squeezed,
)
from mcp_sim.libraries.screens.naming import Naming, given_role, is_hidden, is_inline
from mcp_sim.libraries.screens.site import ScreenError, resolved
from mcp_sim.libraries.screens.tables import name_map
from mcp_sim.types.json_schema.shapes import as_list

if TYPE_CHECKING:
    from mcp_sim.libraries.screens.tab import Tab

_SPACES = re.compile(r"[ \t\n\r\f]+")
"""What lines of text collapse. Other blanks stay."""
_HEAD = frozenset({"title", "meta", "link"})
_ROLES = name_map("chromium_roles")
"""Element -> its role in Chromium, where it is not that of ARIA."""
_FIELDS = name_map("chromium_roles_of_inputs")
"""Type of an input -> its role in Chromium."""
_LAYOUT_PARTS = name_map("chromium_roles_in_layouts")
"""Part of a table that only arranges -> its role."""
_OF_DATA = frozenset({"th", "caption", "thead", "tfoot", "col", "colgroup"})
"""Elements that only tables of data have."""
_UNNAMED = frozenset({"row", "LayoutTableRow", "figure", "Legend", "LabelText", "Figcaption", "DescriptionList"})
"""Roles that content does not name here, other than in Playwright."""
_LIVE: Mapping[str, str] = {"alert": "assertive", "status": "polite", "log": "polite"}
_ACROSS = frozenset({"separator", "slider", "tablist", "toolbar", "scrollbar", "menubar"})
"""Roles whose orientation is horizontal if nothing else is given."""
_DOWN = frozenset({"listbox", "menu", "tree"})
_RANGED = frozenset({"meter", "progressbar", "slider", "spinbutton"})
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_REQUIRED = frozenset({"combobox", "listbox", "searchbox", "spinbutton", "textbox"})
"""Roles whose fields show that they are required."""
_SELECTED = frozenset({"option", "tab", "treeitem"})
_BULLETS = "•◦▪"


@dataclass(slots=True)
class _Node:
    """A node of the tree, as it is printed. Children of a node that is not shown are shown in its place."""

    text: str = ""
    name: str = ""
    is_text: bool = False
    children: list[_Node] = field(default_factory=list["_Node"])


def elements(root: Element) -> dict[str, Element]:
    """Return the elements of a page by bid: their numbers in a browser's document, where html, head and body exist."""
    walk = [element for element in root.walk() if element is not root]
    parts = {element.tag: element for element in reversed(walk) if element.tag in ("html", "head", "body")}
    head, rest = list[Element](), [element for element in walk if parts.get(element.tag) is not element]
    for element in rest:
        is_within = "head" in parts and element.closest("head") is not None
        if not is_within and (element.tag not in _HEAD or element.closest("body") is not None):
            break
        head.append(element)
    order = [parts.get("html"), parts.get("head"), *head, parts.get("body", root), *rest[len(head) :]]
    return {str(number): element for number, element in enumerate(order) if element is not None}


def snapshot(tab: Tab, *, with_clickable: bool = False) -> str:
    """Return what a tab shows, one line for a node."""
    return flattened(tab.form, tab.title, tab.url, tab.shown["focus"], with_clickable=with_clickable)


def element(root: Element, bid: str) -> Element:
    """Return the element of a bid. Raises `ScreenError` for an unknown one."""
    match = elements(root).get(bid)
    if match is None:
        raise ScreenError(f'Could not find element with bid "{bid}"')
    return match


def flattened(form: Form, title: str, url: str, focus: int | None = None, *, with_clickable: bool = False) -> str:
    """Return a page as `flatten_axtree_to_str` does, one line for a node, indented by tabs.

    `focus`: the place of the element that has it. `with_clickable`: whether lines show which elements react to a click.
    """
    printer = _Printer(form, url, focus, with_clickable=with_clickable)
    top = form.root.first("body") or form.root
    page = _Node(f"RootWebArea {title.strip()!r}, focused, url={url!r}", title, children=[*printer.within(top)])
    return "\n".join(_lines(page, 0, ""))


def _lines(node: _Node, depth: int, around: str) -> Iterator[str]:
    is_shown = bool(node.text) and not (node.is_text and (node.name.strip() or node.name) in around)
    if is_shown:
        yield "\t" * depth + node.text
    for child in node.children:
        yield from _lines(child, depth + is_shown, node.name)


class _Printer(Naming):
    unread = frozenset({"form"})

    def __init__(self, form: Form, url: str, focus: int | None, *, with_clickable: bool) -> None:
        super().__init__(form)
        self._url, self._focus, self._with_clickable = url, focus, with_clickable
        self._bids = {element.place: bid for bid, element in elements(form.root).items()}
        self._arranging = dict[int, bool]()
        """Whether tables only arrange, by place."""
        self._at = {
            inner.place: at
            for outer in form.root.walk()
            for at, inner in enumerate(outer.children)
            if isinstance(inner, Element)
        }

    # nodes

    def within(self, element: Element) -> Iterator[_Node]:
        """Yield the nodes of what an element shows."""
        is_closed = self.is_closed(element)
        if element.tag == "q":
            yield _static("“")
        for at, child in enumerate(element.children):
            if isinstance(child, Element):
                is_silent = is_hidden(child) or child.get("aria-hidden") == "true"
                if not is_silent and not (is_closed and child.tag != "summary"):
                    yield self._node(child)
            elif not is_closed and self._has_text(element, at):
                if element.closest("pre") is not None:
                    yield _static(child.removeprefix("\n"))
                else:
                    yield _static(_SPACES.sub(" ", child))
        if element.tag == "q":
            yield _static("”")

    def _node(self, element: Element) -> _Node:
        role = self._chromium_role(element)
        if role in ("", "br"):
            return _Node()
        name = "" if role in _UNNAMED and not _is_labelled(element) else self._name(element, role)
        attributes = [*self._attributes(element, role)]
        children = [*self._children(element, role)]
        if role == "generic" and not attributes:
            return _Node("", name, children=children)
        if self._with_clickable and _is_clickable(element, self):
            attributes.insert(0, "clickable")
        value = self._value(element, role)
        shown = "" if value is None else f" value={value!r}"
        label = role if role == "generic" and not name else f"{role} {name.strip()!r}"
        text = f"[{self._bids[element.place]}] {label}{shown}{''.join(f', {entry}' for entry in attributes)}"
        return _Node(text, name, children=children)

    def _name(self, element: Element, role: str) -> str:
        if element.tag == "abbr":
            return element.get("title")
        if element.tag == "input" and element.get("type") in ("submit", "reset") and not element.has("value"):
            return ""
        if element.tag == "optgroup" or (element.tag == "option" and element.get("label")):
            return element.get("label")
        if element.tag == "dt":
            return self.content(element).strip()
        return self.name(element, role)[0]

    def _value_text(self, element: Element, role: str) -> str | None:
        text = super()._value_text(element, role)
        return None if role in ("textbox", "searchbox") and not text else text  # its name, then

    def _children(self, element: Element, role: str) -> Iterator[_Node]:
        if element.tag == "select":
            options = [self._node(inner) for inner in element.elements if not is_hidden(inner)]
            yield from [_Node("MenuListPopup ''", children=options)] if role == "combobox" else options
        elif element.tag in ("input", "textarea"):
            yield from self._field(element, role)
        else:
            if element.tag == "li" and (marker := self._marker(element)):
                yield _Node(f"{'ListMarker' if role == 'listitem' else 'StaticText'} {marker!r}")
            if element.tag == "summary" and (first := _first(element)) is not None and not is_inline(first):
                yield _Node(f"ListMarker '{'▸' if element.parent is None or self.is_closed(element.parent) else '▾'}'")
            yield from () if element.tag in ("meter", "progress") else self.within(element)

    def _field(self, control: Element, role: str) -> Iterator[_Node]:
        """Yield what browsers have within a field: its text, or the parts of a date."""
        kind = control.get("type") if control.tag == "input" else ""
        value = self._form.value(control)
        if kind == "image":
            yield _Node("image ''")
            yield _Node(children=[_static(control.get("alt") or "Submit")])
        elif kind in ("date", "time"):
            prefix = "" if control.has("aria-describedby") else f"[{self._bids[control.place]}] "
            click = "clickable, " if prefix and self._with_clickable and not is_disabled(control) else ""
            parts = _date_parts(control, str(value)) if kind == "date" else _time_parts(control, str(value))
            for node in parts:
                is_number = node.text.startswith("spinbutton")
                node.text = prefix + node.text.replace("valuemin", f"{click}valuemin") if is_number else node.text
                yield node
        elif is_text_control(control) and kind != "color" and value:
            lines = _shown_text(control, str(value)).split("\n")
            yield _Node(children=[_static(line) for line in lines if line])  # as within an element without a name

    # text

    def _has_text(self, parent: Element, at: int) -> bool:
        """Whether a text is shown: not blanks at the edge of a line, or beside what is an object of its own."""
        text = parent.children[at]
        if not isinstance(text, str) or not text:
            return False
        if text.strip(" \t\n\r\f") or parent.closest("pre") is not None:
            return True
        if parent.tag in ("table", "tbody", "thead", "tfoot", "tr", "select", "optgroup", "colgroup"):
            return False
        before = next((child for child in reversed(parent.children[:at]) if _is_placed(child)), None)
        if before is None and not is_inline(parent):
            return False
        if isinstance(before, Element) and (before.tag == "br" or not is_inline(before)):
            return False
        return not any(self._is_apart(self._beside(parent, at, step), step) for step in (-1, 1))

    def _is_apart(self, node: Element | str | None, step: int) -> bool:
        """Whether blanks beside a node mean nothing. `step`: on which side of the blanks the node is."""
        if node is None:
            return True
        if isinstance(node, str):
            return node[0 if step > 0 else -1] in " \t\n\r\f"
        if is_hidden(node) or node.tag in ("br", "button", *CONTROLS, "meter", "progress") or not is_inline(node):
            return True
        if node.tag == "img":
            return False
        inner = [child for child in node.children if child != ""]
        return self._is_apart(inner[0 if step > 0 else -1], step) if inner else True

    def _beside(self, parent: Element, at: int, step: int) -> Element | str | None:
        """Return what is before or behind a child, also outside its parent."""
        at += step
        while not 0 <= at < len(parent.children):
            if parent.parent is None:
                return None
            at, parent = self._at[parent.place] + step, parent.parent
        return parent.children[at]

    # roles

    def _chromium_role(self, element: Element) -> str:
        if element.tag in ("br", "wbr"):
            return ""
        given = self.role(element)
        if given and given == given_role(element):
            return "image" if given == "img" else given
        if element.tag in ("header", "footer") and given not in ("banner", "contentinfo"):
            return f"section{element.tag}"
        if element.tag == "input" and element.get("type") in _FIELDS:
            return _FIELDS[element.get("type")]
        if element.tag == "summary":
            details = element.closest("details")
            return "DisclosureTriangleGrouped" if details is not None and details.get("name") else "DisclosureTriangle"
        if element.tag in _LAYOUT_PARTS and self._only_arranges(element):
            return _LAYOUT_PARTS[element.tag]
        return _ROLES.get(element.tag) or self._own_role(element).replace("presentation", "image") or "generic"

    def _only_arranges(self, element: Element) -> bool:
        """Whether a table is taken for a matter of layout: it has no headers, caption or groups of columns."""
        table = element.closest("table")
        if table is None:
            return False
        if table.place not in self._arranging:
            self._arranging[table.place] = not table.get("role") and table.first(*_OF_DATA) is None
        return self._arranging[table.place]

    # attributes

    def _attributes(self, element: Element, role: str) -> Iterator[str]:
        """Yield what Chromium knows of a node, in its order."""
        live = element.get("aria-live") or _LIVE.get(role, "")
        if live:
            yield f"live={live!r}"
            if element.get("aria-atomic") == "true" or (role in _LIVE and not element.has("aria-atomic")):
                yield "atomic"
            yield f"relevant={element.get('aria-relevant') or 'additions text'!r}"
        if is_disabled(element) or element.get("aria-disabled") == "true":
            yield "disabled=True"
        if element.place == self._focus:
            yield "focused"
        yield from self._properties(element, role)
        yield from self._states(element, role)
        if role in ("link", "image") or element.get("type") == "image":
            name = "href" if element.tag == "a" else "src"
            if element.has(name):
                yield f"url={self._absolute(element.get(name))!r}"
        for name in ("aria-describedby", "aria-controls"):
            known = [word for word in element.get(name).split() if word in self._ids]
            if known:
                yield f"{name[5:]}={' '.join(known)!r}"

    def _properties(self, element: Element, role: str) -> Iterator[str]:
        if element.tag == "input" and role == "combobox":
            yield "autocomplete='list'"
            yield "hasPopup='listbox'"
        elif role == "combobox" and element.tag == "select":
            yield "hasPopup='menu'"
        elif element.get("aria-haspopup") not in ("", "false"):
            popup = element.get("aria-haspopup")
            yield f"hasPopup={'menu' if popup == 'true' else popup!r}"
        if role in ("listbox", "tablist", "tree", "grid"):
            is_many = element.has("multiple") or element.get("aria-multiselectable") == "true"
            yield f"multiselectable={is_many}"
        if role in _ACROSS or role in _DOWN:
            usual = "horizontal" if role in _ACROSS else "vertical"
            yield f"orientation={element.get('aria-orientation') or usual!r}"
        if element.get("aria-required") == "true" or (element.has("required") and role in _REQUIRED):
            yield "required"
        if role in _RANGED:
            usual = {"slider": 100.0, "meter": 1.0, "progressbar": 1.0}.get(role, 0.0)
            low, high = (element.get(name) or element.get(f"aria-value{name}") for name in ("min", "max"))
            low, high = _float32(low, 0.0), _float32(high, usual)
            text = element.get("aria-valuetext") or (str(self._form.value(element)) if role == "spinbutton" else "")
            yield f"valuemin={low!r}"
            yield f"valuemax={high!r}"
            yield f"valuetext={text!r}"

    def _states(self, element: Element, role: str) -> Iterator[str]:
        if role in _CHECKED:
            is_box = element.tag == "input"
            checked = bool(self._form.value(element)) if is_box else element.get("aria-checked")
            yield f"checked={str(checked).lower() or 'false'!r}"
        if element.tag == "summary":
            yield f"expanded={element.parent is not None and not self.is_closed(element.parent)}"
        elif element.get("aria-expanded") in ("true", "false") or (role == "combobox" and element.tag == "select"):
            yield f"expanded={element.get('aria-expanded') == 'true'}"
        if role == "button" and element.get("aria-pressed"):
            yield f"pressed={element.get('aria-pressed')!r}"
        if element.tag == "option":
            if not is_disabled(element):
                yield f"selected={self._form.is_chosen(element)}"
        elif role in _SELECTED and element.get("aria-selected") in ("true", "false"):
            yield f"selected={element.get('aria-selected') == 'true'}"
        if role in ("dialog", "alertdialog"):
            yield f"modal={element.get('aria-modal') == 'true'}"

    def _value(self, element: Element, role: str) -> object:
        """Return the value of a control, None if Chromium shows none."""
        if role in _RANGED:
            given = self._form.value(element) if element.tag == "input" else element.get("value")
            return _float32(str(given or element.get("aria-valuenow")), 0.0)
        if element.tag == "select":
            chosen = [option for option in element.walk() if option.tag == "option" and self._form.is_chosen(option)]
            return squeezed(chosen[0].text) if role == "combobox" and chosen else None
        if element.tag == "input" and element.get("type") == "file":
            names = [str(path).rpartition("/")[2] for path in as_list(self._form.value(element))]
            return f"{len(names)} files" if len(names) > 1 else "".join(names) or "No file chosen"
        if is_text_control(element):
            return _shown_text(element, str(self._form.value(element) or "")) or None
        return None

    def _absolute(self, address: str) -> str:
        if address.startswith("data:"):
            return address
        try:
            return resolved(self._url, address)
        except ScreenError:
            return address

    def _marker(self, item: Element) -> str:
        """Return the bullet or number before an item of a list.

        BrowserGym writes the value of each element into the page: items without a number of their own count as 0.
        """
        parent = item.parent
        if parent is None or "none" in parent.get("style") + item.get("style"):
            return ""
        if parent.tag != "ol":
            depth = sum(outer.tag in ("ul", "ol", "menu") for outer in parent.above())
            return _BULLETS[min(depth, 3) - 1] if depth else "•"
        return f"{_numeral(parsed_integer(item.get('value')) or 0, parent.get('type'))}."


def _static(text: str) -> _Node:
    return _Node(f"StaticText {text.strip()!r}", text, is_text=True)


def _numeral(number: int, kind: str) -> str:
    if kind in ("a", "A") and number > 0:
        letters = ""
        while number > 0:
            number, rest = divmod(number - 1, 26)
            letters = chr(ord(kind) + rest) + letters
        return letters
    return str(number)


def _is_labelled(element: Element) -> bool:
    return bool(element.get("aria-label").strip() or element.get("aria-labelledby").strip())


def _first(element: Element) -> Element | None:
    """Return what an element shows first, None if that is a text."""
    first = next((child for child in element.children if not isinstance(child, str) or child.strip()), None)
    return first if isinstance(first, Element) else None


def _is_placed(child: Element | str) -> bool:
    return bool(child) if isinstance(child, str) else not is_hidden(child)


def _is_clickable(element: Element, page: Naming) -> bool:
    if is_disabled(element):
        return False
    if element.tag == "label":
        control = page.labelled(element)
        return control is not None and not is_disabled(control) and control.tag in ("input", "button")
    if element.tag == "button":
        return element.get("type") != "button" and bool(element.get("form") or element.closest("form"))
    return element.tag in ("input", "summary") or (element.tag == "a" and element.has("href"))


def _shown_text(control: Element, text: str) -> str:
    return "•" * len(text) if control.get("type") == "password" else text


def _float32(text: str, usual: float) -> float:
    """Return a number as Chromium keeps it; whole ones without a fraction."""
    match = re.match(r"\s*[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", text)
    number = unpack("f", pack("f", float(match[0])))[0] if match is not None and len(match[0]) < 20 else usual
    return int(number) if number == int(number) else number


def _date_parts(control: Element, value: str) -> Iterable[_Node]:
    low = _valid(control, control.get("min")) or "0001-01-01"
    high = _valid(control, control.get("max")) or "275760-09-13"
    year, month, day = (_valid(control, value) or "--").split("-")
    same_year = low[:4] == high[:4] and len(high) == 10
    months = (int(low[5:7]), int(high[5:7])) if same_year else (1, 12)
    years = (int(low.split("-")[0]), int(high.split("-")[0]))
    yield _part("Month", month, months, "mm")
    yield _static("/")
    yield _part("Day", day, (1, 31), "dd")
    yield _static("/")
    yield _part("Year", year, years, "yyyy")
    yield _Node("button 'Show date picker', hasPopup='menu'")


def _time_parts(control: Element, value: str) -> Iterable[_Node]:
    hour, minute = (_valid(control, value) or ":").split(":")[:2]
    shown = f"{_on_clock(int(hour)):02}" if hour else ""
    half = "" if not hour else "AM" if int(hour) < 12 else "PM"
    low, high = (int(_valid(control, control.get(name))[:2] or -1) for name in ("min", "max"))
    is_half = low >= 0 and low // 12 == high // 12  # else all hours of a clock are possible
    limits = (_on_clock(low), _on_clock(high)) if is_half else (1, 12)
    yield _part("Hours", shown, limits, "--")
    yield _static(":")
    yield _part("Minutes", minute, (0, 59), "--")
    yield _static(" ")
    number = {"": 0, "AM": 1, "PM": 2}[half]
    ends = f"valuemin=1, valuemax=2, valuetext={half!r}"
    yield _Node(f"spinbutton 'AM/PM AM/PM' value={number}, {ends}", "AM/PM AM/PM", children=[_static(half or "--")])
    yield _Node("button 'Show time picker', hasPopup='menu'")


def _valid(control: Element, text: str) -> str:
    """Return a text if the field can have it, else ''."""
    return text if is_well_formed(control, text) else ""


def _on_clock(hour: int) -> int:
    return (hour + 11) % 12 + 1


def _part(name: str, value: str, limits: tuple[int, int], empty: str) -> _Node:
    number = int(value) if value else 0
    ends = f"valuemin={limits[0]}, valuemax={limits[1]}, valuetext={value!r}"
    text = f"spinbutton '{name} {name}' value={number}, {ends}"
    return _Node(text, f"{name} {name}", children=[_static(value or empty)])
