"""The expectation that the agent recovered from a fault, without doing anything twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, cast

from rpds import HashTrieMap

from mcp_sim.grading.bases import NO_EVIDENCE, AboutPerturbation, Evidence, judged
from mcp_sim.grading.effects import Difference, Effect, Write, effects_of, writes_of
from mcp_sim.grading.progress import By, Progress
from mcp_sim.types import Json, Observation, Record, Step, ToolResult, Transition
from mcp_sim.types.call_matchers import without_key
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import READS, canonical, objects_in
from mcp_sim.types.kinds import End, Verdict, expectations
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.deferred_commits import LATE_ACTOR

MOST_GOALS = 1000
"""The most faulted calls that are followed. Each is compared with every later call, and a fault at every call would
make that quadratic."""

MOST_OPEN_READS = 20
"""The most unanswered reads for which an answer to another call is looked through. Each answer is searched for what
each of them asked."""


@frozen
class Goal:
    """What a faulted call meant, and what became of it."""

    n: int
    tool: str
    kind: Literal["effects", "answer", "unknown"]
    """`effects`: it changes records, or finds nothing to change. `answer`: it reads, or the world would have refused
    it. `unknown`: nothing shows what it would have done."""
    call: str
    """The name that equal calls share."""
    progress: tuple[Progress, ...] = ()
    has_these_keys: bool = False
    """Whether the world gave its new records their keys, so that no others can get them."""
    shows: frozenset[str] = frozenset()
    """Of an answer: the objects in it, or the whole text."""
    is_answered: bool = False
    is_refused: bool = False
    """Whether the world would have refused it, so that nothing is lost if it is not made again."""
    is_judged: bool = True
    """Whether the perturbation was applied to it; else another one was, and this one may meet its repetition."""
    evidence: Evidence = NO_EVIDENCE


_NO_GOALS: HashTrieMap[int, Goal] = HashTrieMap()
_NOTHING_WATCHED: HashTrieMap[str, tuple[int, ...]] = HashTrieMap()


@frozen
class Facts:
    """The goals of the faulted calls, in the order of the faults."""

    goals: HashTrieMap[int, Goal] = _NO_GOALS
    """By place, from 0."""
    watched: HashTrieMap[str, tuple[int, ...]] = _NOTHING_WATCHED
    """The places of the goals that a call or a write may concern, by the name of the call or record."""
    open_reads: tuple[int, ...] = ()
    """The places of the newest reads that were not answered yet."""
    unfollowed: int = 0
    """The number of goals beyond MOST_GOALS."""
    late: tuple[tuple[int, Step], ...] = ()
    """The places of goals whose changes a fault delays, and these changes as the event that is still to come."""


@expectations.register("recovered")
class Recovered(AboutPerturbation):
    """What each call meant that the perturbation was applied to is there exactly once at the end.

    What a call meant is what it would have changed and answered in the same state without the fault. The ledger has it:
    as the truth where the world answered behind the fault, else as the counterfactual, which the world computes when a
    fault answers in its place. Its effects are compared with what was written since, by whatever calls and events:

    - A new record: one record of that entity exists with the values that the call gives. Values that the server makes
      (ids, times, hashes, defaults) are disregarded. Later updates do no harm, and a duplicate that was deleted is
      forgiven.
    - A new value of a field: the field has had it since. What it changes to later does no harm, unless the same call
      made again takes it back, as with a toggle. Setting it again repeats nothing.
    - A number that is added, a text or an item that is put in: it happened exactly once, by the writes in the ledger. A
      repetition that was taken back is forgiven. Calls of other tools that do the same count only if no call of this
      tool did.
    - A deleted record: it was gone since, and is not back as it was.
    - The same call that does the same to another record, as in taking the next of a queue, repeats the effect.

    The records of one call, or the items of a batch, are each compared: a call that writes three of them has one
    effect. Counters that grow by one and values that the server computes count only where a call has no other effect.

    A value that is at the end as the call would have left it is right, however it came to be so. What a fault delays
    counts as written, even if the run ends before.

    A call that reads is recovered once it, or another call whose answer shows the same, was answered as the world
    answers it. One that the world itself would have refused has nothing to recover. Calls with the same tool and equal
    arguments, idempotency keys aside, have one goal. Vacuous if the perturbation was never applied, or only to calls
    that the world would have refused and that were not made again. Not judged if it is not known what a call would have
    done: a real server or a language model would have to be asked, or nothing shows the effect.
    """

    is_goal: ClassVar[bool] = True

    def compares_with(self) -> frozenset[str]:
        return frozenset([self.perturbation])

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        domain = scenario.domain
        if step.entry == "reset":
            return facts
        is_judged = self.is_applied(step)
        if is_judged or (
            any(decided.outcome == "applied" for decided in step.perturbations) and not _is_answered(step)
        ):
            facts = self._with_goal(facts, step, domain, is_judged=is_judged)
        if not facts.goals:
            return facts
        call = _name_of_call(step, domain) if step.entry == "call" else ""
        if is_judged and step.truth is not None and self._is_delayed(step):
            event = replace(step, entry="event", committed=step.truth.changes)
            facts = replace(facts, late=(*facts.late, (facts.watched[call][0], event)))
        elif step.entry == "event" and step.actor == LATE_ACTOR:
            facts = replace(facts, late=facts.late[1:])
        places = {place for name in _names_of_step(step, call) for place in facts.watched.get(name, ())}
        if step.entry == "call" and facts.open_reads and _is_answered(step):
            places.update(facts.open_reads)
        if not places:
            return facts
        has_goal = any(facts.goals[place].is_judged for place in facts.watched.get(call, ()))
        follow = _Follow(step, call, has_goal, domain)
        for place in sorted(places):
            goal = facts.goals[place]
            followed = follow.after(goal)
            if followed is not goal:
                followed = replace(followed, evidence=_with_step(followed.evidence, step))
                facts = _watching(replace(facts, goals=facts.goals.insert(place, followed)), place, goal, followed)
        return facts

    def verdict(self, facts: Facts, end: End) -> Verdict:
        for place, event in facts.late:  # it comes, even if the run ends before
            goal = _Follow(event, "", False, end.scenario.domain).after(facts.goals[place])
            facts = replace(facts, goals=facts.goals.insert(place, goal))
        goals = [goal for place in range(len(facts.goals)) if (goal := facts.goals[place]).is_judged]
        if not goals:
            return judged("vacuous", f"{self.perturbation} was never applied")
        wrong = [(goal, problem) for goal in goals if (problem := _problem_of(goal, end))]
        if wrong:
            because = "; ".join(f"step {goal.n} ({goal.tool}): {problem}" for goal, problem in wrong)
            return judged("failed", because, *(goal.evidence for goal, _ in wrong))
        unknown = [goal for goal in goals if goal.kind == "unknown"]
        if unknown:
            calls = ", ".join(f"step {goal.n} ({goal.tool})" for goal in unknown[:3])
            because = f"nothing shows what {calls} would have done"
            return judged("not judged", because, *(goal.evidence for goal in unknown))
        evidence = [goal.evidence for goal in goals]
        if facts.unfollowed:
            return judged("not judged", f"{facts.unfollowed} faulted calls were too many to be followed", *evidence)
        reached = [goal for goal in goals if goal.is_answered or not goal.is_refused]
        if not reached:
            return judged("vacuous", "nothing to recover: the world itself would have refused it", *evidence)
        n = len(reached)
        recovered = "1 faulted call, recovered" if n == 1 else f"{n} faulted calls, each recovered"
        return judged("passed", f"{recovered} exactly once", *evidence)

    def _is_delayed(self, step: Step) -> bool:
        return any(
            decided.id == self.perturbation and decided.outcome == "applied" and decided.kind == "delayed_visibility"
            for decided in step.perturbations
        )

    @staticmethod
    def _with_goal(facts: Facts, step: Step, domain: Domain, *, is_judged: bool) -> Facts:
        call = _name_of_call(step, domain)
        place = next(iter(facts.watched.get(call, ())), None)
        known = None if place is None else facts.goals[place]
        if place is not None and known is not None:
            if known.is_judged or not is_judged:
                return facts
            is_repeated = known.kind == "effects" and not known.is_answered
            goal = known if is_repeated else _goal(step, call, domain)
            goal = replace(goal, is_judged=True, evidence=_with_step(goal.evidence, step))
            facts = replace(facts, goals=facts.goals.insert(place, goal))
            return facts if is_repeated else _watching(facts, place, None, goal)
        if len(facts.goals) >= MOST_GOALS:
            return replace(facts, unfollowed=facts.unfollowed + is_judged)
        place = len(facts.goals)
        goal = replace(_goal(step, call, domain), is_judged=is_judged)
        watched = facts.watched.insert(call, (*facts.watched.get(call, ()), place))
        facts = replace(facts, goals=facts.goals.insert(place, goal), watched=watched)
        return _watching(facts, place, None, goal)


def _watching(facts: Facts, place: int, before: Goal | None, goal: Goal) -> Facts:
    """Return the facts with what a goal waits for."""
    watched = facts.watched
    if before is None or len(before.progress) != len(goal.progress):
        for name in {_name_of_effect(progress.effect) for progress in goal.progress}:
            watched = watched.insert(name, (*watched.get(name, ()), place))
    is_open = goal.kind == "answer" and not goal.is_answered
    reads = tuple(open_place for open_place in facts.open_reads if open_place != place)
    reads = (*reads, place)[-MOST_OPEN_READS:] if is_open else reads
    return replace(facts, watched=watched, open_reads=reads)


# the goal of a call ---------------------------------------------------------------------------------------------------


def _goal(step: Step, call: str, domain: Domain) -> Goal:
    """Return the goal of a faulted call."""
    evidence = NO_EVIDENCE.with_step(step)
    meant = step.truth or step.counterfactual
    if meant is not None and meant.guessed:
        evidence = replace(evidence, guessed=True)
    goal = Goal(step.n, step.tool, "unknown", call, evidence=evidence)
    plan = domain.plans.get(step.tool)
    if meant is None or step.before is None or (step.stub and step.truth is not None):
        is_read = plan is not None and not step.stub and all(variant.certainly_reads for variant in plan.variants)
        return replace(goal, kind="answer") if is_read else goal
    return _goal_of(goal, meant, step, plan, domain)


def _goal_of(goal: Goal, meant: Transition, step: Step, plan: Plan | None, domain: Domain) -> Goal:
    """Return the goal of a call, which is known to have meant a transition."""
    assert step.before is not None
    reads = plan is not None and all(variant.verb in (*READS, "compute") for variant in plan.variants)
    if not meant.observation.ok:
        return replace(goal, kind="answer", is_refused=True)
    arguments = without_key(step.tool, step.arguments, domain)
    effects = effects_of(meant.changes, step.before, arguments, plan, domain, step.at)
    if reads and not any(effect.is_given for effect in effects):
        return replace(goal, kind="answer", shows=_shown_by(meant.observation))
    if not effects and _is_unclear(step, meant, plan, domain):
        return goal
    progress = tuple(map(Progress, effects))
    return replace(goal, kind="effects", progress=progress, has_these_keys=meant is step.truth)


def _is_unclear(step: Step, meant: Transition, plan: Plan | None, domain: Domain) -> bool:
    """Whether a call that succeeds without a change may have changed something all the same."""
    if meant.guessed or step.tool in domain.elsewhere or plan is None:
        return True
    return any(variant.verb in ("none", "unknown") or variant.guessed for variant in plan.variants)


def _shown_by(observation: Observation) -> frozenset[str]:
    """Return the objects that an answer shows, or its whole text."""
    body = observation.body
    if not isinstance(body, ToolResult):
        return frozenset()
    data = body.data
    rows = [*_rows(data)]
    if rows:
        return frozenset(map(canonical, rows))
    return frozenset([data if isinstance(data, str) else canonical(data)] if data else [])


def _rows(value: Json) -> Iterator[Json]:
    """Yield the objects in a value that hold no list of objects."""
    if isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _rows(item)
    elif isinstance(value, dict):
        rows = [row for inner in cast("Record", value).values() if isinstance(inner, list) for row in _rows(inner)]
        yield from rows or [value]


# following it ---------------------------------------------------------------------------------------------------------


class _Follow:
    """One step, by which goals are followed."""

    def __init__(self, step: Step, call: str, has_goal: bool, domain: Domain) -> None:
        self._step, self._call, self._has_goal, self._domain = step, call, has_goal, domain
        self._writes: list[tuple[Write, list[Difference]]] | None = None
        self._shown: frozenset[str] | None = None

    def after(self, goal: Goal) -> Goal:
        """Return a goal after the step; the same object if nothing has changed."""
        step = self._step
        is_same = step.entry == "call" and self._call == goal.call
        if goal.kind == "unknown" and is_same and step.truth is not None and not step.stub and step.before is not None:
            plan = self._domain.plans.get(step.tool)
            goal = _goal_of(goal, step.truth, step, plan, self._domain)
        if goal.kind == "answer" and not goal.is_answered:
            is_answered = _is_answered(step) and (is_same or self._shows(goal.shows))
            return replace(goal, is_answered=True) if is_answered else goal
        if goal.kind != "effects":
            return goal
        has_goal = self._has_goal and not is_same
        is_own = step.entry == "event" or (step.tool == goal.tool and not has_goal)
        new = tuple(write for write, _ in self._written() if write.old is None)
        keys = goal.has_these_keys and (step.entry == "event" or step.n == goal.n)
        if is_same and not goal.is_judged and _is_answered(step):
            goal = replace(goal, is_answered=True)  # the next equal call repeats nothing
        progress = self._progress(goal.progress, By(step, is_same, is_own, has_goal, new, keys))
        return goal if progress == goal.progress else replace(goal, progress=progress)

    def _progress(self, before: tuple[Progress, ...], by: By) -> tuple[Progress, ...]:
        progress = [*before]
        left = list[tuple[Write, list[Difference]]]()
        met = set[int]()
        for write, differences in self._written():
            makers = [place for place, known in enumerate(progress) if known.makes(write, by)]
            if makers:
                place = min(makers, key=lambda place: (len(progress[place].records), place))
                progress[place] = progress[place].made(write.key, by)
                met.add(place)
                continue
            touched = False
            for place, known in enumerate(progress):
                after = known.after(write, differences, by)
                is_its_record = (known.effect.entity, known.effect.key) == (write.entity, write.key)
                is_met = after is not known or (known.effect.kind != "create" and is_its_record)
                progress[place] = after
                if is_met:
                    met.add(place)
                    touched = True
            if not touched:
                left.append((write, differences))
        return tuple(self._with_rest(progress, left, met, by) if by.is_same_call and left else progress)

    @staticmethod
    def _with_rest(
        progress: list[Progress], left: Sequence[tuple[Write, list[Difference]]], met: set[int], by: By
    ) -> list[Progress]:
        """Return the progress with writes of the same call that hit other records than the call did at first."""
        for write, differences in left:
            for place, known in enumerate(progress):
                if place in met or known.effect.entity != write.entity:
                    continue
                if known.effect.kind == "create":
                    is_like = write.old is None
                    after = known.made(write.key, by) if is_like else known
                elif known.effect.is_named:
                    continue
                else:
                    is_delete = known.effect.kind == "delete"
                    paths = [difference.path for difference in differences]
                    is_like = write.new is None if is_delete else known.effect.path in paths
                    after = known.again(by)._replace(is_elsewhere=True) if is_like else known
                if is_like:
                    progress[place] = after
                    met.add(place)
                    break
        return progress

    def _written(self) -> list[tuple[Write, list[Difference]]]:
        """Return the writes of the step, each with its differences."""
        if self._writes is None:
            before = self._step.before
            writes = [] if before is None else writes_of(self._step.committed, before)
            self._writes = [(write, write.differences) for write in writes]
        return self._writes

    def _shows(self, wanted: frozenset[str]) -> bool:
        """Whether the answer shows what another call would have shown."""
        if not wanted:
            return False
        if self._shown is None:
            served = self._step.served
            body = None if served is None else served.body
            data = body.data if isinstance(body, ToolResult) else None
            self._shown = frozenset(map(canonical, objects_in(data))) | _shown_by(cast("Observation", served))
        return wanted <= self._shown


def _problem_of(goal: Goal, end: End) -> str | None:
    """Return what is wrong with a goal at the end of a world; None if it was reached, or if that is not known."""
    if goal.kind == "answer":
        return None if goal.is_answered or goal.is_refused else "it was never answered"
    problems = [problem for progress in goal.progress if (problem := progress.problem(end.view))]
    more = len(problems) - 3
    return "; ".join(problems[:3]) + (f"; and {more} more" if more > 0 else "") if problems else None


def _with_step(evidence: Evidence, step: Step) -> Evidence:
    return evidence if step.n in evidence.steps else evidence.with_step(step)


def _name_of_call(step: Step, domain: Domain) -> str:
    return f"call {step.tool} {canonical(without_key(step.tool, step.arguments, domain))}"


def _name_of_effect(effect: Effect) -> str:
    return f"entity {effect.entity}" if effect.kind == "create" else f"record {effect.entity} {effect.key}"


def _names_of_step(step: Step, call: str) -> Iterator[str]:
    """Yield the names of a call and of its writes."""
    if call:
        yield call
    for change in step.committed:
        yield f"record {change.entity} {change.key}"
        yield f"entity {change.entity}"


def _is_answered(step: Step) -> bool:
    """Whether the agent got the answer of the world."""
    if step.truth is None or step.served is None:
        return False
    return step.served.body == step.truth.observation.body
