"""Tools that change a number or a state of a given singleton without naming it: a balance, a target, a gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, refused, simulator, tool

Json = Any
NUMBER: Json = {"type": "number"}
TEXT: Json = {"type": "string"}


def shown(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize(("adds", "takes"), [("deposit", "withdraw"), ("credit", "debit"), ("top_up", "spend")])
@pytest.mark.parametrize("state", [{"balance": 100, "owner": "Ada"}, {"wallet": {"balance": 100, "owner": "Ada"}}])
async def test_amounts_change_the_only_balance(
    tmp_path: Path, state: Json, adds: str, takes: str, *, is_typed: bool
) -> None:
    output = shown(balance=NUMBER) if is_typed else None
    tools = [tool(name, amount=NUMBER, output=output) for name in (adds, takes)]
    async with simulator(tmp_path, [*tools, tool("get_balance", output=output)], state).open() as world:
        await answered(world, adds, amount=20)
        await answered(world, takes, amount=5)
        balance = await answered(world, "get_balance")
        assert balance == ({"balance": 115} if is_typed else 115)
        assert "115 available" in await refused(world, takes, amount=500)
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize(
    ("act", "argument"),
    [
        ("redeem_voucher", "voucher_number"),
        ("withdraw_offer", "offer_no"),
        ("fund_project", "project"),
        ("earn_badge", "level"),
    ],
)
async def test_a_number_that_is_no_amount_changes_no_balance(tmp_path: Path, act: str, argument: str) -> None:
    asked: Json = {argument: {"type": "integer"}}
    tools = [tool(act, **asked), tool("deposit", amount=NUMBER), tool("get_wallet")]
    async with simulator(tmp_path, tools, {"wallet": {"balance": 100, "owner": "Ada"}}).open() as world:
        await answered(world, act, **{argument: 55})
        assert world.ledger.steps[-1]["guessed"]
        assert (await answered(world, "get_wallet"))["balance"] == 100


@pytest.mark.parametrize(("adds", "takes"), [("add", "take"), ("add", "use"), ("restock", "draw")])
@pytest.mark.parametrize(("owner", "number"), [("till", "cash"), ("tank", "water"), ("stall", "flour")])
async def test_an_amount_changes_the_number_that_the_name_says(
    tmp_path: Path, owner: str, number: str, adds: str, takes: str
) -> None:
    tools = [tool(f"{name}_{number}", amount=NUMBER) for name in (adds, takes)]
    state: Json = {owner: {number: 40, "clerk": "Bo", "shelf": 3}}
    async with simulator(tmp_path, [*tools, tool(f"get_{owner}")], state).open() as world:
        await answered(world, f"{adds}_{number}", amount=20)
        await answered(world, f"{takes}_{number}", amount=5)
        assert await answered(world, f"get_{owner}") == {number: 55, "clerk": "Bo", "shelf": 3}


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize(
    ("owner", "field", "setter", "argument"),
    [("quay", "depth_limit", "set_depth_limit", "metres"), ("climate", "target", "set_target", "celsius")],
)
async def test_a_level_is_set_by_its_name(
    tmp_path: Path, owner: str, field: str, setter: str, argument: str, *, is_typed: bool
) -> None:
    state: Json = {owner: {field: 18, "mode": "auto"}}
    output = shown(**{field: NUMBER, "mode": {"type": "string"}}) if is_typed else None
    tools = [tool(setter, **{argument: NUMBER}, output=output), tool(f"get_{owner}", output=output)]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, setter, **{argument: 21})
        assert await answered(world, f"get_{owner}") == {field: 21, "mode": "auto"}
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize(
    ("acts", "undoes", "field", "before", "after"),
    [("close", "open", "gate", "open", "closed"), ("turn_on", "turn_off", "lights", False, True),
     ("unlock", "lock", "door", "locked", "unlocked"), ("start", "stop", "pump", "off", "on"),
     ("disable", "enable", "heating", True, False), ("stop", "start", "mill", "running", "stopped")],
)  # fmt: skip
async def test_a_verb_switches_the_part_that_it_names(
    tmp_path: Path, acts: str, undoes: str, field: str, before: Json, after: Json
) -> None:
    tools = [tool(f"{acts}_{field}"), tool(f"{undoes}_{field}"), tool("get_house")]
    async with simulator(tmp_path, tools, {"house": {field: before, "rooms": 4}}).open() as world:
        await answered(world, f"{acts}_{field}")
        assert await answered(world, "get_house") == {field: after, "rooms": 4}
        await answered(world, f"{undoes}_{field}")
        assert await answered(world, "get_house") == {field: before, "rooms": 4}
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize("act", ["draw", "take", "use"])
@pytest.mark.parametrize(("name", "unit"), [("paint", "litres"), ("seed", "grams"), ("cable", "metres")])
async def test_an_amount_in_a_unit_is_taken_from_a_number_under_a_name(
    tmp_path: Path, act: str, name: str, unit: str
) -> None:
    tools = [tool(f"{act}_{name}", **{name: TEXT, unit: NUMBER}), tool(f"get_{name}_levels")]
    async with simulator(tmp_path, tools, {name: {"red": 90, "blue": 15}}).open() as world:
        await answered(world, f"{act}_{name}", **{name: "red", unit: 25})
        levels = await answered(world, f"get_{name}_levels")
        assert [row["value"] for row in levels] == [65, 15]
        assert "teal" in await refused(world, f"{act}_{name}", **{name: "teal", unit: 5})
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize("owner", ["yard", "front_yard"])
@pytest.mark.parametrize(
    ("part", "acts", "values"),
    [
        ("gate", ("close_gate", "open_gate"), ("open", "closed", "open")),
        ("lights", ("turn_on_lights", "turn_off_lights"), (False, True, False)),
        ("pump", ("start_pump", "stop_pump"), ("stopped", "running", "stopped")),
    ],
)
async def test_a_verb_switches_a_state_inside_a_part_of_the_given_state(
    tmp_path: Path, owner: str, part: str, acts: tuple[str, str], values: Json
) -> None:
    """No tool shows the part by its name."""
    state: Json = {owner: {part: values[0], "level": 3}}
    async with simulator(tmp_path, [*map(tool, acts), tool("get_status")], state).open() as world:
        for act, value in zip(acts, values[1:], strict=True):
            assert await answered(world, act) == {owner: {part: value, "level": 3}}


@pytest.mark.parametrize(("act", "part", "text"), [("start_review", "review", "weekly"), ("stop_bus", "bus", "No. 7")])
async def test_a_text_that_is_no_state_is_not_switched(tmp_path: Path, act: str, part: str, text: str) -> None:
    async with simulator(tmp_path, [tool(act), tool("get_yard")], {"yard": {part: text, "level": 3}}).open() as world:
        await answered(world, act)
        assert world.ledger.steps[-1]["guessed"]
        assert (await answered(world, "get_yard"))[part] == text
