"""What lies above each other on a desktop: windows with their bars, and the dialogs and lists in front of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape

from mcp_sim.libraries.screens.dom import Element, parse
from mcp_sim.libraries.screens.forms import Form
from mcp_sim.libraries.screens.frame import Frame
from mcp_sim.libraries.screens.layout import Area, Box, Layout, Metrics
from mcp_sim.libraries.screens.site import ScreenError

_METRICS = Metrics(character=8.0, line=18.0, control=30.0, unit=1.0)
BAR = 36
"""Height of the bar above a window, which has its title and the button that closes it."""
_DIALOG = (440, 180)
"""Width and height of a dialog."""
CLOSE, _ACCEPT = "window-close", "accept"

Act = Callable[[Element | None], None]


@dataclass(slots=True)
class Pane:
    """A window on the screen. `act` is what a click on an element does, if not what the page does.

    A pane with `act` takes all clicks, also those beside it.
    """

    frame: Frame
    role: str
    title: str
    area: Area
    layout: Layout
    bar: Layout | None = None
    act: Act | None = None

    def at(self, x: float, y: float) -> Box | None:
        """Return the topmost box at a place."""
        return self.layout.at(x, y) or (self.bar.at(x, y) if self.bar is not None else None)

    def contains(self, x: float, y: float) -> bool:
        """Whether a place is within the window."""
        left, top, width, height = self.area
        return left <= x < left + width and top <= y < top + height


def panes_of(shell: Frame, windows: Sequence[Frame], size: tuple[int, int]) -> list[Pane]:
    """Return the windows on a screen with their menus and dialogs, lower ones first."""
    page = Pane(shell, "window", "", shell.area, Layout(shell.page, shell.area, _METRICS))
    panes = [page, *(pane for frame in windows for pane in _panes_of(frame, size))]
    active = panes[-1].frame
    if active.has_notice:
        panes.append(
            _dialog(active, "dialog", active.title, active.form, size, lambda element: _press(active, element))
        )
    return panes


def _panes_of(frame: Frame, size: tuple[int, int]) -> Iterator[Pane]:
    scroll = frame.view["picker"]["under"] if frame.view["picker"] else frame.view["scroll"]
    window = _pane(frame, "frame", frame.record["title"] or frame.record["id"], frame.page, frame.area, scroll)
    yield window
    if frame.has_notice:
        return
    if frame.dialog is not None:
        html = f'<p>{escape(frame.dialog)}</p><button>Cancel</button> <button id="{_ACCEPT}">OK</button>'
        form = Form(parse(f"<body>{html}</body>"), {})
        yield _dialog(frame, "alert", "Question", form, size, lambda element: _answer(frame, element))
    if frame.picker is not None:
        yield _list(frame, frame.picker, window.layout, size[1])


def _pane(frame: Frame, role: str, title: str, form: Form, area: Area, scroll: float = 0) -> Pane:
    x, y, width, height = area
    button = f'<button id="{CLOSE}" aria-label="Close" style="position: fixed; right: 3px; top: 3px">x</button>'
    bar = Form(parse(f"<body><b>{escape(title)}</b>{button if role == 'frame' else ''}</body>"), {})
    layout = Layout(form, (x, y + BAR, width, height - BAR), _METRICS, scroll)
    return Pane(frame, role, title, area, layout, Layout(bar, (x, y, width, BAR), _METRICS))


def _dialog(frame: Frame, role: str, title: str, form: Form, size: tuple[int, int], act: Act) -> Pane:
    pane = _pane(frame, role, title, form, ((size[0] - _DIALOG[0]) // 2, (size[1] - _DIALOG[1]) // 2, *_DIALOG))
    pane.act = act
    return pane


def _list(frame: Frame, select: Element, window: Layout, height: int) -> Pane:
    """Return the options of a list, below it."""
    box = next(box for box in window.top.walk() if box.element is select)
    left, top, width, own_height = window.shown(box) or frame.area
    y = top + own_height
    layout = Layout(Form(parse(frame.options(select)), {}), (left, y, width, height - y), _METRICS)
    return Pane(frame, "menu", "", (left, y, width, min(layout.height, height - y)), layout, act=frame.pick)


def _answer(frame: Frame, element: Element | None) -> None:
    """Answer the question of a form; only its buttons do."""
    if element is not None and element.tag == "button":
        with suppress(ScreenError):
            frame.answer(accept=element.get("id") == _ACCEPT)
        frame.save()


def _press(frame: Frame, element: Element | None) -> None:
    """Click an element of a notice."""
    if element is not None:
        frame.click_at(element, 0)
        frame.save()
