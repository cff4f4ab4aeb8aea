"""One call of a tool: what it may read (its turn), what it does (its transition), and its entry in the ledger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Literal, Protocol, TypeAlias

from rpds import HashTrieMap

from mcp_sim.types.draws import SEPARATOR, Draws
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import Json, Key, Record
from mcp_sim.types.tools import Observation, Tool
from mcp_sim.types.views import Change, Due, View


class RequestingClient(Protocol):
    """The client that waits for the answer to a request. It exists only until then."""

    @property
    def meta(self) -> Record:
        """The `_meta` of the request, without what the protocol and mcp-sim put there."""
        ...

    @property
    def log_level(self) -> str | None:
        """The least severe log messages that it wants; None: no messages."""
        ...

    @property
    def wants_progress(self) -> bool: ...

    @property
    def repeats(self) -> Record:
        """Of a request that is repeated with answers to questions: `inputResponses` and `requestState`."""
        ...

    @property
    def is_asked_by_results(self) -> bool:
        """Whether questions are results, after which it repeats the request (`InputRequired`), not requests."""
        ...

    def can_answer(self, method: str, params: Record) -> bool:
        """Whether it has declared the capability for a question, a request such as `elicitation/create`."""
        ...

    async def ask(self, method: str, params: Record) -> Record | None:
        """Send a question, and return its result; None if the client cannot answer it."""
        ...

    async def notify(self, method: str, params: Record) -> None:
        """Send a notification that belongs to the request: `notifications/progress` or `notifications/message`."""
        ...


@frozen
class Request:
    """A request other than a call, such as `resources/read`."""

    method: str
    params: Record
    """Without `_meta`."""
    client: RequestingClient | None = None


UNABLE: Record = {"action": "unable"}
"""The answer instead of a client that lacks the capability to be asked."""

Outcome: TypeAlias = Literal["applied", "preempted", "no_effect", "capped"]
"""`preempted`: another perturbation answered first. `no_effect`: it found nothing to change. `capped`: `fires` is used
up."""

Kept: TypeAlias = Literal["", "truth", "served"]
"""Which answer of a call is kept under its idempotency key, if any."""


NESTED = 200
"""Characters of arguments from which on a `RecursionError` is their fault: texts may nest brackets or quotes deeply."""


def scope_of(tool: str, arguments: str) -> str:
    """Return the name of a call in draws and counters: the same for the same tool and equal arguments, as JSON."""
    return sha256(f"{tool}{SEPARATOR}{arguments}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(slots=True)
class Call:
    """One tool call as it came."""

    tool: str
    """The tool's id in the scenario: `server/name` where several servers are served."""
    arguments: dict[str, Json]
    answers: dict[str, Json] = field(default_factory=dict[str, Any])
    """The client's answers to the tool's questions, by name; UNABLE where it could not be asked."""
    key: str | None = None
    """The idempotency key: calls with the same key are made once."""
    caller: str = ""
    """The principal of the token that the client presented; '' without tokens."""
    client: RequestingClient | None = field(default=None, compare=False, repr=False)
    """Who waits for the answer; None in process."""


# memory ---------------------------------------------------------------------------------------------------------------


class Memory:
    """A persistent map for one owner (a perturbation's id, a world model) in one world, forked with the world.

    Writes are staged, and kept only if the call is committed. Values must be immutable.
    """

    __slots__ = ("_memories", "_owner")

    def __init__(self, memories: Memories, owner: str) -> None:
        self._memories = memories
        self._owner = owner

    def get(self, name: str, default: Any = None) -> Any:
        return self._memories.get((self._owner, name), default)

    def set(self, name: str, value: Any) -> None:
        self._memories.staged[(self._owner, name)] = value


class Memories:
    """All memories of a world during one call: what was `kept` before it, and what it has `staged`.

    `counts` are the counters of triggers, a list with one place for each: cheap to copy at every call. `shared` is
    what a world model remembers between several looks at the same call; it is never kept.
    """

    __slots__ = ("counts", "kept", "shared", "staged")

    def __init__(self, kept: HashTrieMap[tuple[str, str], Any], counts: Sequence[int] = ()) -> None:
        self.kept = kept
        self.staged: dict[tuple[str, str], Any] = {}
        self.counts = list(counts)
        self.shared: dict[str, Any] = {}

    def get(self, at: tuple[str, str], default: Any) -> Any:
        return self.staged[at] if at in self.staged else self.kept.get(at, default)

    def of(self, owner: str) -> Memory:
        return Memory(self, owner)

    @contextmanager
    def aside(self, staged: Mapping[tuple[str, str], Any]) -> Generator[None]:
        """Begin with what was `staged` at some point, and drop what is added: to ask the world again about a call."""
        kept, counts = self.staged, list(self.counts)
        self.staged = dict(staged)
        try:
            yield
        finally:
            self.staged, self.counts = kept, counts

    def committed(self) -> HashTrieMap[tuple[str, str], Any]:
        """Return the memories with what the call staged."""
        kept = self.kept
        for at, value in self.staged.items():
            kept = kept.insert(at, value)
        return kept


