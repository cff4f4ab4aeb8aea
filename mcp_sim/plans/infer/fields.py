"""Fields of entities: those that results and declarations show, and how arguments name them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.plans.infer.arguments import MORE, names_record
from mcp_sim.plans.infer.features import ToolFeatures
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.english import noun_of_id, plural, snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import RECORDLESS

_SUCCESS = terms("results.success")
_WORKED = frozenset({"success", "ok", "successful"})
"""Flags that no record has: they say whether the call worked, also that of a tool which reads."""
_SIDE = re.compile("(?:from|to|old|new|previous)_")
"""The beginnings of properties of a change that have the value of a field before or after it."""


class KnownFields:
    """The fields of an entity that are known so far, by their names."""

    def __init__(
        self,
        entity: str,
        key: str,
        fields: Mapping[str, Field],
        written: frozenset[str],
        rows: Sequence[Record] = (),
        parents: Container[str] = (),
    ) -> None:
        self.entity, self.key, self.rows = entity, key, rows
        self.parents = parents
        """The arguments that name the parent of a record: `account_id` beside the `sub_account_id` of a sub account."""
        self.fields: dict[str, Field] = {}
        self.named: dict[str, Field] = {}
        """The fields by their names in snake case."""
        self.joined: dict[str, Field] = {}
        """The fields by their names without underscores."""
        self.inner: dict[str, list[Field]] = {}
        """The values inside objects by their names in snake case, as fields named by their paths: `address.city`."""
        self.links: dict[str, list[Field]] = {}
        """The fields that link to an entity."""
        self.written = written
        """The arguments of creates in snake case: none of them pages."""
        self.add(fields.values())

    def add(self, fields: Iterable[Field]) -> None:
        """Add fields, except those that are known."""
        for field in fields:
            if field.name not in self.fields:
                self.fields[field.name] = field
                self.named.setdefault(snake(field.name), field)
                self.joined.setdefault(snake(field.name).replace("_", ""), field)
                self.links.setdefault(field.link or "", []).append(field)
                for name, inner in _inner_fields(field):
                    self.inner.setdefault(name, []).append(inner)

    def find(self, argument: str) -> Field | None:
        """Return the field with the snake-case name of an argument, or nearly so; else the only inner value of it.

        A `new_time` is that of the only field that ends so: `start_time`. A `user_name` may be a `username`, a
        `sender_name` that of the record which a `sender_id` links to. A `user` is the only field that links to one.
        """
        argument = f"new_{argument[:-4]}" if argument.endswith("_new") else argument
        bare = [argument.removeprefix(prefix) for prefix in ("", "new_", "updated_", *MORE, f"{self.entity}_")]
        own_key = [snake(self.key)] if names_record(argument, self.entity) else []
        keys = [f"parent_{argument}"] if argument in self.parents else own_key
        linked = self.named.get(f"{argument.removesuffix('_name')}_id") if argument.endswith("_name") else None
        names = (*bare, f"is_{argument}", f"{argument}_id", *keys)
        inner = (self.inner[name][0] for name in bare if len(self.inner.get(name, ())) == 1)
        changed = argument.removeprefix("new_") if argument.startswith("new_") else None
        ends = [field for name, field in self.named.items() if changed and name.endswith(f"_{changed}")]
        ends = [linked] if linked is not None and linked.link is not None else ends
        meant = changed or argument
        links = self.links.get(meant) or self.links.get(noun_of_id(meant) or meant, ())
        only = next((several[0] for several in (ends, links) if len(several) == 1), None)
        nearly = self.joined.get(argument.replace("_", "")) if only is None else only
        return next((self.named[name] for name in names if name in self.named), next(inner, nearly))


def _inner_fields(field: Field) -> Iterator[tuple[str, Field]]:
    """Yield the plain values inside an object, with their names in snake case."""
    for name, schema in properties(field.schema).items():
        inner = Field(f"{field.name}.{name}", schema)
        yield from _inner_fields(inner) if properties(schema) else [(snake(name), inner)]


def collect_shown_fields(
    feature_list: Iterable[ToolFeatures], declared: Mapping[str, Entity]
) -> dict[str, dict[str, Field]]:
    """Return the fields of every entity that results and declarations show."""
    shapes: dict[str, list[Record]] = {name: [] for name in declared}
    others = dict[str, set[str]]()
    for features in sorted(feature_list, key=lambda features: features.verb == "update"):
        if features.verb not in RECORDLESS and features.singleton is None:
            shape = _record_shape(features) if _shows_record(features) else {}
            names = others.setdefault(features.entity, set())
            shape = _without_sides(shape, names) if features.verb == "update" else shape
            names |= {*map(snake, properties(shape))}
            shapes.setdefault(features.entity, []).extend([shape] if shape else [])
    return {name: _merge(name, shape, declared.get(name)) for name, shape in shapes.items()}


def _shows_record(features: ToolFeatures) -> bool:
    """Whether a result shows a record, and not only its key."""
    envelope, shape = features.envelope, features.shape
    is_batch = features.verb == "update" and features.item_arguments.each is not None
    is_whole = features.verb != "delete" and not is_batch and not (envelope.record == "" and envelope.key is not None)
    return is_whole and main_type(shape) == "object" and bool(properties(shape))


def _record_shape(features: ToolFeatures) -> Record:
    """Return the schema of the record in a result, without success flags and without what a number changes by.

    If nothing is required, all fields are usual.
    """
    parts = {name: schema for name, schema in properties(features.shape).items() if snake(name) not in _WORKED}
    if features.verb in {"create", "update"}:
        is_own = "message" in {*map(snake, properties(features.input)), *features.entity.split("_")}
        left_out = set[str]() if is_own or len(parts) < 2 else {"message"}
        calculated = {snake(name) for name in properties(features.input) if features.calculates(name) is not None}
        left_out |= calculated | {f"{word}_{name}" for name in calculated for word in ("remaining", "new", "updated")}
        parts = {n: value for n, value in parts.items() if not _is_success_flag(n, value) and snake(n) not in left_out}
    usual = [name for name, schema in parts.items() if "optional" not in str(schema.get("description", "")).lower()]
    return {"required": usual, **features.shape, "properties": parts}


def _without_sides(shape: Record, names: Container[str]) -> Record:
    """Return what an update shows of a record without the two sides of a change: `from_location`, `to_location`."""
    sides = {name for name in properties(shape) if _SIDE.sub("", snake(name)) in names and _SIDE.match(snake(name))}
    return {**shape, "properties": {name: part for name, part in properties(shape).items() if name not in sides}}


def _is_success_flag(name: str, schema: Record) -> bool:
    """Whether a property of a result only says whether the call worked."""
    return main_type(schema) == "boolean" and (snake(name) in _SUCCESS or snake(name).endswith("_status"))


def _merge(entity: str, shapes: Iterable[Record], declared: Entity | None) -> dict[str, Field]:
    """Merge the fields that results show, the fullest first, with the declared ones. The first schema wins.

    `order_id` is left out beside the `id` of an order, unless it is declared.
    """
    known: Mapping[str, Field] = declared.fields if declared is not None else {}
    fields: dict[str, Field] = {}
    for shape in sorted(shapes, key=lambda shape: -len(properties(shape))):
        needed = required(shape)
        for name, schema in properties(shape).items():
            seen = fields.get(name, Field(name, schema))
            fields[name] = replace(seen, required=seen.required or name in needed)
    for name, value in known.items():
        seen = fields.get(name, value)
        is_bare = not value.schema or (main_type(value.schema) == "array" and not items(value.schema))
        schema = seen.schema if is_bare and main_type(seen.schema) == main_type(value.schema or seen.schema) else None
        fields[name] = replace(value, schema=schema or value.schema, required=value.required or seen.required)
    ids = {*map(snake, fields)}
    alias = {name for name in ids if noun_of_id(name) == entity and name.removeprefix(f"{entity}_") in ids}
    is_own = any(noun_of_id(snake(name)) == entity for name in known) and declared is not None and declared.key in known
    alias |= {plural(snake(name)) for name in (entity.rsplit("_", 1)[-1], *known)}  # a result lists what records have
    alias |= {"id"} if is_own and declared is not None and snake(declared.key) != "id" else set[str]()
    return {name: field for name, field in fields.items() if snake(name) not in alias or name in known}
