"""What does a scenario fix for all its worlds?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mcp_sim.domain.entities import Entity
from mcp_sim.domain.plan import Plan
from mcp_sim.types import Json, Record, Tool


@dataclass(frozen=True, slots=True)
class Example:
    """A recorded call and its result: ground for format and wording, demonstration for a language model.

    `is_blocks`: the result is a list of content blocks, not a value.
    """

    tool: str
    arguments: dict[str, Json]
    result: Json
    is_blocks: bool = False


@dataclass(frozen=True, slots=True)
class Concealed:
    """What the agent may not see of the records of an entity that fit: these `fields`; all where none are named."""

    entity: str
    fields: frozenset[str]
    fits: Callable[[Record], bool]


@dataclass(frozen=True, slots=True)
class Domain:
    """Tools by id, plans by tool id, entities by name, and what the world is about.

    In an `open` world there may be records that nobody mentioned yet; a closed one knows all. What is `concealed` from
    the agent is true nevertheless; but who might pass it on is not to be told.
    """

    tools: Mapping[str, Tool]
    entities: Mapping[str, Entity]
    plans: Mapping[str, Plan]
    description: str
    now: datetime
    examples: tuple[Example, ...] = ()
    open: bool = False
    given: frozenset[str] = frozenset()
    """The entities whose records the state at the beginning holds."""
    concealed: tuple[Concealed, ...] = ()
    kept: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any], compare=False, repr=False)
    """What a behaviour keeps for all its tools and worlds, under a name of its own: what is costly to make again."""
