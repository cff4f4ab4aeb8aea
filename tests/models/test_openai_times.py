"""Times of past events that a model gives: none is later than now; what is planned may be."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.desk import measured, tool, value
from support.endpoint import saying, serving

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types.time_formats import parse_time

Json = Any
TEXT = {"type": "string"}
MEMBER = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id", "name"]}
FAR = "2136-05-04T10:00:00Z"


def club(folder: Path, url: str) -> Simulator:
    """Return a simulator of a club whose members are known from the model alone."""
    tools = [tool("get_member", ["member_id"], MEMBER), tool("get_member_card", ["member_id"])]
    (folder / "club.tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    scenario: Json = {
        "mcp_sim": 1,
        "name": "club",
        "tools": "club.tools.json",
        "world": {"open": True},
        "world_model": {"openai": {"base_url": url, "model": "tiny"}},
    }
    (folder / "club.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    return Simulator(load(folder / "club.yaml", trust=True))


@pytest.mark.parametrize(
    "name", ["joined_at", "created_at", "last_login", "lastSeenAt", "mergedAt", "paid_on", "date_of_birth"]
)
@pytest.mark.parametrize("called", ["get_member", "get_member_card"])
async def test_what_has_happened_did_so_before_now(called: str, name: str, tmp_path: Path) -> None:
    answer = {"id": "m_7", "name": "Ada Vos", name: FAR}
    async with serving(saying(json.dumps(answer))) as engine, club(tmp_path, engine.url).open() as world:
        shown = value(await world.call(called, {"member_id": "m_7"}))
        moment = parse_time(shown[name])
        assert moment is not None
        assert moment <= world.clock.start + timedelta(days=2)
        assert {**shown, name: FAR} == answer
        assert measured(world)["repaired"] == [name]


@pytest.mark.parametrize("name", ["expires_at", "due_date", "renewal_at", "scheduled_at", "started_at", "next_run_at"])
async def test_what_is_planned_may_be_later_than_now(name: str, tmp_path: Path) -> None:
    answer = {"id": "m_7", "name": "Ada Vos", name: FAR}
    async with serving(saying(json.dumps(answer))) as engine, club(tmp_path, engine.url).open() as world:
        assert value(await world.call("get_member", {"member_id": "m_7"})) == answer


@pytest.mark.parametrize("odd", [[], {}, None, [FAR]])
async def test_a_time_that_is_no_plain_value_is_served_as_it_is(odd: Json, tmp_path: Path) -> None:
    answer = {"id": "m_7", "name": "Ada Vos", "closed_at": odd}
    async with serving(saying(json.dumps(answer))) as engine, club(tmp_path, engine.url).open() as world:
        assert value(await world.call("get_member", {"member_id": "m_7"})) == answer
