"""Read a given state into tables, nested records and singletons.

Tables are lists of objects or of names, and maps from keys to objects or values. Maps from parents hold the rows of
each parent: these get a field with their parent. The rest of an object is a singleton.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TypeAlias, cast

from mcp_sim.plans.infer.keys import key_argument
from mcp_sim.plans.infer.names import ParsedName, noun_spans
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity, Field, Inside
from mcp_sim.types.frozen import frozen
from mcp_sim.types.given_rows import unwrap_rows
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    main_type,
    properties,
    required,
    schema_of,
    type_name,
    types_of,
)
from mcp_sim.types.lexicon.english import is_plural, last_word, noun_of_id, singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms

Path: TypeAlias = tuple[str, ...]

_DETAILS, _COLLECTIONS = terms("nouns.details"), terms("nouns.collections")
"""Last words of names of objects that are parts of the state, and of tables that name no entity: `list`, `map`."""
_FACTS = terms("phrases.facts")
"""Last words of tables with what is known of the records of another one."""
_NOT_PARENTS = terms("arguments.query", "arguments.option", "arguments.limit")
"""Arguments that name no record."""
_COUNTER = re.compile(r"(.+)_counter|next_(.+)_id")
_ENDINGS = (*ordered("fields.key_ending"), "name")
_NAME, _VALUE = "name", "value"
"""Fields of rows that are not objects, until a better name is known."""
_FEWEST_KNOWN = 0.5
"""The share of the parents in a map that must be records of an entity. States often lack some of the parents."""
_SAMPLE_SIZE = 200
"""Number of rows that fields are inferred from. Keys are looked up in all rows."""
_MOST_NAMES = 200
"""The most keys of an object that are compared with the entities of tools. An object with more keys is a table, whose
keys are not entities."""


@frozen
class Nouns:
    """Nouns that tools mention: `names` of entities, their arguments, and those arguments that are integers.

    `lookups` are the arguments by which tools get or delete one record, by its noun: `symbol` of a stock. `asked` are
    the arguments that tools which read records of a noun require.
    """

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    lookups: Mapping[str, str] = field(default_factory=dict[str, str])
    asked: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "list[str]"])

    def entity_of(self, name: str) -> str:
        """Return the entity that a table name means: one that tools mention, else the name itself."""
        parts, whole = words(name), "".join(words(name))
        if whole in self.names:
            return whole  # tools write `watchlist`, the state `watch_list`
        while len(parts) > 1 and parts[-1] in _COLLECTIONS:
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def includes(self, name: str) -> bool:
        """Whether tools mention the entity that a table name means."""
        return self.entity_of(name) in self.names


def collect_nouns(parsed_names: Mapping[str, ParsedName], tools: Mapping[str, Tool]) -> Nouns:
    """Collect the nouns that names of tools and of id arguments mention, and the arguments. Both are by tool id."""
    names: set[str] = set()
    for parsed in parsed_names.values():
        phrase = (*parsed.noun, *parsed.after[1:])
        names |= {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        names |= {singular_phrase(phrase)} if phrase else set[str]()
    parts = [(snake(name), schema) for tool in tools.values() for name, schema in properties(tool.input_schema).items()]
    names |= {noun_of_id(name) for name, _ in parts} - {""}
    numbers = frozenset(name for name, schema in parts if main_type(schema) in {"integer", "number"})
    schemas = [(parsed, tools[id_].input_schema) for id_, parsed in parsed_names.items()]
    arguments, known = frozenset(name for name, _ in parts), frozenset(names - terms("nouns.generic"))
    return Nouns(known, arguments, numbers, dict(_lookups(schemas)), _asked(schemas))


def _asked(tools: Iterable[tuple[ParsedName, Record]]) -> dict[str, list[str]]:
    """Return the arguments that reading tools require, by their nouns, without those that search or page."""
    asked: dict[str, list[str]] = defaultdict(list)
    for parsed, schema in tools:
        needed = map(snake, required(schema)) if parsed.verb in {"get", "list", "search"} else ()
        for noun in {"_".join(parsed.noun), parsed.noun[-1]} if parsed.noun else ():
            asked[noun] += sorted({*needed} - _NOT_PARENTS)
    return asked


def _lookups(tools: Iterable[tuple[ParsedName, Record]]) -> Iterator[tuple[str, str]]:
    """Yield the nouns of tools that get or delete one record, with the argument that names it."""
    for parsed, schema in tools:
        noun = "_".join(parsed.noun)
        argument, _ = key_argument(parsed.verb, noun, "id", schema)
        is_one = parsed.verb in {"get", "delete"} and not parsed.plural and parsed.after[:1] != ("by",)
        if is_one and argument is not None and last_word(argument) != "id":
            yield noun, snake(argument)


@frozen
class Membership:
    """An entity whose records say which records of another one belong to a parent: the people in a room."""

    fields: Mapping[str, str]
    """The fields with the member and the parent -> the entities that they name."""


@frozen
class Given:
    """Entities of a given state, and their records.

    `paths` maps an entity to the path of its table, or of the object whose values are its fields.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, "list[Record]"])
    paths: Mapping[str, Path] = field(default_factory=dict[str, "Path"])
    memberships: Mapping[str, Membership] = field(default_factory=dict[str, "Membership"])
    parents: Mapping[str, AbstractSet[str]] = field(default_factory=dict[str, "set[str]"])
    """The fields with the parents of rows, by entity: none for the tables that the state does not have by parent."""


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts in a state."""
    if isinstance(value, str):
        yield value
    parts = as_object(value).values() if isinstance(value, dict) else as_list(value)
    for part in parts:
        yield from _texts(part)


def read_given_state(state: Json, nouns: Nouns | None = None) -> Given:
    """Read a state."""
    reader = _Reader(nouns or Nouns(), frozenset(_texts(state)))
    reader.sort_parts((), as_object(state))
    reader.merge_details()
    reader.link_parents()
    reader.count_on()
    singles = {name: _make_singleton(name, record) for name, record in reader.singles.items()}
    tables = {name: entity for name, (entity, _) in reader.tables.items()}
    records = {name: rows for name, (_, rows) in reader.tables.items()}
    records |= {name: [single] for name, single in reader.singles.items()}
    nested = {entity.name: entity for entity in reader.nested_entities()}
    entities = {**nested, **tables, **singles}
    return Given(entities, records, reader.paths, reader.memberships, {name: reader.links[name] for name in tables})


def _make_singleton(name: str, record: Record) -> Entity:
    fields = {word: Field(word, schema_of(value), required=True) for word, value in record.items()}
    return Entity(name, name, None, fields, singleton=True)


@frozen
class _Rows:
    """The rows of a table, each with the keys around it: those of its parents, and its own if `keyed`.

    `plain` is the field of rows that the state has as plain values; empty if they are objects.
    """

    rows: Sequence[tuple[tuple[str, ...], Record]]
    keyed: bool = False
    plain: str = ""

    @property
    def bodies(self) -> list[Record]:
        return [body for _, body in self.rows]

    @property
    def own_keys(self) -> list[str]:
        return [outer[-1] for outer, _ in self.rows] if self.keyed else []

    @property
    def levels(self) -> int:
        """The number of parents around each row."""
        return len(self.rows[0][0]) - self.keyed if self.rows else 0

    def parents(self, level: int) -> list[str]:
        """Return the parent of each row."""
        return [outer[level] for outer, _ in self.rows]


@dataclass(slots=True)
class _Reader:
    """What was read so far."""

    nouns: Nouns
    texts: frozenset[str] = frozenset()
    """All texts of the state. The keys of a map that are among them name parents, not parts of the state."""
    tables: dict[str, tuple[Entity, list[Record]]] = field(default_factory=dict[str, "tuple[Entity, list[Record]]"])
    singles: dict[str, Record] = field(default_factory=dict[str, Record])
    paths: dict[str, Path] = field(default_factory=dict[str, "Path"])
    parents: dict[str, _Rows] = field(default_factory=dict[str, "_Rows"])
    """The tables whose rows have parents."""
    memberships: dict[str, Membership] = field(default_factory=dict[str, "Membership"])
    links: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The fields with the parents of rows."""

    def sort_parts(self, path: Path, body: Record) -> None:
        """Sort the parts of an object into tables and singletons."""
        scope = snake(path[-1]) if path else "state"
        single: Record = {}
        for name, held in body.items():
            inner, besides = _unwrap_table(name, held)
            single |= besides
            rows = self._find_rows(name, inner)
            if rows is not None:
                is_mixed = not rows.plain and not rows.levels
                single |= {
                    key: value for key, value in as_object(inner).items() if is_mixed and not isinstance(value, dict)
                }
                self._add_table((*path, name), scope, rows)
            elif isinstance(inner, dict) and inner and self._is_scope(name, as_object(inner)):
                self.sort_parts((*path, name), as_object(inner))
            else:
                single[name] = inner
        if single:
            name = scope if scope not in self.tables else f"{scope}_state"
            self.singles[name] = {**self.singles.get(name, {}), **single}
            self.paths[name] = path

    def _add_table(self, path: Path, scope: str, rows: _Rows) -> None:
        entity = self.nouns.entity_of(path[-1])
        if entity in self.tables:
            entity = f"{scope}_{entity}"
        self.tables[entity] = _make_table(self.nouns, entity, rows)
        self.paths[entity] = path
        if rows.levels:
            self.parents[entity] = rows

    def _find_rows(self, name: str, value: Json, *, of_parent: bool = False) -> _Rows | None:
        """Return the rows of a table. None if the value is not a table.

        Objects form a table if they are similar. Anything else needs the name of several records that tools mention, or
        known parents. `of_parent`: they are those of a parent.
        """
        is_named = (self.nouns.includes(name) and _is_collection(name)) or of_parent
        if value in ([], {}):
            is_table = self.nouns.includes(name) and (isinstance(value, list) or is_named)
            return _Rows([]) if is_table or of_parent else None
        if isinstance(value, list):
            return _listed_rows(as_list(value), may_be_names=is_named)
        body = as_object(value)
        is_table = _is_collection(name) or self.nouns.includes(name)
        rows = self._rows_under_keys(body, is_table=is_table)
        return rows or (self._rows_of_names(name, body) if is_named or self._are_parents(name, body) else None)

    def _are_parents(self, name: str, body: Record) -> bool:
        """Whether the keys of a map of lists are names of parents: a tool mentions the map, or the state the keys."""
        are_lists = all(isinstance(value, list) for value in body.values())
        return are_lists and (self.nouns.includes(name) or self.texts.issuperset(body))

    def _rows_under_keys(self, body: Record, *, is_table: bool) -> _Rows | None:
        """Return the rows of objects under keys. `is_table`: the name says so, else all must have the same fields."""
        inner = {key: as_object(row) for key, row in body.items() if isinstance(row, dict)}
        is_similar = _are_alike([*inner.values()]) and (is_table or _have_common_fields([*inner.values()]))
        is_table = 2 * len(inner) >= len(body) and is_similar and not self._holds_tables(inner)
        return _Rows([((key,), row) for key, row in inner.items()], keyed=True) if is_table else None

    def _rows_of_names(self, name: str, body: Record) -> _Rows | None:
        """Return the rows of a map from names to values, or to the rows of each parent."""
        if any(self.nouns.includes(key) and _is_collection(key) for key in islice(body, _MOST_NAMES)):
            return None
        if not any(isinstance(value, dict | list) for value in body.values()):
            is_settings = self.nouns.arguments.issuperset(map(snake, body)) or last_word(name) in _DETAILS
            entries = [((key,), {_VALUE: value}) for key, value in body.items()]
            return None if is_settings else _Rows(entries, keyed=True, plain=_VALUE)
        inner = {key: self._find_rows(name, value, of_parent=True) for key, value in body.items()}
        tables = {key: table for key, table in inner.items() if table is not None}
        filled = [table for table in tables.values() if table.rows]
        forms = {(table.keyed, table.plain, table.levels) for table in filled}
        if (
            len(tables) < len(body)
            or len(forms) != 1
            or not _are_alike([row for table in filled for row in table.bodies])
        ):
            return None
        rows = [((key, *outer), row) for key, table in tables.items() for outer, row in table.rows]
        return _Rows(rows, keyed=filled[0].keyed, plain=filled[0].plain)

    def merge_details(self) -> None:
        """Give names the fields that the state has elsewhere: `species: [fox]` beside `species_info: {fox: ...}`."""
        for name in [name for name in self.tables if last_word(name) in _FACTS]:
            base, (details, rows) = self.nouns.entity_of(name.rpartition("_")[0]), self.tables[name]
            entity, names = self.tables.get(base, (Entity(base), list[Record]()))
            known = {str(row.get(details.key)): row for row in rows}
            if (
                base == name
                or [*entity.fields] != [entity.key]
                or not {*known} <= {str(row[entity.key]) for row in names}
            ):
                continue
            more = [known.get(str(row[entity.key]), {}) for row in names]
            merged: list[Record] = [
                {**row, **{at: value for at, value in details_of.items() if at != details.key}}
                for row, details_of in zip(names, more, strict=True)
            ]
            fields = {**entity.fields, **{at: field for at, field in details.fields.items() if at != details.key}}
            self.tables[base] = replace(entity, fields=fields), merged
            del self.tables[name], self.paths[name]

    def link_parents(self) -> None:
        """Add the parents of rows to them as fields."""
        for name, rows in self.parents.items():
            for level in reversed(range(rows.levels)):
                self._add_parent(name, rows.parents(level))
            if rows.plain and not rows.keyed:
                self._link_members(name)

    def count_on(self) -> None:
        """Have new ids follow the counters of the state: `order_counter: 1204`, `next_order_id: 1204`."""
        numbers = [(snake(name), value) for single in self.singles.values() for name, value in single.items()]
        for name, following in numbers:
            match = _COUNTER.fullmatch(name)
            table = self.tables.get(self.nouns.entity_of(match[1] or match[2])) if match else None
            if table is None or type(following) is not int:
                continue
            entity, rows = table
            if not all(str(row.get(entity.key)).isdecimal() for row in rows):
                continue
            like = max(following - 1, 0) if rows else following
            is_text = bool(rows) and isinstance(rows[-1][entity.key], str)
            self.tables[entity.name] = replace(entity, key_like=str(like) if is_text else like), rows

    def _add_parent(self, name: str, parents: Sequence[str]) -> None:
        """Add a field with the parent of each row, unless one has it."""
        entity, records = self.tables[name]
        texts = [
            {word: str(value) for word, value in row.items() if not isinstance(value, dict | list)} for row in records
        ]
        repeated = (
            word for word in entity.fields if all(row.get(word) == at for row, at in zip(texts, parents, strict=True))
        )
        known = next(repeated, None)
        if known is not None:
            self.links[name].add(known)
            return
        target = self._parent_entity(name, {*parents})
        link = self._link_name(entity, target)
        self.links[name].add(link)
        held = {str(row[target.key]): row[target.key] for row in self.tables[target.name][1]} if target else {}
        numbered = _outer_keys(parents, are_numbers=link in self.nouns.numbers)
        values: list[Json] = [held.get(at, number) for at, number in zip(parents, numbered, strict=True)]
        is_whole = target is not None and all(at in held for at in parents)
        schema: Record = {"type": type_name(values[0])}
        named = Field(link, schema, required=True, link=target.name if target is not None and is_whole else None)
        linked: list[Record] = [{**row, link: value} for row, value in zip(records, values, strict=True)]
        self.tables[name] = replace(entity, fields={**entity.fields, link: named}), linked

    def _link_members(self, name: str) -> None:
        """Name the members of a membership after their entity, and link them to it."""
        entity, records = self.tables[name]
        target = self._parent_entity(name, {str(row[_NAME]) for row in records if _NAME in row})
        if target is None or target.name in entity.fields:
            return
        word = target.key if target.key not in {_NAME, "id", *entity.fields} else target.name
        fields = {word if at == _NAME else at: field for at, field in entity.fields.items()}
        fields[word] = replace(fields[word], name=word, link=target.name)
        renamed: list[Record] = [{word if at == _NAME else at: value for at, value in row.items()} for row in records]
        key = word if entity.key == _NAME else entity.key
        self.tables[name] = replace(entity, key=key, fields=fields), renamed
        parents = [field for at, field in fields.items() if at not in {word, key}]
        if len(parents) == 1:
            self.memberships[name] = Membership({word: target.name, parents[0].name: parents[0].link or ""})

    def _parent_entity(self, name: str, parents: AbstractSet[str]) -> Entity | None:
        """Return the entity whose keys the parents are, the one with the most of them."""
        counts = {
            other: len(parents & {str(row.get(entity.key)) for row in rows})
            for other, (entity, rows) in self.tables.items()
            if other != name
        }
        best = max(counts, key=lambda other: counts[other], default=None)
        return self.tables[best][0] if best is not None and counts[best] >= _FEWEST_KNOWN * len(parents) else None

    def _link_name(self, entity: Entity, target: Entity | None) -> str:
        """Return the name of the field with a parent: that of the argument by which tools ask for its rows."""
        free = [name for name in self.nouns.asked.get(entity.name, ()) if name not in entity.fields]
        if target is not None:
            nouns = (target.name, target.name.rsplit("_", 1)[-1])
            names = [*(f"{noun}_{ending}" for noun in nouns for ending in _ENDINGS), *nouns, target.key]
            named = next((name for name in (*free, *names) if name in names and name in self.nouns.arguments), None)
            name = named or next(iter(free), None) or f"{target.name}_{target.key.removeprefix(f'{target.name}_')}"
        else:
            name = next(iter(free), "parent")
        return name if name not in entity.fields else f"parent_{name}"

    def _holds_tables(self, inner: Mapping[str, Record]) -> bool:
        """Whether an object holds tables rather than rows: objects of objects, or names of collections."""
        named = any(_is_collection(key) and self.nouns.includes(key) for key in islice(inner, _MOST_NAMES))
        deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
        return named or (deep and any(inner.values()))

    def _is_scope(self, name: str, inner: Record) -> bool:
        """Whether an object is an entity or a part of the state, not a field of the object around it."""
        if all(isinstance(value, list) for value in inner.values()):
            has_rows = any(isinstance(item, dict) for value in inner.values() for item in as_list(value))
            return has_rows or any(map(self.nouns.includes, inner))
        nested = sum(isinstance(value, dict | list) for value in inner.values())
        is_named = last_word(name) in _DETAILS or self.nouns.includes(name)
        return is_named or nested == len(inner) or (nested > 0 and len(inner) > 1)

    def nested_entities(self) -> Iterator[Entity]:
        """Yield the entities whose records are nested in others, if tools mention them."""
        for entity, rows in self.tables.values():
            for name, value in entity.fields.items():
                kinds = {*types_of(value.schema)} - {"null"}
                inner = [inner_row for row in rows for inner_row in _inner_rows(row.get(name))]
                if (not kinds or kinds & {"array", "object"}) and _are_alike(inner):
                    yield from self._nested_entity(Inside(entity.name, name), inner)

    def _nested_entity(self, place: Inside, rows: Sequence[Record]) -> Iterator[Entity]:
        """Yield the entity of the rows in a field of other records, if they have a key and a tool mentions them."""
        fields = _infer_fields(rows)
        key = _find_key(singular(snake(place.field)), fields, rows)
        stem = noun_of_id(snake(key or "")) or snake(key or "")
        noun = next(
            (candidate for candidate in (stem, self.nouns.entity_of(place.field)) if candidate in self.nouns.names),
            None,
        )
        if noun is not None and key is not None and noun not in self.tables:
            yield Entity(noun, key, rows[-1].get(key), fields, inside=place)


