"""Does a description say that a result is data, or that it is for people to read?"""

from __future__ import annotations

import re
from typing import Final

TEXTS: Final = frozenset({"result", "text", "output", "content", "response"})
"""What the only property of a result is called that is a text for people."""

SAYING: Final = TEXTS | {"message"}
"""What it is called where it says what came of a call."""

_PROSE = re.compile(
    r"\b(human[- ]readable|markdown|formatted (?:string|text|list|output)|plain text|as text|(?:success|confirmation|"
    r"status) (?:message|string)|a (?:message|sentence|string|text|summary))\b|\breturns?:?\s*\n?\s*str\b",
    re.IGNORECASE,
)
_RECORD = re.compile(
    r"\breturn(?:s|ed|ing)? (?:the |an? |its |all )?(?:\w+ ){0,3}?"
    r"(?:details|record|object|data|info|information|fields|metadata|resource)\b"
    r"|\breturns:?\s+(?:the |a )?(?:newly |new |full |complete )?(?:created |updated |modified )\w+",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\breturn(?:s|ing)?:?\s+(?:-+\s+)?(?:the |an? |its )?(?:(?!with\b|and\b|by\b|if\b)[\w']+ ){0,3}?"
    r"(?:id|identifier|uuid|\w+_id)\b(?! *(?:,|and\b|&|/|plus\b|or\b|if\b|as\b|in\b))",
    re.IGNORECASE,
)
_DATA = re.compile(r"\b(json|dict|dictionary|object|list of dicts|array)\b", re.IGNORECASE)
_DATA_BACK = re.compile(
    r"\b(?:returns?|result|output|response)\b[^.\n]{0,60}\b(?:json|dict|dictionary|objects?)\b|\breturns?:?\s*\{",
    re.IGNORECASE,
)


def speaks(description: str) -> bool:
    """Does a description say that the result is for people to read, and not data?"""
    return bool(_PROSE.search(description)) and not _DATA.search(description)


def says_data(description: str) -> bool:
    """Does a description of what works on records speak of data? Then the result is data."""
    return bool(_DATA.search(description))


def returns_data(description: str) -> bool:
    """Does a description say so of the result itself? What computes may speak of data that it is given."""
    return bool(_DATA_BACK.search(description))


def gives_key(description: str) -> bool:
    """Does a description say that nothing but the id of what was made comes back?"""
    return bool(_KEY.search(description)) and not says_data(description)


def gives_record(description: str) -> bool:
    """Does a description say that what comes back is data, or the record itself?"""
    return says_data(description) or bool(_RECORD.search(description))
