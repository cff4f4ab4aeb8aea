"""What results repeat of the given state: fields of entities with a single record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias, cast

from mcp_sim.plans.records.projection import SECRETS
from mcp_sim.types import Json, Record, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_object, constants, fitting_type, properties
from mcp_sim.types.lexicon.english import snake, words

WithFacts: TypeAlias = Callable[[View, Json], Json]


class _Fact(NamedTuple):
    entity: str
    field: str


def with_given_facts(schema: Record, domain: Domain) -> WithFacts:
    """Return a function that gives a result the values that the given state has for its properties."""
    if _given_facts not in domain.kept:
        domain.kept[_given_facts] = _given_facts(domain)
    facts: Mapping[str, _Fact] = domain.kept[_given_facts]
    return lambda view, value: _with_facts(schema, value, facts, view) if facts else value


def _given_facts(domain: Domain) -> dict[str, _Fact]:
    """Return the shown fields of given entities with a single record, by name, if the name is unique."""
    given_facts: dict[str, list[_Fact]] = defaultdict(list)
    for entity in (domain.entities[name] for name in sorted(domain.given & domain.entities.keys())):
        for field in entity.fields.values() if entity.singleton else ():
            if not field.hidden and snake(field.name) not in SECRETS:
                given_facts[_plain(field.name)].append(_Fact(entity.name, field.name))
    return {name: facts[0] for name, facts in given_facts.items() if len(facts) == 1}


def _plain(name: str) -> str:
    return snake(name).replace("_", "")


def _with_facts(schema: Record, value: Json, facts: Mapping[str, _Fact], view: View) -> Json:
    """Return the value with the facts in it. A name of one word, such as `status`, needs another fact beside it."""
    parts = properties(schema)
    if not isinstance(value, dict) or not parts:
        return cast("Json", value)
    body = as_object(value)
    given = {name: fact for name in parts if (fact := facts.get(_plain(name))) is not None}
    kept = {name: fact for name, fact in given.items() if len(given) > 1 or len(words(name)) > 1}
    values = {name: (view.get(fact.entity, fact.entity) or {}).get(fact.field) for name, fact in kept.items()}
    inner = {
        name: _with_facts(inner_value, body.get(name), facts, view)
        for name, inner_value in parts.items()
        if name in body
    }
    return {
        **body,
        **inner,
        **{name: inner_value for name, inner_value in values.items() if _fits(inner_value, parts[name])},
    }


def _fits(value: Json, schema: Record) -> bool:
    return value is not None and fitting_type(value, schema) and value in (constants(schema) or [value])
