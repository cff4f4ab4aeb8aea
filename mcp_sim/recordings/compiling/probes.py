"""Calls that try a server out: each tool with likely arguments, and what is wrong with the answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Literal

from mcp_sim.plans.infer.names import ParsedName, parse_tool_names
from mcp_sim.recordings.compiling.trial_arguments import ArgumentSets, KnownArguments
from mcp_sim.recordings.observed import Observed, observe, shortened
from mcp_sim.recordings.responders import answer_of
from mcp_sim.spec.sessions import Answer
from mcp_sim.types import Json, Record, Tool, View, frozen
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.plans import RECORDLESS, Plan
from mcp_sim.world.world import World

Kind = Literal["crash", "schema", "varies", "lifecycle", "resource", "defect", "advice"]
"""`resource` is about what resources show, which recorded calls do not show. `defect` and `advice` are for the
author, and no reason to drop a function. Advice may be wrong."""

INITIAL = "@initial"  # the tool of findings about the first records
MOST_CRASHES = 2  # after so many crashes a tool is called no more
_ROUNDS = 3  # how often tools that refuse everything are tried again, after others have succeeded
_ORDER = ("create", "list", "search", "get", "update", "compute", "unknown", "none", "delete")
_LONGEST_SHOWN = 300  # a complaint is read by a model together with all others


@frozen
class Finding:
    """Something that is wrong with the answers of a tool."""

    tool: str
    kind: Kind
    message: str


@frozen
class Example:
    """A call that did not fail."""

    arguments: Record
    answer: Answer
    view: View
    """The state before it."""


@dataclass
class Probe:
    """The calls to a world and its forks, and what was found."""

    world: World
    """Where tools have succeeded so far, but for those that delete."""
    domain: Domain
    known: KnownArguments
    lax: frozenset[str] = frozenset()
    """The tools whose outputSchema the real server violates."""
    answers: list[tuple[str, str, str, str]] = field(default_factory=list[tuple[str, str, str, str]])
    """Tool, arguments as JSON, the hash of the answer, and the answer shortened."""
    findings: list[Finding] = field(default_factory=list[Finding])
    checks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Tool -> what was checked."""
    succeeded: dict[str, Record] = field(default_factory=dict[str, Record])
    """Tool -> arguments with which it succeeded."""
    makers: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    """Entity -> the tools that have created a record of it."""
    examples: dict[str, Example] = field(default_factory=dict[str, "Example"])
    """Tool -> its first call that did not fail."""
    writers: set[str] = field(default_factory=set[str])
    """The tools that have written something, whatever their plans say."""
    refusals: dict[str, str] = field(default_factory=dict[str, str])
    """Tool -> a call that it has refused, the one that proves most."""
    _crashes: dict[str, int] = field(default_factory=dict[str, int])
    _is_artificial: bool = False

    def __post_init__(self) -> None:
        view = self.world.view
        self.filled = [
            name for name, entity in self.domain.entities.items() if view.count(name) and not entity.singleton
        ]
        """The entities that have records at the start."""

    async def run(self) -> None:
        """Call every tool until it succeeds, then with all of its arguments."""
        plans = sorted(self.domain.plans.values(), key=lambda plan: _ORDER.index(self.intent(plan)))
        for _ in range(_ROUNDS):
            before = len(self.succeeded)
            for plan in plans:
                if plan.tool not in self.succeeded:
                    await self.attempt(plan.tool, self._exercise(plan))
            if len(self.succeeded) == before:
                break
        for plan in plans:
            await self.attempt(plan.tool, self._call_with_all(plan))

    async def attempt(self, tool: str, trial: Awaitable[None]) -> None:
        """Await a trial of a tool. A failure of the trial itself is not held against the function."""
        try:
            await trial
        except Exception as error:  # noqa: BLE001 (the trial's own failure, whatever it is, says nothing of the function)
            self.checked(tool, f"a trial failed: {type(error).__name__}: {error}")

    async def _call_with_all(self, plan: Plan) -> None:
        """Call a tool with all of its arguments."""
        schema = expanded(self.domain.tools[plan.tool].input_schema)
        fixed = self.succeeded.get(plan.tool, {})
        arguments = self.arguments.complete(plan, schema, properties(schema), fixed, "all")
        if not Validator(schema).problems(arguments):
            await self.call(plan.tool, arguments, self.world.fork())

    def report_refusals(self) -> None:
        """Note which tools have refused every call: little was checked of them, and nothing is held against them."""
        for tool, refusal in self.refusals.items():
            if tool not in self.succeeded:
                self.checked(tool, "no call succeeded")
                self.note(tool, "advice", f"refused every call of the trial, such as: {refusal}")

    async def _exercise(self, plan: Plan) -> None:
        """Call a tool with one set of arguments after the other, until it succeeds."""
        for arguments in self.arguments.sets(plan, self.intent(plan)):
            world = self.world.fork()
            seen = await self.call(plan.tool, arguments, world)
            if seen is None:
                continue
            if not seen.failed or (self.intent(plan) in {"list", "search"} and not seen.is_error):
                self.succeeded[plan.tool] = arguments
                if self.intent(plan) != "delete":
                    self.world = world
                return
            call = f"{plan.tool}({short(arguments)})"
            self.refusals.setdefault(plan.tool, f"{call} answered {short(seen.value)}")

    async def call(self, tool: str, arguments: Record, world: World) -> Observed | None:
        """Return what the answer of a tool shows; None if it crashed, or has crashed too often."""
        if self._crashes.get(tool, 0) >= MOST_CRASHES:
            return None
        call = f"{tool}({short(arguments)})"
        self.checked(tool, "answers")
        view = world.view
        try:
            observation = await world.call(tool, arguments)
        except (Crash, BadArguments) as error:
            self._crashes[tool] = self._crashes.get(tool, 0) + (MOST_CRASHES if "did not end" in str(error) else 1)
            why = str(error).removeprefix(f"{tool}: ")
            if tool in self.lax:
                why += " (if the outputSchema is the reason: recorded answers violate it, so use @tool(conforms=False))"
            self.note(tool, "crash", f"{call} crashed: {why}; expected a result, or Refused")
            self.answers.append((tool, short(arguments), "crash", "crash"))
            return None
        answer = answer_of(observation)
        seen = observe(answer)
        shown = f"{'isError ' if seen.is_error else ''}{short(seen.value)}"
        digest = sha256(json.dumps(answer, sort_keys=True, default=str).encode()).hexdigest()
        self.answers.append((tool, short(arguments), digest, shown))
        self._check_schema(self.domain.tools[tool], call, answer)
        # Advice only: an agent sees answers, and real servers differ.
        measured: Record = world.ledger.newest.get("measured") or {}
        for finding in measured.get("findings") or ():
            self.note(tool, "advice", f"{call}: {finding}")
        step: Record = world.ledger.newest.get("step") or {}
        if step.get("committed"):
            self.writers.add(tool)
        if not seen.failed:
            self.examples.setdefault(tool, Example(arguments, answer, view))
        return seen

    @contextmanager
    def artificial(self) -> Generator[None]:
        """Take what is found for advice: it concerns records that the trial itself has made."""
        self._is_artificial = True
        yield
        self._is_artificial = False

    # what tools mean

    @cached_property
    def names(self) -> Mapping[str, ParsedName]:
        """What the names of tools say."""
        return parse_tool_names(self.domain.tools)

    def intent(self, plan: Plan) -> str:
        """Return the verb of a tool as its name has it; where that is open, as its function or plan has it."""
        parsed = self.names[plan.tool]
        return parsed.verb if parsed.sure and parsed.verb not in RECORDLESS else plan.verb

    @property
    def arguments(self) -> ArgumentSets:
        """Makes arguments from what is known now."""
        return ArgumentSets(self.domain, self.known, self.world.view)

    # checks of single answers

    def _check_schema(self, tool: Tool, call: str, answer: Answer) -> None:
        result: Record = answer.get("result") or {}
        schema = tool.output_schema
        if schema is None or tool.id in self.lax or result.get("isError") or not result:
            return
        self.checked(tool.id, "schema")
        if "structuredContent" not in result:
            missing = "has no structured content, but the tool has an outputSchema: return a value valid under it"
            self.note(tool.id, "schema", f"{call} {missing}")
            return
        problems = Validator(schema).problems(result["structuredContent"])
        if problems:
            shown = short(result["structuredContent"])
            wrong = "; ".join(problems[:3])
            self.note(tool.id, "schema", f"{call} answered {shown}, not valid under the outputSchema: {wrong}")

    def note(self, tool: str, kind: Kind, message: str) -> None:
        """Note what is wrong with a tool, once."""
        finding = Finding(tool, "advice" if self._is_artificial else kind, message)
        if finding not in self.findings:
            self.findings.append(finding)

    def checked(self, tool: str, what: str) -> None:
        """Note what was checked of a tool."""
        self.checks.setdefault(tool, set()).add(what)


def short(value: Json) -> str:
    """Return a value as JSON, shortened."""
    return shortened(value, _LONGEST_SHOWN)


def differences(value: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the tools and arguments of the first call of each tool that is answered differently in two runs.

    Which calls are made depends on the answers: what follows another call is not compared.
    """
    seen = set[str]()
    for (tool, arguments, answer, _), (second_tool, second_arguments, second, _) in zip(value, other, strict=False):
        if (tool, arguments) != (second_tool, second_arguments):
            return
        if answer != second and tool not in seen:
            seen.add(tool)
            yield tool, arguments
