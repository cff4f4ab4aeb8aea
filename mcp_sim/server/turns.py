"""Fair turns of the worlds of a server: one that is flooded with requests does not keep the others waiting."""

from __future__ import annotations

import asyncio
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

MOST_AT_WORK = 16
"""Requests that are worked on at the same time, and that begin in one round of the loop. Those that wait for something
else are not counted. More would let a flood fill the loop before the next queue is looked at."""

MOST_NEWCOMERS_AT_WORK = 4
"""Of them, requests whose world or session is new. They take ten times as long as others: sixteen that began together
kept the first of the others waiting for 300 ms."""

LONG = 65_536
"""Bytes from which on a request is long: reading it takes a while."""

ROUNDS_BETWEEN = 10
"""Rounds of the loop from one long request to the next: about as many as a short one takes through the MCP SDK, which
would otherwise wait for a long one in each. They pass at once if nothing else is to be done."""

TURN_SECONDS = 0.05
"""Seconds after which a request is no longer counted: it waits for something, such as a language model. A call that
only computes has ended by then."""

LATE_SECONDS = 0.01
"""Delay of a timer from which on the loop is considered busy."""

PATIENCE_SECONDS = 1.0
"""Seconds after which a request is no longer counted although the loop is busy. Without it, requests that wait would
keep all turns of a loop that stays busy."""


NEWCOMERS = "/"
"""The one flow of all requests whose world or session does not exist yet. It has every other turn: a flood of new
worlds makes the others wait twice as long, and trainers that open hundreds at once soon have them all."""


class Turn:
    """The turn of a request, which may be ended early, and more than once."""

    __slots__ = ("_turns", "began", "is_over", "world")

    def __init__(self, turns: Turns, world: str, began: float) -> None:
        self._turns, self.world, self.began = turns, world, began
        self.is_over = False

    def end(self) -> None:
        """Let the next request begin, in the next round of the loop. Most requests begin and end in the same round."""
        if not self.is_over:
            self.is_over = True
            asyncio.get_running_loop().call_soon(self._turns.ended, self)


Waiting: TypeAlias = tuple[bool, float, int, str, asyncio.Future[Turn]]
"""A request that waits: whether it is patient, when it would begin, its number, its world."""


class Turns:
    """Chooses the next request by start-time fair queueing: that of the world that has had the least of late.

    Without a queue a request begins at once. Newcomers have a queue of their own and every other turn, so that many of
    them at once do not keep the worlds that exist waiting. Requests of clients that send many and wait for no answer
    are patient: a flood in many worlds would otherwise have most of the turns.
    """

    def __init__(self) -> None:
        self._at_work = dict[Turn, None]()
        self._waiting = list[Waiting]()
        self._newcomers = list[Waiting]()
        self._is_newcomers_turn = False
        self._shares = dict[str, float]()
        """World -> when its next request would begin, if every world had the same share. Kept while requests wait."""
        self._now = 0.0
        self._numbers = count()
        self._brief = 0
        """Requests that began and ended in this round of the loop."""
        self._timer: asyncio.TimerHandle | None = None
        self._long = asyncio.Lock()

    async def await_round(self) -> None:
        """Wait with a long request until no other long one has begun for some rounds of the loop."""
        async with self._long:
            for _ in range(ROUNDS_BETWEEN):
                await asyncio.sleep(0)

    def take_brief(self) -> bool:
        """Whether a request may begin that ends in this round of the loop. It is counted in this round only."""
        if self._waits or not self._has_room:
            return False
        if not self._brief:
            asyncio.get_running_loop().call_soon(self._end_round)
        self._brief += 1
        return True

    def _end_round(self) -> None:
        self._brief = 0
        if self._waits:
            self._fill(asyncio.get_running_loop())

    @property
    def _waits(self) -> bool:
        return bool(self._waiting or self._newcomers)

    @property
    def _has_room(self) -> bool:
        return len(self._at_work) + self._brief < MOST_AT_WORK

    @property
    def _has_room_for_newcomers(self) -> bool:
        return sum(turn.world == NEWCOMERS for turn in self._at_work) < MOST_NEWCOMERS_AT_WORK

    async def next(self, world: str, *, is_patient: bool = False) -> Turn:
        """Wait for the turn of a request. A patient one waits for all that are not."""
        loop = asyncio.get_running_loop()
        queue = self._newcomers if world == NEWCOMERS else self._waiting
        if self._has_room and not queue and (world != NEWCOMERS or self._has_room_for_newcomers):
            return self._begin(world, loop.time())
        begins = 0.0
        if world != NEWCOMERS:
            # A world that was idle begins now: it does not save up turns for a burst.
            begins = max(self._now, self._shares.get(world, 0.0))
            self._shares[world] = begins + 1
        chosen: asyncio.Future[Turn] = loop.create_future()
        # The number decides between equal beginnings: first come, first served.
        heappush(queue, (is_patient, begins, next(self._numbers), world, chosen))
        self._watch(loop)
        try:
            return await chosen
        except asyncio.CancelledError:
            # The turn had begun in the round in which the request was cancelled, and must be ended here.
            if chosen.done() and not chosen.cancelled():
                chosen.result().end()
            raise

    def ended(self, turn: Turn) -> None:
        """Begin waiting requests instead of one that ended."""
        self._at_work.pop(turn, None)
        if self._waits:
            self._fill(asyncio.get_running_loop())

    def _begin(self, world: str, now: float) -> Turn:
        turn = Turn(self, world, now)
        self._at_work[turn] = None
        return turn

    def _fill(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._has_room and (queue := self._next_queue()):
            _, begins, _, world, chosen = heappop(queue)
            if not chosen.done():
                self._now = max(self._now, begins)
                chosen.set_result(self._begin(world, loop.time()))
        if not self._waits:
            self._shares.clear()
            self._now = 0.0

    def _next_queue(self) -> list[Waiting]:
        """Return the queue whose first request is next: those that are not patient come first, then both in turn.

        It is empty if none may begin.
        """
        if self._newcomers and not self._has_room_for_newcomers:
            return self._waiting
        queues = [queue for queue in (self._waiting, self._newcomers) if queue]
        eager = [queue for queue in queues if not queue[0][0]] or queues
        if len(eager) > 1:
            self._is_newcomers_turn = not self._is_newcomers_turn
            return eager[self._is_newcomers_turn]
        return eager[0] if eager else []

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look after the turns from time to time, while requests wait."""
        if self._timer is None:
            at = loop.time() + TURN_SECONDS
            self._timer = loop.call_at(at, self._pass_over, loop, at)

    def _pass_over(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """End the turns that wait for something. If the loop is late they only have no time, except very old ones."""
        self._timer = None
        now = loop.time()
        # A timer that comes late shows a busy loop, in which turns are long because they get no time.
        most = TURN_SECONDS if now - due < LATE_SECONDS else PATIENCE_SECONDS
        for turn in [running for running in self._at_work if running.began + most <= now]:
            turn.end()
        if self._waits:
            self._watch(loop)
