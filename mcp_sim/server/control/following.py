"""Follow the ledger of a world. Readers share what the world keeps; a slow one misses what is dropped meanwhile."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TypeAlias

import anyio

from mcp_sim.world.world import World

AT_ONCE = 100
"""The most entries that are taken from a ledger at a time. A reader of a long ledger must not keep the loop from
calls."""

LOOK_SECONDS = 1.0
"""Seconds without an entry after which a reader is asked whether it goes on."""

Followed: TypeAlias = tuple[int, bytes] | int | None
"""An entry and its number; or a number alone: the entries up to it are not kept any more; None: nothing was written for
a second."""


async def follow(world: World, after: int, is_open: Callable[[], bool]) -> AsyncGenerator[Followed]:
    """Yield the entries of a ledger with a greater number than `after`, then each new one, until the world ends.

    If there is no such number yet, the ledger is another one, and all of it follows.
    """
    at = after if after <= world.ledger.added else 0
    while True:
        ledger = world.ledger
        oldest = ledger.added - len(ledger) + 1
        if at < oldest - 1:
            at = oldest - 1
            yield at
        for number, line in ledger.after(at, AT_ONCE):
            at = number
            yield number, line
        if at < ledger.added:
            continue
        if not is_open():
            return
        at = ledger.added
        with anyio.move_on_after(LOOK_SECONDS) as waiting:
            await ledger.changed()
        if waiting.cancelled_caught:
            yield None
