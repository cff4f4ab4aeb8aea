"""Where the elements of a page are on a screen: blocks below each other, what is inline side by side.

Sizes are in pixels. `position: fixed` and `position: sticky` in the style of an element are followed, with `top`,
`bottom`, `left` and `right`: bars, floating buttons and dialogs, which are above the rest of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import TypeAlias

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import BUTTONS, CONTROLS, Form, parsed_integer, squeezed
from mcp_sim.libraries.screens.naming import is_hidden, is_inline

_POSITION = re.compile(r"(?:^|;)\s*position\s*:\s*(fixed|sticky)")
_EDGE = re.compile(r"(?:^|;)\s*(top|bottom|left|right)\s*:\s*(\d{1,4})(?:px)?\s*(?=;|$)")
_TARGETS = frozenset({"a", "button", "summary", "label", *CONTROLS})
"""Elements that are large enough to be hit."""
_MOST_COLUMNS = 1_000
"""As browsers (HTML)."""
_FIELD = 30
"""Characters that a field shows."""
_FLOW, _STICKY, _FIXED = range(3)
"""What is above what."""

Area: TypeAlias = tuple[int, int, int, int]
"""Left, top, width and height."""


@dataclass(slots=True)
class Metrics:
    """Sizes of texts and controls. The defaults are those of a phone with 420 dots an inch."""

    character: float = 21.0
    line: float = 52.5
    control: float = 126.0
    """The least height of what is tapped or clicked: 48 units on Android."""
    unit: float = 2.625
    """A `px` of a style."""


@dataclass(slots=True, eq=False)
class Box:
    """The place of an element, or of a text directly within it."""

    element: Element
    text: str = ""
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    layer: int = _FLOW
    children: list[Box] = field(default_factory=list["Box"])

    def walk(self) -> Iterator[Box]:
        """Yield this box and all within, outer ones first."""
        waiting: list[Box] = [self]
        while waiting:
            box = waiting.pop()
            yield box
            waiting.extend(reversed(box.children))

    def move(self, x: float, y: float) -> None:
        """Move a box with all within."""
        for box in self.walk():
            box.x, box.y = box.x + x, box.y + y


class Layout:
    """The boxes of a page in an area of the screen. `scroll` is how far the page is moved up."""

    def __init__(self, form: Form, area: Area, metrics: Metrics, scroll: float = 0) -> None:
        self.form, self._metrics = form, metrics
        self._widths, self._column_counts = dict[int, float](), dict[int, int]()
        self._floating = list[Box]()
        self.area = area
        left, top, width, _ = area
        self.top = Box(form.root.first("body") or form.root)
        self._place(self.top, left, top, width)
        self.height = ceil(self.top.height)
        """The height of the page."""
        self.scroll = round(min(max(0, scroll), self.most_scroll))
        self._float()

    @property
    def most_scroll(self) -> int:
        """How far the page can be moved up."""
        return max(0, self.height - self.area[3])

    def shown(self, box: Box) -> Area | None:
        """Return the part of a box that the screen shows, None if that is nothing."""
        left, top, width, height = self.area
        y = box.y - (0 if box.layer else self.scroll)
        from_x, to_x = max(left, round(box.x)), min(left + width, round(box.x + box.width))
        from_y, to_y = max(top, round(y)), min(top + height, round(y + box.height))
        return (from_x, from_y, to_x - from_x, to_y - from_y) if to_x > from_x and to_y > from_y else None

    def boxes(self) -> Iterator[tuple[Box, Area]]:
        """Yield the boxes that the screen shows with their places there; those above others come later."""
        boxes = sorted(self.top.walk(), key=lambda box: box.layer)
        return ((box, area) for box in boxes if (area := self.shown(box)) is not None)

    def at(self, x: float, y: float) -> Box | None:
        """Return the topmost box at a place of the screen."""
        hits = [box for box, area in self.boxes() if _contains(area, x, y)]
        return hits[-1] if hits else None

    def place_of(self, element: Element) -> tuple[float, float] | None:
        """Return the top and the height of an element in the page, wherever the page is moved to."""
        box = next((box for box in self.top.walk() if box.element is element and not box.text), None)
        return (box.y - self.area[1], box.height) if box is not None and not box.layer else None

    # placing

    def _place(self, box: Box, x: float, y: float, width: float) -> None:
        """Place an element and all within. Its height follows from what it holds."""
        element = box.element
        box.x, box.y, box.width = x, y, width
        if element.tag == "tr":
            # The cells of a row are in columns of equal widths.
            cells = [child for child in self._children(box.element) if not isinstance(child, str)]
            spans = [min(max(1, parsed_integer(cell.get("colspan")) or 1), _MOST_COLUMNS) for cell in cells]
            table = box.element.closest("table")
            column = box.width / max(1, self._columns(table) if table is not None else sum(spans))
            x = box.x
            for cell, span in zip(cells, spans, strict=True):
                inner = Box(cell)
                self._place(inner, x, box.y, column * span)
                box.children.append(inner)
                x += column * span
            box.height = max((inner.height for inner in box.children), default=0.0)
        elif element.tag not in CONTROLS and element.tag != "img":
            box.height = self._flow(box)
        if element.tag in _TARGETS or element.tag in ("img", "meter", "progress"):
            box.height = max(box.height, self._least_height(element))

    def _flow(self, box: Box) -> float:
        """Place what an element holds: lines of what is inline, and blocks between them."""
        x, y, line = box.x, box.y, 0.0
        for child in self._children(box.element):
            if isinstance(child, str):
                inner, width, is_block = Box(box.element, child), len(child) * self._metrics.character, False
            else:
                inner, is_block = Box(child), not is_inline(child)
                width = box.width if is_block else self._width(child)
            box.children.append(inner)
            position = "" if isinstance(child, str) else _position(child)
            if position:
                self._floating.append(inner)
            if position == "fixed":
                continue
            if is_block or (x > box.x and x + width > box.x + box.width):
                x, y, line = box.x, y + line, 0.0
            self._put(inner, x, y, min(width, box.width))
            if is_block:
                y += inner.height
            else:
                x, line = x + inner.width, max(line, inner.height)
        return y + line - box.y

    def _put(self, box: Box, x: float, y: float, width: float) -> None:
        if not box.text:
            self._place(box, x, y, width)
            return
        lines = ceil(len(box.text) * self._metrics.character / max(width, self._metrics.character))
        box.x, box.y, box.width, box.height = x, y, width, lines * self._metrics.line

    def _columns(self, table: Element) -> int:
        """Return the number of cells of a table's first row: others share its columns."""
        if table.place not in self._column_counts:
            row = table.first("tr")
            self._column_counts[table.place] = sum(1 for _ in row.elements) if row is not None else 1
        return self._column_counts[table.place]

    def _children(self, element: Element) -> Iterator[Element | str]:
        """Yield what an element shows: elements, and texts between them."""
        is_closed = element.tag == "details" and not self.form.values.get(str(element.place), element.has("open"))
        for child in element.children:
            if isinstance(child, str):
                text = squeezed(child)
                if text and not is_closed:
                    yield text
            elif not is_hidden(child) and child.tag != "option" and (not is_closed or child.tag == "summary"):
                yield child

    # sizes

    def _width(self, element: Element) -> float:
        """Return how wide an inline element is if nothing limits it."""
        width = self._widths.get(element.place)
        if width is None:
            width = self._widths[element.place] = self._natural_width(element)
        return width

    def _natural_width(self, element: Element) -> float:
        metrics, kind = self._metrics, element.get("type")
        if element.tag == "br":
            return float("inf")  # what follows is in the next line
        if element.tag == "img":
            return _number(element.get("width")) * metrics.unit or metrics.control
        if kind in ("checkbox", "radio"):
            return metrics.control
        if element.tag == "select":
            options = (squeezed(option.text) for option in element.walk() if option.tag == "option")
            return max((len(option) for option in options), default=0) * metrics.character + metrics.control
        if element.tag == "input" and kind in BUTTONS:
            return len(element.get("value") or kind) * metrics.character + metrics.control / 2
        if element.tag in (*CONTROLS, "meter", "progress"):
            return _FIELD * metrics.character
        lines, line = [0.0], 0.0
        for child in self._children(element):
            if not isinstance(child, str) and _position(child) == "fixed":
                continue
            width = len(child) * metrics.character if isinstance(child, str) else self._width(child)
            is_part = isinstance(child, str) or is_inline(child)
            lines.append(line + width if is_part else width)
            line = lines[-1] if is_part else 0.0
        width = max(lines) + (metrics.control / 2 if element.tag == "button" else 0)
        return max(width, metrics.control) if element.tag in _TARGETS else width

    def _least_height(self, element: Element) -> float:
        metrics = self._metrics
        if element.tag == "img":
            return _number(element.get("height")) * metrics.unit or metrics.control
        rows = _number(element.get("rows")) or 2 if element.tag == "textarea" else 1
        return max(metrics.control, rows * metrics.line)

    # floating

    def _float(self) -> None:
        """Place what does not move with the page. Outer elements come first, and carry those within along."""
        _, top, _, height = self.area
        for box in self._floating:
            edges = {name: int(value) * self._metrics.unit for name, value in _EDGE.findall(box.element.get("style"))}
            is_fixed = _position(box.element) == "fixed"
            if is_fixed:
                self._fix(box, edges)
            else:
                y = box.y - (0 if box.layer else self.scroll)
                if "bottom" in edges:
                    y = min(y, top + height - edges["bottom"] - box.height)
                box.move(0, max(y, top + edges["top"]) - box.y if "top" in edges else y - box.y)
            for inner in box.walk():
                inner.layer = max(inner.layer, _FIXED if is_fixed else _STICKY)

    def _fix(self, box: Box, edges: Mapping[str, float]) -> None:
        left, top, width, height = self.area
        free = width - edges.get("left", 0) - edges.get("right", 0)
        self._place(box, 0, 0, free if {"left", "right"} <= edges.keys() else min(free, self._width(box.element)))
        x, y = edges.get("left", 0), edges.get("top", 0)
        if "left" not in edges and "right" in edges:
            x = width - edges["right"] - box.width
        if "top" not in edges and "bottom" in edges:
            y = height - edges["bottom"] - box.height
        box.move(left + x, top + y)


def _position(element: Element) -> str:
    style = element.get("style")
    match = _POSITION.search(style) if style else None
    return match[1] if match else ""


def _contains(area: Area, x: float, y: float) -> bool:
    left, top, width, height = area
    return left <= x < left + width and top <= y < top + height


def _number(text: str) -> float:
    """Return the number of an attribute; 0 if it is missing, not positive or above 9,999."""
    number = parsed_integer(text) or 0
    return float(number) if 0 < number < 10_000 else 0.0
