"""Arguments that list several records to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from mcp_sim.plans.infer.arguments import key_argument
from mcp_sim.plans.infer.names import ParsedName
from mcp_sim.types import Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties, required
from mcp_sim.types.lexicon.english import is_plural, plural, singular, snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan, Verb

_GENERIC = terms("arguments.batch", "arguments.container", "results.rows")
_KEYS = frozenset(plural(word) for word in terms("arguments.key_ending") - {"name"})
_SCALAR = frozenset({"string", "integer", "number", ""})


@frozen
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
        return replace(plan, each=self.each, sets=sets, key=plan.key and self._original_path(plan.key))

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
    batch_list = each if each is not None else next(_batch_lists(parsed, verb, entity, schema), None)
    others = properties(schema)
    if batch_list is None or batch_list not in others:
        return UnfoldedArguments(schema)
    inner = items(others.pop(batch_list))
    paths = {name: f"{batch_list}.{name}" for name in properties(inner)}
    if not paths:
        name = singular(batch_list) if verb == "create" else f"{entity}_id"
        paths, inner = {name: batch_list}, {"properties": {name: inner or {"type": "string"}}, "required": [name]}
    needed = [name for name in as_list(schema.get("required")) if name != batch_list] + as_list(inner.get("required"))
    whole = {**schema, "properties": {**others, **properties(inner)}, "required": needed}
    return UnfoldedArguments(whole, batch_list, paths)


def _batch_lists(parsed: ParsedName, verb: Verb, entity: str, schema: Record) -> Iterator[str]:
    """Yield the lists of records to write, or of keys of records to change. Changes of one record are left out."""
    is_one = verb != "create" and key_argument(verb, entity, "id", schema)[1] >= 2
    lists = [(name, subschema) for name, subschema in properties(schema).items() if main_type(subschema) == "array"]
    for name, row in () if is_one else lists:
        is_only = len(lists) == 1 and verb == "create" and parsed.plural
        if _is_batch(snake(name), row, parsed, verb, entity) or (is_only and _is_list_of_field(name, row, schema)):
            yield name


def _is_list_of_field(name: str, schema: Record, whole: Record) -> bool:
    """Whether a required list holds one field of each new record: `titles` of `import_notes`."""
    form = snake(name)
    is_field = is_plural(form) and not form.endswith(("_ids", "_keys")) and form not in _GENERIC
    return is_field and name in required(whole) and main_type(items(schema)) in _SCALAR


def _is_batch(name: str, schema: Record, parsed: ParsedName, verb: Verb, entity: str) -> bool:
    nouns = (entity, entity.rsplit("_", 1)[-1])
    ends_in_plural = any(f"_{name}".endswith(f"_{snake(plural(noun))}") for noun in nouns)
    if properties(items(schema)):
        return (parsed.plural or parsed.batch) and (ends_in_plural or name in _GENERIC)
    keys = {"ids", "keys", *(f"{noun}_{ending}" for noun in nouns for ending in _KEYS)}
    keys |= _KEYS if parsed.plural else set[str]()  # `numbers` of `delete_parcels`
    return verb != "create" and main_type(items(schema)) in _SCALAR and (ends_in_plural or name in keys)
