"""What does each tool do to which entity? Read from names, schemas, annotations and examples; what a spec says wins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.choices import choices_of, nearest
from mcp_sim.domain import Entity, Envelope, Field, Plan, Verb
from mcp_sim.plans.arguments import LIMITS, Known, Roles, key_argument, reading_roles, writing_roles
from mcp_sim.plans.confidence import Evidence, judged
from mcp_sim.plans.envelopes import batch_envelope, envelope_of, plain_envelope, rows_schema
from mcp_sim.plans.fields import counted, key_field, key_like, says_success, shown_fields, with_declared, with_links
from mcp_sim.plans.given import Given, Nouns, given_state
from mcp_sim.plans.names import Reading, read_names
from mcp_sim.plans.preconditions import alike, required_state, stated, swapped
from mcp_sim.plans.singletons import Single, matched, single_of
from mcp_sim.scenario import Example
from mcp_sim.schemas import as_object, at, constants, expanded, items, main_type, properties, required, schema_of
from mcp_sim.types import Json, Key, Record, Tool
from mcp_sim.words import plural, singular_phrase, snake, vocabulary, words

_STATUS = ("status", "state", "stage")
_ATTRIBUTES = vocabulary(
    "status state name description title text content size stage priority setting metadata balance price amount email"
)
_NO_NOUNS = vocabulary("id key name type status info detail list all value number count state")
_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})
_WRITES = frozenset({"create", "update", "delete"})


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
    single: Single | None = None

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
    unmentioned: frozenset[str] = frozenset()
    """Entities that tools only look at and that a given state says nothing of: what the service knows besides."""


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
    readings = _readings(tools)
    given = given_state(state, _spoken(readings.values(), tools.values())) if state is not None else Given()
    declared = {**given.entities, **declared}
    looks = _looks(tools, declared, overrides, examples, readings)
    shown = _shown(looks, declared)
    roles, fields = _roles(looks, shown, declared)
    entities = _entities(looks, fields, declared, examples, given)
    sharing = _sharing(looks)
    plans = {
        look.tool.id: _plan(
            look, roles[look.tool.id], entities, sharing, overrides.get(look.tool.id, {}), declared, given
        )
        for look in looks
    }
    plans |= _as_their_kin(looks, plans)
    return Inferred(entities, plans, given.records, _unmentioned(looks, given))


def _as_their_kin(looks: Sequence[Look], plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """The plans of writes that lead to a state as others of their kind do."""
    words_of = {look.tool.id: look.reading.word for look in looks}
    known = [(words_of[name], plan) for name, plan in plans.items() if plan.fixed and plan.verb == "update"]
    found: dict[str, Plan] = {}
    for name, plan in plans.items():
        word = words_of[name]
        if known and plan.verb == "update" and plan.behaviour == "records" and not plan.fixed and word not in _PLAIN:
            fixed = alike(plan, word, known)
            found |= {name: replace(plan, fixed=fixed)} if fixed else {}
    return found


_PLAIN = vocabulary("update edit modify patch change set adjust revise amend rename replace")


def _unmentioned(looks: Sequence[Look], given: Given) -> frozenset[str]:
    looked_at = {look.entity for look in looks if look.verb in {"get", "list", "search"}}
    written = {look.entity for look in looks if look.verb in {"create", "update", "delete"}}
    return frozenset(looked_at - written - {*given.entities}) if given.entities else frozenset()


# which tool speaks of which entity ------------------------------------------------------------------------------------


def _looks(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    readings: Mapping[str, Reading],
) -> list[Look]:
    nouns = _nouns(readings.values(), declared)
    tables = {**_made_entities(tools, readings, declared), **declared}
    shown = {example.tool: example.result for example in reversed(examples)}
    looks: list[Look] = []
    for id_, tool in tools.items():
        said, reading = overrides.get(id_, {}), readings[id_]
        schema = expanded(tool.input_schema)
        output = _output(tool, shown.get(id_, shown.get(tool.name)))
        entity = said.get("entity") or _entity(reading, schema, output, nouns, tables)
        verb: Verb = said.get("verb") or _verb(reading, entity, schema, output, nouns)
        if verb == "create" and entity not in declared and not said:
            entity = _made(entity, schema, output, tables)
        if reading.word == "cancel" and entity in tables and not said and _is_stateless(tables[entity], looks):
            verb = "delete"
        single = None if said else single_of(reading, schema, output, declared.values())
        if single is not None and _is_of_one(single, verb, entity, schema, declared, readings):
            verb, entity = single.verb, single.entity
        else:
            single = None
        envelope = said.get("envelope") or _envelope(verb, entity, output)
        if verb == "get" and reading.noun[-1:] in {("id",), ("key",)} and not properties(output):
            envelope = Envelope(key="")
        looks.append(Look(tool, reading, verb, entity, schema, output, envelope, said.get("key"), single))
    return looks


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


def _spoken(readings: Iterable[Reading], tools: Iterable[Tool]) -> Nouns:
    """The nouns that the tools speak of, and the arguments that are whole numbers."""
    names: set[str] = set()
    for reading in readings:
        phrase = (*reading.noun, *reading.after[1:]) if reading.noun else reading.after[1:]
        ends = [(start, end) for start in range(len(phrase)) for end in range(start + 1, len(phrase) + 1)]
        names |= {singular_phrase(phrase[start:end]) for start, end in ends}
    numbers: set[str] = set()
    for tool in tools:
        parts = properties(tool.input_schema)
        numbers |= {snake(name) for name, part in parts.items() if main_type(part) == "integer"}
        names |= {name.removesuffix("_id") for name in map(snake, parts) if name.endswith("_id")}
    return Nouns(frozenset(names - _NO_NOUNS), frozenset(numbers))


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
    told = _told(noun, reading, schema, declared) if noun and noun not in declared_nouns else None
    if told is not None:
        return told
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


def _told(noun: tuple[str, ...], reading: Reading, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """The declared entity that a noun phrase is about, though it says more (`pending_order_address`, `user_id`)."""
    tables = {words(name): one for name, one in declared.items() if not one.singleton}
    within = [
        (end - start, end == len(noun), tables[noun[start:end]])
        for start in range(len(noun))
        for end in range(start + 1, len(noun) + 1)
        if noun[start:end] in tables
    ]
    nearest_first = [one for _, _, one in sorted(within, key=lambda entry: entry[:2], reverse=True)]
    if reading.verb == "create":
        return None
    for one in nearest_first:
        if reading.verb not in _MANY and key_argument("update", one.name, one.key, schema)[1] >= 2:
            return one.name
    for one in nearest_first:
        ends = noun[-len(words(one.name)) :] == words(one.name)
        if ends or {*noun} - {*words(one.name)} <= _ATTRIBUTES | _NO_NOUNS:
            return one.name
    if reading.verb == "get" and noun not in tables and "_".join(noun) not in declared:
        keyed = [one.name for one in tables.values() if snake(f"{one.name}_id") in map(snake, properties(schema))]
        return keyed[0] if len(keyed) == 1 else None
    return None


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
        if look.verb != "unknown" and look.single is None:
            whole = look.verb != "delete" and not (look.envelope.record == "" and look.envelope.key is not None)
            shapes.setdefault(look.entity, []).extend([_told_shape(look)] if whole and _is_record(look) else [])
    return {name: _without_alias(name, shown_fields(found), declared.get(name)) for name, found in shapes.items()}


def _without_alias(entity: str, fields: Mapping[str, Field], declared: Entity | None) -> dict[str, Field]:
    """The fields with what is declared; `order_id` beside the `id` of an order is its id again."""
    whole = with_declared(fields, declared)
    if "id" not in {snake(name) for name in whole}:
        return whole
    return {
        name: field for name, field in whole.items() if snake(name) != f"{entity}_id" or _is_declared(name, declared)
    }


def _is_declared(name: str, declared: Entity | None) -> bool:
    return declared is not None and name in declared.fields


def _told_shape(look: Look) -> Record:
    """What a result tells of the record: not whether a write worked. Where nothing is required, everything is usual."""
    parts = properties(look.shape)
    if look.verb in {"create", "update"}:
        parts = {name: part for name, part in parts.items() if not says_success(name, part)}
    usual = [name for name, part in parts.items() if "optional" not in str(part.get("description", "")).lower()]
    return {"required": usual, **look.shape, "properties": parts}


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
        if look.single is not None:
            roles[look.tool.id] = Roles(None, look.single.sets)
            continue
        mine = fields[look.entity]
        found = _roles_of(look, _known(look.entity, keys[look.entity], mine))
        added = _added(look, found, mine, {*fields}, declared.get(look.entity))
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
    return Known(entity, key, by_name, {name: field.schema for name, field in fields.items()}, links, _nested(fields))


def _nested(fields: Mapping[str, Field]) -> dict[str, str]:
    """What stands inside the objects of a record, by its name, where only one of them has it."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, field in fields.items():
        inner = properties(field.schema) if main_type(field.schema) == "object" else {}
        if all(main_type(part) not in {"object", "array"} for part in inner.values()):
            for part in inner:
                found[snake(part)].append(f"{name}.{part}")
    return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


