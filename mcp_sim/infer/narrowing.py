"""Which fields of records do the questions of a list tell of, where nothing else says that records have them?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_sim.infer.customary import OPTIONS
from mcp_sim.infer.filters import BOUNDS, is_time
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import constants, items, main_type, properties, required
from mcp_sim.types.lexicon.words import singular, snake, vocabulary, words

ANY = vocabulary("all any both none every everything")
"""What an argument says that narrows nothing."""

_MANNERS = vocabulary(
    "include with show only return use as exclude expand embed full no without skip deep recursive fetch"
)
"""Flags that begin so say how something is shown, not which."""

_PRESENTED = vocabulary(
    "language lang locale timezone tz unit units depth scale width height mode view verbosity verbose precision "
    "resolution encoding detailed detail details recursive fuzzy refresh cache strict summary compact simple "
    "desc asc descending ascending sort_field sort_order sortfield sortorder chunk_size batch_size max_depth "
    "max_length max_width"
)


def asked_for(unexplained: Sequence[str], schema: Record, *, is_shown: bool) -> Iterator[Field]:
    """A field for each argument of a list that nothing explains: ignored, it would be a lie.

    `is_shown`: a schema tells how the records look. Then what says one of a few things tells of a field beside those,
    and what must be said; other texts and numbers do so only where nothing is known of the records.
    """
    for name in unexplained:
        part = properties(schema).get(name, {})
        if _tells_how(name, part):
            continue
        if name in required(schema) or not is_shown or _is_choice(part):
            found = _field(name, part)
            if found is not None:
                yield found


def _tells_how(name: str, schema: Record) -> bool:
    """Does an argument say how the answer is to look rather than what is in it?"""
    plain, first = snake(name), words(name)[:1]
    flag = main_type(schema) == "boolean" and first and first[0] in _MANNERS
    settled = schema.get("default") not in (None, "") and not _choices(schema)
    return bool(flag) or settled or plain in OPTIONS | _PRESENTED | _MANNERS


def _is_choice(schema: Record) -> bool:
    return main_type(schema) == "boolean" or bool(_choices(schema))


def _choices(schema: Record) -> list[Json]:
    inner = items(schema) if main_type(schema) == "array" else schema
    return [value for value in constants(inner) if isinstance(value, str) and snake(value) not in ANY]


def _field(name: str, part: Record) -> Field | None:
    many = main_type(part) == "array"
    inner = items(part) if many else part
    kind = main_type(inner) or "string"
    if kind not in {"string", "integer", "number", "boolean"}:
        return None
    choices = _choices(part)
    kept = {word: part for word, part in inner.items() if word not in {"default", "enum", "const", "title"}}
    told = {**kept, "type": kind, **({"enum": choices} if choices else {})}
    bare = _bare(singular(name) if many else name)
    if kind == "string" and (bare != name or is_time(name, part)) and not many and not choices:
        return Field("created_at" if is_time(name, part) else bare, {**told, "format": "date-time"})
    return Field(bare if kind in {"integer", "number"} else singular(name) if many else name, told)


def _bare(name: str) -> str:
    """`min_price` asks for a `price`, and `due_before` for what is `due`."""
    for pattern, op in BOUNDS:
        hit = re.fullmatch(pattern, snake(name)) if op not in {"contains", "in"} else None
        stem = next((part for part in hit.groupdict().values() if part), None) if hit else None
        if stem is not None:
            return stem
    return name
