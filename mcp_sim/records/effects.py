"""What does a call of a tool write, whatever its verb: one record, or one for each item of a batch?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mcp_sim.extensions import Invent
from mcp_sim.types import Change, Key, Observation, Record, Turn


@dataclass(frozen=True, slots=True)
class Effect:
    """A record as it is after the call (before it, where the call removes it), and what is written."""

    key: Key
    record: Record
    changes: tuple[Change, ...]


Write: TypeAlias = Callable[[Turn, Invent], "Effect | Observation"]