def _roles_of(look: Look, known: Known) -> Roles:
    if look.verb in _MANY:
        return reading_roles(look.verb, known, look.input, None)
    if look.verb == "create":
        return writing_roles(known, look.input, None)
    key = look.key_argument(known.key)
    if look.verb == "update":
        return writing_roles(known, look.input, key, look.reading.word)
    if look.verb == "get" and look.said_key is None and key is not None and _is_other_field(look, known, key):
        return reading_roles(look.verb, known, look.input, None)
    if key is None:
        return reading_roles(look.verb, known, look.input, None)
    return Roles(key)


def _is_other_field(look: Look, known: Known, key: str) -> bool:
    """Is the only argument that might name the record a field of it: `find_user_id_by_email(email)`?"""
    if key_argument(look.verb, known.entity, known.key, look.input)[1] > 1:
        return False
    return known.named(snake(key)) not in {None, known.key} or snake(key) in known.nested


def _added(
    look: Look, roles: Roles, known: Mapping[str, Field], entities: set[str], declared: Entity | None
) -> dict[str, Field]:
    """Fields that only arguments tell of: everything a create or an update takes, and what links a list to a parent.

    What an update takes besides the fields of records that are given is hardly a field where it names other records.
    """
    added: dict[str, Field] = {}
    is_given = declared is not None and declared.key_like is not None and bool(declared.fields)
    for path in roles.unexplained:
        if is_given and look.verb == "update" and snake(path).endswith(("_id", "_ids")):
            continue
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
    given: Given,
) -> dict[str, Entity]:
    keys = _keys(looks, fields, declared)
    schemas = {name: parts[keys[name]].schema for name, parts in fields.items()}
    linked = {name: _named(with_links(name, parts, schemas), keys[name]) for name, parts in fields.items()}
    entities: dict[str, Entity] = {}
    for name, parts in linked.items():
        seen = _seen_keys(name, keys[name], looks, examples)
        like = key_like(declared.get(name), parts[keys[name]], seen, name)
        whole = counted(name, parts, linked)
        if given.entities:
            whole = _unlinked(whole, given)
        if given.records.get(name):
            whole = _as_given(whole, given.records[name], given, keys)
        made = Entity(name, keys[name], like, _key_first(keys[name], whole))
        entities[name] = _entity_of(declared.get(name), made)
    return entities


