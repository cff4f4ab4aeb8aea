"""An open world generates a record when a call first names it. The record is kept from then on."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.world.commits import replayed
from mcp_sim.world.state import Overlay

WORLD = "mcp_sim: 1\ntools: crm\nworld: {open: true, records: {company: 3, contact: 5, deal: 4}}\n"


@pytest.fixture
def crm(tmp_path: Path) -> Simulator:
    (tmp_path / "open.yaml").write_text(WORLD, encoding="utf-8")
    return Simulator.load(tmp_path / "open.yaml")


async def test_an_unknown_record_is_generated_once_and_stays_the_same(crm: Simulator) -> None:
    async with crm.open() as world:
        first = await world.call("get_contact", {"contact_id": "con_00777"})
        assert first.ok
        (pin,) = world.ledger.newest["step"]["absorbed"]
        assert world.ledger.newest["step"]["committed"] == []
        assert pin["record"] == world.view.get("contact", "con_00777")
        assert isinstance(first.body, ToolResult)
        schema = world.scenario.domain.tools["get_contact"].output_schema or {}
        Draft202012Validator(schema).validate(first.body.value)  # pyright: ignore[reportUnknownMemberType] (untyped)
        assert (await world.call("get_contact", {"contact_id": "con_00777"})).body == first.body
        assert world.ledger.newest["step"]["absorbed"] == []
        assert replayed(world.origin.first.state, world.ledger.steps).get("contact", "con_00777") == pin["record"]
        company = first.body.value["company_id"]
        assert company is None or world.view.get("company", company) is not None


async def test_worlds_of_one_seed_generate_the_same_record_and_other_seeds_another(crm: Simulator) -> None:
    async with crm:
        call = ("get_contact", {"contact_id": "con_00777"})
        bodies = [(await crm.world(str(seed), seed=seed).call(*call)).body for seed in (1, 1, 2)]
    assert bodies[0] == bodies[1] != bodies[2]


@pytest.mark.parametrize("key", ["nobody", "con_", "", "cmp_00001"])
async def test_a_malformed_id_is_not_found_in_an_open_world_either(key: str, crm: Simulator) -> None:
    async with crm.open() as world:
        assert not (await world.call("get_contact", {"contact_id": key})).ok
        assert world.view.count("contact") == 5


async def test_a_deleted_record_is_not_generated_again(crm: Simulator) -> None:
    async with crm.open() as world:
        assert (await world.call("get_contact", {"contact_id": "con_00900"})).ok
        assert (await world.call("delete_contact", {"contact_id": "con_00900"})).ok
        assert not (await world.call("get_contact", {"contact_id": "con_00900"})).ok


async def test_a_generated_record_is_not_absorbed_if_its_answer_is_not_served(tmp_path: Path) -> None:
    path = tmp_path / "lost.yaml"
    path.write_text(f"{WORLD}perturbations: [{{disconnect: {{}}, when: {{nth: 1}}}}]\n", encoding="utf-8")
    async with Simulator.load(path).open() as world:
        assert not (await world.call("get_contact", {"contact_id": "con_00777"})).ok
        assert world.view.get("contact", "con_00777") is None
        assert world.ledger.newest["step"]["absorbed"] == []
        assert (await world.call("get_contact", {"contact_id": "con_00777"})).ok


async def test_what_finds_nothing_does_not_read_all_that_was_written(
    crm: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with crm.open() as world:
        for number in range(49):
            await world.call("create_contact", {"name": f"Bo {number}", "email": f"bo.{number}@x.example"})
        made = await world.call("create_contact", {"name": "Bo", "email": "bo@x.example"})
        assert isinstance(made.body, ToolResult)
        monkeypatch.delattr(Overlay, "rows")
        deals = await world.call("list_deals", {"contact_id": made.body.value["id"]})
        assert isinstance(deals.body, ToolResult)
        assert deals.body.value["deals"] == []
        assert (await world.call("search_contacts", {"query": "Zyx"})).ok


async def test_a_record_that_is_not_visible_yet_is_not_generated(tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    faults = "perturbations: [{delayed_visibility: {after: 1h}, tools: create_deal}]\n"
    path.write_text(WORLD + faults, encoding="utf-8")
    async with Simulator.load(path).open() as world:
        made = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
        body = (await world.call("create_deal", made)).body
        assert isinstance(body, ToolResult)
        assert not (await world.call("get_deal", {"deal_id": body.value["id"]})).ok


async def test_a_closed_world_generates_no_records_on_request(tmp_path: Path) -> None:
    path = tmp_path / "closed.yaml"
    path.write_text(WORLD.replace("open: true, ", ""), encoding="utf-8")
    async with Simulator.load(path).open() as world:
        assert not (await world.call("get_contact", {"contact_id": "con_00777"})).ok
