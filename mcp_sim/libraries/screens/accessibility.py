"""The accessibility tree of a page: roles, names, states and references, as browsers compute them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import BUTTONS, Form, is_disabled, is_text_control, option_value, squeezed

ROLES: Mapping[str, str] = {
    "article": "article", "aside": "complementary", "blockquote": "blockquote", "button": "button",
    "caption": "caption", "code": "code", "dd": "definition", "del": "deletion", "details": "group", "dfn": "term",
    "dt": "term", "em": "emphasis", "fieldset": "group", "figure": "figure", "h1": "heading", "h2": "heading",
    "h3": "heading", "h4": "heading", "h5": "heading", "h6": "heading", "hr": "separator", "ins": "insertion",
    "li": "listitem", "main": "main", "mark": "mark", "meter": "meter", "nav": "navigation", "ol": "list",
    "option": "option", "output": "status", "p": "paragraph", "progress": "progressbar", "search": "search",
    "strong": "strong", "sub": "subscript", "sup": "superscript", "table": "table", "tbody": "rowgroup", "td": "cell",
    "textarea": "textbox", "tfoot": "rowgroup", "thead": "rowgroup", "time": "time", "tr": "row", "ul": "list",
}  # fmt: skip
"""Element -> its role (ARIA in HTML); others are generic."""
INPUTS: Mapping[str, str] = {
    "button": "button", "checkbox": "checkbox", "file": "button", "image": "button", "number": "spinbutton",
    "radio": "radio", "range": "slider", "reset": "button", "search": "searchbox", "submit": "button",
}  # fmt: skip
"""Type of an input -> its role; others are textboxes."""
NAMED_BY_CONTENT = frozenset({
    "button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem",
})  # fmt: skip
INLINE = frozenset({
    "a", "abbr", "b", "bdi", "br", "button", "cite", "code", "del", "dfn", "em", "i", "img", "input", "ins", "kbd",
    "label", "mark", "meter", "output", "progress", "q", "s", "samp", "select", "small", "span", "strong", "sub", "sup",
    "textarea", "time", "u", "var", "wbr",
})  # fmt: skip
BOXES = frozenset({"button", "input", "select", "textarea", "img", "progress", "meter"})
"""Elements that take place without content."""
_KEPT_EMPTY = BOXES | {"hr", "li", "td", "th", "br"}
_INVISIBLE = frozenset({"head", "title", "meta", "link"})
_SECTIONS = ("article", "aside", "main", "nav", "section")
_NAMED_BY: Mapping[str, str] = {"fieldset": "legend", "table": "caption", "figure": "figcaption"}
"""Element -> the child that names it."""
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox"})
_DISPLAY = re.compile(r"(?:^|;)\s*display\s*:\s*([\w-]+)")


@dataclass(slots=True, eq=False)
class Item:
    """A node of the tree. `source`: the element whose text is its name, itself or one within."""

    role: str
    name: str = ""
    element: Element | None = None
    source: Element | None = None
    ref: str = ""
    flags: list[str] = field(default_factory=list[str])
    properties: dict[str, str] = field(default_factory=dict[str, str])
    has_pointer: bool = False
    children: list[Child] = field(default_factory=list["Item | str"])


Child: TypeAlias = "Item | str"


def is_hidden(element: Element) -> bool:
    """Whether an element is not shown."""
    is_closed = element.tag == "input" and element.get("type") == "hidden"
    return element.tag in _INVISIBLE or element.has("hidden") or is_closed or _display(element) == "none"


def is_inline(element: Element) -> bool:
    """Whether an element is part of a line of text."""
    return (_display(element) or ("inline" if element.tag in INLINE else "block")).startswith("inline")


def _display(element: Element) -> str:
    style = _DISPLAY.search(element.get("style"))
    return style[1] if style else ""


class Tree:
    """The tree of a page in a state: what was entered, what is open, which element has the focus.

    `references` are those of the last tree of the same page: place -> reference, role and name. An element keeps its
    reference while role and name stay.
    """

    def __init__(
        self, form: Form, focus: int | None, prefix: str, references: Mapping[str, tuple[str, str, str]], count: int
    ) -> None:
        self._form, self._root = form, form.root
        self._focus, self._prefix, self._known = focus, prefix, references
        self.references: dict[str, tuple[str, str, str]] = {}
        self.count = count
        """How many references the page has given out."""

    @cached_property
    def _ids(self) -> dict[str, Element]:
        return {element.get("id"): element for element in self._root.walk() if element.get("id")}

    @cached_property
    def _labels(self) -> dict[int, list[Element]]:
        labels = dict[int, list[Element]]()
        for label in (element for element in self._root.walk() if element.tag == "label"):
            target = self.labelled(label)
            if target is not None:
                labels.setdefault(target.place, []).append(label)
        return labels

    def labelled(self, label: Element) -> Element | None:
        """Return the control of a label."""
        if label.get("for"):
            return self._ids.get(label.get("for"))
        return label.first("input", "select", "textarea", "button", "meter", "output", "progress")

    def build(self) -> Item:
        """Return the root, whose children are the items of the page."""
        top = Item("fragment")
        self._visit(top, self._root.first("body") or self._root)
        _join_texts(top)
        _prune(top)
        return top

    def role(self, element: Element) -> str:
        """Return the role of an element; '' for one that is only presentation."""
        tag, given = element.tag, element.get("role").split()
        if given:
            return "" if given[0] in ("none", "presentation") else given[0]
        if tag == "a":
            return "link" if element.has("href") else "generic"
        if tag == "input":
            return INPUTS.get(element.get("type", "text"), "textbox")
        if tag == "select":
            return "listbox" if element.has("multiple") or int(element.get("size") or 0) > 1 else "combobox"
        if tag == "img":
            return "" if element.has("alt") and not element.get("alt") and not element.get("title") else "img"
        if tag in ("header", "footer"):
            within = element.parent is not None and element.parent.closest(*_SECTIONS) is not None
            return "generic" if within else "banner" if tag == "header" else "contentinfo"
        if tag in ("section", "form"):
            return ("region" if tag == "section" else "form") if self._explicit_name(element) else "generic"
        if tag == "th":
            return "rowheader" if element.get("scope") in ("row", "rowgroup") else "columnheader"
        return ROLES.get(tag, "generic")

    def name(self, element: Element, role: str) -> tuple[str, Element | None]:
        """Return the name of an element, and the element within whose text it is."""
        explicit = self._explicit_name(element)
        if explicit:
            sources = [self._ids.get(name) for name in element.get("aria-labelledby").split()]
            inner = sources[0] if sources and sources[0] is not None and element in sources[0].above() else None
            return explicit, inner
        if element.tag in ("input", "select", "textarea", "progress", "meter", "output"):
            return self._control_name(element), None
        inner = next((child for child in element.elements if child.tag == _NAMED_BY.get(element.tag)), None)
        if inner is not None:
            return squeezed(self.content(inner)), inner
        if element.tag == "img":
            return squeezed(element.get("alt") or element.get("title")), None
        if role in NAMED_BY_CONTENT or element.tag == "summary":
            content = squeezed(self.content(element))
            if content:
                return content, element
        return squeezed(element.get("title")) if element.tag not in ("span", "div", "p") else "", None

    def content(self, element: Element, control: Element | None = None) -> str:
        """Return the text that an element contributes to a name; `control` is the one that the name is for."""
        parts = list[str]()
        for child in element.children:
            if isinstance(child, str):
                parts.append(child)
            elif child is not control and not is_hidden(child) and child.get("aria-hidden") != "true":
                text = self._contribution(child, control)
                parts.append(text if is_inline(child) and child.tag != "br" else f" {text} ")
        return "".join(parts)

    def _contribution(self, child: Element, control: Element | None) -> str:
        if control is not None and child.tag in ("input", "textarea", "select"):
            return str(self._form.value(child) or "")
        explicit = self._explicit_name(child)
        if explicit:
            return explicit
        return child.get("alt") or child.get("title") if child.tag == "img" else self.content(child, control)

    def _explicit_name(self, element: Element) -> str:
        named = [self._ids[name] for name in element.get("aria-labelledby").split() if name in self._ids]
        return squeezed(" ".join(map(self.content, named)) if named else element.get("aria-label"))

    def _control_name(self, element: Element) -> str:
        kind = element.get("type")
        if kind == "image":
            return squeezed(element.get("alt") or element.get("value") or element.get("title") or "Submit")
        if kind in BUTTONS:
            return squeezed(element.get("value") or {"submit": "Submit", "reset": "Reset"}.get(kind, ""))
        labels = self._labels.get(element.place)
        if labels:
            return squeezed(" ".join(self.content(label, element) for label in labels))
        return squeezed(element.get("title") or element.get("placeholder"))

    def _visit(self, into: Item, element: Element) -> None:
        if is_hidden(element):
            return
        item = self._item(element)
        if item is not None:
            into.children.append(item)
        inner = item or into
        space = " " if item is None and not is_inline(element) else ""
        if space:
            inner.children.append(space)
        if element.tag not in ("textarea", "input"):
            for child in self._shown_children(element):
                if isinstance(child, str):
                    inner.children.append(child)
                else:
                    self._visit(inner, child)
        if space:
            inner.children.append(space)

    def _shown_children(self, element: Element) -> Iterator[Element | str]:
        is_closed = element.tag == "details" and not self._form.values.get(str(element.place), element.has("open"))
        for child in element.children:
            if not is_closed or (isinstance(child, Element) and child.tag == "summary"):
                yield child

    def _item(self, element: Element) -> Item | None:
        """Return the item of an element, None if it only has text of the one around it."""
        role = self.role(element)
        if not role or element.tag in ("br", "wbr") or (element.tag == "optgroup" and element.closest("select")):
            return None
        only_text = len(element.children) == 1 and isinstance(element.children[0], str)
        if role == "generic" and is_inline(element) and element.tag not in BOXES and only_text:
            return None
        name, source = self.name(element, role)
        if role == "generic" and element.tag != "summary" and not self._explicit_name(element):
            name = ""
        item = Item(role, name, element, source, self._reference(element, role, name))
        item.flags = [*self._flags(element, role)]
        if is_text_control(element) or element.get("type") == "range":
            item.children = [str(self._form.value(element) or "")]
        is_link = element.tag == "a" and element.has("href")
        item.has_pointer = is_link or element.get("type") == "image"
        if is_link and role == "link":
            item.properties["url"] = element.get("href")
        placeholder = element.get("placeholder")
        if role == "textbox" and placeholder and placeholder != name:
            item.properties["placeholder"] = placeholder
        return item

    def _reference(self, element: Element, role: str, name: str) -> str:
        """Return the reference of an element, '' for one without a box: options of a closed list, empty elements."""
        select = element.closest("select") if role == "option" else None
        if _is_empty(element) or (select is not None and self.role(select) != "listbox"):
            return ""
        key = str(element.place)
        known = self._known.get(key)
        if known is None or known[1:] != (role, name):
            self.count += 1
            known = (f"{self._prefix}e{self.count}", role, name)
        self.references[key] = known
        return known[0]

    def _flags(self, element: Element, role: str) -> Iterator[str]:
        if element.get("aria-hidden") == "true":
            yield "aria-hidden"
        if role in _CHECKED:
            yield from self._checked(element)
        if is_disabled(element) or element.get("aria-disabled") == "true":
            yield "disabled"
        if element.get("aria-expanded") == "true":
            yield "expanded"
        if element.tag == "body" if self._focus is None else element.place == self._focus:
            yield "active"
        if element.get("aria-invalid", "false") not in ("", "false"):
            yield "invalid"
        if role == "heading":
            yield f"level={element.tag[1:] if element.tag[1:].isdigit() else element.get('aria-level') or 2}"
        if element.get("aria-pressed") == "true":
            yield "pressed"
        if element.get("aria-selected") == "true" or (role == "option" and self._is_selected(element)):
            yield "selected"

    def _checked(self, element: Element) -> Iterator[str]:
        checked = element.get("aria-checked")
        if checked == "mixed":
            yield "checked=mixed"
        elif checked == "true" or (not checked and element.tag == "input" and self._form.value(element)):
            yield "checked"

    def _is_selected(self, option: Element) -> bool:
        select = option.closest("select")
        value = None if select is None else self._form.value(select)
        return option_value(option) in (value if isinstance(value, list) else [value])


def _is_empty(element: Element) -> bool:
    """Whether an element has no box: nothing in it takes place."""
    if element.tag in _KEPT_EMPTY:
        return False
    shown = (child for child in element.children if isinstance(child, str) or not is_hidden(child))
    return not any(child.strip() if isinstance(child, str) else not _is_empty(child) for child in shown)


# tidying --------------------------------------------------------------------------------------------------------------


def _join_texts(item: Item) -> None:
    """Join neighbouring texts, and drop a text that only repeats the name."""
    children, texts = list[Child](), list[str]()
    for child in [*item.children, None]:
        if isinstance(child, str):
            texts.append(child)
            continue
        text = squeezed("".join(texts))
        texts.clear()
        if text:
            children.append(text)
        if child is not None:
            _join_texts(child)
            children.append(child)
    item.children = [] if children == [item.name] else children


def _prune(item: Item) -> None:
    """Drop what is shown twice, and generic items around a single one."""
    if item.source is not None and item.name:
        if item.source is item.element:
            if _has_own_items(item):
                item.name = ""
        else:
            _drop_source(item, item.source)
    children = list[Child]()
    for child in item.children:
        if isinstance(child, str):
            children.append(child)
            continue
        _prune(child)
        is_wrapper = child.role == "generic" and not child.name and len(child.children) <= 1
        if is_wrapper and all(isinstance(inner, Item) and inner.ref for inner in child.children):
            children += child.children
        else:
            children.append(child)
    item.children = children


def _drop_source(item: Item, source: Element) -> None:
    """Drop the child that has the name, or the name if that is deeper within."""
    shown = next((child for child in item.children if isinstance(child, Item) and child.element is source), None)
    if shown is not None and shown.role == "generic" and all(isinstance(inner, str) for inner in shown.children):
        item.children.remove(shown)
    elif _contains(item, source):
        item.name = ""


def _has_own_items(item: Item) -> bool:
    inner = (child for child in item.children if isinstance(child, Item))
    return any(child.role not in ("generic", "group") or _has_own_items(child) for child in inner)


def _contains(item: Item, element: Element) -> bool:
    inner = (child for child in item.children if isinstance(child, Item))
    return any(child.element is element or _contains(child, element) for child in inner)
