"""The operation on a log of thoughts."""

from __future__ import annotations

from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.request import Request
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_list


def think(request: Request) -> Outcome:
    """Store a thought. With a number, show the counts; else show the thought."""
    log: Record = request.record(request.entity) or {}
    thought = {request.named(role): value for role, value in request.given.items()} | {**request.others}
    kept = [*as_list(log.get("thoughts")), {name: value for name, value in thought.items() if value is not None}]
    request.put(request.entity, {**log, "thoughts": kept})
    if not request.has("number"):
        return done(request.text("thought"))
    name = request.named("branch")
    branches = dict.fromkeys(str(one[name]) for one in kept if name in one)
    length = "thought_history_length" if "_" in request.named("number") else "thoughtHistoryLength"
    facts = {**_counts(request), "branches": [*branches], length: len(kept)}
    return Outcome(as_text(facts), facts, is_json=True)


def _counts(request: Request) -> Record:
    """Return the numbers and the flag of the call under the tool's own names. A number beyond the total raises it."""
    number, total = request.get("number"), request.get("total")
    raised = max(number, total) if isinstance(number, int) and isinstance(total, int) else total
    values: Record = {"number": number, "total": raised, "more": request.get("more")}
    return {request.named(role): value for role, value in values.items() if request.has(role)}
