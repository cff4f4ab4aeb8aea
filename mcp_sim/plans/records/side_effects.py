"""What a call may do besides what its plan does: changes of other records, and conditions that its description states.

A plan carries out what the first clause of a description says. What later clauses say, and what a guessed write does,
is unknown: the answer is a guess, and so are later reads of the records that the call may have changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial

from mcp_sim.plans.infer.arguments import GENERAL_KEYS
from mcp_sim.plans.infer.envelopes import record_schema
from mcp_sim.plans.infer.names import noun_spans
from mcp_sim.plans.infer.verbs import (
    INSPECTION_VERBS,
    RECORDLESS_VERBS,
    RETURN_VERBS,
    classify_verb,
    is_verb,
    plain_form,
    skip_opener,
)
from mcp_sim.plans.records.effects import Effect, Write
from mcp_sim.types import Json, Key, Observation, Record, Tool, Transition, Turn, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.doubts import ANY_FIELD, EVERY_RECORD, EXISTENCE, NEW_RECORDS, Doubts
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties, required
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.english import last_word, participle, singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.plans import DECLARED, Plan
from mcp_sim.types.views import find_key

_WRITES = frozenset({"create", "update", "delete"})
_READS = frozenset({"get", "list", "search"})
_COUNTABLE = frozenset({"integer", "number", "boolean", "array"})
"""The types of fields that calls change in passing: stock, balances, flags, members."""
_COUNTED = terms("fields.taken")
_HEADINGS = "|".join(ordered("phrases.headings"))
_SECTION = re.compile(rf"\n\s*(?:(?i:{_HEADINGS})\b|[A-Z][A-Z ]+:).*", re.DOTALL)
"""What follows describes arguments and results."""
_SENTENCE_ENDS = re.compile(r"[.;:](?:\s|$)|\n\s*[-*\n]")
_CLAUSE_ENDS = re.compile(r",?\s(?:and|then)\s")
_CONDITION = re.compile(
    rf"\b(?:{'|'.join(phrase.replace('_', ' ') for phrase in ordered('phrases.conditions'))})\b", re.IGNORECASE
)
_BECOMING = re.compile(r"\bbecomes?\b", re.IGNORECASE)
_EXISTENCE = re.compile(r"\b(?:exist|there is one|duplicate|unique)", re.IGNORECASE)
"""A condition that plans check: no record is created twice, and none refers to nothing."""
_NO_EFFECT = terms("phrases.advice", "phrases.negations")
_PLACES, _DETERMINERS = terms("phrases.places"), terms("phrases.determiners")
_PREPOSITIONS = terms("phrases.prepositions")
_DIGESTS, _VAGUE = terms("nouns.digests", "figures.total"), terms("verbs.vague")
_ARTICLES = terms("phrases.fillers") | {"how", "what", "which", "whether"}


def with_side_effects(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return an answer that marks what its tool may do besides its plan. A declared plan is taken to be complete."""
    tool, touched, reasons = domain.tools[plan.tool], changes_beside_plan(plan, domain), untold_effects(plan, domain)
    if not reasons:
        return answer

    is_conditional = _is_conditional(plan, domain)
    conditional = {"create": {EXISTENCE}, "delete": {ANY_FIELD}}.get(plan.verb, {*plan.sets.values(), *plan.fixed})
    asked = {entity for entity in touched if _is_mentioned(domain.entities[entity], _arguments(tool))}

    def marked(turn: Turn, invent: Invent) -> Transition:
        transition = answer(turn, invent)
        if not transition.observation.ok:
            return transition
        values = [turn.call.arguments, *(change.record for change in transition.changes if change.record is not None)]
        for entity, fields in touched.items():
            is_new = fields == {NEW_RECORDS}
            keys = set[Key]() if is_new else _named_keys(turn.view, domain.entities[entity], values)
            for key in keys or (() if entity in asked and not is_new else (EVERY_RECORD,)):
                Doubts(turn.memory, entity).add(key, fields, turn.index)
        for change in transition.changes if is_conditional or plan.verb == "create" else ():
            Doubts(turn.memory, change.entity).add(change.key, conditional, turn.index)
        return transition.marked(*reasons)

    return marked


