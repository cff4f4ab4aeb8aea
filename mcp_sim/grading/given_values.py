"""The values that a call gives, as opposed to those that the server makes: ids, times, counters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from mcp_sim.types import Json, Key
from mcp_sim.types.json_values import canonical, is_key, is_number, leaves

_NUMBER = re.compile(r"(?<![\w.])(?<!\w-)\d+(?:\.\d+)?(?!\w|\.\d)")
"""A number in a text such as an SQL statement, outside names, dates and versions."""
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d(?: UTC)?))?)?"
)
_MINUTES = len("2029-03-06T14:00")
_NOW = 2.0
"""Within how many seconds a time is that of the call: some servers round to seconds."""
_SHORTEST_TOKEN = 6
"""Texts with a digit and without spaces are taken for ids, hashes and addresses from this length on."""
_CENTS = 100  # payment APIs count in cents what users give as whole amounts


class GivenValues:
    """The values in the arguments of a call."""

    def __init__(self, arguments: Mapping[str, Json]) -> None:
        scalars = [value for _, value in leaves({**arguments})]
        self._texts = {text for value in scalars if isinstance(value, str) and (text := _plain(value))}
        self._others = {canonical(value) for value in scalars if value is None or isinstance(value, bool)}
        self._wholes = {canonical(value) for value in arguments.values() if isinstance(value, dict | list)}
        self._keys = {value for value in scalars if is_key(value)}
        self._numbers = {float(value) for value in scalars if is_number(value) and abs(value) < 1e300}
        for text in self._texts:
            self._numbers.update(map(float, _NUMBER.findall(text)))
        self._times = {time for text in self._texts for time in _forms_of_time(text)}

    def has(self, value: Json) -> bool:
        """Whether a value is among them: also within a longer text, in cents, or as a time in another notation."""
        if isinstance(value, dict | list):
            return canonical(value) in self._wholes
        if is_number(value):
            return abs(value) < 1e300 and any(number in self._numbers for number in (float(value), value / _CENTS))
        if not isinstance(value, str):
            return canonical(value) in self._others
        text = _plain(value)
        return bool(text) and (
            text in self._texts
            or not self._times.isdisjoint(_forms_of_time(text))
            or any(_contains(given, text) or _is_most_of(given, text) for given in self._texts)
        )

    def names(self, key: Key, *, is_path: bool = False) -> bool:
        """Whether one of them is a key, as it is or written as the other type; or a path that may end with the key."""
        if key in self._keys or str(key) in self._keys:
            return True
        if not isinstance(key, str):
            return False
        text = _plain(key)
        return text in self._texts or (is_path and any(given.endswith(text) for given in self._texts))


def _plain(text: str) -> str:
    return text.strip().casefold()


def _contains(given: str, text: str) -> bool:
    """Whether a given text has another as a word or several words."""
    if len(given) <= len(text) or text not in given:
        return False
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", given) is not None


def _is_most_of(given: str, text: str) -> bool:
    return len(given) * 2 >= len(text) and given in text


def _forms_of_time(text: str) -> list[str]:
    """Return a time on the wall and as an instant, to the minute; nothing for other texts."""
    if not _TIME.fullmatch(text.upper()):
        return []
    forms = [text.upper().replace(" ", "T")[:_MINUTES]]
    try:
        time = datetime.fromisoformat(text.upper())
    except ValueError:
        return forms
    return forms if time.tzinfo is None else [*forms, f"{time.astimezone(UTC).isoformat()[:_MINUTES]}Z"]


def is_time(value: Json) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(value.upper()) is not None


def is_made_by_server(value: Json, now: datetime) -> bool:
    """Whether a value that no call gives looks like an id, a hash, an address or the time of the call."""
    if is_number(value):
        seconds = now.timestamp()
        return abs(value - seconds) <= _NOW or abs(value / 1000 - seconds) <= _NOW
    if not isinstance(value, str):
        return False
    is_token = len(value) >= _SHORTEST_TOKEN and not any(map(str.isspace, value)) and any(map(str.isdigit, value))
    return is_token or is_time(value)
