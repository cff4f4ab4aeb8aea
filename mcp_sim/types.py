"""The words of one call: Call, Tool, View, Turn, Change, Observation, Transition.

Everything that decides takes a `Turn`; everything that acts returns a `Transition`; only the world writes state.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from operator import ge, gt, le, lt
from typing import Any, Literal, Protocol, TypeAlias

from rpds import HashTrieMap

from mcp_sim.draws import Draws
from mcp_sim.json_text import encode

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys. Never mutated once it is in a world."""

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as it came. `tool` is the tool's id in the scenario (`server/name` where several are served).

    `answers` is what the client answered to the tool's questions, by their names; UNABLE where it could not be asked.
    With an idempotency `key`, it is made once.
    """

    tool: str
    arguments: dict[str, Json]
    answers: dict[str, Json] = field(default_factory=dict[str, Any])
    key: str | None = None


UNABLE: Record = {"action": "unable"}
"""Stands for the answer of a client that lacks the capability to be asked."""


@dataclass(frozen=True, slots=True)
class Change:
    """One write to the state. `part`: the item of a batch; `expected`: the record version it was computed from.

    `reserve` writes no record: the key counts as used from now on, so that no other record gets it.
    """

    op: Literal["put", "remove", "reserve"]
    entity: str
    key: Key
    record: Record | None = None
    part: int | None = None
    expected: int | None = None

    def to_json(self) -> Record:
        """The form that a ledger keeps."""
        body: Record = {"op": self.op, "entity": self.entity, "key": self.key}
        if self.record is not None:
            body["record"] = self.record
        if self.part is not None:
            body["part"] = self.part
        return body

    @classmethod
    def from_json(cls, body: Record) -> Change:
        """The change that `to_json` wrote."""
        return cls(body["op"], body["entity"], body["key"], body.get("record"), body.get("part"))


@dataclass(frozen=True, slots=True)
class Due:
    """Changes by someone else than the agent, and the world time of which they are: on the agenda, or of an event.

    With `call`, they are due when the world's call of this index begins, whatever the time.
    """

    at: datetime
    actor: str
    changes: tuple[Change, ...]
    call: int | None = None


COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


@dataclass(frozen=True, slots=True)
class Bound:
    """How far a field may go: `op` is one of COMPARISONS.

    `measure` makes a number of a value; not-a-number, where it is none, is within no bound.
    """

    field: str
    op: str
    value: float
    measure: Callable[[Json], float]

    def holds(self, record: Record) -> bool:
        """Is the record within it?"""
        return bool(COMPARISONS[self.op](self.measure(record.get(self.field)), self.value))


class Written(Protocol):
    """A record as it was written (None: removed), and its place among those created since the world began.

    `born` is -1 where it has the place that it had at the beginning.
    """

    @property
    def record(self) -> Record | None: ...

    @property
    def born(self) -> int: ...


class View(Protocol):
    """A read-only version of a world's state. Iteration is always in the order of creation."""

    def get(self, entity: str, key: Key) -> Record | None:
        """The record, or None."""
        ...

    def version(self, entity: str, key: Key) -> int:
        """How many times the record was written since the world began (0: as generated, or absent)."""
        ...

    def rows(self, entity: str) -> Iterator[tuple[Key, Record]]:
        """All records of an entity."""
        ...

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        """The records whose field equals a value, by index; a path reaches into it (`address.city`, `items.*.sku`)."""
        ...

    def compare(self, entity: str, bounds: Sequence[Bound]) -> Sequence[tuple[Key, Record]]:
        """The records within all of these bounds."""
        ...

    def search(self, entity: str, fields: Sequence[str], words: Sequence[str]) -> Sequence[tuple[Key, Record]]:
        """The records in whose fields all of these words occur, each in one of them; in lower case, without spaces."""
        ...

    def count(self, entity: str) -> int:
        """How many records there are; O(1)."""
        ...

    def last_key(self, entity: str) -> Key | None:
        """The key most recently created, also when that record is gone: what the next id follows."""
        ...

    def some(self, entity: str, share: float) -> Key | None:
        """The key of a record that the share, in [0, 1), falls on; None where there is none. O(1)."""
        ...

    def entities(self) -> Sequence[str]:
        """The names of all entities."""
        ...

    def origin(self, entity: str) -> Mapping[Key, Record]:
        """The records that the world began with: one object for all worlds that begin alike."""
        ...

    def written(self, entity: str) -> Mapping[Key, Written]:
        """What was written since the world began, by key, in no particular order."""
        ...

    def after(self, changes: Iterable[Change]) -> View:
        """The state as it would be after these changes."""
        ...


