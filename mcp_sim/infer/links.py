"""Links between entities, found by field names and by the keys that given rows hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.names import last_nouns
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, constants, is_nullable, items, main_type
from mcp_sim.types.lexicon.english import plural, singular_phrase, snake, vocabulary, words

_PERSON_ROLES = vocabulary(
    "owner assignee author creator user reporter reviewer manager sender recipient assigned_to created_by updated_by "
    "approver member requester"
)
_OF_OTHERS = vocabulary("owner assignee author user sender recipient member requester")
"""Roles of people in records that are not people: the owner of an account is not an account."""

_PEOPLE = ("user", "member", "employee", "person", "agent", "account", "profile")
_NOT_LINKS = frozenset({"external", "request", "client", "session", "trace", "message"})
_IF_KNOWN = frozenset({"request", "client"})
"""Names of `_NOT_LINKS` that are links if tools mention such records."""

_REFERRING = vocabulary("reference ref key code number no uuid guid")


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
    linked = {name: _with_link(entity, field, targets) for name, field in fields.items()}
    by_name = {snake(name): name for name in linked}
    return {name: _with_derivation(field, linked, by_name) for name, field in linked.items()}


def _with_link(entity: str, field: Field, targets: Targets) -> Field:
    if field.link is not None:
        return field
    target = _link_target(entity, snake(field.name), field.schema, targets)
    return field if target is None else replace(field, link=target)


def _link_target(entity: str, name: str, schema: Record, targets: Targets) -> str | None:
    keys = targets.keys
    many = main_type(schema) == "array"
    if many and name.endswith("_ids"):
        name, schema = name.removesuffix("s"), items(schema)
    if not name.endswith("_id"):
        return _person_target(entity, name, schema, keys) if name in _PERSON_ROLES else None
    stem = name.removesuffix("_id")
    if stem in {entity, "", *_NOT_LINKS} and not (stem in _IF_KNOWN and stem in keys and stem != entity):
        return None
    if stem == "parent" and entity in keys:
        whole = entity.removeprefix("sub")
        above = whole if whole in keys else entity
        return above if _same_type(schema, keys[above]) else None
    found = targets.named(stem)
    if found is None:
        return _person_target(entity, stem, schema, keys)
    return found if _same_type(schema, keys[found]) else None


def _person_target(entity: str, name: str, schema: Record, keys: Mapping[str, Record]) -> str | None:
    """Return the entity of people for `owner_id` and the like, if the ids have the same type."""
    if name not in _PERSON_ROLES or constants(schema) or (not name.endswith("_by") and "format" in schema):
        return None
    people = next((one for one in _PEOPLE if one in keys and not (one == entity and name in _OF_OTHERS)), None)
    is_id = people is not None and _same_type(schema, keys[people])
    return people if is_id and schema.get("pattern") == keys[people or ""].get("pattern") else None


def _same_type(schema: Record, key: Record) -> bool:
    mine, other = main_type(schema), main_type(key)
    return not mine or not other or mine == other


def _with_derivation(field: Field, fields: Mapping[str, Field], by_name: Mapping[str, str]) -> Field:
    """Derive `company_name` and `company: {...}` from `company_id`."""
    name = snake(field.name)
    if field.link is not None or field.derived is not None:
        return field
    if main_type(field.schema) == "object" and f"{name}_id" in by_name:
        link = fields[by_name[f"{name}_id"]]
        return replace(field, derived=f"{link.name}.") if _is_always_known(field, link) else field
    for ending in ("name", "title", "email"):
        link = fields.get(by_name.get(f"{name.removesuffix('_' + ending)}_id", ""))
        if name.endswith("_" + ending) and link is not None and _is_always_known(field, link):
            return replace(field, derived=f"{link.name}.{ending}")
    return field


def _is_always_known(field: Field, link: Field) -> bool:
    """Whether the linked record exists whenever the field must be shown."""
    certain = link.required and not is_nullable(link.schema)
    return link.link is not None and (certain or not field.required or is_nullable(field.schema))


def links_by_target(fields: Mapping[str, Mapping[str, Field]]) -> dict[str, list[tuple[str, Field]]]:
    """Return the fields that link to one record of an entity, each with its own entity."""
    found: dict[str, list[tuple[str, Field]]] = {}
    for entity, parts in fields.items():
        for field in parts.values():
            if field.link is not None and main_type(field.schema) != "array":
                found.setdefault(field.link, []).append((entity, field))
    return found


def add_counts(fields: Mapping[str, Field], links: Sequence[tuple[str, Field]]) -> dict[str, Field]:
    """Derive fields that count the records of another entity: `contact_count`, `num_contacts`.

    `links` lead to this entity.
    """
    counts = {
        name: f"#{other}.{link.name}"
        for other, link in links
        for name in (f"{other}_count", f"{plural(other)}_count", f"num_{plural(other)}", f"{other}s_count")
    }
    return {
        name: replace(field, derived=counts[snake(name)])
        if snake(name) in counts and main_type(field.schema) == "integer"
        else field
        for name, field in fields.items()
    }


def link_given_keys(declared: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> dict[str, Entity]:
    """Link lists and fields that are named after another entity and hold its keys."""
    values = {name: [row.get(declared[name].key) for row in rows] for name, rows in held.items() if name in declared}
    keys = {name: {one for one in listed if isinstance(one, str | int)} for name, listed in values.items()}
    return {name: _link_entity(entity, held.get(name, ()), keys) for name, entity in declared.items()}


def _link_entity(entity: Entity, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]) -> Entity:
    found = {
        name: replace(field, link=target)
        for name, field in entity.fields.items()
        if (target := _listed_target(field, rows, keys) or _named_target(entity, field, rows, keys)) is not None
    }
    return replace(entity, fields={**entity.fields, **found}) if found and not entity.singleton else entity


def _listed_target(field: Field, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]) -> str | None:
    parts = words(field.name.removesuffix("_ids").removesuffix("Ids"))
    target = singular_phrase(parts) if parts else ""
    if field.link is not None or main_type(field.schema) != "array" or target not in keys:
        return None
    lists = [row[field.name] for row in rows if row.get(field.name) is not None]
    values = [value for listed in lists for value in as_list(listed)]
    there = keys[target]
    is_resolved = all(isinstance(listed, list) for listed in lists) and all(
        isinstance(value, str | int) and value in there for value in values
    )
    return target if is_resolved and main_type(items(field.schema)) != "object" else None


def _named_target(
    entity: Entity, field: Field, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]
) -> str | None:
    """Return the target of `customer_reference` or `customer`, if customers have such numbers."""
    parts = words(field.name)
    stem = parts[:-1] if len(parts) > 1 and parts[-1] in _REFERRING else parts
    target = next((name for name in keys if name != entity.name and words(name) == stem[-len(words(name)) :]), None)
    if field.link is not None or target is None or field.name == entity.key or not is_single_valued(field):
        return None
    values = [row[field.name] for row in rows if row.get(field.name) is not None]
    is_resolved = all(isinstance(value, str | int) and value in keys[target] for value in values)
    return target if values and is_resolved and all(map(_has_digits, values)) else None


def _has_digits(value: Json) -> bool:
    """Whether a value is an issued number, not a word that anyone may choose."""
    return not isinstance(value, bool) and any(letter.isdigit() for letter in str(value))


def is_single_valued(field: Field) -> bool:
    """Whether a field holds one value, not a list."""
    return main_type(field.schema) != "array"
