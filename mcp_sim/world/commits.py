"""Versions of a world: what a call reads, and what calls and events leave behind; moments to return to."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from rpds import HashTrieMap

from mcp_sim.types import (
    Call,
    Change,
    ConditionFailure,
    Decision,
    Due,
    Kept,
    Memories,
    PastVersion,
    Record,
    Step,
    Tool,
    Transition,
    Turn,
)
from mcp_sim.types.clock import Clock
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import BadArguments
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical, nests_deeper, well_formed
from mcp_sim.types.plans import RECORDLESS, Plan
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.catalogue import CatalogueFault
from mcp_sim.world.deferred_commits import writes
from mcp_sim.world.kept_answers import NO_ANSWERS, KeptAnswers
from mcp_sim.world.state import State
from mcp_sim.world.trace import History, Ledger

DEEPEST = 64
"""The arguments of a call may nest this many levels. Deeper ones would exceed Python's recursion limit where they are
checked, compared and written."""

MICROSECOND = timedelta(microseconds=1)  # the finest time that Python has: no occasion falls between two
NO_TOOL = Tool("", "", {"name": "", "inputSchema": {"type": "object"}})

ACTED_UNTIL = ("", "acted-until")
"""The memory key of a world: until when scheduled perturbations have acted, in microseconds since its start."""


@dataclass(slots=True)
class Faults:
    """The perturbations of a world as they are now, compiled."""

    scenario: Scenario
    """The scenario with these perturbations."""
    counters: int
    """How many counters their triggers have."""
    timed: tuple[PerturbationEntry, ...]
    """Those that act by themselves."""
    lasting: tuple[CatalogueFault, ...]
    """Those of the catalogue."""
    injected: tuple[Record, ...]
    """Those that were added since the world's start, as in a document."""
    switched: Mapping[str, bool]
    """Those that were enabled or disabled since then, by id."""

    @property
    def steering(self) -> list[Record]:
        """What leads from the declared perturbations to these, as events of a ledger name it."""
        switches = [{"enable" if is_on else "disable": name} for name, is_on in self.switched.items()]
        return [*({"inject": entry} for entry in self.injected), *switches]


@dataclass(slots=True)
class Version:
    """Everything of a world that a call may change. It is kept by reference: a snapshot and a fork are O(1)."""

    state: State
    counts: tuple[int, ...]
    """The counters of triggers."""
    facts: tuple[Any, ...]
    """The facts of each expectation, in their order."""
    faults: Faults
    occurrences: HashTrieMap[str, int]
    """How often each call was made, by its scope."""
    memories: HashTrieMap[tuple[str, str], Any]
    index: int = 0
    """The number of calls so far."""
    n: int = 0
    """The number of steps in the ledger so far."""
    applied: frozenset[str] = frozenset()
    """The ids of the perturbations that were applied, or in force, at some call."""
    kept: KeptAnswers = field(default_factory=lambda: NO_ANSWERS)
    """The answers under idempotency keys."""


@dataclass(slots=True)
class Unsaved:
    """The names of what has changed in a version since a world was last saved."""

    memories: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    scopes: set[str] = field(default_factory=set[str])
    """The scopes of calls, in `Version.occurrences`."""

    def note(self, turn: Turn) -> None:
        """Note what a call that is committed changes."""
        self.memories.update(turn.memories.staged)
        self.scopes.add(turn.draws.scope)

    def clear(self) -> None:
        self.memories.clear()
        self.scopes.clear()

    def copy(self) -> Unsaved:
        return Unsaved(set(self.memories), set(self.scopes))


@dataclass(slots=True)
class Origin:
    """The start of a world, to which it resets: what all worlds of one scenario and seed have in common."""

    seed: int
    stream: str
    first: Version


@dataclass(slots=True)
class AnsweredCall:
    """The outcome of a call, as a world commits it.

    `truth` is the world's own transition (None if it was not asked), `transition` the one that is served, after all
    perturbations.
    """

    truth: Transition | None
    transition: Transition
    decisions: tuple[Decision, ...]
    is_stub: bool
    errors: tuple[ConditionFailure, ...] = ()
    counterfactual: Transition | None = None
    """What the call would have done without its faults, where the world was not asked (`Step.counterfactual`)."""


