"""Features of tools: verb, entity, schemas and the places in the result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_sim.infer.arguments import is_limited, is_paged
from mcp_sim.infer.batches import UnfoldedArguments, unfold_arguments
from mcp_sim.infer.entity_choice import choose_entity
from mcp_sim.infer.envelopes import find_envelope, record_schema
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName, Words
from mcp_sim.infer.result_schemas import infer_output, json_text_place
from mcp_sim.infer.server_names import parse_names
from mcp_sim.infer.singletons import find_singleton
from mcp_sim.infer.verb_choice import choose_verb
from mcp_sim.infer.verbs import STARTED_STATES, STRONG
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.plans import Envelope, Verb
from mcp_sim.types.scenario import Example


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
    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The overrides of the plan in the spec."""

    @property
    def settled_arguments(self) -> frozenset[str]:
        """Arguments whose role a spec declares."""
        return frozenset((*self.overrides.get("sets", ()), *self.overrides.get("filters", ())))

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
    known = _Known.of(parsed_names.values(), declared, held)
    shown = {example.tool: example.result for example in reversed(examples)}
    return [
        _features_of(
            tool,
            parsed_names[id_],
            overrides.get(id_, {}),
            infer_output(tool, shown.get(id_, shown.get(tool.name))),
            known,
        )
        for id_, tool in tools.items()
    ]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of all tools: the entities of their nouns, those that tools create, and the declared ones."""

    nouns: Mapping[Words, str]
    made: frozenset[str]
    declared: Mapping[str, Entity]
    held: Container[str]

    @staticmethod
    def of(parsed_names: Iterable[ParsedName], declared: Mapping[str, Entity], held: Container[str]) -> _Known:
        """Collect the nouns of tools that create, get, list or change something."""
        named = [parsed for parsed in parsed_names if parsed.noun and parsed.verb != "unknown"]
        nouns = {parsed.noun: "_".join(parsed.noun) for parsed in named} | {words(name): name for name in declared}
        made = frozenset("_".join(one.noun) for one in named if one.verb == "create" and one.word in STRONG)
        return _Known(nouns, made, declared, held)


def _features_of(
    tool: Tool, parsed: ParsedName, override: Mapping[str, Any], output: Record, known: _Known
) -> ToolFeatures:
    """Return the features of one tool. Overrides win."""
    schema, text = expanded(tool.input_schema), json_text_place(tool)
    entity = override.get("entity") or choose_entity(
        parsed, schema, output, known.nouns, known.declared, tool.description
    )
    verb: Verb = override.get("verb") or choose_verb(parsed, entity, schema, output, known.nouns, known.made)
    if verb == "update" and parsed.verb == "create":
        parsed = replace(parsed, status=STARTED_STATES.get(parsed.word))
    single = _find_singleton(override, parsed, schema, known.declared)
    if single is not None:
        verb, entity = ("get" if "verb" not in override and verb != "update" else verb), single.name
    bare = entity in known.held and not is_paged(schema)
    envelope = find_envelope(verb, entity, output, bare=bare, limited=is_limited(schema), text=text)
    item = (
        unfold_arguments(parsed, verb, entity, schema, override.get("each"))
        if single is None
        else UnfoldedArguments(schema)
    )
    return ToolFeatures(
        tool,
        parsed,
        verb,
        entity,
        item.schema,
        output,
        replace(envelope, **override.get("envelope", {})),
        override.get("key") if item.each is None else None,
        single,
        item,
        override,
    )


def group_by_entity(feature_list: Iterable[ToolFeatures]) -> defaultdict[str, list[ToolFeatures]]:
    """Return the features of the tools of each entity. An entity without tools has none."""
    groups: defaultdict[str, list[ToolFeatures]] = defaultdict(list)
    for features in feature_list:
        groups[features.entity].append(features)
    return groups


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
