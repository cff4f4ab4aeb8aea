"""Is a part of a state a table, and which are its rows?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import cast

from mcp_sim.infer.nouns import COLLECTIONS, Nouns
from mcp_sim.infer.tables import MOST_LOOKED_AT
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.lexicon.words import is_plural, last_word, snake, vocabulary

_ABOUT = vocabulary(
    "info information details settings setting config configuration profile preferences options account session status "
    "metadata state stats"
)
_ALONE = _ABOUT - {"account", "session"}
"""What there is one of, though a table holds it."""


def rows_of(nouns: Nouns, name: str, value: Json) -> list[tuple[Key | None, Record]] | None:
    """The rows of a table, each with the key that stands outside it; None where the value is no table."""
    if isinstance(value, list):
        rows = cast("list[Json]", value)
        if not rows:
            return [] if nouns.speak_of(name) else None
        whole = all(isinstance(row, dict) for row in rows)
        return [(None, cast("Record", row)) for row in rows] if whole and alike(cast("list[Record]", rows)) else None
    if not isinstance(value, dict):
        return None
    body = cast("dict[str, Json]", value)
    if not body:
        return [] if nouns.speak_of(name) and _is_of_many(name) else None
    inner = {key: cast("Record", row) for key, row in body.items() if isinstance(row, dict)}
    if len(inner) >= len(body) / 2 and alike([*inner.values()]) and not _is_a_scope_of_tables(nouns, inner):
        return [*inner.items()]
    return _named_ids(nouns, name, body)


def only_row(nouns: Nouns, name: str, value: Json) -> Json:
    """What a table of settings holds, which has one row for ever: no tool asks for it by a key."""
    rows = as_list(value)
    if len(rows) != 1 or not isinstance(rows[0], dict) or last_word(name) not in _ALONE:
        return value
    row = cast("Record", rows[0])
    keys = {snake(field) for field in row if snake(field).endswith("id")}
    return value if keys & (nouns.texts | nouns.numbers) else row


def _is_of_many(name: str) -> bool:
    return is_plural(last_word(name)) or last_word(name) in COLLECTIONS


def _is_a_scope_of_tables(nouns: Nouns, inner: Mapping[str, Record]) -> bool:
    """Objects of objects, or names of collections, are the parts of a state rather than rows."""
    named = any(_is_of_many(key) and nouns.speak_of(key) for key in islice(inner, MOST_LOOKED_AT))
    deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
    return named or (deep and any(inner.values()))


def _named_ids(nouns: Nouns, name: str, body: Mapping[str, Json]) -> list[tuple[Key | None, Record]] | None:
    """`{Ada: USR1, Bo: USR2}` under the name of an entity: records of which the name and the id are known."""
    ids = [value for value in body.values() if isinstance(value, str | int) and not isinstance(value, bool)]
    mapped = last_word(name) in {"map", "ids", "index"} or is_plural(last_word(name))
    if not mapped or len(ids) < len(body) or len({*map(str, ids)}) < len(ids) or not nouns.speak_of(name):
        return None
    if not all(_looks_like_a_key(value) for value in ids):
        return None
    return [(cast("Key", value), {"name": key}) for key, value in body.items()]


def _looks_like_a_key(value: Json) -> bool:
    text = str(value)
    return any(letter.isdigit() for letter in text) and " " not in text and len(text) < 64


def strays(value: Json) -> Record:
    """What stands among the rows of a mapping and is none."""
    body = cast("Record", value) if isinstance(value, dict) else {}
    if not any(isinstance(row, dict) for row in body.values()):
        return {}
    return {name: inner for name, inner in body.items() if not isinstance(inner, dict)}


def alike(rows: Sequence[Record]) -> bool:
    """Do the objects share the better part of their fields, on the whole?"""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:MOST_LOOKED_AT]
    whole = {name for row in looked_at for name in row}
    there = sum(len(row) for row in looked_at)
    return bool(whole) and 2 * there >= len(whole) * len(looked_at)


def is_scope(nouns: Nouns, name: str, inner: Record) -> bool:
    """Does an object stand for itself (an account, a part of the state), not for a field of what is around it?"""
    tables = sum(1 for value in inner.values() if isinstance(value, dict | list))
    told = last_word(name) in _ABOUT - {"status"}
    return told or nouns.speak_of(name) or (tables >= 1 and len(inner) >= 2) or tables == len(inner)
