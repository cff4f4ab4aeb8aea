"""Match tools for the current time, dates and time zones. The time is that of the world."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.backends.dates.moments import layout_in
from mcp_sim.backends.dates.operations import OPERATIONS
from mcp_sim.backends.matching.operations import match_operation, match_selector
from mcp_sim.backends.matching.tool_profiles import ToolProfile, profiles_of_tools
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan


@backends.register("dates")
class Dates(Backend):
    """The current time in any time zone, conversion of times, and calculations with and formatting of dates.

    If the tool's description or result mentions a layout (`HH:MM AM/PM`), the time is rendered in it.
    """

    order = 30

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = [
            _with_format(profile, plan)
            for profile in evidence.once(profiles_of_tools)
            if (plan := _plan(profile)) is not None
        ]
        return Match(found, state=evidence.state) if found else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import compile_operation

        return compile_operation(tool, plan, domain, OPERATIONS)


def _plan(profile: ToolProfile) -> Plan | None:
    return match_selector(profile, OPERATIONS, "dates") or match_operation(profile, OPERATIONS, "dates")


def _with_format(profile: ToolProfile, plan: Plan) -> Plan:
    """Fix the form of the current time: all fields if the result has room, else one text in the documented layout."""
    if plan.operation != "now" or "format" in plan.arguments:
        return plan
    declared = properties(profile.output)
    if len(declared) > 1 or any(main_type(part) == "object" for part in declared.values()):
        return plan
    spoken = [str(part.get("description", "")) for part in declared.values()]
    layout = next((found for text in (*spoken, profile.tool.description) if (found := layout_in(text))), None)
    if layout is not None:
        return replace(plan, fixed={"format": layout})
    if declared:
        kind = next(iter(declared))
        numeric = main_type(declared[kind]) in {"integer", "number"}
        layout = None if numeric else _layout_of(profile)
        return (
            replace(plan, operation="to_timestamp", fixed={"date": "now"})
            if numeric
            else replace(plan, fixed={"format": layout})
        )
    return plan


def _layout_of(profile: ToolProfile) -> str:
    """Return the layout that the names of the tool and its result imply: a date has no time."""
    named = "_".join((*profile.words, *(snake(name) for name in properties(profile.output))))
    if "date" in named and "time" not in named:
        return "%Y-%m-%d"
    return "iso"