# what a call does -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Attempt:
    """A reply of a world model that could not be served: its text, and what is wrong with it."""

    raw: str
    problems: tuple[str, ...]


@dataclass(slots=True)
class Transition:
    """What a call does: its observation and its changes."""

    observation: Observation
    changes: tuple[Change, ...] = ()
    agenda: tuple[Due, ...] = ()
    """Changes that are committed later."""
    events: tuple[Due, ...] = ()
    """What others did right before the call. Each is committed as an event of its own, ahead of the call, whatever the
    agent is served; the call's changes are computed from the state after them."""
    absorbed: tuple[Change, ...] = ()
    """Records that the observation mentions for the first time; they exist from now on, if it is served."""
    guesses: tuple[str, ...] = ()
    """Why the answer rests on a guess; empty if it does not."""
    no_effect: frozenset[str] = frozenset()
    """The ids of perturbations that found nothing to change."""
    unchecked: frozenset[tuple[str, Key, str]] = frozenset()
    """Entity, key and field of the values that consistency checks skip, since nothing fixes them; field `*`: all."""
    obeyed: bool = False
    """Whether a language model followed the turn's instruction."""
    measured: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Real time, tokens and the like: not part of a run's identity."""
    source: str = ""
    """The kind of the world model that answered, where a scenario has others than the built-in one."""
    is_real: bool = False
    """Whether a real server gave the observation, now or when it was recorded. It is served as it is, unchecked."""
    wrote_outside: bool = False
    """Whether the call has, or may have, changed a real server."""
    repeats: int = 0
    """The number of the earlier call with the same idempotency key whose answer this is, or 0."""

    @property
    def guessed(self) -> bool:
        """Whether the answer rests on a guess."""
        return bool(self.guesses)

    def marked(self, *reasons: str) -> Transition:
        """Return the transition marked as a guess for these reasons, besides its own."""
        return replace(self, guesses=tuple(dict.fromkeys((*self.guesses, *reasons)))) if reasons else self


@dataclass(slots=True)
class KeptAnswer:
    """The answer to the first call under an idempotency key."""

    scope: str
    """The tool and the arguments of that call, hashed."""
    index: int
    """The number of that call in its world."""
    at: datetime
    observation: Observation


@dataclass(slots=True)
class PastCall:
    """An earlier call as later calls see it; an event has the tool ''."""

    index: int
    tool: str
    arguments: dict[str, Json]
    ok: bool
    at: datetime
    changes: tuple[Change, ...]
    """The changes that were committed, and after them the absorbed records."""
    absorbed: tuple[Change, ...] = ()
    """The records that the observation mentions for the first time."""


@dataclass(slots=True)
class PastVersion:
    """A version of the state, and the call (0 before the first) and the time since which it was the newest."""

    index: int
    at: datetime
    view: View


@dataclass(slots=True)
class Instruction:
    """What a language model is asked to make of the true answer.

    `problems` returns what an observation lacks of it, as sentences; empty if it follows the instruction. If the true
    answer lacks nothing either, this proves nothing: the model is asked which changes the instruction asks for.
    """

    text: str
    truth: Observation
    problems: Callable[[Observation], Sequence[str]]


