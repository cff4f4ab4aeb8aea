"""Arguments for trials: what the state, the records and the recordings hold where an argument can mean it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.recordings.align import is_id
from mcp_sim.types import Json, Key, Record, View
from mcp_sim.types.argument_descriptions import describe_arguments
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import constants, fitting_type, items, main_type, properties, required, type_name
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import objects_in
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Plan

MOST_SETS = 14
"""How many sets of arguments a tool is tried with at most, until it succeeds. Each is a call of the program."""
_MOST_RECORDED = 4  # real arguments succeed most likely, but leave no tries for generated ones
_MOST_ROWS = 4
"""How many rows of each table, the oldest and the newest, and how many recorded sets of a tool give arguments."""
_MOST_VALUES = 12  # how many values are tried for one argument
_MOST_PARTS = 400  # how many objects of the given state are read
_QUOTED = re.compile(r"(?<!\w)['\"`]([^'\"`\n]{1,60})['\"`](?!\w)")
_EXAMPLE = re.compile(
    r"\b(?:e\.g\.|for example|such as|example:)[,:]? +([^()'\"`\n]{1,80}?)(?=\)|;|\n|, |\.?\s*$|\.\s)"
)
"""An example in a description, without quotes: `(e.g. status = open)`."""
_SQL = re.compile(r"\bSQL\b")
_SQL_STATEMENTS = ("SELECT 1 AS one", "CREATE TABLE trial (name TEXT)", "INSERT INTO trial (name) VALUES ('one')")
_NAMES = frozenset({"id", "key", "name", "title", "label", "path", "slug"})
_IDENTIFIES = frozenset({"id", "ids", "key", "name", "username", "user", "email", "path", "slug", "code", "symbol"})


@dataclass(slots=True)
class KnownArguments:
    """What the caller of a server may know at its start: the objects of the given state, and recorded arguments."""

    given: Sequence[Record] = ()
    """The objects of the given state, the outer ones first."""
    ids: Sequence[Json] = ()
    """What identifies something in the given state: keys of mappings, and values that look like ids."""
    recorded: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, "list[Record]"])
    """Tool -> arguments that the real server took, those with which it succeeded first."""

    @classmethod
    def of(cls, state: Json, recorded: Mapping[str, Sequence[Record]]) -> KnownArguments:
        objects = [*islice(objects_in(state), _MOST_PARTS)]
        leaves = [(name, value) for row in objects for name, value in row.items()]
        mappings = [row for row in objects if _is_mapping(row)]
        keys = [
            side
            for mapping in mappings
            for pair in mapping.items()
            for side in pair
            if not isinstance(side, dict | list)
        ]
        ids = [value for name, value in leaves if not isinstance(value, dict | list) and is_id(name, value)]
        return cls(objects, [*dict.fromkeys([*ids, *keys])][: 4 * _MOST_VALUES], recorded)


def _is_mapping(value: Record) -> bool:
    """Whether the names in an object are keys of things rather than fields: their values are alike."""
    kinds = {type_name(item) for item in value.values()}
    return len(value) > 1 and len(kinds) == 1


@dataclass(slots=True)
class ArgumentSets:
    """Makes sets of arguments for tools, from the records of a view as well."""

    domain: Domain
    known: KnownArguments
    view: View

    def sets(self, plan: Plan, intent: str, salt: str = "") -> Iterator[Record]:
        """Yield sets of arguments for a tool, the most promising ones first, each valid and each once.

        `salt`: other values where they are generated.
        """
        schema = expanded(describe_arguments(self.domain.tools[plan.tool]).input_schema)
        valid, seen = Validator(schema), list[Record]()
        for arguments in islice(self._sets(plan, schema, intent, salt), 4 * MOST_SETS):
            if len(seen) >= MOST_SETS:
                return
            if arguments not in seen and not valid.problems(arguments):
                seen.append(arguments)
                yield arguments

    def _sets(self, plan: Plan, schema: Record, intent: str, salt: str) -> Iterator[Record]:
        creates = intent == "create"
        if not (creates and salt):
            yield from self.known.recorded.get(plan.tool, ())[:_MOST_RECORDED]
        needed = [name for name in properties(schema) if name in required(schema) or name == plan.key]
        first = self.complete(plan, schema, needed, {}, salt, creates=creates)
        yield first
        for row in self._rows(plan):
            yield self.complete(plan, schema, needed, self._taken_from(row, plan, schema), salt, creates=creates)
        choices = {name: self._values(plan, name, properties(schema)[name], salt, creates=creates) for name in needed}
        for at in range(1, max(map(len, choices.values()), default=0)):
            for name, values in choices.items():
                if at < len(values):
                    yield {**first, name: values[at]}
            yield {name: values[min(at, len(values) - 1)] for name, values in choices.items()}
        yield self.complete(plan, schema, [*properties(schema)], {}, salt, creates=creates)

    def complete(
        self, plan: Plan, schema: Record, names: Iterable[str], fixed: Record, salt: str = "", *, creates: bool = False
    ) -> Record:
        """Return arguments with these names: the fixed values, and the likeliest of the others."""
        arguments: Record = {}
        for name in names:
            argument_schema = properties(schema)[name]
            arguments[name] = (
                fixed[name] if name in fixed else self._values(plan, name, argument_schema, salt, creates=creates)[0]
            )
        return arguments

    # values of one argument

    def _values(self, plan: Plan, name: str, schema: Record, salt: str, *, creates: bool) -> list[Json]:
        """Return values for an argument, the likeliest first; at least one."""
        if constants(schema):
            usual = [schema["default"]] if schema.get("default") in constants(schema) else []
            return [*usual, *(value for value in constants(schema) if value not in usual)]
        generated = value_maker(plan.entity or "", name, schema)(chance_of(plan.tool, name, salt), {}, Moment.unknown())
        if main_type(schema) == "array":
            parts = self._values(plan, name, items(schema), salt, creates=creates) if items(schema) else [generated]
            return [[value] if items(schema) else value for value in parts]
        if main_type(schema) == "object":
            inner = properties(schema)
            fields: Record = {
                inner_name: self._values(plan, inner_name, inner[inner_name], salt, creates=creates)[0]
                for inner_name in inner
            }
            return [fields or generated]
        if main_type(schema) == "boolean":
            return [True, False]
        # The key or name that an argument gives to a new record must not be that of another one.
        entity = self.domain.entities.get(plan.entity or "") if creates else None
        is_new_key = entity is not None and (name in {plan.key, entity.key} or snake(name) in {"name", "title"})
        known = [] if is_new_key else [*self._known(plan, name, schema, creates=creates)]
        return [*_unique([*_statements(name, schema), *known, *_mentioned(schema), generated])][:_MOST_VALUES]

    def _known(self, plan: Plan, name: str, schema: Record, *, creates: bool) -> Iterator[Json]:
        """Yield values that an argument may mean: of recordings, of records, of the given state."""
        recorded = [sets for tool, sets in self.known.recorded.items() if tool == plan.tool or not creates]
        values: list[Json] = [row[name] for sets in recorded for row in sets if name in row]
        entity = _entity_named_by(self.domain, plan, name)
        if entity is not None:
            values += self._keys(entity)
        is_reference = entity is not None or is_id(name, "x") or bool({*words(name)} & _IDENTIFIES)
        if is_reference or not creates:
            values += [row[name] for row in self._rows(plan) if name in row]
            values += [row[name] for row in self.known.given if name in row]
        if not creates and main_type(schema) in {"string", ""}:
            fields = (pair for row in self._own_rows(plan) for pair in row.items())
            values += [value for field_name, value in fields if isinstance(value, str) and snake(field_name) in _NAMES]
        if is_reference:
            values += [key for other in self.domain.entities.values() for key in self._keys(other)]
            values += self.known.ids
        return (value for value in values if not isinstance(value, dict | list) and fitting_type(value, schema))

    def _keys(self, entity: Entity) -> list[Key]:
        """Return the keys of a few records, the newest first."""
        keys = [key for key, _ in self.view.rows(entity.name)] if not entity.singleton else []
        return [*keys[:-_MOST_ROWS:-1], *keys[:_MOST_ROWS]]

    def _own_rows(self, plan: Plan) -> list[Record]:
        """Return a few records of the tool's own entity."""
        entity = self.domain.entities.get(plan.entity or "")
        own_rows = [] if entity is None else [self.view.get(entity.name, key) for key in self._keys(entity)]
        return [row for row in own_rows if row is not None]

    # values of one record

    def _rows(self, plan: Plan) -> list[Record]:
        """Return a few records, those of the tool's own entity first, then the objects of the given state."""
        entities = sorted(self.domain.entities, key=lambda name: name != plan.entity)
        rows = [self.view.get(name, key) for name in entities for key in self._keys(self.domain.entities[name])]
        return [*(row for row in rows if row is not None), *self.known.given]

    def _taken_from(self, row: Record, plan: Plan, schema: Record) -> Record:
        """Return the arguments that a record has: those with the names of its fields, and its key."""
        entity = self.domain.entities.get(plan.entity or "")
        values = {snake(name): value for name, value in row.items()}
        if entity is not None and entity.key in row and plan.key is not None:
            values.setdefault(snake(plan.key), row[entity.key])
        taken = {name: values[snake(name)] for name in properties(schema) if snake(name) in values}
        return {name: value for name, value in taken.items() if fitting_type(value, properties(schema)[name])}


