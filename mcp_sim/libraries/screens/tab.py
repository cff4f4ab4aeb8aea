"""A tab: the page that it shows, and what a person or an agent does with it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlencode, urlsplit

from mcp_sim.libraries.screens.accessibility import Item, Tree
from mcp_sim.libraries.screens.dom import CONFIRM, SUBMIT, Element, HtmlError, parse
from mcp_sim.libraries.screens.forms import (
    BUTTONS,
    CONTROLS,
    UNFILLED,
    Form,
    is_disabled,
    is_text_control,
    is_well_formed,
    named_controls,
    option_value,
    squeezed,
    submits,
)
from mcp_sim.libraries.screens.front import shown_page
from mcp_sim.libraries.screens.naming import is_hidden
from mcp_sim.libraries.screens.site import NotReady, ScreenError, resolved
from mcp_sim.types import Json, Record

if TYPE_CHECKING:
    from mcp_sim.libraries.screens.browser import Browser

BLANK = "about:blank"
_MOST_PAGES = 5
"""How many earlier pages a tab goes back to. Their HTML is kept."""
_MOST_REQUESTS = 100
"""How many requests of a tab are known: as a browser's log, but it grows with each page."""
KEYS = frozenset({
    "Alt", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp", "Backspace", "CapsLock", "Control", "ControlOrMeta",
    "Delete", "End", "Enter", "Escape", "Home", "Insert", "Meta", "PageDown", "PageUp", "Shift", "Space", "Tab",
    *(f"F{number}" for number in range(1, 13)),
})  # fmt: skip
"""The names of keys, besides single characters."""
_STEPS = {"ArrowDown": 1, "ArrowRight": 1, "ArrowUp": -1, "ArrowLeft": -1}
_REFERENCE = re.compile(r"(?:f\d+)?e\d+")
_SELECTOR = re.compile(
    r"""(?P<tag>[a-z][a-z0-9]*)?(?:\#(?P<id>[\w-]+))?(?:\[(?P<name>[\w-]+)=(?P<q>["']?)(?P<value>[^"'\]]*)(?P=q)\])?(?<!^)"""
)


def new_tab(number: int) -> Record:
    """Return the record of an empty tab."""
    return {
        "id": f"tab-{number}", "current": False, "url": BLANK, "title": "", "status": 200, "page": None, "update": "",
        "values": {}, "focus": None, "start": None, "dialog": None, "references": {}, "given": 0, "loads": 0,
        "back": [], "requests": [], "view": None,
    }  # fmt: skip


def tree_of(form: Form, record: Record) -> Tree:
    """Return the accessibility tree of what a tab or notice shows, which continues the references of its record."""
    prefix = f"f{record['loads'] - 1}" if record["loads"] > 1 else ""
    known = {place: (entry[0], entry[1], entry[2]) for place, entry in record["references"].items()}
    return Tree(form, record["focus"], prefix, known, record["given"])


