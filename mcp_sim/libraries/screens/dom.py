"""Parse the HTML that sites of simulated screens may use into elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from itertools import takewhile
from typing import TypeAlias

from mcp_sim.libraries.screens.tables import name_lists, name_set
from mcp_sim.libraries.store import LibraryError

VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
"""Elements without content."""
KNOWN = VOID | name_set("other_elements")
"""The elements that the accessibility tree is known to show as browsers do."""
_ENDS = name_lists("ended_by_start_tags")
"""Element -> the open ones that its start tag ends, innermost first, up to their container."""
_CONTAINERS = name_set("containers")
_BLOCKS_END_P = name_set("blocks_that_end_paragraphs")

SUBMIT = re.compile(r"\s*(?:this|this\.form)\.submit\(\);?\s*")
CONFIRM = re.compile(r"\s*return confirm\('((?:[^'\\]|\\.)*)'\);?\s*")
"""The two scripts that are understood."""
_SCRIPTS = {"onchange": SUBMIT, "onsubmit": CONFIRM}
_UNKNOWN_ATTRIBUTES = frozenset({"aria-owns", "contenteditable", "http-equiv", "inert", "is", "popover", "slot"})
"""Attributes that would change the tree, or lead elsewhere, in ways that are not followed."""
_UNKNOWN_STYLES = re.compile(r"(?:^|;)\s*(?:visibility\s*:|content-visibility\s*:|display\s*:\s*contents)")
_NOT_NESTED = frozenset({"a", "button", "form", "select"})
"""Elements that browsers end, move or ignore if they are within one of their kind."""
_FORMATTING = frozenset({"a", "b", "code", "em", "i", "s", "small", "strong", "u"})
"""Elements that browsers open again after an element around them has ended."""
_TABLE_PARTS = name_lists("parts_of_tables")
"""Parts of tables -> what may be in them; browsers move anything else before the table."""
_IN_TABLES = frozenset({"caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})
_MOST = 2_000_000
"""Characters of a page. A browser shows more, but no agent reads it."""
_MOST_ELEMENTS = 20_000
_DEEPEST = 200
"""How deep elements may nest: the walks over them are recursive."""

_INSTEAD: Mapping[str, str] = {
    "style": "; its rules may hide elements or add texts. Expected style attributes",
    "svg": "; expected an <img> with an alt text",
    "iframe": "; expected its content in the page, or a link",
}
"""Unknown element -> what to write."""

Node: TypeAlias = "Element | str"


class HtmlError(LibraryError):
    """A page that cannot be shown as a browser would, with its line and column."""


@dataclass(slots=True, eq=False)
class Element:
    """An element of a page. `place` counts the elements before it."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None
    place: int
    children: list[Node] = field(default_factory=list["Element | str"])

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def has(self, name: str) -> bool:
        """Whether an attribute is there, also without a value."""
        return name in self.attributes

    @property
    def elements(self) -> Iterator[Element]:
        """The children that are elements."""
        return (child for child in self.children if isinstance(child, Element))

    def walk(self) -> Iterator[Element]:
        """Yield this element and all within, in document order."""
        yield self
        waiting = [self.elements]
        while waiting:
            element = next(waiting[-1], None)
            if element is None:
                waiting.pop()
            else:
                yield element
                if element.children:
                    waiting.append(element.elements)

    def above(self) -> Iterator[Element]:
        """Yield this element and those around it, innermost first."""
        element: Element | None = self
        while element is not None:
            yield element
            element = element.parent

    def closest(self, *tags: str) -> Element | None:
        """Return the innermost element around this one with one of these tags, this one included."""
        return next((element for element in self.above() if element.tag in tags), None)

    def first(self, *tags: str) -> Element | None:
        """Return the first element within with one of these tags."""
        return next((element for element in self.walk() if element.tag in tags and element is not self), None)

    @property
    def text(self) -> str:
        """All text within, as it is written."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


@lru_cache(maxsize=256)
def parse(html: str) -> Element:
    """Return the root of a page. It must not be changed: all worlds share it.

    Raises `HtmlError` for elements, scripts and sizes outside the supported part.
    """
    if len(html) > _MOST:
        raise HtmlError(f"a page of {len(html):,} characters; at most {_MOST:,} are shown")
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.root


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("#document", {}, None, 0)
        self._open = self.root
        self._count, self._depth = 0, 0

    def handle_decl(self, decl: str) -> None:
        if decl.lower().startswith("doctype"):
            self.root.attributes["doctype"] = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in KNOWN:
            raise self._error(f"<{tag}> is not supported{_INSTEAD.get(tag, '')}")
        attributes = {name: value or "" for name, value in attrs}
        unknown = next((name for name in attributes if name in _UNKNOWN_ATTRIBUTES), None)
        if unknown is not None:
            raise self._error(f"the attribute {unknown} is not supported")
        if _UNKNOWN_STYLES.search(attributes.get("style", "").lower()):
            raise self._error(f'style="{attributes["style"]}" is not supported')
        self._check_scripts(attributes)
        self._end_implied(tag)
        if tag in _NOT_NESTED and self._open.closest(tag) is not None:
            raise self._error(f"<{tag}> within <{tag}> is not supported: browsers change the tree")
        if tag in _IN_TABLES and self._open.closest("table") is None:
            raise self._error(f"<{tag}> outside a table is not supported: browsers ignore it")
        if tag == "form" and attributes.get("method", "").lower() == "dialog":
            raise self._error('method="dialog" is not supported')
        if tag == "tr" and self._open.tag == "table":
            self._start("tbody", {})  # as browsers do
        if tag not in _TABLE_PARTS.get(self._open.tag, {tag}) and attributes.get("type") != "hidden":
            raise self._error(f"<{tag}> directly within <{self._open.tag}> is not supported: browsers move it")
        element = self._start(tag, attributes)
        if tag in VOID:
            self._open, self._depth = element.parent or self.root, self._depth - 1

    def handle_endtag(self, tag: str) -> None:
        match = self._open.closest(tag)
        if match is None or match.parent is None:
            raise self._error(f"</{tag}> ends nothing")
        inner = [*takewhile(lambda other: other is not match, self._open.above())]
        unended = [other for other in inner if tag in _FORMATTING or other.tag in _FORMATTING]
        if unended and tag not in ("body", "html"):
            raise self._error(f"</{tag}> before the end of <{unended[0].tag}>: browsers open it again")
        self._close_to(match.parent)

    def handle_data(self, data: str) -> None:
        if self._open.tag in _TABLE_PARTS and data.strip():
            raise self._error(f"text directly within <{self._open.tag}> is not supported: browsers move it")
        self._open.children.append(data)

    def _start(self, tag: str, attributes: dict[str, str]) -> Element:
        self._count, self._depth = self._count + 1, self._depth + 1
        if self._count > _MOST_ELEMENTS:
            raise self._error(f"more than {_MOST_ELEMENTS:,} elements")
        if self._depth > _DEEPEST:
            raise self._error(f"elements nest more than {_DEEPEST} levels deep")
        element = Element(tag, attributes, self._open, self._count)
        self._open.children.append(element)
        self._open = element
        return element

    def _end_implied(self, tag: str) -> None:
        """Close what a start tag ends although its end tag is missing."""
        if tag in _BLOCKS_END_P and (paragraph := self._open.closest("p")) is not None and paragraph.parent is not None:
            self._close_to(paragraph.parent)
        ended = _ENDS.get(tag, ())
        while self._open.tag not in _CONTAINERS - {*ended} and self._open.closest(*ended) is not None:
            self._close_to(self._open.parent or self.root)
        while self._open.tag in ended:
            self._close_to(self._open.parent or self.root)

    def _close_to(self, element: Element) -> None:
        while self._open is not element and self._open.parent is not None:
            self._open, self._depth = self._open.parent, self._depth - 1

    def _check_scripts(self, attributes: dict[str, str]) -> None:
        for name, value in attributes.items():
            if name.startswith("on") and not (name in _SCRIPTS and _SCRIPTS[name].fullmatch(value)):
                raise self._error(
                    f'{name}="{value}" is not supported; expected onchange="this.form.submit()" '
                    "or onsubmit=\"return confirm('...')\""
                )

    def _error(self, message: str) -> HtmlError:
        line, column = self.getpos()
        return HtmlError(f"line {line}, column {column + 1}: {message}")
