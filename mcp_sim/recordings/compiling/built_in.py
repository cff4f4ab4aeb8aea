"""What answers tools without a program: operations of backends that do more than keep records."""

from __future__ import annotations

from collections import Counter
from typing import cast

from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.recordings.compiling.evidence import answer_text
from mcp_sim.recordings.compiling.probes import Probe, short
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import backends
from mcp_sim.types.plans import Plan

_LEAST_SURE = 0.8
_LONGEST_ANSWER = 300


@frozen
class BuiltIn:
    """How a tool is answered without a function."""

    operation: str
    """As programs call it: `git.log(limit, since)`."""
    call: str
    """A call with which it succeeds; empty if none is known."""
    answer: str


def _built_in_tools(probe: Probe) -> list[Plan]:
    """Return the plans of tools that an operation of a backend answers, and not a guess or the records alone.

    Half of the tools of a backend have succeeded: how it answers can be seen.
    """
    found = [plan for plan in probe.domain.plans.values() if plan.confidence >= _LEAST_SURE and _has_operation(plan)]
    tools, seen = (
        Counter(plan.backend for plan in found if plan.tool in known) for known in (probe.domain.plans, probe.examples)
    )
    return [plan for plan in found if 2 * seen[plan.backend] >= tools[plan.backend]]


def _has_operation(plan: Plan) -> bool:
    return bool(plan.operation) and issubclass(backends[plan.backend], OperationsBackend)


def built_in_answers(probe: Probe) -> dict[str, BuiltIn]:
    """Return how the tools are answered that need no program, each with an example."""
    return {plan.tool: _shown(plan, probe) for plan in _built_in_tools(probe)}


def _shown(plan: Plan, probe: Probe) -> BuiltIn:
    if plan.tool not in probe.examples:
        return BuiltIn(_signature(plan), "", "")
    arguments, answer = probe.examples[plan.tool]
    return BuiltIn(_signature(plan), f"{plan.tool}({short(arguments)})", answer_text(answer, _LONGEST_ANSWER))


def _signature(plan: Plan) -> str:
    known = cast("OperationsBackend", backends[plan.backend]()).known.get(plan.operation)
    roles = () if known is None else known.roles
    return f"{plan.backend}.{plan.operation}({', '.join(role.name for role in roles)})"
