"""The requests and answers of the control plane. The same models validate them and make the OpenAPI document."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from mcp_sim.libraries.screens.person import FormOfScreen
from mcp_sim.types.clock import Mode
from mcp_sim.types.grades import Exercised
from mcp_sim.types.options import PositiveDuration
from mcp_sim.world.steering import MOST_INJECTED

DEFAULT_ACTOR = "control"

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")]
Actor: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Values: TypeAlias = dict[str, Any]
KeyValue: TypeAlias = Annotated[str, StringConstraints(max_length=10_000)] | Annotated[int, Field(strict=True)]


class Model(BaseModel):
    """A body. Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


# refusals -------------------------------------------------------------------------------------------------------------


class Located(Model):
    """A problem of a request, and its place there."""

    path: str
    message: str


class ErrorBody(Model):
    message: str
    problems: list[Located] = []


class Refused(Model):
    """The body of every response with a status from 400 on."""

    error: ErrorBody


# requests -------------------------------------------------------------------------------------------------------------


class Act(Model):
    """What is done to a world."""

    actor: Actor = Field(default=DEFAULT_ACTOR, description="Who does it; the ledger names them.")


class NewWorld(Model):
    """A world to create."""

    name: Name | None = Field(default=None, description="Default: a new name.")
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63, description="Default: that of the server.")
    stream: Annotated[str, StringConstraints(max_length=1000)] = Field(
        default="", description="A name for an independent series of draws."
    )
    clock: Mode | None = Field(default=None, description="Default: that of the server.")
    intensity: float | None = Field(
        default=None, ge=0, le=1, description="Scales the faults. Default: that of the scenario."
    )
    faults: StrictBool | Annotated[list[Values], Field(max_length=MOST_INJECTED)] = Field(
        default=True,
        description="`false` silences the faults of the scenario. A list adds faults, as entries of `perturbations`.",
    )


class NewFault(Act):
    """A fault to add."""

    fault: Values = Field(description="As an entry of `perturbations` in a scenario.")


class Switch(Act):
    """Whether a fault is enabled."""

    enabled: bool


class Advance(Act):
    """How far a virtual clock is advanced."""

    by: PositiveDuration = Field(description="A duration: 250ms, 30s, 5m, 2h, 1d.")


class Insert(Model):
    """A record to create. Fields that are not given are generated."""

    do: Literal["insert"]
    entity: str
    values: Values = {}


class Edit(Model):
    """Fields of a record to write."""

    do: Literal["edit"]
    entity: str
    key: KeyValue
    values: Values = Field(min_length=1)


class Delete(Model):
    """A record to delete."""

    do: Literal["delete"]
    entity: str
    key: KeyValue


RecordChange: TypeAlias = Annotated[Insert | Edit | Delete, Field(discriminator="do")]


class Changes(Act):
    """Changes of records by another actor: all of them or none."""

    changes: list[RecordChange] = Field(min_length=1, max_length=1000)


class ActorCall(Act):
    """A call of a tool by someone other than the agent: no fault applies, and its changes are theirs."""

    tool: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    arguments: Values = {}


class Answer(Act):
    """The final answer of the agent."""

    answer: str


class ForkRequest(Act):
    """A world to create from another one as it is now."""

    name: Name | None = Field(default=None, description="Default: a new name.")
    stream: Annotated[str, StringConstraints(max_length=1000)] | None = Field(
        default=None, description="Independent draws. Default: the same draws as its parent."
    )


class NewSnapshot(Model):
    """A snapshot to take."""

    name: Name | None = Field(default=None, description="Default: a new name.")


class Restore(Act):
    """A snapshot to return to."""

    snapshot: str


# queries --------------------------------------------------------------------------------------------------------------

MOST_ROWS = 1000  # more are read page by page, so that the calls of agents come between

Offset: TypeAlias = Annotated[int, Field(ge=0, le=2**53, description="How many to skip.")]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=MOST_ROWS, description="How many to return at most.")]
Step: TypeAlias = Annotated[
    int | None, Field(ge=1, le=2**53, description="As they were after this step of the ledger, default: as they are.")
]


class Page(Model):
    """A part of a list."""

    offset: Offset = 0
    limit: Limit = 100


