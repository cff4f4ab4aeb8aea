"""Which argument of a tool is its idempotency key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.declared import STRING, tool
from support.services import service

from mcp_sim.types.plans import Idempotency, Plan

Json = Any
GET = tool("get_order", {"order_id": STRING}, "order_id")


def plan_of(folder: Path, *tools: dict[str, Json]) -> Plan:
    """Return the plan of the first tool."""
    return service(folder, f"tools: {json.dumps(tools)}", "{}").scenario.domain.plans[tools[0]["name"]]


NAMES = ["idempotency_key", "idempotencyKey", "Idempotency-Key", "client_request_id", "clientToken", "dedupe_key"]


@pytest.mark.parametrize("name", [*NAMES, "request_id", "requestId"])
def test_an_argument_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    plan = plan_of(tmp_path, tool("create_order", {"item": STRING, name: STRING}, "item"), GET)
    assert plan.idempotency == Idempotency(name)
    assert name not in plan.sets


def test_an_argument_is_known_by_its_description(tmp_path: Path) -> None:
    about = {**STRING, "description": "A unique value, so that the request can be retried safely."}
    described = plan_of(tmp_path, tool("create_order", {"item": STRING, "nonce": about}, "item"), GET)
    assert described.idempotency == Idempotency("nonce")
    assert plan_of(tmp_path, tool("create_order", {"item": STRING, "nonce": STRING}, "item"), GET).idempotency is None


@pytest.mark.parametrize(
    "tools",
    [
        [tool("get_order", {"order_id": STRING, "idempotency_key": STRING}, "order_id")],
        [tool("approve_request", {"request_id": STRING}, "request_id")],
        [tool("add_comment", {"request_id": STRING, "text": STRING}), tool("get_request", {"request_id": STRING})],
        [tool("sign", {"request_id": STRING, "text": STRING}, "request_id"), GET],
        [tool("create_order", {"item": STRING, "idempotency_key": {"type": "boolean"}}), GET],
        [tool("create_order", {"item": STRING, "client_token": {"enum": ["a", "b"]}}), GET],
    ],
    ids=["a read", "the key of a record", "a record of another tool", "required", "a flag", "a choice"],
)
def test_other_arguments_are_no_idempotency_key(tmp_path: Path, tools: list[dict[str, Json]]) -> None:
    assert plan_of(tmp_path, *tools).idempotency is None


@pytest.mark.parametrize(
    ("declared", "key"),
    [("null", None), ("ref", Idempotency("ref")), ("{key: ref, expires: 1h}", Idempotency("ref", 3600.0))],
)
def test_a_spec_declares_the_key_and_leaves_the_rest_of_the_plan_inferred(
    tmp_path: Path, declared: str, key: Idempotency | None
) -> None:
    spec = f"""
tools:
  - name: create_order
    inputSchema: {{type: object, properties: {{item: {{type: string}}, ref: {{type: string}}, request_id: {{}}}}}}
  - {{name: list_orders, inputSchema: {{type: object}}}}
sim: {{create_order: {{idempotency: {declared}}}}}
"""
    plan = service(tmp_path, spec, "{}").scenario.domain.plans["create_order"]
    assert plan.idempotency == key
    assert (plan.verb, plan.entity, plan.basis["verb"].source) == ("create", "order", "inferred")


def test_an_argument_that_the_tool_does_not_have_is_a_problem(problems_in: Any) -> None:
    text = "mcp_sim: 1\nname: x\ntools: [{name: add_order, inputSchema: {type: object, properties: {item: {}}}}]\n"
    problems = problems_in(f"{text}sim: {{add_order: {{idempotency: itm}}}}\n")
    assert problems == ["x.yaml:4: sim.add_order.idempotency: add_order has no argument 'itm'; did you mean 'item'?"]


async def test_a_key_inside_wrapped_arguments_is_used(tmp_path: Path) -> None:
    inner = {"type": "object", "properties": {"item": STRING, "idempotency_key": STRING}, "required": ["item"]}
    tools = [tool("create_order", {"params": inner}, "params"), GET]
    assert plan_of(tmp_path, *tools).idempotency == Idempotency("idempotency_key")
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "records: {order: 0}").open() as world:
        for item in ("lamp", "lamp", "wick"):
            await world.call("create_order", {"params": {"item": item, "idempotency_key": "k"}})
        assert world.view.count("order") == 1
