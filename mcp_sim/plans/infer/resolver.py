"""The plan of each tool: assembled from resolved roles, judged by all evidence, given up if it contradicts itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice

from mcp_sim.plans.infer.arguments import MORE, last_name, noun_of_key
from mcp_sim.plans.infer.envelopes import batch_envelope
from mcp_sim.plans.infer.evidence import Evidence, basis_of
from mcp_sim.plans.infer.features import ToolFeatures
from mcp_sim.plans.infer.given_state import Given
from mcp_sim.plans.infer.names import last_segment, noun_spans
from mcp_sim.plans.infer.plan_evidence import PlanFacts, read_plan, read_recordless
from mcp_sim.plans.infer.roles import Roles
from mcp_sim.plans.infer.state_tables import inner_rows
from mcp_sim.plans.infer.states import MAX_ROWS, find_listed_state, find_target_state, find_toggled
from mcp_sim.plans.infer.verbs import INSPECTION_VERBS, STRONG, success_flags
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import constants, main_type, properties, required
from mcp_sim.types.lexicon.english import is_id, last_word, plural, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import EFFECT, RECORDLESS, Basis, Envelope, How, Plan

_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})
_WRITES = frozenset({"create", "update", "delete"})
_SURE, _IDLES, _MIN_DESCRIBED, _UNKNOWN, _MOST_RECORDLESS = 0.6, 0.5, 0.35, 0.1, 0.95
"""The confidence of a digest, of an update that changes nothing (a guess), the least of a verb that only a description
has, that of plans that say only that nothing is known, and the greatest of plans without records."""

_DIGESTS = terms("nouns.digests")
_PAID, _TIME_UNITS = terms("fields.paid"), terms("arguments.time_unit")
_IDLE = "nothing it could change"
_USUAL_FORM = Basis("inferred", 0.4, ("the usual form",))
_SHOWN_FORM = Basis("example", 0.9, ("an example shows it",))
_DECLARED_FORM = Basis("schema", 1.0, ("its outputSchema declares it",))
_ARGUMENT_NAMES = Basis("inferred", 0.8, ("the names of its arguments",))
_DECLARED_EFFECTS = frozenset((*EFFECT, "backend", "sets", "fixed", "filters", "choices", "each"))
_FROM_ARGUMENTS = ("how", "each", "if_exists", "holder")
"""The fields that follow from the names of arguments, besides their roles."""


def declares_effect(overrides: Collection[str]) -> bool:
    """Whether a spec declares what a tool does, and not only how it pages or where its result shows something."""
    return not _DECLARED_EFFECTS.isdisjoint(overrides)


@frozen
class Resolver:
    """All that plans are resolved from."""

    entities: Mapping[str, Entity]
    declared: Mapping[str, Entity]
    """The entities of the spec and of the given state, and singletons."""
    given: Given
    has_state: bool
    """Whether a state is given, if only an empty one."""
    verbs: Mapping[str, int]
    """The number of kinds of tools that mention each entity."""
    written: Mapping[str, AbstractSet[str]]
    """The fields that tools write, by entity."""
    creators: Mapping[str, ToolFeatures]
    """The tool that creates records of an entity. Others add to records that exist."""

    def plan(self, features: ToolFeatures, roles: Roles) -> Plan:
        """Return the plan of a tool by its features, the roles of its arguments, and its overrides."""
        if features.verb in RECORDLESS:
            return self._recordless(features)
        is_fixed = declares_effect(features.overrides)
        if not is_fixed and self._is_outside_state(features):
            return _unknown(features, f"the state has no {features.entity.replace('_', ' ')}")
        if not is_fixed and features.entity not in self.declared and _computes(features):
            return self._recordless(features)
        if not is_fixed and self._is_digest(features):
            plan = Plan(features.tool.id, "none", backend="schema_only").with_declared(features.overrides)
            return plan.with_basis(_SURE, "its name promises a digest of records")
        entity = self.entities[features.entity]
        rows = self.given.records.get(entity.name, ())
        plan = _assemble(features, self._without_unheld_filters(roles, entity), entity, rows)
        plan = self._adding_to_records(features, plan, entity, rows)
        held = frozenset(name for row in islice(rows, MAX_ROWS) for name in row)
        facts = PlanFacts(features, plan, entity, self.verbs[entity.name], entity.name in self.declared, held)
        plan = plan.explained(_basis(features, roles, [*read_plan(facts)], is_held=_is_held(plan.fixed, rows)))
        objection = self._objection(features, plan, entity) if plan.backend == "records" else None
        if not is_fixed and _is_poor(features, plan, objection):
            return self._recordless(features)
        if objection is None:
            return plan
        is_issued = entity.key_like is not None or is_id(snake(entity.key))  # of any format
        is_likely = plan.each is not None or not plan.guessed  # a batch reports which records there are
        idles = objection == _IDLE and plan.key is not None and is_issued and is_likely
        return plan.with_effect(_IDLES, objection, *plan.reasons) if idles else _unknown(features, objection)

    def _without_unheld_filters(self, roles: Roles, entity: Entity) -> Roles:
        """Return the roles without filters by fields that no given record has, unless only tools write such fields.

        They name what the state says by other means: the course of an item, which the item's module has.
        """
        rows = [*islice(self.given.records.get(entity.name, ()), MAX_ROWS)]
        held = {name for row in rows for name in row}
        filters = {path: rule for path, rule in roles.filters.items() if rule.field.split(".")[0] in held}
        written = self.written.get(entity.name, frozenset())
        keys = {other.key for other in self.given.entities.values() if other.name != entity.name}
        own = written - keys  # who asks is known by the key of an account: `show_available_books(username)`
        kept = filters or {path: rule for path, rule in roles.filters.items() if rule.field in own}
        kept = kept if rows else roles.filters
        return replace(roles, filters=kept)

    def _adding_to_records(self, features: ToolFeatures, plan: Plan, entity: Entity, rows: Sequence[Record]) -> Plan:
        """Return a create as an update if another tool makes the records whose key it takes: `give_raise(employee_id)`.

        If that tool takes the key as well, or if the items of a batch share it, this one may create a record:
        `note_add_tags(name, tags)`. So may what only perhaps creates records of its own: `make_offer(dispute_id)`.
        """
        creator, key = self.creators.get(entity.name), next((a for a, f in plan.sets.items() if f == entity.key), None)
        is_plain = plan.copies is None and (plan.verb, plan.if_exists) == ("create", "refuse")
        if key is None or not is_plain:
            return plan
        if creator is not None and plan.each is not None and key.partition(".")[0] != plan.each:
            return replace(plan, if_exists="update")
        if creator is None or creator.tool.id == plan.tool:
            is_guess = features.parsed.word not in STRONG and "verb" not in features.overrides
            return replace(plan, if_exists="update") if is_guess and key in required(features.input) else plan
        if key in properties(features.input) and key not in required(features.input):
            return plan
        if snake(entity.key) in map(snake, properties(creator.input)):
            return replace(plan, if_exists="update")
        sets = {path: name for path, name in plan.sets.items() if path != key}
        fixed = {**find_target_state(features, entity, rows), **plan.fixed}  # `start_job(job_id)`
        return replace(plan, verb="update", key=key, sets=sets, fixed=fixed)

    def _objection(self, features: ToolFeatures, plan: Plan, entity: Entity) -> str | None:
        """Return why a plan could not answer: it reaches no record, or changes nothing. None if it could."""
        if plan.verb in _ONE and plan.key is None and not self._is_meant(features, plan, entity):
            return f"no argument names a {entity.name}"
        rows = plural(entity.name)
        if entity.inside is not None and plan.verb in _WRITES:
            return f"the {rows} are nested in other records, so they are only read; give them as `{rows}` of their own"
        if plan.verb in _ONE and entity.name not in self.declared and self._is_nested(rows):
            return f"the {rows} are nested in other records without a key; give them as `{rows}` of their own"
        return _IDLE if plan.verb == "update" and not plan.sets and not plan.fixed else None

    def _is_nested(self, name: str) -> bool:
        """Whether a field of given records holds objects."""
        given = (row for rows in self.given.records.values() for row in islice(rows, MAX_ROWS))
        return any(inner_rows(row.get(name)) for row in given)

    def _is_meant(self, features: ToolFeatures, plan: Plan, entity: Entity) -> bool:
        """Whether it is clear without a key which record is meant. Inside others it is the first one of a record."""
        is_meant = entity.singleton or bool(plan.filters) or self._is_special(features, plan)
        return is_meant and (entity.inside is None or (plan.verb == "get" and plan.holder is not None))

    def _is_special(self, features: ToolFeatures, plan: Plan) -> bool:
        """Whether a tool gets the current or the next record of an entity that other tools mention, or is said to."""
        is_known = self.verbs[features.entity] > 1 and features.parsed.one_of_a_kind
        return plan.verb == "get" and (is_known or "entity" in features.overrides)

    def _is_outside_state(self, features: ToolFeatures) -> bool:
        """Whether a tool shows what neither the given state nor another tool mentions, or fields of a singleton."""
        is_read = features.verb == "get" or (features.verb in _MANY and features.envelope.rows is None)
        is_known = features.entity in self.declared or self.verbs[features.entity] > 1
        is_part = features.verb == "create" and self._shows_singleton({*properties(features.shape)})
        return self.has_state and (is_read or is_part) and not is_known

    def _is_digest(self, features: ToolFeatures) -> bool:
        """Whether a tool sums up records of other entities, and no schema shows how."""
        is_read = features.verb == "get" or features.verb in _MANY
        is_kept = features.entity in self.declared or features.entity in self.creators
        is_promised = not is_kept and last_word(features.entity) in _DIGESTS
        is_promised = is_promised or (features.parsed.plural and features.parsed.word in _DIGESTS & INSPECTION_VERBS)
        return is_read and is_promised and not properties(features.output)

    def _shows_singleton(self, names: AbstractSet[str]) -> bool:
        """Whether all names, and more than one, are those of fields of a given singleton."""
        singles = (entity for entity in self.given.entities.values() if entity.singleton)
        return len(names) > 1 and any(single.fields.keys() >= names for single in singles)

    def _recordless(self, features: ToolFeatures) -> Plan:
        """Return the plan of a tool that touches no records, or unknown ones."""
        overrides, parsed = features.overrides, features.parsed
        if declares_effect(overrides):
            return Plan(features.tool.id, "none", backend="schema_only").with_declared({"verb": "none", **overrides})
        is_inspection = parsed.word in INSPECTION_VERBS and parsed.verb == "get"
        has_verb = parsed.verb != "unknown" and not parsed.verb_from_description and not is_inspection
        if has_verb and (parsed.sure or features.entity):
            return _unknown(features, "no entity named")
        basis = basis_of([*read_recordless(features, is_mentioned=self._mentions_entity(features))])
        plan = Plan(features.tool.id, "none", backend="schema_only").with_declared(overrides)
        return plan.with_basis(min(_MOST_RECORDLESS, basis.confidence), *basis.reasons)

    def _mentions_entity(self, features: ToolFeatures) -> bool:
        """Whether a tool mentions an entity of others, in its name or by an id argument."""
        phrase = features.parsed.noun + features.parsed.after
        mentioned = {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        return not self.entities.keys().isdisjoint(
            mentioned | {noun_of_key(name) for name in properties(features.input)}
        )


def _assemble(features: ToolFeatures, roles: Roles, entity: Entity, rows: Sequence[Record]) -> Plan:
    """Return the plan of a tool with its overrides, not judged yet.

    An argument declared as a filter is not the key, unless that is declared too.
    """
    is_update, is_copy = features.verb == "update", features.verb == "create" and roles.key is not None
    fixed, how = find_toggled(features, entity)
    amount = roles.sets.get(features.entered_amount or "") if entity.key in roles.sets.values() else None
    is_added = features.verb == "create" and amount is not None and amount != entity.key
    inferred = Plan(
        features.tool.id,
        features.verb,
        features.entity,
        key=None if is_copy else roles.key,
        copies=roles.key if is_copy else None,
        sets=roles.sets,
        how={**_write_modes(features, roles, entity), **how, **({amount: "add"} if amount and is_added else {})},
        fixed={**find_target_state(features, entity, rows), **fixed}
        if is_update
        else {**find_listed_state(features, entity, rows), **_made_flags(features, roles, entity)},
        if_exists="update" if features.is_upsert or is_added else "refuse",
        holder=roles.holder,
        filters=roles.filters,
        query=roles.query,
        paging=roles.paging,
        envelope=_result_places(features, roles, entity),
    )
    whole = features.item_arguments.refold(inferred)
    is_filter = "key" not in features.overrides and whole.key in features.overrides.get("filters", {})
    return whole.with_declared({**features.overrides, "key": None} if is_filter else features.overrides)


def _computes(features: ToolFeatures) -> bool:
    """Whether a tool makes numbers of numbers, without ids: `percentage(part, whole)` finds no record."""
    taken, shown = properties(features.input), properties(features.output)
    has_id = any(is_id(snake(name)) for name in (*taken, *shown))
    is_change = has_id or STRONG.get(features.parsed.word) in {"update", "delete"}
    numbers = [main_type(value) in {"integer", "number"} for value in (*taken.values(), *shown.values())]
    return len(taken) > 1 and bool(shown) and not is_change and all(numbers)


def _made_flags(features: ToolFeatures, roles: Roles, entity: Entity) -> dict[str, Json]:
    """Return the flags of a new record that its result shows, and that say that it was made: `sent`."""
    if features.verb != "create":
        return {}
    shown = properties(features.shape).keys() - {*roles.sets.values()}
    flags = [name for name, field in entity.fields.items() if name in shown and main_type(field.schema) == "boolean"]
    return dict.fromkeys(success_flags(words(last_segment(features.tool.name)), flags), True)


def _result_places(features: ToolFeatures, roles: Roles, entity: Entity) -> Envelope:
    """Return the places in the result.

    What looks like a success flag is a field if the call sets it. What looks like a total is one if it is in a single
    record with its key: the total of an order.
    """
    if features.item_arguments.each is not None and features.verb in _WRITES:
        return replace(batch_envelope(features.verb, features.entity, features.output), text=features.envelope.text)
    envelope, total = features.envelope, features.envelope.total or ""
    if envelope.success is not None and last_name(envelope.success) in map(snake, roles.sets.values()):
        envelope = replace(envelope, success=None)
    is_record = envelope.record is not None and entity.key in properties(features.shape)
    naming = roles.key or next(iter(roles.filters), None)  # records without an id have what the call names
    if features.verb == "delete" and naming is not None and not properties(features.output):
        envelope = replace(envelope, key=last_name(naming))
    is_field = is_record and total.startswith(f"{envelope.record}." if envelope.record else "")
    return replace(envelope, total=None) if is_field else envelope


def _write_modes(features: ToolFeatures, roles: Roles, entity: Entity) -> dict[str, How]:
    """Return how values enter lists, texts and numbers that they do not replace."""
    kinds = {"array", "string"} if features.parsed.word == "append" else {"array"}
    names = {name if name in entity.fields else name.partition(".")[0] for name in roles.sets.values()}
    fields = [entity.fields[name] for name in sorted(names) if name in entity.fields]
    changed = [field.name for field in fields if main_type(field.schema) in kinds and not constants(field.schema)]
    modes: dict[str, How] = dict.fromkeys(changed, features.enters) if features.enters is not None else {}
    numbers = {field.name for field in fields if main_type(field.schema) in {"integer", "number"}}
    lists = {field.name for field in fields if main_type(field.schema) == "array"}
    texts = {field.name for field in fields if features.verb == "update" and main_type(field.schema) == "string"}
    for path, name in roles.sets.items():
        is_payment = snake(name) in _PAID and snake(last_name(path)) not in _PAID
        how = "add" if is_payment else features.calculates(path)
        if how is not None and name in numbers:
            modes[name] = features.counts(name) or how
        elif name in lists and snake(last_name(path)).startswith(MORE):
            modes[name] = "append"  # `additional_items`
        elif name in texts and last_word(last_name(path)) in _TIME_UNITS and last_name(path) != snake(name):
            modes[name] = "add"  # a time moves by a duration
    return modes


def _is_held(values: Mapping[str, Json], rows: Sequence[Record]) -> bool:
    """Whether given records hold one of these values of fields."""
    looked_at = islice(rows, MAX_ROWS)
    return any(row.get(name) == value for row in looked_at for name, value in values.items())


def _basis(features: ToolFeatures, roles: Roles, judged: Sequence[Evidence], *, is_held: bool) -> dict[str, Basis]:
    """Return the basis of each field that is not declared. `is_held`: fixed values come from given records.

    The verb, the entity and the key share their confidence, since what supports one supports the others.
    """
    is_certain = not {"verb", "entity"}.isdisjoint(features.overrides)
    weighed = [*(evidence for evidence in features.evidence if evidence.attribute == "verb"), *judged]
    confidence = 1.0 if is_certain else basis_of(weighed).confidence
    bases = {name: Basis("inferred", confidence, _reasons((*features.evidence, *judged), name)) for name in EFFECT}
    fixed = replace(bases["verb"], source="state") if is_held else bases["verb"]
    others = {"fixed": fixed, "envelope": _form_basis(features)}
    return {**bases, **others, **dict.fromkeys(_FROM_ARGUMENTS, _ARGUMENT_NAMES), **roles.basis}


def _reasons(evidence: Iterable[Evidence], name: str) -> tuple[str, ...]:
    """Return the reasons for one of the fields that decide the effect. Those for no such field support the verb."""
    mine = (reading for reading in evidence if name == (reading.attribute if reading.attribute in EFFECT else "verb"))
    return tuple(dict.fromkeys(reading.reason for reading in mine))


def _form_basis(features: ToolFeatures) -> Basis:
    if not properties(features.output):
        return _USUAL_FORM
    return _DECLARED_FORM if features.tool.output_schema is not None else _SHOWN_FORM


def _unknown(features: ToolFeatures, why: str) -> Plan:
    """Return the plan of a tool whose effect is unknown."""
    return Plan(features.tool.id, "unknown", backend="schema_only").with_basis(_UNKNOWN, why)


def _is_poor(features: ToolFeatures, plan: Plan, objection: str | None) -> bool:
    """Whether a plan rests on a description alone, or inspects something that no argument names."""
    is_inspection = features.parsed.word in INSPECTION_VERBS and plan.key is None and plan.verb == "get"
    is_doubtful = objection is not None or plan.confidence < _MIN_DESCRIBED
    return is_inspection or (features.parsed.verb_from_description and is_doubtful)
