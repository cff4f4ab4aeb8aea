"""Match tools for the current time, dates and time zones. The time is that of the world."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.backends.dates.moments import told_layout
from mcp_sim.backends.dates.operations import OPERATIONS
from mcp_sim.backends.matching.operations import chosen_among, recognised
from mcp_sim.backends.matching.tool_profiles import Purpose, whole_purposes
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Plan


@backends.register("dates")
class Dates(Backend):
    """The current time in any time zone, conversion of times, and calculations with and formatting of dates.

    If the tool's description or result mentions a layout (`HH:MM AM/PM`), the time is rendered in it.
    """

    order = 30

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = [
            _told(purpose, plan) for purpose in evidence.once(whole_purposes) if (plan := _plan(purpose)) is not None
        ]
        return Match(found, state=evidence.state) if found else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import computing

        return computing(tool, plan, domain, OPERATIONS)


def _plan(purpose: Purpose) -> Plan | None:
    return chosen_among(purpose, OPERATIONS, "dates") or recognised(purpose, OPERATIONS, "dates")


def _told(purpose: Purpose, plan: Plan) -> Plan:
    """Fix the form of the current time: all fields if the result has room, else one text in the documented layout."""
    if plan.operation != "now" or "format" in plan.arguments:
        return plan
    declared = properties(purpose.output)
    if len(declared) > 1 or any(main_type(part) == "object" for part in declared.values()):
        return plan
    spoken = [str(part.get("description", "")) for part in declared.values()]
    layout = next((found for text in (*spoken, purpose.tool.description) if (found := told_layout(text))), None)
    if layout is not None:
        return replace(plan, fixed={"format": layout})
    if declared:
        kind = next(iter(declared))
        numeric = main_type(declared[kind]) in {"integer", "number"}
        layout = None if numeric else _layout_of(purpose)
        return (
            replace(plan, operation="to_timestamp", fixed={"date": "now"})
            if numeric
            else replace(plan, fixed={"format": layout})
        )
    return plan


def _layout_of(purpose: Purpose) -> str:
    """Return the layout that the names of the tool and its result imply: a date has no time."""
    named = "_".join((*purpose.words, *(snake(name) for name in properties(purpose.output))))
    if "date" in named and "time" not in named:
        return "%Y-%m-%d"
    return "iso"
