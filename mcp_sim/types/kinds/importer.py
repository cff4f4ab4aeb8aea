"""What makes tool specs of what is known elsewhere?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from mcp_sim.types import Json, Record
from mcp_sim.types.kinds.kind import Kind


@dataclass(frozen=True, slots=True)
class Imported:
    """One server as an importer found it.

    `tools` is its list, untouched. `spec` holds what is known beside it, by the keys of a tool spec. `doubts` are
    sentences about what was not understood.
    """

    name: str
    tools: Sequence[Json]
    spec: Record = field(default_factory=dict[str, Any])
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreached:
    """A server of which no tools could be had, and why. The reason holds no secrets."""

    name: str
    reason: str


class Importer(Kind):
    """Makes tool specs of what is known elsewhere. The first field, `sources`, is what is imported."""

    sources: tuple[str, ...] = Field(min_length=1, description="What is imported.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        """The servers, in their order. Raises UsageError or DocumentError where there is nothing to import."""
        raise NotImplementedError  # every kind imports from elsewhere
