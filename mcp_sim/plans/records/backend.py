"""Tools that create, read, list, search, update and delete records, one or several at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from mcp_sim.plans.acknowledgements import acknowledged_data, acknowledgement
from mcp_sim.plans.infer.envelopes import record_schema
from mcp_sim.plans.infer.filters import is_loose
from mcp_sim.plans.records.arguments import argument, with_whole_numbers
from mcp_sim.plans.records.creation import Creation
from mcp_sim.plans.records.doubts import (
    absence_test,
    doubts_noter,
    doubts_test,
    in_doubt,
    inner_doubts_test,
    is_unsure_write,
    missing_record_noter,
)
from mcp_sim.plans.records.effects import Effect, Facts, Render, WriteMany, batch
from mcp_sim.plans.records.filters import filter_argument, fixed_tests, sets_any_field, test_maker
from mcp_sim.plans.records.marks import (
    doubting_more,
    part_doubts,
    refusal_doubts,
    standing_doubts,
    unread_arguments,
)
from mcp_sim.plans.records.record_lookup import find_inside, finder, nearest_record, parts_of
from mcp_sim.plans.records.removal import removal
from mcp_sim.plans.records.results import reports_failures, result_renderer
from mcp_sim.plans.records.selection import Page, Select, parent_check, selector
from mcp_sim.plans.records.side_effects import doubting_counts, doubting_new_fields
from mcp_sim.plans.records.updates import updating
from mcp_sim.plans.refusal import choices_text, invalid, not_found, nothing_left, sentence_of
from mcp_sim.types import Json, Observation, Tool, Transition, Turn
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity, Inside
from mcp_sim.types.doubts import ANY_FIELD, EVERY_RECORD, Doubts, doubts_name
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import at, is_nullable, properties, required
from mcp_sim.types.json_values import encode, value_at
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.plans import CERTAIN, DECLARED, Plan
from mcp_sim.types.result_schemas import result_schema

Show: TypeAlias = Callable[[Facts], Transition]
"""Makes a transition without changes of what a call did or found."""

_UNNAMED = ("the call names no record",)
_SEVERAL = ("nothing says which of several records is meant",)
_LOOSE = ("nothing matches exactly, and some records match in part",)
_WRITES = {"create": Creation, "update": updating, "delete": removal}


@backends.register("records")
class Records(Backend):
    """Creates, gets, lists, searches, updates and deletes records of an entity, by key, filters or text."""

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        if plan.choice is not None:
            return with_whole_numbers(tool, plan, domain, _choice_answer(tool, plan, domain))
        entity = domain.entities.get(plan.entity or "")
        if entity is None:
            raise ValueError(f"{tool.id}: there is no entity {plan.entity!r}")
        show = _shower(result_renderer(tool, plan, domain), tool, plan, domain)
        if plan.verb not in _ANSWERS:
            raise ValueError(f"{tool.id}: the backend 'records' has no verb {plan.verb!r}")
        return with_whole_numbers(tool, plan, domain, _ANSWERS[plan.verb](tool, plan, domain, show))


def _choice_answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the answer of a tool whose argument `plan.choice` selects one of `plan.choices`.

    Without the argument, the default of its schema is meant, or the first choice if the argument is optional.
    Each choice has marks of its own.
    """
    name, answers = plan.choice or "", dict[str, Answer]()
    for value, choice in plan.choices.items():
        variant = choice if choice.result else replace(choice, result=plan.result)
        answers[value] = marking(backends[choice.backend]().compile(tool, variant, domain), choice, domain)
    first = None if name in required(tool.input_schema) else next(iter(answers), None)
    usual: Json = properties(tool.input_schema).get(name, {}).get("default", first)

    def answer(turn: Turn, invent: Invent) -> Transition:
        asked: Json = turn.call.arguments.get(name, usual)
        chosen = encode(asked).decode() if isinstance(asked, bool) else asked
        if not isinstance(chosen, str) or chosen not in answers:
            return Transition(invalid(tool, name, asked, f"{name} must be {choices_text(answers)}"))
        return answers[chosen](turn, invent)

    return answer


