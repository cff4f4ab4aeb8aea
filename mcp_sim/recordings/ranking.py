"""The part of the gate in which scripted agents of graded skill decide: they must rank as on the real server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from mcp_sim.types import Record, frozen

CLEARLY = 0.1  # how much lower a mean rank correlation must be to count: with 16 agents and few streams, less is chance


@frozen
class Rank:
    """How agents rank in one task, compared with the real server."""

    task: str
    rho: float | None
    """None if all agents score the same."""
    reached: float
    """The share of the goal that the best agent reaches without faults."""
    parting: str
    """The call at which most runs part from the real server; '' if none does."""

    def to_json(self) -> Record:
        return {"task": self.task, "rho": self.rho, "reached": self.reached, "parting": self.parting}


Ranking: TypeAlias = Callable[[Path], Sequence[Rank]]
"""Runs agents on the simulation of a document. Raises `Stopped` if it cannot be run, and `Unconfined`."""


def mean_rho(ranks: Sequence[Rank]) -> float:
    """Return the mean rank correlation; 0 counts where all agents score the same."""
    return fmean([rank.rho or 0.0 for rank in ranks]) if ranks else 0.0


def is_clearly_less(ranks: Sequence[Rank], others: Sequence[Rank]) -> bool:
    """Whether agents rank clearly worse than elsewhere."""
    return mean_rho(ranks) < mean_rho(others) - CLEARLY


def reason(ours: Sequence[Rank], plans: Sequence[Rank]) -> str:
    """Return why a program ranks agents worse than the plans, with the call that shows it."""
    worst = min(ours, key=lambda rank: rank.rho or 0.0)
    figures = f"{mean_rho(ours):.2f}, with the plans {mean_rho(plans):.2f}"
    return f"agents rank less as on the real server: {figures}" + (f"; {worst.parting}" if worst.parting else "")


def validity_report(ranks: Iterable[tuple[Rank | None, Rank]]) -> list[Record]:
    """Return how agents rank on what was written, if anything is kept, and on the plans, by task."""
    return [
        {"task": plans.task, "plans": plans.to_json(), "program": None if ours is None else ours.to_json()}
        for ours, plans in ranks
    ]