def _unwrap_table(name: str, value: Json) -> tuple[Json, Record]:
    """Return the rows that a table holds under `rows` or the like, and what it holds besides.

    An object that names no columns is a table only if its name is that of a collection: the `items` of a `cart` are a
    part of the cart.
    """
    is_table = _is_collection(name) or "columns" in as_object(value)
    return unwrap_rows(value) if is_table else (value, {})


def _is_collection(name: str) -> bool:
    return is_plural(last_word(name)) or last_word(name) in _COLLECTIONS


def _inner_rows(value: Json) -> list[Record]:
    inner = [*cast("Record", value).values()] if isinstance(value, dict) else as_list(value)
    return cast("list[Record]", inner) if all(isinstance(row, dict) for row in inner) else []


def _listed_rows(values: Sequence[Json], *, may_be_names: bool) -> _Rows | None:
    """Return the rows of a list of similar objects, or of different names."""
    listed = [as_object(row) for row in values]
    if all(listed):
        return _Rows([((), row) for row in listed]) if _are_alike(listed) else None
    names = [value for value in values if isinstance(value, str)]
    are_names = may_be_names and len({*names}) == len(values)
    return _Rows([((), {_NAME: name}) for name in names], plain=_NAME) if are_names else None


def _make_table(nouns: Nouns, entity: str, rows: _Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of a table, and its rows with their keys.

    Keys outside the rows become a field, visible if tools have an argument of that name.
    """
    if rows.plain:
        return _plain_table(nouns, entity, rows)
    records, own_keys = rows.bodies, rows.own_keys
    fields = _infer_fields(records)
    repeated = (
        name for name in fields if all(str(row.get(name)) == at for row, at in zip(records, own_keys, strict=True))
    )
    key = next(repeated, None) if own_keys else _find_key(entity, fields, records)
    if key is not None and _identifies(key, records):
        return Entity(entity, key, records[-1][key], fields), records
    if not records:
        return Entity(entity), []
    is_keyed = bool(own_keys) and len({*own_keys}) == len(own_keys)
    named = _outer_key_name(nouns, entity, fields) if is_keyed else None
    keys = _outer_keys(own_keys, are_numbers=named in nouns.numbers) if is_keyed else [*range(1, len(records) + 1)]
    return _with_outer_keys(entity, named, fields, keys, records)


def _plain_table(nouns: Nouns, entity: str, rows: _Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of names, or of values under names."""
    named = (_outer_key_name(nouns, entity, {}) if rows.keyed or not rows.levels else None) or _NAME
    names: list[Json] = [*rows.own_keys] if rows.keyed else [body[_NAME] for body in rows.bodies]
    values = [body[rows.plain] for body in rows.bodies]
    records: list[Record] = [{named: at} for at in _outer_keys(names, are_numbers=named in nouns.numbers)]
    kind = int if named in nouns.numbers else str
    if rows.keyed and _are_ids(values, kind) and not _are_ids(names, str) and last_word(named) in _ENDINGS[:-1]:
        records = [{named: value, _NAME: at} for value, at in zip(values, names, strict=True)]
    elif rows.keyed:
        word = _value_name(entity, named, values)
        records = [{**record, word: value} for record, value in zip(records, values, strict=True)]
    fields = _infer_fields(records)
    if _identifies(named, records):
        return Entity(entity, named, records[-1][named], fields, natural=True), records
    return _with_outer_keys(entity, None, fields, [*range(1, len(records) + 1)], records)


def _are_ids(values: Sequence[Json], kind: type[str | int]) -> bool:
    """Whether all values are different and look like ids: they are of a type, have digits, and no spaces."""
    texts = [str(value) for value in values if isinstance(value, kind) and not isinstance(value, bool)]
    are_ids = all(any(map(str.isdigit, text)) and not any(map(str.isspace, text)) for text in texts)
    return len({*texts}) == len(values) and are_ids


def _value_name(entity: str, key: str, values: Sequence[Json]) -> str:
    """Return the field of the values under names: `price` of a symbol, the `name` of an id, else `value`."""
    word = last_word(entity)
    if word not in words(key) and key != _NAME:
        return word
    are_names = key != _NAME and last_word(key) != _NAME and all(isinstance(value, str) for value in values)
    return _NAME if are_names else _VALUE


def _outer_keys(keys: Sequence[Json], *, are_numbers: bool) -> list[Json]:
    is_whole = are_numbers and all(str(at).isdecimal() for at in keys)
    return [int(str(at)) if is_whole else at for at in keys]


def _with_outer_keys(
    entity: str, named: str | None, fields: Mapping[str, Field], keys: Sequence[Json], rows: Sequence[Record]
) -> tuple[Entity, list[Record]]:
    """Return a table whose keys are added to its rows, first in each. They are hidden unless tools name them."""
    key = named or ("id" if "id" not in fields else "row")
    outer = Field(key, {"type": type_name(keys[0])}, required=True, hidden=named is None)
    keyed: list[Record] = [{key: at, **row} for at, row in zip(keys, rows, strict=True)]
    return Entity(entity, key, keyed[-1][key], {key: outer, **fields}), keyed


def _outer_key_name(nouns: Nouns, entity: str, fields: Mapping[str, Field]) -> str | None:
    """Return the name by which tools ask for records under keys."""
    asked = nouns.lookups.get(entity, "")
    names = (*(f"{entity}_{ending}" for ending in _ENDINGS), asked, "id", entity, "name")
    return next((name for name in names if name in nouns.arguments and name not in fields), None)


def _find_key(entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """Return the field that identifies rows, by its name, or None."""
    by_name = {snake(name): name for name in reversed([*fields])}
    nouns = (entity, entity.rsplit("_", 1)[-1])
    named = [f"{noun}_{ending}" for noun in nouns for ending in _ENDINGS]
    ids = [snake(name) for name in fields if snake(name).endswith(("_id", "_key"))]
    first = [name for name in ids if name == snake(next(iter(fields)))]
    likely = ("id", *named, *ordered("fields.given_key"), *first, *ordered("fields.given_name"), *ids)
    return next((by_name[name] for name in likely if name in by_name and _identifies(by_name[name], rows)), None)


def _identifies(name: str, rows: Sequence[Record]) -> bool:
    """Whether all rows have different texts or whole numbers in a field."""
    values = [row.get(name) for row in rows]
    are_plain = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
    return bool(values) and are_plain and len({*map(str, values)}) == len(values)


def _infer_fields(rows: Sequence[Record]) -> dict[str, Field]:
    """Return the fields of the rows with their types. A field is required if every row has it."""
    looked_at = rows[:_SAMPLE_SIZE]
    names = dict.fromkeys(name for row in looked_at for name in row)
    return {name: _field(name, [row[name] for row in looked_at if name in row], len(looked_at)) for name in names}


def _field(name: str, values: Sequence[Json], count: int) -> Field:
    """Return a field with the types of its values, and the shape of the first one that is not empty.

    Other values may lack parts of it.
    """
    there = [value for value in values if value is not None]
    first = next((value for value in there if value not in ({}, [])), next(iter(there), None))
    schema = {word: value for word, value in schema_of(first).items() if word != "required"}
    types = dict.fromkeys(map(type_name, values))
    if schema and len(types) > 1:
        schema["type"] = [kind for kind in types if kind != "integer" or "number" not in types]
    return Field(name, schema, required=len(values) == count)


def _have_common_fields(rows: Sequence[Record]) -> bool:
    """Whether there are several objects, and half of their fields are in all of them."""
    looked_at = [row.keys() for row in rows[:_SAMPLE_SIZE]]
    return len(rows) > 1 and 2 * len(set[str].intersection(*map(set, looked_at))) >= len({*chain(*looked_at)})


def _are_alike(rows: Sequence[Record]) -> bool:
    """Whether the objects share at least half of their fields on average."""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:_SAMPLE_SIZE]
    whole = {name for row in looked_at for name in row}
    return bool(whole) and 2 * sum(map(len, looked_at)) >= len(whole) * len(looked_at)
