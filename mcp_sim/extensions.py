"""The families that can be extended: their base classes and registries.

A kind is a pydantic model whose fields are its YAML options and whose methods are its behaviour; its docstring is its
manual. Kinds are immutable and shared by all worlds: what a kind must remember stands in `turn.memory`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from math import ceil
from typing import Any, ClassVar, Literal, Protocol, Self, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mcp_sim.domain import Concealed, Domain, Entity, Example, Plan
from mcp_sim.draws import Draws
from mcp_sim.registry import Registry
from mcp_sim.stretches import Numbers, Stretch
from mcp_sim.types import Attempt, Change, Json, Key, Observation, Proceed, Record, Step, Tool, Transition, Turn, View

T = TypeVar("T")


class Kind(BaseModel):
    """A kind as a document writes it: `kind: {options}`; `kind:` has none, a scalar or list is the first field."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    takes_mapping: ClassVar[bool] = False
    """True where the first field is itself a mapping, so that `kind: {a: 1}` is that field and not the options."""

    @model_validator(mode="before")
    @classmethod
    def _from_shorthand(cls, value: Any) -> Any:
        if value is None:
            return {}
        if not isinstance(value, Mapping) or cls.takes_mapping:
            return {next(iter(cls.model_fields), "value"): cast("Any", value)}
        return cast("Mapping[str, Any]", value)

    severities: ClassVar[tuple[str, ...]] = ()
    """The options that say how bad it is: the less, the milder. They are scaled by a scenario's intensity."""

    def scaled(self, intensity: float) -> Self:
        """The same kind, milder: `intensity` is from 0 to 1."""
        found = {name: getattr(self, name) for name in self.severities}
        milder = {name: _milder(value, intensity) for name, value in found.items() if value is not None}
        return self.model_construct(self.model_fields_set, **{**dict(self), **milder}) if milder else self


def _milder(value: float | timedelta, intensity: float) -> float | timedelta:
    """A share of an amount; of whole things so many that it is at least the share."""
    return ceil(value * intensity) if isinstance(value, int) else value * intensity


# perturbations --------------------------------------------------------------------------------------------------------


class Stage(IntEnum):
    """Where in a call a perturbation stands. Outermost first: CATALOGUE, WORLD, TRANSPORT, ANSWER, COMMIT, BEFORE.

    CATALOGUE is for what changes the tools themselves: it lasts, once its `when` has held for a call, or as long as it
    holds where that looks at time alone. What stands further in sees the call as the tool was.
    WORLD is for what others do to the world before the call, which is then made on what they left.
    """

    BEFORE = 0
    COMMIT = 1
    ANSWER = 2
    TRANSPORT = 3
    WORLD = 4
    CATALOGUE = 5

    def depth(self, place: int) -> tuple[int, int]:
        """Sorts the innermost first, given the place in the file.

        Before (the last listed innermost), commit, answer, transport (the first listed innermost); outside of all
        stands what others do to the world (the last listed innermost).
        """
        return (self, -place if self in (Stage.BEFORE, Stage.WORLD) else place)


Apply: TypeAlias = Callable[[Turn, Proceed], Awaitable[Transition]]
"""What a perturbation does to the calls of one tool."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A time at which a perturbation acts by itself, and the world as it is then."""

    at: datetime
    view: View
    draws: Draws


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of a server as they would be listed, and the ids of those in a perturbation's reach."""

    tools: tuple[Tool, ...]
    server: str
    reach: frozenset[str]
    draws: Draws


