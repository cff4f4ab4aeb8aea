"""What does each tool do to which entity? Read from names, schemas, annotations and examples; what a spec says wins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.domain import Entity, Envelope, Field, Plan, Verb
from mcp_sim.plans.arguments import LIMITS, Known, Roles, key_argument, reading_roles, writing_roles
from mcp_sim.plans.confidence import Evidence, judged
from mcp_sim.plans.envelopes import envelope_of, plain_envelope, rows_schema
from mcp_sim.plans.fields import counted, key_field, key_like, shown_fields, with_declared, with_links
from mcp_sim.plans.given import given_state
from mcp_sim.plans.names import Reading, read_names
from mcp_sim.scenario import Example
from mcp_sim.schemas import as_object, at, constants, expanded, items, main_type, properties, required, schema_of
from mcp_sim.types import Json, Key, Record, Tool
from mcp_sim.words import plural, snake, vocabulary, words

_STATUS = ("status", "state", "stage")
_ATTRIBUTES = vocabulary("status state name description title text content size stage priority setting metadata")
_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})


@dataclass(frozen=True, slots=True)
class Look:
    """A tool on its way to a plan: what its name says, its schemas, its entity, what its result holds where.

    `said_key` is the key argument where the spec names it.
    """

    tool: Tool
    reading: Reading
    verb: Verb
    entity: str
    input: Record
    output: Record
    envelope: Envelope
    said_key: str | None = None

    def key_argument(self, key: str) -> str | None:
        """The argument that names the record whose key field is `key`; the spec's word before any other."""
        return self.said_key or key_argument(self.verb, self.entity, key, self.input)[0]

    @property
    def shape(self) -> Record:
        """The schema of the record or of a row, as the tool shows it."""
        return rows_schema(self.envelope, self.output)


@dataclass(frozen=True, slots=True)
class Inferred:
    """Entities with their fields, keys and links, one plan per tool id, and the records that the given state holds."""

    entities: Mapping[str, Entity]
    plans: Mapping[str, Plan]
    records: Mapping[str, Sequence[Record]]


def infer(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    state: Json = None,
) -> Inferred:
    """What the tools do to which records, told by nothing but themselves, and by the state where one is given.

    `declared` is what the spec says about entities, `overrides` maps tool ids to what it says of their plans.
    """
    given = given_state(state)
    declared = {**given.entities, **declared}
    looks = _looks(tools, declared, overrides, examples)
    shown = _shown(looks, declared)
    roles, fields = _roles(looks, shown, declared)
    entities = _entities(looks, fields, declared, examples)
    sharing = _sharing(looks)
    plans = {
        look.tool.id: _plan(look, roles[look.tool.id], entities, sharing, overrides.get(look.tool.id, {}), declared)
        for look in looks
    }
    return Inferred(entities, plans, given.records)


# which tool speaks of which entity ------------------------------------------------------------------------------------


def _looks(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
) -> list[Look]:
    readings = _readings(tools)
    nouns = _nouns(readings.values(), declared)
    shown = {example.tool: example.result for example in reversed(examples)}
    looks: list[Look] = []
    for id_, tool in tools.items():
        said, reading = overrides.get(id_, {}), readings[id_]
        schema = expanded(tool.input_schema)
        output = _output(tool, shown.get(id_, shown.get(tool.name)))
        entity = said.get("entity") or _entity(reading, schema, output, nouns, declared)
        verb: Verb = said.get("verb") or _verb(reading, entity, schema, output, nouns)
        envelope = said.get("envelope") or _envelope(verb, entity, output)
        looks.append(Look(tool, reading, verb, entity, schema, output, envelope, said.get("key")))
    return looks


def _readings(tools: Mapping[str, Tool]) -> dict[str, Reading]:
    by_server: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools.values():
        by_server[tool.server].append(tool)
    readings: dict[str, Reading] = {}
    for mine in by_server.values():
        named = read_names(tool.name for tool in mine)
        readings.update({tool.id: named[tool.name] for tool in mine})
    return readings


