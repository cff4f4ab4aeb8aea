"""How would a tool word what it did, going by recorded calls?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Example
from mcp_sim.types.json_text import encode


def worded_like(examples: Sequence[Example]) -> Callable[[Record], str | None]:
    """A sentence for the arguments of a call; None where no example words one with nothing but what was asked for."""
    templates = [parts for one in examples if (parts := _template(one)) is not None]

    def worded(arguments: Record) -> str | None:
        fitting = (parts for parts in templates if {part[1] for part in parts if part[1]} <= arguments.keys())
        found = next(fitting, None)
        return None if found is None else "".join(text or written(arguments[name]) for text, name in found)

    return worded


def written(value: Json) -> str:
    """A value within a sentence."""
    return value if isinstance(value, str) else encode(value).decode()


def _template(example: Example) -> list[tuple[str, str]] | None:
    """The text of a recorded call in parts: as it stands, or the name of the argument that stands there.

    A sentence that holds a number of its own tells of the record, not of the call: it is no template.
    """
    if not isinstance(example.result, str):
        return None
    slots = {written(value): name for name, value in example.arguments.items() if len(written(value)) > 1}
    if not slots:
        return None
    ordered = sorted(slots, key=lambda text: -len(text))
    pieces = re.split("|".join(f"({re.escape(text)})" for text in ordered), example.result)
    parts = [("", slots[piece]) if piece in slots else (piece, "") for piece in pieces if piece]
    own = "".join(text for text, _ in parts)
    is_usable = any(name for _, name in parts) and not re.search(r"\d", own) and "\n" not in own
    return parts if is_usable else None
