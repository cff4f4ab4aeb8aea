"""What answers tools without a program: operations of backends that do more than keep records."""

from __future__ import annotations

import json
from collections import Counter
from typing import cast

from mcp_sim.plans.library import Library
from mcp_sim.plans.operation import Operation
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.plans.refusal import Refused
from mcp_sim.recordings.compiling.evidence import answer_text, shortened
from mcp_sim.recordings.compiling.probes import Example, Probe, short
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import NOWHERE, encode, value_at
from mcp_sim.types.kinds import backends
from mcp_sim.types.plans import Plan

_LEAST_SURE = 0.8  # an operation matched with less certainty would mislead the author
_LONGEST_ANSWER = 240  # the prompt shows several examples for each tool
_LONGEST_PART = 160  # the prompt shows several examples for each tool


@frozen
class BuiltIn:
    """How a tool is answered without a function."""

    operation: str
    """As programs call it: `git.log(limit, since)`."""
    call: str
    """A call with which it succeeds; empty if none is known."""
    answer: str
    returned: str
    """What the operation returns for this call."""


def _built_in_tools(probe: Probe) -> list[Plan]:
    """Return the plans of tools that an operation of a backend answers, and not a guess or the records alone.

    Half of the tools of a backend have succeeded: how it answers can be seen.
    """
    plans = [plan for plan in probe.domain.plans.values() if plan.confidence >= _LEAST_SURE and _has_operation(plan)]
    tools, seen = (
        Counter(plan.backend for plan in plans if plan.tool in known) for known in (probe.domain.plans, probe.examples)
    )
    return [plan for plan in plans if 2 * seen[plan.backend] >= tools[plan.backend]]


def _has_operation(plan: Plan) -> bool:
    return bool(plan.operation) and issubclass(backends[plan.backend], OperationsBackend)


def built_in_answers(probe: Probe) -> dict[str, BuiltIn]:
    """Return how the tools are answered that need no program, each with an example."""
    return {plan.tool: _shown(plan, probe) for plan in _built_in_tools(probe)}


def _shown(plan: Plan, probe: Probe) -> BuiltIn:
    example = probe.examples.get(plan.tool)
    if example is None:
        return BuiltIn(_signature(plan), "", "", "")
    answer = answer_text(example.answer, _LONGEST_ANSWER)
    call = f"{plan.tool}({short(example.arguments)})"
    return BuiltIn(_signature(plan), call, answer, _returned(plan, example, probe.domain))


def _returned(plan: Plan, example: Example, domain: Domain) -> str:
    """Return what a program gets from the operation for the call of an example; empty if the operation fails so."""
    operation = _operation(plan)
    if operation is None:
        return ""
    given = {role: value_at(example.arguments, path) for role, path in plan.arguments.items()}
    known = {**plan.fixed, **{role: value for role, value in given.items() if value is not NOWHERE}}
    arguments = {role.name: known[role.name] for role in operation.roles if known.get(role.name) is not None}
    library = Library(plan.backend, example.view, domain.now)
    try:
        outcome = getattr(library, plan.operation)(**arguments)
    except Refused:
        return ""
    value, text = outcome.value, outcome.text
    is_same = text in (value, encode(value).decode())
    shown = "the same" if is_same else json.dumps(shortened(text, _LONGEST_PART), ensure_ascii=False)
    return f".value: {shortened(json.dumps(value, ensure_ascii=False), _LONGEST_PART)}; .text: {shown}"


def _operation(plan: Plan) -> Operation | None:
    return cast("OperationsBackend", backends[plan.backend]()).known.get(plan.operation)


def _signature(plan: Plan) -> str:
    known = _operation(plan)
    roles = () if known is None else known.roles
    return f"{plan.backend}.{plan.operation}({', '.join(role.name for role in roles)})"