# what a call reads ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Turn:
    """Everything that one call may read."""

    call: Call
    index: int
    """The number of the call in its world, from 1."""
    tool: Tool
    view: View
    start: datetime
    """When the world began, in world time."""
    now: datetime
    draws: Draws
    history: Sequence[PastCall]
    """The newest calls and events, oldest first."""
    memories: Memories
    owner: str = ""
    """Whose turn it is: the id of a perturbation; '' for the world."""
    versions: Sequence[PastVersion] = ()
    """The newest versions of the state, oldest first, including the present one. They are kept only if a perturbation
    of the scenario reads them (`reads_past_versions`)."""
    instruction: Instruction | None = None
    """For a language model."""
    problems: tuple[str, ...] = ()
    """Where the arguments violate the inputSchema, if the world model is to judge that."""
    is_real: bool = False
    """Whether the world's clock is real, so that the caller waits for the answer."""
    lost: frozenset[int] = frozenset()
    """The items of a batch, from 0, whose writes the backend loses (see `partial_batch`)."""
    size: int = 0
    """The number of characters of the call's arguments as JSON."""
    key: str = ""
    """The idempotency key among the arguments, hashed with the tool and the caller; '' without one."""
    kept: KeptAnswer | None = None
    """The answer that the world keeps under this key."""

    @property
    def memory(self) -> Memory:
        """The owner's own persistent map."""
        return self.memories.of(self.owner)

    def chance(self, purpose: str = "") -> float:
        """Return the owner's own number in [0, 1) for this call and purpose."""
        return self.draws.unit(f"{self.owner}/{purpose}")

    def wait(self, given: timedelta | None, usual: timedelta) -> timedelta:
        """Return how long the caller waits for a failure: as given, else as usual on a real clock, else not at all."""
        if given is not None:
            return given
        return usual if self.is_real else timedelta(0)

    def owned_by(self, owner: str) -> Turn:
        """Return the same turn for another perturbation."""
        return replace(self, owner=owner)

    def after(self, changes: Iterable[Change]) -> Turn:
        """Return the same call on the state as it would be after these changes."""
        return replace(self, view=self.view.after(changes))

    def by(self, actor: str, *changes: Change) -> Due:
        """Return what someone else did just now, as one of a transition's `events`."""
        return Due(self.now, actor, changes)

    def no_effect(self, transition: Transition) -> Transition:
        """Return the transition unchanged, with the note that the owner found nothing to change."""
        return replace(transition, no_effect=transition.no_effect | {self.owner})


Proceed: TypeAlias = Callable[[Turn], Awaitable[Transition]]
"""The rest of the pipeline, as a perturbation sees it."""


# the entry of a ledger ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Decision:
    """A perturbation that was decided for a call, its outcome, and why it was decided."""

    id: str
    kind: str
    outcome: Outcome
    why: str


@dataclass(slots=True)
class ConditionFailure:
    """A perturbation that was not decided because a condition of its `when` could not be evaluated, and why."""

    id: str
    kind: str
    why: str


@dataclass(slots=True)
class Step:
    """One entry of a ledger, as expectations and sinks see it. `trace` writes it as JSON."""

    n: int
    """Its number in the ledger, from 1."""
    entry: Literal["call", "event", "reset"]
    at: datetime
    index: int = 0
    tool: str = ""
    arguments: dict[str, Json] = field(default_factory=dict[str, Any])
    truth: Transition | None = None
    """The world model's transition for the unmodified call; None if it was not asked."""
    counterfactual: Transition | None = None
    """What the call would have done if no fault had answered instead of the world; None if no expectation compares the
    call with it, or if that is not known."""
    served: Observation | None = None
    """What the agent got."""
    before: View | None = None
    """The state that the changes were written to. No trace has it."""
    committed: tuple[Change, ...] = ()
    """The changes that were written."""
    absorbed: tuple[Change, ...] = ()
    """The records that the observation mentions for the first time."""
    guesses: tuple[str, ...] = ()
    """Why the answer rests on a guess; empty if it does not."""
    stub: bool = False
    """Whether a stub of the scenario answered."""
    keeps: Kept = ""
    """The answer that is kept under the call's idempotency key, or ''."""
    source: str = ""
    """The kind of the world model that answered, where a scenario has others than the built-in one."""
    perturbations: tuple[Decision, ...] = ()
    errors: tuple[ConditionFailure, ...] = ()
    answers: dict[str, Json] = field(default_factory=dict[str, Any])
    """As in the call."""
    caller: str = ""
    """As in the call."""
    actor: str = ""
    """Of an event."""
    steered: Record = field(default_factory=dict[str, Any])
    """Of an event: what the actor did to the world besides its records, as `{"inject": {...}}`, `{"enable": ID}`,
    `{"disable": ID}` or `{"advance_ms": ...}`."""
    opening: Record = field(default_factory=dict[str, Any])
    """Of a reset: seed, stream, clock, intensity."""

    @property
    def guessed(self) -> bool:
        """Whether the answer rests on a guess."""
        return bool(self.guesses)
