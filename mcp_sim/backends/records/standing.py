"""From which state may a record be changed, and from which not: is it there already, or past it?"""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.backends.records.refusals import conflict, either, quoted
from mcp_sim.types import Json, Key, Observation, Record, Tool
from mcp_sim.types.conditions import equal
from mcp_sim.types.lexicon.words import snake, vocabulary
from mcp_sim.types.plans import Plan

_FINAL = vocabulary("cancelled canceled void voided refunded merged deleted expired")
"""States that nothing but a new beginning leads out of."""

_AFRESH = vocabulary("open active draft pending new enabled restored reopened todo")


def standing(tool: Tool, plan: Plan) -> Callable[[Key, Record], Observation | None]:
    """What forbids it to a record that is in the wrong state: it is there already, or cannot get there from here."""
    entity, verb = plan.entity or "", _participle(plan)
    target = {name: value for name, value in plan.fixed.items() if isinstance(value, str) and name not in plan.how}
    repeats = tool.annotations.get("idempotentHint") is True

    def stands(key: Key, before: Record) -> Observation | None:
        for name, value in target.items():
            there: Json = before.get(name)
            if equal(there, value) and not repeats and name not in plan.requires:
                return conflict(tool, entity, key, f"is already {_worded(value)}", status=there)
            if name not in plan.requires and _is_final(there) and not equal(there, value) and not _is_afresh(value):
                return conflict(tool, entity, key, f"cannot be {verb}: it is {_worded(there)}", status=there)
        for name, allowed in plan.requires.items():
            there = before.get(name)
            is_unset = there is None and allowed == (False,)
            if not is_unset and not any(equal(there, value) for value in allowed):
                return _wrong(key, name, there, allowed)
        return None

    def _wrong(key: Key, name: str, there: Json, allowed: tuple[Json, ...]) -> Observation:
        if isinstance(there, bool) or allowed in {(True,), (False,)}:
            return conflict(tool, entity, key, _flagged(name, there is True, plan, verb), status=name)
        if any(equal(there, value) for value in target.values()):
            return conflict(tool, entity, key, f"is already {_worded(there)}", status=there)
        why = f"cannot be {verb}: its {name.replace('_', ' ')} is {quoted(there)}, not {either(allowed)}"
        return conflict(tool, entity, key, why, status=there)

    return stands


def _flagged(name: str, there: bool, plan: Plan, verb: str) -> str:
    word = snake(name).removeprefix("is_").replace("_", " ")
    if not there:
        return f"is not {word}"
    return f"is already {word}" if plan.fixed.get(name) is True else f"cannot be {verb}: it is {word}"


def _participle(plan: Plan) -> str:
    said = next((value for value in plan.fixed.values() if isinstance(value, str)), None)
    return {"delete": "deleted", "create": "used"}.get(plan.verb, "updated" if said is None else _worded(said))


def _worded(state: Json) -> str:
    return snake(state).replace("_", " ") if isinstance(state, str) else quoted(state)


def _is_final(state: Json) -> bool:
    return isinstance(state, str) and snake(state) in _FINAL


def _is_afresh(state: str) -> bool:
    return snake(state) in _AFRESH
