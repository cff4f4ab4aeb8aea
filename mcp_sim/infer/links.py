"""Links between entities, found by field names and by the keys that given rows hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.names import last_nouns
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, items, main_type
from mcp_sim.types.lexicon.english import singular_phrase, snake, vocabulary, words

_NOT_LINKS = frozenset({"external", "request", "client", "session", "trace", "message"})
_IF_KNOWN = frozenset({"request", "client"})
"""Names of `_NOT_LINKS` that are links if tools mention such records."""

_REFERRING = vocabulary("id reference ref key code number no uuid guid")


class Targets:
    """The entities that fields may link to. `keys` has the key schema of every entity."""

    def __init__(self, keys: Mapping[str, Record]) -> None:
        self.keys = keys
        self._by_ending: dict[str, str] = {}
        for name in sorted(keys, key=len, reverse=True):
            for ending in _endings(name.partition("_")[2]):
                self._by_ending.setdefault(ending, name)

    def named(self, stem: str) -> str | None:
        """Return the entity that a name ends with, or else the longest one that ends with the name."""
        whole = stem if stem in self.keys else None
        return whole or next((one for one in _endings(stem) if one in self.keys), None) or self._by_ending.get(stem)


def _endings(name: str) -> Iterator[str]:
    """Yield the nouns that a name ends with, the longest first."""
    return ("_".join(noun) for noun in last_nouns(tuple(name.split("_"))))


def add_links(entity: str, fields: Mapping[str, Field], targets: Targets) -> dict[str, Field]:
    """Add the links that field names imply."""
    return {name: _with_link(entity, field, targets) for name, field in fields.items()}


def _with_link(entity: str, field: Field, targets: Targets) -> Field:
    if field.link is not None:
        return field
    target = _link_target(entity, snake(field.name), field.schema, targets)
    return field if target is None else replace(field, link=target)


def _link_target(entity: str, name: str, schema: Record, targets: Targets) -> str | None:
    if main_type(schema) == "array" and name.endswith("_ids"):
        name, schema = name.removesuffix("s"), items(schema)
    stem = name.removesuffix("_id")
    if stem in {name, entity, ""}:
        return None
    found = _named_target(entity, stem, targets)
    return found if found is not None and _same_type(schema, targets.keys[found]) else None


def _named_target(entity: str, stem: str, targets: Targets) -> str | None:
    if stem == "parent" and entity in targets.keys:
        whole = entity.removeprefix("sub")
        return whole if whole in targets.keys else entity
    is_other = stem in _NOT_LINKS and not (stem in _IF_KNOWN and stem in targets.keys)
    return None if is_other else targets.named(stem)


def _same_type(schema: Record, key: Record) -> bool:
    mine, other = main_type(schema), main_type(key)
    return not mine or not other or mine == other


def link_given_keys(declared: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> dict[str, Entity]:
    """Link lists and fields that are named after another entity and hold its keys."""
    values = {name: [row.get(declared[name].key) for row in rows] for name, rows in held.items() if name in declared}
    keys = {name: {one for one in listed if isinstance(one, str | int)} for name, listed in values.items()}
    return {name: _link_entity(entity, held.get(name, ()), keys) for name, entity in declared.items()}


def _link_entity(entity: Entity, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]) -> Entity:
    if entity.singleton:
        return entity
    fields = entity.fields.items()
    linked = {name: replace(field, link=_held_target(entity, field, rows, keys)) for name, field in fields}
    return replace(entity, fields=linked)


def _held_target(
    entity: Entity, field: Field, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]
) -> str | None:
    """Return the entity that a field is named after and whose keys it holds: `customer_reference`, `dog_ids`."""
    if field.link is not None or field.name == entity.key:
        return field.link
    values = [one for row in rows for one in _as_list(row.get(field.name))]
    named = (name for name in keys if name != entity.name and _refers_to(field.name, name))
    return next((name for name in named if values and all(_is_issued(one, keys[name]) for one in values)), None)


def _refers_to(field: str, entity: str) -> bool:
    """Whether a field is named after an entity, with or without a word like `id` at the end."""
    stem, own = words(singular_phrase(words(field))), words(entity)
    stem = stem[:-1] if len(stem) > 1 and stem[-1] in _REFERRING else stem
    return own == stem[-len(own) :]


def _is_issued(value: Json, keys: Collection[Json]) -> bool:
    """Whether a value is a key with digits, not a word that anyone may choose."""
    is_key = isinstance(value, str | int) and not isinstance(value, bool) and value in keys
    return is_key and any(letter.isdigit() for letter in str(value))


def _as_list(value: Json) -> list[Json]:
    return as_list(value) if isinstance(value, list) else [] if value is None else [value]