def untold_effects(plan: Plan, domain: Domain) -> list[str]:
    """Return why the changes of a call are a guess: the tool may change other records, or only on a condition."""
    touched = changes_beside_plan(plan, domain)
    reasons = [f"the tool may also change records of {', '.join(touched)}"] if touched else []
    return [*reasons, *(["the description states a condition"] if _is_conditional(plan, domain) else [])]


def _is_conditional(plan: Plan, domain: Domain) -> bool:
    """Whether a description states a condition, or something that the plan does not do to its record.

    It becomes what the plan does not make of it, or another number changes: `the price is computed anew`.
    """
    tool, own = domain.tools[plan.tool], domain.entities.get(plan.entity or "")
    if not _is_inferred(plan) or plan.verb not in _WRITES or own is None:
        return False
    written = {*plan.sets.values(), *plan.fixed, *plan.how, *map(snake, properties(tool.input_schema))}
    if plan.verb == "update" and any({*_mentioned_fields(own, text)} - written for text in _effects(tool)):
        return True
    is_said = any(isinstance(value, str) and value in tool.description for value in plan.fixed.values())
    becomes = not is_said and _BECOMING.search(tool.description) is not None
    return becomes or any(map(_is_condition, _sentences(tool)))


def doubting_new_fields(write: Write, plan: Plan, domain: Domain) -> Write:
    """Return a write that is in doubt if it sets only fields that its record lacked, and that no other tool knows.

    The server may mean another field, as `move_box(to_room)` does beside a record with `room_id`, or another record
    that the call names, as in `change_room(ref, room)`.
    """
    entity, written = plan.entity or "", {name.partition(".")[0] for name in (*plan.sets.values(), *plan.fixed)}
    others = [other for other in domain.variants if other.entity == entity and other.tool != plan.tool]
    known = {name.partition(".")[0] for other in others if other.verb == "create" for name in other.sets.values()}
    for read in (other for other in others if other.verb in _READS):
        known |= properties(record_schema(read.envelope, expanded(domain.tools[read.tool].output_schema or {}))).keys()
    is_sure = entity in domain.declared or "declared" in {basis.source for basis in plan.basis.values()}
    if plan.verb != "update" or not written or is_sure or not written.isdisjoint(known):
        return write

    def noted(turn: Turn, invent: Invent) -> Effect | Observation:
        effect = write(turn, invent)
        if isinstance(effect, Observation) or not written.isdisjoint(turn.view.get(entity, effect.key) or {}):
            return effect
        for other in _read_entities(domain):
            for key in _named_keys(turn.view, other, [turn.call.arguments]) if other.name != entity else ():
                Doubts(turn.memory, other.name).add(key, {ANY_FIELD}, turn.index)
        return replace(effect, doubts=effect.doubts | {ANY_FIELD})

    return noted


def doubting_counts(write: Write, plan: Plan, domain: Domain) -> Write:
    """Return a create that may change a count of given records that the call names: seats `sold`, places `left`."""
    others = (domain.entities[name] for name in sorted(domain.given - domain.declared - {plan.entity}))
    held = [(entity, {name for name in entity.fields if last_word(snake(name)) in _COUNTED})
            for entity in others if entity.inside is None and not entity.singleton]  # fmt: skip
    counted = [(entity, fields) for entity, fields in held if fields]
    if plan.verb != "create" or not counted or not _is_inferred(plan):
        return write

    def noted(turn: Turn, invent: Invent) -> Effect | Observation:
        effect = write(turn, invent)
        if isinstance(effect, Observation):
            return effect
        changed = {(change.entity, change.key) for change in effect.changes}
        for entity, fields in counted:
            for key in _named_keys(turn.view, entity, [turn.call.arguments]):
                if (entity.name, key) not in changed:
                    Doubts(turn.memory, entity.name).add(key, fields, turn.index)
        return effect

    return noted


