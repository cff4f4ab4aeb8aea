"""A browser over sites: tabs are records, and actions are what a person or an agent does with a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote, urldefrag, urlencode, urljoin, urlsplit

from mcp_sim.libraries.screens.accessibility import Item, Tree, is_hidden
from mcp_sim.libraries.screens.dom import CONFIRM, SUBMIT, Element, parse
from mcp_sim.libraries.screens.forms import (
    BUTTONS,
    CONTROLS,
    Form,
    is_disabled,
    is_text_control,
    option_value,
    squeezed,
)
from mcp_sim.libraries.screens.site import Answer, Site, path_and_query
from mcp_sim.libraries.store import LibraryError, Store
from mcp_sim.types import Json, Record

TAB = "tab"
"""The table of tabs."""
BLANK = "about:blank"
_MOST_REDIRECTS = 20
"""As browsers: a page that always sends elsewhere is an error."""
_KEPT = "%/:?#[]@!$&'()*+,;=~"
"""Characters of an address that browsers send as they are."""
_MOST_PAGES = 5
"""How many earlier pages a tab goes back to, and how many answers it keeps: each step writes them all to the ledger."""
_LONGEST_ADDRESS = 8_192
"""Characters that usual servers take."""
_MOST_TABS = 20
_MOST_TYPED = 100_000
"""Characters of a value. A field of a form takes more, but no task needs it."""


class ScreenError(LibraryError):
    """An action that the page does not allow."""


class DialogOpen(ScreenError):
    """A dialog waits for an answer: nothing else can be done."""


class Browser:
    """The tabs of a world, over some sites. `world` is what the functions of the sites get."""

    def __init__(self, store: Store, world: Any, sites: Sequence[Site]) -> None:
        self._store, self._world = store, world
        self._sites = {site.origin: site for site in sites}

    @property
    def tabs(self) -> list[Record]:
        """The tabs, in the order in which they were opened."""
        return [*self._store.rows(TAB)]

    @property
    def tab(self) -> Tab:
        """The current tab. The first action opens one."""
        tabs = self.tabs
        record = next((tab for tab in tabs if tab["current"]), tabs[0] if tabs else None)
        return Tab(self, {**_new_tab(1), "current": True} if record is None else {**record})

    def open(self) -> Tab:
        """Open another tab, which is then the current one. Raises `ScreenError` if there are too many."""
        tabs = self.tabs
        if len(tabs) >= _MOST_TABS:
            raise ScreenError(f"at most {_MOST_TABS} tabs can be open")
        number = 1 + max((int(tab["id"].removeprefix("tab-")) for tab in tabs), default=0)
        self._choose(None)
        tab = Tab(self, {**_new_tab(number), "current": True})
        tab.save()
        return tab

    def select(self, index: int) -> Tab:
        """Make a tab the current one."""
        tabs = self._checked(index)
        self._choose(tabs[index]["id"])
        return self.tab

    def close(self, index: int | None = None) -> None:
        """Close a tab, by default the current one."""
        tabs = self.tabs
        if not tabs:
            return
        at = next((at for at, tab in enumerate(tabs) if tab["current"]), 0) if index is None else index
        tabs = self._checked(at)
        closed = tabs.pop(at)
        self._store.remove(TAB, closed["id"])
        if closed["current"] and tabs:
            self._choose(tabs[max(0, at - 1)]["id"])

    def put(self, record: Record) -> None:
        """Write a tab."""
        self._store.put(TAB, record["id"], record)

    def request(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> tuple[str, Answer]:
        """Return the answer to a request and its address, after redirects. Raises `ScreenError` if there is none."""
        for _ in range(_MOST_REDIRECTS):
            url = _resolved(url)
            parts = urlsplit(url)
            site = self._sites.get(f"{parts.scheme}://{parts.netloc}")
            if site is None:
                raise ScreenError(f"net::ERR_NAME_NOT_RESOLVED at {url}")
            answer = site.answer(self._world, method, *path_and_query(url), dict(form))
            if not answer.location:
                return url, answer
            method, form, url = "GET", (), _resolved(url, answer.location)
        raise ScreenError(f"net::ERR_TOO_MANY_REDIRECTS at {url}")

    def _checked(self, index: int) -> list[Record]:
        tabs = self.tabs
        if not 0 <= index < len(tabs):
            raise ScreenError(f"Tab {index} not found")
        return tabs

    def _choose(self, key: str | None) -> None:
        for tab in self.tabs:
            if tab["current"] != (tab["id"] == key):
                self.put({**tab, "current": tab["id"] == key})


def _resolved(base: str, address: str = "") -> str:
    """Return an address of a page as browsers send it. Raises `ScreenError` if it is invalid or too long."""
    try:
        url = quote(urljoin(base, address), safe=_KEPT)
        urlsplit(url)
    except ValueError:
        url = ""
    if not url or len(url) > _LONGEST_ADDRESS:
        raise ScreenError("Protocol error (Page.navigate): Cannot navigate to invalid URL")
    return url


def _new_tab(number: int) -> Record:
    page: Record = {"url": BLANK, "title": "", "html": "", "status": 200}
    return {
        "id": f"tab-{number}", "current": False, **page, "values": {}, "focus": None, "dialog": None, "references": {},
        "given": 0, "loads": 0, "back": [], "answers": {},
    }  # fmt: skip


class Tab:
    """A tab during one call: its record, and the page that it shows."""

    def __init__(self, browser: Browser, record: Record) -> None:
        self._browser, self.record = browser, record

    def save(self) -> None:
        """Write the tab as it is now."""
        if "form" in self.__dict__:
            self.record["values"] = self.form.values
        self._browser.put(self.record)

    @cached_property
    def form(self) -> Form:
        """The page with what was entered into it."""
        return Form(parse(self.record["html"]), self.record["values"])

    @property
    def root(self) -> Element:
        """The root of the page."""
        return self.form.root

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.record["url"]

    # pages

    def navigate(self, url: str) -> None:
        """Go to an address."""
        target = url if re.match(r"[a-z][a-z0-9+.-]*:", url, re.IGNORECASE) else f"https://{url}"
        self._load("GET", target if urlsplit(_resolved(target)).path else f"{target}/", ())

    def go_back(self) -> None:
        """Show the page before, with what was entered there, as browsers restore it."""
        if not self.record["back"]:
            return
        *earlier, page = self.record["back"]
        newest: Record = self.record["answers"].get(page["url"], page)  # one answer is kept for each address
        self._show({**page, **newest, "values": _restored(page, newest)}, back=earlier)

    def tree(self) -> Item:
        """Return the accessibility tree; its references are known from then on."""
        record = self.record
        prefix = f"f{record['loads'] - 1}" if record["loads"] > 1 else ""
        known = {place: (entry[0], entry[1], entry[2]) for place, entry in record["references"].items()}
        tree = Tree(self.form, record["focus"], prefix, known, record["given"])
        top = tree.build()
        record["references"] = {place: [*entry] for place, entry in tree.references.items()}
        record["given"] = tree.count
        return top

    def element(self, reference: str) -> Element:
        """Return the element of a reference. Raises `ScreenError` for one that the page does not show."""
        if not self.record["references"]:
            self.tree()
        places = {entry[0]: int(place) for place, entry in self.record["references"].items()}
        if reference not in places:
            raise ScreenError(f"Ref {reference} not found in the current page snapshot. Try capturing new snapshot.")
        return next(element for element in self.root.walk() if element.place == places[reference])

    def role_and_name(self, element: Element) -> tuple[str, str]:
        """Return what an element is called."""
        tree = Tree(self.form, None, "", {}, 0)
        role = tree.role(element)
        return role, tree.name(element, role)[0]

    def text(self) -> str:
        """Return the text of the page as it is shown."""
        return squeezed(" ".join(_texts(self.root.first("body") or self.root)))

    # actions

    def click(self, element: Element) -> None:
        """Click an element: follow the link, press the button, toggle the box that it is or belongs to."""
        for target in element.above():
            if is_disabled(target):
                raise ScreenError("element is not enabled")
            if self._activate(target):
                return
        self.record["focus"] = None

    def _activate(self, element: Element) -> bool:
        """Do what a click on an element does. Returns whether it does anything."""
        kind = element.get("type")
        if element.tag == "a" and element.has("href"):
            self._focus(element)
            self._follow(element.get("href"))
        elif element.tag == "summary" and element.parent is not None:
            key = str(element.parent.place)
            self.form.values[key] = not self.form.values.get(key, element.parent.has("open"))
            self._focus(element)
        elif element.tag == "label" and (control := self._control_of(element)) is not None:
            self.click(control)
        elif element.tag == "button" or (element.tag == "input" and kind in BUTTONS):
            self._press_button(element)
        elif element.tag == "input" and kind in ("checkbox", "radio"):
            self._focus(element)
            self.form.set(element, True if kind == "radio" else not self.form.value(element))
            self._changed(element)
        elif element.tag in CONTROLS:
            self._focus(element)
        else:
            return False
        return True

    def _control_of(self, label: Element) -> Element | None:
        """Return the control that a click on a label is meant for; other elements, such as `output`, take none."""
        control = Tree(self.form, None, "", {}, 0).labelled(label)
        return control if control is not None and control.tag in (*CONTROLS, "button") else None

    def fill(self, element: Element, text: str) -> None:
        """Replace the text of a field. Raises `ScreenError` for other elements."""
        target = element
        if element.tag == "label":
            target = Tree(self.form, None, "", {}, 0).labelled(element) or element
        if not is_text_control(target):
            raise ScreenError(
                "Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role "
                "allowing [aria-readonly]"
            )
        if is_disabled(target) or target.has("readonly"):
            raise ScreenError("element is not enabled" if is_disabled(target) else "element is not editable")
        if target.get("type") == "number" and text and not re.fullmatch(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?", text):
            raise ScreenError("Cannot type text into input[type=number]")
        self.form.set(target, text[:_MOST_TYPED])
        self._focus(target)

    def check(self, element: Element, *, on: bool) -> None:
        """Turn a checkbox or radio button on or off."""
        if element.get("type") not in ("checkbox", "radio"):
            raise ScreenError("Not a checkbox or radio button")
        if bool(self.form.value(element)) != on:
            self.click(element)

    def choose(self, element: Element, values: Sequence[str]) -> None:
        """Choose an option of a list by its value or text."""
        if element.tag != "select":
            raise ScreenError("Element is not a <select> element")
        for option in element.walk():
            if option.tag == "option" and {option_value(option), squeezed(option.text)} & {*values}:
                self.form.set(element, option_value(option))
                self._changed(element)
                return
        raise ScreenError("did not find some options")

    def press(self, key: str) -> None:
        """Press a key on the element that has the focus."""
        focus = self.focused
        if (
            key == "Enter"
            and focus is not None
            and focus.tag == "input"
            and (form := focus.closest("form")) is not None
        ):
            buttons = (element for element in self.form.controls(form) if _submits(element))
            self._submit(form, next(buttons, None))
        elif key in ("Enter", " ", "Space") and focus is not None and focus.tag in ("a", "button", "summary"):
            self.click(focus)
        elif key in ("Tab", "Shift+Tab"):
            self._move_focus(1 if key == "Tab" else -1)
        elif key in ("Backspace", "Delete") and focus is not None and is_text_control(focus):
            self.form.set(focus, str(self.form.value(focus))[:-1] if key == "Backspace" else self.form.value(focus))
        elif len(key) == 1 and focus is not None and is_text_control(focus):
            self.form.set(focus, (str(self.form.value(focus)) + key)[:_MOST_TYPED])

    def answer(self, *, accept: bool) -> None:
        """Answer the open dialog. Raises `ScreenError` if none is open."""
        dialog = self.record["dialog"]
        if dialog is None:
            raise ScreenError("no dialog is open")
        self.record["dialog"] = None
        if accept:
            places = {element.place: element for element in self.root.walk()}
            self._submit(places[dialog["form"]], places.get(dialog["button"]), is_confirmed=True)

    @property
    def dialog(self) -> str | None:
        """The message of the open dialog."""
        return self.record["dialog"]["message"] if self.record["dialog"] else None

    @property
    def focused(self) -> Element | None:
        """The element that has the focus."""
        place = self.record["focus"]
        return next((element for element in self.root.walk() if element.place == place), None)

    def _focus(self, element: Element) -> None:
        self.record["focus"] = element.place

    def _press_button(self, button: Element) -> None:
        self._focus(button)
        form = button.closest("form") or next(
            (
                element
                for element in self.root.walk()
                if element.tag == "form" and element.get("id") == button.get("form")
            ),
            None,
        )
        if form is None:
            return
        if button.get("type") == "reset":
            self.form.reset(form)
        elif button.get("type") != "button":
            self._submit(form, button)

    def _changed(self, control: Element) -> None:
        form = control.closest("form")
        if SUBMIT.fullmatch(control.get("onchange")) and form is not None:
            self._submit(form, None, is_confirmed=True)

    def _submit(self, form: Element, button: Element | None, *, is_confirmed: bool = False) -> None:
        """Send a form, unless a browser refuses to: the first invalid control gets the focus, or a dialog asks."""
        checks = not form.has("novalidate") and not (button is not None and button.has("formnovalidate"))
        invalid = self.form.first_invalid(form) if checks and not is_confirmed else None
        if invalid is not None:
            self._focus(invalid)
            return
        question = CONFIRM.fullmatch(form.get("onsubmit"))
        if question is not None and not is_confirmed:
            message = re.sub(r"\\(.)", r"\1", question[1])
            self.record["dialog"] = {"message": message, "form": form.place, "button": button.place if button else 0}
            return
        data = self.form.data(form, button)
        action = (button.get("formaction") if button is not None else "") or form.get("action") or self.url
        target = urldefrag(_resolved(self.url, action)).url
        if form.get("method").lower() == "post":
            self._load("POST", target, data)
        else:
            self._load("GET", f"{target.partition('?')[0]}?{urlencode(data)}", ())

    def _follow(self, address: str) -> None:
        target = _resolved(self.url, address)
        if urldefrag(target).url == urldefrag(self.url).url and "#" in address:
            self.record["url"] = target  # a place on the same page
            return
        self._load("GET", target, ())

    def _move_focus(self, step: int) -> None:
        order = [element for element in self.root.walk() if _takes_focus(element)]
        places = [element.place for element in order]
        at = places.index(self.record["focus"]) if self.record["focus"] in places else (-1 if step > 0 else len(order))
        at += step
        self.record["focus"] = places[at] if 0 <= at < len(order) else None

    # loading

    def _load(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> None:
        url, answer = self._browser.request(method, url, form)
        root = parse(answer.html)
        title = root.first("title")
        page: Record = {
            "url": url, "title": squeezed(title.text) if title is not None else "", "html": answer.html,
            "status": answer.status,
        }  # fmt: skip
        back = self.record["back"]
        if self.url != BLANK:
            left = {name: self.record[name] for name in ("url", "title", "html", "status")}
            back = [*back, {**left, "values": self.form.values}][-_MOST_PAGES:]
        answers = {**self.record["answers"], url: page}
        self.record["answers"] = dict([*answers.items()][-_MOST_PAGES:])
        self._show({**page, "values": {}}, back=back)

    def _show(self, page: Record, *, back: list[Record]) -> None:
        self.__dict__.pop("form", None)
        fresh: Record = {"focus": None, "dialog": None, "references": {}, "given": 0}
        self.record.update({**page, **fresh, "back": back, "loads": self.record["loads"] + 1})


def _submits(element: Element) -> bool:
    return (element.tag == "button" and element.get("type", "submit") == "submit") or (
        element.tag == "input" and element.get("type") in ("submit", "image")
    )


def _takes_focus(element: Element) -> bool:
    if is_hidden(element) or is_disabled(element) or element.get("tabindex") == "-1":
        return False
    is_control = element.tag in ("button", "select", "textarea", "summary", "input")
    return is_control or (element.tag == "a" and element.has("href")) or element.has("tabindex")


def _restored(page: Record, shown: Mapping[str, Json]) -> Record:
    """Return what was entered into a page, by the places of the page that is shown now; passwords are forgotten."""
    old, new = parse(page["html"]), parse(shown["html"])
    kept: Record = {}
    targets = _named_controls(new)
    for key, element in _named_controls(old).items():
        entered = page["values"].get(str(element.place))
        target = targets.get(key)
        is_private = element.get("type") == "password" or element.get("autocomplete") == "off"
        if entered is not None and target is not None and not is_private:
            kept[str(target.place)] = entered
    return kept


def _named_controls(root: Element) -> dict[tuple[str, str, str, int], Element]:
    """Return the controls of a page by tag, type, name and number among those."""
    controls = dict[tuple[str, str, str, int], Element]()
    counts = dict[tuple[str, str, str], int]()
    for element in root.walk():
        if element.tag in CONTROLS:
            key = (element.tag, element.get("type"), element.get("name"))
            counts[key] = counts.get(key, 0) + 1
            controls[*key, counts[key]] = element
    return controls


def _texts(element: Element) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        elif not is_hidden(child):
            yield from _texts(child)
