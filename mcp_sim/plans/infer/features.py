"""Features of tools: the verb, the entity, the schemas and the places in the result, chosen by evidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from typing import Any, cast

from mcp_sim.plans.infer.arguments import MORE, caller_arguments, is_limited, is_paged, key_argument, last_name, without
from mcp_sim.plans.infer.batches import UnfoldedArguments, unfold_arguments
from mcp_sim.plans.infer.entity_evidence import holder_of_members, read_entity
from mcp_sim.plans.infer.envelopes import batch_envelope, find_envelope, record_schema
from mcp_sim.plans.infer.evidence import Evidence, choose, supporting
from mcp_sim.plans.infer.given_evidence import field_in_name, fields_of_tool, listed_as, mapped_entity
from mcp_sim.plans.infer.given_state import Given
from mcp_sim.plans.infer.names import ParsedName, first_nouns
from mcp_sim.plans.infer.singletons import find_single_value, find_singleton, switches, value_argument
from mcp_sim.plans.infer.state_tables import may_read
from mcp_sim.plans.infer.tool_facts import ServerFacts, ToolFacts, entered_amount, fields_in_noun, is_text_in_noun
from mcp_sim.plans.infer.verb_evidence import read_verb
from mcp_sim.plans.infer.verbs import COUNT, change_of_members, undone_verbs
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import at, is_open, items, main_type, properties, required, schema_of
from mcp_sim.types.lexicon.english import is_id, last_word, noun_of_id, participle, singular, snake, words
from mcp_sim.types.lexicon.terms import table, terms
from mcp_sim.types.plans import Envelope, How, Verb
from mcp_sim.types.result_schemas import TEXT_NAMES, result_schema, shown_form, text_place
from mcp_sim.types.scenario import Example

_SETTERS, _REPEATABLE, _COPYING = terms("verbs.setting"), terms("verbs.repeatable"), terms("verbs.copying")
_OF_STATE = 2.0
"""The weight of what the given state shows, above all that names and schemas imply."""
_CHANGES, _DETAILS = terms("arguments.change"), terms("nouns.details")
_AMOUNTS, _BALANCES = _CHANGES | terms("arguments.amount"), terms("fields.balance")
_KEYS = terms("fields.generated_key")
_UNITS, _SCORES = terms("arguments.unit"), terms("arguments.score")
_MOVING_AMOUNTS = table("verbs.entering").keys() | table("verbs.stocking").keys()


@frozen
class ToolFeatures:
    """What is known of a tool before its plan is made.

    `declared_key` is the key argument that the spec names, or the only id by which tools ask for what a create makes.
    `input` is the schema of the arguments for one record.
    `item_arguments` has their real places, if a tool takes a list of records.
    """

    tool: Tool
    parsed: ParsedName
    verb: Verb
    entity: str
    input: Record
    output: Record
    envelope: Envelope
    evidence: tuple[Evidence, ...] = ()
    """The evidence for the verb and the entity."""

    declared_key: str | None = None
    singleton: Entity | None = None
    """The singleton that the tool works on."""
    sets_value: Mapping[str, str] = field(default_factory=dict[str, str])
    """The argument and the field of a tool that sets one value of a singleton."""

    switched: str | None = None
    """The field of a singleton whose state a tool changes by its verb: `gate` of `close_gate`."""

    item_arguments: UnfoldedArguments = field(default_factory=lambda: UnfoldedArguments({}))
    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The overrides of the plan in the spec."""
    is_membership: bool = False
    """Whether it adds a key to a list of its record, or removes it, by a verb such as `enroll`."""

    @property
    def settled_arguments(self) -> frozenset[str]:
        """Arguments whose role a spec declares."""
        return frozenset((*self.overrides.get("sets", ()), *self.overrides.get("filters", ())))

    @property
    def is_upsert(self) -> bool:
        """Whether it creates a record or updates it if it exists."""
        return self.verb == "create" and self.parsed.word in _REPEATABLE

    @property
    def is_copy(self) -> bool:
        """Whether it creates a record like another one."""
        return self.verb == "create" and self.parsed.word in _COPYING

    @property
    def enters(self) -> How | None:
        """How an update changes lists of values, by its verb: `append` for `add_label`."""
        word = self.parsed.act
        if self.verb != "update":
            return None
        known = table("verbs.entering").get(word)
        return cast("How | None", change_of_members(word, self.tool.description) if self.is_membership else known)

    def calculates(self, argument: str) -> How | None:
        """Return how an update changes a number by an argument: `add` for a `delta`, `subtract` for what is spent."""
        word = self.parsed.act
        name, how = last_name(argument), table("verbs.calculating").get(word)
        is_stock = name in (_AMOUNTS | _UNITS) - _SCORES or name in words(self.tool.name)  # `use_points(points)`
        how = how or (table("verbs.stocking").get(word) if is_stock or self.singleton else None)
        # `add_mileage(id, km)`, and `log_labour(id, hours)` if its description begins with "Add"
        described = table("verbs.entering").get(self.parsed.described_verb) if name in _UNITS else None
        how = how or {"append": "add", "remove": "subtract"}.get(self.enters or described or "")
        how = how or ("add" if snake(name).startswith(MORE) else None)  # `extra_days`
        is_number = main_type(at(self.input, argument)) in {"integer", "number"}
        is_number = is_number and (snake(name).startswith(MORE) or argument in required(self.input))
        is_amount = name in _AMOUNTS or (is_number and last_word(name) not in _CHANGES | {"id"})
        if self.verb != "update" or (name not in _CHANGES and (how is None or not is_amount)):
            return None
        return cast("How", how or "add")

    @property
    def entered_amount(self) -> str | None:
        """The amount that `add_stock(item, quantity)` adds to what is there, and `remove_stock` takes off."""
        return entered_amount(self.parsed.word, self.input)

    def counts(self, field: str) -> How | None:
        """Return how a field counts what an update does: `add` for the `reserved` of `reserve_stock`.

        What its counterpart does is taken off: `subtract` for `release_stock`.
        """
        verbs = (self.parsed.word, *undone_verbs(self.parsed.word))
        done = next((verb for verb in verbs if words(snake(field))[-1:] == (participle(verb),)), None)
        return None if done is None else "add" if done == self.parsed.word else "subtract"

    @property
    def shape(self) -> Record:
        """The schema of the record or of a row, as the tool shows it."""
        is_batch = self.verb == "create" and self.item_arguments.each is not None
        envelope = batch_envelope(self.verb, self.entity, self.output) if is_batch else self.envelope
        return record_schema(envelope, self.output)

    def key_argument(self, key: str) -> str | None:
        """Return the argument that names the record with the key field `key`. Overrides win."""
        return self.declared_key or key_argument(self.verb, self.entity, key, self.input)[0]


