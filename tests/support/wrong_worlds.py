"""Mutants of the product: for each rule R1 to R8 a world model that breaks this rule and no other.

A mutant is what the built-in world model predicts, bent at one place. The product's own check of what is served would
crash on some of them; `unchecked` takes it away.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from mcp_sim.types import Attempt, Change, Observation, Record, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Predictor, WorldModel, world_models
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Scenario, WorldModelEntry
from mcp_sim.world.consistency import Inspection

Bend = Callable[[Turn, Plan, Transition], Transition]


def with_mutant(scenario: Scenario, bend: Bend) -> Scenario:
    """Return the scenario with a mutant as its world model."""
    bent = bend

    class Mutant(WorldModel):
        """The built-in world model, changed by a mutation."""

        def bind(self, domain: Domain) -> AbstractAsyncContextManager[Predictor]:
            return _bound(domain, bent)

    return replace(scenario, world_models=(WorldModelEntry(Mutant(), "mutant"),))


def unchecked(patch: pytest.MonkeyPatch) -> None:
    """Disable the consistency checks of answers."""

    def nothing_found(_turn: Turn, _transition: Transition) -> list[str]:
        return []

    def blind(_plan: Plan, _domain: Domain) -> Inspection:
        return nothing_found

    patch.setattr("mcp_sim.simulator.bindings.inspection", blind)


@asynccontextmanager
async def _bound(domain: Domain, bend: Bend) -> AsyncGenerator[Predictor]:
    async with world_models["builtin"]().bind(domain) as inner:
        yield _Bent(inner, domain, bend)


class _Bent:
    def __init__(self, inner: Predictor, domain: Domain, bend: Bend) -> None:
        self._inner, self._domain, self._bend = inner, domain, bend

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        transition = await self._inner.predict(turn, rejected)
        return self._bend(turn, self._domain.plans[turn.tool.id], transition)


# what is wrong with them ----------------------------------------------------------------------------------------------


def r1_the_dead_are_shown() -> Bend:
    """Return a deleted record from a get."""
    dead: dict[tuple[str, Any], Record] = {}

    def bend(turn: Turn, plan: Plan, transition: Transition) -> Transition:
        for change in transition.changes:
            if change.op == "remove":
                dead[change.entity, change.key] = turn.view.get(change.entity, change.key) or {}
        at = (plan.entity or "", turn.call.arguments.get(plan.key or ""))
        if plan.verb != "get" or at not in dead:
            return transition
        return Transition(Observation(ToolResult(dead[at])))

    return bend


def r2_a_name_wavers(turn: Turn, plan: Plan, transition: Transition) -> Transition:
    """Append a letter to a name in every third answer."""
    if plan.verb not in {"get", "list", "search"} or turn.index % 3:
        return transition
    return _shown_with(plan, transition, lambda record: _with_text(record, "name", lambda text: text + "e"))


def r3_updates_are_forgotten(turn: Turn, plan: Plan, transition: Transition) -> Transition:
    """Report an update as done, and write nothing."""
    return replace(transition, changes=()) if plan.verb == "update" and transition.observation.ok else transition


def r4_ids_come_again(turn: Turn, plan: Plan, transition: Transition) -> Transition:
    """Give a new record the id of an existing one."""
    puts = [change for change in transition.changes if change.op == "put"]
    if plan.verb != "create" or len(puts) != 1:
        return transition
    (put,) = puts
    first = next((key for key, _ in turn.view.rows(put.entity)), put.key)
    return _rekeyed(plan, transition, put, first)


def r5_links_lead_nowhere(turn: Turn, plan: Plan, transition: Transition) -> Transition:
    """Refer to companies that do not exist."""
    if plan.verb not in {"get", "list", "search"}:
        return transition
    return _shown_with(plan, transition, lambda record: _with_text(record, "company_id", lambda _: "cmp_999"))


def r6_totals_count_one_too_many(turn: Turn, plan: Plan, transition: Transition) -> Transition:
    """Report a total that is one too high."""
    body = transition.observation.body
    if plan.envelope.total is None or not isinstance(body, ToolResult) or body.is_error:
        return transition
    value = {**body.value, plan.envelope.total: body.value[plan.envelope.total] + 1}
    return replace(transition, observation=replace(transition.observation, body=replace(body, value=value)))


def r7_updated_before_created(turn: Turn, plan: Plan, transition: Transition) -> Transition:
    """Give an updated record a date before its creation."""
    if plan.verb != "update":
        return transition
    earlier: Mapping[str, Any] = {"updated_at": "2001-01-01T00:00:00Z"}
    changes = tuple(_rewritten(change, earlier) for change in transition.changes)
    return _shown_with(plan, replace(transition, changes=changes), lambda record: {**record, **earlier})


def r8_names_are_tidied(turn: Turn, plan: Plan, transition: Transition) -> Transition:
    """Create a record with its name in capitals."""
    if plan.verb != "create":
        return transition
    louder: Callable[[Record], Record] = lambda record: _with_text(record, "name", str.upper)  # noqa: E731 - used twice
    changes = tuple(
        change if change.record is None else replace(change, record=louder(change.record))
        for change in transition.changes
    )
    return _shown_with(plan, replace(transition, changes=changes), louder)


MUTANTS: Mapping[str, Callable[[], Bend]] = {
    "R1": r1_the_dead_are_shown,
    "R2": lambda: r2_a_name_wavers,
    "R3": lambda: r3_updates_are_forgotten,
    "R4": lambda: r4_ids_come_again,
    "R5": lambda: r5_links_lead_nowhere,
    "R6": lambda: r6_totals_count_one_too_many,
    "R7": lambda: r7_updated_before_created,
    "R8": lambda: r8_names_are_tidied,
}


# how they do it -------------------------------------------------------------------------------------------------------


def _shown_with(plan: Plan, transition: Transition, change: Callable[[Record], Record]) -> Transition:
    """Return a transition with every shown record changed."""
    body = transition.observation.body
    value: Any = body.value if isinstance(body, ToolResult) else None
    if not isinstance(body, ToolResult) or body.is_error or not isinstance(value, dict):
        return transition
    value = cast("Record", value)
    if plan.envelope.record == "":
        value = change(value)
    elif plan.envelope.rows in value:
        value = {**value, plan.envelope.rows: [change(row) for row in value[plan.envelope.rows]]}
    return replace(transition, observation=replace(transition.observation, body=replace(body, value=value)))


def _with_text(record: Record, name: str, change: Callable[[str], str]) -> Record:
    return {**record, name: change(record[name])} if isinstance(record.get(name), str) else record


def _rewritten(change: Change, fields: Mapping[str, Any]) -> Change:
    return change if change.record is None else replace(change, record={**change.record, **fields})


def _rekeyed(plan: Plan, transition: Transition, put: Change, key: Any) -> Transition:
    change = replace(put, key=key, record={**(put.record or {}), "id": key}, expected=None)
    return _shown_with(plan, replace(transition, changes=(change,)), lambda record: {**record, "id": key})
