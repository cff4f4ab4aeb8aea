"""The control plane in process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import pytest

from mcp_sim import Simulator
from mcp_sim.server.control.controls import Controls, Setting
from mcp_sim.server.control.errors import Conflict
from mcp_sim.server.control.models import Act, NewWorld
from mcp_sim.server.worlds import Worlds


async def test_what_waits_for_a_world_that_is_closed_leaves_its_successor_alone() -> None:
    async with Simulator.load("calm_crm") as simulator:
        controls = Controls(simulator, Worlds(partial(simulator.world), most=9), Setting(seed=1, clock="virtual"))
        await controls.create(NewWorld(name="anne"))
        waiting = controls.world("anne").lock
        refused = list[str]()

        async def late(act: Callable[[], Awaitable[object]]) -> None:
            with pytest.raises(Conflict) as refusal:
                await act()
            refused.append(str(refusal.value))

        await waiting.acquire()  # as a call does
        async with anyio.create_task_group() as acts:
            acts.start_soon(controls.close, "anne")
            await anyio.wait_all_tasks_blocked()
            acts.start_soon(late, partial(controls.close, "anne"))
            acts.start_soon(late, partial(controls.reset, "anne", Act()))
            await anyio.wait_all_tasks_blocked()
            waiting.release()
        assert refused == ["the world anne was closed meanwhile"] * 2
