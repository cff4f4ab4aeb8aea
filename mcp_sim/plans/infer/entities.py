"""Entities with their fields, keys and links; which of them are open.

An entity is closed if the scenario or the spec specifies its records, if tools create them, or if they delete what they
list. Every other entity whose records tools name is open: what is asked of it exists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.plans.infer.arguments import GENERAL_KEYS, QUERIES, key_argument
from mcp_sim.plans.infer.entity_keys import is_own_key, key_like
from mcp_sim.plans.infer.features import ToolFeatures, group_by_entity
from mcp_sim.plans.infer.filters import narrowing_choices
from mcp_sim.plans.infer.given_state import Given
from mcp_sim.plans.infer.names import last_nouns
from mcp_sim.plans.infer.roles import Roles
from mcp_sim.plans.infer.state_tables import identifies
from mcp_sim.plans.infer.states import find_creation_time, with_initial_value
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    at,
    constants,
    items,
    main_type,
    properties,
    required,
    types_of,
)
from mcp_sim.types.json_values import is_key
from mcp_sim.types.lexicon.english import is_id, last_word, noun_of_id, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import RECORDLESS
from mcp_sim.types.record_kinds.usual_fields import usual_fields
from mcp_sim.types.result_schemas import text_place
from mcp_sim.types.scenario import Example

_ONE = frozenset({"get", "update", "delete"})


@frozen
class EntityBuilder:
    """All that entities are built from."""

    feature_list: Sequence[ToolFeatures]
    roles: Mapping[str, Roles]
    fields: Mapping[str, Mapping[str, Field]]
    keys: Mapping[str, str]
    declared: Mapping[str, Entity]
    examples: Sequence[Example]
    given: Given
    opened: Container[str]
    """The open entities."""

    def build(self) -> dict[str, Entity]:
        """Return the entities that the tools mention."""
        groups = group_by_entity(self.feature_list)
        keys = {name: parts[self.keys[name]] for name, parts in self.fields.items()}
        return {name: self._entity(name, groups[name], keys) for name in self.fields}

    def _entity(self, name: str, mine: Sequence[ToolFeatures], keys: Mapping[str, Field]) -> Entity:
        declared, key = self.declared.get(name, Entity(name)), self.keys[name]
        is_whole = self._is_whole(declared)
        known = declared.fields if is_whole else self._fields(name, mine, keys)
        rows = () if declared.singleton else self.given.records.get(name, ())
        fields = {
            field.name: with_initial_value(field, rows, mine, is_key=field.name == key) for field in known.values()
        }
        is_open = declared.open or name in self.opened
        if is_whole:
            return replace(declared, fields=fields, open=is_open)
        like = key_like(declared, fields[key], self._seen_keys(name, mine))
        is_natural = declared.natural or self._is_key_chosen(key, mine)
        return replace(declared, key=key, key_like=like, fields=fields, natural=is_natural, open=is_open, inside=None)

    def _is_whole(self, declared: Entity) -> bool:
        """Whether a declaration has all fields of an entity: it is nested, or a singleton without other evidence."""
        known = {*declared.fields, declared.key, "name"}
        return declared.inside is not None or (declared.singleton and self.fields[declared.name].keys() <= known)

    def _fields(self, name: str, mine: Sequence[ToolFeatures], keys: Mapping[str, Field]) -> dict[str, Field]:
        """Return the fields with links and choices: in the order of given records, else the key first.

        A record that is only a key also has a name.
        """
        key, rows = self.keys[name], self.given.records.get(name, ())
        linked = [
            replace(
                field,
                link=link_of(name, field, keys),
                link_is_guessed=not rows if field.link is None else field.link_is_guessed,
            )
            if field.name != key or not is_own_key(name, key)
            else field
            for field in self.fields[name].values()
        ]
        if key != "name" and not rows and all(field.name == key or field.link is not None for field in linked):
            linked.append(Field("name", {"type": "string"}, required=True))
        linked = [field if self._is_resolved(field, rows) else replace(field, link=None) for field in linked]
        choices = self._listed_choices(mine)
        whole = {field.name: _with_choices(field, choices.get(field.name, ()), rows) for field in linked}
        creation = find_creation_time(mine, whole) if name not in self.declared else {}
        fields = {
            key: replace(whole[key], required=True),
            **{n: field for n, field in whole.items() if n != key},
            **creation,
        }
        given = self.given.entities[name].fields if name in self.given.entities else ()
        return {field: fields[field] for field in dict.fromkeys((*given, *fields)) if field in fields}

    def _is_resolved(self, field: Field, rows: Sequence[Record]) -> bool:
        """Whether the values in the given records are keys of given records that they link to."""
        if field.link is None or field.link not in self.given.records:
            return not rows
        there = {row.get(self.keys[field.link]) for row in self.given.records[field.link]}
        return all(isinstance(value, str | int) and value in there for value in values_in(rows, field.name))

    def _listed_choices(self, mine: Sequence[ToolFeatures]) -> dict[str, list[Json]]:
        """Return the choices of the arguments that set or filter fields, by field."""
        listed_choices: dict[str, list[Json]] = {}
        for features in mine:
            roles = self.roles[features.tool.id]
            for path, name in (*roles.sets.items(), *((path, value.field) for path, value in roles.filters.items())):
                choices = narrowing_choices(at(features.input, path))
                if len(choices) > 1:
                    listed_choices.setdefault(name, choices)
        return listed_choices

    def _is_key_chosen(self, key: str, mine: Sequence[ToolFeatures]) -> bool:
        """Whether the callers who create a record choose its key."""
        creates = [features for features in mine if features.verb == "create"]
        return key in [
            self.roles[create.tool.id].sets.get(path, "") for create in creates for path in required(create.input)
        ]

    def _seen_keys(self, name: str, mine: Sequence[ToolFeatures]) -> list[Key]:
        """Return the ids of the entity that occur in examples of its tools."""
        by_name = {features.tool.name: features for features in mine if features.verb not in RECORDLESS}
        by_name |= {features.tool.id: features for features in by_name.values()}
        shown = ((by_name[example.tool], example) for example in self.examples if example.tool in by_name)
        values = [
            value for features, example in shown for value in _keys_of_example(name, self.keys[name], features, example)
        ]
        return [value for value in values if is_key(value)]


def with_fractions(
    entities: Mapping[str, Entity],
    names: Container[str],
    feature_list: Sequence[ToolFeatures],
    roles: Mapping[str, Roles],
) -> dict[str, Entity]:
    """Return the entities; whole numbers in given records of those with these names are numbers where tools say so.

    A price of 30 may become 29.5 if an argument that sets it, or a result that shows it, is a `number`.
    """
    groups = group_by_entity(feature_list)

    def widened(entity: Entity) -> Entity:
        fields = dict(entity.fields)
        for features in groups.get(entity.name, ()):
            shown = {name: schema for name, schema in properties(features.shape).items() if name in fields}
            entered = {field: at(features.input, path) for path, field in roles[features.tool.id].sets.items()}
            for name in (name for parts in (shown, entered) for name in parts if main_type(parts[name]) == "number"):
                if name in fields and "integer" in types_of(fields[name].schema):
                    types = [kind for kind in types_of(fields[name].schema) if kind not in {"integer", "number"}]
                    schema = {**fields[name].schema, "type": ["number", *types] if types else "number"}
                    fields[name] = replace(fields[name], schema=schema)
        return replace(entity, fields=fields)

    return {name: widened(entity) if name in names else entity for name, entity in entities.items()}


def _keys_of_example(entity: str, key: str, features: ToolFeatures, example: Example) -> Iterator[Json]:
    name, score = key_argument(features.verb, entity, key, features.input)
    if name is not None and score >= 2 and features.verb in _ONE:
        yield example.arguments.get(name)
    if features.envelope.record == "":
        yield as_object(example.result).get(key)


def _with_choices(field: Field, choices: Sequence[Json], rows: Sequence[Record]) -> Field:
    """Return a text field with these choices and the values of given records, unless it is limited otherwise."""
    bound = field.schema.keys() & {"format", "pattern", "enum", "const"}
    if not choices or bound or field.link or main_type(field.schema) != "string":
        return field
    held = (row[field.name] for row in rows if isinstance(row.get(field.name), str))
    return replace(field, schema={**field.schema, "enum": [*dict.fromkeys([*choices, *held])]})


_OF_KEYS = frozenset({"string", "integer", "number"})
"""Types of keys."""

_PREFIXED = re.compile(r"\^?[A-Za-z]{2,}[_-]")
"""The beginning of a pattern of keys that only records of one kind have."""

_ID = re.compile(r"\b(?:id|ID|identifier)\b")


def link_of(entity: str, field: Field, keys: Mapping[str, Field]) -> str | None:
    """Return the entity that a field of an entity refers to, by its name: `project_id`, `parent_id`, `tag_ids`.

    So does `project` if its description says that it is an id. `keys` has the key of every entity.
    """
    many = main_type(field.schema) == "array" and snake(field.name).endswith("_ids")
    schema = items(field.schema) if many else field.schema
    stem = _referred_noun(snake(field.name).removesuffix("s") if many else snake(field.name), schema, keys)
    if field.link is not None:
        return field.link
    of_pattern = _keyed_by_pattern(items(field.schema) or field.schema, keys)
    if of_pattern is not None or stem in {entity, ""}:
        return of_pattern if of_pattern != entity else None
    nouns = ("_".join(noun) for noun in last_nouns(tuple(stem.split("_"))))
    stems = (entity.removeprefix("sub"), entity) if stem == "parent" else (stem, *nouns)
    target = next((candidate for candidate in stems if candidate in keys), None)
    if target is not None and len({_pattern(schema), _pattern(keys[target].schema)} - {""}) > 1:
        return None  # keys have another form: the number that a carrier gives a campaign
    kinds = {main_type(schema), main_type(keys[target].schema)} - {""} if target is not None else set[str]()
    return target if len(kinds) < 2 and kinds <= _OF_KEYS and not constants(schema) else None


def _keyed_by_pattern(schema: Record, keys: Mapping[str, Field]) -> str | None:
    """Return the only entity whose keys have the pattern of a field, if that has a prefix: `^card_[a-zA-Z0-9]+$`."""
    pattern = _pattern(schema)
    if not _PREFIXED.match(pattern):  # nearly always: not all keys are looked at for each field
        return None
    matching = [name for name, key in keys.items() if key.schema.get("pattern") == pattern]
    return matching[0] if len(matching) == 1 else None


def _pattern(schema: Record) -> str:
    return str(schema.get("pattern", ""))


def _referred_noun(name: str, schema: Record, keys: Mapping[str, Field]) -> str:
    is_id = name in keys and _ID.search(str(schema.get("description", "")))
    stem, _, ending = name.rpartition("_")
    is_key = stem in keys and ending == snake(keys[stem].name) != "name"
    return name if is_id else stem if is_key else noun_of_id(name)


def key_as_referred(given: Given) -> Given:
    """Return a given state where records under their names that others refer to by an id have this as their key.

    Messages may name the `user_id` of users who are under their names, as the `sender_id`.
    """
    rows = [(name, row) for name, held in given.records.items() for row in held]
    used = {(name, value) for name, row in rows for at, value in row.items() if is_id(snake(at)) and is_key(value)}
    keyed = dict[str, Entity]()
    for name, entity in given.entities.items():
        key, held = f"{name}_id", given.records.get(name, ())
        is_named = last_word(entity.key) == "name" and key in entity.fields and identifies(key, held)
        ids = {row[key] for row in held} if is_named else set[Json]()
        if any(value in ids for other, value in used if other != name):
            keyed[name] = replace(entity, key=key, key_like=held[-1][key], natural=False)
    return replace(given, entities={**given.entities, **keyed}) if keyed else given


def with_shared_keys(given: Given) -> Given:
    """Return a given state where a map has the key of the only table with all its keys: the `username` of a wallet."""
    tables = {name: entity for name, entity in given.entities.items() if name in given.records and not entity.singleton}
    keys = {name: {str(row.get(entity.key)) for row in given.records[name]} for name, entity in tables.items()}
    shown = {name for name, entity in tables.items() if entity.key in entity.fields}
    bare = {name: entity for name, entity in tables.items() if name in shown
            and (entity.key == "name" or entity.fields[entity.key].hidden)}  # fmt: skip
    entities, records = dict(given.entities), dict(given.records)
    for name, entity in bare.items():
        are_names = bool(keys[name]) and not any(map(str.isdecimal, keys[name]))  # rows that count name no account
        owners = [tables[at] for at in shown - bare.keys() if are_names and keys[name] <= keys[at]]
        key = owners[0].key if len(owners) == 1 else "id"
        if key == "id" or key in entity.fields or given.parents.get(name):
            continue
        fields = {key if at == entity.key else at: field for at, field in entity.fields.items()}
        fields[key] = replace(fields[key], name=key, hidden=False)
        entities[name] = replace(entity, key=key, fields=fields)
        records[name] = [
            {key if at == entity.key else at: value for at, value in row.items()} for row in given.records[name]
        ]
    return replace(given, entities=entities, records=records)


def link_given_keys(declared: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> dict[str, Entity]:
    """Link the fields that are named after another entity, or as its key, and hold its keys: `dog_ids`, `sku`.

    A list of names may consist of such keys.
    """
    values = {name: [row.get(declared[name].key) for row in rows] for name, rows in held.items() if name in declared}
    keys = {name: {key for key in listed if isinstance(key, str | int)} for name, listed in values.items()}
    named = {name: declared[name].key for name in keys if not declared[name].singleton}
    counts = Counter(named.values())
    named = {name: key for name, key in named.items() if counts[key] == 1 and snake(key) not in GENERAL_KEYS}
    return {name: _link_entity(entity, held.get(name, ()), keys, named) for name, entity in declared.items()}


def _link_entity(
    entity: Entity, rows: Sequence[Record], keys: Mapping[str, Collection[Json]], named: Mapping[str, str]
) -> Entity:
    fields = dict[str, Field]()
    for name, field in entity.fields.items():
        if field.link is None and not entity.singleton and (name != entity.key or _is_list_of_names(entity)):
            target, is_guessed = _held_target(entity, field, rows, keys, named)
            fields[name] = replace(field, link=target, link_is_guessed=is_guessed)
    return replace(entity, fields={**entity.fields, **fields})


def _is_list_of_names(entity: Entity) -> bool:
    """Whether the records are only names, which may be keys of others: `saved_flats: [f1, f7]`."""
    return entity.natural and [*entity.fields] == [entity.key]


def _held_target(
    entity: Entity,
    field: Field,
    rows: Sequence[Record],
    keys: Mapping[str, Collection[Json]],
    named: Mapping[str, str],
) -> tuple[str | None, bool]:
    """Return the entity that a field is named after, or whose key, and whose keys it holds; and whether it is a guess.

    `named` are the keys that only one entity has. An id under another name, such as `sender_id`, may refer to the only
    entity with all its values.
    """
    values = [*values_in(rows, field.name)]
    holding = [name for name in keys if values and all(_is_issued(value, keys[name]) for value in values)]
    others = [name for name in holding if name != entity.name]
    meant = (name for name in others if _refers_to(field.name, name) or field.name == named.get(name))
    by_values = others if len(holding) == 1 and is_id(snake(field.name)) and isinstance(values[0], str) else []
    target = next(meant, None)
    return target or next(iter(by_values), None), target is None and bool(by_values)


def _refers_to(field: str, entity: str) -> bool:
    """Whether a field is named after an entity, with or without a word like `id` at the end."""
    stem, own = words(singular_phrase(words(field))), words(entity)
    return own in {stem[-len(own) :], stem[-len(own) - 1 : -1]}


def _is_issued(value: Json, keys: Collection[Json]) -> bool:
    """Whether a value is a key with digits, not a word that anyone may choose."""
    return is_key(value) and value in keys and any(letter.isdigit() for letter in str(value))


def values_in(rows: Iterable[Record], field: str) -> Iterator[Json]:
    """Yield the values of a field in rows, those of lists one by one, and none for null."""
    for value in (row.get(field) for row in rows):
        yield from as_list(value) if isinstance(value, list) else [] if value is None else [value]


# open entities --------------------------------------------------------------------------------------------------------

_READS, _LISTS = frozenset({"get", "list", "search"}), frozenset({"list", "search"})
_NAMING = _READS | {"update", "delete"}
_NAMES = ("title", "name")
_PLACES = terms("arguments.place")


def find_open_entities(feature_list: Sequence[ToolFeatures], specified: Container[str]) -> dict[str, dict[str, Field]]:
    """Return the open entities, each with the fields that such records usually have where no result shows any.

    `specified` are the entities whose records or fields are given or declared.
    """
    groups = group_by_entity(features for features in feature_list if features.verb not in RECORDLESS)
    return {name: _usual(mine) for name, mine in groups.items() if name not in specified and _is_open(mine)}


def _is_open(feature_list: Sequence[ToolFeatures]) -> bool:
    """Whether the tools of an entity name its records, and none creates them, nor lists those that it deletes.

    What they name by a file or a URL alone may exist although a tool can create it, too. A chart in a file may not.
    """
    verbs = {features.verb for features in feature_list}
    is_issued = "create" in verbs or ("delete" in verbs and bool(_LISTS & verbs))
    asked = [{*map(snake, required(features.input))} for features in feature_list]
    names = [name for needed in asked for name in needed - _PLACES if is_id(name) or name.endswith(_NAMES)]
    is_outside = not names and not any(map(_PLACES.isdisjoint, asked))
    is_open = (is_outside or not is_issued) and bool(_NAMING & verbs)
    return is_open and all(features.singleton is None for features in feature_list)


def _usual(feature_list: Sequence[ToolFeatures]) -> dict[str, Field]:
    """Return the usual fields of an entity, with a text that the words of a search can occur in."""
    reads = [features for features in feature_list if features.verb in _READS]
    if any(map(_shows_fields, reads)):
        return {}
    schemas: dict[str, Record] = {}
    for features in reads:
        schemas = {**usual_fields(features.tool.name, features.tool.description), **schemas}
    takes_query = any(snake(name) in QUERIES for features in reads for name in properties(features.input))
    if not schemas or (takes_query and schemas.keys().isdisjoint(_NAMES)):
        schemas = {"name": {"type": "string"}, **schemas}
    if schemas.keys() <= {*_NAMES}:
        schemas["description"] = {"type": "string"}
    return {name: Field(name, schema, required=True) for name, schema in schemas.items()}


def _shows_fields(features: ToolFeatures) -> bool:
    """Whether a result schema describes more than a text."""
    tool = features.tool
    return bool(properties(features.shape)) or (tool.output_schema is not None and text_place(tool) is None)


def with_usual_fields(entities: Mapping[str, Entity], feature_list: Sequence[ToolFeatures]) -> dict[str, Entity]:
    """Return the entities, with usual fields for unknown singletons."""
    groups = group_by_entity(features for features in feature_list if features.verb in _READS)
    bare = [
        entity for entity in entities.values() if entity.singleton and entity.fields.keys() <= {entity.key, *_NAMES}
    ]
    usual = {entity.name: _usual(groups.get(entity.name, ())) for entity in bare}
    return {name: replace(entity, fields=usual.get(name) or entity.fields) for name, entity in entities.items()}
