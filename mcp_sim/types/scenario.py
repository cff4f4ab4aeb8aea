"""A loaded scenario: tools, world, world models, perturbations, expectations, seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.clock import DEFAULT_NOW, Mode
from mcp_sim.types.conditions import Matcher
from mcp_sim.types.domain import Domain, Example
from mcp_sim.types.errors import Problem
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Expectation, Perturbation, Trigger, WorldModel
from mcp_sim.types.oauth import OAuth
from mcp_sim.types.options import Count, Duration, Part, Per, SpanText
from mcp_sim.types.plans import Plan
from mcp_sim.types.surface import Prompt, Resource, ToolInteraction
from mcp_sim.types.tools import in_reach


@frozen
class When:
    """A `when` mapping. All triggers and all nested mappings must hold.

    `any`, `all` and `none` (YAML: `not`) are nested mappings, each with its own counter.
    """

    triggers: tuple[Trigger, ...] = ()
    any: tuple[When, ...] = ()
    all: tuple[When, ...] = ()
    none: tuple[When, ...] = ()
    per: str | None = None
    """Splits the counter: by `tool`, `entity`, or `arguments.NAME`."""


class Fires(Part):
    """Limits on how often a perturbation is applied."""

    max: Count | None = Field(default=None, description="Largest number of times.")
    per: Per | None = Field(default=None, description="Count separately per tool, entity or arguments.NAME.")
    cooldown: SpanText | None = Field(default=None, description="Pause after each time.")

    @model_validator(mode="after")
    def _counts_something(self) -> Self:
        if self.per is not None and self.max is None:
            raise ValueError("per needs max, the limit for each")
        return self


@frozen
class PerturbationEntry:
    """One entry of `perturbations`."""

    id: str
    kind: str
    perturbation: Perturbation
    tools: tuple[str, ...] = ()
    """Globs; empty: every tool."""
    when: When = When()
    fires: Fires = Fires()
    visible: Literal["explicit", "implicit"] = "explicit"
    group: str | None = None
    enabled: bool = True


@frozen
class ExpectationEntry:
    """One entry of `expect`."""

    id: str
    kind: str
    expectation: Expectation
    weight: float = 1.0
    gate: bool = False
    """Whether nothing else counts if it fails."""
    optional: bool = False
    """Whether it is reported and not graded."""
    message: str = ""
    """What it means if it fails."""


@frozen
class WorldModelEntry:
    """A world model, and the tools that it answers. The first entry that matches answers."""

    world_model: WorldModel
    kind: str
    tools: tuple[str, ...] = ()
    """Globs; empty: every tool."""
    only: Literal["reads", "writes"] | None = None
    """Whether it answers only tools that certainly read, or only the others; None: both."""
    passes_on: bool = False
    """Whether what it cannot answer goes to the next entry."""

    def answers(self, tool: Tool, domain: Domain) -> bool:
        """Whether it answers the calls of a tool."""
        if not in_reach(self.tools, tool):
            return False
        return self.only is None or (self.only == "reads") == domain.only_reads(tool)


def route(entries: Sequence[WorldModelEntry], tool: Tool, domain: Domain) -> tuple[WorldModelEntry, ...]:
    """Return the entries that answer a tool, in their order: each but the last passes on what it cannot answer."""
    chain = list[WorldModelEntry]()
    for entry in entries:
        if entry.answers(tool, domain):
            chain.append(entry)
            if not entry.passes_on:
                break
    return tuple(chain)


@frozen
class Stub:
    """A canned answer. The first stub whose tool (a glob) and arguments match answers in the world's step.

    Exactly one of `result`, `error` and `blocks` (templates of content blocks) is served.
    """

    tool: str
    arguments: Mapping[str, Matcher]
    result: Json = None
    error: str | None = None
    blocks: tuple[Record, ...] = ()


@frozen
class GivenRecords:
    """Records of one entity: the given `rows`, then generated ones up to `count` in all."""

    count: int
    rows: tuple[Record, ...] = ()
    whole: bool = False
    """Whether the rows are complete as given; otherwise the generator completes them."""


class ClockSettings(Part):
    """How the world's time passes."""

    mode: Mode | None = Field(
        default=None, description="virtual: delays take no real time; real: they do. Default: set by the command."
    )
    per_call: Duration = Field(
        default=timedelta(seconds=1), description="Time by which each call advances the virtual clock."
    )
    speed: float = Field(default=1.0, gt=0, description="Speed of the real clock, as a multiple of real time.")


