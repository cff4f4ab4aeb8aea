"""Between which numbers must a value be, as words say it: `Volume (0-100)`, `from 1 to 5`, `between 16 and 30`?"""

from __future__ import annotations

import re
from collections.abc import Collection

from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import main_type

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(
    rf"(?:(?<![\w.,:/'\"-]){_NUMBER}\s?(?:-|–|\.\.|to)\s?{_NUMBER}|\bbetween {_NUMBER} and {_NUMBER})"
    r"(?![\w:/'\"-]|\.\d)",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\b(?:e\.?g\.?|for example|such as|like|typically|usually|about|around|recommended|if|or)\b", re.IGNORECASE
)


def ranges_said(schemas: dict[str, Record], about: str) -> dict[str, tuple[float, float]]:
    """The least and the most of the numbers among arguments; what the tool says itself is of its only number."""
    numbers = {name: part for name, part in schemas.items() if main_type(part) in {"integer", "number"}}
    told = {name: _range(str(part.get("description", ""))) for name, part in numbers.items()}
    if len(told) == 1:
        told = {name: found or _range(about) for name, found in told.items()}
    return {name: found for name, found in told.items() if found is not None}


def _range(text: str) -> tuple[float, float] | None:
    """The only range of which a text speaks, where it leaves no doubt."""
    found: Collection[tuple[str, ...]] = _RANGE.findall(text)
    if len(found) != 1 or _LOOSE.search(text):
        return None
    least, most = (float(one) for one in next(iter(found)) if one)
    return (least, most) if least < most else None
