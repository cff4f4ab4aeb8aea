"""What is a text with slots, and how does it read for another record?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcp_sim.backends.records.facts import Facts
from mcp_sim.backends.records.sentences import written
from mcp_sim.backends.records.showing import Show
from mcp_sim.types import Json, Key, Record, View
from mcp_sim.types.json_schema.shapes import as_object

Sort: TypeAlias = Literal["key", "field", "argument", "count", "total", "number"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a text, what stands there, and how the example spells it."""

    sort: Sort
    name: str = ""
    sample: str = ""


Piece: TypeAlias = str | Slot


def rendered(pieces: Sequence[Piece], facts: Facts, record: Record, key: Key | None, show: Show, view: View) -> str:
    fields: Record | None = None
    text: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece)
            continue
        if piece.sort == "field" and fields is None:
            fields = as_object(show(record, view)) if record else {}
        text.append(_spelt(_value(piece, facts, fields or {}, key), piece.sample))
    return "".join(text)


def _value(slot: Slot, facts: Facts, fields: Record, key: Key | None) -> Json:
    values: dict[Sort, Callable[[], Json]] = {
        "key": lambda: key,
        "field": lambda: fields.get(slot.name),
        "argument": lambda: facts.turn.call.arguments.get(slot.name),
        "count": lambda: len(facts.page.rows),
        "total": lambda: facts.page.total,
        "number": lambda: 1,
    }
    return values[slot.sort]()


def _spelt(value: Json, sample: str) -> str:
    """A value as the example spells such values."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        yes, no = ("Yes", "No") if sample.lower() in {"yes", "no"} else ("True", "False")
        said = yes if value else no
        return said if sample[:1].isupper() or not sample else said.lower()
    if (
        isinstance(value, str)
        and sample[:1].isupper()
        and sample[1:].islower()
        and value.islower()
        and " " not in value
    ):
        return value.capitalize() if "_" not in value else value
    return written(value)
