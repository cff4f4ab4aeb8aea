"""Read a given state into tables, nested records and singletons.

Tables are lists of objects or of names, and maps from keys to objects or values. Maps from parents hold the rows of
each parent: these get a field with their parent. The rest of an object is a singleton.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TypeAlias

from mcp_sim.plans.infer.nested_rows import nested_entities
from mcp_sim.plans.infer.state_tables import (
    ENDINGS,
    MOST_NAMES,
    NAME,
    VALUE,
    Nouns,
    Rows,
    are_alike,
    find_key,
    have_common_fields,
    infer_fields,
    listed_rows,
    make_table,
    noun_of_rows,
    outer_keys,
    texts_in,
    with_outer_keys,
)
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field, singleton_key
from mcp_sim.types.frozen import frozen
from mcp_sim.types.given_rows import is_collection, lists_of_names, unwrap_table
from mcp_sim.types.json_schema.shapes import as_list, as_object, schema_of, type_name
from mcp_sim.types.json_values import is_key
from mcp_sim.types.lexicon.english import (
    last_word,
    noun_of_id,
    plural,
    singular,
    singular_phrase,
    snake,
    words,
)
from mcp_sim.types.lexicon.terms import terms

Path: TypeAlias = tuple[str, ...]

_DETAILS = terms("nouns.details")  # last words of names of objects that are parts of the state
_FACTS = terms("phrases.facts")  # last words of tables with what is known of the records of another one
_BALANCES = terms("fields.balance")
COUNTER = re.compile(r"(.+)_counter|next_(.+)_id")
_SAMPLE = 200  # the most records whose lists are compared with the keys of others
_FEWEST_KNOWN = 0.5  # the share of the parents in a map that must be records of an entity; states often lack some


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
    members: Mapping[str, AbstractSet[str]] = field(default_factory=dict[str, "set[str]"])
    """The entities whose keys are in lists of records of an entity, by the latter: students in those of a course."""


def read_given_state(state: Json, nouns: Nouns | None = None) -> Given:
    """Read a state."""
    reader = _Reader(nouns or Nouns(), frozenset(texts_in(state)), [*lists_of_names(state)])
    reader.sort_parts((), as_object(state))
    reader.merge_details()
    reader.list_keys()
    reader.name_listed_keys()
    reader.split_parents()
    reader.link_parents()
    reader.link_members()
    reader.link_values()
    reader.count_on()
    singles = {name: _make_singleton(name, record) for name, record in reader.singles.items()}
    tables = {name: entity for name, (entity, _) in reader.tables.items()}
    records = {name: rows for name, (_, rows) in reader.tables.items()}
    records |= {name: [single] for name, single in reader.singles.items()}
    nested = {entity.name: entity for entity in nested_entities(reader.tables, reader.nouns)}
    entities = {**nested, **tables, **singles}
    parents = {name: reader.links[name] for name in tables}
    keys = {name: {row.get(entity.key) for row in records[name] if is_key(row.get(entity.key))}
            for name, entity in tables.items()}  # fmt: skip
    members = defaultdict[str, set[str]](set)
    for name, rows in records.items():
        values = [value for row in islice(rows, _SAMPLE) for value in row.values()]
        held = {item for value in values for item in as_list(value) if is_key(item)}
        single = {value for value in values if is_key(value)}  # a ticket with an owner and watchers
        members[name] = {other for other in tables if other != name
                         and not keys[other].isdisjoint(held) and keys[other].isdisjoint(single)}  # fmt: skip
    return Given(entities, records, reader.paths, reader.memberships, parents, members)


def _make_singleton(name: str, record: Record) -> Entity:
    fields = {word: Field(word, schema_of(value), required=True) for word, value in record.items()}
    return Entity(name, singleton_key(name, fields), None, fields, singleton=True)


@dataclass(slots=True)
class _Reader:
    """What was read so far."""

    nouns: Nouns
    texts: frozenset[str] = frozenset()
    """All texts of the state. The keys of a map that are among them name parents, not parts of the state."""
    listed: Sequence[frozenset[str]] = ()
    """The lists of names."""
    tables: dict[str, tuple[Entity, list[Record]]] = field(default_factory=dict[str, "tuple[Entity, list[Record]]"])
    singles: dict[str, Record] = field(default_factory=dict[str, Record])
    paths: dict[str, Path] = field(default_factory=dict[str, "Path"])
    parents: dict[str, Rows] = field(default_factory=dict[str, "Rows"])
    """The tables whose rows have parents."""
    holders: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    """The parents in such a table, also those without rows."""
    memberships: dict[str, Membership] = field(default_factory=dict[str, "Membership"])
    maps: set[str] = field(default_factory=set[str])
    """The tables of values under names, without parents."""
    name_lists: list[str] = field(default_factory=list[str])
    """The tables of lists of names under names."""
    links: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The fields with the parents of rows."""

    def sort_parts(self, path: Path, body: Record) -> None:
        """Sort the parts of an object into tables and singletons."""
        scope = self._scope_of(path)
        single: Record = {}
        for name, held in body.items():
            inner, besides = unwrap_table(name, held)
            single |= besides
            rows = self._find_rows(name, inner)
            if rows is not None:
                is_mixed = not rows.plain and not rows.levels
                own_keys = {*rows.own_keys}
                besides = {key: value for key, value in as_object(inner).items() if key not in own_keys}
                single |= {key: value for key, value in besides.items() if is_mixed and not isinstance(value, dict)}
                self._add_table((*path, name), scope, rows, body, as_object(inner))
            elif isinstance(inner, dict) and inner and self._is_scope(name, as_object(inner)):
                self.sort_parts((*path, name), as_object(inner))
            else:
                single[name] = inner
        if single:
            name = scope if scope not in self.tables else f"{scope}_state"
            self.singles[name] = {**self.singles.get(name, {}), **single}
            self.paths[name] = path

    def _scope_of(self, path: Path) -> str:
        """Return the name of an object: `choir` for the `info` of a `choir` that no tool gets the info of."""
        outer, name = ("", *map(snake, path))[-2:] if path else ("", "state")
        is_fact = name in _FACTS and outer in self.nouns.names and f"{outer}_{name}" not in self.nouns.names
        return outer if is_fact else name

    def _own_entity(self, name: str, siblings: Record) -> str:
        """Return the entity that a table means, or its own name if that entity is rather one of the tables beside it.

        `read_inbox(user)` means the `user_inbox` beside a `room_inbox`.
        """
        entity = self.nouns.entity_of(name)
        asked = {word for argument in self.nouns.asked.get(entity, ()) for word in words(argument)}
        tables = (other for other, held in siblings.items() if isinstance(held, list | dict))
        rivals = [other for other in tables if self.nouns.entity_of(other) == entity]
        meant = max(rivals, key=lambda other: (snake(other) == entity, len(asked & {*words(other)})), default=name)
        return entity if name == meant else singular_phrase(words(name))

    def _add_table(self, path: Path, scope: str, rows: Rows, siblings: Record, body: Record) -> None:
        own, placed = singular_phrase(words(path[-1])), self.nouns.placed(path[-1], body)
        entity = placed or self._own_entity(path[-1], siblings)
        scoped = f"{scope}_{entity}"  # the events of a `calendar` for `create_calendar_event`
        entity = scoped if scoped in self.nouns.names and scoped not in self.tables else entity
        described, beside = self.nouns.described.get(entity, entity), [*map(self.nouns.entity_of, siblings)]
        entity = entity if entity in self.nouns.names or described in beside else described
        entity = noun_of_rows(self.nouns, entity, rows, beside) or entity
        others = (own, f"{scope}_{entity}", f"{scope}_{own}")  # `logged_in_users` beside `users`
        entity = next((name for name in (entity, *others) if name not in self.tables), entity)
        self.tables[entity] = make_table(self.nouns, entity, rows)
        self.paths[entity] = path
        if rows.keyed and rows.plain and not rows.levels:
            self.maps.add(entity)
        if rows.keyed and all(isinstance(value, list) for value in body.values()):
            self.name_lists.append(entity)
        if rows.levels:
            self.parents[entity] = rows
            self.holders[entity] = [*body]

    def split_parents(self) -> None:
        """Make records of the parents in a map that is named after them: `device`s of `rooms: {Attic: []}`, and rooms.

        Its rows are called what tools list of a parent, or what their ids say.
        """
        for parent, rows in [*self.parents.items()]:
            row = self._noun_of_rows(parent, rows)
            names = self.holders[parent]
            if row is not None and self._parent_entity(parent, {*names}) is None:
                self.tables[row], self.parents[row], self.paths[row] = (
                    make_table(self.nouns, row, rows), self.parents.pop(parent), self.paths[parent],
                )  # fmt: skip
                self.tables[parent] = make_table(
                    self.nouns, parent, Rows([((), {NAME: at}) for at in names], plain=NAME)
                )

    def _noun_of_rows(self, parent: str, rows: Rows) -> str | None:
        if rows.levels != 1 or rows.plain or parent not in self.nouns.names:
            return None
        stem = noun_of_id(snake(find_key("", infer_fields(rows.bodies), rows.bodies) or ""))
        row = self.nouns.members.get(parent, stem)
        is_other = row in self.nouns.names - self.tables.keys() and last_word(row) != last_word(parent)
        return row if is_other else None

    def _find_rows(self, name: str, value: Json, *, of_parent: bool = False) -> Rows | None:
        """Return the rows of a table. None if the value is not a table.

        Objects form a table if they are similar. Anything else needs the name of several records that tools mention, or
        known parents. `of_parent`: they are those of a parent.
        """
        is_known = self.nouns.includes(name) or snake(name) in self.nouns.arguments
        is_named = (is_known and (is_collection(name) or self._is_asked(name, value))) or of_parent
        if value in ([], {}):
            is_table = self.nouns.includes(name) and (isinstance(value, list) or is_named)
            return Rows([]) if is_table or of_parent else None
        if isinstance(value, list):
            return listed_rows(as_list(value), may_be_names=is_named)
        body = as_object(value)
        is_table = is_collection(name) or self.nouns.includes(name) or of_parent
        rows = None if self._has_two_parents(name, body) else self._rows_under_keys(name, body, is_table=is_table)
        is_named = is_named or self._are_parents(name, body) or self._has_two_parents(name, body)
        is_named = is_named or self.nouns.placed(name, body) is not None
        return rows or (self._rows_of_names(name, body) if is_named else None)

    def _is_asked(self, name: str, value: Json) -> bool:
        """Whether tools look up values under a name that is not plural: `stock: {hops: 3}` for `check_stock(item)`.

        What tools look up by an id needs keys with digits, as ids have: the `city` of a `profile` is not one.
        """
        lookup, keys = self.nouns.lookups.get(self.nouns.entity_of(name)), as_object(value)
        kinds = {type_name(inner).replace("integer", "number") for inner in keys.values()}
        are_ids = all(any(map(str.isdigit, key)) for key in keys)
        is_argument = snake(name) in self.nouns.arguments and len(keys) > 1  # `malt: {pale: 80}` for `malt_stock(malt)`
        is_asked = (lookup is not None and (last_word(lookup) != "id" or are_ids)) or is_argument
        is_asked = is_asked and name not in keys  # `mode: {mode: cool, fan: low}` is one mode
        return is_asked and len(kinds) == 1 and not kinds & {"object", "array"}

    def _are_parents(self, name: str, body: Record) -> bool:
        """Whether the keys of a map of lists are names of parents: a tool mentions the map, or the state the keys."""
        are_lists = all(isinstance(value, list) for value in body.values())
        return are_lists and (self.nouns.includes(name) or self.texts.issuperset(body))

    def _has_two_parents(self, name: str, body: Record) -> bool:
        """Whether tools ask by two arguments for what is two levels deep: the schedule of a hall on a day, a rate.

        Or they take both with a value: `record_mark(pupil, course, mark)`.
        """
        inner, entity = (
            [pair for outer in body.values() for pair in as_object(outer).items()],
            self.nouns.entity_of(name),
        )
        is_asked = len({*self.nouns.asked.get(entity, ())}) > 1 or len(self.nouns.entered.get(entity, ())) > 2
        are_lists = all(isinstance(value, list) for _, value in inner)
        are_plain = all(not isinstance(value, dict | list) and self._is_key(key) for key, value in inner)
        rows = [as_object(row) for _, row in inner]
        are_rows = all(isinstance(value, dict) for _, value in inner) and are_alike(rows)
        return is_asked and bool(inner) and (are_lists or are_plain or are_rows)

    def _is_key(self, text: str) -> bool:
        """Whether a text names a record, not a field of one."""
        return text in self.texts or text.isupper() or any(map(str.isdigit, text)) or not text.isidentifier()

    def _rows_under_keys(self, name: str, body: Record, *, is_table: bool) -> Rows | None:
        """Return the rows of objects under keys. `is_table`: the name says so, else all must have the same fields."""
        inner = {key: as_object(row) for key, row in body.items() if isinstance(row, dict)}
        is_similar = are_alike([*inner.values()]) and (is_table or have_common_fields([*inner.values()]))
        is_table = 2 * len(inner) >= len(body) and is_similar and not self._holds_parts(name, inner)
        return Rows([((key,), row) for key, row in inner.items()], keyed=True) if is_table else None

    def _rows_of_names(self, name: str, body: Record) -> Rows | None:
        """Return the rows of a map from names to values, or to the rows of each parent."""
        if any(self.nouns.includes(key) and is_collection(key) for key in islice(body, MOST_NAMES)):
            return None
        if not any(isinstance(value, dict | list) for value in body.values()):
            is_shown = any(shape.issuperset(body) for shape in self.nouns.shapes)
            is_settings = self.nouns.arguments.issuperset(map(snake, body)) or last_word(name) in _DETAILS or is_shown
            entries = [((key,), {VALUE: value}) for key, value in body.items()]
            return None if is_settings else Rows(entries, keyed=True, plain=VALUE)
        are_lists = all(isinstance(value, list) for value in body.values())
        entered = self.nouns.entered.get(self.nouns.entity_of(name), frozenset[str]()) - {NAME}
        whole = [*entered & self.nouns.lists] if are_lists and len(entered) == 1 else []
        if whole:  # `add_scene(name, devices)`
            return Rows([((key,), {whole[0]: value}) for key, value in body.items()], keyed=True)
        members = self._members_of(name) if are_lists and not self._are_pairs(name, body) else None
        if members and not any(map(as_object, chain(*map(as_list, body.values())))):
            return Rows([((key,), {plural(members): value}) for key, value in body.items()], keyed=True)
        inner = {key: self._find_rows(name, value, of_parent=True) for key, value in body.items()}
        tables = {key: table for key, table in inner.items() if table is not None}
        filled = [table for table in tables.values() if table.rows]
        forms = {(table.keyed, table.plain, table.levels) for table in filled}
        bodies = [row for table in filled for row in table.bodies]
        is_alike = are_alike(bodies) or (
            self._are_of_tool(name, body) and bodies and {*bodies[0]}.intersection(*bodies)
        )
        if len(tables) < len(body) or len(forms) != 1 or not is_alike:
            return None
        rows = [((key, *outer), row) for key, table in tables.items() for outer, row in table.rows]
        return Rows(rows, keyed=filled[0].keyed, plain=filled[0].plain)

    def _are_of_tool(self, name: str, body: Record) -> bool:
        """Whether ids hold rows that a tool mentions, which may differ: `readings: {P12: [...], P13: [...]}`."""
        return self.nouns.includes(name) and all(any(map(str.isdigit, key)) for key in body)

    def _are_pairs(self, name: str, body: Record) -> bool:
        """Whether a map of lists pairs the names of two other lists: `user_rooms: {Ada: [attic]}`."""
        own = [*lists_of_names(body)]
        items, others = frozenset[str]().union(*own), Counter(self.listed) - Counter(own)
        is_listed = all(any(names.issuperset(each) for names in others) for each in (body, items))
        return bool(items) and is_listed and self.nouns.entity_of(name) not in self.nouns.members

    def _members_of(self, name: str) -> str | None:
        """Return the noun of what records hold that tools name by themselves: the `member` of a `section`."""
        entity = self.nouns.entity_of(name)
        members, own = self.nouns.members.get(entity), {entity, *(f"{entity}_{ending}" for ending in ENDINGS)}
        asked = {*self.nouns.asked.get(entity, ()), *self.nouns.asked.get(f"{entity}_{members}", ())}
        own |= {NAME} if asked == {NAME} else set[str]()  # `get_playlist(name)`
        beside = (names - own for names in self.nouns.entered.values() if names & own)
        others = (singular(next(iter(names))) for names in beside if len(names) == 1)
        is_listed = bool(asked) or self.nouns.includes(name)
        return members or next(others, "member") if is_listed and asked <= own else None

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

    def list_keys(self) -> None:
        """Make tables of the lists of keys beside the tables: a `liked_track` of `liked: [t2]` for `like_track`."""
        state = self.singles.get("state", {})
        for name, value in [*state.items()]:
            keys = {key for key in as_list(value) if isinstance(key, str)}
            target = self._owner_of(keys) if keys and len(keys) == len(as_list(value)) else None
            entity = "" if target is None else f"{singular(snake(name))}_{target.name}"
            if target is not None and target.name not in snake(name) and entity not in self.tables:
                listed = Rows([((), {NAME: key}) for key in as_list(value)], plain=NAME)
                self.tables[entity], self.paths[entity] = make_table(self.nouns, entity, listed), (name,)
                del state[name]
        if "state" in self.singles and not state:
            del self.singles["state"], self.paths["state"]

    def name_listed_keys(self) -> None:
        """Name the keys in a list after the records that they are, as tools do: `add_to_queue(track_id)`."""
        for name, (entity, records) in self.tables.items():
            keys = {str(row.get(NAME)) for row in records}
            target = self._owner_of(keys) if [*entity.fields] == [NAME] and records else None
            if target is not None and target.key not in {NAME, "id"}:
                key = Field(target.key, entity.fields[NAME].schema, required=True)
                rows: list[Record] = [{target.key: row[NAME]} for row in records]
                self.tables[name] = replace(entity, key=target.key, fields={target.key: key}), rows

    def link_members(self) -> None:
        """Give records a link to what lists their names, where tools ask by it: `apiaries: {north: [Hive A]}`.

        Else the list is named after them.
        """
        for name in self.name_lists:
            entity, rows = self.tables[name]
            lists = [at for at in entity.fields if at != entity.key]
            keys = [key for row in rows for key in as_list(row.get(lists[0]))] if len(lists) == 1 else []
            are_names = bool(keys) and all(isinstance(key, str) for key in keys)
            target = self._owner_of({*map(str, keys)}) if are_names else None
            if target is None or target.name == name or len(target.fields) < 2:
                continue
            asked, own = self.nouns.asked.get(target.name, ()), {name, *(f"{name}_{ending}" for ending in ENDINGS)}
            link = next((at for at in asked if at in own and at not in target.fields), None)
            if link is None or len({*keys}) < len(keys):  # a member of several
                self._rename(name, lists[0], plural(target.name))
                continue
            parents = {key: row[entity.key] for row in rows for key in as_list(row[lists[0]])}
            kind: Record = {"type": ["string", "null"]}
            fields = {**target.fields, link: Field(link, kind, hidden=True, link=name)}
            held = self.tables[target.name][1]
            linked: list[Record] = [{**row, link: parents.get(str(row[target.key]))} for row in held]
            self.tables[target.name] = replace(target, fields=fields), linked
            bare: list[Record] = [{entity.key: row[entity.key]} for row in rows]
            self.tables[name] = replace(entity, fields={entity.key: entity.fields[entity.key]}, natural=True), bare
            self.links[target.name].add(link)

    def _rename(self, name: str, old: str, new: str) -> None:
        entity, rows = self.tables[name]
        if singular(new) in snake(old) or new in entity.fields:
            return
        fields = {new if at == old else at: replace(held, name=new) if at == old else held
                  for at, held in entity.fields.items()}  # fmt: skip
        renamed: list[Record] = [{new if at == old else at: value for at, value in row.items()} for row in rows]
        self.tables[name] = replace(entity, fields=fields), renamed

    def link_values(self) -> None:
        """Name the values of maps from keys to keys after the records that they are: `assignments: {van-1: D7}`."""
        for name in self.maps & self.tables.keys():
            entity, rows = self.tables[name]
            word = next((at for at in entity.fields if at != entity.key), "")
            values = {value for row in rows if isinstance(value := row.get(word), str)}
            is_text = all(isinstance(row.get(word), str | None) for row in rows)
            target = self._owner_of(values) if len(entity.fields) == 2 and values and is_text else None
            key_owner = self._owner_of({str(row[entity.key]) for row in rows})
            if target is None or target.name in {name, entity.key}:
                continue
            link = target.key if target.key not in {NAME, "id"} else f"{target.name}_{target.key}"
            fields = {at if at != word else link: field for at, field in entity.fields.items()}
            fields[link] = replace(fields[link], name=link, link=target.name)
            linked: list[Record] = [{at if at != word else link: held for at, held in row.items()} for row in rows]
            self.tables[name] = replace(entity, fields=fields), linked
            self.memberships[name] = Membership({entity.key: key_owner.name if key_owner else "", link: target.name})

    def _owner_of(self, keys: AbstractSet[str]) -> Entity | None:
        """Return the only entity whose records have all these keys: not a list of keys where records have more."""
        owners = [entity for entity, rows in self.tables.values() if keys <= {str(row.get(entity.key)) for row in rows}]
        owners = [entity for entity in owners if len(entity.fields) > 1] or owners
        return owners[0] if len(owners) == 1 else None

    def link_parents(self) -> None:
        """Add the parents of rows to them as fields."""
        for name, rows in self.parents.items():
            levels = [rows.parents(level) for level in reversed(range(rows.levels))]
            for parents in sorted(levels, key=lambda parents: self._parent_entity(name, {*parents}) is None):
                self._add_parent(name, parents)
            if rows.plain and not rows.keyed:
                self._link_members(name)

    def count_on(self) -> None:
        """Have new ids follow the counters of the state: `order_counter: 1204`, `next_order_id: 1204`."""
        numbers = [(snake(name), value) for single in self.singles.values() for name, value in single.items()]
        for name, following in numbers:
            match = COUNTER.fullmatch(name)
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
        """Add a field with the parent of each row, unless one has it, or the rows are parts of other records by now."""
        entity, records = self.tables[name]
        if len(records) != len(parents):
            return
        texts = [
            {word: str(value) for word, value in row.items() if not isinstance(value, dict | list)} for row in records
        ]
        repeated = (
            word for word in entity.fields if all(row.get(word) == at for row, at in zip(texts, parents, strict=True))
        )
        known, target = next(repeated, None), self._parent_entity(name, {*parents})
        if known is not None:
            self.links[name].add(known)
            fields = {**entity.fields, known: replace(entity.fields[known], link=target.name if target else None)}
            self.tables[name] = replace(entity, fields=fields), records
            return
        link = self._link_name(entity, target)
        self.links[name].add(link)
        held = {str(row[target.key]): row[target.key] for row in self.tables[target.name][1]} if target else {}
        numbered = outer_keys(parents, are_numbers=link in self.nouns.numbers)
        values: list[Json] = [held.get(at, number) for at, number in zip(parents, numbered, strict=True)]
        is_whole = target is not None and all(at in held for at in parents)
        schema: Record = {"type": type_name(values[0])}
        named = Field(link, schema, required=True, link=target.name if target is not None and is_whole else None)
        linked: list[Record] = [{**row, link: value} for row, value in zip(records, values, strict=True)]
        self.tables[name] = replace(entity, fields={**entity.fields, link: named}), linked

    def _link_members(self, name: str) -> None:
        """Name the members of a membership after their entity, and link them to it."""
        entity, records = self.tables[name]
        target = self._parent_entity(name, {str(row[NAME]) for row in records if NAME in row})
        others = self.nouns.entered.get(name, frozenset()) - {*entity.fields}
        if NAME not in entity.fields or (target.name in entity.fields if target is not None else len(others) != 1):
            return
        own = target.key if target is not None and target.key not in {NAME, "id", *entity.fields} else None
        word, link = (next(iter(others)), None) if target is None else (own or target.name, target.name)
        fields = {word if at == NAME else at: field for at, field in entity.fields.items()}
        fields[word] = replace(fields[word], name=word, link=link)
        renamed: list[Record] = [{word if at == NAME else at: value for at, value in row.items()} for row in records]
        parents = [field for at, field in fields.items() if at not in {word, entity.key}]
        whole, numbers = replace(entity, fields=fields), [*range(1, len(records) + 1)]
        is_key = entity.key == NAME  # a name may be with several parents later
        self.tables[name] = with_outer_keys(whole, None, numbers, renamed) if is_key else (whole, renamed)
        if len(parents) == 1:
            self.memberships[name] = Membership({word: link or "", parents[0].name: parents[0].link or ""})

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
        others = {other.key for other, _ in self.tables.values() if other != target} - {NAME, "id"}
        asked = (name for name in self.nouns.asked.get(entity.name, ()) if name not in entity.fields)
        free = [name for name in asked if name not in others]  # no halls are under the `username` of who asks
        if target is not None:
            nouns = (target.name, target.name.rsplit("_", 1)[-1])
            names = [*(f"{noun}_{ending}" for noun in nouns for ending in ENDINGS), *nouns, target.key]
            names = [name for name in names if name != "id"]  # the id of a row is its own
            named = next((name for name in (*free, *names) if name in names and name in self.nouns.arguments), None)
            name = named or next(iter(free), None) or f"{target.name}_{target.key.removeprefix(f'{target.name}_')}"
        else:
            name = next(iter(free), "parent")
        return name if name not in entity.fields else f"parent_{name}"

    def _holds_parts(self, name: str, inner: Mapping[str, Record]) -> bool:
        """Whether an object holds parts of the state rather than rows: objects of objects, or what tools mention.

        Under the name of a collection, only collections are such parts.
        """
        keys = [key for key in islice(inner, MOST_NAMES) if is_collection(key) or not is_collection(name)]
        named = any(self.nouns.includes(key) or snake(key) in _FACTS for key in keys)
        deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
        is_table = is_collection(name) and self.nouns.includes(name) and have_common_fields([*inner.values()])
        return named or (deep and any(inner.values()) and not is_table)

    def _is_scope(self, name: str, inner: Record) -> bool:
        """Whether an object is an entity or a part of the state, not a field of the object around it."""
        if all(isinstance(value, list) for value in inner.values()):
            has_rows = any(isinstance(item, dict) for value in inner.values() for item in as_list(value))
            return has_rows or any(map(self.nouns.includes, inner))
        nested = sum(isinstance(value, dict | list) for value in inner.values())
        is_named = last_word(name) in _DETAILS or self.nouns.includes(name) or not _BALANCES.isdisjoint(inner)
        return is_named or nested == len(inner) or (nested > 0 and len(inner) > 1)