class Perturbation(Kind):
    """Bends a call. What a subclass says in `apply` is done at the calls that its entry's `when` decides for.

    A `before` kind may answer without calling `proceed`, or change the turn's call and proceed. A `commit` kind bends
    the changes of what `proceed` returns, an `answer` kind its observation, a `transport` kind its delivery.
    A `world` kind proceeds with `turn.after(changes)` and adds them to the transition's `events`.
    """

    stage: ClassVar[Stage]

    visibility: ClassVar[Literal["explicit", "implicit"]] = "explicit"
    """Whether the agent gets a sign that something went wrong; an entry's `visible:` overrides it."""

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        """The bent transition. Return `turn.no_effect(transition)` where there is nothing to bend."""
        raise NotImplementedError

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        """What is done to the calls of one tool: `apply`, unless a kind must know more than the turn tells."""
        return self.apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """What makes these options impossible with the tools in reach; each is an error at load."""
        return ()

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        """The tools as they are listed while it is in force."""
        return listing.tools

    def announces(self) -> bool:
        """Are clients told when it comes into force, and when it no longer is?"""
        return False

    def answer_added(self, turn: Turn) -> Observation | None:
        """The answer of a tool that only its catalogue lists; None for any other tool."""
        return None

    def is_timed(self) -> bool:
        """Does it act by itself, at times of the world, instead of at calls?"""
        return False

    def occasions(self, start: datetime, after: datetime, until: datetime) -> Iterable[tuple[int, datetime]]:
        """When it acts, later than `after` and not later than `until`, in a world that began at `start`; numbered."""
        return ()

    def act(self, occasion: Occasion, domain: Domain) -> tuple[str, Sequence[Change]]:
        """Who does what then."""
        raise NotImplementedError

    looks_back: ClassVar[bool] = False
    """True where it looks at older versions of the state, `turn.versions`; the world keeps them then."""

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        """Does what is served of this tool still fit its outputSchema? Else the tool is listed without it."""
        return True

    def notifies(self) -> bool:
        """May it send notifications in the course of a call?"""
        return False

    def conceals(self, domain: Domain, tools: Sequence[Tool], *, always: bool) -> Sequence[Concealed]:
        """What of the records the agent may not see, with these tools in reach, so that no world model tells it.

        `always`: it applies to all their calls.
        """
        return ()

    def ends_calls(self) -> bool:
        """Does it answer every call that it is applied to, so that nothing further in is reached?"""
        return False

    def alters(self, tool: Tool) -> frozenset[str]:
        """What of a tool only one perturbation at a time can change; two that alter the same conflict."""
        return frozenset()

    def is_hostile(self) -> bool:
        """Does it try to turn the agent against its user? Then the scenario must say `allow_adversarial: true`."""
        return False

    def breaks(self) -> frozenset[str]:
        """How it may break a delivery, as `BrokenDelivery.how` names it; the transport must be able to."""
        return frozenset()


# triggers -------------------------------------------------------------------------------------------------------------

Check: TypeAlias = Callable[[Turn, int], bool]
"""Does it hold for this turn, which is the count-th (from 1) that passed the filters?"""


class Role(IntEnum):
    """When a trigger is looked at: filters first; counters see the calls that pass them; chance is drawn last."""

    FILTER = 0
    COUNTER = 1
    CHANCE = 2


