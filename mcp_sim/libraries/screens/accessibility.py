"""The accessibility tree of a page: roles, names, states and references, as Playwright shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import Form, is_disabled, parsed_integer, squeezed
from mcp_sim.libraries.screens.naming import BOXES, Naming, is_hidden, is_plain_inline
from mcp_sim.libraries.screens.tables import name_set

_KEPT_EMPTY = (BOXES - {"img"}) | {"col", "colgroup", "hr", "li", "td", "th", "br"}
_BLANK = " \t\n\r\f"
"""Characters that take no place by themselves."""
_CHECKED = frozenset({"checkbox", "menuitemcheckbox", "menuitemradio", "option", "radio", "switch", "treeitem"})
_DISABLED = name_set("roles_that_are_disabled")
_EXPANDED = name_set("roles_that_expand")
_INVALID = name_set("roles_that_are_invalid")
_LEVEL_NUMBER = re.compile(r"\+?[0-9]+")
_LEVEL = frozenset({"heading", "listitem", "row", "treeitem"})
_SELECTED = frozenset({"columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"})


@dataclass(slots=True, eq=False)
class Item:
    """A node of the tree. `sources`: the references of the items that its name is from, besides its own."""

    role: str
    name: str = ""
    element: Element | None = None
    ref: str = ""
    sources: set[str] = field(default_factory=set[str])
    flags: list[str] = field(default_factory=list[str])
    properties: dict[str, str] = field(default_factory=dict[str, str])
    has_pointer: bool = False
    children: list[Child] = field(default_factory=list["Item | str"])

    @property
    def is_leaf(self) -> bool:
        """Whether it is generic and has only texts."""
        return self.role == "generic" and all(isinstance(child, str) for child in self.children)

    @property
    def is_plain(self) -> bool:
        """Whether it is generic, and nothing is known of it besides its content."""
        return self.role == "generic" and not self.properties and "active" not in self.flags


Child: TypeAlias = "Item | str"


class Tree(Naming):
    """The tree of a page in a state: what was entered, what is open, which element has the focus.

    `references` are those of the last tree of the same page: place -> reference, role and name. An element keeps its
    reference while role and name stay.
    """

    def __init__(
        self, form: Form, focus: int | None, prefix: str, references: Mapping[str, tuple[str, str, str]], count: int
    ) -> None:
        super().__init__(form)
        self._root = form.root
        self._focus, self._prefix, self._known = focus, prefix, references
        self.references: dict[str, tuple[str, str, str]] = {}
        self.count = count
        """How many references the page has given out."""
        self._named = list[tuple[Item, set[Element]]]()

    def build(self) -> Item:
        """Return the root, whose children are the items of the page."""
        top = Item("fragment")
        self._visit(top, self._root.first("body") or self._root, is_shown=True)
        for item, sources in self._named:
            references = {self.references.get(str(source.place), ("",))[0] for source in sources}
            item.sources = references - {"", item.ref}
        _Distiller().distil(top)
        return top

    def _visit(self, into: Item, element: Element, *, is_shown: bool) -> None:
        if element.tag in ("br", "wbr"):
            return
        is_shown = is_shown and not is_hidden(element)
        is_option = element.tag == "option" and not is_hidden(element) and element.closest("select") is not None
        item = self._item(element, into) if is_shown or is_option else None
        if item is not None:
            into.children.append(item)
        inner = item or into
        space = "" if is_plain_inline(element) and not is_hidden(element) else " "
        inner.children.append(space)
        if element.tag not in ("textarea", "input"):
            is_closed = self.is_closed(element)
            for child in element.children:
                if not isinstance(child, str):
                    self._visit(inner, child, is_shown=is_shown and not (is_closed and child.tag != "summary"))
                elif is_shown and inner.role != "textbox":  # also the texts of closed details
                    inner.children.append(child)
        inner.children.append(space)

    def _item(self, element: Element, around: Item) -> Item | None:
        """Return the item of an element, None if it only has text of the one around it."""
        role = self.role(element)
        select = element.closest("select") if element.tag == "optgroup" else None
        if not role or (select is not None and self.role(select) != "listbox"):
            return None
        only_text = len(element.children) == 1 and isinstance(element.children[0], str)
        if role == "generic" and is_plain_inline(element) and only_text:
            return None
        name, sources = self.name(element, role)
        item = Item(role, name, element, self._reference(element, role, name))
        self._named.append((item, sources))
        item.flags = [*self._flags(element, role)]
        kind = element.get("type") if element.tag == "input" else ""
        if element.tag == "textarea" or (element.tag == "input" and kind not in ("checkbox", "radio", "file")):
            item.children = [str(self._form.value(element) or "")]
        is_link = element.tag == "a" and element.has("href")
        has_own_cursor = element.tag in BOXES - {"img"} and kind != "image"
        item.has_pointer = is_link or kind == "image" or (around.has_pointer and not has_own_cursor)
        if role == "link" and element.has("href"):
            item.properties["url"] = element.get("href")
        placeholder = element.get("placeholder")
        if role == "textbox" and placeholder and placeholder != name:
            item.properties["placeholder"] = placeholder
        return item

    def _reference(self, element: Element, role: str, name: str) -> str:
        """Return the reference of an element, '' for one without a box: options of a closed list, empty elements."""
        select = element.closest("select") if element.tag == "option" else None
        is_unshown = select is not None and self.role(select) != "listbox"
        fills_window = element.tag == "body" and not self._root.has("doctype")  # as browsers do without one
        if is_unshown or not (fills_window or self._has_box(element)):
            return ""
        key = str(element.place)
        known = self._known.get(key)
        if known is None or known[1:] != (role, name):
            self.count += 1
            known = (f"{self._prefix}e{self.count}", role, name)
        self.references[key] = known
        return known[0]

    def _has_box(self, element: Element) -> bool:
        """Whether an element takes place, itself or for its contents."""
        if element.tag in _KEPT_EMPTY:
            return True
        if element.tag == "img":  # images are never there; what is shown instead is empty with an empty `alt`
            return element.get("alt") != "" or not element.has("alt") or element.has("width") or element.has("height")
        is_closed = self.is_closed(element)
        return any(
            bool(child.strip(_BLANK))
            if isinstance(child, str)
            else not is_hidden(child) and (not is_closed or child.tag == "summary") and self._has_box(child)
            for child in element.children
        )

    def _flags(self, element: Element, role: str) -> Iterator[str]:
        if element.get("aria-hidden").lower() == "true":
            yield "aria-hidden"
        if role in _CHECKED:
            yield from self._checked(element)
        if role in _DISABLED and (is_disabled(element) or _is_disabled_by_aria(element)):
            yield "disabled"
        if role in _EXPANDED and element.get("aria-expanded") == "true":
            yield "expanded"
        if element.tag == "body" if self._focus is None else element.place == self._focus:
            yield "active"
        invalid = element.get("aria-invalid").strip().lower()
        if role in _INVALID and invalid not in ("", "false"):
            yield f"invalid={invalid}" if invalid in ("grammar", "spelling") else "invalid"
        yield from _level(element, role)
        if role == "button" and element.get("aria-pressed") in ("true", "mixed"):
            yield "pressed" if element.get("aria-pressed") == "true" else "pressed=mixed"
        is_chosen = element.tag == "option" and self._form.is_chosen(element)
        if is_chosen or (role in _SELECTED and element.tag != "option" and element.get("aria-selected") == "true"):
            yield "selected"

    def _checked(self, element: Element) -> Iterator[str]:
        checked = element.get("aria-checked")
        if element.tag == "input" and element.get("type") in ("checkbox", "radio"):
            checked = "true" if self._form.value(element) else ""
        if checked in ("mixed", "true"):
            yield "checked=mixed" if checked == "mixed" else "checked"


def _level(element: Element, role: str) -> Iterator[str]:
    level = element.tag[1:] if element.tag in ("h1", "h2", "h3", "h4", "h5", "h6") else ""
    if not level and role in _LEVEL and _LEVEL_NUMBER.fullmatch(element.get("aria-level").strip()):
        level = str(parsed_integer(element.get("aria-level")) or "")
    if level:
        yield f"level={level}"


def _is_disabled_by_aria(element: Element) -> bool:
    """Whether the closest element that says so is disabled."""
    given = (outer.get("aria-disabled").lower() for outer in element.above())
    return next((value for value in given if value in ("true", "false")), "") == "true"


# tidying --------------------------------------------------------------------------------------------------------------


class _Distiller:
    """Drops what a tree shows twice, as Playwright does for language models (`ariaSnapshotDistiller.ts`)."""

    def __init__(self) -> None:
        self._unseen = set[str]()
        """References of items that names are from, and that are not shown beside the name so far."""
        self._around = list[Item]()

    def distil(self, item: Item) -> None:
        """Tidy an item, with all within."""
        if item.ref:
            self._unseen |= item.sources
            if not item.is_leaf:
                self._unseen.discard(item.ref)
        children = list[Child]()
        self._around.append(item)
        for child in item.children:
            if isinstance(child, str):
                children.append(child)
            else:
                self.distil(child)
                children += self._kept(child)
        self._around.pop()
        item.children = _joined(children, item.name)
        # A name goes if all that it is from is shown as well.
        if item.ref and item.sources:
            if self._unseen & item.sources:
                self._unseen -= item.sources
            else:
                item.name = ""
        only = item.children[0] if item.role == "generic" and len(item.children) == 1 else None
        if isinstance(only, Item) and only.is_plain and not only.name and len(only.children) == 1 and only.is_leaf:
            item.children = only.children

    def _kept(self, item: Item) -> list[Child]:
        """Return what is left of an item: itself, its children, or nothing."""
        around = self._around[-1]
        is_target = (
            bool(item.ref) and item.has_pointer and not any(outer.ref and outer.has_pointer for outer in self._around)
        )
        if item.role == "img" and not item.name and not item.children and not is_target:
            return []
        if around.name and item.is_plain and _only_text(item) == around.name:
            self._unseen |= {item.ref} - {""}
            return []
        is_wrapper = item.role == "generic" and not item.name and len(item.children) <= 1
        is_empty_target = is_target and not item.children
        if is_wrapper and not is_empty_target and all(isinstance(child, Item) and child.ref for child in item.children):
            return item.children
        return [item]


def _only_text(item: Item) -> str:
    """Return all that an item shows, its name or a text; '' if it shows more."""
    if item.name or len(item.children) != 1:
        return "" if item.children else item.name
    return item.children[0] if isinstance(item.children[0], str) else ""


def _joined(children: list[Child], name: str) -> list[Child]:
    """Join neighbouring texts, and drop a text that only repeats the name."""
    joined, texts = list[Child](), list[str]()
    for child in [*children, None]:
        if isinstance(child, str):
            texts.append(child)
            continue
        text = squeezed("".join(texts))
        texts.clear()
        if text:
            joined.append(text)
        if child is not None:
            joined.append(child)
    return [] if joined == [name] else joined
