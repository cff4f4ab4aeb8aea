"""How is a question put to the engine in the conversation of a world, and what becomes part of that conversation?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex

from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.answer import Reply
from mcp_sim.models.language_model.endpoint import Ask, Request
from mcp_sim.models.language_model.sight import Sight
from mcp_sim.models.language_model.transcript import Said, appended, fitting
from mcp_sim.types import Attempt, Change, Memory, Record, Transition, Turn
from mcp_sim.types.errors import Crash, TooLong, Unanswered


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is said in the worlds of a scenario, each on its own; kept in a world's memory under the name of `owner`.

    At most `most` characters of it are sent. `room` tells how many the engine takes at present, the system prompt
    included; None where it does not know.
    """

    system: str
    sight: Sight
    engine: Ask
    owner: str
    most: int
    room: Callable[[], int | None]

    async def asked(self, turn: Turn, user: str, schema: Record | None, rejected: tuple[Attempt, ...]) -> Reply:
        """The answer in the conversation so far; where the engine finds that too long, in a shorter one.

        Raises Crash where there is none.
        """
        said = self._fitting(turn, len(user))
        try:
            return await self._once(turn, prompt.messages(self.system, said, user, rejected), schema, len(rejected))
        except TooLong as error:
            if said is None or said.before is None:
                raise Crash(turn.tool.id, str(error)) from None
        said = self._fitting(turn, len(user), at_once=True)
        try:
            return await self._once(turn, prompt.messages(self.system, said, user, rejected), schema, len(rejected))
        except TooLong as error:
            raise Crash(turn.tool.id, str(error)) from None

    def said(self, turn: Turn) -> Said | None:
        """The newest turn."""
        return self.memory(turn).get("said")

    def remember(self, turn: Turn, user: str, transition: Transition) -> None:
        """Append the turn and what is true of it; kept if the call is committed."""
        written: tuple[Change, ...] = (*transition.changes, *transition.pins)
        plan = self.sight.domain.plans.get(turn.tool.id)
        shown = prompt.shown(transition.observation)
        told = self.sight.value(turn.view.after(written), plan.entity if plan else None, shown)
        assistant = prompt.observation_turn(told)
        said = appended(self.said(turn), turn.index, user, assistant, written)
        self.memory(turn).set("said", said)

    def memory(self, turn: Turn) -> Memory:
        """What is kept of this world beside its state."""
        return turn.memories.of(self.owner)

    async def _once(self, turn: Turn, messages: Sequence[prompt.Message], schema: Record | None, attempt: int) -> Reply:
        request = Request(messages, schema, _seed(turn, attempt), self._affinity(turn))
        try:
            return await self.engine(request)
        except TooLong:
            raise
        except Unanswered as error:
            raise Crash(turn.tool.id, str(error)) from None

    def _fitting(self, turn: Turn, user: int, *, at_once: bool = False) -> Said | None:
        """The transcript, shortened where it would not fit beside the system prompt and a turn of `user` characters."""
        room, most = self.room(), self.most
        if room is not None:
            most = max(0, min(most, room - len(self.system) - user))
        before = self.said(turn)
        said = fitting(before, most, lambda size: prompt.state_turn(turn, self.sight, size), at_once=at_once)
        if said is not before:
            self.memory(turn).set("said", said)
        return said

    def _affinity(self, turn: Turn) -> str:
        """A name of the conversation, for routers; forks begin with the same, as they begin with the same words."""
        known = self.memory(turn).get("affinity")
        if known is None:
            known = token_hex(8)
            self.memory(turn).set("affinity", known)
        return known


def _seed(turn: Turn, attempt: int) -> int:
    """The sampling seed of one attempt."""
    return int(turn.draws.unit(f"language_model/{attempt}") * 2**31)
