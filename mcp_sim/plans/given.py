"""What does a state hold that is given in any form? Tables of records, parts of records, and what there is one of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from mcp_sim.domain import Entity, Field, Inside
from mcp_sim.schemas import as_list, schema_of, type_name
from mcp_sim.types import Json, Key, Record
from mcp_sim.words import is_plural, singular, snake, vocabulary, words

_KEYS = ("id", "key", "uuid", "code", "slug", "number", "name", "email", "path", "title", "username", "symbol")
_ENDINGS = ("id", "uuid", "key", "number", "code", "reference", "name")
_COLLECTIONS = vocabulary(
    "list map queue record records table history store db database collection data entries index dict registry log set"
)
_ABOUT = vocabulary(
    "info information details settings setting config configuration profile preferences options account session status "
    "metadata state stats"
)
_MOST_LOOKED_AT = 200
"""So many rows tell what the fields of a table are; a key is looked for in all of them."""


@dataclass(frozen=True, slots=True)
class Given:
    """The entities that a state shows, and their records. `parts` are those that stand inside records of others.

    `scopes` tells of every entity which part of the state it was found in.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, "list[Record]"])
    scopes: Mapping[str, str] = field(default_factory=dict[str, str])

    def counter(self, entity: str) -> str | None:
        """The field of a singleton that holds the id of the next record (`state.ticket_counter`)."""
        names = [f"{entity}{ending}" for ending in ("_counter", "_seq", "_sequence", "_id_counter")]
        names += [f"next_{entity}_id", f"next_{entity}"]
        counts = ((snake(name), one, name) for one in self.entities.values() if one.singleton for name in one.fields)
        return next((f"{one.name}.{name}" for counted, one, name in counts if counted in names), None)


@dataclass(frozen=True, slots=True)
class Nouns:
    """What the tools speak of: `names` of entities, the arguments that are whole numbers, and those that are texts.

    `bare` are arguments of tools whose results have an `id`.
    """

    names: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()

    def meant(self, name: str) -> str:
        """The entity that a table's name means: one that tools speak of, else what the name says."""
        parts = words(name)
        while len(parts) > 1 and parts[-1] in _COLLECTIONS:
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def speak_of(self, name: str) -> bool:
        return self.meant(name) in self.names


@dataclass(slots=True)
class _Found:
    """What was found so far."""

    nouns: Nouns
    tables: dict[str, tuple[Entity, list[Record]]]
    singles: dict[str, Record]
    scopes: dict[str, str]


def given_state(state: Json, nouns: Nouns | None = None) -> Given:
    """Objects that have keys, and lists of objects, are tables; what is left of an object is a singleton."""
    found = _Found(nouns or Nouns(), {}, {}, {})
    _look_into(found, "state", state)
    singles = {name: _single(name, record) for name, record in found.singles.items()}
    tables = {name: entity for name, (entity, _) in found.tables.items()}
    records = {name: rows for name, (_, rows) in found.tables.items()}
    records |= {name: [one] for name, one in found.singles.items()}
    return Given({**dict(_parts(found)), **tables, **singles}, records, found.scopes)


# tables ---------------------------------------------------------------------------------------------------------------


def _look_into(found: _Found, scope: str, value: Json) -> None:
    """Sort the parts of an object into tables and what there is one of."""
    if not isinstance(value, dict):
        return
    single: Record = {}
    for name, inner in cast("Record", value).items():
        rows = _rows(found.nouns, name, inner)
        if rows is not None:
            entity = found.nouns.meant(name)
            single |= _strays(inner)
            _add_table(found, scope, entity, rows)
        elif isinstance(inner, dict) and inner and _is_scope(found.nouns, name, cast("Record", inner)):
            _look_into(found, snake(name), inner)
        else:
            single[name] = inner
    if single:
        name = scope if scope not in found.tables else f"{scope}_state"
        found.singles[name] = {**found.singles.get(name, {}), **single}
        found.scopes[name] = scope


def _add_table(found: _Found, scope: str, entity: str, rows: list[tuple[Key | None, Record]]) -> None:
    if entity in found.tables:
        entity = f"{scope}_{entity}"
    found.tables[entity] = _table(found.nouns, entity, rows)
    found.scopes[entity] = scope


