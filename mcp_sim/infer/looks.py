"""What does each tool speak of: with which verb, of which entity, and what stands where in its result?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_sim.infer.batches import Unfolded, unfolded
from mcp_sim.infer.data_texts import data_texts
from mcp_sim.infer.deeds import MAKING
from mcp_sim.infer.envelopes import rows_schema
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.lone import alone_in
from mcp_sim.infer.names import Reading
from mcp_sim.infer.outputs import envelope_meant, output_of
from mcp_sim.infer.pages import is_limited, is_paged
from mcp_sim.infer.readings import read_names
from mcp_sim.infer.shown_types import argument_types
from mcp_sim.infer.single_deeds import Single
from mcp_sim.infer.singletons import single_of
from mcp_sim.infer.subjects import entity_meant, finds_several, verb_meant
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_object, expanded, properties, required
from mcp_sim.types.lexicon.words import snake, vocabulary, words
from mcp_sim.types.plans import Envelope, How, Verb
from mcp_sim.types.scenario import Example

_STATUS = ("status", "state", "stage")
_ONE = frozenset({"get", "update", "delete"})
_BEGINNINGS = {"start": "in_progress", "open": "open", "submit": "submitted", "raise": "raised"}
_MAKES = vocabulary("create add new make")
_COPIES = MAKING | {"fork", "restore"}


@dataclass(frozen=True, slots=True)
class Element:
    """What a tool puts into the list `field` of the record that `key` names, or takes out: the value of `argument`."""

    key: str
    argument: str
    field: str
    how: How


@dataclass(frozen=True, slots=True)
class Look:
    """A tool on its way to a plan: what its name says, its schemas, its entity, what its result holds where.

    `said_key` is the key argument where the spec names it. `input` is what is asked for one record: `unfolded` tells
    where that really stands, where a tool takes a list of them.
    """

    tool: Tool
    reading: Reading
    verb: Verb
    entity: str
    input: Record
    output: Record
    envelope: Envelope
    said_key: str | None = None
    single: Single | None = None
    unfolded: Unfolded = field(default_factory=lambda: Unfolded({}))
    settled: frozenset[str] = frozenset()
    """The arguments of which it is known what they are for."""

    said: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the spec says of the plan."""

    element: Element | None = None
    """What is put into a list of the record, or taken out."""

    def key_argument(self, key: str) -> str | None:
        """The argument that names the record whose key field is `key`; the spec's word before any other."""
        return self.said_key or key_argument(self.verb, self.entity, key, self.input)[0]

    @property
    def shape(self) -> Record:
        """The schema of the record or of a row, as the tool shows it."""
        return rows_schema(self.envelope, self.output)


def looks_at(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    readings: Mapping[str, Reading],
    alone: Mapping[str, Entity],
    held: Container[str] = frozenset(),
) -> list[Look]:
    """`alone` are those of the declared entities that tools speak of as the only ones of their kind.

    `held` are those whose records a given state holds; a service kept so tells lists with nothing around them.
    """
    nouns = _nouns(readings.values(), declared)
    tables = {**_made_entities(tools, readings, declared), **declared}
    shown = {example.tool: example.result for example in reversed(examples)}
    texts, types = data_texts(tools), argument_types(tools.values())
    looks: list[Look] = []
    for id_, tool in tools.items():
        said, reading = overrides.get(id_, {}), readings[id_]
        schema = expanded(tool.input_schema)
        output = output_of(tool, shown.get(id_, shown.get(tool.name)), texts.get(id_), types[tool.server])
        entity = said.get("entity") or entity_meant(reading, schema, output, nouns, tables, tool.description)
        verb: Verb = said.get("verb") or verb_meant(reading, entity, schema, output, nouns, declared)
        is_open = "verb" not in said
        if is_open and verb == "create":
            verb, reading = _made_or_changed(reading, entity, schema, tables, readings)
        if verb == "create" and entity not in declared and "entity" not in said:
            entity = _made(entity, schema, output, tables)
        if is_open and reading.word == "cancel" and entity in tables and _is_stateless(tables[entity], looks):
            verb = "delete"
        if is_open and verb == "get" and entity in held and finds_several(tool.description, entity, schema):
            verb = "list"
        mine = alone_in(alone, reading)
        others = [one for name, one in declared.items() if name not in alone or one is mine]
        others = [one for one in others if "entity" not in said or (one.singleton and one.name == said["entity"])]
        others = others if said.get("key") is None else []
        single = single_of(reading, schema, output, others, str(tool.description or ""))
        is_meant = single is not None and _is_of_one(single, verb, entity, schema, declared, readings)
        if single is not None and ("entity" in said or (is_meant and said.get("verb", single.verb) == single.verb)):
            verb, entity = single.verb, single.entity
        else:
            single = None
        bare = (entity in held or _stands_apart(entity, declared)) and not is_paged(schema)
        envelope = envelope_meant(verb, entity, output, bare=bare, limited=is_limited(schema), text=texts.get(id_))
        if verb == "get" and reading.noun[-1:] in {("id",), ("key",)} and not properties(output):
            envelope = Envelope(key="")
        envelope = said.get("envelope") or envelope
        each = (said.get("each"), declared.get(entity))
        one = unfolded(reading, verb, entity, schema, *each) if single is None else Unfolded(schema)
        known = said.get("key") if one.each is None else None
        settled = frozenset((*said.get("sets", ()), *said.get("filters", ())))
        look = Look(tool, reading, verb, entity, one.schema, output, envelope, known, single, one, settled, said)
        looks.append(look)
    return looks


