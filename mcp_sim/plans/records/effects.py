"""Effects of writes and of batches, and the facts of a call that its result can show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from mcp_sim.plans.infer.states import FINAL, KNOWN_STATES, nearest_choice
from mcp_sim.plans.infer.verbs import PHRASES
from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.record_lookup import may_lack_key
from mcp_sim.plans.records.selection import NO_ROWS, Page
from mcp_sim.plans.refusal import conflict, quoted
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT, equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.doubts import ANY_FIELD, EVERY_RECORD
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, at, required, types_of
from mcp_sim.types.json_values import NOWHERE, value_at
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import last_word, participle, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan

Write: TypeAlias = Callable[[Turn, Invent], "Effect | Observation"]
Note: TypeAlias = Callable[[Turn, "Effect"], None]
"""Notes what a write leaves in doubt."""


_FINAL = terms("states.left_by_restart")
"""States that only a restart leaves."""

_INITIAL = terms("states.initial") - {"active"}  # where records stay for long, also with other states
_LEAVES = re.compile(r"\w+ an? (\w+)\b")
_RESTARTS, _REPEATABLE = terms("states.restarting"), terms("states.repeatable")
_EXACT = KNOWN_STATES - terms("states.wide")
"""States that records are in or not: an `open` ticket may be in progress."""
_STATES = terms("fields.state")
_INTRANSITIVE = terms("verbs.intransitive")
_UNAIDED = frozenset(map(participle, _INTRANSITIVE))


@dataclass(slots=True)
class Effect:
    """The record after the call (before it, if the call removes the record), and the changes."""

    key: Key
    record: Record
    changes: tuple[Change, ...]
    doubts: frozenset[str] = frozenset()
    """The fields whose values nothing determines: they were generated, or an argument for them was lost."""


def new_once(changes: Iterable[Change]) -> list[Change]:
    """Return the changes without the second creation of a record: a call may name one twice."""
    return [*{(change.entity, str(change.key)): change for change in reversed([*changes])}.values()][::-1]


def effect_without_record(
    tool: Tool, plan: Plan, domain: Domain
) -> Callable[[Turn, Observation], Effect | Observation]:
    """Compile what a change does that finds no record: it changes nothing where it names none, else it fails.

    `remove_tag(task_id)` may well be right where nothing specifies which tags the task has, and so is
    `delete_site_servers(site_id)` for a site without any. So is a call without a key that the inputSchema leaves open.
    """
    entity = domain.entities[plan.entity or ""]
    is_free = entity.name in domain.unspecified or clears(tool, plan, entity)
    is_vague = plan.key is None and not entity.singleton and is_free
    others = [argument(path) for path in plan.filters]
    is_single = domain.plans[plan.tool].choice is None if plan.tool in domain.plans else True
    may_lack = plan.key is not None and is_single and may_lack_key(tool, plan)  # another operation needs none
    fetch_key = argument(plan.key or "") if may_lack else None

    def effect(turn: Turn, failure: Observation) -> Effect | Observation:
        asked = next((value for fetch in others if (value := fetch(turn.call.arguments)) is not ABSENT), None)
        if fetch_key is not None and asked is None and fetch_key(turn.call.arguments) is ABSENT:
            return Effect(EVERY_RECORD, {}, (), frozenset({ANY_FIELD}))
        if is_vague and isinstance(asked, str | int):
            return Effect(asked, {}, (), frozenset({ANY_FIELD}))
        return failure

    return effect


def state_check(tool: Tool, plan: Plan) -> Callable[[Key, Record], Observation | None]:
    """Compile the check that refuses a transition: the record has the state already, or cannot leave its state.

    An inferred state may be repeated where servers accept that: what is published is published again.
    """
    entity = plan.entity or ""
    target = {name: value for name, value in plan.fixed.items() if isinstance(value, str) and name not in plan.how}
    repeats = tool.annotations.get("idempotentHint") is True
    is_declared = "fixed" not in plan.basis or plan.basis["fixed"].source == "declared"
    named = frozenset[str]() if is_declared else _presupposed(tool, plan)
    match = _LEAVES.match(tool.description)
    is_first = match is not None and snake(match[1]) in _INITIAL  # "Cancel a planned run" cancels no run that is done
    said = _refused_act(tool, plan)

    def check(key: Key, before: Record) -> Observation | None:
        for name, value in target.items():
            there: Json = before.get(name)
            if equal(there, value):
                if not repeats and (is_declared or snake(value) not in _REPEATABLE):
                    text = _state_text(value)
                    already = f"has already {text}" if text in _UNAIDED else f"is already {text}"
                    return conflict(tool, entity, key, already, status=there)
            elif isinstance(there, str) and (
                (snake(there) in _FINAL and snake(value) not in _RESTARTS) or (is_first and snake(there) in FINAL)
            ):
                return conflict(tool, entity, key, f"cannot {said}: it is {_state_text(there)}", status=there)
        states = [before[name] for name in before if named and snake(name) in _STATES and isinstance(before[name], str)]
        if states and named.isdisjoint(words(str(states[0]))):
            return conflict(tool, entity, key, f"cannot {said}: it is {_state_text(states[0])}", status=states[0])
        return None

    return check


def _presupposed(tool: Tool, plan: Plan) -> frozenset[str]:
    """Return the state that the name of a tool gives the record which it changes: `exchange_delivered_order_items`."""
    word, noun, *_ = (*words(tool.name)[_act(tool).count("_") + 1 :], "", "")
    leads = {snake(value) for value in plan.fixed.values() if isinstance(value, str)}
    is_state = word in _EXACT - leads and singular(noun) in words(plan.entity or "")  # no `add_paid_leave(employee)`
    return frozenset({word}) if is_state and plan.key is not None else frozenset()


def _act(tool: Tool) -> str:
    """Return the verb that the name of a tool begins with."""
    parts = words(tool.name)
    return "_".join(parts[: 2 if parts[:2] in PHRASES else 1])


def _refused_act(tool: Tool, plan: Plan) -> str:
    """Return what a record cannot do or be: `be shipped`, `arrive`."""
    if plan.verb != "update":
        return {"delete": "be deleted", "create": "be used"}.get(plan.verb, "be updated")
    act, state = _act(tool), next((value for value in plan.fixed.values() if isinstance(value, str)), "updated")
    text, done = _state_text(state), participle(act)
    is_led = nearest_choice(act, [state]) is not None and snake(state) in KNOWN_STATES
    verb = text if text == done or not is_led else done
    return act.replace("_", " ") if act in _INTRANSITIVE and verb == done else f"be {verb}"


def _state_text(state: Json) -> str:
    return snake(state).replace("_", " ") if isinstance(state, str) else quoted(state)


def clears(tool: Tool, plan: Plan, entity: Entity) -> bool:
    """Whether a tool removes many records: its name has the plural, and it takes links, or nothing that it needs."""
    fields = [entity.fields.get(rule.field) for rule in plan.filters.values()]
    takes_links = bool(fields) and all(field is not None and field.link is not None for field in fields)
    is_many = plural(last_word(entity.name)) in words(tool.name) and plan.verb == "delete" and plan.key is None
    return is_many and (takes_links or plan.filters.keys().isdisjoint(required(tool.input_schema)))


@dataclass(slots=True)
class Failed:
    """An item that failed: its index from 0, what was given, and the failure."""

    part: int
    item: Json
    why: Observation


@dataclass(slots=True)
class Batch:
    """The outcome of each item by its index, and the state after all of them."""

    done: tuple[tuple[int, Effect], ...]
    failed: tuple[Failed, ...]
    view: View

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(replace(change, part=number) for number, effect in self.done for change in effect.changes)


WriteMany: TypeAlias = Callable[[Turn, Invent], Batch]


def batch(tool: Tool, plan: Plan, write: Write, note: Note) -> WriteMany:
    """Return a write of all items, one after another, each on the changes of those before."""
    path = (plan.each or "").split(".")
    listed = _items(tool, plan)

    def write_all(turn: Turn, invent: Invent) -> Batch:
        done: list[tuple[int, Effect]] = []
        failed: list[Failed] = []
        view = turn.view
        for number, item in enumerate(listed(turn)):
            # The turn as if the call had one item, with draws of its own.
            call = replace(turn.call, arguments=_with(turn.call.arguments, path, item))
            draws = turn.draws
            own = Draws(draws.seed, draws.stream, f"{draws.scope}#{number}", draws.occurrence)
            own = replace(turn, call=call, view=view, draws=own)
            effect = write(own, invent)
            if isinstance(effect, Observation):
                failed.append(Failed(number, item, effect))
            else:
                note(own, effect)
                done.append((number, effect))
                view = view.after(effect.changes) if effect.changes else view
        return Batch(tuple(done), tuple(failed), view)

    return write_all


def _items(tool: Tool, plan: Plan) -> Callable[[Turn], Sequence[Json]]:
    """Return a function that lists the items of a call: a list, a single item, or a comma-separated text."""
    fetch = argument(plan.each or "")
    is_text = "array" not in types_of(at(expanded(tool.input_schema), plan.each or ""))

    def listed(turn: Turn) -> Sequence[Json]:
        value = fetch(turn.call.arguments)
        if isinstance(value, str) and is_text:
            return [piece.strip() for piece in value.split(",") if piece.strip()]
        if isinstance(value, list):
            return as_list(value)
        return [] if value is ABSENT or value is None else [value]

    return listed


def _with(arguments: Record, path: Sequence[str], item: Json) -> Record:
    head, *rest = path
    inner = _with(as_object(arguments.get(head)), rest, item) if rest else item
    return {**arguments, head: cast("Json", inner)}


# what results show ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Facts:
    """What a result can show. `view` is the state after the call's own changes.

    `record` and `key` are those of a single record, `page` is a list, `batch` is the outcome of several items.
    """

    turn: Turn
    view: View
    record: Record | None = None
    key: Key | None = None
    page: Page = NO_ROWS
    batch: Batch | None = None
    guesses: list[str] = field(default_factory=list[str])
    """The properties of the result that were generated, since nothing determines them. Rendering fills it."""


Fill: TypeAlias = Callable[[Facts], Json]
Render: TypeAlias = Callable[[Facts], Observation]


def record_value(field: str) -> Fill:
    """Return what fills a place with a field of the record that has another name."""

    def fill(facts: Facts) -> Json:
        value = value_at(facts.record or {}, field)
        return ABSENT if value is NOWHERE else value

    return fill
