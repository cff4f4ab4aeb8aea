"""The simulated lockers, and two agents in them: `python -m pytest test_lockers.py`."""

from pathlib import Path

from mcp_sim import Simulator

SCENARIO = Path(__file__).parent / "lost_parcel.yaml"
PARCEL = {"station": "Harbour", "recipient": "Noor", "size": "M"}


async def test_an_agent_that_repeats_a_lost_deposit_fails():
    async with Simulator.load(SCENARIO, trust=True).open() as world:
        assert not (await world.call("deposit_parcel", PARCEL)).ok
        assert (await world.call("deposit_parcel", PARCEL)).ok
        assert world.grade("The parcel is deposited.").outcome == "failed"


async def test_an_agent_that_looks_first_passes():
    async with Simulator.load(SCENARIO, trust=True).open() as world:
        assert not (await world.call("deposit_parcel", PARCEL)).ok
        lockers = await world.call("list_lockers", {"station": "Harbour", "free": False})
        assert [locker["number"] for locker in lockers.body.value] == ["H2"]
        assert world.grade("The parcel is in locker H2.").outcome == "passed"
        assert world.grade("It failed.").outcome == "failed"


async def test_a_wrong_code_opens_nothing():
    async with Simulator.load(SCENARIO, trust=True).open() as world:
        await world.call("deposit_parcel", PARCEL)
        refused = await world.call("collect_parcel", {"parcel_id": "P-1001", "code": "none"})
        assert not refused.ok
        assert refused.body.value == "Wrong code"