@dataclass(frozen=True)
class ToolResult:
    """A result as MCP knows it: ONE value, from which text and structuredContent are both rendered.

    `form` says how it goes out: `structured` (the value as structuredContent, and its JSON as text), `json` (its JSON
    as text only), `text` (a string as text only), `blocks` (a list of MCP content blocks, passed on as they are).
    `text` replaces the rendered text where the two differ on purpose. A text that stands alone under `result`, as SDKs
    wrap what a tool returns, goes out bare.
    """

    value: Json
    form: Literal["structured", "json", "text", "blocks"] = "structured"
    is_error: bool = False
    text: str | None = None

    @cached_property
    def encoded(self) -> bytes:
        """The value as compact JSON: serialised once, for the wire and for the ledger."""
        return encode(self.value)

    @property
    def content(self) -> list[Record]:
        """The MCP content blocks: those given, or the value as one block of text."""
        if self.form == "blocks":
            return self.value
        return [{"type": "text", "text": self.text if self.text is not None else self._rendered}]

    @property
    def _rendered(self) -> str:
        match self.form, self.value:
            case "text", _:
                return self.value
            case "structured", {"result": str(text), **others} if not others:
                return text
            case _:
                return self.encoded.decode()


@dataclass(frozen=True, slots=True)
class RpcError:
    """A JSON-RPC error in place of a result."""

    code: int
    message: str
    data: Json = None


@dataclass(frozen=True, slots=True)
class BrokenDelivery:
    """No proper answer: `no_answer` (hangs), `closed`, `partial` (cut short), `http` (a status, no JSON-RPC).

    `garbled`: `body` comes where the message should. `ends_session`: the session of an older client ends with it.
    """

    how: Literal["no_answer", "closed", "partial", "http", "garbled"]
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""
    ends_session: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent gets for a call, when it gets it (`delay`, in world time), and what is sent beside it."""

    body: ToolResult | RpcError | BrokenDelivery
    delay: timedelta = timedelta(0)
    notifications: tuple[Record, ...] = ()

    @property
    def ok(self) -> bool:
        """True where the agent sees a success."""
        return isinstance(self.body, ToolResult) and not self.body.is_error


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer of a world model that could not be served: what it said, and what was wrong with it."""

    raw: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transition:
    """What a call does: its observation and its changes.

    `events` are what others did right before the call: each is committed as an event of its own, ahead of the call, and
    the call's changes are computed from the state after them. They stay whatever the agent is answered.
    `pins` are records that the observation tells of for the first time: they exist from now on, if it is served.
    `no_effect` holds the ids of perturbations that found nothing to bend. `measured` is not part of a run's identity.
    """

    observation: Observation
    changes: tuple[Change, ...] = ()
    agenda: tuple[Due, ...] = ()
    events: tuple[Due, ...] = ()
    pins: tuple[Change, ...] = ()
    guessed: bool = False
    no_effect: frozenset[str] = frozenset()
    obeyed: bool = False
    """True where a language model followed the turn's instruction."""
    measured: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Wording(Protocol):
    """How a vendor words a failure."""

    def __call__(self, kind: str, message: str, slots: Mapping[str, Json]) -> Observation: ...


def plain_failure(kind: str, message: str, slots: Mapping[str, Json]) -> Observation:  # noqa: ARG001 (a Wording)
    """A failure as most MCP servers tell it: isError with a sentence as text."""
    return Observation(ToolResult(message, form="text", is_error=True))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is served: its definition from tools/list, untouched, and how it fails.

    `id` is unique in a scenario: the name, or `server/name` where several servers are served.
    """

    id: str
    server: str
    definition: Record
    wording: Wording = plain_failure

    @property
    def name(self) -> str:
        return self.definition["name"]

    @property
    def input_schema(self) -> Record:
        return self.definition["inputSchema"]

    @property
    def output_schema(self) -> Record | None:
        return self.definition.get("outputSchema")

    @property
    def description(self) -> str:
        return self.definition.get("description") or ""

    @property
    def annotations(self) -> Record:
        return self.definition.get("annotations") or {}

    def failure(self, kind: str, message: str, /, **slots: Json) -> Observation:
        """An error observation in this tool's own style.

        `kind` (`not_found`, `invalid`, `timeout`, `rate_limited`, ...) chooses the vendor's wording, whose slots are
        filled from `slots`; where the vendor has none, `message` is what the agent reads.
        """
        return self.wording(kind, message, slots)


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier call, or event (tool ''), as later calls may look at it, and the changes that were committed."""

    index: int
    tool: str
    arguments: dict[str, Json]
    ok: bool
    at: datetime
    changes: tuple[Change, ...]