def _nouns(readings: Iterable[Reading], declared: Mapping[str, Entity]) -> dict[tuple[str, ...], str]:
    """Noun phrases that surely name an entity, with its name: declared ones, and those that tools make, get or list."""
    nouns = {reading.noun: "_".join(reading.noun) for reading in readings if reading.noun and reading.verb != "unknown"}
    return nouns | {words(name): name for name in declared}


def _output(tool: Tool, example: Json) -> Record:
    """The outputSchema, expanded; without one, the shape of an example's result; {} where nothing is known."""
    if tool.output_schema is not None:
        return expanded(tool.output_schema)
    return schema_of(example) if isinstance(example, dict | list) else {}


def _entity(
    reading: Reading,
    schema: Record,
    output: Record,
    nouns: Mapping[tuple[str, ...], str],
    declared: Mapping[str, Entity],
) -> str:
    """The entity that a tool speaks of; '' where nothing names one."""
    declared_nouns = {words(name) for name in declared}
    noun = reading.noun
    if reading.verb in {"update", "get"} and len(noun) > 1 and noun[-1] in _ATTRIBUTES and noun not in declared_nouns:
        noun = noun[:-1]
    for start in range(1, len(noun)):
        if noun not in declared_nouns and noun[start:] in nouns and noun[:start] in nouns:
            return nouns[noun[start:]]
    if reading.verb in {"update", "get"}:
        for end in range(len(noun) - 1, 0, -1):
            if noun[:end] in nouns and _names_key(schema, nouns[noun[:end]]) and not _names_key(schema, "_".join(noun)):
                return nouns[noun[:end]]
    if noun and (reading.plural or noun in declared_nouns or not _ATTRIBUTES.issuperset(noun)):
        return nouns.get(noun, "_".join(noun))
    return _unnamed(schema, output, nouns, declared)


def _names_key(schema: Record, entity: str) -> bool:
    return bool({f"{entity}_id", f"{entity}_key", entity} & {snake(name) for name in properties(schema)})


def _unnamed(
    schema: Record, output: Record, nouns: Mapping[tuple[str, ...], str], declared: Mapping[str, Entity]
) -> str:
    """A verb alone: the entity whose key or rows the schemas name, or the only one there is."""
    for entity in nouns.values():
        if _names_key(schema, entity) or snake(plural(entity)) in {snake(name) for name in properties(output)}:
            return entity
    known = {*declared, *nouns.values()}
    return next(iter(known)) if len(known) == 1 else ""


def _verb(reading: Reading, entity: str, schema: Record, output: Record, nouns: Mapping[tuple[str, ...], str]) -> Verb:
    """The verb of the name, unless arguments and result say that it means another."""
    verb = reading.verb
    if not entity:
        return "unknown"
    if verb == "unknown" and reading.plural and reading.noun in nouns:
        return "list"
    arrays = any(main_type(part) == "array" for part in properties(output).values())
    if verb == "list" and _single(output) and key_argument("get", entity, "id", schema)[1] >= 2:
        return "get"
    if verb == "search" and not reading.plural and not arrays and _asks_for_one(entity, schema):
        return "get"
    if verb == "get" and _has_rows(entity, output) and key_argument("get", entity, "id", schema)[1] < 2:
        return "list"
    return verb


def _asks_for_one(entity: str, schema: Record) -> bool:
    """True where nothing but a key is asked for."""
    name, score = key_argument("get", entity, "id", schema)
    return score >= 2 and required(schema) <= {name} and not {snake(name) for name in properties(schema)} & LIMITS


def _has_rows(entity: str, output: Record) -> bool:
    names = {snake(plural(entity)), "items", "results", "data"}
    parts = properties(output).items()
    return main_type(output) == "array" or any(
        snake(name) in names and main_type(part) == "array" and main_type(items(part)) == "object"
        for name, part in parts
    )


def _single(output: Record) -> bool:
    """A plural name, but one record: a noun like `news`, or `get_settings(settings_id)`."""
    return bool(output) and not any(main_type(part) == "array" for part in properties(output).values())