class Tab:
    """A tab during one call: its record, and the page that it shows."""

    def __init__(self, browser: Browser, record: Record) -> None:
        self._browser, self.record = browser, record
        self._notice = browser.notice

    @property
    def shown(self) -> Record:
        """The record of what is in front: a notice, else the tab itself."""
        return self.record if self._notice is None else self._notice

    def save(self) -> None:
        """Write the tab as it is now."""
        if "form" in self.__dict__:
            self.shown["values"] = self.form.values
        self._browser.put(self.record, self._notice)

    @cached_property
    def form(self) -> Form:
        """What is shown, with what was entered into it."""
        return (
            self._form_of_page() if self._notice is None else Form(parse(self._notice["html"]), self._notice["values"])
        )

    def _form_of_page(self) -> Form:
        page = self._browser.page(self.record["page"])
        html = "" if page is None else page["html"]
        return Form(shown_page(html, self.record["update"], self._browser.layout), self.record["values"])

    @property
    def root(self) -> Element:
        """The root of what is shown."""
        return self.form.root

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.record["url"]

    @property
    def title(self) -> str:
        """The title of what is shown."""
        return self.shown["title"]

    # pages

    def navigate(self, url: str) -> None:
        """Go to an address."""
        target = url if re.match(r"[a-z][a-z0-9+.-]*:", url, re.IGNORECASE) else f"https://{url}"
        self.record["requests"] = []  # of what is opened by its address, a browser's log begins anew
        self._load("GET", target if urlsplit(resolved(target)).path else f"{target}/", ())

    def go_back(self) -> None:
        """Show the page before, with what was entered there, as browsers restore it."""
        if not self.record["back"]:
            return
        *earlier, entry = self.record["back"]
        if entry["entered"] is None:  # another place on the same page
            self.record.update(url=entry["url"], back=earlier)
            return
        self._show(entry["url"], entry["page"], back=earlier)
        page = self._form_of_page()
        for *name, value in entry["entered"]:
            if (control := named_controls(page.root).get((name[0], name[1], name[2], name[3]))) is not None:
                self.record["values"][str(control.place)] = value

    def tree(self) -> Item:
        """Return the accessibility tree; its references are known from then on."""
        record = self.shown
        tree = tree_of(self.form, record)
        top = tree.build()
        record["references"] = {place: [*entry] for place, entry in tree.references.items()}
        record["given"] = tree.count
        return top

    def element(self, reference: str) -> Element:
        """Return the element of a reference or plain CSS selector. Raises `ScreenError` if there is not just one."""
        if not _REFERENCE.fullmatch(reference):
            return self._selected(reference)
        if not self.shown["references"]:
            self.tree()
        places = {entry[0]: int(place) for place, entry in self.shown["references"].items()}
        if reference not in places:
            raise ScreenError(f"Ref {reference} not found in the current page snapshot. Try capturing new snapshot.")
        return next(element for element in self.root.walk() if element.place == places[reference])

    def _selected(self, selector: str) -> Element:
        """Return the only element of a selector such as `input#name` or `[name=q]`."""
        match = _SELECTOR.fullmatch(selector)
        if match is None:
            raise ScreenError(f'"{selector}" does not match any elements.')
        wanted = [("id", match["id"])] if match["id"] else []
        wanted += [(match["name"], match["value"])] if match["name"] else []
        matches = [
            element
            for element in self.root.walk()
            if element.tag == (match["tag"] or element.tag)
            and all(element.get(name) == value for name, value in wanted)
        ]
        if len(matches) > 1:
            raise ScreenError(f"strict mode violation: locator('{selector}') resolved to {len(matches)} elements")
        if not matches:
            raise ScreenError(f'"{selector}" does not match any elements.')
        return matches[0]

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
                raise NotReady("element is not enabled")
            if self._activate(target):
                return
        # Give the focus to what takes it around an element. The next Tab goes on from the element.
        around = next((outer for outer in element.above() if outer.has("tabindex")), None)
        self.shown["focus"] = None if around is None else around.place
        self.shown["start"] = element.place

    def _activate(self, element: Element) -> bool:
        """Do what a click on an element does. Returns whether it does anything."""
        kind = element.get("type")
        if element.tag == "a" and element.has("href"):
            self._focus(element)
            self._open(element.get("href"), beside=element.get("target") == "_blank")
        elif element.tag == "summary" and element.parent is not None:
            self.form.toggle(element.parent)
            self._focus(element)
        elif element.tag == "label" and (control := self._control_of(element)) is not None:
            self.click(control)
        elif element.tag == "button" or (element.tag == "input" and kind in BUTTONS):
            self._press_button(element)
        elif element.tag == "input" and kind == "file":
            self._focus(element)
            self.shown["dialog"] = {"files": element.place}
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
        kind = target.get("type") if target.tag == "input" else ""
        if kind in UNFILLED:
            raise ScreenError(f'Input of type "{kind}" cannot be filled')
        if kind != "range" and not is_text_control(target):
            raise ScreenError(
                "Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role "
                "allowing [aria-readonly]"
            )
        if is_disabled(target) or target.has("readonly"):
            raise NotReady("element is not enabled" if is_disabled(target) else "element is not editable")
        if not is_well_formed(target, text):
            if kind == "number":
                raise ScreenError("Cannot type text into input[type=number]")
            self.form.set(target, "")
            self._focus(target)
            raise ScreenError("Malformed value")
        self.form.set(target, text)
        self._focus(target)

    def choose_files(self, paths: Sequence[str]) -> None:
        """Answer the open file chooser; without paths it is cancelled. Raises `ScreenError` for too many files."""
        chooser = self.chooser
        if chooser is None:
            raise ScreenError("no file chooser is open")
        if len(paths) > 1 and not chooser.has("multiple"):
            raise ScreenError("Non-multiple file input can only accept single file")
        self.shown["dialog"] = None
        self.form.set(chooser, [*paths])
        self._changed(chooser)

    @property
    def chooser(self) -> Element | None:
        """The file input whose chooser is open."""
        place = self._dialog.get("files")
        return next((element for element in self.root.walk() if element.place == place), None)

    def check(self, element: Element, *, on: bool) -> None:
        """Turn a checkbox or radio button on or off."""
        if element.get("type") not in ("checkbox", "radio"):
            raise ScreenError("Not a checkbox or radio button")
        if bool(self.form.value(element)) != on:
            self.click(element)

    def choose(self, element: Element, values: Sequence[str]) -> None:
        """Choose options of a list by their values or texts; one, if it takes only one."""
        if is_disabled(element):
            raise NotReady("element is not enabled")
        if element.tag != "select":
            raise ScreenError("Element is not a <select> element")
        is_many = element.has("multiple")
        options = {
            option: {option_value(option), squeezed(option.text)} for option in element.walk() if option.tag == "option"
        }
        chosen = [option for option, names in options.items() if names & {*values}][: None if is_many else 1]
        # Of an option within a label, Playwright asks whether the label's control is enabled.
        if any(is_disabled(option) and option.closest("label") is None for option in chosen):
            raise NotReady("option being selected is not enabled")
        if not chosen or (is_many and {*values}.difference(*(options[option] for option in chosen))):
            raise NotReady("did not find some options")
        named = [option_value(option) for option in chosen]
        self.form.set(element, named if is_many else named[0])
        self._changed(element)

    def press(self, key: str) -> None:
        """Press a key on the element that has the focus. Raises `ScreenError` for an unknown key."""
        name = key.rpartition("+")[2] or key
        if len(name) > 1 and name not in KEYS:
            raise ScreenError(f'Unknown key: "{name}"')
        focus = self.focused
        if key in ("Tab", "Shift+Tab"):
            self._move_focus(1 if key == "Tab" else -1)
        elif focus is not None and not is_disabled(focus):
            self._press_on(focus, " " if key == "Space" else key)

    def _press_on(self, focus: Element, key: str) -> None:
        kind = focus.get("type")
        is_pressed = focus.tag in ("button", "summary") or kind in BUTTONS or (focus.tag == "a" and key == "Enter")
        form = focus.closest("form")
        if key in ("Enter", " ") and is_pressed:
            self.click(focus)
        elif key == "Enter" and focus.tag == "input" and form is not None:
            buttons = (element for element in self.form.controls(form) if submits(element))
            self._submit(form, next(buttons, None))
        elif key == " " and kind in ("checkbox", "radio"):
            self.click(focus)
        elif kind == "range" and key in _STEPS:
            self.form.set(focus, self.form.stepped(focus, 1 if key in ("ArrowUp", "ArrowRight") else -1))
        elif kind == "number" and key in ("ArrowUp", "ArrowDown"):
            self.form.set(focus, self.form.stepped(focus, -_STEPS[key]))
        elif key in _STEPS:
            self._step(focus, _STEPS[key])
        elif is_text_control(focus) and not focus.has("readonly"):
            if key == "Backspace":
                self.form.set(focus, str(self.form.value(focus))[:-1])
            elif len(key) == 1 or (key == "Enter" and focus.tag == "textarea"):
                self.insert("\n" if key == "Enter" else key)

    def _step(self, control: Element, step: int) -> None:
        """Go to the next or previous choice of radio buttons or a list."""
        if control.get("type") == "radio":
            group = [radio for radio in self.form.group(control) if not is_disabled(radio)]
            self.click(group[(group.index(control) + step) % len(group)])
        elif control.tag == "select" and not control.has("multiple"):
            options = [option for option in control.walk() if option.tag == "option" and not is_disabled(option)]
            values = [option_value(option) for option in options]
            value = self.form.value(control)
            at = min(max((values.index(value) if value in values else -1) + step, 0), len(values) - 1)
            if values and values[at] != value:
                self.form.set(control, values[at])
                self._changed(control)

    def insert(self, text: str) -> None:
        """Type a text behind that of the field which has the focus, if any."""
        field = self.focused
        if field is not None and is_text_control(field) and not is_disabled(field) and not field.has("readonly"):
            self.form.set(field, str(self.form.value(field) or "") + text)

    def answer(self, *, accept: bool) -> None:
        """Answer the open dialog. Raises `ScreenError` if none is open."""
        dialog = self._dialog
        if "message" not in dialog:
            raise ScreenError("no dialog is open")
        self.shown["dialog"] = None
        if accept:
            places = {element.place: element for element in self.root.walk()}
            self._submit(places[dialog["form"]], places.get(dialog["button"]), is_confirmed=True)

    @property
    def dialog(self) -> str | None:
        """The message of the open dialog."""
        return self._dialog.get("message")

    @property
    def _dialog(self) -> Record:
        return self.shown["dialog"] or dict[str, Json]()

    @property
    def focused(self) -> Element | None:
        """The element that has the focus."""
        place = self.shown["focus"]
        return next((element for element in self.root.walk() if element.place == place), None)

    def _focus(self, element: Element) -> None:
        self.shown["focus"] = element.place

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
        if self._notice is not None:
            self._dismiss(button)
            return
        question = CONFIRM.fullmatch(form.get("onsubmit"))
        if question is not None and not is_confirmed:
            message = re.sub(r"\\(.)", r"\1", question[1])
            self.shown["dialog"] = {"message": message, "form": form.place, "button": button.place if button else 0}
            return
        data = self.form.data(form, button)
        action = (button.get("formaction") if button is not None else "") or form.get("action") or self.url
        target = urldefrag(resolved(self.url, action)).url
        if form.get("method").lower() == "post":
            self._load("POST", target, data)
        else:
            self._load("GET", f"{target.partition('?')[0]}?{urlencode(data)}", ())

    def _dismiss(self, button: Element | None) -> None:
        """Take the notice away, and note which button did it."""
        answer = "" if button is None else button.get("value")
        notice: Record = {**self.shown, "answer": answer, "values": {}}
        self._browser.put(self.record, notice)
        self.__dict__.pop("form", None)
        self._notice = self._browser.notice

    def _open(self, address: str, *, beside: bool) -> None:
        """Follow a link, or show its page in a tab beside this one."""
        if beside:
            self._browser.open_beside(resolved(self.url, address))
        else:
            self._follow(address)

    def _follow(self, address: str) -> None:
        target = resolved(self.url, address)
        if urldefrag(target).url == urldefrag(self.url).url and "#" in address:
            back = [*self.record["back"], {"url": self.url, "page": self.record["page"], "entered": None}]
            self.record.update(url=target, back=back[-_MOST_PAGES:])
            name = unquote(urldefrag(target).fragment)
            place = next((element for element in self.root.walk() if name and element.get("id") == name), None)
            self.record.update(focus=None, start=None if place is None else place.place)
            if place is not None and (_takes_focus(place) or place.has("tabindex")):
                self.record["focus"] = place.place
            return
        self._load("GET", target, ())

    def _move_focus(self, step: int) -> None:
        tree = Tree(self.form, None, "", {}, 0)
        order = (element for element in self.root.walk() if _takes_focus(element) and tree.is_shown(element))
        places = [element.place for element in order if self._is_stop(element, tree)]
        here = self.shown.get("start") if self.shown["focus"] is None else self.shown["focus"]
        if here is None:
            at = 0 if step > 0 else len(places) - 1
        else:
            at = bisect_right(places, here) if step > 0 else bisect_left(places, here) - 1
        self.shown["focus"] = places[at] if 0 <= at < len(places) else None
        if self.shown["focus"] is None:
            self.shown["start"] = None

    def _is_stop(self, element: Element, tree: Tree) -> bool:
        """Whether Tab stops at an element: of radio buttons that exclude each other, at the chosen or the first."""
        if element.get("type") != "radio":
            return True
        group = [radio for radio in self.form.group(element) if not is_disabled(radio) and tree.is_shown(radio)]
        return next((radio for radio in group if self.form.value(radio)), group[0]) is element

    # loading

    def _load(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> None:
        url, page = self._request(method, url, form)
        back = self.record["back"]
        if self.record["page"] is not None:
            left = self._form_of_page() if self._notice is not None else self.form
            entered: Json = [[*name, value] for name, value in left.entered()]
            back = [*back, {"url": self.url, "page": self.record["page"], "entered": entered}][-_MOST_PAGES:]
        self._browser.keep(page)
        self._show(url, page["id"], back=back)

    def _request(self, method: str, url: str, form: Sequence[tuple[str, str]]) -> tuple[str, Record]:
        """Return the address and the page that answer a request. Raises `ScreenError` where no site answers."""
        before = len(self._browser.sent)
        url, answer = self._browser.request(method, url, form)
        self.record["requests"] = [*self.record["requests"], *self._browser.sent[before:]][-_MOST_REQUESTS:]
        try:
            title = parse(answer.html).first("title")
        except HtmlError as error:
            raise HtmlError(f"{url}: {error}") from None
        is_own = self._browser.sent[-1][0] == "POST"  # what was sent belongs to the answer; others share an address
        number = f" {self.record['loads']}" if is_own else ""
        return url, {
            "id": f"{self.record['id']} {url}{number}", "title": squeezed(title.text) if title is not None else "",
            "html": answer.html, "status": answer.status,
        }  # fmt: skip

    def _show(self, url: str, key: str, *, back: list[Record]) -> None:
        """Show a page of the table. Pages that the tab goes back to no more are forgotten."""
        before = {entry["page"] for entry in (self.record, *self.record["back"]) if entry["page"]}
        self._browser.forget(before - {key} - {entry["page"] for entry in back})
        page = self._browser.page(key) or {}
        kept = ("id", "current", "loads", "requests")
        fresh = {name: value for name, value in new_tab(1).items() if name not in kept}
        self.record.update(fresh, url=url, page=key, title=page["title"], status=page["status"], back=back)
        self.record["loads"] += 1
        if self._notice is None:
            self.__dict__.pop("form", None)


def _takes_focus(element: Element) -> bool:
    """Whether the Tab key reaches an element."""
    if is_hidden(element) or is_disabled(element) or element.get("tabindex") == "-1":
        return False
    is_control = element.tag in ("button", "select", "textarea", "summary", "input")
    return is_control or (element.tag == "a" and element.has("href")) or element.has("tabindex")


def _texts(element: Element) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        elif not is_hidden(child):
            yield from _texts(child)