def collect_features(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    parsed_names: Mapping[str, ParsedName],
    given: Given | None = None,
) -> list[ToolFeatures]:
    """Return the features of all tools. Lists of given records are rendered without an envelope."""
    shown, texts = {example.tool: example.result for example in reversed(examples)}, _json_texts(tools)
    given = given or Given()
    inputs = {id_: expanded(tool.input_schema) for id_, tool in tools.items()}
    outputs = {
        id_: _output_of(tool, shown.get(id_, shown.get(tool.name)), is_text=id_ in texts) for id_, tool in tools.items()
    }
    entities = {**declared, **given.entities}
    nouns = {*entities, *("_".join(parsed.noun) for parsed in parsed_names.values())}
    fields = {name for entity in entities.values() for name in entity.fields}
    ignored = caller_arguments(inputs.values(), outputs.values(), nouns, fields)
    facts = [
        ToolFacts(
            tool,
            parsed_names[id_],
            without(ignored, inputs[id_]),
            outputs[id_],
            overrides.get(id_, {}),
            texts.get(id_),
        )
        for id_, tool in tools.items()
    ]
    server = ServerFacts.of(parsed_names.values(), declared, given, facts)
    resolved = _with_setters_as_creates([_resolve_effect(fact, server) for fact in facts], declared)
    return _with_ids_of_other_names(_with_compounds_as_one(resolved, server.held), declared)


