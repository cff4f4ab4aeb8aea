"""Features of tools: verb, entity, schemas and the places in the result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_sim.infer.arguments import is_limited, is_paged
from mcp_sim.infer.batches import UnfoldedArguments, unfold_arguments
from mcp_sim.infer.entity_choice import choose_entity
from mcp_sim.infer.envelopes import find_envelope, record_schema
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName
from mcp_sim.infer.result_schemas import collect_argument_types, find_json_texts, infer_output
from mcp_sim.infer.server_names import parse_names
from mcp_sim.infer.singletons import find_singleton
from mcp_sim.infer.verb_choice import (
    choose_create_or_update,
    choose_verb,
    is_described_as_search,
)
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Envelope, How, Verb
from mcp_sim.types.scenario import Example

_STATUS = ("status", "state", "stage")
_ONE = frozenset({"get", "update", "delete"})


@dataclass(frozen=True, slots=True)
class ListChange:
    """A change of the list `field` of the record that `key` names: the value of `argument` is added or removed."""

    key: str
    argument: str
    field: str
    how: How


@dataclass(frozen=True, slots=True)
class ToolFeatures:
    """What is known of a tool before its plan is made.

    `declared_key` is the key argument that the spec names. `input` is the schema of the arguments for one record.
    `item_arguments` has their real places, if a tool takes a list of records.
    """

    tool: Tool
    parsed: ParsedName
    verb: Verb
    entity: str
    input: Record
    output: Record
    envelope: Envelope
    declared_key: str | None = None
    singleton: Entity | None = None
    """The singleton that the tool works on."""

    item_arguments: UnfoldedArguments = field(default_factory=lambda: UnfoldedArguments({}))
    settled_arguments: frozenset[str] = frozenset()
    """Arguments whose role is known."""

    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The overrides of the plan in the spec."""

    list_change: ListChange | None = None
    """The change of a list of the record."""

    def key_argument(self, key: str) -> str | None:
        """Return the argument that names the record with the key field `key`. Overrides win."""
        return self.declared_key or key_argument(self.verb, self.entity, key, self.input)[0]

    @property
    def shape(self) -> Record:
        """The schema of the record or of a row, as the tool shows it."""
        return record_schema(self.envelope, self.output)


def collect_features(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    parsed_names: Mapping[str, ParsedName],
    held: Container[str] = frozenset(),
) -> list[ToolFeatures]:
    """Return the features of all tools.

    `held` are the entities with records in a given state; lists of their records are rendered without an envelope.
    """
    nouns = _entity_nouns(parsed_names.values(), declared)
    tables = {**_created_entities(tools, parsed_names, declared), **declared}
    shown = {example.tool: example.result for example in reversed(examples)}
    texts, types = find_json_texts(tools), collect_argument_types(tools.values())
    feature_list: list[ToolFeatures] = []
    for id_, tool in tools.items():
        override, parsed = overrides.get(id_, {}), parsed_names[id_]
        schema = expanded(tool.input_schema)
        output = infer_output(tool, shown.get(id_, shown.get(tool.name)), texts.get(id_), types[tool.server])
        entity = override.get("entity") or choose_entity(parsed, schema, output, nouns, tables, tool.description)
        verb: Verb = override.get("verb") or choose_verb(parsed, entity, schema, output, nouns, declared)
        is_open = "verb" not in override
        if is_open and verb == "create":
            verb, parsed = choose_create_or_update(parsed, entity, schema, tables, parsed_names)
        if verb == "create" and entity not in declared and "entity" not in override:
            entity = _entity_of_create(entity, schema, output, tables)
        if is_open and parsed.word == "cancel" and entity in tables and _is_stateless(tables[entity], feature_list):
            verb = "delete"
        if is_open and verb == "get" and entity in held and is_described_as_search(tool.description, entity, schema):
            verb = "list"
        single = _find_singleton(override, parsed, schema, declared)
        if single is not None:
            verb, entity = ("get" if is_open and verb != "update" else verb), single.name
        bare = (entity in held or _is_hidden_part(entity, declared)) and not is_paged(schema)
        envelope = find_envelope(verb, entity, output, bare=bare, limited=is_limited(schema), text=texts.get(id_))
        if verb == "get" and parsed.noun[-1:] in {("id",), ("key",)} and not properties(output):
            envelope = Envelope(key="")
        envelope = override.get("envelope") or envelope
        each = (override.get("each"), declared.get(entity))
        item = unfold_arguments(parsed, verb, entity, schema, *each) if single is None else UnfoldedArguments(schema)
        known = override.get("key") if item.each is None else None
        settled = frozenset((*override.get("sets", ()), *override.get("filters", ())))
        features = ToolFeatures(
            tool, parsed, verb, entity, item.schema, output, envelope, known, single, item, settled, override
        )
        feature_list.append(features)
    return feature_list


