"""Plausible arguments for a tool, from its schema, its plan and the records of a world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import Json, Key, Record, Tool, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, at, main_type, properties, required
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.plans import Plan

_TEXT_LIMIT = 80  # the task repeats the value, and a person reads it
_FITTING = ("equals", "contains", "gte", "lte")
"""Operators of filters that a record passes with its own value."""


@frozen
class Sample:
    """Arguments of a call, and the records that they name: entity -> key."""

    arguments: Record
    names: Mapping[str, Key]


class Sampler:
    """Makes arguments for the tools of a domain."""

    def __init__(self, domain: Domain, view: View) -> None:
        self._domain, self._view = domain, view

    def sample(
        self, tool: Tool, known: Mapping[str, Json], plan: Plan | None = None, *, named: bool = False
    ) -> Sample | None:
        """Return valid arguments: the `known` ones, the key, and all that the tool requires. Or None.

        `plan` is that of a choice, if the tool has several. `named`: also an optional text that the tool writes into a
        field, if it requires none.
        """
        plan, wrapper = plan or self._domain.plans[tool.id], self._domain.wrappers.get(tool.id, "")
        schema = expanded(tool.input_schema)
        inner = at(schema, wrapper)
        parts = properties(inner)
        chosen = [name for name in parts if name in required(inner) or name in known or name == plan.key]
        texts = [name for name, subschema in parts.items() if self._is_text(plan, name, subschema)]
        if named and not set(texts).intersection(chosen):
            chosen += texts[:1]
        names: dict[str, Key] = {}
        arguments: Record = {}
        for name in chosen:
            if name in known:
                arguments[name] = known[name]
                continue
            entity = self._domain.entity_named_by(plan, name)
            key = None if entity is None else self._first_key(entity)
            if entity is not None and key is not None:
                names[entity] = key
            arguments[name] = self._value(plan, name, parts[name], arguments, key)
        whole = arguments
        for name in reversed(wrapper.split(".")) if wrapper else ():
            whole = {name: whole}
        return None if Validator(schema).problems(whole) else Sample(whole, names)

    def _value(self, plan: Plan, name: str, schema: Record, arguments: Record, key: Key | None) -> Json:
        if key is not None:
            return [key] if main_type(schema) == "array" else key
        if examples := as_list(schema.get("examples")):
            return examples[0]
        make = value_maker(plan.entity or "", plan.sets.get(name, name), schema)
        value = make(chance_of(name), arguments, Moment.unknown())
        if isinstance(value, str) and len(value) > _TEXT_LIMIT and "minLength" not in schema:
            return value[:_TEXT_LIMIT].rpartition(" ")[0] or value[:_TEXT_LIMIT]
        if isinstance(value, str) and value.isalpha() and plan.verb == "create" and self._is_text(plan, name, schema):
            return f"{value} 2"  # no generated record has this name
        return value

    def _first_key(self, entity: str) -> Key | None:
        return next((key for key, _ in self._view.rows(entity)), None) if entity in self._domain.entities else None

    def _is_text(self, plan: Plan, name: str, schema: Record) -> bool:
        is_text = main_type(schema) == "string" and not schema.keys() & {"enum", "format", "pattern", "maxLength"}
        return is_text and name in plan.sets and self._domain.entity_named_by(plan, name) is None


def narrowed(plan: Plan, record: Record) -> Iterator[Record]:
    """Yield arguments with which a read finds a record, the most specific first."""
    filters = {
        name: record[rule.field]
        for name, rule in plan.filters.items()
        if rule.op in _FITTING and rule.only is None and rule.unless is None and record.get(rule.field) is not None
    }
    texts = [value for value in record.values() if isinstance(value, str) and " " in value]
    if plan.query and texts:
        yield {plan.query: texts[0]}
    if plan.key is not None:
        yield {}
    if filters:
        yield filters
    yield {}
