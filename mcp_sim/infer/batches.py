"""Which argument lists what a tool does one after the other, and what would it be asked for one of them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mcp_sim.infer.customary import CONTAINERS
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import Reading
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties
from mcp_sim.types.lexicon.words import plural, singular, snake, vocabulary
from mcp_sim.types.plans import Plan, Verb

_GENERIC = vocabulary("items records entries rows objects data list batch elements")
_SCALAR = frozenset({"string", "integer", "number"})


@dataclass(frozen=True, slots=True)
class Unfolded:
    """The arguments as they would be for one item. `paths` leads from an argument there to where it really stands."""

    schema: Record
    each: str | None = None
    paths: Mapping[str, str] = field(default_factory=dict[str, str])

    def refolded(self, plan: Plan) -> Plan:
        """The plan for one item, as a plan for all of them."""
        if self.each is None:
            return plan
        sets = {self._real(path): name for path, name in plan.sets.items()}
        key = None if plan.key is None else self._real(plan.key)
        return replace(plan, each=self.each, sets=sets, key=key)

    def _real(self, path: str) -> str:
        head, dot, rest = path.partition(".")
        return f"{self.paths.get(head, head)}{dot}{rest}"


def unfolded(
    reading: Reading, verb: Verb, entity: str, schema: Record, each: str | None = None, declared: Entity | None = None
) -> Unfolded:
    """The arguments for one item, where a tool takes a list of what it does.

    `each`: the list, where it is known. `declared`: the entity, where a spec declares it.
    """
    if verb not in {"create", "update", "delete"} or not entity:
        return Unfolded(schema)
    named = _named_one_each(reading, schema, declared) if verb == "create" and each is None else None
    if named is not None:
        return _one_each(schema, *named)
    found = each if each is not None else next(_lists(reading, verb, entity, schema), None)
    part = properties(schema).get(found or "")
    if found is None or part is None:
        return Unfolded(schema)
    inner = properties(items(part))
    others = {name: one for name, one in properties(schema).items() if name != found}
    paths = {name: f"{found}.{name}" for name in inner} if inner else {f"{entity}_id": found}
    parts = {**others, **(inner or {f"{entity}_id": items(part) or {"type": "string"}})}
    needed = [name for name in as_list(schema.get("required")) if name in others]
    needed += as_list(items(part).get("required")) if inner else [*paths]
    return Unfolded({**schema, "properties": parts, "required": needed}, found, paths)


def _named_one_each(reading: Reading, schema: Record, declared: Entity | None) -> tuple[str, str] | None:
    """The list that says a field of each of several new records, and that field: the `titles` of notes."""
    fields = {} if declared is None else {snake(name): name for name in declared.fields}
    for name, part in properties(schema).items() if reading.plural or reading.batch else ():
        field = fields.get(singular(snake(name)))
        is_list = main_type(part) == "array" and main_type(items(part)) in _SCALAR
        if is_list and field is not None and field != name and snake(name) not in fields:
            return name, field
    return None


def _one_each(schema: Record, listed: str, field: str) -> Unfolded:
    """The arguments for one of several new records of which a list says a field."""
    parts = {field if name == listed else name: part for name, part in properties(schema).items()}
    needed = [field if name == listed else name for name in as_list(schema.get("required"))]
    one = {**parts, field: items(properties(schema)[listed])}
    return Unfolded({**schema, "properties": one, "required": needed}, listed, {field: listed})


def _lists(reading: Reading, verb: Verb, entity: str, schema: Record) -> Iterator[str]:
    """Lists of records to write, or of keys of records."""
    many, short = snake(plural(entity)), snake(plural(entity.rsplit("_", 1)[-1]))
    keys = {"ids", "keys", f"{entity}_ids", f"{entity}_keys", f"{entity.rsplit('_', 1)[-1]}_ids"}
    keyed = verb != "create" and key_argument(verb, entity, "id", schema)[1] >= 2
    for name, part in properties(schema).items():
        if main_type(part) != "array":
            continue
        plain, kind = snake(name), main_type(items(part))
        named = plain in {many, short} or plain.endswith((f"_{many}", f"_{short}"))
        if properties(items(part)):
            is_batch = (reading.plural or reading.batch) and not keyed and (named or plain in _GENERIC | CONTAINERS)
        else:
            is_batch = verb != "create" and not keyed and (kind in _SCALAR or not kind) and (named or plain in keys)
        if is_batch:
            yield name