def _stands_apart(entity: str, declared: Mapping[str, Entity]) -> bool:
    """Is it a part of records that are given, and not shown with them?"""
    place = declared[entity].inside if entity in declared else None
    return place is not None and declared[place.entity].fields[place.field].hidden


def _made_entities(
    tools: Mapping[str, Tool], readings: Mapping[str, Reading], declared: Mapping[str, Entity]
) -> dict[str, Entity]:
    """What tools make under another name and others take the id of, though nothing else tells of it."""
    taken = {snake(name) for tool in tools.values() for name in properties(tool.input_schema)}
    found: dict[str, Entity] = {}
    for id_, tool in tools.items():
        stem = _new_id("_".join(readings[id_].noun), tool.input_schema, as_object(tool.output_schema))
        if readings[id_].verb == "create" and f"{stem}_id" in taken and stem is not None and stem not in declared:
            found[stem] = Entity(stem)
    return found


def _new_id(noun: str, schema: Record, output: Record) -> str | None:
    """The entity whose id a create returns, where it is not the noun's own: `book_flight` makes a `booking_id`."""
    names = [snake(name) for name in properties(output)]
    own = {"id", "key", "uuid", f"{noun}_id", f"{noun.rsplit('_', 1)[-1]}_id"}
    ids = [name for name in names if name.endswith("_id") and name not in {snake(one) for one in properties(schema)}]
    return ids[0].removesuffix("_id") if ids and not own & {*names} else None


def _made(entity: str, schema: Record, output: Record, tables: Mapping[str, Entity]) -> str:
    """The entity that a create makes a record of."""
    stem = _new_id(entity, schema, output)
    return stem if stem is not None and stem in tables and not tables[stem].singleton else entity


def _made_or_changed(
    reading: Reading, entity: str, schema: Record, tables: Mapping[str, Entity], readings: Mapping[str, Reading]
) -> tuple[Verb, Reading]:
    """What a tool does that is called as one that makes something: that, or another step of what others make."""
    if _is_begun(reading, entity, schema, tables, readings):
        return "update", replace(reading, status=_BEGINNINGS[reading.word])
    return ("update" if _is_set(reading, entity, schema, tables, readings) else "create"), reading


def _is_begun(
    reading: Reading, entity: str, schema: Record, tables: Mapping[str, Entity], readings: Mapping[str, Reading]
) -> bool:
    """Is it a record that others make which is begun or handed in: `start_task(task_id)` beside `create_task`?"""
    made = any(
        one.verb == "create" and one.word != reading.word and "_".join(one.noun) == entity for one in readings.values()
    )
    if reading.word not in _BEGINNINGS or not made:
        return False
    name, score = key_argument("update", entity, tables[entity].key if entity in tables else "id", schema)
    return score >= 2 and required(schema) <= {name}


def _is_set(
    reading: Reading, entity: str, schema: Record, tables: Mapping[str, Entity], readings: Mapping[str, Reading]
) -> bool:
    """Does a tool name a record that another makes, and only say more of it: `schedule_task(id, due)`?"""
    made = any(one.word in _MAKES and "_".join(one.noun) == entity for one in readings.values())
    if reading.word in _MAKES | _COPIES or not made:
        return False
    name, score = key_argument("update", entity, tables[entity].key if entity in tables else "id", schema)
    return score >= 2 and name in required(schema)


def _is_stateless(entity: Entity, looks: Sequence[Look]) -> bool:
    """Does nothing tell of a state that a record of the entity could be in? Then it is gone when it is cancelled."""
    shown = {snake(name) for look in looks if look.entity == entity.name for name in properties(look.shape)}
    return not {*_STATUS} & {*shown, *map(snake, entity.fields)}


def _is_of_one(
    single: Single,
    verb: Verb,
    entity: str,
    schema: Record,
    declared: Mapping[str, Entity],
    readings: Mapping[str, Reading],
) -> bool:
    """Does a tool speak of what there is one of, though it might speak of records?"""
    known = declared.get(entity)
    made = any(reading.verb == "create" and "_".join(reading.noun) == entity for reading in readings.values())
    is_table = (known is not None and not known.singleton) or (known is None and made)
    understood = single.how or single.fixed or single.choice
    if understood or not is_table:
        return True
    return verb in _ONE and key_argument(verb, entity, known.key if known else "id", schema)[1] == 0


def readings_of(tools: Mapping[str, Tool]) -> dict[str, Reading]:
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    readings: dict[str, Reading] = {}
    for mine in by_server.values():
        told = {tool.name: tool.description for tool in mine}
        named = read_names(told, told)
        readings.update({tool.id: named[tool.name] for tool in mine})
    return readings


def _nouns(readings: Iterable[Reading], declared: Mapping[str, Entity]) -> dict[tuple[str, ...], str]:
    """Noun phrases that surely name an entity, with its name: declared ones, and those that tools make, get or list."""
    nouns = {reading.noun: "_".join(reading.noun) for reading in readings if reading.noun and reading.verb != "unknown"}
    return nouns | {words(name): name for name in declared}
