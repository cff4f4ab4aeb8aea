"""The independent checker of programs: it reports each broken promise of a table, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.checker import judged_tables

FIELDS: dict[str, Any] = {
    "id": {"schema": {"type": "string"}},
    "room": {"schema": {"type": "string", "default": None}, "link": "room"},
    "size": {"schema": {"type": "integer", "default": 0}},
    "note": {"schema": {"type": "string"}, "hidden": True},
}
TABLE: dict[str, Any] = {"key": "id", "natural": False, "singleton": False, "fields": FIELDS}
PLANS: dict[str, Any] = {
    "tools": {tool: {"verb": tool, "entity": "desk"} for tool in ("list", "create", "delete")},
    "entities": {"desk": TABLE, "room": TABLE, "tab": {**TABLE, "display": ["room"]}},
}
START = {"room": {"r1": {"id": "r1"}}, "desk": {"d1": {"id": "d1", "room": "r1", "note": "loose leg"}}}


def step(tool: str, result: Any, *changes: dict[str, Any], is_error: bool = False) -> dict[str, Any]:
    truth = {"observation": {"result": result, "is_error": is_error}}
    return {"entry": "call", "n": 1, "at": "", "tool": tool, "arguments": {}, "truth": truth, "committed": [*changes]}


def put(key: str, entity: str = "desk", **fields: Any) -> dict[str, Any]:
    return {"op": "put", "entity": entity, "key": key, "record": {"id": key, **fields}}


GONE = step("delete", {}, {"op": "remove", "entity": "desk", "key": "d1"})


BROKEN = [
    ("T1", [step("create", {}, put("d2", id="d3"))]),
    ("T1", [step("create", {}, put("d2", colour="red"))]),
    ("T1", [step("create", {}, put("d2", size="big"))]),
    ("T2", [step("create", {}, put("d2", room="r9"))]),
    ("T3", [GONE, step("create", {}, put("d1"))]),
    ("T4", [GONE, step("list", {"desks": [{"id": "d1"}]})]),
    ("T5", [step("list", {"desks": [{"id": "d1", "note": "loose leg"}]})]),
    ("T6", [step("create", "No room", put("d2"), is_error=True)]),
]


@pytest.mark.parametrize(("rule", "steps"), BROKEN)
def test_each_broken_promise_of_a_table_is_reported(rule: str, steps: Sequence[Any]) -> None:
    assert [violation.rule for violation in judged_tables(steps, PLANS, START).violations] == [rule]


def test_a_sound_ledger_has_no_violations() -> None:
    steps = [
        step("create", {"id": "d2"}, put("d2", room="r2", size=3), put("r2", "room")),
        step("list", {"desks": [{"id": "d1"}, {"id": "d2"}]}),
        step("create", "No room", put("t1", "tab", room="r1"), is_error=True),
        GONE,
        step("list", {"desks": [{"id": "d2"}]}),
        step("create", "No room", is_error=True),
    ]
    report = judged_tables(steps, PLANS, START)
    assert (report.violations, report.calls, report.succeeded) == ((), 6, 4)
