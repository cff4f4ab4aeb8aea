"""A desktop: apps are sites in windows that lie above each other. The topmost window takes what the mouse does.

The pages of its apps may have what pages of browsers do not: a `details` of role `menu` is a menu that opens above the
page, `aria-keyshortcuts` names the keys that click an element, `data-open` is the address of a double click, and
`data-menu` that of a right click.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

from mcp_sim.libraries.screens.atspi import Accessible, Accessibles, new
from mcp_sim.libraries.screens.browser import Browser
from mcp_sim.libraries.screens.device import App
from mcp_sim.libraries.screens.dom import Element, parse
from mcp_sim.libraries.screens.forms import Form, is_text_control
from mcp_sim.libraries.screens.frame import Frame
from mcp_sim.libraries.screens.layout import Area, Box, Layout, Metrics
from mcp_sim.libraries.screens.site import ScreenError, Site
from mcp_sim.libraries.screens.tab import new_tab
from mcp_sim.libraries.store import LibraryError, Store

SHELL = "gnome-shell"
"""The panel with the apps, below all windows."""
_FIRST, _STEP = (90, 40), 30
"""Where the first window is, and how far each next one is from the one before."""
_WINDOW = (860, 580)
_MOST_COPIED = 10_000
"""Characters that are copied: each movement of the mouse writes the record with the clipboard."""
_TYPED_KEYS = {"\n": "Enter", "\t": "Tab"}
_MOST_TYPED = 60
"""Texts and keys between them that are typed at once: each Enter may show another page."""


class Desktop:
    """The desktop of a world: its apps, and the width and height of its screen."""

    def __init__(self, store: Store, world: Any, apps: Sequence[App], size: tuple[int, int]) -> None:
        panel = Site("https://shell.invalid")
        panel.page("/")(self._panel)
        self._browser = Browser(store, world, [panel, *(app.site for app in apps)])
        self.apps, self.size = {app.name: app for app in apps}, size
        self._panel_app = App(SHELL, SHELL, panel)
        records = {tab["id"]: tab for tab in self._browser.tabs}
        self._frames = {name: Frame(self._browser, {**record}) for name, record in records.items()}
        self.shell = self._frames.get(SHELL) or self._started(self._panel_app, (0, 0, *size))
        for frame in self._frames.values():
            with suppress(LibraryError):  # such as a page that has grown too large
                if frame.refresh():
                    frame.save()

    @property
    def windows(self) -> list[Frame]:
        """The windows of apps, lower ones first."""
        return sorted((f for f in self._frames.values() if f is not self.shell), key=lambda f: f.view["level"])

    @property
    def active(self) -> Frame:
        """The window that gets what is typed: the topmost one, else the panel."""
        return (self.windows or [self.shell])[-1]

    @property
    def cursor(self) -> tuple[int, int]:
        """Where the mouse is."""
        x, y = self.shell.view["cursor"]
        return x, y

    # windows

    def launch(self, name: str) -> Frame | None:
        """Show the window of an app, and start the app if it is not running. Returns None for an unknown app."""
        if name in self._frames and name != SHELL:
            self._raise(self._frames[name])
        elif name in self.apps:
            at = len(self.windows) % 8
            self._started(self.apps[name], (_FIRST[0] + at * _STEP, _FIRST[1] + at * _STEP, *_WINDOW))
        return self._frames.get(name) if name in self.apps else None

    def close(self, frame: Frame) -> None:
        """Close the window of an app. What was not saved is lost."""
        names = [tab["id"] for tab in self._browser.tabs]
        self._browser.close(names.index(frame.record["id"]))
        del self._frames[frame.record["id"]]
        self._make_current(self.active)

    def _started(self, app: App, area: Area) -> Frame:
        record = {**new_tab(1), "id": app.name, "current": True}
        level = 1 + max((frame.view["level"] for frame in self._frames.values()), default=-1)
        record["view"] = {
            "scroll": 0, "keyboard": False, "picker": None, "area": [*area], "level": level, "all": False,
            "cursor": [0, 0], "clipboard": "",
        }  # fmt: skip
        frame = self._frames[app.name] = Frame(self._browser, record)
        frame.navigate(f"{app.site.origin}/")
        self._make_current(frame)
        frame.save()
        return frame

    def _make_current(self, frame: Frame) -> None:
        for other in self._frames.values():
            other.record["current"] = other is frame
        self._browser.choose(frame.record["id"])

    def _raise(self, frame: Frame) -> None:
        if frame is not self.active and frame is not self.shell:
            frame.look(level=self.active.view["level"] + 1)
            self._make_current(frame)
            frame.save()

    # what is on the screen

    @property
    def panes(self) -> list[Pane]:
        """The windows with their menus and dialogs, lower ones first."""
        shell = self.shell
        page = Pane(shell, "window", "", shell.area, Layout(shell.page, shell.area, _METRICS))
        panes = [page, *(pane for frame in self.windows for pane in _panes_of(frame, self.size))]
        active = panes[-1].frame
        if active.has_notice:
            panes.append(
                _dialog(active, "dialog", active.title, active.form, self.size, lambda element: _press(active, element))
            )
        return panes

    def tree(self) -> Accessible:
        """Return what programs show to AT-SPI."""
        panes = self.panes
        top = Accessible("desktop-frame", self.shell.area, self.shell.page.root, flags=frozenset(), name="main")
        for name, frame in self._frames.items():
            package = self.apps[name].package if name in self.apps else name
            program = Accessible("application", (0, 0, 0, 0), frame.page.root, flags=frozenset(), name=package)
            program.children = [self._object(pane, is_top=pane is panes[-1]) for pane in panes if pane.frame is frame]
            top.children.append(program)
        return top

    def _object(self, pane: Pane, *, is_top: bool) -> Accessible:
        form, frame = pane.layout.top.element, pane.frame
        shown = new(pane.role, pane.area, form, pane.title)
        shown.flags |= {"active"} if is_top and pane.role != "window" else frozenset[str]()
        focus = frame.shown["focus"] if is_top and (pane.act is None or frame.has_notice) else None
        for layout, place in ((pane.bar, None), (pane.layout, focus)):
            if layout is not None:
                shown.children += Accessibles(layout.form, layout, frame.record["id"], place).objects()
        return shown

    def _panel(self, _world: Any) -> str:
        apps = "".join(f'<a role="button" style="display: block" href="{escape(n)}">{escape(n)}</a>' for n in self.apps)
        return (
            f'<body><div role="toolbar" aria-label="Dash" style="position: fixed; left: 0; top: 0">{apps}</div></body>'
        )

    # the mouse

    def move(self, x: int, y: int) -> None:
        """Move the mouse."""
        self.shell.look(cursor=[x, y])
        self.shell.save()

    def click(self) -> None:
        """Click what is topmost under the mouse."""
        pane, box = self._under()
        if pane.act is not None:
            pane.act(None if box is None else box.element)
        elif box is not None and box.element.get("id") == CLOSE:
            self.close(pane.frame)
        elif pane.frame is self.shell:
            link = box.element.closest("a") if box is not None else None
            self.launch(link.get("href") if link is not None else "")
        else:
            self._raise(pane.frame)
            if box is not None:
                pane.frame.click_at(box.element, (self.cursor[0] - box.x) / max(1, box.width))
            self._done(pane.frame)

    def double_click(self) -> None:
        """Click twice: rows open, and the text of a field is selected."""
        pane, box = self._under()
        address = _attribute(box, "data-open") if pane.act is None else ""
        self.click()
        if address:
            pane.frame.open(address)
            self._done(pane.frame)
        elif box is not None and is_text_control(box.element):
            pane.frame.look(all=True)
            pane.frame.save()
        else:
            self.click()

    def right_click(self) -> None:
        """Show the menu of what is under the mouse, if it has one."""
        pane, box = self._under()
        if pane.act is None and pane.frame is not self.shell:
            self._raise(pane.frame)
            address = _attribute(box, "data-menu")
            if address:
                pane.frame.open(address)
            pane.frame.save()

    def drag(self, x: int, y: int) -> None:
        """Move the mouse with its button pressed: a bar moves its window, a slider its value."""
        pane, box = self._under()
        from_x, from_y = self.cursor
        self.move(x, y)
        if pane.act is not None or box is None:
            return
        self._raise(pane.frame)
        if pane.bar is not None and box in pane.bar.top.walk():
            left, top, width, height = pane.area
            most_x, most_y = self.size[0] - BAR, self.size[1] - BAR  # the bar stays within reach
            place = min(most_x, max(0, left + x - from_x)), min(most_y, max(0, top + y - from_y))
            pane.frame.look(area=[*place, width, height])
        elif box.element.get("type") == "range":
            pane.frame.adjust(box.element, (x - box.x) / max(1, box.width))
        pane.frame.save()

    def scroll(self, by: int) -> None:
        """Move the page under the mouse up or down."""
        pane, _ = self._under()
        if pane.act is None and pane.frame is not self.shell:
            pane.frame.look(scroll=min(pane.layout.most_scroll, max(0, pane.layout.scroll + by)))
            pane.frame.save()

    def _done(self, frame: Frame) -> None:
        """Save a window. An address of another app opens there."""
        frame.save()
        app = next((app for app in self.apps.values() if frame.elsewhere.startswith(f"{app.site.origin}/")), None)
        other = self.launch(app.name) if app is not None else None
        if other is not None:
            with suppress(ScreenError):
                other.navigate(frame.elsewhere)
            other.save()

    def _under(self) -> tuple[Pane, Box | None]:
        panes = self.panes
        pane = next((p for p in reversed(panes) if p.act is not None or p.contains(*self.cursor)), panes[0])
        return pane, pane.at(*self.cursor)

    # the keyboard

    def type(self, text: str) -> None:
        """Type a text into the field with the focus. Ends of lines are the key Enter, tabs the key Tab."""
        for _ in range(_MOST_TYPED):
            frame = self.active
            words = text if frame.takes_lines else _first_of(text)
            if words in _TYPED_KEYS and not frame.takes_lines:
                self.press(_TYPED_KEYS[words])
            elif frame.has_notice or self.panes[-1].act is None:
                frame.enter(words)
                frame.save()
            text = text[len(words) :]
            if not text:
                break

    def press(self, key: str) -> None:
        """Press a key or several at once, such as `Control+S`."""
        frame, top = self.active, self.panes[-1]
        if key == "Alt+F4" and frame is not self.shell:
            self.close(frame)
        elif key == "Alt+Tab" and len(self.windows) > 1:
            self._raise(self.windows[-2])
        elif top.act is not None and not frame.has_notice:
            self._answer(top, key)
        else:
            copied = frame.strike(key, self.shell.view["clipboard"])
            if copied is not None:
                self.shell.look(clipboard=copied[:_MOST_COPIED])
                self.shell.save()
            self._done(frame)

    def _answer(self, pane: Pane, key: str) -> None:
        """Press a key while a dialog or a list is in front."""
        buttons = [item for item in pane.layout.form.root.walk() if item.tag == "button"]
        if pane.act is not None and key in ("Enter", "Escape"):
            pane.act((buttons or [None])[-1 if key == "Enter" else 0])


def _attribute(box: Box | None, name: str) -> str:
    """Return an attribute of a box or of what is around it."""
    elements = box.element.above() if box is not None else ()
    return next((element.get(name) for element in elements if element.has(name)), "")


def _first_of(text: str) -> str:
    """Return the key with which a text begins, else what comes before the next key."""
    return text[:1] if text[:1] in _TYPED_KEYS else re.split("[\n\t]", text, maxsplit=1)[0]


# panes ----------------------------------------------------------------------------------------------------------------


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
    picker = frame.picker
    if picker is not None:
        # The options of a list, below it.
        height = size[1]
        box = next(box for box in window.layout.top.walk() if box.element is picker)
        left, top, width, own_height = window.layout.shown(box) or frame.area
        y = top + own_height
        layout = Layout(Form(parse(frame.options(picker)), {}), (left, y, width, height - y), _METRICS)
        yield Pane(frame, "menu", "", (left, y, width, min(layout.height, height - y)), layout, act=frame.pick)


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