def marking(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return an answer that is marked for what makes all answers of a plan, or a refusal, a guess."""
    reasons = [*plan.guesses, *standing_doubts(plan, domain), *part_doubts(plan, domain)]
    refused = refusal_doubts(plan, domain)

    def marked(turn: Turn, invent: Invent) -> Transition:
        transition = answer(turn, invent)
        return transition.marked(*(reasons if transition.observation.ok else refused(turn)))

    return marked


def _shower(render: Render, tool: Tool, plan: Plan, domain: Domain) -> Show:
    """Compile what makes a transition of the facts of a call, marked with why the result is a guess.

    It shows values that were generated for it, a record that nothing specifies and no call wrote, a change that is
    unknown, such as that of a `decision` where the result has a status, or rows in a result without a place for them.
    """
    name = plan.entity or ""
    is_unspecified, shape = name in domain.unspecified, record_schema(plan.envelope, expanded(tool.output_schema or {}))
    needed = [part for part in required(shape) if not is_nullable(properties(shape).get(part, {}))]
    stored = frozenset(part for part in needed if part in domain.entities[name].fields)
    written = {*plan.sets.values(), *plan.how}
    is_seen = not properties(shape) or not properties(shape).keys().isdisjoint(written)
    is_idle = plan.verb == "update" and not (plan.sets and is_seen) and not plan.fixed
    has_no_place = plan.verb in {"list", "search"} and (plan.envelope.rows, plan.envelope.total) == (None, None)
    place, unread = domain.entities[name].inside, unread_arguments(plan, domain)
    doubts = doubts_name(name if place is None else place.entity)
    shown = frozenset(properties(shape)) | {*plan.envelope.shows.values()}
    is_doubtful = doubts_test(plan, shown) if place is None else inner_doubts_test(plan, place)
    is_new = plan.verb == "create"  # what is in doubt of a new record is known where it is written
    always = ["nothing says what the call changes"] if is_idle else []
    always += ["no place of the result is for the records"] if has_no_place and properties(shape) else []

    def show(facts: Facts) -> Transition:
        observation = render(facts)
        rows = facts.page.rows if facts.record is None or facts.key is None else [(facts.key, facts.record)]
        reasons, given = [*always], facts.turn.call.arguments
        reasons += [f"the argument {unused} has no role in the plan" for unused in unread if given.get(unused)]
        if facts.guesses:
            reasons.append(f"nothing determines {', '.join(facts.guesses)}")
        if not is_new and facts.turn.memory.get(doubts) and is_doubtful(facts.turn, (key for key, _ in rows)):
            reasons.append(in_doubt(name))
        if not all(record.keys() >= stored for _, record in rows):
            reasons.append("a record lacks what the result shows")
        if is_unspecified:
            first = facts.view.initial_records(name)
            if any(key in first and facts.view.latest_write(name, key) is None for key, _ in rows):
                reasons.append(f"nothing specifies the records of {name}")
        return Transition(observation, guesses=tuple(reasons))

    return show


def _changing(tool: Tool, plan: Plan, domain: Domain, show: Show) -> Answer:
    """Return the answer of a tool that creates, updates or deletes records."""
    write = doubting_more(_WRITES[plan.verb](tool, plan, domain), plan, domain)
    write = doubting_counts(doubting_new_fields(write, plan, domain), plan, domain)
    note = doubts_noter(plan)
    doubts, is_unsure, is_lost = doubts_name(plan.entity or ""), is_unsure_write(plan), absence_test(plan)
    note_missing = missing_record_noter(plan, domain)
    doubted = (in_doubt(plan.entity or ""),)
    is_vague = plan.verb == "create" and plan.basis.get("verb", DECLARED).confidence < CERTAIN
    acknowledge = (acknowledgement if tool.prose else acknowledged_data)(tool.name, tool.description)
    if plan.each is not None:
        return _changing_many(tool, batch(tool, plan, write, note), show, partly=reports_failures(tool, plan, domain))

    def answer(turn: Turn, invent: Invent) -> Transition:
        effect = write(turn, invent)
        if isinstance(effect, Observation):
            is_doubtful = note_missing(turn) or is_lost(turn)
            return Transition(effect, guesses=doubted if is_doubtful else ())
        if is_vague and turn.view.get(plan.entity or "", effect.key) is not None:
            effect.doubts |= {ANY_FIELD}  # what the verb does to a record that exists is unknown
        if effect.key == EVERY_RECORD:
            Doubts(turn.memory, plan.entity or "").add(EVERY_RECORD, effect.doubts, turn.index)
            if tool.output_schema is None:
                return Transition(tool.success(acknowledge(turn.call.arguments)), guesses=_UNNAMED)
            if not turn.view.count(plan.entity or ""):
                return Transition(nothing_left(tool, plan.entity or ""), guesses=_UNNAMED)
            effect.key = ""  # no record is named
        elif effect.doubts or turn.memory.get(doubts) or is_unsure:
            note(turn, effect)
        shown = show(Facts(turn, turn.view, effect.record, effect.key))
        return replace(shown, changes=effect.changes).marked(*_undetermined(effect))

    return answer


def _changing_many(tool: Tool, write: WriteMany, show: Show, *, partly: bool) -> Answer:
    """Return the answer of a batch.

    If the result can report failures (`partly`), the items that succeed are written. Otherwise all items are written or
    none, and the failure has the reason of every failed item. A result whose schema reports failures is never refused.
    """
    is_declared = partly and tool.output_schema is not None

    def answer(turn: Turn, invent: Invent) -> Transition:
        staged = dict(turn.memories.staged)
        written = write(turn, invent)
        failed, count = written.failed, len(written.done) + len(written.failed)
        if not failed or is_declared or (partly and written.done):
            shown = show(Facts(turn, written.view, batch=written))
            reasons = (_undetermined(effect) for _, effect in written.done)
            return replace(shown, changes=written.changes).marked(*chain.from_iterable(reasons))
        turn.memories.staged = staged
        if count == 1:
            return Transition(failed[0].why)
        whys = "; ".join(f"item {failure.part + 1}: {sentence_of(failure.why)}" for failure in failed)
        sentence = f"{len(failed)} of {count} items failed, nothing was written. {whys}"
        return Transition(tool.failure("invalid", sentence))

    return answer


def _getting(tool: Tool, plan: Plan, domain: Domain, show: Show) -> Answer:
    entity = domain.entities[plan.entity or ""]
    if plan.key is None and not entity.singleton:
        return _finding(tool, plan, domain, show)
    if entity.inside is not None:
        return _getting_inside(tool, plan, entity, domain, show)
    find, name, is_lost, doubted = finder(tool, plan, entity), entity.name, absence_test(plan), (in_doubt(entity.name),)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        key = find(turn)
        if isinstance(key, Observation):
            return Transition(key, guesses=doubted if is_lost(turn) else ())
        return show(Facts(turn, turn.view, turn.view.get(name, key), key))

    return answer


def _getting_inside(tool: Tool, plan: Plan, entity: Entity, domain: Domain, show: Show) -> Answer:
    """Return the answer that gets a record inside a record of another entity."""
    fetch, place = argument(plan.key or ""), entity.inside or Inside("", "")
    fetch_holder, holder = argument(plan.holder or ""), Plan(plan.tool, "get", place.entity, key=plan.holder)
    find = None if plan.holder is None else finder(tool, holder, domain.entities[place.entity])
    is_doubtful, doubted = inner_doubts_test(plan, place), (in_doubt(place.entity),)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        asked = fetch(turn.call.arguments)
        outer = fetch_holder(turn.call.arguments)
        key = None if find is None or outer is ABSENT or outer is None else find(turn)
        if isinstance(key, Observation):
            return Transition(key)
        record = find_inside(turn.view, entity, asked, key)
        if record is None:
            missing = not_found(tool, entity.name, None if asked is ABSENT else asked, plan.key)
            is_unsure = bool(turn.memory.get(doubts_name(place.entity))) and is_doubtful(turn, ())
            is_unsure = is_unsure or find_inside(turn.view, entity, asked) is not None  # in the record of another one
            return Transition(missing, guesses=doubted if is_unsure else ())
        return show(Facts(turn, turn.view, record, record[entity.key]))

    return answer


def _finding(tool: Tool, plan: Plan, domain: Domain, show: Show) -> Answer:
    """Return the answer that gets one record by filters: the first match, or the first inside a named record."""
    entity, select = plan.entity or "", _selector(tool, plan, domain)
    fields = {path: domain.entities[entity].fields.get(rule.field) for path, rule in plan.filters.items()}
    links = [path for path, field in fields.items() if field is not None and field.link is not None]
    names = [*(path for path in fields if path not in links), *links, *([plan.holder] if plan.holder else [])]
    choose = nearest_record(tool, domain.entities[entity])

    def answer(turn: Turn, _invent: Invent) -> Transition:
        page = select(turn)
        if isinstance(page, Observation):
            return Transition(page)
        row = choose(page.rows, turn.now)
        if row is None:
            name = next((name for name in names if name in turn.call.arguments), None)
            if page.rows or name is None:
                return Transition(nothing_left(tool, entity))
            return Transition(not_found(tool, entity, turn.call.arguments.get(name or ""), name))
        key, record = row
        shown = show(Facts(turn, turn.view, record, key, page))
        return shown.marked(*_SEVERAL) if len(page.rows) > 1 else shown

    return answer


def _selector(tool: Tool, plan: Plan, domain: Domain) -> Select:
    entity = domain.entities[plan.entity or ""]
    if entity.inside is not None:
        return _selector_inside(tool, plan, domain, entity, entity.inside)
    return selector(tool, plan, entity, any_field=sets_any_field(domain, entity.name))


def _selector_inside(tool: Tool, plan: Plan, domain: Domain, entity: Entity, place: Inside) -> Select:
    """Compile the choice among the rows inside one record, or inside all records, of another entity."""
    holder = Plan(plan.tool, "get", place.entity, key=plan.holder)
    find = None if plan.holder is None else finder(tool, holder, domain.entities[place.entity])
    always = fixed_tests(plan)
    asked = [(filter_argument(tool, path, entity, rule), test_maker(rule)) for path, rule in plan.filters.items()]

    def select(turn: Turn) -> Page | Observation:
        key = None if find is None else find(turn)
        if isinstance(key, Observation):
            return key
        every = (record for _, record in turn.view.rows(place.entity))
        holders = every if key is None else [turn.view.get(place.entity, key) or {}]
        given = ((fetch(turn.call.arguments), maker) for fetch, maker in asked)
        tests = [maker(value) for value, maker in given if value is not ABSENT and value is not None]
        parts = [row for record in holders for row in parts_of(value_at(record, place.field))]
        rows = [(row.get(entity.key, at), row) for at, row in enumerate(parts)]
        rows = [row for row in rows if all(test(row[1]) for test in (*always, *tests))]
        return Page(rows, len(rows))

    return select


def _listing(tool: Tool, plan: Plan, domain: Domain, show: Show) -> Answer:
    select, orphaned = _selector(tool, plan, domain), parent_check(tool, plan, domain)
    loose = _loosened(plan, domain)
    is_search = plan.verb == "search" and plan.basis.get("filters", DECLARED).source != "declared" and loose != plan
    select_loosely = _selector(tool, loose, domain) if is_search else select
    asking = [*plan.filters, *filter(None, [plan.query])] if _promises_record(tool, plan, domain) else []

    def show_page(turn: Turn, page: Page) -> Transition:
        name = next((name for name in asking if name in turn.call.arguments), None)
        if name is not None and not page.rows:
            return Transition(not_found(tool, plan.entity or "", turn.call.arguments[name], name))
        return show(Facts(turn, turn.view, page=page))

    def finds_any(turn: Turn) -> bool:
        page = select_loosely(turn)
        return isinstance(page, Page) and bool(page.rows)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        page = orphaned(turn) or select(turn)
        if isinstance(page, Observation):
            return Transition(page)
        shown = show_page(turn, page)
        return shown.marked(*_LOOSE) if is_search and not page.rows and finds_any(turn) else shown

    return answer


def _promises_record(tool: Tool, plan: Plan, domain: Domain) -> bool:
    """Whether the result of a search is a record with its key, so that it has no form in which nothing is found."""
    if plan.verb != "search" or plan.envelope.record is None or plan.envelope.rows is not None:
        return False
    whole, path = result_schema(tool), plan.envelope.record
    record = at(whole, path)
    is_shown = not path or path.partition(".")[0] in required(whole)
    return is_shown and not is_nullable(record) and domain.entities[plan.entity or ""].key in required(record)


def _loosened(plan: Plan, domain: Domain) -> Plan:
    """Return the plan with filters by texts that match partially, as servers may do where nothing says so."""
    entity = domain.entities[plan.entity or ""]
    fields = {path: entity.fields[rule.field] for path, rule in plan.filters.items() if rule.field in entity.fields}
    texts = {path for path, field in fields.items() if plan.filters[path].op == "equals" and is_loose(field)}
    loose = {path: replace(rule, op="contains") if path in texts else rule for path, rule in plan.filters.items()}
    return replace(plan, filters=loose)


_ANSWERS = {**dict.fromkeys(_WRITES, _changing), **dict.fromkeys(("list", "search"), _listing), "get": _getting}


def _undetermined(effect: Effect) -> tuple[str, ...]:
    """Return the reason to doubt the answer of a write that leaves fields in doubt."""
    if ANY_FIELD in effect.doubts:
        return ("nothing says which fields the call changes",)
    return (f"nothing determines {', '.join(sorted(effect.doubts))}",) if effect.doubts else ()