def _envelope(verb: Verb, entity: str, output: Record) -> Envelope:
    if verb == "unknown":
        return Envelope()
    return envelope_of(verb, entity, output) if properties(output) or items(output) else plain_envelope(verb, entity)


# fields and the roles of arguments ------------------------------------------------------------------------------------


def _shown(looks: Sequence[Look], declared: Mapping[str, Entity]) -> dict[str, dict[str, Field]]:
    """Every entity's fields, as far as results and declarations tell."""
    shapes: dict[str, list[Record]] = {name: [] for name in declared}
    for look in looks:
        if look.verb != "unknown":
            whole = look.verb != "delete" and not (look.envelope.record == "" and look.envelope.key is not None)
            shapes.setdefault(look.entity, []).extend([look.shape] if whole and _is_record(look) else [])
    return {name: with_declared(shown_fields(found), declared.get(name)) for name, found in shapes.items()}


def _is_record(look: Look) -> bool:
    return main_type(look.shape) == "object" and bool(properties(look.shape))


def _roles(
    looks: Sequence[Look], shown: Mapping[str, Mapping[str, Field]], declared: Mapping[str, Entity]
) -> tuple[dict[str, Roles], dict[str, dict[str, Field]]]:
    """The roles of every tool's arguments, and the fields with those that only arguments tell of."""
    fields = {name: dict(parts) for name, parts in shown.items()}
    roles: dict[str, Roles] = {}
    keys = _keys(looks, fields, declared)
    order = ("create", "update", "get", "list", "search", "delete", "unknown")
    for look in sorted(looks, key=lambda look: order.index(look.verb)):
        if look.verb == "unknown":
            roles[look.tool.id] = Roles()
            continue
        mine = fields[look.entity]
        found = _roles_of(look, _known(look.entity, keys[look.entity], mine))
        added = _added(look, found, mine, {*fields})
        mine.update(added)
        known = _known(look.entity, keys[look.entity], mine)
        roles[look.tool.id] = _roles_of(look, known) if added else found
    for name, key in keys.items():
        fields[name].setdefault(key, Field(key, _key_schema(looks, name), required=True))
    return roles, fields


def _keys(
    looks: Sequence[Look], fields: Mapping[str, Mapping[str, Field]], declared: Mapping[str, Entity]
) -> dict[str, str]:
    arguments: dict[str, list[str]] = defaultdict(list)
    for look in looks:
        name = look.key_argument("id") if look.verb in _ONE else None
        if name is not None:
            arguments[look.entity].append(name)
    return {name: key_field(name, declared.get(name), parts, arguments[name]) for name, parts in fields.items()}


def _key_schema(looks: Sequence[Look], entity: str) -> Record:
    for look in looks:
        if look.entity == entity and look.verb in _ONE:
            name = look.key_argument("id")
            if name is not None:
                return properties(look.input).get(name, {"type": "string"})
    referring = (
        part for look in looks for name, part in properties(look.input).items() if snake(name) == f"{entity}_id"
    )
    return {"type": next((main_type(part) for part in referring if main_type(part)), "string")}


def _known(entity: str, key: str, fields: Mapping[str, Field]) -> Known:
    backwards = [*fields.items()][::-1]
    links = {field.link: name for name, field in backwards if field.link}
    by_name = {snake(name): name for name, _ in backwards}
    return Known(entity, key, by_name, {name: field.schema for name, field in fields.items()}, links)


def _roles_of(look: Look, known: Known) -> Roles:
    if look.verb in _MANY:
        return reading_roles(look.verb, known, look.input, None)
    if look.verb == "create":
        return writing_roles(known, look.input, None)
    key = look.key_argument(known.key)
    if look.verb == "update":
        return writing_roles(known, look.input, key)
    if key is None:
        return reading_roles(look.verb, known, look.input, None)
    return Roles(key)


