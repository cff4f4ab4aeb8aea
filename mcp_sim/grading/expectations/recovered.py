"""The expectation that the agent recovered from a fault, without doing anything twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from rpds import HashTrieMap

from mcp_sim.grading.bases import AboutPerturbation
from mcp_sim.grading.evidence import NO_EVIDENCE, Evidence, judged
from mcp_sim.grading.relative_changes import RelativeChange, Write, times_made
from mcp_sim.types import Change, Json, Key, Record, Step, View
from mcp_sim.types.call_matchers import times
from mcp_sim.types.conditions import ABSENT, at_path, equal
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import takes_null
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import End, Verdict, expectations
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_parts import READS
from mcp_sim.types.scenario import Scenario

MOST_GOALS = 100
"""The most faulted calls that are followed."""

MOST_KEYS = 100
"""The most records, or writes of a record, that are remembered for one goal."""


@frozen
class Goal:
    """The intended effect of a faulted call, and the records that have had it since."""

    index: int
    tool: str
    arguments: dict[str, Json]
    plan: Plan | None
    key: Any
    """The key of the record that it works on; None if it names none."""
    values: Record
    """The fields that it sets."""
    relative: tuple[RelativeChange, ...] = ()
    """What an update adds, subtracts, appends or removes."""
    writes: tuple[Write, ...] = ()
    """The writes of its record since, if it has relative changes."""
    keys: tuple[Key, ...] = ()
    """The records that have been written with these values; without a plan, the calls that took effect."""
    is_settled: bool = False
    """Whether nothing is left to do: the call was answered as it should be, or the world itself refuses it."""
    evidence: Evidence = NO_EVIDENCE
    """The faulted call, and the steps that changed what is known about its goal."""

    @property
    def verb(self) -> str:
        return "unknown" if self.plan is None else self.plan.verb


_NOTHING_WATCHED: HashTrieMap[str, tuple[int, ...]] = HashTrieMap()
_NO_RECORDS: HashTrieMap[tuple[str, Key], Record] = HashTrieMap()


@frozen
class Facts:
    """The goals of the faulted calls, in the order of the faults."""

    goals: tuple[Goal, ...] = ()
    watched: HashTrieMap[str, tuple[int, ...]] = _NOTHING_WATCHED
    """The places of the goals that a call or a change may concern, by the name of the call or change."""
    unfollowed: int = 0
    """The number of goals beyond MOST_GOALS."""
    newest: HashTrieMap[tuple[str, Key], Record] = _NO_RECORDS
    """The records that were written, of the entities that tools change relatively. A record that is gone is empty."""


@expectations.register("recovered")
class Recovered(AboutPerturbation):
    """The goal of each call that the perturbation was applied to is reached exactly once; vacuous without such a call.

    The goal is judged at the end. It follows from the tool's plan:

    - create: one record with the values that the arguments set, written since the faulted call and still there. Records
      that existed before do not count. Updating the record later does no harm, and a duplicate that was deleted is
      forgiven.
    - update: the record has had the values since, or has them at the end. If it is not known which values, as with
      programs: the same call took effect.
    - update with `how` (a tool that adds, subtracts, appends or removes): the field has changed so exactly once, by the
      records before and after each write since the faulted call. Changes by the same tool and by events count; those by
      other tools count only if these made none. A change that was taken back does not count.
    - delete: the record is gone at the end.
    - get, list, search: the same call with the same arguments was answered as the world answers it.
    - a tool without a plan: the same call took effect exactly once.

    Each item of a batch has a goal. Faulted calls with the same tool and equal arguments have one goal. If the world
    itself refuses the call when it is made again, there is nothing to reach and it counts as recovered. Only the final
    records count, not how they came about: an update that gives another record the goal's values reaches it, a create
    with another title does not.
    """

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        domain = scenario.domain
        if step.entry == "reset":
            return facts
        facts = self._with_goal(facts, step, domain) if self.is_applied(step) else facts
        before = facts
        if step.committed or step.absorbed:
            facts = replace(facts, newest=_newest_after(facts.newest, step, domain))
        if not facts.goals:
            return facts
        places = {place for name in _names_of_step(step) for place in facts.watched.get(name, ())}
        followed = {place: _followed(facts.goals[place], step, domain) for place in places}
        followed = {place: _with_writes(goal, step, before) for place, goal in followed.items()}
        changed = {place: goal for place, goal in followed.items() if goal is not facts.goals[place]}
        if not changed:
            return facts
        goals = list(facts.goals)
        for place, goal in changed.items():
            goals[place] = _with_evidence(goal, step)
        return replace(facts, goals=tuple(goals))

    def verdict(self, facts: Facts, end: End) -> Verdict:
        view = end.view
        if not facts.goals:
            return judged("vacuous", f"{self.perturbation} was never applied")
        wrong = [(goal, problem) for goal in facts.goals if (problem := problem_of(goal, view))]
        if wrong:
            because = "; ".join(f"call {goal.index} ({goal.tool}): {problem}" for goal, problem in wrong)
            return judged("failed", because, *(goal.evidence for goal, _ in wrong))
        beyond = f"; {facts.unfollowed} more were not followed" if facts.unfollowed else ""
        n = len({goal.index for goal in facts.goals})
        recovered = "1 faulted call, recovered" if n == 1 else f"{n} faulted calls, each recovered"
        return judged("passed", f"{recovered} exactly once{beyond}", *(goal.evidence for goal in facts.goals))

    @staticmethod
    def _with_goal(facts: Facts, step: Step, domain: Domain) -> Facts:
        if _name_of_call(step.tool, step.arguments) in facts.watched:
            return facts
        if len(facts.goals) >= MOST_GOALS:
            return replace(facts, unfollowed=facts.unfollowed + 1)
        plan = _plan_of(step, domain)
        goals = [_goal(step, plan, arguments, domain) for arguments in _items(plan, step.arguments)]
        watched = facts.watched
        for place, goal in enumerate(goals, len(facts.goals)):
            for name in _names_of_goal(goal):
                watched = watched.insert(name, (*watched.get(name, ()), place))
        return replace(facts, goals=(*facts.goals, *goals), watched=watched)


def _plan_of(step: Step, domain: Domain) -> Plan | None:
    """Return the plan for a call, with its choice made; None if it is not known what the call does to which records."""
    plan = domain.plans.get(step.tool)
    if plan is not None and plan.choice is not None:
        plan = plan.choices.get(str(at_path(step.arguments, plan.choice.split("."))), plan)
    return plan if plan is not None and plan.entity is not None and plan.verb != "unknown" else None


def _items(plan: Plan | None, arguments: Record) -> list[Record]:
    """Return the arguments for each item of a batch, of the first MOST_GOALS; else the arguments."""
    if plan is None or plan.each is None:
        return [arguments]
    path = plan.each.split(".")
    listed = at_path(arguments, path)
    items = cast("list[Json]", listed) if isinstance(listed, list) else []
    return [_with_item(arguments, path, item) for item in items[:MOST_GOALS]] or [arguments]


def _with_item(arguments: Record, path: Sequence[str], item: Json) -> Record:
    head, *rest = path
    return {**arguments, head: _with_item(arguments[head], rest, item) if rest else item}


def _goal(step: Step, plan: Plan | None, arguments: Record, domain: Domain) -> Goal:
    """Return the goal of a call, or of an item of it, whose arguments are given."""
    if plan is None:
        return Goal(step.index, step.tool, step.arguments, None, None, {}, evidence=NO_EVIDENCE.with_step(step))
    values = _values(plan, arguments, domain)
    relative = _relative_changes(plan, values)
    others = {name: value for name, value in values.items() if name not in {one.field for one in relative}}
    key, evidence = _key(plan, arguments, domain), NO_EVIDENCE.with_step(step)
    return Goal(step.index, step.tool, step.arguments, plan, key, others, relative, evidence=evidence)


def _key(plan: Plan, arguments: Record, domain: Domain) -> Any:
    """Return the key of the record that a call names, None if it names none. A singleton has the name of its entity."""
    if plan.key is not None:
        named = at_path(arguments, plan.key.split("."))
        return named if isinstance(named, str | int | float) else None
    entity = domain.entities.get(plan.entity or "")
    return entity.name if entity is not None and entity.singleton else None


def problem_of(goal: Goal, view: View) -> str | None:
    """Return what is wrong with a goal at the end of a world; None if it was reached exactly once."""
    if goal.plan is None:
        return _exactly_one(len(goal.keys), goal.is_settled, "it took effect")
    entity, key = str(goal.plan.entity), goal.key
    if goal.verb == "create":
        n = sum(view.get(entity, made) is not None for made in goal.keys)
        return _exactly_one(n, goal.is_settled, f"its {entity} exists")
    wrong = _relative_problem(goal, entity, key, view) if goal.relative else None
    if wrong is not None or goal.is_settled:
        return wrong
    if goal.verb in READS:
        return "it was never answered"
    record = None if key is None else view.get(entity, key)
    if goal.verb == "delete":
        return None if record is None else f"{_named(entity, key)} is still there"
    is_reached = bool(goal.keys) or (record is not None and _has(record, goal.values))
    return None if is_reached else f"{_named(entity, key)} never got the values"


def _relative_problem(goal: Goal, entity: str, key: Key, view: View) -> str | None:
    """Return which relative change did not take effect exactly once; None if each did."""
    first, record = view.initial_records(entity).get(key) or {}, view.get(entity, key) or {}
    for change in goal.relative:
        n = times_made(change, goal.writes, first)
        is_needless = n == 0 and (goal.is_settled or change.needs_nothing(record))
        problem = None if is_needless else change.problem(n, _named(entity, key))
        if problem is not None:
            return problem
    return None


def _named(entity: str, key: Key | None) -> str:
    """Return the name of a record in a sentence."""
    return entity if key in (None, entity) else f"{entity} {key}"


def _exactly_one(n: int, is_refused: bool, what: str) -> str | None:
    if n == 1 or (n == 0 and is_refused):
        return None
    return f"{what} {times(n)}" if n else "it had no effect"


def _followed(goal: Goal, step: Step, domain: Domain) -> Goal:
    """Return the goal after one more step."""
    repeats = step.entry == "call" and _same_call(goal, step)
    if repeats and not goal.is_settled and _settles(goal, step):
        goal = replace(goal, is_settled=True)
    plan = goal.plan
    if plan is None:
        return _with_key(goal, step.index) if repeats and step.committed else goal
    if repeats and step.committed and goal.verb == "update" and not (goal.values or goal.relative):
        goal = _with_key(goal, step.index)  # what a program sets is not known: that it took effect is all there is
    for change in step.committed:
        if change.entity == plan.entity:
            goal = _after(goal, change, step, domain)
    return goal


def _settles(goal: Goal, step: Step) -> bool:
    """Whether the same call leaves nothing to do: the world refuses it, answers a read, or has nothing to change."""
    if step.truth is None or not step.truth.observation.ok:
        return step.truth is not None
    changes_nothing = not (step.truth.changes or step.truth.agenda)
    return (goal.verb in READS and _is_answered(step)) or (bool(goal.relative) and changes_nothing)


def _newest_after(
    newest: HashTrieMap[tuple[str, Key], Record], step: Step, domain: Domain
) -> HashTrieMap[tuple[str, Key], Record]:
    """Return the records after a step, of the entities that tools change relatively."""
    counted = {plan.entity for plan in domain.plans.values() if plan.how}
    for change in (*step.absorbed, *step.committed):
        if change.entity in counted and change.op != "reserve":
            newest = newest.insert((change.entity, change.key), change.record or {})
    return newest


def _with_writes(goal: Goal, step: Step, facts: Facts) -> Goal:
    """Return the goal with the writes that may have made or undone its relative changes. `facts`: before the step."""
    if goal.plan is None or not goal.relative or _has_goal_of_its_own(goal, step, facts):
        return goal
    place = goal.plan.entity or "", goal.key
    before, writes = facts.newest.get(place), list[Write]()
    for change in step.committed:
        if (change.entity, change.key) == place and change.op != "reserve":
            after = change.record or {}
            if before is None or any(one.direction(before, after) for one in goal.relative):
                writes.append(Write(before, after, is_own=step.entry == "event" or step.tool == goal.tool))
            before = after
    return replace(goal, writes=(*goal.writes, *writes)[:MOST_KEYS]) if writes else goal


def _has_goal_of_its_own(goal: Goal, step: Step, facts: Facts) -> bool:
    """Whether a step is a call that another goal was made for."""
    is_call = step.entry == "call" and not _same_call(goal, step)
    return is_call and _name_of_call(step.tool, step.arguments) in facts.watched


def _relative_changes(plan: Plan, values: Record) -> tuple[RelativeChange, ...]:
    """Return what an update adds, subtracts, appends or removes."""
    if plan.verb != "update":
        return ()
    found = (RelativeChange(name, plan.how.get(name, "set"), value) for name, value in values.items())
    return tuple(change for change in found if change.how != "set")


def _with_evidence(goal: Goal, step: Step) -> Goal:
    """Return the goal with a step that changed what is known about it."""
    return goal if step.n in goal.evidence.steps else replace(goal, evidence=goal.evidence.with_step(step))


def _name_of_call(tool: str, arguments: Mapping[str, Json]) -> str:
    return f"call {tool} {canonical(arguments)}"


def _names_of_goal(goal: Goal) -> Iterator[str]:
    """Yield the names of the calls and changes that may concern a goal."""
    yield _name_of_call(goal.tool, goal.arguments)
    if goal.plan is not None and goal.verb == "update":
        yield f"record {goal.plan.entity} {goal.key}"
    elif goal.plan is not None and goal.verb == "create":
        yield f"entity {goal.plan.entity}"


def _names_of_step(step: Step) -> Iterator[str]:
    """Yield the names of a call and of its changes."""
    if step.entry == "call":
        yield _name_of_call(step.tool, step.arguments)
    for change in step.committed:
        yield f"record {change.entity} {change.key}"
        yield f"entity {change.entity}"


def _after(goal: Goal, change: Change, step: Step, domain: Domain) -> Goal:
    """Return the goal after one change of a record of its entity."""
    if change.op == "remove" or change.record is None:
        if goal.verb != "create" or change.key not in goal.keys:
            return goal
        return replace(goal, keys=tuple(key for key in goal.keys if key != change.key))
    if goal.verb == "update":
        return _with_key(goal, change.key) if change.key == goal.key and _has(change.record, goal.values) else goal
    if goal.verb != "create" or not _has(change.record, goal.values):
        return goal
    return _with_key(goal, change.key) if _may_have_made(goal, step, domain) else goal


def _may_have_made(goal: Goal, step: Step, domain: Domain) -> bool:
    """Whether this step could have reached the goal. An update must set a field of it; others found it there."""
    if not goal.values:
        return _same_call(goal, step)
    plan = _plan_of(step, domain)
    if plan is None or plan.verb != "update":
        return True
    items = _items(plan, step.arguments)
    return any(_values(plan, arguments, domain).keys() & goal.values.keys() for arguments in items)


def _with_key(goal: Goal, key: Key) -> Goal:
    if key in goal.keys or len(goal.keys) >= MOST_KEYS:
        return goal
    return replace(goal, keys=(*goal.keys, key))


def _values(plan: Plan, arguments: Mapping[str, Json], domain: Domain) -> Record:
    """Return the fields that a call sets, with their values. Null for a field that does not take null sets nothing."""
    given = {field: at_path(arguments, argument.split(".")) for argument, field in plan.sets.items()}
    present = {field: value for field, value in given.items() if value is not ABSENT}
    return {field: value for field, value in present.items() if _takes(field, value, plan, domain)} | dict(plan.fixed)


def _takes(name: str, value: Json, plan: Plan, domain: Domain) -> bool:
    entity = domain.entities.get(plan.entity or "")
    field = None if entity is None else entity.fields.get(name)
    return value is not None or field is None or takes_null(field.schema)


def _has(record: Record, values: Record) -> bool:
    return all(equal(at_path(record, field.split(".")), value) for field, value in values.items())


def _is_answered(step: Step) -> bool:
    """Whether the agent got the answer of the world."""
    if step.truth is None or step.served is None:
        return False
    return step.served.ok and step.served.body == step.truth.observation.body


def _same_call(goal: Goal, step: Step) -> bool:
    return goal.tool == step.tool and equal(goal.arguments, step.arguments)