def changes_beside_plan(plan: Plan, domain: Domain) -> Mapping[str, AbstractSet[str]]:
    """Return the entities, with the fields, whose records a tool may change besides what its plan says."""
    if not _is_inferred(plan):
        return {}
    name, tool = (changes_beside_plan, plan.tool), domain.tools[plan.tool]
    if name not in domain.kept:
        is_guess = plan.guessed or plan.verb not in _WRITES or _makes_what_nothing_shows(plan, domain)
        changes = _guessed_changes if is_guess else partial(_described_changes, plan)
        domain.kept[name] = changes(tool, domain) if _may_write(tool, plan) else {}
    return domain.kept[name]


def _makes_what_nothing_shows(plan: Plan, domain: Domain) -> bool:
    """Whether a tool creates records that neither the given state has nor any tool shows: `add_luggage(ref)`."""
    is_shown = plan.entity in {*domain.given, *domain.declared, *(entity.name for entity in _read_entities(domain))}
    return plan.verb == "create" and bool(domain.given) and not is_shown


def _is_inferred(plan: Plan) -> bool:
    is_declared = plan.basis.get("verb", DECLARED).source == "declared"
    return not is_declared and plan.choice is None and plan.backend in {"records", "schema_only"}


def _may_write(tool: Tool, plan: Plan) -> bool:
    """Whether a tool changes something, as far as is known. Descriptions of reads begin with nouns, too."""
    if tool.annotations.get("readOnlyHint") is True or plan.verb in _READS:
        return False
    if plan.verb in _WRITES:
        return True
    name, about = words(tool.name), words(skip_opener(tool.description))[:3]
    if not name or not _DIGESTS.isdisjoint((*name, *about[:1])) or _ARTICLES.intersection(about[:1]):
        return False
    verbs = {name[0], plain_form(about[0])} if about else {name[0]}
    is_read = any(classify_verb(verb) in _READS or verb in RETURN_VERBS | INSPECTION_VERBS for verb in verbs)
    return not is_read and "of" not in about[1:] and not verbs & (RECORDLESS_VERBS - _VAGUE)


def _sentences(tool: Tool) -> list[str]:
    """Return the sentences of a description, without sections about arguments and results."""
    return [text for text in _SENTENCE_ENDS.split(_SECTION.sub("", f"\n{tool.description}\n")) if text.strip()]


def _is_condition(sentence: str) -> bool:
    return _CONDITION.search(sentence) is not None and not _EXISTENCE.search(sentence)


def _effects(tool: Tool) -> Iterator[tuple[str, ...]]:
    """Yield the words of the clauses that say what a tool does besides its first one.

    Imperatives in later sentences are advice, and so is what a sentence joins to advice.
    """
    for place, sentence in enumerate(_sentences(tool)):
        clauses = [words(clause) for clause in _CLAUSE_ENDS.split(sentence)]
        is_advice = bool(place and clauses[0] and is_verb(clauses[0][0])) or _CONDITION.search(sentence) is not None
        for text in clauses:
            is_advice = is_advice or not _NO_EFFECT.isdisjoint(text)
            if not is_advice and (place or text is not clauses[0]):
                yield text


def _guessed_changes(tool: Tool, domain: Domain) -> dict[str, AbstractSet[str]]:
    """Return the entities that a write of unknown effect may change: those that its text or its arguments mention.

    So do two of their fields: `move_stock(sku, to_bin, quantity)` beside levels with a `sku` and a `quantity`. It may
    also make records that refer to others, which its text need not mention: the payslips of `run_payroll(month)`. What
    takes nothing and mentions no records, such as `pause`, makes none.
    """
    text = [*words(tool.name), *words(" ".join(_sentences(tool))), *_arguments(tool)]
    named = {*map(snake, properties(tool.input_schema))} - GENERAL_KEYS
    read = _read_entities(domain)
    inner = [entity for entity in domain.entities.values() if entity.inside is not None and _is_mentioned(entity, text)]
    holders = {entity.inside.entity for entity in inner if entity.inside is not None}
    meant = [entity for entity in read if entity.name in holders
             or _is_mentioned(entity, text) or len(named & {*map(snake, entity.fields)}) > 1]  # fmt: skip
    changed: dict[str, AbstractSet[str]] = {entity.name: {ANY_FIELD} for entity in meant}
    if not meant and not required(tool.input_schema):
        return {}
    linked = [entity.name for entity in read if any(field.link for field in entity.fields.values())]
    return dict.fromkeys(linked, frozenset({NEW_RECORDS})) | changed


