"""Backend for tools that store and count an agent's thoughts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.given import Given
from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import NUMBER, TEXT, Operation, role
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Tables, backends
from mcp_sim.types.plans import Plan

LOG = "thinking"


def _thinks(profile: ToolProfile) -> bool:
    """Return whether a thought is all that a tool takes, or comes with a number that counts thoughts."""
    alone = len(profile.arguments) == 1 and profile.mentions("think", "thinking", "thought")
    return alone or profile.argument(("thought_number", "step_number", "step"), NUMBER) is not None


def think(request: Request) -> Outcome:
    """Store a thought. With a number, show the counts; else show the thought."""
    log: Record = request.record(request.entity) or {}
    thought = {request.named(role): value for role, value in request.given.items()} | {**request.others}
    kept = [*as_list(log.get("thoughts")), {name: value for name, value in thought.items() if value is not None}]
    request.put(request.entity, {**log, "thoughts": kept})
    if not request.has("number"):
        return done(request.text("thought"))
    name = request.named("branch")
    branches = dict.fromkeys(str(row[name]) for row in kept if name in row)
    length = "thought_history_length" if "_" in request.named("number") else "thoughtHistoryLength"
    facts = {**_counts(request), "branches": [*branches], length: len(kept)}
    return Outcome(as_text(facts), facts, is_json=True)


def _counts(request: Request) -> Record:
    """Return the numbers and the flag of the call under the tool's own names. A number beyond the total raises it."""
    number, total = request.get("number"), request.get("total")
    raised = max(number, total) if isinstance(number, int) and isinstance(total, int) else total
    values: Record = {"number": number, "total": raised, "more": request.get("more")}
    return {request.named(role): value for role, value in values.items() if request.has(role)}


@backends.register("thinking_log")
class ThinkingLog(OperationsBackend):
    """A thought is stored; the result shows its number, the branches, and the number of thoughts.

    Evidence: an argument `thought` beside numbers that count (`thoughtNumber`, `totalThoughts`), or as the only
    argument. A number beyond the total raises the total.
    """

    order = 140
    operations = (
        Operation(
            "think", think, "update",
            (
                role("thought", "thoughts reasoning reflection", TEXT),
                role("number", "thought_number step_number step", NUMBER, optional=True),
                role("total", "total_thoughts total_steps", optional=True),
                role("more", "next_thought_needed needs_more_thoughts needed", optional=True, similar=True),
                role("branch", "branch_id", optional=True),
            ),
            means=_thinks,
        ),
    )  # fmt: skip
    entities = (Entity(LOG, LOG, fields={"thoughts": Field("thoughts", {"type": ["array", "null"]})}, singleton=True),)

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        return Given({LOG: [{"thoughts": []}]}, state)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Start with an empty log."""
        completed: dict[str, Mapping[Key, Record]] = dict(tables)
        completed[LOG] = {LOG: {"thoughts": []}}
        return completed
