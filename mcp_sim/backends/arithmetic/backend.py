"""Match tools that calculate with numbers, lists, matrices, units and expressions."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.backends.arithmetic import matrices, numbers, statistics
from mcp_sim.backends.arithmetic.units import between
from mcp_sim.backends.matching.operations import chosen_among, plan_of, recognised
from mcp_sim.backends.matching.tool_profiles import Purpose, kinds_of, whole_purposes
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
        plans = [plan for purpose in evidence.once(whole_purposes) if (plan := _plan(purpose)) is not None]
        return Match(plans, state=evidence.state) if plans else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.compute.answers import computing

        return computing(tool, plan, domain, _OPERATIONS)


def _plan(purpose: Purpose) -> Plan | None:
    if not purpose.arguments:
        return None
    chosen = chosen_among(purpose, _OPERATIONS, "arithmetic")
    return chosen or recognised(purpose, _OPERATIONS, "arithmetic") or _conversion(purpose)


def _conversion(purpose: Purpose) -> Plan | None:
    """Match `gallon_to_liter` and `convertMilesToKilometers`: two units of the same quantity, and one number."""
    named = [word for word in purpose.words if word not in {"convert", "conversion", "converter"}]
    numbers = [name for name, schema in purpose.arguments.items() if kinds_of(schema) & {"number", "integer"}]
    places = [at for at, word in enumerate(named) if word in {"to", "into", "2"} and 0 < at < len(named) - 1]
    if len(numbers) != 1 or purpose.needed - set(numbers) or not places:
        return None
    source, target = _around(named, places[0])
    if between(source, target) is None:
        return None
    reasons = (f"'{source}' and '{target}' are units of the same",)
    fixed = {"source": source, "target": target}
    return plan_of(purpose, "convert_unit", "arithmetic", {"value": numbers[0]}, 0.95, reasons, fixed=fixed)


def _around(named: Sequence[str], place: int) -> tuple[str, str]:
    return "_".join(named[:place]), "_".join(named[place + 1 :])