def _json_texts(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return tool id -> the only property of its result, a text that is JSON unless the tool answers in sentences."""
    places = {id_: text_place(tool) or "" for id_, tool in tools.items()}
    return {id_: at for id_, at in places.items() if snake(at) in TEXT_NAMES and not tools[id_].prose}


def _output_of(tool: Tool, example: Json, *, is_text: bool) -> Record:
    """Return the outputSchema, else the shape of an example, else the form that the description shows, else {}.

    `is_text`: the result is JSON in a text, whose form the outputSchema does not declare.
    """
    if tool.output_schema is None and isinstance(example, dict | list):
        return schema_of(example)
    schema = {} if is_text else result_schema(tool)
    return schema if schema and not is_open(schema) else shown_form(tool.description)


def _with_setters_as_creates(feature_list: list[ToolFeatures], declared: Mapping[str, Entity]) -> list[ToolFeatures]:
    """Read `set_timer(name, seconds)` as a create where no argument names a timer and no other tool creates them."""
    known = {*declared, *(features.entity for features in feature_list if features.verb == "create")}
    asked = defaultdict[str, set[str]](set)
    for features in feature_list:
        if features.verb in {"get", "delete"}:
            asked[features.entity] |= {name for name in properties(features.input) if last_word(name) != "id"}
    return [
        replace(features, verb="create")
        if features.entity not in known and _sets_new(features, asked[features.entity])
        else features
        for features in feature_list
    ]


def _sets_new(features: ToolFeatures, asked: AbstractSet[str]) -> bool:
    """Whether a setter names no record. Other tools ask for one by the arguments `asked`: the user of a quota."""
    is_setter = features.verb == "update" and features.parsed.word in _SETTERS and "verb" not in features.overrides
    is_nameless = features.key_argument("id") is None and asked.isdisjoint(properties(features.input))
    return is_setter and features.singleton is None and is_nameless


def _with_compounds_as_one(feature_list: Sequence[ToolFeatures], held: Container[str]) -> list[ToolFeatures]:
    """Return the features with one entity where a create makes an `a_b` with the key `b_id`, and other tools use a `b`.

    Not so if the caller gives that id: the new record then links to a `b`. Where the given state has `b`s and no `a_b`s
    (`held`), and no other tool mentions these, a `food_order` is an `order`.
    """
    creates = {features.entity: features for features in feature_list if features.verb == "create"}
    heads = {name: name.rsplit("_", 1)[-1] for name in creates}
    uses = Counter(features.entity for features in feature_list)
    others = {*uses}
    heads_meant = {
        name: head
        for name, head in heads.items()
        if head in others - creates.keys()
        and (_issues(creates[name], name, head) or _is_kind_of(creates[name], name, head, uses[name], held))
    }
    return [replace(features, entity=heads_meant.get(features.entity, features.entity)) for features in feature_list]


def _is_kind_of(create: ToolFeatures, entity: str, head: str, uses: int, held: Container[str]) -> bool:
    is_linked = any(noun_of_id(snake(name)) == head for name in properties(create.input))
    return uses == 1 and head in held and entity not in held and head != entity and not is_linked


def _issues(create: ToolFeatures, entity: str, head: str) -> bool:
    """Whether the only id or number in the answer of a create is that of a `head`, and no argument gives it."""
    shown = {*map(snake, properties(create.shape))}
    issued = shown - {*map(snake, properties(create.input))}
    own = {"id", *(f"{entity}_{ending}" for ending in _KEYS)}
    return any(f"{head}_{ending}" in issued for ending in _KEYS) and shown.isdisjoint(own)


def _with_ids_of_other_names(
    feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]
) -> list[ToolFeatures]:
    """Return the features with the id that all tools about one record require as its key, whatever it is named after.

    `build_create(name)` makes what `build_get(run_id)` and `build_delete(run_id)` ask for, if there are no runs.
    """
    entities, keys = {*declared, *(features.entity for features in feature_list)}, dict[str, str]()
    for entity, mine in group_by_entity(feature_list).items():
        given = {snake(name) for features in mine if features.verb == "create" for name in properties(features.input)}
        asking = [features for features in mine if features.verb in {"get", "update", "delete"}]
        ids = {frozenset(filter(is_id, map(snake, required(features.input)))) for features in asking}
        [*only] = next(iter(ids)) if len(ids) == 1 < len(asking) else ()
        is_keyless = all(features.singleton is None and features.key_argument("id") is None for features in asking)
        is_made = any(features.verb == "create" for features in mine) and given.isdisjoint(only)
        if len(only) == 1 and is_keyless and is_made and noun_of_id(only[0]) not in entities:
            keys[entity] = only[0]
    return [_asked_by(features, keys.get(features.entity)) for features in feature_list]


def _asked_by(features: ToolFeatures, key: str | None) -> ToolFeatures:
    """Return the features of a tool about one record with the argument of this name as its key."""
    named = [name for name in required(features.input) if snake(name) == key]
    return (
        replace(features, declared_key=named[0]) if named and features.verb in {"get", "update", "delete"} else features
    )


def _resolve_effect(facts: ToolFacts, server: ServerFacts) -> ToolFeatures:
    """Choose the entity and the verb of a tool by the evidence, and find the places in its result."""
    evidence, schema, override = [*read_entity(facts, server)], facts.input, facts.overrides
    value = None if {"verb", "entity", "key"} & override.keys() else _find_value(facts, server)
    if value is not None:
        reason = f"the given {value[0].name} has its {value[1]}"
        evidence.append(Evidence(facts.tool.id, "entity", value[0].name, _OF_STATE, reason, "state"))
        is_switch = switches(facts.parsed, schema)
        if facts.parsed.verb == "unknown" or is_switch:
            verb_of_value = "update" if is_switch else "get"
            evidence.append(Evidence(facts.tool.id, "verb", verb_of_value, _OF_STATE, reason, "state"))
    entity: str = choose(evidence, "entity", "")
    evidence += read_verb(facts, server, entity)
    held = server.given.entities.get(entity) if entity in server.held and value is None else None
    shown_field = None if held is None else field_in_name(held, facts)
    if shown_field is not None:
        reason = f"given records have a {shown_field}"
        evidence.append(Evidence(facts.tool.id, "verb", "get", _OF_STATE, reason, "state"))
    verb: Verb = choose(evidence, "verb", "unknown")
    is_listed = listed_as(facts, server) is not None  # `like_track(track_id)` does not change what is playing
    single = value[0] if value is not None else None if is_listed else _find_singleton(facts, server.declared)
    account = _find_account(facts, server) if single is None else None
    if account is not None:
        reason = f"it changes a number of the given {account.name}"
        evidence.append(Evidence(facts.tool.id, "verb", "update", 0.6, reason, "state"))
    single = single or account or _find_described(facts, server, entity)
    if single is not None:
        evidence += [] if entity else read_verb(facts, server, single.name)
        verb = choose(evidence, "verb", "unknown")
        entity, item = single.name, UnfoldedArguments(schema)
        verb, evidence = _of_singleton(verb, evidence, is_declared="verb" in override)
    else:
        item = unfold_arguments(facts.parsed, verb, entity, schema, override.get("each"))
    if value is not None:
        places = _value_places(facts, *value)
    else:
        given, shown = server.given.entities.get(entity) if single is None else None, None
        if given is not None and verb == "get":
            shown = _only_value(facts, given)
        elif given is not None and mapped_entity(facts, server) == entity:
            shown = Envelope(record="", shows={name: name for name in fields_of_tool(given, facts)})
        places = shown or _find_places(facts, verb, entity, is_held=_is_held(server, entity))
    return ToolFeatures(
        facts.tool,
        facts.parsed,
        verb,
        entity,
        item.schema,
        facts.output,
        replace(places, **override.get("envelope", {})),
        (*supporting(evidence, "verb", verb), *supporting(evidence, "entity", entity)),
        override.get("key") if item.each is None else None,
        single,
        _set_value(facts, *value) if value is not None and verb == "update" else {},
        value[1] if value is not None and switches(facts.parsed, schema) else None,
        item,
        override,
        holder_of_members(facts, server) == entity,
    )


def _of_singleton(verb: Verb, evidence: list[Evidence], *, is_declared: bool) -> tuple[Verb, list[Evidence]]:
    """Return the verb of a tool on a singleton, which is only read or changed, with the evidence for that verb."""
    usual: Verb = "update" if verb in {"create", "update"} else "get"
    is_for_verb = [(fact.attribute, fact.value) == ("verb", verb) for fact in evidence]
    read = [replace(fact, value=usual) if is_for else fact for fact, is_for in zip(evidence, is_for_verb, strict=True)]
    return verb if is_declared else usual, read


def _find_value(facts: ToolFacts, server: ServerFacts) -> tuple[Entity, str] | None:
    """Return the given singleton and its field that a tool reads or sets, unless an entity of many records is meant.

    Nor does it mean one if a singleton has its name, unless that only has a field like its argument.
    """
    single, is_setter = _find_singleton(facts, server.declared), value_argument(facts.parsed, facts.input) is not None
    given = [entity for name, entity in server.declared.items() if name in server.held]
    if any(not entity.singleton and entity.name == "_".join(facts.parsed.noun) for entity in given):
        return None
    is_apart = single is None or (is_setter and {*words(single.name)}.isdisjoint(facts.parsed.noun))
    return find_single_value(facts.parsed, facts.input, given) if is_apart else None


def _set_value(facts: ToolFacts, entity: Entity, path: str) -> dict[str, str]:
    """Return the argument that sets a value of a singleton, with its path, unless their types differ."""
    name = value_argument(facts.parsed, facts.input) or ""
    field, _, inner_name = path.partition(".")
    kinds = {_kind(at(facts.input, name)), _kind(at(entity.fields[field].schema, inner_name))} - {""}
    return {name: path} if name and len(kinds) < 2 else {}


def _value_places(facts: ToolFacts, entity: Entity, path: str) -> Envelope:
    """Return the place of one value in a result: alone, in the property of its name, or in the only one of its type."""
    parts, name = properties(facts.output), path.rpartition(".")[2]
    field, _, inner_name = path.partition(".")
    kind = _kind(at(entity.fields[field].schema, inner_name))
    fitting = [field for field, inner in parts.items() if _kind(inner) in {kind, ""}]
    named = next((field for field in parts if snake(field) == snake(name)), None)
    is_change = value_argument(facts.parsed, facts.input) is not None or switches(facts.parsed, facts.input)
    usual = name if is_change else ""  # a change shows what it has set
    place = named or (fitting[0] if len(fitting) == 1 else next(iter(parts), usual))
    return Envelope(record="", shows={place: path}, text=facts.text)


def _only_value(facts: ToolFacts, entity: Entity) -> Envelope | None:
    """Return the place of the field of a given record that is all a result shows: `odometer` of `get_odometer(vin)`.

    It is named like the tool, or the only one. Texts may be sentences, unless the state has texts under names, or the
    noun is that of a text.
    """
    fields = [field for field in entity.fields.values() if not field.hidden and field.name != entity.key]
    text = text_place(facts.tool)
    if text is not None and entity.natural and [_kind(field.schema) for field in fields] == ["string"]:
        return Envelope(shows={text: fields[0].name})
    texts = [field for field in fields_in_noun(entity, facts.parsed.noun)
             if is_text_in_noun(entity, field, facts.parsed.noun)]  # fmt: skip
    if text is not None and len(texts) == 1:
        return Envelope(shows={text: texts[0].name})
    kinds = {name: _shown_kind(schema) for name, schema in properties(facts.output).items()}
    place, kind = next(iter(kinds.items()), ("", ""))
    if len(kinds) != 1 or kind not in {"number", "boolean", "number[]", "string[]"}:
        return None
    named = fields_in_noun(entity, facts.parsed.noun) or (fields if len(fields) == 1 else [])
    kinds_of = {field.name: _shown_kind(field.schema) for field in named}
    fitting = [name for name, held in kinds_of.items() if held == kind or (held == "[]" and kind.endswith("[]"))]
    return Envelope(shows={place: fitting[0]}, text=facts.text) if len(fitting) == 1 else None


def _shown_kind(schema: Record) -> str:
    return f"{_kind(items(schema))}[]" if main_type(schema) == "array" else _kind(schema)


def _kind(schema: Record) -> str:
    return "number" if main_type(schema) == "integer" else main_type(schema)


def _is_held(server: ServerFacts, entity: str) -> bool:
    """Whether the given state has such records, also inside others."""
    given = server.given.entities.get(entity)
    return entity in server.held or (given is not None and given.inside is not None)


def _find_places(facts: ToolFacts, verb: Verb, entity: str, *, is_held: bool) -> Envelope:
    """Return the places in the result of a tool. `is_held`: a given state has such records."""
    if facts.parsed.word == COUNT and verb == "list":
        total = next(
            (name for name, schema in properties(facts.output).items() if main_type(schema) == "integer"), None
        )
        return Envelope(total=total if facts.output else "count", text=facts.text)
    is_bare = is_held and not is_paged(facts.input) and (facts.tool.output_schema is None or facts.text is not None)
    return find_envelope(
        verb,
        entity,
        facts.output,
        bare=is_bare,
        limited=is_limited(facts.input),
        text=facts.text,
    )


def _find_singleton(facts: ToolFacts, declared: Mapping[str, Entity]) -> Entity | None:
    """Return the singleton that a tool works on. A spec may declare it, or a key."""
    override = facts.overrides
    if "entity" in override:
        named = declared.get(override["entity"])
        return named if named is not None and named.singleton else None
    is_keyed = override.get("key") is not None or override.get("verb", "get") not in {"get", "update"}
    return None if is_keyed else find_singleton(facts.parsed, facts.input, declared.values())


def _find_account(facts: ToolFacts, server: ServerFacts) -> Entity | None:
    """Return the only given singleton with a balance, or with the number in the name of `add_cash(amount)`.

    Of several it is the one that the description mentions. Otherwise the number must be called an amount: no voucher
    number is taken off a balance.
    """
    about = {*map(singular, words(facts.tool.description.partition("\n")[0].lower()))}
    noun, needed, word = facts.parsed.object, required(facts.input), facts.parsed.act
    singles = [entity for name, entity in server.declared.items() if entity.singleton and name in server.held]
    named = [entity for entity in singles if noun and "_".join(noun) in map(snake, entity.fields)]
    held = named or [entity for entity in singles if not _BALANCES.isdisjoint(map(snake, entity.fields))]
    numbers = [name for name in needed if main_type(at(facts.input, name)) in {"integer", "number"}]
    is_amount = bool(named) or last_word(next(iter(numbers), "")) in _AMOUNTS | _UNITS | _BALANCES
    mentioned = [entity for entity in held if singular(last_word(entity.name)) in about] or (held if is_amount else [])
    is_bare = "_".join(noun) not in server.declared and not facts.overrides and not any(map(is_id, map(snake, needed)))
    is_change = word in table("verbs.calculating") or (word in _MOVING_AMOUNTS and bool(named))
    return mentioned[0] if is_change and is_bare and len(numbers) == 1 and len(mentioned) == 1 else None


def _find_described(facts: ToolFacts, server: ServerFacts, entity: str) -> Entity | None:
    """Return the only given singleton that a tool without arguments says that it shows.

    Its description says "Profile of the customer", or its noun begins with the singleton: `clinic_contact`.
    """
    about = words(facts.tool.description.partition("\n")[0].lower())
    is_known = entity in server.declared or entity in server.shown or bool(facts.overrides)
    if is_known or facts.parsed.plural or not may_read(facts.parsed) or properties(facts.input):
        return None
    singles = [entity for name, entity in server.given.entities.items() if entity.singleton and name in server.held]
    shown, is_said = {*properties(facts.output)}, not _DETAILS.isdisjoint(about)
    meant = [single for single in singles if words(single.name) in first_nouns(facts.parsed.noun)
             or (is_said and singular(last_word(single.name)) in about)]  # fmt: skip
    return meant[0] if len(meant) == 1 and (not shown or shown & meant[0].fields.keys()) else None


def group_by_entity(feature_list: Iterable[ToolFeatures]) -> defaultdict[str, list[ToolFeatures]]:
    """Return the features of the tools of each entity. An entity without tools is left out."""
    groups: defaultdict[str, list[ToolFeatures]] = defaultdict(list)
    for features in feature_list:
        groups[features.entity].append(features)
    return groups
