"""What the descriptions of tools say about their results: prose, data, a record or only its key."""

from __future__ import annotations

import re

from mcp_sim.types.result_schemas import mentions_data

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
_DATA_BACK = re.compile(
    r"\b(?:returns?|result|output|response)\b[^.\n]{0,60}\b(?:json|dict|dictionary|objects?)\b|\breturns?:?\s*\{",
    re.IGNORECASE,
)
_RESULT = re.compile(r"\b(?:returns?|returning|outputs?)\b", re.IGNORECASE)


def is_prose(description: str) -> bool:
    """Whether a description says that the result is for people to read, not data."""
    return bool(_PROSE.search(description)) and not mentions_data(description)


def mentions_result(description: str) -> bool:
    """Whether a description says what is returned."""
    return bool(_RESULT.search(description))


def returns_data(description: str) -> bool:
    """Whether a description says that the result, and not only an argument, is data."""
    return bool(_DATA_BACK.search(description))


def returns_key(description: str) -> bool:
    """Whether a description says that only the id of the new record is returned."""
    return bool(_KEY.search(description)) and not mentions_data(description)


def returns_record(description: str) -> bool:
    """Whether a description says that data or the record itself is returned."""
    return mentions_data(description) or bool(_RECORD.search(description))
