"""Calls in certain states of the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, cast

from pydantic import Field

from mcp_sim.types import Record, Tool, Turn
from mcp_sim.types.call_matchers import argument_value
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable, did_you_mean
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.views import find_key
from mcp_sim.world.cel import Expression, expression, fields_read, functions, object_binder, record_binder

NAMES: Final = ("args", "count", "now", "record")


@triggers.register("state")
class State(Trigger):
    """Calls for which a CEL expression is true of the state before the call.

    The expression can use `args` (the call's arguments), `record` (the one that the tool's key argument names, else
    null), `count.ENTITY`, `now`, and `find('deal', {'stage': 'won'})`, a list. Omitted arguments and missing fields are
    null if they are declared. If the expression fails or is not a boolean, the perturbation does not apply and the
    ledger has the error. A filter: counters beside it see only the calls that pass.
    """

    role = Role.FILTER

    cel: str = Field(description="A CEL expression, true or false.", examples=["record.stage == 'won'"])

    @cached_property
    def condition(self) -> Expression:
        """The compiled expression. Raises `ValueError` if it is invalid."""
        return expression(self.cel, NAMES)

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        condition = self.condition
        seen = [(name, see) for name, see in _sights(tool, domain).items() if name in condition.uses]

        def check(turn: Turn, _: int) -> bool:
            return condition.holds({name: see(turn) for name, see in seen}, functions(turn.view, domain))

        return check

    def why(self) -> str:
        return f"state {self.cel}"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        try:
            never = self._never()
        except ValueError as error:
            return [str(error)]
        if never is not None:
            return [never]
        arguments = {name for tool in tools for name in properties(tool.input_schema)}
        entities = {name for known in domain.entities for name in (known, known.partition(".")[0])}
        unknown = [
            f"no tool in reach has an argument {name!r}{did_you_mean(name, arguments)}"
            for name in sorted(fields_read(self.cel, "args") - arguments)
            if arguments
        ]
        return unknown + [
            f"unknown entity {name!r}{did_you_mean(name, domain.entities)}"
            for name in sorted(fields_read(self.cel, "count") - entities)
        ]

    def _never(self) -> str | None:
        """Return why an expression without names is never true, else None. Raises `ValueError` if it is invalid."""
        if self.condition.uses or self.condition.nesting:
            return None
        try:
            value = self.condition.value({}, {})
        except Unevaluable:
            return None
        return None if value is True else f"never holds: whatever the world is like, it gives {str(value).lower()}"


def _sights(tool: Tool, domain: Domain) -> Mapping[str, Callable[[Turn], Any]]:
    """Return how to get the value of each name at a call of this tool."""
    arguments = object_binder(properties(tool.input_schema))
    return {
        "args": lambda turn: arguments(turn.call.arguments),
        "count": lambda turn: {name: turn.view.count(name) for name in domain.entities},
        "now": lambda turn: turn.now,
        "record": _record(tool, domain),
    }


def _record(tool: Tool, domain: Domain) -> Callable[[Turn], Record | None]:
    plan = domain.plans.get(tool.id)
    if plan is None or plan.key is None or plan.entity is None:
        return lambda _: None
    argument, entity, bind = plan.key, plan.entity, record_binder(domain, plan.entity)

    def record(turn: Turn) -> Record | None:
        key = find_key(turn.view, entity, argument_value(turn.call.arguments, argument))
        return None if key is None else bind(cast("Record", turn.view.get(entity, key)))

    return record
