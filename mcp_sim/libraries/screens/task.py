"""A running app of a phone or a desktop: its screen, and those to go back to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import Any

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import is_disabled, is_text_control, named_controls, option_value, squeezed
from mcp_sim.libraries.screens.site import ScreenError
from mcp_sim.libraries.screens.tab import Tab
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_list


class Task(Tab):
    """A running app: its screen, and those to go back to. Screens show the records as they are now."""

    @property
    def view(self) -> Record:
        """How the screen is shown: `scroll`, `keyboard`, and the list of options that is open (`picker`)."""
        return self.record["view"] or {"scroll": 0, "keyboard": False, "picker": None}

    @property
    def has_notice(self) -> bool:
        """Whether a notice is in front."""
        return self._notice is not None

    def look(self, **changes: Any) -> None:
        """Change how the screen is shown."""
        self.record["view"] = {**self.view, **changes}

    def refresh(self) -> bool:
        """Show the screen anew if its records have changed. What was entered stays. Returns whether they have."""
        shown = self._browser.page(self.record["page"])
        if shown is None or self.has_notice or self.dialog is not None or self.view["picker"] is not None:
            return False
        url, page = self._request("GET", self.url, ())
        if page["status"] != shown["status"] or page["html"] == shown["html"]:
            return False
        old, focus = self.form, self.record["focus"]
        self._browser.forget({shown["id"]} - {page["id"]})
        self._browser.keep(page)
        self.record.update({"url": url, "page": page["id"], "title": page["title"]})
        del self.form
        controls = named_controls(self.root)
        moved = {
            str(control.place): controls[name] for name, control in named_controls(old.root).items() if name in controls
        }
        self.form.values = {str(moved[at].place): value for at, value in old.values.items() if at in moved}
        self.record["focus"] = moved[str(focus)].place if str(focus) in moved else None
        return True

    def go_back(self) -> None:
        """Show the screen before as it is now, with what was entered there."""
        *earlier, left = self.record["back"]
        url, page = self._request("GET", left["url"], ())
        self._browser.keep(page)
        self.record["back"] = [*earlier, {**left, "url": url, "page": page["id"]}]
        super().go_back()
        self.look(scroll=left.get("scroll", 0))

    def tap(self, element: Element, at: float) -> None:
        """Tap an element. `at` is how far to the right of its left edge, from 0 to 1."""
        if self.adjust(element, at):
            return
        focus, loads = self.shown["focus"], self.record["loads"]
        self.shown["focus"] = None
        with suppress(ScreenError):  # a tap that does nothing is not an error
            self.click(element)
        field = self.focused
        if field is not None and is_text_control(field):
            self.look(keyboard=True)
        elif not self.has_notice:  # only fields take the focus
            self.record["focus"] = focus if self.record["loads"] == loads else None

    def adjust(self, element: Element, at: float) -> bool:
        """Open the list of options, or move the slider, that is at an element. Returns whether there is one."""
        select = element.closest("select")
        target = select if select is not None else element
        if is_disabled(target) or (select is None and element.get("type") != "range"):
            return False
        if select is not None:
            self.look(picker={"place": select.place, "under": self.view["scroll"]}, scroll=0, keyboard=False)
        else:
            low, high, step = (
                _number(element.get(name), default) for name, default in (("min", 0), ("max", 100), ("step", 1))
            )
            step = step or 1.0  # "any"
            value = low + round((high - low) * min(1.0, max(0.0, at)) / step) * step
            self.form.set(element, f"{value:g}")
            self._changed(element)
        return True

    @property
    def picker(self) -> Element | None:
        """The list whose options are open."""
        picker = self.view["picker"]
        return None if picker is None else next(item for item in self.root.walk() if item.place == picker["place"])

    def options(self, select: Element) -> str:
        """Return the page with the options of a list."""
        chosen, rows = self.form.value(select), list[str]()
        for option in select.walk():
            if option.tag == "option" and not is_disabled(option):
                value = option_value(option)
                selected = ' aria-selected="true"' if value == chosen or value in as_list(chosen) else ""
                attributes = f'id="android:id/text1" role="option" style="display: block" href="{escape(value)}"'
                rows.append(f"<a {attributes}{selected}>{escape(squeezed(option.text))}</a>")
        return f"<body>{''.join(rows)}</body>"

    def pick(self, element: Element | None) -> None:
        """Choose an option of the open list, and close it. Other places only close it."""
        link = element.closest("a") if element is not None else None
        select = self.picker
        self.look(picker=None, scroll=self.view["picker"]["under"])
        if link is not None and select is not None:
            with suppress(ScreenError):
                value, chosen = link.get("href"), [*map(str, as_list(self.form.value(select)))]
                self.choose(select, [*({value} - {*chosen}), *(other for other in chosen if other != value)])
        self.save()

    def _open(self, address: str, *, beside: bool) -> None:
        self._follow(address)  # an app has one screen

    def _load(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> None:
        """Show another screen. A form that is sent ends its screen, and one to which a link leads back is not new."""
        here, scroll, field = _screen_of(self.url), self.view["scroll"], self._field()
        is_first = self.record["page"] is None
        super()._load(method, url, form)
        back = self.record["back"]
        left = [] if is_first else [{**back[-1], "scroll": scroll}]
        stack = [*(back if is_first else back[:-1]), *(left if method == "GET" else [])]
        target, screens = _screen_of(self.url), [_screen_of(entry["url"]) for entry in stack]
        if target in screens:
            scroll = stack[screens.index(target)].get("scroll", 0)  # back on a screen that was left: it is where it was
            del stack[screens.index(target) :]
        elif target != here:
            scroll, field = 0, None
        self._browser.forget({entry["page"] for entry in back} - {entry["page"] for entry in (self.record, *stack)})
        self.record["back"] = stack
        self.look(scroll=scroll)
        name, keyboard = field or (None, False)
        control = None if name is None else named_controls(self._form_of_page().root).get(name)
        if control is not None and is_text_control(control):
            self.record["focus"] = control.place
            self.look(keyboard=keyboard)

    def _request(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> tuple[str, Record]:
        answer = super()._request(method, url, form)
        self.record["requests"] = []  # nothing shows them, and each look at the screen makes one
        return answer

    def _field(self) -> tuple[Any, bool]:
        """Return the name of the field with the focus, and whether the keyboard is shown."""
        place = self.record["focus"]
        names = () if self.has_notice or place is None else named_controls(self.root).items()
        return next((name for name, control in names if control.place == place), None), self.view["keyboard"]


def _screen_of(url: str) -> str:
    """Return the address of a screen: the same page with another query is the same screen."""
    return url.partition("#")[0].partition("?")[0]


def _number(text: str, default: float) -> float:
    return float(text) if re.fullmatch(r"-?\d{1,9}(\.\d{1,6})?", text) and float(text) else default if not text else 0.0