def _entity_of(declared: Entity | None, found: Entity) -> Entity:
    """What is inferred of an entity, as the kind of entity that it is declared to be."""
    if declared is None:
        return found
    is_all = declared.singleton and found.fields.keys() <= {*declared.fields, declared.key, "name"}
    if is_all or declared.inside is not None:
        return declared
    return replace(found, singleton=declared.singleton, natural=declared.natural)


def _as_given(
    fields: Mapping[str, Field], rows: Sequence[Record], given: Given, keys: Mapping[str, str]
) -> dict[str, Field]:
    """The fields of records that are given: nothing is looked up, and a link is one only if it leads somewhere."""
    told: dict[str, Field] = {}
    for name, field in fields.items():
        if field.link is not None and field.link in given.records:
            there = {row.get(keys[field.link]) for row in given.records[field.link]}
            values = [one for row in rows for one in _each(row.get(name))]
            leads = all(isinstance(one, str | int) and one in there for one in values)
            told[name] = replace(field, link=field.link if leads else None, derived=None)
        else:
            stands = any(name in row for row in rows)
            told[name] = replace(field, link=None, derived=None if stands else field.derived)
    return told


def _unlinked(fields: Mapping[str, Field], given: Given) -> dict[str, Field]:
    """Who did something is a name, not a link, where the state holds no such people."""
    return {
        name: replace(field, link=None) if snake(name) in _WHO and not given.records.get(field.link or "") else field
        for name, field in fields.items()
    }