class RecordQuery(Page):
    """Which records are read."""

    entity: str
    key: str | None = Field(default=None, description="Only the record with this key.")
    step: Step = None


class ScreenQuery(Model):
    """Which screens are read."""

    step: Step = None
    form: FormOfScreen = Field(
        default="html", description="HTML that only shows, or the lines of Playwright's server or of BrowserGym."
    )


class GradeQuery(Model):
    """How a world is graded."""

    strict: bool = Field(default=False, description="Whether a verdict that rests on a guess is inconclusive.")
    exercised: Exercised = Field(
        default="require", description="`ignore`: a run that no fault was applied to is graded like any other."
    )


class LedgerQuery(Model):
    """Which entries of a ledger are read."""

    after: int = Field(default=0, ge=0, le=2**53, description="Only entries with a greater number.")
    limit: Limit = 100


class StreamQuery(Model):
    """Where a stream of a ledger begins."""

    after: int = Field(
        default=0,
        ge=0,
        le=2**53,
        description="Only entries with a greater number. The header Last-Event-ID does the same.",
    )


class CompareQuery(Model):
    """How two worlds are compared."""

    other: str = Field(description="The name of the other world.")
    limit: Limit = 100


# answers --------------------------------------------------------------------------------------------------------------


class Gesture(Model):
    """A tool that acts on a screen."""

    tool: str
    arguments: list[str] = Field(description="The arguments for the reference of an element, and for what is entered.")


class About(Model):
    """The scenario that is served."""

    name: str
    sha256: str
    task: str
    seed: int
    servers: dict[str, list[str]] = Field(description="The tools of each server.")
    entities: list[str]
    expectations: list[str]
    gestures: dict[str, Gesture] = Field(description="The calls that a person makes by acting on a screen.")
    clock: Mode
    version: str


class WorldSummary(Model):
    """A world, briefly."""

    name: str
    seed: int
    stream: str
    calls: int = Field(description="How many calls it has answered.")
    steps: int = Field(description="The number of the newest step in its ledger.")
    entries: int = Field(description="The number of the newest entry, which counts crashes, forks and answers, too.")
    now: datetime
    parent: str | None = Field(default=None, description="The world that it was forked from.")
    crashed: str = ""


class WorldList(Model):
    worlds: list[WorldSummary]
    total: int


class ClockState(Model):
    mode: Mode
    start: datetime
    now: datetime
    elapsed_ms: float


class Fault(Model):
    """A fault of a world as it is now."""

    id: str
    kind: str
    tools: list[str]
    when: str
    visible: str
    enabled: bool
    injected: bool
    applied: bool = Field(description="Whether it was applied, or in force, since the world's start.")


class SnapshotState(Model):
    name: str
    step: int
    now: datetime


class WorldState(WorldSummary):
    """A world: its records, faults, clock and snapshots."""

    clock: ClockState
    records: dict[str, int] = Field(description="The number of records of each entity.")
    faults: list[Fault]
    snapshots: list[SnapshotState]
    answer: str | None
    bytes: int = Field(description="About how much memory it holds that no other world holds.")


class StoredRecord(Model):
    key: str | int
    version: int = Field(description="How often it was written since the world's start.")
    record: Values


class RecordList(Model):
    records: list[StoredRecord]
    total: int
    next: int | None = Field(description="The offset of the next page.")


class RecordDifference(Model):
    """A record that differs between two worlds, null where it does not exist, and the fields that differ."""

    entity: str
    key: str | int
    a: Values | None
    b: Values | None
    fields: list[str]


class Comparison(Model):
    """The differences of two worlds, A and B."""

    equal: bool
    differences: list[RecordDifference]
    more: bool = Field(description="Whether there are more differences than the limit.")
    common_steps: int = Field(description="How many steps, from the oldest that both keep, are the same.")


class LedgerEntry(Model):
    number: int
    entry: Values = Field(description="As a line of a trace.")


class LedgerPage(Model):
    entries: list[LedgerEntry]
    oldest: int = Field(description="The number of the oldest entry that is kept.")
    newest: int


class Identified(Model):
    """The id of what was made."""

    id: str


class CallAnswer(Model):
    """What a tool answered."""

    observation: Values = Field(description="As in a trace.")


class Changed(Model):
    """The keys of the records that were written, in the order of the changes."""

    keys: list[str | int]
