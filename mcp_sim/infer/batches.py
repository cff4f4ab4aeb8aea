"""Arguments that list several records to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mcp_sim.infer.argument_names import CONTAINERS
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties
from mcp_sim.types.lexicon.english import plural, snake, vocabulary
from mcp_sim.types.plans import Plan, Verb

_GENERIC = vocabulary("items records entries rows objects data list batch elements")
_SCALAR = frozenset({"string", "integer", "number"})


@dataclass(frozen=True, slots=True)
class UnfoldedArguments:
    """The arguments for one item of a batch. `paths` maps an argument to its real path."""

    schema: Record
    each: str | None = None
    paths: Mapping[str, str] = field(default_factory=dict[str, str])

    def refold(self, plan: Plan) -> Plan:
        """Turn the plan for one item into a plan for all items."""
        if self.each is None:
            return plan
        sets = {self._original_path(path): name for path, name in plan.sets.items()}
        key = None if plan.key is None else self._original_path(plan.key)
        return replace(plan, each=self.each, sets=sets, key=key)

    def _original_path(self, path: str) -> str:
        head, dot, rest = path.partition(".")
        return f"{self.paths.get(head, head)}{dot}{rest}"


def unfold_arguments(
    parsed: ParsedName, verb: Verb, entity: str, schema: Record, each: str | None = None
) -> UnfoldedArguments:
    """Return the arguments for one item, if a tool takes a list of items.

    `each` is the list, if it is known.
    """
    if verb not in {"create", "update", "delete"} or not entity:
        return UnfoldedArguments(schema)
    found = each if each is not None else next(_batch_lists(parsed, verb, entity, schema), None)
    part = properties(schema).get(found or "")
    if found is None or part is None:
        return UnfoldedArguments(schema)
    inner = properties(items(part))
    others = {name: one for name, one in properties(schema).items() if name != found}
    paths = {name: f"{found}.{name}" for name in inner} if inner else {f"{entity}_id": found}
    parts = {**others, **(inner or {f"{entity}_id": items(part) or {"type": "string"}})}
    needed = [name for name in as_list(schema.get("required")) if name in others]
    needed += as_list(items(part).get("required")) if inner else [*paths]
    return UnfoldedArguments({**schema, "properties": parts, "required": needed}, found, paths)


def _batch_lists(parsed: ParsedName, verb: Verb, entity: str, schema: Record) -> Iterator[str]:
    """Yield the lists of records to write, or of keys."""
    many, short = snake(plural(entity)), snake(plural(entity.rsplit("_", 1)[-1]))
    keys = {"ids", "keys", f"{entity}_ids", f"{entity}_keys", f"{entity.rsplit('_', 1)[-1]}_ids"}
    keyed = verb != "create" and key_argument(verb, entity, "id", schema)[1] >= 2
    for name, part in properties(schema).items():
        if main_type(part) != "array":
            continue
        plain, kind = snake(name), main_type(items(part))
        named = plain in {many, short} or plain.endswith((f"_{many}", f"_{short}"))
        if properties(items(part)):
            is_batch = (parsed.plural or parsed.batch) and not keyed and (named or plain in _GENERIC | CONTAINERS)
        else:
            is_batch = verb != "create" and not keyed and (kind in _SCALAR or not kind) and (named or plain in keys)
        if is_batch:
            yield name
