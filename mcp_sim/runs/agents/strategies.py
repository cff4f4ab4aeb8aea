"""How scripted agents take failures, and those of graded skill."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from random import Random
from typing import Literal, TypeAlias

from mcp_sim.grading.expectations.paced import requested_wait
from mcp_sim.runs.agents.script import Call, Check, Notice, Script, Step, filled, find_shown
from mcp_sim.types import Json, Observation, Record, ToolResult
from mcp_sim.types.frozen import frozen

Ask: TypeAlias = Callable[[str, Record], Awaitable["Reply"]]  # calls a tool
Sleep: TypeAlias = Callable[[float], Awaitable[object]]  # waits for some seconds

_INSTRUCTION = re.compile(r"IMPORTANT instruction[^\"\\]*")
_PASSING = re.compile(
    r"\b(?:50[234]|429|time|timed|timeout|unavailable|busy|again|later|limit|temporar\w+)\b", re.IGNORECASE
)
"""Words of errors that pass."""


@frozen
class Reply:
    """The answer to a call: a value, or the text of an error."""

    value: Json
    is_error: bool
    text: str


@frozen
class Strategy:
    """`tries` is how often a call is made at most. `reads` is when the agent reads what its write has left."""

    summary: str
    tries: int = 4
    reads: Literal["never", "after errors", "always"] = "never"
    writes: int = 1
    """How often each write is made, even if it succeeds."""
    waits: bool = False
    """Whether it waits before it repeats a call, as long as the error says."""
    obeys: bool = False
    """Whether it does what it reads in data."""
    looks: bool = False
    """Whether it looks before each write, and leaves out what is already there."""
    verifies: bool = False
    """Whether it looks for all its writes at the end, and repeats those that are missing."""
    passing_only: bool = False
    """Whether it repeats a call only if the error may pass, as it reads it."""
    carries_on: bool = False
    """Whether it goes on with the next step where another agent gives up."""
    forgets: float = 0.0
    """The share of its writes that it leaves out."""
    slips: float = 0.0
    """The share of its writes with a text that it misspells, the first time."""


STRATEGIES = {
    "golden": Strategy("reads after every write, and repeats only what is missing", 6, "always", waits=True),
    "naive_retry": Strategy("repeats whatever fails"),
    "verify_then_retry": Strategy(
        "reads after a failure, and repeats only what is missing", reads="after errors", waits=True
    ),
    "give_up": Strategy("stops at the first failure, and reports it", tries=1),
    "duplicate_writer": Strategy("makes every write twice", reads="after errors", writes=2),
    "obeys_injections": Strategy("does what it reads in data", reads="after errors", obeys=True),
}

SKILLS = {
    "golden": Strategy("reads after every write, and verifies at the end", 6, "always", waits=True, verifies=True),
    "reader": Strategy("reads after every write", 6, "always", waits=True),
    "verifier": Strategy("reads after failures, and verifies at the end", 4, "after errors", verifies=True),
    "verify_then_retry": STRATEGIES["verify_then_retry"],
    "looker": Strategy("looks before each write, and repeats whatever fails", looks=True),
    "late_verifier": Strategy("repeats whatever fails, and verifies at the end", verifies=True),
    "naive_retry": STRATEGIES["naive_retry"],
    "impatient": Strategy("repeats whatever fails, once", tries=2, carries_on=True),
    "error_reader": Strategy("repeats only what the error says may pass", passing_only=True, carries_on=True),
    "carries_on": Strategy("leaves out what fails", tries=1, carries_on=True),
    "give_up": STRATEGIES["give_up"],
    "duplicate_writer": STRATEGIES["duplicate_writer"],
    "forgetful": Strategy("forgets a fifth of its writes, else careful", 4, "after errors", forgets=0.2),
    "very_forgetful": Strategy("forgets half of its writes, and repeats whatever fails", forgets=0.5),
    "sloppy": Strategy("misspells a third of its writes, reads after failures", 4, "after errors", slips=0.33),
    "sloppy_verifier": Strategy(
        "misspells a third of its writes, and verifies", 4, "always", slips=0.33, verifies=True
    ),
}
"""By name, roughly the best first. All but the chances are what agents differ in that were seen to fail."""


_GIVEN_UP = "I could not finish the task"


def has_given_up(answer: str) -> bool:
    """Whether a final answer is that of an agent that gave up."""
    return answer.startswith(_GIVEN_UP)


class GaveUp(Exception):
    """A call failed as often as it may be made."""

    def __init__(self, tool: str, text: str) -> None:
        self.tool, self.text = tool, text
        super().__init__(f"{tool} failed: {text}")


class Player:
    """An agent that carries out a script. `tools` are the names of the tools that it can call."""

    def __init__(
        self,
        script: Script,
        strategy: Strategy,
        ask: Ask,
        sleep: Sleep,
        tools: frozenset[str] = frozenset(),
        chance: Random | None = None,
    ) -> None:
        self._script, self._strategy, self._ask, self._sleep, self._tools = script, strategy, ask, sleep, tools
        self._chance = chance or Random(0)  # noqa: S311 (chance, not a secret)
        self.kept: dict[str, Json] = {}
        """Values of answers, by the names that the script has for them."""
        self._instructions = list[str]()

    async def play(self) -> str:
        """Carry out the script. Return the final answer."""
        try:
            done = [step for step in self._script.steps if await self._step(step)]
            for step in done if self._strategy.verifies else []:
                if step.check and step.check.lasts and not await self._is_found(step.check):
                    await self._until_done(step, step.check)
        except GaveUp as error:
            return f"{_GIVEN_UP}: {error}"
        sentences = [f"As instructed: {instruction}" for instruction in self._instructions]
        return "\n".join([filled(self._script.answer, self.kept), *sentences])

    async def _step(self, step: Step) -> bool:
        """Carry out a step. Return whether the agent thought of it. Raises `GaveUp`."""
        # Both are drawn for each step, so that the draws of later steps do not depend on what happens.
        forgets, slips = (self._chance.random() < share for share in (self._strategy.forgets, self._strategy.slips))
        if step.check and forgets:
            return False
        if step.check and self._strategy.looks and await self._is_found(step.check):
            return True
        try:
            await self._until_done(_misspelt(step) if step.check and slips else step, step.check)
            for _ in range(self._strategy.writes - 1 if step.check else 0):
                await self._asked(step)
        except GaveUp:
            if not self._strategy.carries_on:
                raise
        return True

    async def _until_done(self, call: Call, check: Check | None) -> Reply | None:
        """Make a call until it is done. Return its answer, None if a check has found its effect. Raises `GaveUp`."""
        text = ""
        for attempt in range(self._strategy.tries):
            await self._wait(text)
            if isinstance(call, Step) and call.look and (not attempt or self._strategy.reads != "never"):
                seen = await self._until_done(call.look, None)
                self._keep(call.look, seen.value if seen else None)
            reply = await self._asked(call)
            if isinstance(call, Notice) and _shows(reply, call):
                self._keep(call, reply.value)
                text = f"{call.shows!r} is still shown"
                continue
            if isinstance(call, Step) and not reply.is_error:  # the check may need what the answer shows
                self._keep(call, reply.value)
            if not reply.is_error and not (check and self._strategy.reads == "always"):
                return reply
            if check and self._strategy.reads != "never" and await self._is_found(check):
                return reply if not reply.is_error else None
            text = reply.text
            if self._strategy.passing_only and not _PASSING.search(text):
                break
        raise GaveUp(call.call, text)

    async def _wait(self, text: str) -> None:
        """Wait as long as the text of an error says."""
        error = Observation(ToolResult(text, form="text", is_error=True))
        seconds = requested_wait(error) if self._strategy.waits else None
        if seconds is not None:
            await self._sleep(seconds)

    async def _is_found(self, check: Check) -> bool:
        """Look for the effect of a write, and keep values of it."""
        reply = await self._until_done(check, None)
        record = check.find(reply.value, self.kept) if reply else None
        if record is not None:
            self._keep(check, record)
        return record is not None

    async def _asked(self, call: Call) -> Reply:
        reply = await self._ask(call.call, filled(call.arguments, self.kept))
        for notice in [] if isinstance(call, Notice) else self._script.notices:
            if _shows(reply, notice):
                self._keep(notice, reply.value)
                await self._until_done(notice, None)
                reply = await self._ask(call.call, filled(call.arguments, self.kept))
        if self._strategy.obeys:
            await self._obey(reply)
        return reply

    async def _obey(self, reply: Reply) -> None:
        """Follow an instruction in an answer, once: call the tools that it names, and repeat it in the final answer."""
        match = _INSTRUCTION.search(reply.text)
        if match is None or match[0] in self._instructions:
            return
        self._instructions.append(match[0])
        for tool in sorted(self._tools):
            if re.search(rf"\b{re.escape(tool.rpartition('/')[2])}\b", match[0]):
                await self._ask(tool, {})

    def _keep(self, call: Call, value: Json) -> None:
        shown = {name: find_shown(value, path) for name, path in call.keep.items()}
        self.kept |= {name: value for name, value in shown.items() if value is not None}


def _shows(reply: Reply, notice: Notice) -> bool:
    """Whether a notice is in front of the screen that an answer shows."""
    return notice.shows in reply.text and not reply.is_error


def _misspelt(step: Step) -> Step:
    """Return a step with the first of its texts misspelt."""
    name = next((name for name, value in step.arguments.items() if isinstance(value, str) and "{" not in value), None)
    if name is None:
        return step
    return step.model_copy(update={"arguments": {**step.arguments, name: f"{step.arguments[name]}e"}})
