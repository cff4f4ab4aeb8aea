"""A phone: apps are sites, each with its own back stack. What is tapped is what is topmost at a place of the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlsplit

from mcp_sim.libraries.screens.android import View, Views
from mcp_sim.libraries.screens.browser import Browser
from mcp_sim.libraries.screens.dom import Element, parse
from mcp_sim.libraries.screens.forms import Form, is_text_control
from mcp_sim.libraries.screens.layout import Layout, Metrics
from mcp_sim.libraries.screens.site import ScreenError, Site
from mcp_sim.libraries.screens.tab import new_tab
from mcp_sim.libraries.screens.task import Task
from mcp_sim.libraries.store import LibraryError, Store

LAUNCHER = "com.google.android.apps.nexuslauncher"
"""The package of the screen with the apps."""
_BAR = 63
"""Height of the bars at the top and the bottom of the screen: 24 units."""
_KEYBOARD = 0.4
"""The part of the screen that the keyboard covers."""
_COLUMNS = 4
"""Apps in a row of the launcher."""
_KEYS = {"BACKSPACE": "Backspace", "DEL": "Backspace", "ENTER": "Enter", "TAB": "Tab"}


@dataclass(slots=True)
class App:
    """An app: a site under the name of a package."""

    name: str
    package: str
    site: Site


@dataclass(slots=True)
class Window:
    """What is topmost on the screen. `tap` is what a tap on one of its elements does, if not what the page does."""

    form: Form
    layout: Layout
    tap: Callable[[Element | None], None] | None = None


class Device:
    """The phone of a world."""

    def __init__(self, store: Store, world: Any, apps: Sequence[App], size: tuple[int, int]) -> None:
        launcher = Site("https://launcher.invalid")
        launcher.page("/")(self._launcher)
        self._home = App("Launcher", LAUNCHER, launcher)
        self._browser = Browser(store, world, [launcher, *(app.site for app in apps)])
        self.apps, self.size = {app.package: app for app in apps}, size
        record = next((tab for tab in self._browser.tabs if tab["current"]), None)
        self.task = self._started(self._home) if record is None else Task(self._browser, {**record})
        with suppress(LibraryError):  # such as a page that has grown too large
            self.task.refresh()

    @property
    def package(self) -> str:
        """The package of the app that is in front."""
        return self._package_of(self.task.url) or self.task.record["id"]

    @property
    def window(self) -> Window:
        """What is topmost on the screen."""
        task = self.task
        if task.has_notice:
            return self._window(task.form)
        if task.dialog is not None:
            return self._window(Form(parse(_dialog(task.dialog)), {}), self._answer)
        if task.picker is not None:
            return self._window(Form(parse(task.options(task.picker)), {}), task.pick)
        return self._window(task.form, self._start_tapped if self.package == LAUNCHER else None)

    def views(self) -> View:
        """Return the views of the screen."""
        window = self.window
        focus = None if window.tap is not None else self.task.shown["focus"]
        return Views(window.form, window.layout, self.package, focus).root(self.size)

    # apps

    def launch(self, package: str) -> bool:
        """Bring an app to the front. Returns whether it is installed."""
        app = self.apps.get(package)
        if app is not None:
            self._show(app)
        return app is not None

    def terminate(self, package: str) -> None:
        """End an app."""
        if self.task.record["id"] == package:
            self.home()
        at = next((at for at, tab in enumerate(self._browser.tabs) if tab["id"] == package), None)
        if at is not None and package != LAUNCHER:
            self._browser.close(at)

    def open_url(self, url: str) -> None:
        """Open an address in its app. Nothing happens if no app is responsible for it."""
        if self.launch(self._package_of(url)):
            with suppress(ScreenError):
                self.task.navigate(url)
            self.task.save()

    def home(self) -> None:
        """Show the launcher."""
        self._show(self._home)

    def _show(self, app: App) -> None:
        known = next((tab for tab in self._browser.tabs if tab["id"] == app.package), None)
        self._browser.choose(app.package)
        self.task = self._started(app) if known is None else Task(self._browser, {**known, "current": True})
        with suppress(LibraryError):  # such as a page that has grown too large
            self.task.refresh()
        self.task.save()

    def _started(self, app: App) -> Task:
        task = Task(self._browser, {**new_tab(1), "id": app.package, "current": True})
        task.navigate(f"{app.site.origin}/")
        return task

    # actions

    def tap(self, x: float, y: float) -> None:
        """Tap a place of the screen."""
        window = self.window
        box = window.layout.at(x, y)
        if window.tap is not None:
            window.tap(None if box is None else box.element)
        elif box is not None:
            self.task.tap(box.element, (x - box.x) / max(1, box.width))
            self._show_focus()
            self.task.save()

    def long_press(self, x: float, y: float) -> None:
        """Press a place for a while: fields get the focus, and nothing else has a menu."""
        window = self.window
        box = window.layout.at(x, y)
        if window.tap is None and box is not None and is_text_control(box.element):
            self.tap(x, y)

    def swipe(self, from_y: float, to_y: float) -> None:
        """Move a finger up or down: the page follows it."""
        layout = self.window.layout
        if not self.task.has_notice and self.task.dialog is None:
            self.task.look(scroll=min(layout.most_scroll, max(0, layout.scroll + round(from_y - to_y))))
            self.task.save()

    def type(self, text: str) -> None:
        """Type a text into the field with the focus; without one it is lost."""
        if self.window.tap is None:
            field = self.task.focused
            is_number = field is not None and field.get("type") == "number"
            keys = text.replace("\n", "")  # the input command of Android drops ends of lines
            self.task.insert(re.sub(r"[^\d.eE+-]", "", keys) if is_number else keys)
            self.task.save()

    def press(self, button: str) -> None:
        """Press a button or key. Volume and the like change nothing that the screen shows."""
        if button == "HOME":
            self.home()
        elif button == "BACK":
            self._back(self.task)
        elif button in _KEYS and self.window.tap is None:
            with suppress(ScreenError):
                self.task.press(_KEYS[button])
            self._show_focus()
            self.task.save()

    def _back(self, task: Task) -> None:
        """Close what is topmost: a dialog, a list, the keyboard, the screen, the app. A notice stays."""
        if task.has_notice:
            return
        if task.dialog is not None:
            task.answer(accept=False)
        elif task.view["picker"] is not None:
            task.look(picker=None, scroll=task.view["picker"]["under"])
        elif task.view["keyboard"]:
            task.look(keyboard=False)
        elif task.record["back"]:
            with suppress(ScreenError):
                task.go_back()
        else:
            self.home()
            return
        task.save()

    # windows

    def _window(self, form: Form, tap: Callable[[Element | None], None] | None = None) -> Window:
        width, height = self.size
        view = self.task.view
        below = round(height * _KEYBOARD) if view["keyboard"] else _BAR
        scroll = 0 if self.task.has_notice else view["scroll"]
        return Window(form, Layout(form, (0, _BAR, width, height - _BAR - below), Metrics(), scroll), tap)

    def _show_focus(self) -> None:
        """Move the page so that the keyboard does not cover the field that it is for."""
        field = self.task.focused
        if field is not None and self.task.view["keyboard"] and not self.task.has_notice:
            layout = self.window.layout
            place = layout.place_of(field)
            if place is not None:
                lowest = place[0] + place[1] - layout.area[3]
                self.task.look(scroll=round(min(place[0], max(layout.scroll, lowest))))

    def _launcher(self, _world: Any) -> str:
        apps = self.apps.values()
        links = [f'<td><a href="{escape(app.package)}">{escape(app.name)}</a></td>' for app in apps]
        rows = ("".join(links[at : at + _COLUMNS]) for at in range(0, len(links), _COLUMNS))
        return f"<body><table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table></body>"

    def _start_tapped(self, element: Element | None) -> None:
        link = element.closest("a") if element is not None else None
        if link is not None:
            self.launch(link.get("href"))

    def _answer(self, element: Element | None) -> None:
        """Answer the open dialog. A tap beside it cancels, one on its text does nothing."""
        if element is None or element.tag == "button":
            with suppress(ScreenError):
                self.task.answer(accept=element is not None and element.get("id") == _ACCEPT)
            self.task.save()

    def _package_of(self, url: str) -> str:
        try:
            parts = urlsplit(url)
        except ValueError:  # not an address
            return ""
        origin = f"{parts.scheme}://{parts.netloc}"
        apps = (self._home, *self.apps.values())
        return next((app.package for app in apps if app.site.origin == origin), "")


_ACCEPT = "android:id/button1"


def _dialog(message: str) -> str:
    return (
        '<body><div role="alertdialog" style="position: fixed; left: 32px; right: 32px; top: 320px">'
        f'<p id="android:id/message">{escape(message)}</p><button id="android:id/button2">Cancel</button>'
        f'<button id="{_ACCEPT}">OK</button></div></body>'
    )
