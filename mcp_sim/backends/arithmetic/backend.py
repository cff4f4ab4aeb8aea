"""Match tools that calculate with numbers, lists, matrices, units and expressions."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.backends.arithmetic import matrices, numbers, statistics
from mcp_sim.backends.arithmetic.units import conversion_between
from mcp_sim.backends.matching.operations import match_operation, match_selector, operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile, argument_types, profiles_of_tools
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan

_OPERATIONS = (*numbers.OPERATIONS, *statistics.OPERATIONS, *matrices.OPERATIONS)


@backends.register("arithmetic")
class Arithmetic(Backend):
    """Sums, quotients, powers, statistics, percentages, matrices, conversions of units, expressions.

    A tool matches by its name (`add`, `standardDeviation`, `gallon_to_liter`), or by an argument that selects the
    operation. Its required arguments must be the numbers of the operation.
    """

    order = 10

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for profile in evidence.once(profiles_of_tools) if (plan := _plan(profile)) is not None]
        return Match(plans, state=evidence.state) if plans else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import compile_operation

        return compile_operation(tool, plan, domain, _OPERATIONS)


def _plan(profile: ToolProfile) -> Plan | None:
    if not profile.arguments:
        return None
    chosen = match_selector(profile, _OPERATIONS, "arithmetic")
    return chosen or match_operation(profile, _OPERATIONS, "arithmetic") or _conversion(profile)


def _conversion(profile: ToolProfile) -> Plan | None:
    """Match `gallon_to_liter` and `convertMilesToKilometers`: two units of the same quantity, and one number."""
    named = [word for word in profile.words if word not in {"convert", "conversion", "converter"}]
    numbers = [name for name, schema in profile.arguments.items() if argument_types(schema) & {"number", "integer"}]
    places = [at for at, word in enumerate(named) if word in {"to", "into", "2"} and 0 < at < len(named) - 1]
    if len(numbers) != 1 or profile.needed - set(numbers) or not places:
        return None
    source, target = _sides(named, places[0])
    if conversion_between(source, target) is None:
        return None
    reasons = (f"'{source}' and '{target}' are units of the same",)
    fixed = {"source": source, "target": target}
    return operation_plan(profile, "convert_unit", "arithmetic", {"value": numbers[0]}, 0.95, reasons, fixed=fixed)


def _sides(named: Sequence[str], place: int) -> tuple[str, str]:
    return "_".join(named[:place]), "_".join(named[place + 1 :])
