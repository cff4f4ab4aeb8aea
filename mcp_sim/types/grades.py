"""The grade of a world: the verdicts of its expectations, the outcome of the run, and the reward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import Record
from mcp_sim.types.kinds.expectation import Difference
from mcp_sim.types.readable import percent

GradeOutcome: TypeAlias = Literal["passed", "failed", "inconclusive", "not exercised", "crashed"]

Exercised: TypeAlias = Literal["require", "ignore"]
"""Whether a run counts only if a fault was applied, if the scenario has any."""


@frozen
class GradedVerdict:
    """The verdict of one expectation, and what it counts."""

    id: str
    kind: str
    outcome: Literal["passed", "failed", "vacuous", "not judged", "inconclusive"]
    """As in a `Verdict`. `inconclusive`: it rests on a guess, and the grade is strict."""
    because: str
    steps: tuple[int, ...] = ()
    guessed: bool = False
    weight: float = 1.0
    gate: bool = False
    optional: bool = False
    differences: tuple[Difference, ...] = ()
    """As in a `Verdict`."""

    def to_json(self) -> dict[str, Any]:
        """Return the form that reports have."""
        differences = [asdict(difference) for difference in self.differences]
        return {**asdict(self), "steps": list(self.steps), "differences": differences}


def failed_first(verdicts: Iterable[GradedVerdict]) -> list[GradedVerdict]:
    """Return verdicts as reports show them: those that failed first, then those that could not be judged."""
    order = ("failed", "inconclusive", "not judged")
    return sorted(
        verdicts, key=lambda verdict: order.index(verdict.outcome) if verdict.outcome in order else len(order)
    )


def last_reset(steps: Sequence[Record]) -> int:
    """Return the place of the last reset among the steps of a ledger, where what is graded begins; else 0."""
    return max((at for at, step in enumerate(steps) if step["entry"] == "reset"), default=0)


def count_guessed(steps: Sequence[Record]) -> tuple[int, int]:
    """Return how many answers since the last reset hold what nothing determines, and how many there are."""
    calls = [step for step in steps[last_reset(steps) :] if step["entry"] == "call"]
    return sum(call["guessed"] for call in calls), len(calls)


def guessed_share(guessed: int, calls: int) -> str:
    """Render how many of the answers to calls are guessed, as a sentence."""
    verb = "is" if guessed == 1 else "are"
    return f"{guessed} of {calls} answers ({percent(guessed / calls)}) {verb} guessed."


@frozen
class Grade:
    """The grade of a world at its end."""

    verdicts: tuple[GradedVerdict, ...]
    """In the order of the expectations."""
    outcome: GradeOutcome
    """`not exercised`: no fault of the scenario was applied, or every expectation that is not optional is vacuous."""
    reward: float | None
    """0 to 1; None if mcp-sim crashed."""
    because: str
    """Why the outcome is what it is, as a sentence."""
    explanation: str
    """How the reward came about, as a sentence."""
    guessed: bool = False
    """Whether the outcome rests on a guess; then `because` names the expectations whose verdicts do."""
    reward_guessed: bool = False
    """Whether the reward does: one of the verdicts that it counts rests on a guess."""

    def to_json(self) -> dict[str, Any]:
        """Return the form that reports have."""
        return {
            "outcome": self.outcome,
            "because": self.because,
            "reward": self.reward,
            "explanation": self.explanation,
            "guessed": self.guessed,
            "reward_guessed": self.reward_guessed,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
        }