def _added(look: Look, roles: Roles, known: Mapping[str, Field], entities: set[str]) -> dict[str, Field]:
    """Fields that only arguments tell of: everything a create or an update takes, and what links a list to a parent."""
    added: dict[str, Field] = {}
    for path in roles.unexplained:
        name = path.rsplit(".", 1)[-1]
        name = name if look.verb == "create" else _unprefixed(name)
        schema = {word: part for word, part in at(look.input, path).items() if word != "default"}
        scope = snake(name).removesuffix("_id")
        if look.verb in {"create", "update"}:
            needed = look.verb == "create" and path in required(look.input)
            added[name] = Field(name, schema, required=needed)
        elif look.verb in _MANY and scope != look.entity and scope in entities:
            added[name] = Field(name, schema, link=scope)
        elif look.verb in _MANY and not known and main_type(schema) in {"string", "boolean"} and "enum" in schema:
            added[name] = Field(name, schema)
    return added


def _unprefixed(name: str) -> str:
    """`new_name` and `newName` set the name."""
    parts = words(name)
    if len(parts) < 2 or parts[0] not in {"new", "updated"}:
        return name
    rest = name[len(parts[0]) :].lstrip("_-")
    return rest[:1].lower() + rest[1:]


# entities -------------------------------------------------------------------------------------------------------------


def _entities(
    looks: Sequence[Look],
    fields: Mapping[str, Mapping[str, Field]],
    declared: Mapping[str, Entity],
    examples: Sequence[Example],
) -> dict[str, Entity]:
    keys = _keys(looks, fields, declared)
    schemas = {name: parts[keys[name]].schema for name, parts in fields.items()}
    linked = {name: _named(with_links(name, parts, schemas), keys[name]) for name, parts in fields.items()}
    entities: dict[str, Entity] = {}
    for name, parts in linked.items():
        seen = _seen_keys(name, keys[name], looks, examples)
        like = key_like(declared.get(name), parts[keys[name]], seen, name)
        whole = counted(name, parts, linked)
        entities[name] = _entity_of(declared.get(name), Entity(name, keys[name], like, _key_first(keys[name], whole)))
    return entities


def _entity_of(declared: Entity | None, found: Entity) -> Entity:
    """What is inferred of an entity, as the kind of entity that it is declared to be."""
    if declared is None:
        return found
    is_all = declared.singleton and found.fields.keys() <= {*declared.fields, declared.key, "name"}
    return declared if is_all else replace(found, singleton=declared.singleton, natural=declared.natural)


def _named(fields: Mapping[str, Field], key: str) -> dict[str, Field]:
    """An entity of which nothing is known but its key and what it links to has at least a name."""
    if key == "name" or any(name != key and field.link is None for name, field in fields.items()):
        return dict(fields)
    return {**fields, "name": Field("name", {"type": "string"}, required=True)}


def _key_first(key: str, fields: Mapping[str, Field]) -> dict[str, Field]:
    return {key: replace(fields[key], required=True), **{name: part for name, part in fields.items() if name != key}}


def _seen_keys(entity: str, key: str, looks: Sequence[Look], examples: Sequence[Example]) -> list[Key]:
    """Ids of this entity that occur in examples."""
    by_name = {look.tool.name: look for look in looks if look.entity == entity}
    by_id = {look.tool.id: look for look in looks if look.entity == entity}
    found: list[Json] = []
    for example in examples:
        look = by_id.get(example.tool) or by_name.get(example.tool)
        if look is None or look.verb == "unknown":
            continue
        name, score = key_argument(look.verb, entity, key, look.input)
        found += [example.arguments.get(name)] if name is not None and score >= 2 and look.verb in _ONE else []
        found += [as_object(example.result).get(key)] if look.envelope.record == "" else []
    return [value for value in found if isinstance(value, str | int) and not isinstance(value, bool)]


# plans ----------------------------------------------------------------------------------------------------------------


