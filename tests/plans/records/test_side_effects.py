"""What a description says beyond its first clause, and what a guessed write may have changed, is marked as guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, simulator, tool

from mcp_sim.world.world import World

Json = Any
COUNT: dict[str, Json] = {"type": "integer"}


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def rows_of(noun: str, row: Json) -> Json:
    return thing(**{noun: {"type": "array", "items": row}})


async def is_guessed(world: World, called: str, **arguments: Json) -> bool:
    observation = await world.call(called, arguments)
    assert observation.ok, observation
    return world.ledger.steps[-1]["guessed"]


def stocked(noun: str, act: str, about: str, *, typed: bool) -> list[Json]:
    """Return tools that order things by name; `noun` is the thing, `act` what makes the order."""
    key: Json = {f"{noun}_id": TEXT}
    row, order = thing(id=TEXT, title=TEXT, reserved=COUNT), thing(id=TEXT, buyer=TEXT, **key)
    return [
        tool(f"get_{noun}", f"Get a {noun}.", output=row if typed else None, **key),
        tool(f"list_{noun}s", f"List {noun}s.", output=rows_of(f"{noun}s", row) if typed else None),
        tool(act, about, output=order if typed else None, buyer=TEXT, **key),
        tool("get_order", "Get an order.", output=order if typed else None, order_id=TEXT),
    ]


def goods(noun: str) -> Json:
    things = [{"id": key, "title": key.lower(), "reserved": 0} for key in ("AA", "BB")]
    return {f"{noun}s": things, "orders": [{"id": "O1", "buyer": "Ada", f"{noun}_id": "AA"}]}


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    ("noun", "about"),
    [
        ("lamp", "Create an order. Holds the lamp until it is paid."),
        ("boat", "Create an order; the boat is blocked."),
        ("bed", "Create an order. One more is then reserved."),
        ("crate", "Create an order and take the crate from the store."),
    ],
)
async def test_an_effect_that_only_the_description_mentions_leaves_its_records_in_doubt(
    noun: str, about: str, typed: bool, tmp_path: Path
) -> None:
    tools = stocked(noun, "create_order", about, typed=typed)
    async with simulator(tmp_path, tools, state=goods(noun)).open() as world:
        assert not await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "AA"})
        assert await is_guessed(world, "create_order", buyer="Bo", **{f"{noun}_id": "AA"})
        assert await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "AA"})
        assert not await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "BB"})
        assert await is_guessed(world, f"list_{noun}s")


@pytest.mark.parametrize(
    "about",
    [
        "Create an order.",
        "Create an order for a lamp.",
        "Create an order. Returns the order with its lamp.",
        "Create an order. The lamp must exist.",
        "Create an order. Use get_lamp to see the lamp.",
        "Create an order.\n\nArgs:\n    lamp_id: the lamp; fails if it is held\n",
        "Create an order. Fails if the lamp does not exist.",
        "Create an order. It stays with the lamp.",
        "Create an order. It does not change the lamp.",
        "Create an order. Get the lamp first.",
    ],
)
async def test_a_description_of_arguments_results_and_use_promises_no_effect(about: str, tmp_path: Path) -> None:
    async with simulator(
        tmp_path, stocked("lamp", "create_order", about, typed=True), state=goods("lamp")
    ).open() as world:
        assert not await is_guessed(world, "create_order", buyer="Bo", lamp_id="AA")
        assert not await is_guessed(world, "get_lamp", lamp_id="AA")


@pytest.mark.parametrize("typed", [True, False])
async def test_a_guessed_write_leaves_what_it_names_or_mentions_in_doubt(tmp_path: Path, *, typed: bool) -> None:
    tools = [
        *stocked("lamp", "create_order", "Create an order.", typed=typed),
        tool("polish", "Polish a lamp.", lamp=TEXT),
        tool("sweep", "Sweep all lamps."),
        tool("worth", "Total worth of the lamps."),
    ]
    async with simulator(tmp_path, tools, state=goods("lamp")).open() as world:
        await world.call("worth", {})
        assert not await is_guessed(world, "list_lamps")
        await world.call("polish", {"lamp": "AA"})
        assert await is_guessed(world, "get_lamp", lamp_id="AA")
        assert not await is_guessed(world, "get_lamp", lamp_id="BB")
        await world.call("sweep", {})
        assert await is_guessed(world, "get_lamp", lamp_id="BB")
        assert not await is_guessed(world, "get_order", order_id="O1")


@pytest.mark.parametrize(
    "about",
    [
        "Create an order. Fails if the lamp is held.",
        "Create an order, unless the lamp is held.",
        "Create an order for a lamp that has no buyer.",
    ],
)
async def test_a_success_under_a_condition_that_is_not_checked_is_a_guess(about: str, tmp_path: Path) -> None:
    async with simulator(
        tmp_path, stocked("lamp", "create_order", about, typed=True), state=goods("lamp")
    ).open() as world:
        assert await is_guessed(world, "create_order", buyer="Bo", lamp_id="AA")
        key = [key for key, _ in world.view.rows("order")][-1]
        assert await is_guessed(world, "get_order", order_id=key)
        assert not await is_guessed(world, "get_order", order_id="O1")
        assert not await is_guessed(world, "get_lamp", lamp_id="AA")


async def test_a_declared_plan_is_taken_to_be_complete(tmp_path: Path) -> None:
    about = "Create an order. Holds the lamp, unless it is broken."
    declared = {"sim": {"create_order": {"verb": "create", "entity": "order"}}}
    tools = stocked("lamp", "create_order", about, typed=True)
    async with simulator(tmp_path, tools, state=goods("lamp"), spec=declared).open() as world:
        assert not await is_guessed(world, "create_order", buyer="Bo", lamp_id="AA")
        assert not await is_guessed(world, "get_lamp", lamp_id="AA")