def _each(value: Json) -> list[Json]:
    return [*value] if isinstance(value, list) else [] if value is None else [value]


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
    given: Given,
) -> Plan:
    if look.verb == "unknown":
        return _unknown(look, said)
    entity = entities[look.entity]
    if look.single is not None:
        return _plan_of_one(look, look.single)
    about = str(look.tool.definition.get("description", ""))
    rows = given.records.get(look.entity, ())
    fixed = _fixed(look.reading, entity, about, rows) if look.verb == "update" else {}
    plan = Plan(
        look.tool.id,
        look.verb,
        look.entity,
        key=roles.key,
        sets=roles.sets,
        fixed=fixed,
        requires=required_state(look.reading, entity, fixed, rows) if look.verb in {"update", "delete"} else {},
        counter=given.counter(look.entity) if look.verb == "create" else None,
        from_state=_from_state(roles, entity, given, declared) if look.verb == "create" else {},
        shows=_renamed(look, entity),
        swap=swapped(properties(look.input), entity, entities) if _exchanges(look, roles) else None,
        filters=roles.filters,
        query=roles.query,
        searched=_searched(look, roles, entity),
        sort=roles.sort,
        order=roles.order,
        paging=roles.paging,
        envelope=look.envelope,
    )
    if not said and _is_outside(look, declared, given, sharing):
        return _outside(look)
    plan = replace(plan, **said)
    if plan.each is not None and plan.verb in _WRITES and "envelope" not in said:
        plan = replace(plan, envelope=batch_envelope(plan.verb, look.entity, look.output))
    evidence = Evidence(look.reading, plan, entity, look.input, look.output, look.tool.annotations, roles.unexplained)
    confidence, reasons = judged(evidence, sharing[look.entity], look.entity in declared)
    if said:
        confidence, reasons = (
            (1.0 if "verb" in said or "entity" in said else confidence),
            ("the spec says so", *reasons),
        )
    return _workable(replace(plan, confidence=said.get("confidence", confidence), reasons=reasons), entity)


def _exchanges(look: Look, roles: Roles) -> bool:
    """Does an update take lists that no field of the record is for?"""
    lists = [name for name in roles.unexplained if main_type(properties(look.input).get(name, {})) == "array"]
    return look.verb == "update" and len(lists) >= 2


def _is_outside(look: Look, declared: Mapping[str, Entity], given: Given, sharing: Mapping[str, int]) -> bool:
    """Does a tool look at what neither the given state nor any other tool speaks of?"""
    looks = look.verb == "get" or (look.verb in _MANY and look.envelope.rows is None)
    return bool(given.entities) and looks and look.entity not in declared and sharing[look.entity] < 2


def _outside(look: Look) -> Plan:
    """A tool that tells what the given state does not hold: the same answer for the same question."""
    why = f"the state tells of no {look.entity.replace('_', ' ')}"
    return Plan(look.tool.id, "unknown", behaviour="schema_only", confidence=0.1, reasons=(why,))


def _plan_of_one(look: Look, single: Single) -> Plan:
    """The plan of a tool that works on what there is one of."""
    known = 0.8 if look.output.get("properties") or single.sets else 0.65
    plan = Plan(
        look.tool.id,
        single.verb,
        single.entity,
        sets=single.sets,
        how=single.how,
        fixed=single.fixed,
        shows=single.shows,
        envelope=replace(look.envelope, rows=None, total=None, cursor=None, more=None, key=None),
        confidence=known,
        reasons=(single.reason,),
    )
    choices = {value: replace(plan, fixed=fixed) for value, fixed in single.chosen.items()}
    return replace(plan, choice=single.choice, choices=choices)


_WHO = vocabulary("username user_name user author owner creator created_by sender reporter requester user_id login by")


