"""Which fields does an entity have, which of them is its key, what do they link to, and what do its ids look like?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.envelopes import SUCCESS
from mcp_sim.types import Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, is_nullable, items, main_type, properties, required
from mcp_sim.types.lexicon.words import plural, snake, vocabulary, words

_PERSON_ROLES = vocabulary(
    "owner assignee author creator user reporter reviewer manager sender recipient assigned_to created_by updated_by "
    "approver member requester"
)
_OF_OTHERS = vocabulary("owner assignee author user sender recipient member requester")
"""Roles of people in what is not itself a person: the owner of an account is no account."""

_PEOPLE = ("user", "member", "employee", "person", "agent", "account", "profile")
_COUNTED = frozenset({"id", "key", "number", "code", "no", "ref", "reference", "identifier", "uuid", "sku", "pk"})
_ENDINGS = ("id", "uuid", "key", "number", "code", "reference")
_NOT_LINKS = frozenset({"external", "request", "client", "session", "trace", "message"})
_IF_KNOWN = frozenset({"request", "client"})
"""Of these, what is a link where tools speak of such records."""


def shown_fields(shapes: Iterable[Record]) -> dict[str, Field]:
    """The fields that results show, from the fullest to the smallest shape; the first to declare a field defines it."""
    fields: dict[str, Field] = {}
    for shape in sorted(shapes, key=lambda shape: -len(properties(shape))):
        for name, schema in properties(shape).items():
            needed = name in required(shape)
            known = fields.get(name)
            fields[name] = Field(name, schema, required=needed) if known is None else known
            if known is not None and needed and not known.required:
                fields[name] = replace(known, required=True)
    return fields


def says_success(name: str, schema: Record) -> bool:
    """Does a property of a result say whether a call worked, and nothing of the record?"""
    return main_type(schema) == "boolean" and (snake(name) in SUCCESS or snake(name).endswith("_status"))


def key_field(
    entity: str, declared: Entity | None, fields: Mapping[str, Field], keys: Sequence[str], made: Sequence[str] = ()
) -> str:
    """The field that identifies a record. `keys` are the arguments by which tools name one, `made` those of creates."""
    if declared is not None and (declared.key != "id" or "id" in declared.fields):
        return declared.key
    by_name = {snake(name): name for name in fields}
    short = entity.rsplit("_", 1)[-1]
    named = [f"{name}_{ending}" for name in (entity, short) for ending in _ENDINGS]
    wanted = ["id", *named, *(snake(key) for key in keys), "uuid", "key", "identifier", "slug", "number"]
    for name in wanted:
        if name in by_name and main_type(fields[by_name[name]].schema) in {"string", "integer", "number", ""}:
            return by_name[name]
    alone = [key for key in keys if "_or_" not in snake(key)]
    natural = [key for key in alone if not snake(key).endswith("id") and snake(key) not in {entity, short}]
    named = [one for key in (*natural, *keys) if (one := _chosen_name(entity, snake(key), made)) is not None]
    return (named or natural or ["id"])[0] if not fields else "id"


def _chosen_name(entity: str, key: str, made: Sequence[str]) -> str | None:
    """What a create calls the name by which others ask: `delete_sheet(sheet_name)` after `create_sheet(name)`."""
    short = entity.rsplit("_", 1)[-1]
    ending = key.removeprefix(f"{entity}_").removeprefix(f"{short}_")
    if ending.endswith("id"):
        return None
    names = (key, "name", f"{short}_name") if key in {entity, short} else (key, ending, f"{short}_{ending}")
    by_name = {snake(one): one for one in made}
    return next((by_name[name] for name in names if name in by_name), None)


def is_natural(key: str, made: Sequence[str]) -> bool:
    """Is the key a name or a path that the callers choose?"""
    return key in made and not is_counted(key)


def with_declared(fields: Mapping[str, Field], declared: Entity | None) -> dict[str, Field]:
    """The fields with what the spec declares laid over them; a declared link leaves the schema as it was seen."""
    merged = dict(fields)
    if declared is None:
        return merged
    for name, said in declared.fields.items():
        seen = fields.get(name)
        schema = said.schema or (seen.schema if seen else {})
        merged[name] = replace(said, schema=schema, required=said.required or bool(seen and seen.required))
    return merged


def with_links(entity: str, fields: Mapping[str, Field], keys: Mapping[str, Record]) -> dict[str, Field]:
    """The fields with the links that their names tell. `keys` has every entity's key schema."""
    linked = {name: _linked(entity, field, keys) for name, field in fields.items()}
    by_name = {snake(name): name for name in linked}
    return {name: _derived(field, linked, by_name) for name, field in linked.items()}


def key_like(declared: Entity | None, key: Field, seen: Sequence[Key], entity: str) -> Key | None:
    """An id that the next ids follow: declared, seen, or as the schema says; None for a format of its own."""
    if declared is not None and declared.key_like is not None:
        return declared.key_like
    schema = key.schema
    examples = [value for value in (*seen, *schema.get("examples", ()), schema.get("example"), schema.get("default"))
                if isinstance(value, str | int) and not isinstance(value, bool) and value != ""]  # fmt: skip
    if examples:
        return examples[0]
    if main_type(schema) in {"integer", "number"}:
        return max(1, int(schema.get("minimum", 1)))
    if "pattern" in schema:
        return _from_pattern(schema["pattern"])
    if schema.get("format") or constants(schema) or not is_counted(key.name):
        return None
    return example_told(schema.get("description", "")) or f"{entity}_{1:05d}"