def _sharing(looks: Sequence[Look]) -> dict[str, int]:
    """How many kinds of tools speak of each entity, being referred to by others included: two make it likely."""
    verbs: dict[str, set[str]] = defaultdict(set)
    referred = {(snake(name), look.entity) for look in looks for name in properties(look.input)}
    for look in looks:
        if look.verb != "unknown":
            verbs[look.entity].add(look.verb)
    for entity, found in verbs.items():
        if any(name == f"{entity}_id" and other != entity for name, other in referred):
            found.add("referred to")
    return {entity: len(found) for entity, found in verbs.items()}


def _plan(
    look: Look,
    roles: Roles,
    entities: Mapping[str, Entity],
    sharing: Mapping[str, int],
    said: Mapping[str, Any],
    declared: Mapping[str, Entity],
) -> Plan:
    if look.verb == "unknown":
        return _unknown(look, said)
    entity = entities[look.entity]
    fixed = _fixed(look.reading, entity) if look.verb == "update" else {}
    plan = Plan(
        look.tool.id,
        look.verb,
        look.entity,
        key=roles.key,
        sets=roles.sets,
        fixed=fixed,
        filters=roles.filters,
        query=roles.query,
        searched=_searched(look, roles, entity),
        sort=roles.sort,
        order=roles.order,
        paging=roles.paging,
        envelope=look.envelope,
    )
    plan = replace(plan, **said)
    evidence = Evidence(look.reading, plan, entity, look.input, look.output, look.tool.annotations, roles.unexplained)
    confidence, reasons = judged(evidence, sharing[look.entity], look.entity in declared)
    if said:
        confidence, reasons = (
            (1.0 if "verb" in said or "entity" in said else confidence),
            ("the spec says so", *reasons),
        )
    return _workable(replace(plan, confidence=said.get("confidence", confidence), reasons=reasons), entity)


def _unknown(look: Look, said: Mapping[str, Any]) -> Plan:
    why = "no verb of records in the name" if look.reading.verb == "unknown" or look.entity else "no entity named"
    plan = Plan(look.tool.id, "unknown", behaviour="schema_only", confidence=0.1, reasons=(why,))
    return replace(plan, **said)


def _workable(plan: Plan, entity: Entity) -> Plan:
    """A plan that could not answer is no plan: one record that nothing names, a change that changes nothing."""
    nameless = plan.verb in _ONE and plan.key is None and not (plan.verb == "get" and plan.filters)
    idle = plan.verb == "update" and not plan.sets and not plan.fixed
    if plan.behaviour != "records" or not (nameless or idle):
        return plan
    why = f"no argument names a {entity.name}" if nameless else "nothing that it could change"
    return Plan(plan.tool, "unknown", behaviour="schema_only", confidence=0.1, reasons=(why, *plan.reasons))


def _fixed(reading: Reading, entity: Entity) -> dict[str, Json]:
    """The field and value that a verb like `close` stands for, spelt as the entity's enum spells it."""
    if reading.status is None:
        return {}
    for name, field in entity.fields.items():
        if snake(name) in _STATUS:
            choices = {snake(str(value)).replace("canceled", "cancelled"): value for value in constants(field.schema)}
            near = (reading.status, reading.word, f"{reading.word}d", f"{reading.word}ed")
            found = next((choices[word] for word in near if word in choices), None)
            return {name: found} if found is not None else {} if choices else {name: reading.status}
    return {}


def _searched(look: Look, roles: Roles, entity: Entity) -> tuple[str, ...]:
    """The text fields that a query looks at: those that its description names, else all."""
    if roles.query is None:
        return ()
    texts = [name for name, field in entity.fields.items() if name != entity.key and _is_text(field)]
    about = f"{properties(look.input)[roles.query].get('description', '')} "
    said = set(words(about.lower().replace("e-mail", "email")))
    named = [name for name in texts if set(words(name)) <= said]
    return tuple(named or texts)


def _is_text(field: Field) -> bool:
    dated = str(field.schema.get("format", "")).startswith(("date", "time", "uuid"))
    plain = main_type(field.schema) in {"string", ""} and not dated and field.link is None and field.derived is None
    return plain and not constants(field.schema)
