"""The base class of importers, which write tool specs from other sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from pydantic import Field

from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds.kind import Kind


@frozen
class Imported:
    """One server as an importer found it."""

    name: str
    tools: Sequence[Json]
    """Its tools/list, untouched."""
    spec: Record = field(default_factory=dict[str, Any])
    """What else is known, by the keys of a tool spec."""
    doubts: tuple[str, ...] = ()
    """Sentences about what was not understood; shown as warnings."""
    capabilities: frozenset[str] = frozenset()
    """What the server declares that it has, as in the protocol: `tools`, `resources`, `prompts`."""


@frozen
class Unreached:
    """A server whose tools could not be read. The reason holds no secrets."""

    name: str
    reason: str


class Importer(Kind):
    """Writes tool specs from another source. The first field, `sources`, is what is imported."""

    sources: tuple[str, ...] = Field(min_length=1, description="What is imported.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        """Return the servers, in their order. Raises `UsageError` or `DocumentError` if there is nothing to import."""
        raise NotImplementedError  # every kind imports from elsewhere
