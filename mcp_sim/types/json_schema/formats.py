"""Formats of strings.

Arguments must have them as any usual validation library accepts them. Results must have them as strict clients do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, time
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import Final
from uuid import UUID

_EMAIL = re.compile(r"(?:[^<>]*<)?[^@\s<>]+@[^@\s<>]+>?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_UNCHECKED = (
    "duration hostname idn-email idn-hostname iri iri-reference json-pointer regex relative-json-pointer uri-reference "
    "uri-template"
)


def _is_whole(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text) is not None


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

_IN_URIS = r"(?:[a-z0-9._~!$&'()*+,;=:@/-]|%[0-9a-f]{2})"

_STRICT: Final[Mapping[str, str]] = {
    "byte": r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
    "duration": r"P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?|P\d+W",
    "email": r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@"
    r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?",
    "uri": rf"[a-z][a-z0-9+.-]*:(?://\[[0-9a-f:.]+\]|{_IN_URIS}){_IN_URIS}*(?:\?(?:{_IN_URIS}|\?)*)?(?:#(?:{_IN_URIS}|\?)*)?",
    "url": r"(?:https?|ftp)://[^\s/]+(?:/\S*)?",
    "uuid": r"(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
}
"""Formats that jsonschema-rs checks in some dialects only, or less strictly than ajv-formats, which the official
TypeScript client uses."""

RESULT_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    name: lru_cache(maxsize=4096)(partial(_is_whole, re.compile(pattern, re.IGNORECASE)))
    for name, pattern in _STRICT.items()
}
"""Format -> whether a text in a result has it, besides the formats that jsonschema-rs checks by itself. Lists show the
same texts again and again."""
