"""What all backends share: roles, choices, requests, refusals, and the operations as a library."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from support.backend_answers import INTEGER, STRING, simulator, success_value, tool
from support.matched_tools import backends
from support.matched_tools import simulator as of_spec

from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.types.kinds import BACKENDS_WITHOUT_MATCH
from mcp_sim.types.kinds import backends as kinds

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


async def test_an_argument_that_selects_the_operation_makes_a_plan_with_choices(tmp_path: Path) -> None:
    action = {"type": "string", "enum": ["add", "read", "remove"]}
    manage = tool("manage_paragraph", {"action": action, "index": INTEGER, "text": STRING}, optional=["index", "text"])
    async with simulator(tmp_path, [manage]) as sim, sim.open() as world:
        plan = sim.scenario.domain.plans["manage_paragraph"]
        assert (plan.backend, plan.choice, sorted(plan.choices)) == ("document", "action", ["add", "read", "remove"])
        success_value(await world.call("manage_paragraph", {"action": "add", "text": "milk"}))
        assert success_value(await world.call("manage_paragraph", {"action": "read", "index": 0}))["text"] == "milk"


async def test_a_spec_chooses_a_backend_for_a_tool_that_does_not_match(tmp_path: Path) -> None:
    tools = [tool("keep_in_mind", {"text": STRING}), tool("show_my_mind", {"index": INTEGER})]
    sim = {
        "keep_in_mind": {"backend": "document", "operation": "add"},
        "show_my_mind": {"backend": "document", "operation": "read_part"},
    }
    async with of_spec(tmp_path, tools, spec={"sim": sim}) as simulated, simulated.open() as world:
        assert backends(simulated) == {"keep_in_mind": "document add", "show_my_mind": "document read_part"}
        success_value(await world.call("keep_in_mind", {"text": "milk"}))
        assert success_value(await world.call("show_my_mind", {"index": 0}))["text"] == "milk"


def test_every_operation_is_found_and_has_an_explanation() -> None:
    for kind in sorted(set(kinds.names()) - BACKENDS_WITHOUT_MATCH):
        backend = kinds[kind]()
        if isinstance(backend, OperationsBackend):
            for operation in backend.known.values():
                assert operation.name.isidentifier(), (kind, operation.name)
                function = backend.function(operation)
                assert function.__doc__, (kind, operation.name)