def _rows(nouns: Nouns, name: str, value: Json) -> list[tuple[Key | None, Record]] | None:
    """The rows of a table, each with the key that stands outside it; None where the value is no table."""
    if isinstance(value, list):
        rows = cast("list[Json]", value)
        if not rows:
            return [] if nouns.speak_of(name) else None
        whole = all(isinstance(row, dict) for row in rows)
        return [(None, cast("Record", row)) for row in rows] if whole and _alike(cast("list[Record]", rows)) else None
    if not isinstance(value, dict):
        return None
    body = cast("dict[str, Json]", value)
    if not body:
        return [] if nouns.speak_of(name) and (is_plural(words(name)[-1]) or words(name)[-1] in _COLLECTIONS) else None
    inner = {key: cast("Record", row) for key, row in body.items() if isinstance(row, dict)}
    if len(inner) >= len(body) / 2 and _alike([*inner.values()]) and not _is_a_scope_of_tables(nouns, inner):
        return [*inner.items()]
    return _named_ids(nouns, name, body)


def _is_a_scope_of_tables(nouns: Nouns, inner: Mapping[str, Record]) -> bool:
    """Objects of objects, or names of collections, are the parts of a state rather than rows."""
    named = any(nouns.speak_of(key) and (is_plural(words(key)[-1]) or words(key)[-1] in _COLLECTIONS) for key in inner)
    deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
    return named or (deep and any(inner.values()))


def _named_ids(nouns: Nouns, name: str, body: Mapping[str, Json]) -> list[tuple[Key | None, Record]] | None:
    """`{Ada: USR1, Bo: USR2}` under the name of an entity: records of which the name and the id are known."""
    ids = [value for value in body.values() if isinstance(value, str | int) and not isinstance(value, bool)]
    mapped = words(name)[-1:] and (words(name)[-1] in {"map", "ids", "index"} or is_plural(words(name)[-1]))
    if not mapped or len(ids) < len(body) or len({*map(str, ids)}) < len(ids) or not nouns.speak_of(name):
        return None
    if not all(_looks_like_a_key(value) for value in ids):
        return None
    return [(cast("Key", value), {"name": key}) for key, value in body.items()]


def _looks_like_a_key(value: Json) -> bool:
    text = str(value)
    return any(letter.isdigit() for letter in text) and " " not in text and len(text) < 64


def _strays(value: Json) -> Record:
    """What stands among the rows of a mapping and is none."""
    body = cast("Record", value) if isinstance(value, dict) else {}
    if not any(isinstance(row, dict) for row in body.values()):
        return {}
    return {name: inner for name, inner in body.items() if not isinstance(inner, dict)}


def _alike(rows: Sequence[Record]) -> bool:
    """Do the objects share the better part of their fields, on the whole?"""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:_MOST_LOOKED_AT]
    whole = {name for row in looked_at for name in row}
    there = sum(len(row) for row in looked_at)
    return bool(whole) and 2 * there >= len(whole) * len(looked_at)


def _is_scope(nouns: Nouns, name: str, inner: Record) -> bool:
    """Does an object stand for itself (an account, a part of the state), not for a field of what is around it?"""
    tables = sum(1 for value in inner.values() if isinstance(value, dict | list))
    told = words(name)[-1:] and words(name)[-1] in _ABOUT - {"status"}
    return bool(told) or nouns.speak_of(name) or (tables >= 1 and len(inner) >= 2) or tables == len(inner)


def _table(nouns: Nouns, entity: str, rows: list[tuple[Key | None, Record]]) -> tuple[Entity, list[Record]]:
    fields = _fields([row for _, row in rows])
    outside = rows[0][0] is not None if rows else False
    if outside:
        return _table_by_outer_keys(nouns, entity, rows, fields)
    links = {f"{noun}_id" for noun in nouns.names if noun != entity and not entity.endswith(f"_{noun}")}
    own = {name: field for name, field in fields.items() if snake(name) not in links}
    key = _key_among(entity, own, [row for _, row in rows])
    if key is not None:
        return _with_like(entity, key, fields, [row for _, row in rows])
    if not rows:
        return Entity(entity), []
    key = "id" if "id" not in fields else "row"
    keyed = [{key: place, **row} for place, (_, row) in enumerate(rows, 1)]
    return _hiding(entity, key, fields, keyed), keyed


def _table_by_outer_keys(
    nouns: Nouns, entity: str, rows: list[tuple[Key | None, Record]], fields: Mapping[str, Field]
) -> tuple[Entity, list[Record]]:
    """A table of records that stand under their keys; these are shown where tools ask for them by a name of theirs."""
    key = next((name for name in fields if all(str(row.get(name)) == str(at) for at, row in rows)), None)
    if key is not None:
        return _with_like(entity, key, fields, [row for _, row in rows])
    own = f"{entity}_id"
    numbers = own in nouns.numbers and all(str(at).isdecimal() for at, _ in rows)
    named = _name_asked_for(nouns, entity, fields, [str(at) for at, _ in rows])
    key = named or ("id" if "id" not in fields else own)
    keyed = [{key: int(cast("str", at)) if numbers else at, **row} for at, row in rows]
    table = _with_like(entity, key, _fields(keyed), keyed)[0] if named else _hiding(entity, key, fields, keyed)
    return table, keyed