class Memory:
    """A persistent map for one owner (a perturbation's id, a world model) in one world, forked with the world.

    Writes are staged and kept only if the call is committed. Values must be immutable.
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
    """All memories of a world during one call: what was kept before it, and what it stages.

    `counts` are the counters of triggers, a list with one place for each: cheap to copy at every call.
    """

    __slots__ = ("counts", "kept", "staged")

    def __init__(self, kept: HashTrieMap[tuple[str, str], Any], counts: Sequence[int] = ()) -> None:
        self.kept = kept
        self.staged: dict[tuple[str, str], Any] = {}
        self.counts = list(counts)

    def get(self, at: tuple[str, str], default: Any) -> Any:
        return self.staged[at] if at in self.staged else self.kept.get(at, default)

    def of(self, owner: str) -> Memory:
        return Memory(self, owner)

    @contextmanager
    def aside(self, staged: Mapping[tuple[str, str], Any]) -> Generator[None]:
        """For asking the world again about one call: begin with what was `staged` then, and drop what is added."""
        kept, counts = self.staged, list(self.counts)
        self.staged = dict(staged)
        try:
            yield
        finally:
            self.staged, self.counts = kept, counts

    def committed(self) -> HashTrieMap[tuple[str, str], Any]:
        kept = self.kept
        for at, value in self.staged.items():
            kept = kept.insert(at, value)
        return kept


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a language model is asked to make of the true answer; `problems` says what a result lacks of it."""

    text: str
    problems: Callable[[Observation], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A version of the state, and the call (0: none) and the time since which it was the newest."""

    index: int
    at: datetime
    view: View


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that one call may look at. `index` counts the world's calls from 1; `owner` is whose turn it is.

    `versions` are the newest versions of the state, oldest first, the present one included; they are kept where a
    perturbation of the scenario looks back. `instruction` is for a language model.
    """

    call: Call
    index: int
    tool: Tool
    view: View
    start: datetime
    now: datetime
    draws: Draws
    history: Sequence[Past]
    memories: Memories
    owner: str = ""
    versions: Sequence[Seen] = ()
    instruction: Instruction | None = None

    @property
    def memory(self) -> Memory:
        """The owner's own persistent map."""
        return self.memories.of(self.owner)

    def chance(self, purpose: str = "") -> float:
        """The owner's own number in [0, 1) for this call."""
        return self.draws.unit(f"{self.owner}/{purpose}")

    def owned_by(self, owner: str) -> Turn:
        """The same turn through the eyes of another perturbation."""
        return replace(self, owner=owner)

    def after(self, changes: Iterable[Change]) -> Turn:
        """The same call on the state as it would be after these changes."""
        return replace(self, view=self.view.after(changes))

    def by(self, actor: str, *changes: Change) -> Due:
        """What someone else did just now, to be one of a transition's `events`."""
        return Due(self.now, actor, changes)

    def no_effect(self, transition: Transition) -> Transition:
        """The transition as it was, with the note that the owner found nothing to bend."""
        return replace(transition, no_effect=transition.no_effect | {self.owner})


Proceed: TypeAlias = Callable[[Turn], Awaitable[Transition]]
"""The rest of the pipeline, as a perturbation sees it."""

Outcome: TypeAlias = Literal["applied", "preempted", "no_effect", "capped"]


@dataclass(frozen=True, slots=True)
class Decided:
    """A perturbation that was decided for a call, what became of it, and why it was decided."""

    id: str
    kind: str
    outcome: Outcome
    why: str


@dataclass(frozen=True, slots=True)
class Erred:
    """A perturbation that was not decided because a condition of its `when` errs, and how."""

    id: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a ledger, as expectations and sinks see it; `trace` writes it as JSON.

    `truth` is the world model's transition for the unmodified call (None if it was not asked), `served` what the agent
    got, `committed` what was written; `answers` as in the call. `actor` is set on events, `opening` (seed, stream,
    clock, ...) on resets.
    """

    n: int
    entry: Literal["call", "event", "reset"]
    at: datetime
    index: int = 0
    tool: str = ""
    arguments: dict[str, Json] = field(default_factory=dict[str, Any])
    truth: Transition | None = None
    served: Observation | None = None
    committed: tuple[Change, ...] = ()
    pins: tuple[Change, ...] = ()
    guessed: bool = False
    stub: bool = False
    perturbations: tuple[Decided, ...] = ()
    erred: tuple[Erred, ...] = ()
    answers: dict[str, Json] = field(default_factory=dict[str, Any])
    actor: str = ""
    opening: Record = field(default_factory=dict[str, Any])
