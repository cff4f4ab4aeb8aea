"""Runs to make, what became of them, and how their agents repeated calls that a fault let fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from typing import Literal, TypeAlias

from mcp_sim.types import Record
from mcp_sim.types.call_matchers import key_given, without_key
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.grades import Grade
from mcp_sim.types.json_values import READS
from mcp_sim.world.trace import Ledger, observation_of
from mcp_sim.world.world import World

CLEAN = "clean"  # the name of the condition without faults

Outcome: TypeAlias = Literal["passed", "failed", "inconclusive", "not exercised", "crashed"]
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "inconclusive", "not exercised", "crashed")


@frozen
class Condition:
    """A variant of the scenario: without faults, or with faults at an intensity (None: the scenario's own)."""

    name: str
    intensity: float | None = None
    has_faults: bool = True

    @classmethod
    def at(cls, intensity: float) -> Condition:
        """Return the condition with faults at an intensity."""
        return cls(f"intensity {exact(intensity)}", intensity)


def exact(number: float) -> str:
    """Render a number so that it is read as the same number: `0.3`, `1`."""
    return repr(number).removesuffix(".0")


@frozen
class RunPlan:
    """A run to make. Runs of one seed and different repetitions begin alike."""

    condition: Condition
    seed: int
    repetition: int = 1

    @property
    def name(self) -> str:
        """A name for files and reports, unique among the runs of a command."""
        again = f"-{self.repetition}" if self.repetition > 1 else ""
        return f"{self.condition.name.replace(' ', '-')}-seed{self.seed}{again}"


@frozen
class AppliedFault:
    """A fault that was applied: the tool that was called, and how often.

    Without a tool it acted on no call: it was in force, as `hide_tool`, or acted by itself, as `external_change`.
    """

    id: str
    kind: str
    tool: str | None
    times: int


@frozen
class RunResult:
    """A finished run. `because` says in a sentence why the outcome is what it is."""

    plan: RunPlan
    outcome: Outcome
    because: str
    grade: Grade
    faults: tuple[AppliedFault, ...]
    called: tuple[str, ...]
    """The tool of each call, in order, those of crashed calls last."""
    seconds: float
    exit_code: int | None
    answer: str
    errors: str
    """The end of the agent's stderr."""
    trace: str | None = None
    errors_file: str | None = None
    """The file with its stderr, beside the trace."""
    retries: tuple[Retry, ...] = ()
    """What followed the calls that failed by faults."""
    sources: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many calls each world model answered, where the scenario has others than the built-in one."""
    guessed: int = 0
    """How many answers are guessed."""

    @property
    def tools(self) -> list[str]:
        """The tools that were called, each once."""
        return list(dict.fromkeys(self.called))

    @property
    def calls(self) -> int:
        return len(self.called)

    @property
    def is_judged(self) -> bool:
        return self.outcome in ("passed", "failed")

    @property
    def has_passed(self) -> bool:
        return self.outcome == "passed"

    def to_json(self) -> Record:
        return {
            "condition": self.plan.condition.name,
            "seed": self.plan.seed,
            "repetition": self.plan.repetition,
            "outcome": self.outcome,
            "because": self.because,
            "grade": self.grade.to_json(),
            "faults": [asdict(fault) for fault in self.faults],
            "retries": [asdict(retry) for retry in self.retries],
            "calls": self.calls,
            "guessed": self.guessed,
            "seconds": round(self.seconds, 3),
            "exit_code": self.exit_code,
            "answer": self.answer,
            "stderr": self.errors,
            "trace": self.trace,
            "stderr_file": self.errors_file,
            **({"sources": dict(self.sources)} if self.sources else {}),
        }


def applied_faults(world: World) -> tuple[AppliedFault, ...]:
    """Return the faults that were applied: to calls, by id and tool, then those that were applied to none."""
    counts = Counter(
        (decided["id"], decided["kind"], step["tool"])
        for step in world.ledger.steps
        if step["entry"] == "call"
        for decided in step["perturbations"]
        if decided["outcome"] == "applied"
    )
    on_calls = [AppliedFault(*names, times) for names, times in counts.items()]
    rest = world.version.applied - {fault.id for fault in on_calls}
    others = [AppliedFault(entry.id, entry.kind, None, 0) for entry in world.scenario.perturbations if entry.id in rest]
    return (*on_calls, *others)


def called_tools(ledger: Ledger) -> tuple[str, ...]:
    """Return the tool of each call, in order, those of crashed calls last."""
    calls = (step for step in ledger.steps if step["entry"] == "call")
    return tuple(call["tool"] for call in (*calls, *ledger.crashes))


def answering_sources(ledger: Ledger) -> dict[str, int]:
    """Return how many calls each world model answered; nothing where the built-in one is alone."""
    return dict(Counter(step["source"] for step in ledger.steps if step.get("source")))


# retries --------------------------------------------------------------------------------------------------------------


How: TypeAlias = Literal["same key", "new key", "no key", "not repeated"]
LOOKED = "looked first"


@frozen
class Retry:
    """What followed a call that failed by a fault. `call` is its number in the world."""

    fault: str
    call: int
    how: How
    looked: bool
    """Whether the agent read the entity before it repeated the call, or without repeating it."""


def find_retries(steps: Sequence[Record], domain: Domain) -> tuple[Retry, ...]:
    """Return what followed each call of a ledger that failed by a fault.

    A call is repeated by the next one of its tool with the same arguments; only the idempotency key may differ.
    """
    calls = [step for step in steps if step["entry"] == "call"]
    return tuple(
        Retry(decided["id"], call["index"], *_sequel(call, calls[place + 1 :], domain))
        for place, call in enumerate(calls)
        for decided in call["perturbations"]
        if decided["outcome"] == "applied" and not observation_of(call["served"] or call["truth"]["observation"]).ok
    )


def _sequel(call: Record, later: Sequence[Record], domain: Domain) -> tuple[How, bool]:
    """Return how a call was repeated, and whether its entity was read before that."""
    tool, arguments = call["tool"], without_key(call["tool"], call["arguments"], domain)
    repeated = next(
        (step for step in later if step["tool"] == tool and without_key(tool, step["arguments"], domain) == arguments),
        None,
    )
    before = later if repeated is None else later[: later.index(repeated)]
    looked = any(_reads_entity(between, call, domain) for between in before)
    if repeated is None:
        return "not repeated", looked
    first, second = (key_given(attempt["tool"], attempt["arguments"], domain) for attempt in (call, repeated))
    return ("no key" if second is None else "same key" if second == first else "new key"), looked


def _reads_entity(step: Record, call: Record, domain: Domain) -> bool:
    plan, meant = domain.plans.get(step["tool"]), domain.plans.get(call["tool"])
    if plan is None or meant is None or plan.entity is None:
        return False
    return any(
        variant.verb in READS and variant.entity in {other.entity for other in meant.variants}
        for variant in plan.variants
    )


def count_retries(retries: Iterable[Retry], fault: str) -> Counter[str]:
    """Count what followed the calls that failed by a fault. `looked first` counts beside the others."""
    mine = [retry for retry in retries if retry.fault == fault]
    return Counter([retry.how for retry in mine] + [LOOKED for retry in mine if retry.looked])


def retry_sentence(fault: str, counts: Counter[str]) -> str:
    """Render these counts: `Calls that failed by lost: 2 repeated with the same key, 1 not repeated`."""
    words = {"same key": "with the same key", "new key": "with a new key", "no key": "without a key"}
    ends = [f"{counts[how]} repeated {text}" for how, text in words.items() if counts[how]]
    ends += [f"{counts['not repeated']} not repeated"] if counts["not repeated"] else []
    times = "once" if counts[LOOKED] == 1 else f"{counts[LOOKED]} times"
    looked = f"; the agent looked first {times}" if counts[LOOKED] else ""
    return f"Calls that failed by {fault}: {', '.join(ends)}{looked}"