class Trigger(Kind):
    """Decides whether a perturbation applies to a call. It never looks at other perturbations."""

    role: ClassVar[Role]

    is_clockwork: ClassVar[bool] = False
    """True where it looks at nothing but the time and the number of the world's calls."""

    carries: ClassVar[bool] = False
    """True where a decision that came to nothing (preempted, no_effect) is carried to the next call in question."""

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        """The check for one tool; `purpose` names this trigger's own draws."""
        raise NotImplementedError

    def why(self) -> str:
        """The options in few words, for the ledger: `nth 1`, `probability 0.25`."""
        raise NotImplementedError

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """What makes it impossible that this ever holds, or unclear what is meant; each is an error at load."""
        return ()

    def doubts(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """What is possible and hardly meant; each is a warning at load."""
        return ()

    def stretch(self, start: datetime) -> Stretch:
        """The part of a world's life, begun at `start`, outside of which it never holds."""
        return Stretch()

    def numbers(self) -> Numbers | None:
        """Of a counter: the numbers of the calls it holds for, where they are the same in every world."""
        return None


# expectations ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verdict:
    """`vacuous`: nothing happened that could have been judged; never counted as passed. `because` is for people."""

    outcome: Literal["passed", "failed", "vacuous"]
    because: str


class Expectation(Kind):
    """What the agent should have done, or left behind. Facts are immutable and forked with the world."""

    def facts(self) -> Any:
        """The facts before the first step."""
        return None

    def notice(self, facts: Any, step: Step, domain: Domain) -> Any:
        """The facts after one more step."""
        return facts

    def verdict(self, facts: Any, view: View, domain: Domain) -> Verdict:
        """The judgement at the end; an expectation that cannot be evaluated fails and says why."""
        raise NotImplementedError

    def problems(self, domain: Domain, perturbations: Sequence[str]) -> Sequence[str]:
        """Unknown tools, entities or perturbation ids; each is an error at load."""
        return ()


# world models ---------------------------------------------------------------------------------------------------------


class Predictor(Protocol):
    """A world model bound to one scenario."""

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        """What the call does. `rejected` are this call's earlier answers that could not be served.

        Raises Rejected where the model's answer is no observation at all (it may be asked again), any other exception
        where there is no use in asking again: that is a crash.
        """
        ...


class WorldModel(Kind):
    """Predicts the transition of a turn. `bind` is called once a scenario; what it enters lives as long as the run."""

    max_attempts: int = Field(default=1, description="How often one call is asked for before it is a crash.")
    fallback: Literal["builtin"] | None = Field(
        default=None, description="What answers after max_attempts, marked in the ledger; left out: a crash."
    )

    def bind(self, domain: Domain) -> AbstractAsyncContextManager[Predictor]:
        """The predictor for a scenario, entered when its first world opens, left when the simulator closes."""
        raise NotImplementedError


# behaviours -----------------------------------------------------------------------------------------------------------


class Invent(Protocol):
    """Fills in a field that neither the arguments nor the world determine."""

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        """A value for `field` of the record under way, valid under `schema`."""
        ...

    def refer(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        """Which of these records of `target` a reference leads to that nobody gave; the first is the world's choice."""
        ...


Answer: TypeAlias = Callable[[Turn, Invent], Transition]
"""What one tool does, compiled: a pure function of the turn, and of what `Invent` fills in."""


Tables: TypeAlias = Mapping[str, Mapping[Key, Record]]
"""Records by entity and key, in the order of creation."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of one server before anything is inferred: its tools by id, and the state that is given (or None).

    `examples` are recorded calls, `found` what `once` has found.
    """

    tools: Mapping[str, Tool]
    state: Json = None
    examples: Sequence[Example] = ()
    found: dict[Callable[..., Any], Any] = field(default_factory=dict[Callable[..., Any], Any])

    def once(self, find: Callable[[Iterable[Tool]], T]) -> T:
        """What these tools are found to be, found out once for all behaviours that ask."""
        if find not in self.found:
            self.found[find] = find(self.tools.values())
        return self.found[find]


@dataclass(frozen=True, slots=True)
class Claims:
    """The tools that a behaviour takes to be its own.

    `plans` say how it would answer them, and how sure it is: those that are a guess lose against any other claim, and
    against records. `entities` are what these tools work on, `records` what the given state holds of them, and `state`
    is what is left of the given state for others.
    """

    plans: Sequence[Plan] = ()
    entities: Sequence[Entity] = ()
    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, Sequence[Record]])
    state: Json = None