def _mentioned(schema: Record) -> Iterator[Json]:
    """Yield the values that the description of an argument mentions, and its default."""
    if main_type(schema) == "string":
        description = str(schema.get("description", ""))
        yield from (*_QUOTED.findall(description), *_EXAMPLE.findall(description))
    if schema.get("default") is not None:
        yield schema["default"]


def _statements(name: str, schema: Record) -> Sequence[str]:
    """Return SQL statements for an argument that takes some."""
    is_sql = "sql" in words(name) or _SQL.search(str(schema.get("description", ""))) is not None
    return _SQL_STATEMENTS if is_sql and main_type(schema) == "string" else ()


def _unique(values: Iterable[Json]) -> Iterator[Json]:
    seen = list[Json]()
    for value in values:
        if value not in seen:
            seen.append(value)
            yield value


def _entity_named_by(domain: Domain, plan: Plan, name: str) -> Entity | None:
    """Return the entity whose key an argument gives, by the plan or by its name, if it does."""
    planned, stem = domain.entities.get(plan.entity or ""), snake(name)
    for ending in ("_ids", "_id", "_key", "_name"):
        stem = stem.removesuffix(ending)
    field = planned.fields.get(name) if planned is not None else None
    linked = domain.entity_named_by(plan, name) or (field.link if field is not None else None)
    if planned is not None and linked is None and name in {plan.key, planned.key}:
        return planned
    entity = domain.entities.get(linked or stem)
    return entity if entity is None or linked or entity.natural or stem != snake(name) else None