def group_by_entity(feature_list: Iterable[ToolFeatures]) -> defaultdict[str, list[ToolFeatures]]:
    """Return the features of the tools of each entity. An entity without tools has none."""
    groups: defaultdict[str, list[ToolFeatures]] = defaultdict(list)
    for features in feature_list:
        groups[features.entity].append(features)
    return groups


def _is_hidden_part(entity: str, declared: Mapping[str, Entity]) -> bool:
    """Whether it is a part of given records that is not shown with them."""
    place = declared[entity].inside if entity in declared else None
    return place is not None and declared[place.entity].fields[place.field].hidden


def _created_entities(
    tools: Mapping[str, Tool], parsed_names: Mapping[str, ParsedName], declared: Mapping[str, Entity]
) -> dict[str, Entity]:
    """Return entities that tools create under another name and whose ids other tools take."""
    taken = {snake(name) for tool in tools.values() for name in properties(tool.input_schema)}
    found: dict[str, Entity] = {}
    for id_, tool in tools.items():
        stem = _returned_entity("_".join(parsed_names[id_].noun), tool.input_schema, as_object(tool.output_schema))
        if parsed_names[id_].verb == "create" and f"{stem}_id" in taken and stem is not None and stem not in declared:
            found[stem] = Entity(stem)
    return found


def _returned_entity(noun: str, schema: Record, output: Record) -> str | None:
    """Return the entity whose id a create returns, if it is not the noun's: `booking_id` of `book_flight`."""
    names = [snake(name) for name in properties(output)]
    own = {"id", "key", "uuid", f"{noun}_id", f"{noun.rsplit('_', 1)[-1]}_id"}
    ids = [name for name in names if name.endswith("_id") and name not in {snake(one) for one in properties(schema)}]
    return ids[0].removesuffix("_id") if ids and not own & {*names} else None


def _entity_of_create(entity: str, schema: Record, output: Record, tables: Mapping[str, Entity]) -> str:
    """Return the entity whose record a create makes."""
    stem = _returned_entity(entity, schema, output)
    return stem if stem is not None and stem in tables and not tables[stem].singleton else entity


def _is_stateless(entity: Entity, feature_list: Sequence[ToolFeatures]) -> bool:
    """Whether records of the entity have no state. Such a record is deleted when it is cancelled."""
    shown = {
        snake(name)
        for features in feature_list
        if features.entity == entity.name
        for name in properties(features.shape)
    }
    return not {*_STATUS} & {*shown, *map(snake, entity.fields)}


def _find_singleton(
    override: Mapping[str, Any], parsed: ParsedName, schema: Record, declared: Mapping[str, Entity]
) -> Entity | None:
    """Return the singleton that a tool works on. A spec may declare it, or a key."""
    if "entity" in override:
        named = declared.get(override["entity"])
        return named if named is not None and named.singleton else None
    is_keyed = override.get("key") is not None or override.get("verb", "get") not in {"get", "update"}
    return None if is_keyed else find_singleton(parsed, schema, declared.values())


def parse_tool_names(tools: Mapping[str, Tool]) -> dict[str, ParsedName]:
    """Return the parsed names of all tools, by tool id. The names of each server are parsed together."""
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    parsed_names: dict[str, ParsedName] = {}
    for mine in by_server.values():
        descriptions = {tool.name: tool.description for tool in mine}
        named = parse_names(descriptions, descriptions)
        parsed_names.update({tool.id: named[tool.name] for tool in mine})
    return parsed_names


def _entity_nouns(parsed_names: Iterable[ParsedName], declared: Mapping[str, Entity]) -> dict[tuple[str, ...], str]:
    """Return noun phrases that certainly name an entity, with its name.

    These are declared ones, and those that tools create, get or list.
    """
    nouns = {parsed.noun: "_".join(parsed.noun) for parsed in parsed_names if parsed.noun and parsed.verb != "unknown"}
    return nouns | {words(name): name for name in declared}
