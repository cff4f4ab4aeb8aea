"""What is one entry of a ledger?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from mcp_sim.types.change import Change
from mcp_sim.types.observation import Observation
from mcp_sim.types.turn import Transition
from mcp_sim.types.values import Json, Record

Outcome: TypeAlias = Literal["applied", "preempted", "no_effect", "capped"]


@dataclass(frozen=True, slots=True)
class Decision:
    """A perturbation that was decided for a call, what became of it, and why it was decided."""

    id: str
    kind: str
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class ConditionFailure:
    """A perturbation that was not decided because a condition of its `when` errs, and how."""

    id: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a ledger, as expectations and sinks see it; `trace` writes it as JSON.

    `truth` is the world model's transition for the unmodified call (None if it was not asked), `served` what the agent
    got, `committed` what was written; `answers` as in the call. `actor` is set on events, `opening` (seed, stream,
    clock, ...) on resets.
    """

    n: int
    entry: Literal["call", "event", "reset"]
    at: datetime
    index: int = 0
    tool: str = ""
    arguments: dict[str, Json] = field(default_factory=dict[str, Any])
    truth: Transition | None = None
    served: Observation | None = None
    committed: tuple[Change, ...] = ()
    absorbed: tuple[Change, ...] = ()
    guessed: bool = False
    stub: bool = False
    perturbations: tuple[Decision, ...] = ()
    erred: tuple[ConditionFailure, ...] = ()
    answers: dict[str, Json] = field(default_factory=dict[str, Any])
    actor: str = ""
    opening: Record = field(default_factory=dict[str, Any])
