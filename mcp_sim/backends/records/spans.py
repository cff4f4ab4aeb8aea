"""Which arguments begin and end a stretch of time, and does what is given end before it begins?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_sim.types import Json
from mcp_sim.types.lexicon.words import snake

_PAIRS = (
    ("start", "end"), ("starts", "ends"), ("begin", "end"), ("from", "to"), ("from", "until"), ("since", "until"),
    ("check_in", "check_out"), ("checkin", "checkout"), ("departure", "return"), ("pickup", "dropoff"),
    ("pickup", "return"),
)  # fmt: skip
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:$|[T ])")


def spans_among(paths: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of arguments of which the first begins what the second ends: `check_in` and `check_out`."""
    by_name = {snake(path): path for path in paths}
    found = [(name, _ended(name, *pair)) for name in by_name for pair in _PAIRS]
    pairs = [(by_name[name], by_name[end]) for name, end in found if end != name and end in by_name]
    ends = [end for _, end in pairs]
    return [pair for pair in pairs if ends.count(pair[1]) == 1 and pair[0] not in ends]


def _ended(name: str, begun: str, ended: str) -> str:
    return re.sub(rf"(?<![a-z]){begun}(?![a-z])", ended, name)


def is_reversed(begun: Json, ended: Json) -> bool:
    """Is it over before it begins? Days are compared, and times that are written alike."""
    if not (isinstance(begun, str) and isinstance(ended, str) and _DAY.match(begun) and _DAY.match(ended)):
        return False
    is_alike = len(begun) == len(ended) and begun[19:] == ended[19:]
    return ended < begun if is_alike else ended[:10] < begun[:10] and begun[10:] == ended[10:] == ""