def _linked(entity: str, field: Field, keys: Mapping[str, Record]) -> Field:
    if field.link is not None:
        return field
    target = _target(entity, snake(field.name), field.schema, keys)
    return field if target is None else replace(field, link=target)


def _target(entity: str, name: str, schema: Record, keys: Mapping[str, Record]) -> str | None:
    many = main_type(schema) == "array"
    if many and name.endswith("_ids"):
        name, schema = name.removesuffix("s"), items(schema)
    if not name.endswith("_id"):
        return _person(entity, name, schema, keys) if name in _PERSON_ROLES else None
    stem = name.removesuffix("_id")
    if stem in {entity, "", *_NOT_LINKS} and not (stem in _IF_KNOWN and stem in keys and stem != entity):
        return None
    if stem == "parent" and entity in keys:
        whole = entity.removeprefix("sub")
        above = whole if whole in keys else entity
        return above if _same_type(schema, keys[above]) else None
    found = max((other for other in keys if stem == other or stem.endswith(f"_{other}")), key=len, default=None)
    found = found or max((other for other in keys if other.endswith(f"_{stem}")), key=len, default=None)
    if found is None:
        return _person(entity, stem, schema, keys)
    return found if _same_type(schema, keys[found]) else None


def _person(entity: str, name: str, schema: Record, keys: Mapping[str, Record]) -> str | None:
    """`owner_id` and the like: the users, where there are any and the ids look the same."""
    if name not in _PERSON_ROLES or constants(schema) or (not name.endswith("_by") and "format" in schema):
        return None
    people = next((one for one in _PEOPLE if one in keys and not (one == entity and name in _OF_OTHERS)), None)
    is_id = people is not None and _same_type(schema, keys[people])
    return people if is_id and schema.get("pattern") == keys[people or ""].get("pattern") else None


def _same_type(schema: Record, key: Record) -> bool:
    mine, other = main_type(schema), main_type(key)
    return not mine or not other or mine == other


def _derived(field: Field, fields: Mapping[str, Field], by_name: Mapping[str, str]) -> Field:
    """`company_name` and `company: {...}` beside `company_id` are looked up, not stored."""
    name = snake(field.name)
    if field.link is not None or field.derived is not None:
        return field
    if main_type(field.schema) == "object" and f"{name}_id" in by_name:
        link = fields[by_name[f"{name}_id"]]
        return replace(field, derived=f"{link.name}.") if _always_there(field, link) else field
    for ending in ("name", "title", "email"):
        link = fields.get(by_name.get(f"{name.removesuffix('_' + ending)}_id", ""))
        if name.endswith("_" + ending) and link is not None and _always_there(field, link):
            return replace(field, derived=f"{link.name}.{ending}")
    return field


def _always_there(field: Field, link: Field) -> bool:
    """Is there something to look up whenever the field must be shown?"""
    certain = link.required and not is_nullable(link.schema)
    return link.link is not None and (certain or not field.required or is_nullable(field.schema))


def counted(entity: str, fields: Mapping[str, Field], others: Mapping[str, Mapping[str, Field]]) -> dict[str, Field]:
    """The fields with those that count the records of another entity: `contact_count`, `num_contacts`."""
    counts = {
        name: f"#{other}.{link.name}"
        for other, theirs in others.items()
        for link in theirs.values()
        if link.link == entity and main_type(link.schema) != "array"
        for name in (f"{other}_count", f"{plural(other)}_count", f"num_{plural(other)}", f"{other}s_count")
    }
    return {
        name: replace(field, derived=counts[snake(name)])
        if snake(name) in counts and main_type(field.schema) == "integer"
        else field
        for name, field in fields.items()
    }


def _from_pattern(pattern: str) -> str | None:
    """`^con_[0-9]{5,}$` begins at con_00001; None where the pattern is more than a prefix and a number."""
    found = re.fullmatch(r"\^?((?:\\?[\w# -])*?)(?:\\d|\[0-9\])(?:\{(\d+)(?:,\d*)?\}|[+*])?\$?", pattern)
    if not found or re.search(r"\\[A-Za-z]", found[1]):
        return None
    return found[1].replace("\\", "") + "1".zfill(int(found[2] or 1))


def example_told(text: str) -> str | None:
    """An id given as an example: `e.g. 'TSK-0001'`, `(e.g., 7)`."""
    found = re.search(
        r"(?:e\.g\.|for example|such as|like|example:)[ ,:]*[\"'`]?((?:[A-Za-z#]+[-_#]?)?\d+)\b(?![.\d-])",
        text,
        re.IGNORECASE,
    )
    return found[1] if found else None


def is_counted(name: str) -> bool:
    """True for ids and numbers; a name, a path or an address is its own key and follows no other."""
    return not {*words(name)}.isdisjoint(_COUNTED)
