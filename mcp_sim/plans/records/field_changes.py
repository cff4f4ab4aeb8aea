"""Change a field of a record: from which states that is allowed, and how a value enters the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from mcp_sim.plans.refusal import choices_text, conflict, quoted
from mcp_sim.types import Json, Key, Observation, Record, Tool
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, items, main_type
from mcp_sim.types.json_values import is_number
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import How, Plan

_FINAL = vocabulary("cancelled canceled void voided refunded merged deleted expired")
"""States that only a restart leaves."""

_RESTARTS = vocabulary("open active draft pending new enabled restored reopened todo")
_NAMING = ("id", "key", "name", "title")
_MOST = 10**300  # near the largest float: a sum beyond it would be infinite, and that is not JSON


def state_check(tool: Tool, plan: Plan) -> Callable[[Key, Record], Observation | None]:
    """Compile the check that refuses a transition: the record has the state already, or cannot leave its state."""
    entity = plan.entity or ""
    state = next((value for value in plan.fixed.values() if isinstance(value, str)), "updated")
    verb = {"delete": "deleted", "create": "used"}.get(plan.verb, _state_text(state))
    target = {name: value for name, value in plan.fixed.items() if isinstance(value, str) and name not in plan.how}
    repeats = tool.annotations.get("idempotentHint") is True

    def check(key: Key, before: Record) -> Observation | None:
        for name, value in target.items():
            there: Json = before.get(name)
            if equal(there, value):
                if not repeats:
                    return conflict(tool, entity, key, f"is already {_state_text(value)}", status=there)
            elif isinstance(there, str) and snake(there) in _FINAL and snake(value) not in _RESTARTS:
                return conflict(tool, entity, key, f"cannot be {verb}: it is {_state_text(there)}", status=there)
        return None

    return check


def _state_text(state: Json) -> str:
    return snake(state).replace("_", " ") if isinstance(state, str) else quoted(state)


@frozen
class Refused:
    """Why a value cannot enter a field, as the rest of a sentence about the record."""

    why: str


def enter_value(before: Json, value: Json, how: How, field: Field) -> Json | Refused:
    """Return the field's value after the change, or why it is refused."""
    if how == "set":
        return value
    if how == "toggle":
        return before is not True
    if how not in {"append", "remove"}:
        return _calculated(before, value, how, field)
    if main_type(field.schema) == "string" or isinstance(before, str):
        text = str(before or "")
        if how == "append":
            return f"{text}\n{value}" if text else str(value)
        is_there = str(value) in text
        return text.replace(str(value), "").strip() if is_there else Refused(f"has no {quoted(value)} in {field.name}")
    listed, values = as_list(before), as_list(value) if isinstance(value, list) else [value]
    return _appended(listed, values, field) if how == "append" else _removed(listed, values, field)


def _appended(listed: list[Json], values: list[Json], field: Field) -> list[Json]:
    """Return the list with values added. Names and references occur once; numbers and objects may repeat."""
    once = field.link is not None or field.schema.get("uniqueItems") or main_type(items(field.schema)) == "string"
    changed = list(listed)
    for value in values:
        if not ((once or isinstance(value, str)) and any(equal(value, item) for item in changed)):
            changed.append(value)
    return changed


def _removed(listed: list[Json], values: list[Json], field: Field) -> list[Json] | Refused:
    changed = list(listed)
    for value in values:
        alike = (at for at, item in enumerate(changed) if any(equal(name, value) for name in (item, *_naming(item))))
        place = next(alike, None)
        if place is None:
            there = f"; {field.name}: {choices_text(_naming(item)[0] for item in changed)}" if changed else ""
            return Refused(f"has no {quoted(value)} in {field.name}{there}")
        del changed[place]
    return changed


def _naming(item: Json) -> list[Json]:
    """Return what names an entry of a list: its ids and names, else the entry itself."""
    if not isinstance(item, dict):
        return [item]
    body = cast("Record", item)
    names = (*_NAMING, *(name for name in body if name.endswith("_id")))
    return [body[name] for name in names if name in body] or [body]


def _calculated(before: Json, value: Json, how: How, field: Field) -> Json | Refused:
    name = field.name.replace("_", " ")
    if not is_number(value):
        return Refused(f"cannot change {field.name} by {quoted(value)}, which is not a number")
    there, change = before if is_number(before) else 0, value if how == "add" else -value
    total = _sum(there, change)
    least, most = field.schema.get("minimum", 0), field.schema.get("maximum")
    if total is None or (most is not None and total > most):
        return Refused(f"cannot change {name} by {change}: that is too much")
    if change < 0 and total < least:
        return Refused(f"has insufficient {name}: {there} available, {-change} requested")
    if main_type(field.schema) == "integer" and not float(total).is_integer():
        return Refused(f"cannot have {total} of {name}")
    return int(total) if main_type(field.schema) == "integer" else total


def _sum(value: float, other: float) -> float | None:
    """Return the sum without the noise of binary fractions, or None if it is too large."""
    try:
        total = round(value + other, 6)
    except OverflowError:
        return None
    return total if abs(total) < _MOST else None
