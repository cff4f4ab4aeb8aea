"""What does a tool do whose argument may select among several things?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias

from mcp_sim.backends.matching.purposes import Purpose, purposes_of
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Record, Tool
from mcp_sim.types.plans import Plan

Way: TypeAlias = tuple[str, Mapping[str, str]]
"""An operation, and what it needs -> the argument that gives it."""


def way_chooser(
    tool: Tool, plan: Plan, known: Collection[str], judged: Callable[[Purpose], Iterable[Way]]
) -> Callable[[Record], Way]:
    """What a tool does with the arguments of a call. `known` are the operations there are.

    `judged` says of a purpose what it does, for tools whose plan leaves it to an argument. Raises ValueError where a
    plan, as a spec can write it, says nothing that can be done.
    """
    if plan.operation:
        if plan.operation not in known:
            raise ValueError(f"{tool.id}: {plan.backend} knows no operation {plan.operation!r}")
        only = (plan.operation, plan.arguments)
        return lambda _given: only
    chosen = {purpose.choice: list(judged(purpose)) for purpose in purposes_of(tool)}
    ways = {choice: way for choice, found in chosen.items() for way in found}
    if not ways:
        raise ValueError(f"{tool.id}: say under `sim:` which `operation` it is")
    selector, first = plan.arguments.get("operation", ""), next(iter(ways.values()))

    def choose(given: Record) -> Way:
        said = given.get(selector)
        if said is not None and said not in chosen:
            raise Refused("invalid", f"Unknown {selector}: {said!r}; choose {' or '.join(chosen)}")
        return ways.get(str(said), first)

    return choose