class Behaviour:
    """A way for tools to work on the world, chosen by a plan. It answers from the plan and the state alone.

    Whatever is not determined is asked of `Invent`, so that the built-in world model and a language model differ only
    in who fills the open fields.
    """

    def claims(self, survey: Survey) -> Claims | None:
        """The tools of a server that work this way, by the evidence of all of them together; None where none does.

        Evidence is names, schemas and descriptions, never one vendor's name. What is claimed surely (confidence at
        least 0.6) is not looked at by the inference of records.
        """
        return None

    def completed(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """The records that a world begins with, given and made up, and what these plans need beside them."""
        return tables

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """The closure that answers calls of this tool, by whoever may call it."""
        raise NotImplementedError

    def answering(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """The closure that answers calls of this tool; whoever must be logged in and is not is refused."""
        answer = self.compile(tool, plan, domain)
        if plan.login is None:
            return answer
        entity, _, field = plan.login.rpartition(".")

        def guarded(turn: Turn, invent: Invent) -> Transition:
            session = turn.view.get(entity, entity) or {}
            if session.get(field):
                return answer(turn, invent)
            told = "Not logged in. Please log in first."
            return Transition(tool.failure("unauthorized", told, **turn.call.arguments))

        return guarded


UNCLAIMING = frozenset({"python", "records", "schema_only"})
"""The behaviours of tools that nobody claims: inferred or said, and not loaded before a tool is called."""


# sinks ----------------------------------------------------------------------------------------------------------------


class Sink(Protocol):
    """Receives ledger entries as they are committed, as lines of a trace."""

    def write(self, line: bytes) -> None:
        """One JSON object, without the newline. On disk when it returns; raises Unwritable where it cannot be.

        An entry that one sink refuses is not committed: the call crashes.
        """
        ...

    def close(self) -> None: ...


# stores ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Saved:
    """How a world stands, as bytes that `keeping` reads; the revision counts up from 1."""

    revision: int
    standing: bytes


class Shelf(Protocol):
    """An open store. Who takes a world has the store alone, across processes, until it is put back or left."""

    def take(self, world: str) -> Saved | None:
        """The newest saved version of a world, None where there is none; waits while another process has it."""
        ...

    def lines(self, world: str, most: int) -> Sequence[bytes]:
        """The newest lines of the world's ledger, oldest first."""
        ...

    def put(self, world: str, saved: Saved, lines: Sequence[bytes]) -> None:
        """Keep a world as it stands now, and the lines that its ledger has more; both or, if it fails, none."""
        ...

    def leave(self) -> None:
        """Give a world back as it was."""
        ...


class Store(Kind):
    """Keeps worlds between processes."""

    def opened(self, identity: str) -> AbstractContextManager[Shelf]:
        """The store for one scenario, seed and version. Raises UsageError where it keeps worlds of another."""
        raise NotImplementedError


# importers ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Imported:
    """One server as an importer found it.

    `tools` is its list, untouched. `spec` holds what is known beside it, by the keys of a tool spec. `doubts` are
    sentences about what was not understood.
    """

    name: str
    tools: Sequence[Json]
    spec: Record = field(default_factory=dict[str, Any])
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreached:
    """A server of which no tools could be had, and why. The reason holds no secrets."""

    name: str
    reason: str


class Importer(Kind):
    """Makes tool specs of what is known elsewhere. The first field, `sources`, is what is imported."""

    sources: tuple[str, ...] = Field(min_length=1, description="What is imported.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        """The servers, in their order. Raises UsageError or DocumentError where there is nothing to import."""
        raise NotImplementedError


COMMON_PERTURBATION_KEYS = frozenset({"id", "tools", "when", "fires", "visible", "group", "enabled"})
COMMON_EXPECTATION_KEYS = frozenset({"id", "weight", "gate", "optional"})
COMMON_WORLD_MODEL_KEYS = frozenset({"tools"})
COMBINATORS = frozenset({"any", "all", "not", "per"})

perturbations: Registry[Perturbation] = Registry("perturbations", Perturbation, COMMON_PERTURBATION_KEYS)
triggers: Registry[Trigger] = Registry("triggers", Trigger, COMBINATORS)
expectations: Registry[Expectation] = Registry("expectations", Expectation, COMMON_EXPECTATION_KEYS)
world_models: Registry[WorldModel] = Registry("world_models", WorldModel, COMMON_WORLD_MODEL_KEYS)
behaviours: Registry[Behaviour] = Registry("behaviours", Behaviour)
stores: Registry[Store] = Registry("stores", Store)
importers: Registry[Importer] = Registry("importers", Importer)

families: Mapping[str, Registry[Any]] = {
    registry.family: registry
    for registry in (perturbations, triggers, expectations, world_models, behaviours, stores, importers)
}
