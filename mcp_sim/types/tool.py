"""What is a tool as it is served, and how does it fail?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mcp_sim.types.observation import Observation, ToolResult
from mcp_sim.types.values import Json, Record


class FailureRenderer(Protocol):
    """How a vendor words a failure."""

    def __call__(self, kind: str, message: str, slots: Mapping[str, Json]) -> Observation: ...


def render_plain_failure(kind: str, message: str, slots: Mapping[str, Json]) -> Observation:  # noqa: ARG001 (a Wording)
    """A failure as most MCP servers tell it: isError with a sentence as text."""
    return Observation(ToolResult(message, form="text", is_error=True))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is served: its definition from tools/list, untouched, and how it fails.

    `id` is unique in a scenario: the name, or `server/name` where several servers are served.
    """

    id: str
    server: str
    definition: Record
    render_failure: FailureRenderer = render_plain_failure

    @property
    def name(self) -> str:
        return self.definition["name"]

    @property
    def input_schema(self) -> Record:
        return self.definition["inputSchema"]

    @property
    def output_schema(self) -> Record | None:
        return self.definition.get("outputSchema")

    @property
    def description(self) -> str:
        return self.definition.get("description") or ""

    @property
    def annotations(self) -> Record:
        return self.definition.get("annotations") or {}

    def failure(self, kind: str, message: str, /, **slots: Json) -> Observation:
        """An error observation in this tool's own style.

        `kind` (`not_found`, `invalid`, `timeout`, `rate_limited`, ...) chooses the vendor's wording, whose slots are
        filled from `slots`; where the vendor has none, `message` is what the agent reads.
        """
        return self.render_failure(kind, message, slots)
