"""Tools that are answered by Python functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.services import message, service, value

from mcp_sim.simulator.compile import load
from mcp_sim.types.errors import Crash, DocumentError

Json = Any
TOOLS = """\
tools:
  - {name: list_orders, inputSchema: {type: object, properties: {}}}
  - {name: quote, inputSchema: {type: object, properties: {order_id: {type: string}}, required: [order_id]}}
  - name: weigh
    inputSchema: {type: object, properties: {}}
    outputSchema: {type: object, properties: {kilos: {type: number}}, required: [kilos]}
entities: {order: {fields: {weight: {type: number}}}}
"""
RECORDS = "records: {order: {rows: [{id: A1, weight: 3}]}}"
QUOTE = """\
from mcp_sim.types import Change, Observation, ToolResult, Transition

def quote(turn):
    key = turn.call.arguments["order_id"]
    order = turn.view.get("order", key)
    if order is None:
        return turn.tool.failure("not_found", f"No order {key}")
    if key == "boom":
        raise ValueError("out of paper")
    changed = {**order, "cost": 2 * order["weight"]}
    told = Observation(ToolResult(f"costs {changed['cost']}", form="text"))
    return Transition(told, (Change("put", "order", key, changed),))

def weigh(turn):
    return {"kilos": turn.call.arguments.get("as", 7)}

NUMBER = 3
"""


def spec(folder: Path, sim: str) -> str:
    (folder / "freight.py").write_text(QUOTE)
    return f"{TOOLS}sim: {sim}\n"


async def test_a_function_reads_and_writes_records_like_any_other_tool(tmp_path: Path) -> None:
    overridden = spec(tmp_path, "{quote: {python: freight:quote}, list_orders: {verb: list, entity: order}}")
    async with service(tmp_path, overridden, RECORDS, trust=True) as sim, sim.open() as world:
        assert value(await world.call("quote", {"order_id": "A1"})) == "costs 6"
        (order,) = value(await world.call("list_orders", {}))["orders"]
        assert order["cost"] == 6
        assert message(await world.call("quote", {"order_id": "B2"})) == "No order B2"


async def test_the_result_of_a_function_is_validated(tmp_path: Path) -> None:
    overridden = spec(tmp_path, "{weigh: {python: freight:weigh}}")
    async with service(tmp_path, overridden, RECORDS, trust=True) as sim, sim.open() as world:
        assert value(await world.call("weigh", {})) == {"kilos": 7}
        with pytest.raises(Crash, match="kilos"):
            await world.call("weigh", {"as": "heavy"})


async def test_an_exception_of_a_function_is_a_crash_and_nothing_is_written(tmp_path: Path) -> None:
    overridden = spec(tmp_path, "{quote: {python: freight:quote}, list_orders: {verb: list, entity: order}}")
    records = "records: {order: {rows: [{id: boom, weight: 3}]}}"
    async with service(tmp_path, overridden, records, trust=True) as sim, sim.open() as world:
        with pytest.raises(Crash, match="out of paper"):
            await world.call("quote", {"order_id": "boom"})
        (order,) = value(await world.call("list_orders", {}))["orders"]
        assert "cost" not in order


@pytest.mark.parametrize(
    ("sim", "reason"),
    [
        ("{quote: {python: freight:cost}}", "freight:cost cannot be loaded: AttributeError"),
        ("{quote: {python: fright:quote}}", "fright:quote cannot be loaded: ModuleNotFoundError"),
        ("{quote: {python: freight:NUMBER}}", "freight:NUMBER is not a function"),
        ("{quote: {python: freight}}", "sim.quote.python"),
        ("{quote: {python: freight:quote, backend: sql}}", "excludes `backend` and `operation`"),
        ("{quote: {choice: order_id, choices: {a: {python: freight:quote}}}}", "a function answers the whole tool"),
    ],
)
def test_a_missing_function_is_reported_at_load(tmp_path: Path, sim: str, reason: str) -> None:
    (tmp_path / "freight.yaml").write_text(f"mcp_sim: 1\nname: freight\n{spec(tmp_path, sim)}")
    (tmp_path / "run.yaml").write_text("mcp_sim: 1\ntools: freight.yaml\n")
    with pytest.raises(DocumentError) as error:
        load(tmp_path / "run.yaml")
    assert reason in str(error.value)