# before a call --------------------------------------------------------------------------------------------------------


def arguments_text(call: Call) -> str:
    """Return the arguments of a call as canonical JSON. Halves of characters in the call are replaced.

    Raises `BadArguments` for arguments that no JSON text can hold, or that nest more than `DEEPEST` levels.
    """
    try:
        text = canonical(call.arguments)
    except (RecursionError, ValueError, TypeError) as error:
        reason = "they nest too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadArguments(call.tool, f"are not JSON: {reason}") from None
    # The walk is made only where the brackets suffice: most calls have a few.
    if text.count("[") + text.count("{") > DEEPEST and nests_deeper(call.arguments, DEEPEST):
        raise BadArguments(call.tool, f"nest more than {DEEPEST} levels deep")
    # Python writes a key 1 as "1": the ledger would show another call than the one that was made.
    if not _has_string_keys(call.arguments):
        raise BadArguments(call.tool, "are not JSON: every key must be a string")
    # The standard library writes halves of characters, but no line of UTF-8 can hold them.
    if "\\ud" in text:
        call.arguments = well_formed(call.arguments)
        return canonical(call.arguments)
    return text


def _has_string_keys(value: Any) -> bool:
    if isinstance(value, dict):
        for key, inner in cast("dict[Any, Any]", value).items():
            if not isinstance(key, str) or (not isinstance(inner, str | int) and not _has_string_keys(inner)):
                return False
        return True
    return all(map(_has_string_keys, cast("Sequence[Any]", value))) if isinstance(value, list | tuple) else True


def turn_without_call(origin: Origin, start: datetime, version: Version, elapsed: timedelta) -> Turn:
    """Return a turn of no call: what the next call would read, `elapsed` after the world's start."""
    return Turn(
        call=Call("", {}),
        index=version.index + 1,
        tool=NO_TOOL,
        view=version.state,
        start=start,
        now=start + elapsed,
        draws=Draws(origin.seed, origin.stream, "", 0),
        history=(),
        memories=Memories(version.memories, version.counts),
    )


# events ---------------------------------------------------------------------------------------------------------------


def is_due(due: Due, now: datetime, index: int) -> bool:
    """Whether an entry of the agenda is due at this time, or when the world's call `index` begins."""
    return due.at <= now if due.call is None else due.call <= index