def _from_state(roles: Roles, entity: Entity, given: Given, declared: Mapping[str, Entity]) -> dict[str, str]:
    """Fields that say who did it, where the state tells who that is."""
    named = {name for name in entity.fields if snake(name) in _WHO} - {*roles.sets.values(), entity.key}
    singles = [one for one in declared.values() if one.singleton] if named else []
    scope = {*words(given.scopes.get(entity.name, ""))}
    near = [one for one in singles if {*words(given.scopes.get(one.name, one.name))} & scope]
    who = {snake(name): f"{one.name}.{name}" for one in near or singles for name in one.fields}
    usual = ("current_user", "username", "user", "user_id", "current_user_id", "me")
    found = next((who[name] for name in usual if name in who), None)
    places = {name: who.get(snake(name), found) for name in named}
    return {name: place for name, place in places.items() if place is not None}


def _renamed(look: Look, entity: Entity) -> dict[str, str]:
    """Places of one record in the result that hold fields under other names: `order_id` is its `id`."""
    if look.verb not in {"get", "create", "update"} or look.envelope.record is None:
        return {}
    base = look.envelope.record
    found: dict[str, str] = {}
    for name, part in properties(at(look.output, base)).items():
        short = snake(name).removeprefix(f"{entity.name}_").removeprefix(f"{entity.name.rsplit('_', 1)[-1]}_")
        field = entity.key if short == "id" else matched(short, part, entity)
        if name not in entity.fields and field is not None:
            found[f"{base}.{name}" if base else name] = field
    return found


def _unknown(look: Look, said: Mapping[str, Any]) -> Plan:
    why = "no verb of records in the name" if look.reading.verb == "unknown" or look.entity else "no entity named"
    plan = Plan(look.tool.id, "unknown", behaviour="schema_only", confidence=0.1, reasons=(why,))
    return replace(plan, **said)


def _workable(plan: Plan, entity: Entity) -> Plan:
    """A plan that could not answer is no plan: one record that nothing names, a change that changes nothing."""
    is_named = plan.key is not None or entity.singleton or (plan.verb == "get" and plan.filters)
    nameless = plan.verb in _ONE and not is_named
    idle = plan.verb == "update" and not plan.sets and not plan.fixed and not plan.swap
    if entity.inside is not None and plan.verb != "get" and plan.behaviour == "records":
        why = f"the {plural(entity.name)} stand inside others, and are only looked at"
        return Plan(plan.tool, "unknown", behaviour="schema_only", confidence=0.1, reasons=(why, *plan.reasons))
    if plan.behaviour != "records" or not (nameless or idle):
        return plan
    if idle and not nameless and entity.key_like is not None and plan.confidence >= 0.6:
        return replace(plan, confidence=0.6, reasons=("nothing that it could change", *plan.reasons))
    why = f"no argument names a {entity.name}" if nameless else "nothing that it could change"
    return Plan(plan.tool, "unknown", behaviour="schema_only", confidence=0.1, reasons=(why, *plan.reasons))


def _fixed(reading: Reading, entity: Entity, about: str, rows: Sequence[Record]) -> dict[str, Json]:
    """The field and value that a verb like `close` stands for, spelt as the entity spells it."""
    said = stated(about, entity)
    if reading.status is None or said:
        return said
    for name, field in entity.fields.items():
        if snake(name) in _STATUS:
            choices = choices_of(field.schema)
            held = dict.fromkeys(str(row[name]) for row in rows if isinstance(row.get(name), str))
            found = nearest(reading.word, choices) or nearest(reading.word, [*held])
            if found is None and reading.status in {snake(str(one)) for one in choices}:
                found = next(one for one in choices if snake(str(one)) == reading.status)
            if found is not None:
                return {name: found}
            return {} if constants(field.schema) else {name: _spelt(reading.status, [*held, *choices])}
    return {}


def _spelt(status: str, others: Sequence[Json]) -> str:
    """A state as the others are spelt: `Closed` beside `Open`."""
    text = status.replace("_", " ") if any(" " in str(one) for one in others) else status
    if others and all(str(one).isupper() for one in others):
        return text.upper()
    return text.capitalize() if others and all(str(one)[:1].isupper() for one in others) else text


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