def _arguments(tool: Tool) -> list[str]:
    """Return the words in the names of all arguments, also of those inside others."""
    return [word for name in _properties(expanded(tool.input_schema)) for word in words(name)]


def _properties(schema: Record, levels: int = 3) -> Iterator[str]:
    for name, inner in properties(schema).items():
        yield name
        if levels:
            yield from _properties(inner, levels - 1)
            yield from _properties(items(inner), levels - 1)


def _described_changes(plan: Plan, tool: Tool, domain: Domain) -> dict[str, AbstractSet[str]]:
    """Return the entities and fields that a description says a tool changes, and its plan does not."""
    touched, asked = dict[str, AbstractSet[str]](), {*map(snake, properties(tool.input_schema))}
    own = domain.entities.get(plan.entity or "")
    known = asked | {*plan.sets.values(), *plan.fixed, *plan.how} | ({*own.fields} if own else set[str]())
    for text in _effects(tool):
        changed_nouns = [*_without_places(text)]
        for entity in (entity for entity in _read_entities(domain) if entity is not own):
            fields = {name for name in _mentioned_fields(entity, text) if name not in known}
            changed = {ANY_FIELD} if _is_mentioned(entity, changed_nouns) else fields
            if changed:
                touched[entity.name] = touched.get(entity.name, frozenset()) | changed
    return touched


def _read_entities(domain: Domain) -> list[Entity]:
    """Return the entities whose records some tool shows, or records inside these."""
    read = {plan.entity for plan in domain.variants if plan.verb in _READS}
    read |= {inner.inside.entity for name in read if (inner := domain.entities.get(name or "")) and inner.inside}
    return [entity for entity in domain.entities.values() if entity.name in read and entity.inside is None]


def _is_mentioned(entity: Entity, text: Sequence[str]) -> bool:
    """Whether words mention an entity, or the natural key of its records."""
    nouns = {singular_phrase(tuple(text[start:end])) for start, end in noun_spans(len(text))}
    names = {entity.name.rpartition(".")[2]} | ({snake(entity.key)} - GENERAL_KEYS)
    return not names.isdisjoint(nouns)


def _without_places(text: Sequence[str]) -> Iterator[str]:
    """Yield the words without nouns of places and circumstances: `calendar` in "It stays in the calendar"."""
    is_place = False
    for word in text:
        if is_place and word not in _DETERMINERS:
            is_place = False
        else:
            is_place = is_place or word in _PLACES
            yield word


def _mentioned_fields(entity: Entity, text: Sequence[str]) -> Iterator[str]:
    """Yield the fields that words mention: `reserved` in "Reserves stock"."""
    forms = {form for word in text for form in (word, singular(word), participle(plain_form(word)))}
    counted = [field for field in entity.fields.values() if main_type(field.schema) in _COUNTABLE]
    for name in (field.name for field in counted if field.name != entity.key):
        if forms.issuperset(map(singular, words(name))) and not _PREPOSITIONS.issuperset(words(name)):
            yield name


def _named_keys(view: View, entity: Entity, values: Sequence[Record]) -> set[Key]:
    """Return the keys of the records that values name: any text, and numbers under the name of the entity."""
    if entity.singleton:
        return {entity.name}
    leaves = (leaf for value in values for leaf in _leaves("", value))
    asked = (leaf for name, leaf in leaves if isinstance(leaf, str) or last_word(entity.name) in words(name))
    return {key for leaf in asked if (key := find_key(view, entity.name, leaf)) is not None}


def _leaves(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the scalars in a value, each with the name of the property that holds it."""
    if not isinstance(value, dict | list):
        yield name, value
    for inner, held in as_object(value).items():
        yield from _leaves(inner, held)
    for held in as_list(value):
        yield from _leaves(name, held)
