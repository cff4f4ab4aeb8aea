"""Faults of screens: notices, pages that are shown anew, another layout."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.world.world import World

LOGIN = "https://wheelhouse.example/login"
EXPECT = """
expect:
  - {recovered: fault, id: recovered}
  - {state: {entity: screen_notice, where: {answer: Reject all}, count: 1}, id: refused}
"""


def simulator(folder: Path, fault: str, tools: str, ending: str = "") -> Simulator:
    """Return a shop with a fault at the first call of a tool."""
    path = folder / "shop.yaml"
    entry = f"{{{fault}, id: fault, tools: {tools}, when: {{nth: 1}}}}"
    path.write_text(f"mcp_sim: 1\ntools: web_shop\nperturbations: [{entry}]\n{ending}", encoding="utf-8")
    return Simulator.load(path)


async def shown(world: World) -> str:
    body: Any = (await world.call("browser_snapshot", {})).body
    return body.value


async def act(world: World, tool: str, named: str, **arguments: Any) -> str:
    """Look, then act on the element of this role and name. Returns the answer."""
    match = re.search(rf"- {re.escape(named)}.*\[ref=(\w+)\]", await shown(world))
    assert match is not None, named
    body: Any = (await world.call(tool, {"target": match[1], **arguments})).body
    return body.value


async def order_and_log_in(world: World, *, looks_again: bool) -> None:
    await world.call("browser_navigate", {"url": LOGIN})
    await act(world, "browser_type", 'textbox "E-mail"', text="ada@mail.example")
    await act(world, "browser_type", 'textbox "Password"', text="wheels")
    answer = await act(world, "browser_click", 'button "Log in"')
    assert "not found in the current page snapshot" in answer
    if looks_again:
        await act(world, "browser_click", 'button "Reject all"')
        await act(world, "browser_click", 'link "Cart (0)"')  # what is shown meanwhile does not matter
        await act(world, "browser_click", 'link "Log in"')
        await act(world, "browser_type", 'textbox "E-mail"', text="ada@mail.example")
        await act(world, "browser_type", 'textbox "Password"', text="wheels")
        await act(world, "browser_click", 'button "Log in"')


@pytest.mark.parametrize("looks_again", [True, False])
async def test_a_notice_waits_for_its_button_and_the_page_behind_keeps_what_was_entered(
    looks_again: bool, tmp_path: Path
) -> None:
    engine = simulator(tmp_path, "interrupt: {kind: cookies}", "browser_click", EXPECT)
    async with engine.open() as world:
        await order_and_log_in(world, looks_again=looks_again)
        passed = [verdict.outcome == "passed" for verdict in world.grade().verdicts]
        assert passed == [looks_again, looks_again]


async def test_a_notice_stays_in_front_of_other_pages_and_a_captcha_needs_its_box(tmp_path: Path) -> None:
    async with simulator(tmp_path, "interrupt: {kind: captcha}", "browser_navigate").open() as world:
        await world.call("browser_navigate", {"url": LOGIN})
        await world.call("browser_navigate", {"url": "https://wheelhouse.example/cart"})
        assert 'heading "Your cart"' not in await shown(world)
        await act(world, "browser_click", 'button "Continue"')
        assert 'button "Continue"' in await shown(world), "the box is not ticked"
        await act(world, "browser_click", 'checkbox "I am not a robot"')
        await act(world, "browser_click", 'button "Continue"')
        assert 'heading "Your cart"' in await shown(world)


async def test_references_are_new_and_what_was_entered_stays(tmp_path: Path) -> None:
    engine = simulator(tmp_path, "stale_refs: {}", "browser_click", "expect: [{recovered: fault}]")
    async with engine.open() as world:
        await world.call("browser_navigate", {"url": LOGIN})
        await act(world, "browser_type", 'textbox "E-mail"', text="ada@mail.example")
        assert "not found in the current page snapshot" in await act(world, "browser_click", 'link "Parts"')
        snapshot = await shown(world)
        assert "status [ref=" in snapshot
        assert ": Updated just now" in snapshot
        assert "]: ada@mail.example" in snapshot
        assert world.grade().outcome == "failed"
        await act(world, "browser_click", 'link "Parts"')
        assert world.grade().outcome == "passed"
        assert "Updated just now" not in await shown(world)


async def test_a_layout_has_other_names_and_another_order_by_seed_and_sends_the_same(tmp_path: Path) -> None:
    engine = simulator(tmp_path, "layout_change: {names: {Log in: Enter}}", "browser_navigate")
    orders = set[tuple[str, ...]]()
    for seed in range(4):
        async with engine.open(seed=seed) as world:
            await world.call("browser_navigate", {"url": LOGIN})
            snapshot = await shown(world)
            assert "Sign in" not in snapshot
            assert 'heading "Enter"' in snapshot
            orders.add(tuple(re.findall(r'textbox "([^"]*)|button "([^"]*)', snapshot)))
            await act(world, "browser_type", 'textbox "E-mail"', text="ada@mail.example")
            await act(world, "browser_type", 'textbox "Password"', text="wheels")
            await act(world, "browser_click", 'button "Enter"')
            assert 'button "Sign out"' in await shown(world)
    assert len(orders) > 1
