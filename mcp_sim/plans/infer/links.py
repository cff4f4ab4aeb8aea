"""Links between entities, found by field names and by the keys that given rows hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.plans.infer.names import last_nouns
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, constants, items, main_type
from mcp_sim.types.lexicon.english import noun_of_id, singular_phrase, snake, words

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


def link_given_keys(declared: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> dict[str, Entity]:
    """Link the fields that are named after another entity and hold its keys: `customer_reference`, `dog_ids`."""
    values = {name: [row.get(declared[name].key) for row in rows] for name, rows in held.items() if name in declared}
    keys = {name: {key for key in listed if isinstance(key, str | int)} for name, listed in values.items()}
    return {name: _link_entity(entity, held.get(name, ()), keys) for name, entity in declared.items()}


def _link_entity(entity: Entity, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]) -> Entity:
    fields = {
        name: replace(field, link=_held_target(entity, field, rows, keys))
        for name, field in entity.fields.items()
        if field.link is None and name != entity.key and not entity.singleton
    }
    return replace(entity, fields={**entity.fields, **fields})


def _held_target(
    entity: Entity, field: Field, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]
) -> str | None:
    """Return the entity that a field is named after and whose keys it holds."""
    values = [*values_in(rows, field.name)]
    named = (name for name in keys if name != entity.name and _refers_to(field.name, name))
    return next((name for name in named if values and all(_is_issued(value, keys[name]) for value in values)), None)


def _refers_to(field: str, entity: str) -> bool:
    """Whether a field is named after an entity, with or without a word like `id` at the end."""
    stem, own = words(singular_phrase(words(field))), words(entity)
    return own in {stem[-len(own) :], stem[-len(own) - 1 : -1]}


def _is_issued(value: Json, keys: Collection[Json]) -> bool:
    """Whether a value is a key with digits, not a word that anyone may choose."""
    is_key = isinstance(value, str | int) and not isinstance(value, bool) and value in keys
    return is_key and any(letter.isdigit() for letter in str(value))


def values_in(rows: Iterable[Record], field: str) -> Iterator[Json]:
    """Yield the values of a field in rows, those of lists one by one, and none for null."""
    for value in (row.get(field) for row in rows):
        yield from as_list(value) if isinstance(value, list) else [] if value is None else [value]
