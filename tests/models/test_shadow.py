"""Reads from a real server with the world's writes laid over them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, cast

from mcp import Client
from support import ticket_server
from support.ticket_server import STATUSES, first_tickets
from support.warm import PYTHON

from mcp_sim import Simulator
from mcp_sim.simulator.compile import check
from mcp_sim.types import Observation, ToolResult
from mcp_sim.world.world import World

PATH = {"path": {"type": "string"}}
WRITES = {"create_ticket", "update_ticket", "delete_ticket"}


async def shadowing(folder: Path, **more: Any) -> tuple[Simulator, Path]:
    """Return a simulator that shadows a server with twenty tickets, and the file with the calls that this gets."""
    async with Client(ticket_server.SERVER) as client:
        listed = (await client.list_tools()).tools
    tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    calls = folder / "calls.jsonl"
    model = {"shadow": {"command": [PYTHON, str(ticket_server.FILE), str(calls)]}}
    document = {"mcp_sim": 1, "tools": "tools.json", "world_model": model, **more}
    (folder / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(folder / "scenario.yaml", trust=True), calls


def calls_in(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def value(observation: Observation) -> Any:
    assert observation.ok, observation
    return cast("ToolResult", observation.body).value


def by_id(observation: Observation) -> dict[str, Any]:
    shown = value(observation)
    assert shown["total"] == len(shown["tickets"])
    return {ticket["id"]: ticket for ticket in shown["tickets"]}


class Model:
    """What the tickets of both should be, by the simplest rules."""

    def __init__(self, seed: int) -> None:
        self.tickets, self.random = first_tickets(), random.Random(seed)

    async def step(self, world: World) -> None:
        """Make a call, and compare what it shows."""
        key = self.random.choice([*self.tickets, "T-999", "T-001"])
        match self.random.choice(["get", "get", "list", "create", "update", "update", "delete"]):
            case "get":
                shown = await world.call("get_ticket", {"ticket_id": key})
                assert (value(shown) if shown.ok else None) == self.tickets.get(key)
            case "list":
                status = self.random.choice([None, *STATUSES])
                given = {} if status is None else {"status": status}
                expected = {one: row for one, row in self.tickets.items() if status in (None, row["status"])}
                assert by_id(await world.call("list_tickets", given)) == expected
            case "create":
                fields = {"title": f"New {self.random.random()}", "status": self.random.choice(STATUSES), "votes": 1}
                made = value(await world.call("create_ticket", fields))
                assert made["id"] not in self.tickets
                self.tickets[made["id"]] = {"id": made["id"], **fields}
            case "update":
                fields = {self.random.choice(["status", "title"]): self.random.choice(STATUSES)}
                changed = await world.call("update_ticket", {"ticket_id": key, **fields})
                assert changed.ok == (key in self.tickets)
                if key in self.tickets:
                    self.tickets[key] |= fields
            case _:
                gone = await world.call("delete_ticket", {"ticket_id": key})
                assert gone.ok == (self.tickets.pop(key, None) is not None)


async def test_two_hundred_mixed_calls_write_nothing_to_the_real_server_and_agree_with_both(tmp_path: Path) -> None:
    simulator, log = await shadowing(tmp_path)
    model = Model(7)
    async with simulator.open() as world:
        for _ in range(200):
            await model.step(world)
        calls = [step for step in world.ledger.steps if step["entry"] == "call"]
        assert {step["source"] for step in calls} == {"world", "upstream", "upstream and world"}
        assert world.ledger.crashes == []
    made = [call["tool"] for call in calls_in(log)]
    assert len(made) > 50
    assert WRITES.isdisjoint(made)


async def test_a_write_before_any_read_finds_the_record_of_the_real_server(tmp_path: Path) -> None:
    simulator, log = await shadowing(tmp_path)
    async with simulator.open() as world:
        changed = value(await world.call("update_ticket", {"ticket_id": "T-003", "title": "Mine"}))
        assert changed == {**first_tickets()["T-003"], "title": "Mine"}
        assert value(await world.call("get_ticket", {"ticket_id": "T-003"})) == changed
        assert not (await world.call("update_ticket", {"ticket_id": "T-777", "title": "Mine"})).ok
        kinds = [step["entry"] for step in world.ledger.steps]
        assert kinds == ["reset", "event", "call", "call", "call"]
    assert [call["tool"] for call in calls_in(log)] == ["get_ticket"] * 3


async def test_the_layout_of_the_real_answer_stays_where_only_values_change(tmp_path: Path) -> None:
    simulator, _ = await shadowing(tmp_path)
    async with simulator.open() as world:
        await world.call("update_ticket", {"ticket_id": "T-003", "title": "Mine"})
        body = cast("ToolResult", (await world.call("get_ticket", {"ticket_id": "T-003"})).body)
        assert body.content == [{"type": "text", "text": json.dumps(body.value, indent=2)}]
        assert [*body.value] == ["id", "title", "status", "votes"]


async def test_worlds_forks_and_resets_have_writes_of_their_own(tmp_path: Path) -> None:
    simulator, _ = await shadowing(tmp_path)
    async with simulator:
        world, other = simulator.world("one"), simulator.world("other")
        await world.call("delete_ticket", {"ticket_id": "T-003"})
        fork = world.fork("fork")
        await fork.call("delete_ticket", {"ticket_id": "T-004"})
        assert {"T-003", "T-004"} & by_id(await world.call("list_tickets", {})).keys() == {"T-004"}
        assert {"T-003", "T-004"} & by_id(await fork.call("list_tickets", {})).keys() == set()
        assert {"T-003", "T-004"} <= by_id(await other.call("list_tickets", {})).keys()
        world.reset()
        assert by_id(await world.call("list_tickets", {})) == first_tickets()


async def test_faults_that_act_on_records_work_on_what_the_world_has_written(tmp_path: Path) -> None:
    faults: list[Any] = [
        {"phantom_success": {}, "tools": ["delete_ticket"], "when": {"nth": 1}},
        {"stale_read": {"versions": 1}, "tools": ["get_ticket"], "when": {"nth": 1}},
        {"lost_ack": {}, "tools": ["create_ticket"]},
    ]
    simulator, log = await shadowing(tmp_path, perturbations=faults)
    async with simulator.open() as world:
        assert (await world.call("delete_ticket", {"ticket_id": "T-005"})).ok
        assert "T-005" in by_id(await world.call("list_tickets", {}))
        await world.call("update_ticket", {"ticket_id": "T-003", "title": "Mine"})
        assert value(await world.call("get_ticket", {"ticket_id": "T-003"})) == first_tickets()["T-003"]
        assert value(await world.call("get_ticket", {"ticket_id": "T-003"}))["title"] == "Mine"
        assert not (await world.call("create_ticket", {"title": "Lost"})).ok
        assert "Lost" in {ticket["title"] for ticket in by_id(await world.call("list_tickets", {})).values()}
        applied = {one["kind"] for step in world.ledger.steps for one in step.get("perturbations", ())}
        assert applied == {"phantom_success", "stale_read", "lost_ack"}
    assert WRITES.isdisjoint(call["tool"] for call in calls_in(log))


async def test_an_answer_that_may_lack_a_write_is_marked_as_a_guess(tmp_path: Path) -> None:
    simulator, _ = await shadowing(tmp_path)
    async with simulator.open() as world:
        await world.call("summarize_tickets", {})
        await world.call("create_ticket", {"title": "New"})
        await world.call("summarize_tickets", {})
        await world.call("get_ticket", {"ticket_id": "T-777"})
        steps = [step for step in world.ledger.steps if step["entry"] == "call"]
        assert [step["guessed"] for step in steps] == [False, False, True, False]


async def test_a_write_with_invalid_arguments_is_refused_by_the_world(tmp_path: Path) -> None:
    simulator, log = await shadowing(tmp_path)
    async with simulator.open() as world:
        assert not (await world.call("create_ticket", {"title": 1})).ok
        assert not (await world.call("get_ticket", {})).ok
    assert [call["tool"] for call in calls_in(log)] == []


def test_check_says_what_a_shadow_does_not_show(tmp_path: Path) -> None:
    document = {"mcp_sim": 1, "tools": "memory", "world_model": {"shadow": {"url": "http://127.0.0.1:9/mcp"}}}
    (tmp_path / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
    warnings = [problem.message for problem in check([tmp_path / "scenario.yaml"]) if "shadow" in problem.path]
    assert any("delete_relations (program): writes to other stores than records" in message for message in warnings)
