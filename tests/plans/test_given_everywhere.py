"""Given states of every shape, read by a tool for which a spec chooses the backend."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.backend_answers import STRING, success_value, tool
from support.matched_tools import simulator

from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.types.kinds import backends

Json = Any


@dataclass(frozen=True)
class Case:
    """A tool of a backend, a call of it, what its result has, and the shapes in which a state may give that."""

    operation: str
    arguments: dict[str, Json]
    """The arguments of the tool, with the values of the call."""
    expected: str
    states: dict[str, Json]


def shapes(name: str, rows: list[dict[str, Json]], key: str, texts: Json = None) -> dict[str, Json]:
    """Return rows as lists of objects, as a mapping by key, as columns, and as texts by key."""
    by_key = {row[key]: {name: value for name, value in row.items() if name != key} for row in rows}
    table = {"columns": [*rows[0]], "rows": [[*row.values()] for row in rows]}
    found = {"objects": rows, "mapping": by_key, "columns": table} | ({"texts": texts} if texts else {})
    return {shape: {name: value} for shape, value in found.items()}


CASES = {
    "document": Case("read", {"filename": "facts"}, "Water is wet", shapes(
        "documents", [{"name": "facts", "content": "Water is wet."}, {"name": "more", "content": "Ice is cold."}],
        "name", {"facts": "Water is wet.", "more": "Ice is cold."},
    )),
}  # fmt: skip
SHAPES = [(name, shape) for name, case in CASES.items() for shape in case.states]


def test_every_backend_with_operations_has_a_case() -> None:
    kinds = {name for name in backends.names() if isinstance(backends[name](), OperationsBackend)}
    assert kinds == CASES.keys()


@pytest.mark.parametrize("around", ["nothing", "wrappers", "other tools"])
@pytest.mark.parametrize(("name", "shape"), SHAPES)
async def test_a_chosen_backend_answers_from_the_state(tmp_path: Path, name: str, shape: str, around: str) -> None:
    case = CASES[name]
    state = {"outer": {"inner": case.states[shape]}} if around == "wrappers" else case.states[shape]
    tools, sim = [tool("peek", dict.fromkeys(case.arguments, STRING))], {"backend": name, "operation": case.operation}
    if around == "other tools":
        tools, state = [*tools, tool("list_tasks")], {**state, "tasks": [{"id": "t1", "title": "Sweep"}]}
    async with simulator(tmp_path, tools, state, {"sim": {"peek": sim}}) as made, made.open() as world:
        answer = await world.call("peek", case.arguments)
        shown = json.dumps(success_value(answer))
        assert case.expected in shown
        assert not made.scenario.warnings
