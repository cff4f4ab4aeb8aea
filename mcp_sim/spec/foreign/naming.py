"""Which name may a server have, as a file and in a scenario, and a tool among others?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_sim.types import Json

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 64


def file_name(text: str, otherwise: str = "server") -> str:
    """A name of letters, digits, `.`, `_` and `-`, made of any text."""
    return _NOT_IN_A_NAME.sub("_", text).strip("._-")[:LONGEST] or otherwise


def distinct(names: list[str]) -> Iterator[str]:
    """The names, in order; one that was there already, in any case of letters, has a number behind it."""
    taken: set[str] = set()
    for name in names:
        own, number = name, 2
        while own.lower() in taken:
            own, number = f"{name}-{number}", number + 1
        taken.add(own.lower())
        yield own


def shortened(value: Json, most: int = 60) -> str:
    """A value from elsewhere in a sentence."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[:most]}..."
