"""Verify that an altered answer differs from the true one where its instruction asks for it, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, cast

from mcp_sim.models.language_model.observations import Readable
from mcp_sim.models.language_model.reply import Reply, observation_text, parse_json
from mcp_sim.types import Json, Observation, Record, ToolResult
from mcp_sim.types.conditions import equal
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.shapes import as_object

MAX_CHANGES = 40
"""How many changes of one answer are put to the model; an answer with more is refused. The model is asked about each,
and an alteration that was asked for changes a few."""
MAX_TEXT = 400
"""How much of a changed value the question shows, in characters."""
_ABSENT: Any = object()


def changes_between(true: Observation, altered: Observation) -> list[Record]:
    """Return the changed values: their place, the true and the altered value. The layout of a text does not count."""
    ours, theirs = _data_of(true), _data_of(altered)
    return [
        {"number": at, **change} for at, change in enumerate(islice(_changes(ours, theirs, ""), MAX_CHANGES + 1), 1)
    ]


def judgement_schema(changes: Sequence[Record]) -> Record:
    """Return the schema of an answer: the numbers of the changes that the instruction asks for."""
    number: Record = {"type": "integer", "minimum": 1, "maximum": len(changes)}
    asked: Record = {"type": "array", "items": number, "maxItems": len(changes)}
    return {"type": "object", "properties": {"asked": asked}, "required": ["asked"], "additionalProperties": False}


def problems_of(changes: Sequence[Record], reply: Reply | None) -> list[str]:
    """Return what is wrong with these changes, by the model's judgement of them."""
    asked = None if reply is None else _asked(reply)
    if asked is None:
        return ["it is unknown whether the answer follows the instruction"]
    unasked = [change for change in changes if change["number"] not in asked]
    if len(unasked) == len(changes):
        return ["the answer does not follow the instruction"]
    return [f"the instruction does not change {change['place'] or 'the text'}: leave it as it is" for change in unasked]


def _asked(reply: Reply) -> set[Json] | None:
    try:
        value: Json = as_object(parse_json(observation_text(reply), reply.content)).get("asked")
    except Rejected:
        return None
    numbers = cast("list[Json]", value) if isinstance(value, list) else None
    return None if numbers is None else {number for number in numbers if isinstance(number, int)}


def _data_of(observation: Observation) -> Json:
    """Return what an answer says: its data, or its text without its layout; with it whether it is an error."""
    body = observation.body
    if not isinstance(body, ToolResult):
        return {"error": str(body)}
    readable = Readable.of(observation)
    value = body.value if readable is None or readable.value is None else readable.value
    return {"isError": True, "text": value} if body.is_error else value


def _changes(true: Json, altered: Json, place: str) -> Iterator[Record]:
    if isinstance(true, dict) and isinstance(altered, dict):
        ours, theirs = cast("Record", true), cast("Record", altered)
        for name in dict.fromkeys((*ours, *theirs)):
            yield from _changes(ours.get(name, _ABSENT), theirs.get(name, _ABSENT), f"{place}.{name}".lstrip("."))
    elif isinstance(true, list) and isinstance(altered, list):
        pairs = zip_longest(cast("list[Json]", true), cast("list[Json]", altered), fillvalue=_ABSENT)
        for at, (before, other) in enumerate(pairs):
            yield from _changes(before, other, f"{place}.{at}".lstrip("."))
    elif not _says_the_same(true, altered):
        yield {"place": place, **_shown("true", true), **_shown("altered", altered)}


def _says_the_same(value: Json, other: Json) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return value.split() == other.split()
    return value is other or (value is not _ABSENT and other is not _ABSENT and equal(value, other))


def _shown(name: str, value: Json) -> Record:
    """Return a value under a name, shortened; nothing for one that is absent."""
    if value is _ABSENT:
        return {}
    return {name: value[:MAX_TEXT] if isinstance(value, str) else value}
