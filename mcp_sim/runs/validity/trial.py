"""One run: an agent of some skill carries out a task on one side, under one stream of faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Literal

from mcp_sim.grading.expectations.probe import shown_text, shown_value
from mcp_sim.runs.agents.script import Script, filled
from mcp_sim.runs.agents.strategies import Player, Reply, Strategy, has_given_up
from mcp_sim.runs.validity.sides import Opened, Side
from mcp_sim.runs.validity.task import Goal, Task
from mcp_sim.types import Json, Observation, Record
from mcp_sim.types.errors import BadArguments, Crash, UsageError
from mcp_sim.types.frozen import frozen

Fault = Literal["error", "lost answer", "timeout"]

TEXTS: dict[Fault, str] = {
    "error": "503 Service Unavailable",
    "lost answer": "upstream timed out",
    "timeout": "upstream timed out",
}
"""What an agent reads. After a lost answer the call took effect, after a timeout it did not: they look alike."""

# High enough that each agent meets some in a task of five calls, low enough that four tries nearly always suffice.
_OF_WRITES: dict[Fault, float] = {"error": 0.15, "lost answer": 0.2, "timeout": 0.1}
_OF_READS: dict[Fault, float] = {"error": 0.1}


class FaultStream:
    """The faults of one run. Draws depend on the stream, the tool and the number of the call alone."""

    def __init__(self, stream: int) -> None:
        self._stream, self._calls = stream, dict[str, int]()

    def next(self, tool: str, *, only_reads: bool) -> Fault | None:
        """Return what happens to the next call of a tool."""
        number = self._calls[tool] = self._calls.get(tool, 0) + 1
        chance = Random(f"{self._stream}/{tool}/{number}").random()  # noqa: S311 (chance, not a secret)
        for fault, share in (_OF_READS if only_reads else _OF_WRITES).items():
            if chance < share:
                return fault
            chance -= share
        return None


MOST_TEXT = 160  # of an answer in a report: two lines


@frozen
class Made:
    """A call of an agent, and what it got."""

    tool: str
    ok: bool
    text: str
    fault: bool


@frozen
class Run:
    """What an agent did, and which shares of the goals it reached."""

    score: float
    calls: Sequence[Made]
    problems: Sequence[str]
    """Why goals were missed, or the agent gave up."""
    counts: Sequence[Mapping[str, int]]
    """How often each goal's answer showed its texts."""


class Trial:
    """Runs a task on one side. `standard`: how often texts are shown after the task was done without faults."""

    def __init__(self, side: Side, task: Task, reads: frozenset[str]) -> None:
        self._side, self._task, self._reads = side, task, reads
        self.standard: Sequence[Mapping[str, int]] | None = None

    async def run(self, strategy: Strategy, chance: str, stream: int | None, *, idle: bool = False) -> Run:
        """Play a strategy. `chance` decides what it forgets; without a stream there are no faults. `idle`: do nothing.

        Raises `Crash` where a real server cannot be started, or the preparation fails.
        """
        async with self._side.world() as opened:
            for call in self._task.prepare:
                arguments = filled(call.arguments, {"folder": opened.folder})
                observation = await opened.world.call(call.call, arguments)
                if not observation.ok:
                    text = _shortened(shown_text(observation))
                    raise UsageError(f"{self._side.name}: the preparation failed: {call.call} answers {text!r}")
            calls = list[Made]()
            player = _Recorded(opened, calls, None if stream is None else FaultStream(stream), self._reads)
            script = Script.model_validate(filled(self._task.script.model_dump(), {"folder": opened.folder}))
            if idle:
                script = Script(task=script.task, steps=[])
            agent = Player(script, strategy, player.ask, player.sleep, chance=Random(chance))  # noqa: S311 (chance)
            answer = await agent.play()
            # Ask for the goals. Ids that no goal keeps are those that the agent knows.
            kept: dict[str, Json] = {**agent.kept, "folder": opened.folder}
            problems, counts = list[str | None](), list[Mapping[str, int]]()
            for written in self._task.goal:
                goal = written.filled(kept)
                observation, problem = await _asked(opened, goal)
                problems.append(problem)
                counts.append({} if observation is None else goal.counts(observation))
                if observation is not None:
                    kept |= goal.kept_from(observation)
            run = Run(self._share(problems), calls, [problem for problem in problems if problem], counts)
            run = self.by_standard(run)
            return replace(run, problems=[answer, *run.problems]) if has_given_up(answer) else run

    def _share(self, problems: Sequence[str | None]) -> float:
        """Return the share of the goals that are reached; each text of `as_often` is one."""
        parts = [max(1, len(goal.as_often)) for goal in self._task.goal]
        return sum(weight for weight, problem in zip(parts, problems, strict=True) if not problem) / sum(parts)

    def by_standard(self, run: Run) -> Run:
        """Return a run that was judged without the standard, if there is one now, as it judges it."""
        missed = [
            f"at the end {goal.tool} shows {text!r} {shown.get(text, 0)} times, expected {wanted}"
            for goal, shown, expected in zip(self._task.goal, run.counts, self.standard or (), strict=False)
            for text, wanted in expected.items()
            if shown.get(text, 0) != wanted
        ]
        parts = sum(max(1, len(goal.as_often)) for goal in self._task.goal)
        return replace(run, score=max(0.0, run.score - len(missed) / parts), problems=[*run.problems, *missed])

    @property
    def side_name(self) -> str:
        return self._side.name


async def _asked(opened: Opened, goal: Goal) -> tuple[Observation | None, str | None]:
    """Return the answer to the call of a goal, and what is wrong with it."""
    try:
        observation = await opened.world.ask(goal.tool, goal.arguments)
    except (Crash, BadArguments) as error:
        return None, str(error)
    if goal.as_often and not observation.ok:
        return observation, None  # the texts are missing
    return observation, goal.problem_of(observation)


class _Recorded:
    """Passes the calls of an agent on, or lets a fault happen, and notes them."""

    def __init__(self, opened: Opened, calls: list[Made], faults: FaultStream | None, reads: frozenset[str]) -> None:
        self._world, self._made, self._faults, self._reads = opened.world, calls, faults, reads

    async def ask(self, tool: str, arguments: Record) -> Reply:
        fault = None if self._faults is None else self._faults.next(tool, only_reads=tool in self._reads)
        reply = None if fault in {"error", "timeout"} else await self._answered(tool, arguments)
        if fault is not None:
            reply = Reply(None, True, TEXTS[fault])
        assert reply is not None
        self._made.append(Made(tool, not reply.is_error, _shortened(reply.text), fault is not None))
        return reply

    async def sleep(self, seconds: float) -> None:
        await self._world.advance(timedelta(seconds=seconds))

    async def _answered(self, tool: str, arguments: Record) -> Reply:
        try:
            observation = await self._world.call(tool, arguments)
        except (Crash, BadArguments) as error:
            return Reply(None, True, str(error))
        return Reply(shown_value(observation), observation.is_error, shown_text(observation))


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_TEXT else f"{line[:MOST_TEXT]}..."
