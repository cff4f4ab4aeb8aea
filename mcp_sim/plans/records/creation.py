"""Create records, or apply a create to the record that exists already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from typing import TypeAlias

from mcp_sim.generate.conformance import shown_schemas
from mcp_sim.generate.defaults import settling
from mcp_sim.generate.keys import key_maker, key_of_copy, next_key
from mcp_sim.generate.links import inherited_fields
from mcp_sim.generate.missing_records import generated_put
from mcp_sim.generate.periods import find_period
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.shipped_data import rule_for
from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.generate.uniqueness import is_name, is_unique
from mcp_sim.plans.records.arguments import (
    assigned_values,
    assignments_of,
    fixed_values,
    links_of,
    lost_fields,
    resolve_links,
)
from mcp_sim.plans.records.effects import Effect, new_once
from mcp_sim.plans.records.line_items import line_completer, priced_total
from mcp_sim.plans.records.record_lookup import finder
from mcp_sim.plans.records.stock import stock_mover
from mcp_sim.plans.records.updates import RecordUpdate
from mcp_sim.plans.refusal import conflict
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.argument_descriptions import mode_reader
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.doubts import ANY_FIELD
from mcp_sim.types.frozen import frozen
from mcp_sim.types.initial_values import first_state, first_value, initial_states
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    LIMITS,
    as_list,
    as_object,
    constants,
    is_nullable,
    is_rows,
    items,
    main_type,
    properties,
    property_of,
    required,
    takes_null,
)
from mcp_sim.types.json_values import NOWHERE, as_key, in_list, is_key, nest_paths
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import last_word, singular, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import choices_of
from mcp_sim.types.views import find_key

_REST, _RECORDING, _STATES = ordered("fields.rest"), terms("verbs.recording"), terms("fields.state")
_ONE = frozenset({"get", "update", "delete"})
MOST_LINK_CANDIDATES = 32  # the most records that a link is chosen from, if no argument gives it

Imply: TypeAlias = Callable[[Turn, Invent, Record], Record]
"""Returns the given values with the references that they imply."""

Complete: TypeAlias = Callable[[Turn, Invent, Record], list[Change]]
"""Returns the records to create for the references of a new record."""

Divide: TypeAlias = Callable[[Turn, Invent, Key, Record], dict[str, list[Change]]]
"""Returns the records to create for the parts of a new record, by the field that lists them."""


class Creation:
    """A tool that creates a record, or does its create to the record that exists already."""

    def __init__(self, tool: Tool, plan: Plan, domain: Domain) -> None:
        entity = domain.entities[plan.entity or ""]
        self.tool, self.plan, self.entity, self.keys = tool, plan, entity, key_maker(entity)
        self.copied = None if plan.copies is None else finder(tool, replace(plan, key=plan.copies), entity)
        self.unique = {entity.key} | {name for name, field in entity.fields.items() if _is_own(entity, field)}
        self.sets, self.links = assignments_of(tool, plan, domain), links_of(plan, entity, domain)
        self.fixed = fixed_values(plan, entity)
        self.dotted: Record = dict.fromkeys(field for field in entity.fields if "." in field)
        self.complete_lines = line_completer(entity, domain, self.sets)
        self.move_stock, self.total = stock_mover(tool, entity, domain), priced_total(entity, domain)
        self.known_key, self.update = _key_finder(plan, entity), RecordUpdate(tool, plan, domain)
        self.together = _named_together(plan, domain)
        self.replaces = not _RECORDING.isdisjoint(words(tool.name)[:1])
        self.assigns_key = _is_key_assigned(tool, plan, entity)
        self.mode_of = mode_reader(expanded(tool.input_schema), {*plan.sets})
        self.imply, self.complete = implied_links(entity, domain), linked_records(entity, domain)
        left_out = optional_fields(plan, entity, domain)
        self.make, self.divide = record_maker(plan, entity, domain, left_out), child_records(entity, domain)
        self.is_unspecified = entity.name in domain.unspecified
        is_marked = self.is_unspecified or entity.name in domain.given
        self.guesses = generated_fields(entity) - left_out.keys() if is_marked else frozenset[str]()
        shown = [rule for rule in self.sets if is_marked and rule.field in entity.fields]
        self.shown = [(rule, entity.fields[rule.field].schema) for rule in shown]

    def __call__(self, turn: Turn, invent: Invent) -> Effect | Observation:
        source = None if self.copied is None else self.copied(turn)
        if isinstance(source, Observation):
            return source
        assigned = self._values(turn, source)
        values = resolve_links(turn, self.tool, self.links, assigned)
        if isinstance(values, Observation):
            return values
        shaped = nest_paths(values, self.dotted)
        values = shaped if self.complete_lines is None else self.complete_lines(turn, shaped)
        taken = self.known_key(turn.view, values)
        existing = None if taken is None else turn.view.get(self.entity.name, taken)
        mode = (None if self.mode_of is None else self.mode_of(turn.call.arguments)) or self.plan.if_exists
        is_guess = existing is not None and self._is_invented(turn.view, taken)
        mode = "replace" if is_guess else mode
        if taken is not None and existing is not None and mode != "replace":
            if mode != "refuse":
                return self.update(turn, taken) if mode != "keep" else Effect(taken, existing, ())
            if not self.assigns_key:
                return conflict(self.tool, self.entity.name, taken, "already exists")
            taken = None
        alike = None if taken is not None else self._alike(turn.view, values)
        if alike is not None and self.replaces:
            effect = self.update(turn, alike)
            return effect if isinstance(effect, Observation) else replace(effect, doubts=effect.doubts | {ANY_FIELD})
        key = taken if source is None or taken is not None else key_of_copy(self.entity, source, turn.view)
        key = key if key is not None else next_key(self.entity, self.keys, turn.view, turn.draws)
        effect = self._created(turn, invent, key, values, shaped)
        doubts = lost_fields(turn, self.sets, assigned) | ({ANY_FIELD} if is_guess or alike is not None else set[str]())
        return replace(effect, doubts=effect.doubts | doubts)

    def _is_invented(self, view: View, key: Key | None) -> bool:
        """Whether a record with a number that a caller may choose was only generated: no real server must have it."""
        return self.is_unspecified and isinstance(key, int) and view.latest_write(self.entity.name, key) is None

    def _alike(self, view: View, values: Record) -> Key | None:
        """Return the record that tools name by the values of several fields together, which the call gives."""
        if not self.together or any(values.get(name) is None for name in self.together):
            return None
        alike = view.find(self.entity.name, self.together[0], values[self.together[0]])
        return next((key for key, row in alike if all(row.get(at) == values[at] for at in self.together)), None)

    def _values(self, turn: Turn, source: Key | None) -> Record:
        """Return the values that a call gives, with those of the record that it copies."""
        original = Record() if source is None else turn.view.get(self.entity.name, source) or {}
        copy = {field: value for field, value in original.items() if field not in self.unique}
        return {**copy, **self.fixed(turn), **assigned_values(turn, self.sets)}

    def _created(self, turn: Turn, invent: Invent, key: Key, values: Record, shaped: Record) -> Effect:
        """Return the new record with those that it needs, and those of its parts."""
        name = self.entity.name
        implied, moved = (Record(), []) if self.move_stock is None else self.move_stock(turn.view, values)
        total = Record() if self.total is None else self.total(turn.view, values)
        values = {**values, **implied, **total}
        known = {**self.imply(turn, invent, values), self.entity.key: key}
        determined = frozenset(known)
        linked = self.complete(turn, invent, known)
        record = self.make(turn, invent, known, values)
        put = Change("put", name, key, record, expected=turn.view.version(name, key))
        children = self.divide(turn.after([put]), invent, key, values)
        if children:
            record = {**record, **{field: [child.record for child in puts] for field, puts in children.items()}}
            put = replace(put, record=record)
        completed = (
            rule.field
            for rule, schema in self.shown
            if rule.field in shaped
            and _is_completed(rule.fetch(turn.call.arguments), shaped[rule.field], record.get(rule.field), schema)
        )
        doubts = (self.guesses & (record.keys() - determined)).union(completed)
        changes = (put, *moved, *linked, *chain.from_iterable(children.values()))
        return Effect(key, record, changes, doubts)


def _named_together(plan: Plan, domain: Domain) -> tuple[str, ...]:
    """Return the fields that a create sets and that another tool names one record by: the student and the course."""
    set_here = {*plan.sets.values()} if plan.if_exists == "refuse" else set[str]()
    others = (other for other in domain.plans.values() if other.entity == plan.entity and other.key is None)
    named = (tuple(rule.field for rule in other.filters.values()) for other in others if other.verb in _ONE)
    return next((fields for fields in named if len(fields) > 1 and set_here.issuperset(fields)), ())


def _is_completed(given: Json, shaped: Json, stored: Json, schema: Record) -> bool:
    """Return whether an argument was completed by values that nothing determines, to fit the schema of the field.

    Keys are the server's to choose, and empty values are how things begin. What differs from the `shaped` argument
    was taken from the records that it names.
    """
    if isinstance(stored, list):
        rows = zip(as_list(given), as_list(shaped), as_list(stored), strict=False)
        return any(_is_completed(*row, items(schema)) for row in rows)
    if not isinstance(stored, dict):
        return False
    before, argument = as_object(shaped), as_object(given)
    for name, value in as_object(stored).items():
        inner = property_of(schema, name)
        if name in argument:
            if _is_completed(argument[name], before.get(name), value, inner):
                return True
        elif value and value != given and before.get(name) == value:
            is_settled = last_word(name) == "id" or "default" in inner or len(constants(inner)) == 1
            if not is_settled:
                return True
    return False


def _is_key_assigned(tool: Tool, plan: Plan, entity: Entity) -> bool:
    """Whether the server issues the keys: they are numbers or UUIDs, and the argument for them may be left out.

    Such an argument is there because the body of the call is the whole record. A server ignores it.
    """
    schema = entity.fields[entity.key].schema if entity.key in entity.fields else {}
    key = next((path for path, field in plan.sets.items() if field == entity.key), None)
    is_optional = key is not None and key not in required(expanded(tool.input_schema))
    is_issued = main_type(schema) == "integer" or schema.get("format") == "uuid"
    return is_optional and not entity.natural and is_issued


def _is_own(entity: Entity, field: Field) -> bool:
    """Return whether a copy has a value of its own: a code or an address, or the time of its creation or change."""
    is_code = is_unique(entity, field) and not is_name(field.name)
    return is_code or time_meaning(field.name, field.schema) in {"created", "updated"}


def _key_finder(plan: Plan, entity: Entity) -> Callable[[View, Record], Key | None]:
    """Return a function that finds the key given by the caller, or that of a record with the same identity.

    A unique field identifies a record, else all texts if the record has numbers.
    """
    fields = [entity.fields[name] for name in plan.sets.values() if name in entity.fields]
    naming = min((field.name for field in fields if is_unique(entity, field)), key=is_name, default=None)
    has_numbers = any(main_type(field.schema) in {"integer", "number"} for field in fields)
    texts = [field.name for field in fields if main_type(field.schema) == "string"] if has_numbers else []
    identity = [] if plan.if_exists == "refuse" else texts if naming is None else [naming]

    def known(view: View, values: Record) -> Key | None:
        taken: Key | None = as_key(values.get(entity.key))
        given = [name for name in identity if values.get(name) is not None]
        if taken is not None or not given:
            return taken
        alike = view.find(entity.name, given[0], values[given[0]])
        return next((key for key, row in alike if all(row.get(name) == values[name] for name in given)), None)

    return known


# completing a record --------------------------------------------------------------------------------------------------


def record_maker(
    plan: Plan, entity: Entity, domain: Domain, left_out: Mapping[str, Json]
) -> Callable[[Turn, Invent, Record, Mapping[str, Json]], Record]:
    """Return a function that completes a new record, in the order of the entity's fields.

    `left_out` are the values of fields whose optional arguments are missing.
    """
    rules = [
        rule for rule in _defaults(entity) if rule.field.name not in plan.fixed and rule.field.name not in left_out
    ]
    lists = [field for field in entity.fields.values() if plan.how.get(field.name) == "append"]
    rests = _rests(entity)
    order, settle, inherit = tuple(entity.fields), settling(entity, domain), _inherited(entity, domain)
    period = find_period(entity)

    def make(turn: Turn, invent: Invent, record: Record, values: Mapping[str, Json]) -> Record:
        for field in lists:
            if field.name in record and not isinstance(record[field.name], list):
                record[field.name] = [record[field.name]]
        inherit(turn.view, record)
        for name, base in rests:
            if name not in record and base in record:
                record[name] = record[base]
        for rule in rules:
            if rule.field.name not in record:
                rule.fill(turn, invent, record)
        record = {**left_out, **record}
        if period is not None:
            period.settle(record, values.keys(), {})
        if settle is not None:
            settle(record, values.keys())
        return {name: record[name] for name in dict.fromkeys((*order, *record)) if name in record}

    return make


def optional_fields(plan: Plan, entity: Entity, domain: Domain) -> dict[str, Json]:
    """Return the fields of given records that a create leaves null where its optional arguments for them are missing.

    A field with an initial value has that. What a schema of results requires, other than null, is generated, and so is
    one of several choices, which servers usually have a default for.
    """
    asked = expanded(domain.tools[plan.tool].input_schema) if plan.tool in domain.tools else {}
    optional = {name for path, name in plan.sets.items()
                if path not in required(asked) and not constants(property_of(asked, path))}  # fmt: skip
    needed = {name for schema in shown_schemas(domain, entity) for name in required(schema)
              if not takes_null(property_of(schema, name))}  # fmt: skip
    free = [rule for rule in _defaults(entity) if rule.settled is NOWHERE and rule.stamp is None]
    is_one_of_several = plan.tool in domain.plans and domain.plans[plan.tool].choice is not None
    free = [rule for rule in free if rule.field.required or not is_one_of_several]  # other operations take them
    names = [rule.field.name for rule in free if rule.field.name in optional - needed]
    return dict.fromkeys(names) if entity.name in domain.given else {}


def _rests(entity: Entity) -> list[tuple[str, str]]:
    """Return the numbers that are at first as large as another one: `copies_available` with its `copies`."""
    names = {snake(name): name for name in entity.fields}
    forms = [(name, form) for name in names for word in _REST for form in (f"{name}_{word}", f"{word}_{name}")]
    return [(names[form], names[name]) for name, form in forms if form in names]


def _inherited(entity: Entity, domain: Domain) -> Callable[[View, Record], None]:
    """Compile what sets absent fields of a new record from the records that it references, such as a price."""
    rules = [rule for rule in inherited_fields(domain, entity) if "default" not in entity.fields[rule.name].schema]

    def inherit(view: View, record: Record) -> None:
        for rule in rules:
            if rule.name in record:
                continue
            key = find_key(view, rule.target, record.get(rule.link))
            value = None if key is None else (view.get(rule.target, key) or {}).get(rule.theirs)
            if value is not None and rule.allows(value):
                record[rule.name] = value

    return inherit


@frozen
class _Default:
    """The initial value of a field that no argument gives.

    `settled` is a value that needs no model. `stamp` returns the time of the call, for fields that hold a creation
    time.
    """

    entity: str
    field: Field
    stamp: Callable[[datetime], Json] | None
    settled: Json

    def fill(self, turn: Turn, invent: Invent, record: Record) -> None:
        field = self.field
        if self.stamp is not None:
            record[field.name] = self.stamp(turn.now)
        elif self.settled is not NOWHERE:
            record[field.name] = self.settled
        elif field.required and field.link is None:
            record[field.name] = invent(turn, self.entity, field.name, field.schema, record)
        elif field.required and (key := self._linked(turn, invent, field.link or "")) is not None:
            record[field.name] = [key] if main_type(field.schema) == "array" else key

    def _linked(self, turn: Turn, invent: Invent, target: str) -> Key | None:
        """Return the key for a link that no argument gives, None if there are no records to link to.

        The first candidate is chosen by the seed.
        """
        first = turn.draws.unit(f"link/{self.field.name}")
        count = min(turn.view.count(target), MOST_LINK_CANDIDATES)
        keys = (turn.view.sample_key(target, (first + step / count) % 1) for step in range(count))
        known = (key for key in keys if key is not None)
        nearest = next(known, None)
        if nearest is None:
            return None
        return invent.choose_reference(turn, self.entity, self.field.name, target, chain((nearest,), known))


def generated_fields(entity: Entity) -> frozenset[str]:
    """Return the fields of a new record that are generated if no argument gives them."""
    return frozenset(
        rule.field.name
        for rule in _defaults(entity)
        if rule.field.name not in dict(_rests(entity))
        and rule.stamp is None
        and (rule.settled is NOWHERE or rule.field.default_is_guessed)
        and rule.field.required
    )


def _defaults(entity: Entity) -> Iterator[_Default]:
    for field in entity.fields.values():
        if field.name == entity.key:
            continue
        stamped = time_meaning(field.name, field.schema) in {"created", "updated"} and not is_nullable(field.schema)
        stamp = time_formatter(field.name, field.schema) if stamped else None
        yield _Default(entity.name, _with_beginning(entity.name, field), stamp, _initial_value(field))


def _with_beginning(entity: str, field: Field) -> Field:
    """Return the field of a state, whose choices nothing declares, with the usual ones that a record begins with."""
    is_state = last_word(field.name) in _STATES and main_type(field.schema) == "string"
    usual = rule_for("labels", "", snake(field.name), snake(entity)) if is_state else None
    if usual is None or choices_of(field.schema) or field.schema.keys() & LIMITS:
        return field
    begin = initial_states(usual["values"]) or [first_state(usual["values"])]
    return replace(field, schema={**field.schema, "enum": [*dict.fromkeys(begin)]})


def _initial_value(field: Field) -> Json:
    schema = field.schema
    if "default" in schema and field.link is None:
        return schema["default"]
    if is_nullable(schema):
        return None
    return first_value(snake(field.name), schema) if field.required else NOWHERE


# records beside it ----------------------------------------------------------------------------------------------------


def child_records(entity: Entity, domain: Domain) -> Divide:
    """Compile the records that a new record contains as a list of objects and that tools name by ids of their own.

    A request that is created with its `tasks` has tasks that refer to it, if the tools create tasks of a request, too.
    """
    creates = {plan.entity: plan for plan in domain.plans.values() if plan.verb == "create" and plan.entity}
    asked = {plan.entity for plan in domain.plans.values() if plan.key is not None}
    named = {field: singular(snake(field)) for field in entity.fields if is_rows(entity.fields[field].schema)}
    parts = {field: domain.entities[name] for field, name in named.items() if name in asked and name in creates}
    links = {
        field: next((own.name for own in child.fields.values() if own.link == entity.name), None)
        for field, child in parts.items()
        if child.inside is None
    }
    makers = [
        (field, child, link, key_maker(child), record_maker(mine, child, domain, optional_fields(mine, child, domain)))
        for field, child in parts.items()
        for mine, link in [(creates[child.name], links.get(field))]
        if link is not None
    ]

    def divide(turn: Turn, invent: Invent, key: Key, values: Record) -> dict[str, list[Change]]:
        children = dict[str, list[Change]]()
        for field, child, link, keys, make in makers:
            for item in map(as_object, as_list(values.get(field))):
                own: Key = next_key(child, keys, turn.view, turn.draws)
                mine = {name: value for name, value in item.items() if name in child.fields and name != child.key}
                record = make(turn, invent, {**mine, link: key, child.key: own}, {**mine, link: key})
                put = Change("put", child.name, own, record, expected=turn.view.version(child.name, own))
                children.setdefault(field, []).append(put)
                turn = turn.after([put])
        return children

    return divide if makers else lambda _turn, _invent, _key, _values: {}


@frozen
class _Shared:
    """A reference that records of an entity and of the entity of one of their links have in common."""

    field: str
    link: str
    target: str
    theirs: str


def implied_links(entity: Entity, domain: Domain) -> Imply:
    """Compile the references that others imply, in both directions.

    A booking of a room has the hotel of the room. A booking in a hotel that must have a room, but names none, has a
    room of this hotel.
    """
    shared = list(_shared(entity, domain))
    chosen = [link for link in shared if entity.fields[link.link].required]

    def imply(turn: Turn, invent: Invent, values: Record) -> Record:
        implied = dict(values)
        for link in shared:
            if link.field not in implied and implied.get(link.link) is not None:
                key = (turn.view.get(link.target, implied[link.link]) or {}).get(link.theirs)
                if key and turn.view.get(entity.fields[link.field].link or "", key):
                    implied[link.field] = key
        for link in chosen:
            if link.link not in implied and implied.get(link.field) is not None:
                rows = islice(turn.view.find(link.target, link.theirs, implied[link.field]), MOST_LINK_CANDIDATES)
                if keys := [key for key, _ in rows]:
                    implied[link.link] = invent.choose_reference(turn, entity.name, link.link, link.target, keys)
        return implied

    return imply if shared else lambda _turn, _invent, values: values


def linked_records(entity: Entity, domain: Domain) -> Complete:
    """Compile the records that a call names, where only a name suggests the link and nothing specifies the records."""
    closed = {name for name, target in domain.entities.items() if name in domain.given or target.inside}
    named = [
        (field.name, target)
        for field in entity.fields.values()
        if (target := _named_by(field, domain)) is not None and target.name not in {*closed, entity.name}
    ]

    def complete(turn: Turn, invent: Invent, values: Record) -> list[Change]:
        return new_once(put for name, target in named for put in _named(turn, invent, target, values.get(name)))

    return complete if named else lambda _turn, _invent, _values: []


def _named_by(field: Field, domain: Domain) -> Entity | None:
    """Return the entity whose records the values of a field name: by their keys, or as objects with these."""
    if field.link is not None:
        return domain.entities.get(field.link) if field.link_is_guessed else None
    target = domain.entities.get(singular(snake(field.name)))
    return target if target is not None and target.key in properties(items(field.schema) or field.schema) else None


def _named(turn: Turn, invent: Invent, target: Entity, value: Json) -> Iterator[Change]:
    """Yield the records that a call names and that do not exist: they are known from then on.

    Deleted ones are not created again, nor those whose keys have another form.
    """
    schema = target.schema_of(target.key)
    for item in in_list(value):
        known = {name: inner for name, inner in as_object(item).items() if name in target.fields}
        key: Json = known.get(target.key) if isinstance(item, dict) else item
        if not is_key(key) or not validity_test(schema)(key):
            continue
        if find_key(turn.view, target.name, key) is None and not turn.view.version(target.name, key):
            yield generated_put(turn, target, key, invent, known)


def _shared(entity: Entity, domain: Domain) -> Iterator[_Shared]:
    """Yield the references of an entity that repeat those of linked records, such as `hotel_id` of a room."""
    links = [field for field in entity.fields.values() if field.is_single_link and field.link in domain.entities]
    for link in links:
        target = domain.entities[link.link or ""]
        for theirs in target.fields.values():
            own, noun = entity.fields.get(theirs.name), (theirs.link or "").rpartition(".")[2]
            is_role = snake(theirs.name) not in {noun, f"{noun}_id", f"{noun}_key"}  # `assignee_id`, not `user_id`
            if own is None or own is link or is_role or not theirs.is_single_link or own.link != theirs.link:
                continue
            yield _Shared(own.name, link.name, target.name, theirs.name)