def _name_asked_for(nouns: Nouns, entity: str, fields: Mapping[str, Field], keys: Sequence[str]) -> str | None:
    """What tools call the key that stands outside the records: `room_id`, `name` where keys are names, or `room`."""
    asked, own = nouns.texts | nouns.numbers, f"{entity}_id"
    if own in asked:
        return own if own not in nouns.bare and "id" not in fields else None
    if "id" in asked or any(key.isdecimal() for key in keys):
        return None
    is_named = not any(letter.isdigit() for key in keys for letter in key)
    tries = (f"{entity}_name", f"{entity}name", *(("name",) if is_named else ()), entity)
    return next((one for one in tries if one in nouns.texts and one not in fields), None)


def _hiding(entity: str, key: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> Entity:
    hidden = Field(key, {"type": type_name(rows[0][key])}, required=True, hidden=True)
    return Entity(entity, key, rows[-1][key], {key: hidden, **fields})


def _with_like(entity: str, key: str, fields: Mapping[str, Field], rows: list[Record]) -> tuple[Entity, list[Record]]:
    return Entity(entity, key, rows[-1][key], fields), rows


def _key_among(entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """The field that tells rows apart, by its name; None where none does."""
    by_name = {snake(name): name for name in reversed([*fields])}
    short = entity.rsplit("_", 1)[-1]
    named = [f"{one}_{ending}" for one in (entity, short) for ending in _ENDINGS]
    ids = [name for name in by_name if name.endswith(("_id", "_key"))]
    for name in ("id", *named, *_KEYS, *ids):
        values = [row.get(by_name[name]) for row in rows] if name in by_name else []
        plain = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        if values and plain and len({*map(str, values)}) == len(values):
            return by_name[name]
    return None


def _fields(rows: Sequence[Record]) -> dict[str, Field]:
    """The fields that the rows show, with the types that they show; required where every row has them."""
    looked_at = rows[:_MOST_LOOKED_AT]
    names = dict.fromkeys(name for row in looked_at for name in row)
    return {name: _field(name, [row[name] for row in looked_at if name in row], len(looked_at)) for name in names}


def _field(name: str, values: Sequence[Json], count: int) -> Field:
    """A field as its values show it: their types, and the shape of the first that holds something."""
    everywhere = len(values) == count
    real = [value for value in values if value is not None]
    if not real:
        return Field(name, {}, required=everywhere)
    schema = _loosely(schema_of(next((value for value in real if value not in ({}, [])), real[0])))
    types = [*dict.fromkeys(type_name(value) for value in values)]
    if len(types) > 1:
        schema = {**schema, "type": [kind for kind in types if kind != "integer" or "number" not in types]}
    return Field(name, schema, required=everywhere)


def _loosely(schema: Record) -> Record:
    """The shape of one value, of which others may lack parts."""
    return {name: part for name, part in schema.items() if name != "required"}


# parts, singletons, counters ------------------------------------------------------------------------------------------


def _parts(found: _Found) -> Iterator[tuple[str, Entity]]:
    """The entities whose records stand inside those of others, where tools speak of them."""
    for entity, rows in found.tables.values():
        for name in entity.fields:
            inner = [one for row in rows for one in _inner_rows(row.get(name))]
            if not inner or not _alike(inner[:_MOST_LOOKED_AT]):
                continue
            fields = _fields(inner)
            key = _key_among(singular(snake(name)), fields, inner)
            stem = snake(key or "").removesuffix("_id")
            noun = next((one for one in (stem, found.nouns.meant(name)) if one in found.nouns.names), None)
            if key is not None and noun is not None and noun not in found.tables:
                yield noun, Entity(noun, key, inner[-1].get(key), fields, inside=Inside(entity.name, name))


def _inner_rows(value: Json) -> list[Record]:
    inner = cast("Record", value).values() if isinstance(value, dict) else as_list(value)
    rows = [*inner]
    return cast("list[Record]", rows) if all(isinstance(row, dict) for row in rows) else []


def _single(name: str, record: Record) -> Entity:
    fields = {part: Field(part, schema_of(value), required=True) for part, value in record.items()}
    return Entity(name, name, None, fields, singleton=True)