def mark_acted(version: Version, start: datetime, now: datetime) -> tuple[int, Version]:
    """Return up to when scheduled perturbations have acted (in microseconds), and the version after they act to now."""
    since = version.memories.get(ACTED_UNTIL, -1)
    memories = version.memories.insert(ACTED_UNTIL, (now - start) // MICROSECOND)
    return since, replace(version, memories=memories)


# after a call ---------------------------------------------------------------------------------------------------------


def state_after(state: State, transition: Transition, absorbed: tuple[Change, ...]) -> State:
    """Return the state after the events right before the call, and after what the call writes."""
    for due in transition.events:
        state = state.apply(due.changes)
    changes = (*transition.changes, *absorbed)
    return state.apply(changes, transition.agenda) if changes or transition.agenda else state


def version_after(before: Version, turn: Turn, state: State) -> Version:
    """Return the version that a call leaves; what the ledger entry adds to it is as in the version before."""
    return Version(
        state,
        tuple(turn.memories.counts),
        before.facts,
        before.faults,
        before.occurrences.insert(turn.draws.scope, turn.draws.occurrence + 1),
        turn.memories.committed(),
        turn.index,
        before.n,
        before.applied,
        before.kept,
    )


def step_of(
    version: Version, turn: Turn, answered: AnsweredCall, absorbed: tuple[Change, ...], before: State, keeps: Kept = ""
) -> Step:
    """Return the ledger entry of a call. `before`: the state that its changes are written to. `keeps`: as in `Step`."""
    transition = answered.transition
    return Step(
        n=version.n + 1,
        entry="call",
        at=turn.now,
        index=turn.index,
        tool=turn.call.tool,
        arguments=turn.call.arguments,
        truth=answered.truth,
        counterfactual=answered.counterfactual,
        before=before,
        served=transition.observation,
        committed=transition.changes,
        absorbed=absorbed,
        guesses=transition.guesses,
        stub=answered.is_stub,
        keeps=keeps,
        source="" if answered.truth is None or answered.is_stub else answered.truth.source,
        perturbations=answered.decisions,
        errors=answered.errors,
        answers=turn.call.answers,
        caller=turn.call.caller,
    )


def answer_to_keep(turn: Turn, answered: AnsweredCall, absorbed: tuple[Change, ...], plan: Plan) -> Kept:
    """Return which answer is kept under the idempotency key of a call.

    A call occupies its key only if it took effect: one that was refused, that failed before its effect, or whose effect
    was dropped is made again when it is repeated. Where no effect is tracked, success counts. Answers of real servers
    are not kept here, since those servers keep them.
    """
    truth, transition = answered.truth, answered.transition
    if (
        not turn.key
        or answered.is_stub
        or any(answer.is_real or answer.repeats for answer in (transition, truth or transition))
    ):
        return ""
    if writes(transition.changes) or transition.agenda or absorbed:
        # By identity: faults pass changes on or drop them, and an equal change of a batch is another one.
        is_whole = truth is not None and {*map(id, truth.changes)} <= {*map(id, transition.changes)}
        return "served" if not is_whole and transition.observation.ok else "truth" if truth is not None else ""
    if truth is None or truth.changes or truth.agenda or plan.verb not in RECORDLESS:
        return ""
    return "truth" if truth.observation.ok else ""


def applied_after(version: Version, step: Step, origin: Origin, start: datetime) -> frozenset[str]:
    """Return the ids of the perturbations that were applied, or in force at some call, up to this step."""
    known, faults = version.applied, version.faults
    if not step.perturbations and not faults.lasting and step.entry != "event":
        return known
    applied = {decided.id for decided in step.perturbations if decided.outcome == "applied"}
    if step.entry == "event" and step.committed:
        applied.update(entry.id for entry in faults.timed if _acts_at(entry, start, step.at))
    elif step.entry == "call" and faults.lasting:
        applied.update(
            fault.entry.id
            for fault in faults.lasting
            if fault.entry.id not in known and _lasts(fault, step, origin, start)
        )
    return known if applied <= known else known | applied


def _lasts(fault: CatalogueFault, step: Step, origin: Origin, start: datetime) -> bool:
    """Whether a perturbation of the catalogue is in force at a call."""
    if fault.holds is None:
        return any(decided.id == fault.entry.id for decided in step.perturbations)
    # From the first version: nothing but the number and the time of a call decides.
    turn = turn_without_call(origin, start, replace(origin.first, index=step.index - 1), step.at - start)
    return fault.holds(turn)


def _acts_at(entry: PerturbationEntry, start: datetime, at: datetime) -> bool:
    """Whether a scheduled perturbation acts at this very time."""
    return any(time == at for _, time in entry.perturbation.occasions(start, at - MICROSECOND, at))


def replayed(state: State, steps: Sequence[Record]) -> State:
    """Return the state after all changes that the steps of a ledger committed."""
    for step in steps:
        written = [*step.get("committed", ()), *step.get("absorbed", ())]
        state = state.apply([Change.from_json(body) for body in written])
    return state


@frozen
class Mark:
    """A world as it was before a call, to which it returns if the call cannot be saved."""

    version: Version
    crashed: str
    clock: Clock
    ledger: Ledger
    entries: int
    history: History
    pasts: int
    past_versions: deque[PastVersion]
    unsaved: Unsaved | None
    answer: str | None


@frozen
class Moment:
    """A world as it was between two calls, without its ledger: a fork begins there, and a world may return to it."""

    version: Version
    crashed: str
    elapsed: timedelta
    history: History
    past_versions: deque[PastVersion]
    answer: str | None

    def kept(self) -> Moment:
        """Return the same moment, apart from the world that goes on."""
        return replace(self, history=self.history.fork(), past_versions=self.past_versions.copy())

    @property
    def size(self) -> int:
        """About how many bytes it keeps alive."""
        return self.version.state.size + self.version.kept.size + self.history.size
