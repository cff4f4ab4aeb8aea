"""Controls of forms: their values, what a browser refuses to send, and what it sends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property
from math import ceil, floor, inf, isfinite
from pathlib import PurePosixPath
from typing import TypeAlias

from mcp_sim.libraries.screens.dom import Element
from mcp_sim.types import Json
from mcp_sim.types.json_values import in_list

CONTROLS = ("input", "select", "textarea")
BUTTONS = frozenset({"submit", "image", "button", "reset"})
UNFILLED = BUTTONS | {"checkbox", "radio", "file", "hidden"}
"""Types of inputs that take no text."""
_TIMES = frozenset({"date", "time", "month", "week", "datetime-local"})
_FORMATS = {
    "date": r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "time": r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?",
    "month": r"\d{4}-(0[1-9]|1[0-2])", "week": r"\d{4}-W(0[1-9]|[1-4]\d|5[0-3])",
    "datetime-local": r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?",
    "color": r"#[0-9a-f]{6}",
}  # fmt: skip
"""Type of a field -> the form of its texts, besides numbers."""
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[ \t\n\f\r]*([-+]?)0*([0-9]{1,10})(?![0-9])")
_GREATEST_INTEGER = 2**31 - 1
"""Browsers ignore a greater one."""
_MOST_TYPED = 100_000
"""Characters of a value. A field of a form takes more, but no task needs it."""
_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0\u2002-\u200a\u202f\u205f\u3000]+")

ControlName: TypeAlias = tuple[str, str, str, int]
"""Tag, type and name of a control, and its number among those."""


def parsed_integer(text: str) -> int | None:
    """Parse an integer as browsers read attributes: spaces before it and anything after it are ignored."""
    match = _INTEGER.match(text)
    number = 0 if match is None else int(f"{match[1]}{match[2]}")
    return None if match is None or abs(number) > _GREATEST_INTEGER else number


def squeezed(text: str) -> str:
    """Return a text with single spaces, as pages show it."""
    return _SPACE.sub(" ", text.replace("\u200b", "")).strip()


class Form:
    """The values that were entered into the controls of a page, by the place of the element."""

    def __init__(self, root: Element, values: Mapping[str, Json]) -> None:
        self.root, self.values = root, dict(values)
        self._given = dict[int, Json]()
        """What lists begin with: each of their options asks."""

    def value(self, control: Element) -> Json:
        """Return the value of a control: a flag for checkboxes and radio buttons, a list for many options or files."""
        entered = self.values.get(str(control.place))
        kind = control.get("type")
        if kind in ("checkbox", "radio"):
            return control.has("checked") if entered is None else entered
        if entered is not None:
            return entered
        if control.tag == "textarea":
            return control.text.removeprefix("\n")
        if control.tag == "select":
            if control.place not in self._given:
                self._given[control.place] = _given_choice(control)
            return self._given[control.place]
        if kind == "file":
            return []
        return str(_range_value(control)) if kind == "range" else _given_text(control, kind)

    def is_chosen(self, option: Element) -> bool:
        """Return whether an option of a list is chosen."""
        select = option.closest("select")
        return option_value(option) in in_list(None if select is None else self.value(select))

    def set(self, control: Element, value: Json) -> None:
        """Enter a value, as much as fits. A radio button that is chosen turns off the others of its name."""
        if isinstance(value, str) and is_text_control(control):
            most = parsed_integer(control.get("maxlength"))
            value = value[: _MOST_TYPED if most is None or most < 0 else min(most, _MOST_TYPED)]
        if control.get("type") == "radio":
            for other in self.group(control):
                self.values[str(other.place)] = False
        self.values[str(control.place)] = value

    def toggle(self, details: Element) -> None:
        """Open or close a `details`. One that opens closes the others of its name."""
        is_open = not self.values.get(str(details.place), details.has("open"))
        for other in self.root.walk() if is_open and details.get("name") else ():
            if other.tag == "details" and other.get("name") == details.get("name"):
                self.values[str(other.place)] = False
        self.values[str(details.place)] = is_open

    def stepped(self, control: Element, steps: int) -> str:
        """Return the value of a number or slider after some steps, within its limits."""
        low, high = _number(control.get("min")), _number(control.get("max"))
        base, width = _scale(control)
        text = str(self.value(control))
        value = _number(text)
        at = round(((value or 0.0) - base) / width, 9)
        most = None if high is None else round((high - base) / width, 9)
        if not isfinite(at) or not isfinite(most or 0.0):
            return text  # there are more steps than a number can count
        at = at + steps if at % 1 == 0 else (floor(at) if steps < 0 else ceil(at))  # the first step only aligns
        number = base + width * (at if most is None else min(at, floor(most)))
        if not isfinite(number):
            return text
        number = number if low is None else max(low, number)
        number = value if value is not None and (number - value) * steps < 0 else number  # never the other way
        return f"{number + 0.0:.15g}"

    def reset(self, form: Element) -> None:
        """Forget what was entered into the controls of a form."""
        for element in form.walk():
            self.values.pop(str(element.place), None)

    def first_invalid(self, form: Element) -> Element | None:
        """Return the first control that a browser refuses to send."""
        groups = set[str]()
        for element in self.controls(form):
            name = element.get("name")
            if element.tag not in CONTROLS or (element.get("type") == "radio" and name in groups):
                continue
            if element.get("type") == "radio":
                groups.add(name)
            if self._is_invalid(element):
                return element
        return None

    def data(self, form: Element, button: Element | None) -> list[tuple[str, str]]:
        """Return the names and values that a form sends."""
        sent = list[tuple[str, str]]()
        for element in self.controls(form):
            name, kind = element.get("name"), element.get("type")
            if not name or is_disabled(element):
                continue
            if kind in ("checkbox", "radio"):
                if self.value(element):
                    sent.append((name, element.get("value", "on")))
            elif element.tag == "button" or kind in BUTTONS:
                if element is button:
                    sent.append((name, element.get("value")))
            elif element.tag in CONTROLS:
                sent += [(name, text) for text in self._sent_values(element)]
        return sent

    def entered(self) -> Iterator[tuple[ControlName, Json]]:
        """Yield what was entered, by the name of the control; passwords are forgotten."""
        for name, element in named_controls(self.root).items():
            value = self.values.get(str(element.place))
            if value is not None and element.get("type") != "password" and element.get("autocomplete") != "off":
                yield name, value

    def _sent_values(self, control: Element) -> list[str]:
        value = self.value(control)
        values = in_list(value)
        if control.get("type") == "file":
            return [PurePosixPath(str(path)).name for path in values] or [""]
        if control.tag == "select":
            options = (element for element in control.walk() if element.tag == "option" and is_disabled(element))
            unsent = {option_value(option) for option in options}
            values = [value for value in values if value not in unsent]
        return [str(item) for item in values]

    def controls(self, form: Element) -> Iterator[Element]:
        """Yield the elements of a form: those within, and those elsewhere that name it."""
        own = form.get("id")
        for element in self.root.walk():
            if element.closest("form") is form or (own and element.get("form") == own):
                yield element

    def group(self, radio: Element) -> Iterator[Element]:
        """Return the radio buttons that exclude each other."""
        form = radio.closest("form")
        return (other for other in self._radios.get(radio.get("name"), ()) if other.closest("form") is form)

    @cached_property
    def _radios(self) -> dict[str, list[Element]]:
        radios = dict[str, list[Element]]()
        for element in self.root.walk():
            if element.get("type") == "radio":
                radios.setdefault(element.get("name"), []).append(element)
        return radios

    def _is_invalid(self, control: Element) -> bool:
        kind = control.get("type", "text") if control.tag == "input" else control.tag
        if is_disabled(control) or control.has("readonly") or kind in BUTTONS or kind == "hidden":
            return False
        if kind == "radio":
            group = [*self.group(control)]
            return any(radio.has("required") for radio in group) and not any(self.value(radio) for radio in group)
        value = self.value(control)
        if kind == "checkbox" or not value:
            return control.has("required") and not value
        least = parsed_integer(control.get("minlength")) or 0
        if len(str(value)) < least and str(control.place) in self.values:
            return True  # what the page gave may be shorter
        text = str(value)
        low, high = control.get("min"), control.get("max")
        if kind in ("number", "range"):
            return _breaks_limits(control, text)
        if kind in _TIMES:
            return (bool(low) and text < low) or (bool(high) and text > high)
        if kind == "email" and not _EMAIL.fullmatch(text):
            return True
        if kind == "url" and not _URL.match(text):
            return True
        pattern = control.get("pattern")
        return bool(pattern) and control.tag == "input" and not re.fullmatch(pattern, text)


def _given_text(control: Element, kind: str) -> str:
    """Return the text that a page gives a field; a browser drops one that the field cannot have."""
    text = control.get("value")
    if kind == "color":
        return text.lower() if re.fullmatch(_FORMATS["color"], text.lower()) else "#000000"
    return text if control.tag != "input" or is_well_formed(control, text) else ""


def _given_choice(select: Element) -> Json:
    """Return the value of a list before anything is chosen."""
    options = [element for element in select.walk() if element.tag == "option"]
    chosen = [option for option in options if option.has("selected")]
    if select.has("multiple"):
        return [option_value(option) for option in chosen]
    enabled = [option for option in options if not is_disabled(option)]
    return option_value((chosen or enabled[:1] or options)[-1]) if options else ""


def _range_value(control: Element) -> Json:
    """Return where a slider is: within its limits, else in the middle."""
    low, high = (_number(control.get(name)) for name in ("min", "max"))
    low = 0.0 if low is None else low
    high = max(low, 100.0 if high is None else high)
    given = _number(control.get("value"))
    number = low / 2 + high / 2 if given is None else min(max(given, low), high)
    return int(number) if number == int(number) else number


def _breaks_limits(control: Element, text: str) -> bool:
    """Whether a field refuses a text, which should be a number. As in browsers, an invalid limit is ignored."""
    number, low, high = (_number(bound) for bound in (text, control.get("min"), control.get("max")))
    if number is None:
        return True  # keys enter any text
    base, width = _scale(control)
    is_off = control.get("step") != "any" and round((number - base) / width, 9) % 1 != 0
    return (low is not None and number < low) or (high is not None and number > high) or is_off


def _scale(control: Element) -> tuple[float, float]:
    """Return the value from which a field counts its steps, and their width."""
    low, value, step = (_number(control.get(name)) for name in ("min", "value", "step"))
    base = low if low is not None else value or 0.0
    return base, step if step is not None and step > 0 else 1.0


def _number(text: str) -> float | None:
    number = float(text) if _NUMBER.fullmatch(text) else inf
    return number if isfinite(number) else None


def is_well_formed(control: Element, text: str) -> bool:
    """Whether a field can have a text, whatever its limits."""
    kind = control.get("type") if control.tag == "input" else ""
    if not text or kind == "number":
        return not text or _number(text) is not None
    if kind not in _FORMATS:
        return True
    if not re.fullmatch(_FORMATS[kind], text, re.ASCII):
        return False
    if kind in ("date", "datetime-local"):
        try:
            date.fromisoformat(text[:10])
        except ValueError:
            return False
    return True


def option_value(option: Element) -> str:
    """Return what an option sends: its value, else its text."""
    return option.get("value") if option.has("value") else squeezed(option.text)


def is_disabled(element: Element) -> bool:
    """Whether a control is disabled, itself or by a fieldset around it."""
    if element.tag not in (*CONTROLS, "button", "option"):
        return False
    group = element.parent if element.tag == "option" else None
    if group is not None and group.tag == "optgroup" and group.has("disabled"):
        return True
    return element.has("disabled") or any(map(_disables, element.above()))


def _disables(inner: Element) -> bool:
    """Whether the fieldset that an element is directly in disables it. The legend of a fieldset stays enabled."""
    fieldset = inner.parent
    if fieldset is None or fieldset.tag != "fieldset" or not fieldset.has("disabled"):
        return False
    return inner is not next((child for child in fieldset.elements if child.tag == "legend"), None)


def is_text_control(element: Element) -> bool:
    """Whether text can be typed into an element."""
    kinds = UNFILLED | {"range"}
    return element.tag == "textarea" or (element.tag == "input" and element.get("type", "text") not in kinds)


def named_controls(root: Element) -> dict[ControlName, Element]:
    """Return the controls of a page by tag, type, name and number among those."""
    controls = dict[ControlName, Element]()
    counts = dict[tuple[str, str, str], int]()
    for element in root.walk():
        if element.tag in CONTROLS:
            key = (element.tag, element.get("type"), element.get("name"))
            counts[key] = counts.get(key, 0) + 1
            controls[*key, counts[key]] = element
    return controls


def submits(element: Element) -> bool:
    """Whether a control sends its form."""
    return (element.tag == "button" and element.get("type", "submit") == "submit") or (
        element.tag == "input" and element.get("type") in ("submit", "image")
    )
