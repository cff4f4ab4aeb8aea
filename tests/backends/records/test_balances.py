"""What is charged is taken from a balance, and what is deposited is put there."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, refused, service, tool, value

STATE = {
    "purses": [{"id": "p-1", "owner": "Ada", "balance": 100}, {"id": "p-2", "owner": "Bo", "balance": 5}],
    "charges": [{"id": "c-1", "purse_id": "p-1", "amount": 10, "reason": "tea"}],
    "deposits": [{"id": "d-1", "purse_id": "p-2", "amount": 5}],
}
TOOLS = (
    tool("create_charge", "purse_id", "amount", "reason", amount=INTEGER),
    tool("create_deposit", "purse_id", "amount", amount=INTEGER),
    tool("get_purse", "purse_id"),
)


async def test_a_charge_takes_from_the_balance_what_there_is_and_no_more(tmp_path: Path) -> None:
    async with service(tmp_path, STATE, *TOOLS) as simulator, simulator.open("w") as world:
        await world.call("create_charge", {"purse_id": "p-1", "amount": 40, "reason": "rope"})
        assert value(await world.call("get_purse", {"purse_id": "p-1"}))["balance"] == 60
        assert refused(await world.call("create_charge", {"purse_id": "p-2", "amount": 6, "reason": "rope"}))
        assert value(await world.call("get_purse", {"purse_id": "p-2"}))["balance"] == 5


async def test_a_deposit_is_put_there(tmp_path: Path) -> None:
    async with service(tmp_path, STATE, *TOOLS) as simulator, simulator.open("w") as world:
        await world.call("create_deposit", {"purse_id": "p-2", "amount": 7})
        assert value(await world.call("get_purse", {"purse_id": "p-2"}))["balance"] == 12
