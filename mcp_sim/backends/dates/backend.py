"""Tools that tell the time, and work with dates and time zones. It is the world's time that they tell."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.backends.dates.dates import OPERATIONS
from mcp_sim.backends.dates.moments import told_layout
from mcp_sim.backends.matching.operations import chosen_among, recognised
from mcp_sim.backends.matching.purposes import Purpose, whole_purposes
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.kinds import Answer, Backend, Match, Survey, backends
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Plan


@backends.register("dates")
class Dates(Backend):
    """The time now, in any time zone; other times there; dates moved, compared and written in other layouts.

    A layout that the tool's description or result speaks of (`HH:MM AM/PM`) is how the time is told.
    """

    order = 30

    def match(self, survey: Survey) -> Match | None:
        found = [
            _told(purpose, plan) for purpose in survey.once(whole_purposes) if (plan := _plan(purpose)) is not None
        ]
        return Match(found, state=survey.state) if found else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import computing

        return computing(tool, plan, domain, OPERATIONS)


def _plan(purpose: Purpose) -> Plan | None:
    return chosen_among(purpose, OPERATIONS, "dates") or recognised(purpose, OPERATIONS, "dates")


def _told(purpose: Purpose, plan: Plan) -> Plan:
    """What is told of now: all of it where there is place for it, else one text in the layout that is spoken of."""
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
    """By what the tool is called: a date is no time."""
    named = "_".join((*purpose.words, *(snake(name) for name in properties(purpose.output))))
    if "date" in named and "time" not in named:
        return "%Y-%m-%d"
    return "iso"
