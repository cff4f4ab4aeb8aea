"""The window of an app on a desktop: its page, its menus, and what is typed into it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import Form, is_text_control
from mcp_sim.libraries.screens.layout import Area
from mcp_sim.libraries.screens.site import ScreenError
from mcp_sim.libraries.screens.task import Task
from mcp_sim.types import Record


class Frame(Task):
    """The window of an app. Its view has its `area`, and its `level`: windows with higher ones are above others."""

    elsewhere = ""
    """The address of another app that was asked for."""

    @property
    def area(self) -> Area:
        """Where the window is."""
        x, y, width, height = self.view["area"]
        return x, y, width, height

    @property
    def page(self) -> Form:
        """The page, also while a notice is in front of it."""
        return self._form_of_page() if self.has_notice else self.form

    def _show(self, url: str, key: str, *, back: list[Record]) -> None:
        kept = {name: self.view[name] for name in ("area", "level", "cursor", "clipboard")}
        super()._show(url, key, back=back)
        field = next((element for element in self.page.root.walk() if element.has("autofocus")), None)
        self.record["focus"] = None if field is None else field.place
        self.record["loads"] = 1  # they number references, which windows do not have
        self.look(**kept, all=field is not None and field.tag == "input")

    def _load(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> None:
        """Show another page, unless it is shown already. Pages of other apps have their own windows."""
        here, there = urlsplit(self.url).netloc, urlsplit(url).netloc
        if here and here != there:
            self.elsewhere = url
        elif method != "GET" or url != self.url:
            super()._load(method, url, form)

    def click_at(self, element: Element, at: float) -> None:
        """Click an element. `at` is how far to the right of its left edge, from 0 to 1."""
        if self.close_menus(element):
            return
        self.look(all=False)
        if not self.adjust(element, at):
            with suppress(ScreenError):  # a click that does nothing is not an error
                self.click(element)

    def close_menus(self, element: Element | None) -> bool:
        """Close the menus that an element does not belong to. A click that does so does nothing else."""
        others = [menu for menu in self.root.walk() if menu.get("role") == "menu" and menu.tag == "details"]
        around = {*element.above()} if element is not None else set[Element]()
        open_ones = [menu for menu in others if self.form.values.get(str(menu.place)) and menu not in around]
        for menu in open_ones:
            self.form.values[str(menu.place)] = False
        return bool(open_ones) and not any(item.tag == "summary" for item in around)

    def open(self, address: str) -> None:
        """Follow an address of the page."""
        with suppress(ScreenError):
            self._follow(address)

    def enter(self, text: str) -> None:
        """Type a text: over what is selected, else behind what the field with the focus has."""
        field = self.focused
        if self.view["all"] and field is not None:
            self.form.set(field, "")
            self.look(all=False)
        if text:
            self.insert(text)

    @property
    def takes_lines(self) -> bool:
        """Whether the field with the focus has several lines, so that ends of lines and tabs are text."""
        return self.focused is not None and self.focused.tag == "textarea"

    def strike(self, key: str, clipboard: str) -> str | None:
        """Press a key, or several at once. Returns what it copies, or None."""
        field = self.focused
        text = str(self.form.value(field) or "") if field is not None and is_text_control(field) else None
        target = next((e for e in self.root.walk() if e.get("aria-keyshortcuts") == key), None)
        with suppress(ScreenError):  # a key that does nothing is not an error
            if target is not None and (text is None or (len(key) > 1 and key != "Delete")):
                self.click(target)
            elif key == "Escape":
                self.close_menus(None)
            elif text is not None and key.startswith("Control+"):
                letter = key.removeprefix("Control+")
                is_copied = letter in ("C", "X") and self.view["all"]
                if letter == "A":
                    self.look(all=True)
                elif letter == "V":
                    self.enter(clipboard)
                elif letter == "X" and is_copied:
                    self.enter("")
                return text if is_copied else None
            elif self.view["all"] and key in ("Backspace", "Delete"):
                self.enter("")
            elif self.view["all"] and len(key) == 1:
                self.enter(key)
            else:
                self.press(key)
        return None
