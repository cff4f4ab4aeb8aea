"""Plans of tools, and the operation of a call. Used until the last backends are declared by operations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias

from mcp_sim.backends.matching.tool_profiles import ToolProfile, profiles_of_tool
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Record, Tool
from mcp_sim.types.plans import Plan


def operation_plan(
    profile: ToolProfile,
    operation: str,
    backend: str,
    arguments: Mapping[str, str],
    confidence: float,
    reasons: tuple[str, ...],
    **more: Any,
) -> Plan:
    """Return a plan of a backend for an operation. Its verb is `compute` unless `more` has another one."""
    fields: dict[str, Any] = {"verb": "compute", **more}
    return Plan(
        profile.tool.id,
        backend=backend,
        operation=operation,
        arguments=dict(arguments),
        confidence=confidence,
        reasons=tuple(reason for reason in reasons if reason),
        **fields,
    )


OperationCall: TypeAlias = tuple[str, Mapping[str, str]]
"""The name of an operation, and a mapping from its roles to arguments."""


def operation_chooser(
    tool: Tool, plan: Plan, known: Collection[str], match: Callable[[ToolProfile], Iterable[OperationCall]]
) -> Callable[[Record], OperationCall]:
    """Return a function that chooses the operation of a call by its arguments. `known` are the backend's operations.

    `match` matches a tool profile to operations, for tools with an argument that selects one. Raises `ValueError` if
    a plan, which a spec may override, names no known operation.
    """
    if plan.operation:
        if plan.operation not in known:
            raise ValueError(f"{tool.id}: {plan.backend} has no operation {plan.operation!r}")
        only = (plan.operation, plan.arguments)
        return lambda _given: only
    chosen = {profile.choice: list(match(profile)) for profile in profiles_of_tool(tool)}
    calls = {choice: way for choice, found in chosen.items() for way in found}
    if not calls:
        raise ValueError(f"{tool.id}: set `operation` under `sim:`")
    selector, first = plan.arguments.get("operation", ""), next(iter(calls.values()))

    def choose(given: Record) -> OperationCall:
        choice = given.get(selector)
        if choice is not None and choice not in chosen:
            raise Refused("invalid", f"Unknown {selector}: {choice!r}; choose {' or '.join(chosen)}")
        return calls.get(str(choice), first)

    return choose
