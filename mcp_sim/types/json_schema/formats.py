"""Formats of strings that arguments must have. Each accepts what any usual validation library accepts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, time
from ipaddress import ip_address
from typing import Final
from uuid import UUID

_EMAIL = re.compile(r"(?:[^<>]*<)?[^@\s<>]+@[^@\s<>]+>?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_UNCHECKED = (
    "duration hostname idn-email idn-hostname iri iri-reference json-pointer regex relative-json-pointer uri-reference "
    "uri-template"
)


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def is_valid(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return is_valid


def _moment(text: str) -> object:
    """Parse a date, or a date with a time, in any ISO 8601 form, or seconds since 1970."""
    return float(text) if text.isdecimal() else datetime.fromisoformat(text.strip().upper())


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    **dict.fromkeys(_UNCHECKED.split(), lambda _: True),
    **dict.fromkeys(("date", "date-time"), _parses(_moment)),
    "time": _parses(lambda text: time.fromisoformat(text.strip().upper())),
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "uuid": _parses(UUID),
    **dict.fromkeys(("ipv4", "ipv6"), _parses(ip_address)),
}
"""Format -> whether a text has it. Formats that real servers rarely check are always valid."""
