"""A scenario as an environment: episodes in worlds of their own, from any thread, with or without an event loop."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import timedelta
from operator import index
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.training.actions import Action, ToolCall, Turn, Unparseable, arguments_of, parse
from mcp_sim.training.rows import chat_row
from mcp_sim.training.tools import WAIT, Form, definition_of, in_form, names_and_ids
from mcp_sim.types import Observation, Record
from mcp_sim.types.errors import BadArguments, Crash, InputRequired, UsageError
from mcp_sim.types.grades import Grade
from mcp_sim.types.json_values import decode, encode
from mcp_sim.world.background import begin, wait_for
from mcp_sim.world.steering import advance
from mcp_sim.world.world import World

ACTOR = "agent"  # who waits, in the ledger

LONGEST_WAIT = 86_400.0  # seconds of one wait: a day, beyond which no rate limit reaches


class EpisodeOver(UsageError):
    """The episode has ended. `reset` begins the next."""

    def __init__(self) -> None:
        super().__init__("the episode is over; call reset() to begin the next")


class NotBegun(UsageError):
    """No episode has begun, or the environment is closed."""

    def __init__(self) -> None:
        super().__init__("no episode has begun; call reset()")


@dataclass(slots=True)
class ToolMessage:
    """What the agent reads after a call: the content of a message of the role `tool`."""

    text: str
    is_error: bool
    name: str
    call_id: str
    is_parsed: bool = True
    """Whether the call could be read. If not, no call was made."""

    def to_json(self) -> Record:
        """Return the message of a chat."""
        return {"role": "tool", "tool_call_id": self.call_id, "name": self.name, "content": self.text}


@dataclass(slots=True)
class StepResult:
    """What a turn leads to. `reward` is None until the episode is over, and after a crash of mcp-sim."""

    messages: list[ToolMessage]
    reward: float | None = None
    terminated: bool = False
    """Whether the agent has answered, or mcp-sim has crashed."""
    truncated: bool = False
    """Whether a limit on calls or time has ended the episode."""
    info: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated


_simulators = WeakValueDictionary[tuple[str, str | None, bool | tuple[Path, ...]], Simulator]()
_simulators_lock = threading.Lock()


def shared_simulator(
    scenario: str | Path, world_model: str | None = None, *, trust: bool | Iterable[Path] = False
) -> Simulator:
    """Return the started simulator of a scenario, which the environments of a process share while any of them lives."""
    trusted = trust if isinstance(trust, bool) else tuple(trust)
    key = str(scenario), world_model, trusted
    with _simulators_lock:
        simulator = _simulators.get(key)
        if simulator is None:
            simulator = Simulator(load(scenario, world_model=world_model, trust=trusted))
            wait_for(simulator.start())
            _simulators[key] = simulator
        return simulator


class Environment:
    """Episodes of a scenario, one at a time; `fork` gives a second one. The clock is virtual: delays take no real time.

    `max_calls` and `max_seconds` (of world time) truncate an episode. `wait_tool` adds a tool by which the agent lets
    world time pass. `trust`: all documents, or those in files and folders. Raises `UsageError` or `DocumentError` if
    the scenario cannot be used.
    """

    def __init__(
        self,
        scenario: str | Path,
        *,
        world_model: str | None = None,
        trust: bool | Iterable[Path] = False,
        max_calls: int | None = 100,
        max_seconds: float | None = None,
        wait_tool: bool = False,
    ) -> None:
        self._simulator = shared_simulator(scenario, world_model, trust=trust)
        self._max_calls, self._max_seconds, self._waits = max_calls, max_seconds, wait_tool
        for name, limit in (("max_calls", max_calls), ("max_seconds", max_seconds)):
            if limit is not None and limit <= 0:
                raise UsageError(f"{name}: expected a number above 0, or None for no limit, got {limit!r}")
        domain = self._simulator.scenario.domain
        if wait_tool and WAIT["name"] in domain.tools:
            raise UsageError(f"the scenario has a tool {WAIT['name']!r} already; leave out wait_tool")
        self._names, self._ids = names_and_ids(tuple(domain.tools))
        self._lock = threading.RLock()
        self._world: World | None = None
        self.crashes = 0
        """How many episodes mcp-sim has crashed in."""
        self._begin()

    def _begin(self) -> None:
        self.calls = self.malformed = 0
        self.crash = ""
        self.answer: str | None = None
        self._ended: StepResult | None = None
        # As JSON: as objects, the messages of twenty calls take as much memory as their world.
        self._messages = list[bytes]()

    # the course of an episode

    def reset(
        self,
        *,
        seed: int | None = None,
        stream: str = "",
        intensity: float | None = None,
        faults: bool | Sequence[Record] = True,
    ) -> str:
        """Begin a new episode, and return its task.

        The same parameters begin the same world with the same faults: `stream` names another series of draws.
        `intensity` and `faults` are those of `Simulator.world`. Raises `UsageError`, `DocumentError`.
        """
        try:
            seed = None if seed is None else index(seed)
        except TypeError:
            raise UsageError(f"seed: expected a whole number or None, got {seed!r}") from None
        with self._lock:
            self._world = self._simulator.world(
                "episode", seed=seed, stream=stream, clock="virtual", intensity=intensity, faults=faults
            )
            self._begin()
            self._messages.append(encode({"role": "user", "content": self.task}))
            return self.task

    def step(self, action: Action) -> StepResult:
        """Take a turn: calls, made in their order, or the final answer, or an assistant message with either.

        What cannot be parsed is an observation. Raises `EpisodeOver`, `NotBegun`, and `UsageError` for other values.
        """
        with self._lock:
            messages = list[ToolMessage]()
            turn = self._parsed(action, messages)
            for call in turn.calls:
                if not self._is_over:
                    messages.append(self._made(call))
            return self._finished(turn, messages)

    async def astep(self, action: Action) -> StepResult:
        """Take a turn like `step`, in an event loop. Other tasks run while a call waits."""
        messages = list[ToolMessage]()
        turn = self._parsed(action, messages)
        for call in turn.calls:
            if not self._is_over:
                messages.append(await self._made_in_loop(call))
        return self._finished(turn, messages)

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Make one call and return its text, for trainers whose tools are functions."""
        return self.step(ToolCall(name, arguments)).messages[0].text

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self._ended is not None

    @property
    def task(self) -> str:
        """The task of the scenario."""
        return self._simulator.scenario.task

    @property
    def world(self) -> World:
        """The world of the episode. Raises `NotBegun`."""
        if self._world is None:
            raise NotBegun
        return self._world

    def tools(self, form: Form = "openai") -> list[Record]:
        """Return the tools as the world lists them now, before the first episode as its scenario does."""
        world = self._world or self._simulator.world("listing", clock="virtual")
        listed = [
            (self._names.get(tool.id, tool.name), definition_of(tool))
            for server in world.scenario.servers
            for tool in world.catalogue(server)
        ]
        return in_form([*listed, (WAIT["name"], WAIT)] if self._waits else listed, form)

    # its end

    def grade(self) -> Grade:
        """Return the verdicts on the episode as it is now. Raises `NotBegun`."""
        return self.world.grade(self.answer)

    def reward(self) -> float | None:
        """Return the reward, 0 to 1; None if mcp-sim crashed: leave such an episode out. Raises `NotBegun`."""
        return None if self.crash else self.grade().reward

    def trajectory(self) -> Record:
        """Return the episode as a row of chat data, with its reward, verdicts, faults and provenance beside."""
        world = self.world
        messages = [*map(decode, self._messages)]
        return chat_row(messages, self.tools(), self.grade(), world.scenario, world.ledger.steps, self.crash)

    def fork(self, stream: str | None = None) -> Environment:
        """Return a second environment that continues the same episode. With a `stream`, its draws differ."""
        with self._lock:
            twin = copy(self)
            twin._lock, twin._messages, twin.crashes = threading.RLock(), [*self._messages], 0  # noqa: SLF001 (its own)
            twin._world = self.world.fork(stream=stream)  # noqa: SLF001 (its own)
            return twin

    def close(self) -> None:
        """Drop the world. `reset` begins the next episode."""
        with self._lock:
            self._world = None
            self._begin()

    # one turn

    @property
    def _is_over(self) -> bool:
        return bool(self.crash) or self._is_beyond_limits

    @property
    def _is_beyond_limits(self) -> bool:
        if self._max_calls is not None and self.calls >= self._max_calls:
            return True
        return self._max_seconds is not None and self.world.clock.elapsed().total_seconds() >= self._max_seconds

    def _parsed(self, action: Action, messages: list[ToolMessage]) -> Turn:
        """Return the parts of an action; of one that cannot be parsed none, with a message about it."""
        if self._ended is not None:
            raise EpisodeOver
        self.world  # noqa: B018 (raises before an episode has begun)
        try:
            turn = parse(action, self.calls + 1)
        except Unparseable as problem:
            turn = Turn((), None, {"role": "assistant", "content": ""})
            messages.append(self._refused(ToolCall(""), str(problem)))
        self._messages.append(encode(turn.message))
        return turn

    def _finished(self, turn: Turn, messages: list[ToolMessage]) -> StepResult:
        """End the episode if the turn ends it; return the result of the turn."""
        self._messages += [encode(message.to_json()) for message in messages]
        if turn.answer is not None:
            self.answer = turn.answer
            self.world.submit(turn.answer)
        result = StepResult(messages, None, bool(self.crash) or turn.answer is not None)
        result.truncated = not result.terminated and self._is_beyond_limits
        if result.done:
            self._ended = result
            result.reward = self.reward()
            grade = self.grade()
            about = {"outcome": grade.outcome, "reward_guessed": grade.reward_guessed}
            result.info = {"crash": self.crash} if self.crash else about
        return result

    def _made(self, call: ToolCall) -> ToolMessage:
        if self._waits and call.name == WAIT["name"]:
            return self._waited(call)
        try:
            return self._seen(call, self.world.call_sync(self._ids.get(call.name, call.name), arguments_of(call)))
        except (Unparseable, BadArguments, InputRequired, Crash) as problem:
            return self._failed(call, problem)

    async def _made_in_loop(self, call: ToolCall) -> ToolMessage:
        if self._waits and call.name == WAIT["name"]:
            return self._waited(call)
        try:
            tool, arguments, world = self._ids.get(call.name, call.name), arguments_of(call), self.world
            observation = world.call_at_once(tool, arguments)
            # In the loop of mcp-sim, where world models are bound: connections cannot be used in several loops.
            return self._seen(call, await begin(world.call(tool, arguments)) if observation is None else observation)
        except (Unparseable, BadArguments, InputRequired, Crash) as problem:
            return self._failed(call, problem)

    def _seen(self, call: ToolCall, observation: Observation) -> ToolMessage:
        self.calls += 1
        return ToolMessage(observation.text, observation.is_error, call.name, call.id)

    def _refused(self, call: ToolCall, problem: str) -> ToolMessage:
        self.calls += 1
        self.malformed += 1
        return ToolMessage(problem, True, call.name, call.id, is_parsed=False)

    def _failed(self, call: ToolCall, problem: Exception) -> ToolMessage:
        """Return what the agent reads of a call that could not be made; after a crash, nothing."""
        if not isinstance(problem, Crash):
            return self._refused(call, str(problem))
        self.crash = str(problem)
        self.crashes += 1
        return ToolMessage("", True, call.name, call.id)

    def _waited(self, call: ToolCall) -> ToolMessage:
        try:
            seconds: Any = arguments_of(call).get("seconds")
        except Unparseable as problem:
            return self._refused(call, str(problem))
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not is_number or not 0 <= seconds <= LONGEST_WAIT:
            return self._refused(call, f"Error: seconds must be a number from 0 to {LONGEST_WAIT:g}")
        self.calls += 1
        advance(self.world, timedelta(seconds=seconds), ACTOR)
        return ToolMessage(f"Waited {seconds:g} seconds.", False, call.name, call.id)