@frozen
class ServerSpec:
    """One impersonated server."""

    name: str
    tools: tuple[str, ...]
    """The ids of its tools, in the order of tools/list."""
    version: str = "1.0.0"
    title: str | None = None
    instructions: str | None = None
    unknown_tool: Literal["rpc", "is_error"] = "rpc"
    """Whether calls of unknown tools are answered with a JSON-RPC error or an isError result."""
    arguments: Literal["strict", "lenient"] = "strict"
    """Whether texts that spell the values of the inputSchema are refused, or accepted as these values."""
    description: str | None = None
    website: str | None = None
    icons: tuple[Record, ...] = ()
    """In the protocol's form."""
    page_size: int | None = None
    """How many tools, resources or prompts one page of a list has; None: all."""
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    capabilities: frozenset[str] = frozenset()
    """What it has besides, through its world models: `resources`, `prompts`, `completions`, `logging`."""


@frozen
class Presented:
    """What a client of a server sees before it calls a tool."""

    spec: ServerSpec
    tools: Sequence[Tool]
    interactions: Mapping[str, ToolInteraction]
    is_final: bool = True
    """Whether the tools are listed as they are. If not, what is not compiled yet may change the list."""


@frozen
class Scenario:
    """A scenario with everything it refers to resolved."""

    name: str
    domain: Domain
    servers: Mapping[str, ServerSpec]
    world_models: tuple[WorldModelEntry, ...]
    path: str = ""
    sha256: str = ""
    """Over the bytes of all its documents."""
    files: tuple[Path, ...] = ()
    """Its documents."""
    warnings: tuple[Problem, ...] = ()
    """The warnings about its documents."""
    untrusted: tuple[Problem, ...] = ()
    """What its documents would do and the user has not trusted them to do. Worlds are not opened with it."""
    relying: tuple[str, ...] = ()
    """Those of its documents that do what needs the user's trust, for commands that repeat a run."""
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
    """By tool id: how tools interact with the client beyond returning a result."""
    intensity: float = 1.0
    has_faults: bool = True
    """False where the faults are silenced, to compare with runs that have them."""
    advertise_output_schema: Literal["auto", "always", "never"] = "auto"
    auth: OAuth | None = None
    """How clients log in over HTTP; None: as the options of the server say."""

    @property
    def reads_past_versions(self) -> bool:
        """Whether a perturbation reads older versions of the state."""
        return any(entry.enabled and entry.perturbation.reads_past_versions for entry in self.perturbations)

    def listed(self, tool: Tool) -> Tool:
        """Return the tool as it is listed: without outputSchema if what is served may not fit it (`auto`).

        Clients validate results against the listed schema, and reject results that the agent should see.
        """
        if tool.output_schema is None or self.advertise_output_schema == "always":
            return tool
        if self.advertise_output_schema == "auto" and not any(
            entry.enabled and in_reach(entry.tools, tool) and not entry.perturbation.keeps_schema(tool, self.domain)
            for entry in self.perturbations
        ):
            return tool
        kept = {name: value for name, value in tool.definition.items() if name != "outputSchema"}
        return replace(tool, definition=kept)

    @property
    def guesses(self) -> list[Plan]:
        """The plans that are guesses and answer calls: no stub takes all of them."""
        canned = tuple(stub.tool for stub in self.stubs if not stub.arguments)
        plans = [plan for plan in self.domain.plans.values() if plan.guessed]
        return [plan for plan in plans if not (canned and in_reach(canned, self.domain.tools[plan.tool]))]
