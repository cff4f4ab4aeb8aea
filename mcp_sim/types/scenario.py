"""A scenario, loaded: tools, world, world model, perturbations, expectations, seed. `documents` makes it from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.clock import DEFAULT_NOW, Mode
from mcp_sim.types.conditions import Matcher
from mcp_sim.types.domain import Domain, Example
from mcp_sim.types.errors import Problem
from mcp_sim.types.kinds import Expectation, Perturbation, Trigger, WorldModel
from mcp_sim.types.options import Span
from mcp_sim.types.plans import Plan
from mcp_sim.types.surface import Prompt, Resource, ToolInteraction


@dataclass(frozen=True, slots=True)
class When:
    """A `when` mapping: all triggers and all nested mappings must hold.

    `any`, `all` and `none` (YAML: `not`) hold nested mappings, each with its own counter. `per` splits the counter:
    `tool`, `entity`, or `arguments.NAME`.
    """

    triggers: tuple[Trigger, ...] = ()
    any: tuple[When, ...] = ()
    all: tuple[When, ...] = ()
    none: tuple[When, ...] = ()
    per: str | None = None


@dataclass(frozen=True, slots=True)
class Fires:
    """How often a perturbation is applied at most (None: no bound), per what, and how long it rests after each."""

    max: int | None = None
    per: str | None = None
    cooldown: Span | None = None


@dataclass(frozen=True, slots=True)
class PerturbationEntry:
    """One entry of `perturbations`. `tools` are globs; empty: every tool."""

    id: str
    kind: str
    perturbation: Perturbation
    tools: tuple[str, ...] = ()
    when: When = When()
    fires: Fires = Fires()
    visible: Literal["explicit", "implicit"] = "explicit"
    group: str | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class ExpectationEntry:
    """One entry of `expect`. `gate`: if it fails, nothing else counts; `optional`: reported, not graded."""

    id: str
    kind: str
    expectation: Expectation
    weight: float = 1.0
    gate: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class WorldModelEntry:
    """Who answers which tools (globs; empty: every tool). The first entry that matches answers."""

    world_model: WorldModel
    kind: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stub:
    """A canned answer: the first stub whose tool (glob) and arguments match answers in the world's step.

    Exactly one of `result`, `error` and `blocks` (content blocks, as templates) is served.
    """

    tool: str
    arguments: Mapping[str, Matcher]
    result: Json = None
    error: str | None = None
    blocks: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenRecords:
    """Records of one entity: `rows` as given (completed by the generator), then generated ones up to `count` in all.

    `whole` rows are complete as they are given.
    """

    count: int
    rows: tuple[Record, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ClockSettings:
    """`mode` None: the command's default. `per_call` is how far the virtual clock moves at each call."""

    mode: Mode | None = None
    per_call: timedelta = timedelta(seconds=1)
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One impersonated server: what it calls itself, and the ids of its tools in the order they are listed.

    `unknown_tool`: how a tool that does not exist is answered, as a JSON-RPC error or as an isError result.
    `page_size`: how many tools, resources or prompts are listed at once (None: all). `icons` have the protocol's form.
    """

    name: str
    tools: tuple[str, ...]
    version: str = "1.0.0"
    title: str | None = None
    instructions: str | None = None
    unknown_tool: Literal["rpc", "is_error"] = "rpc"
    description: str | None = None
    website: str | None = None
    icons: tuple[Record, ...] = ()
    page_size: int | None = None
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario with everything it refers to resolved. `sha256` is over the bytes of all its documents.

    `files` are these documents, and `warnings` what is doubtful in them.

    `interactions` holds how tools ask, tell and answer, by tool id, for those that do more than return a result.
    """

    name: str
    domain: Domain
    servers: Mapping[str, ServerSpec]
    world_models: tuple[WorldModelEntry, ...]
    path: str = ""
    sha256: str = ""
    files: tuple[Path, ...] = ()
    warnings: tuple[Problem, ...] = ()
    task: str = ""
    seed: int = 0
    records: Mapping[str, GivenRecords] = field(default_factory=dict[str, GivenRecords])
    now: datetime = DEFAULT_NOW
    clock: ClockSettings = ClockSettings()
    perturbations: tuple[PerturbationEntry, ...] = ()
    expectations: tuple[ExpectationEntry, ...] = ()
    stubs: tuple[Stub, ...] = ()
    examples: tuple[Example, ...] = ()
    interactions: Mapping[str, ToolInteraction] = field(default_factory=dict[str, ToolInteraction])
    intensity: float = 1.0
    advertise_output_schema: Literal["auto", "always", "never"] = "auto"

    @property
    def reads_past_versions(self) -> bool:
        """Does a perturbation look at older versions of the state?"""
        return any(entry.enabled and entry.perturbation.reads_past_versions for entry in self.perturbations)

    def listed(self, tool: Tool) -> Tool:
        """The tool as it is listed: without outputSchema where what is served may not fit it (`auto`).

        Clients hold results to the schema that they were told, and refuse what the agent should see.
        """
        if tool.output_schema is None or self.advertise_output_schema == "always":
            return tool
        if self.advertise_output_schema == "auto" and not self._breaks_schema(tool):
            return tool
        kept = {name: value for name, value in tool.definition.items() if name != "outputSchema"}
        return replace(tool, definition=kept)

    def _breaks_schema(self, tool: Tool) -> bool:
        return any(
            entry.enabled and in_reach(entry.tools, tool) and not entry.perturbation.keeps_schema(tool, self.domain)
            for entry in self.perturbations
        )

    @property
    def guesses(self) -> list[Plan]:
        """The plans that are guesses, and by which calls are answered: no stub takes them all."""
        canned = tuple(stub.tool for stub in self.stubs if not stub.arguments)
        plans = [plan for plan in self.domain.plans.values() if plan.guessed]
        return [plan for plan in plans if not (canned and in_reach(canned, self.domain.tools[plan.tool]))]


def in_reach(globs: tuple[str, ...], tool: Tool) -> bool:
    """Do the globs (empty: every tool) match this tool, by its id or by its bare name?"""
    return not globs or any(fnmatchcase(tool.id, glob) or fnmatchcase(tool.name, glob) for glob in globs)
