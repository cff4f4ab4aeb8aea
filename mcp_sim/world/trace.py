"""The ledger of a world, and its form in a trace: JSONL, format 2.

Each line is `{"world", "step", "measured"}`. `step` is the same for the same scenario, seed and calls; `measured` (real
time, tokens, attempts) is not. A crash is `{"world", "crash", "measured"}` and has no step. The agent's final answer
is `{"world", "answer"}`. `trace.schema.json` has the form of all entries.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from anyio import Event

from mcp_sim.types import (
    BrokenDelivery,
    Change,
    ConditionFailure,
    Decision,
    Json,
    Observation,
    PastCall,
    Record,
    RpcError,
    Step,
    ToolResult,
    Transition,
)
from mcp_sim.types.clock import iso
from mcp_sim.types.errors import Crash
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import decode, encode

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")

FORMAT = 2  # raised when older readers would misread a trace
_SHALLOW, _SPARE = 180, 8  # the parser of pydantic takes 200 levels
_LONG_NUMBER = b"0" * 4000  # Python reads integers of up to 4,300 digits
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
MOST_BYTES = 64 * 1024 * 1024
"""The most bytes that one world keeps of its ledger. A world without `--trace` would otherwise grow with every call."""


def header_line(scenario: str, sha256: str, version: str, path: str = "") -> bytes:
    """Return the first line of a trace; `path` is the scenario's file."""
    header = {"format": FORMAT, "scenario": scenario, "sha256": sha256, "version": version}
    return encode({**header, "path": path} if path else header)


def step_line(world: str, step: Step, measured: Mapping[str, Any]) -> bytes:
    """Return the line of an entry. Raises `ValueError` if it could not be read again."""
    line = b'{"world":%b,"step":%b,"measured":%b}' % (encode(world), step_bytes(step), encode(measured))
    _check_readable(line)
    return line


def crash_line(world: str, crash: Crash, arguments: Record, measured: Mapping[str, Any]) -> bytes:
    """Return the line of a crash: the call, the error, and the replies of the world model."""
    body = {"tool": crash.tool, "arguments": arguments, "error": crash.error, "attempts": crash.attempts}
    try:
        line = encode({"world": world, "crash": body, "measured": measured})
        _check_readable(line)
    except (ValueError, TypeError, RecursionError):
        line = encode({"world": world, "crash": {**body, "arguments": {}, "attempts": []}, "measured": measured})
    return line


def _check_readable(line: bytes) -> None:
    """Raise `ValueError` if a line cannot be read again: it nests too deeply, or has numbers that JSON lacks.

    Nearly all lines are too shallow, and have no sign of such numbers. Snapshots nest values by some levels more.
    """
    is_odd = b"NaN" in line or b"Infinity" in line
    if not is_odd and len(line) > len(_LONG_NUMBER):  # an expression `\d{4000}` would look at each digit 4,000 times
        is_odd = _LONG_NUMBER in line.translate(_AS_ZEROS)
    if is_odd or line.count(b"[") + line.count(b"{") > _SHALLOW:
        decode(b"[" * _SPARE + line + b"]" * _SPARE)


def fork_line(world: str, parent: str, n: int, stream: str, actor: str = "") -> bytes:
    """Return the line that opens a forked world: its steps continue those of its parent after step `n`.

    A world that is its own parent returns to that step. `actor`: who did it, where that is known.
    """
    return encode({"world": world, "fork": {"of": parent, "n": n, "stream": stream, **_by(actor)}})


def answer_line(world: str, answer: str, actor: str = "") -> bytes:
    """Return the line of the agent's final answer, and who submitted it, where that is known."""
    return encode({"world": world, "answer": answer, **_by(actor)})


def _by(actor: str) -> Record:
    return {"actor": actor} if actor else {}


def step_bytes(step: Step) -> bytes:
    """Return a step as JSON. Observations are spliced in as they were serialised for the wire."""
    head = b'{"n":%d,"entry":"%b","at":"%b"' % (step.n, step.entry.encode(), iso(step.at).encode())
    match step.entry:
        case "reset":
            return head + b"," + encode(step.opening)[1:]
        case "event":
            steered = b',"steered":%b' % encode(step.steered) if step.steered else b""
            absorbed = b',"absorbed":%b' % changes_bytes(step.absorbed) if step.absorbed else b""
            return head + b',"actor":%b,"committed":%b%b%b}' % (
                encode(step.actor),
                changes_bytes(step.committed),
                absorbed,
                steered,
            )
        case "call":
            return head + _call_bytes(step) + b"}"


def _call_bytes(step: Step) -> bytes:
    truth, served = step.truth, step.served
    same = truth is not None and served is not None and served == truth.observation
    committed = changes_bytes(step.committed)
    meant = committed if truth is not None and truth.changes is step.committed else None
    return (
        b',"index":%d,"tool":%b,"arguments":%b%b%b,"truth":%b%b,"served":%b,"committed":%b,"absorbed":%b%b%b%b%b,"perturbations":%b%b'
        % (
            step.index,
            encode(step.tool),
            encode(step.arguments),
            b',"answers":%b' % encode(step.answers) if step.answers else b"",
            b',"caller":%b' % encode(step.caller) if step.caller else b"",
            b"null" if truth is None else _transition_bytes(truth, meant),
            b"" if step.counterfactual is None else _counterfactual_bytes(step.counterfactual),
            b"null" if same or served is None else observation_bytes(served),
            committed,
            changes_bytes(step.absorbed),
            _guesses_bytes(step.guesses),
            b',"stub":true' if step.stub else b"",
            b',"keeps":%b' % encode(step.keeps) if step.keeps else b"",
            b',"source":%b' % encode(step.source) if step.source else b"",
            b"[]" if not step.perturbations else encode([decided_json(decided) for decided in step.perturbations]),
            b',"errors":%b' % encode([asdict(error) for error in step.errors]) if step.errors else b"",
        )
    )


def decided_json(decided: Decision) -> Record:
    return {"id": decided.id, "kind": decided.kind, "outcome": decided.outcome, "why": decided.why}


def changes_bytes(changes: Sequence[Change]) -> bytes:
    return b"[]" if not changes else encode([change.to_json() for change in changes])


def _transition_bytes(transition: Transition, changes: bytes | None) -> bytes:
    """Return a transition as JSON; `changes` are its changes, if they are serialised already."""
    return b'{"observation":%b,"changes":%b%b}' % (
        observation_bytes(transition.observation),
        changes_bytes(transition.changes) if changes is None else changes,
        b',"repeats":%d' % transition.repeats if transition.repeats else b"",
    )


def _counterfactual_bytes(transition: Transition) -> bytes:
    guesses = _guesses_bytes(transition.guesses) if transition.guesses else b""
    return b',"counterfactual":' + _transition_bytes(transition, None)[:-1] + guesses + b"}"


def _guesses_bytes(guesses: tuple[str, ...]) -> bytes:
    return b',"guessed":true,"guesses":%b' % encode(guesses) if guesses else b',"guessed":false'


def observation_bytes(observation: Observation) -> bytes:
    """Return an observation as JSON: `result`, `rpc_error` or `broken`, with `delay_ms` and `notifications` if any."""
    body = observation.body
    if not isinstance(body, ToolResult):
        return encode(_without_result(observation))
    if _is_plain(observation, body):
        return b'{"result":%b,"form":"%b"}' % (body.encoded, body.form.encode())
    return b'{"result":%b,%b' % (body.encoded, encode(_without_result(observation))[1:])


def _without_result(observation: Observation) -> Record:
    """Return an observation as JSON, without the value of a result, which is serialised already."""
    body, rest = observation.body, dict[str, Any]()
    match body:
        case ToolResult():
            blocks = None if body.blocks is None else list(body.blocks)
            flags = {name: True for name in ("is_error", "is_failure") if getattr(body, name)}
            parts: Record = {**flags, "text": body.text, "blocks": blocks, "meta": body.meta}
            rest = {"form": body.form, **{name: value for name, value in parts.items() if value is not None}}
        case RpcError(code, message, data):
            rest["rpc_error"] = {"code": code, "message": message, **({} if data is None else {"data": data})}
        case BrokenDelivery(how, status, headers, text, ends_session):
            rest["broken"] = {"how": how, "status": status, "headers": dict(headers), "body": text}
            if ends_session:
                rest["broken"]["ends_session"] = True
    if observation.delay:
        rest["delay_ms"] = observation.delay / timedelta(milliseconds=1)
    if observation.notifications:
        rest["notifications"] = list(observation.notifications)
    return rest


def _is_plain(observation: Observation, body: ToolResult) -> bool:
    """Whether an observation, like most, is a value in its form and nothing else."""
    if body.is_error or body.is_failure or body.text is not None or body.blocks is not None:
        return False
    return not observation.delay and not observation.notifications


def observation_of(body: Record) -> Observation:
    """Return the observation of a step."""
    delay = timedelta(milliseconds=body.get("delay_ms", 0))
    notifications = tuple(body.get("notifications", ()))
    if "rpc_error" in body:
        return Observation(_known(RpcError, body["rpc_error"]), delay, notifications)
    if "broken" in body:
        return Observation(_known(BrokenDelivery, body["broken"]), delay, notifications)
    blocks = None if "blocks" not in body else tuple(body["blocks"])
    is_error, text, meta = body.get("is_error", False), body.get("text"), body.get("meta")
    is_failure = body.get("is_failure", False)
    result = ToolResult(body["result"], body["form"], is_error, text, blocks, meta, is_failure=is_failure)
    return Observation(result, delay, notifications)


def entry_problems(entry: Json) -> Sequence[str]:
    """Return what is wrong with an entry of a trace, each as `path: reason`; empty if it can be read."""
    problems = _validator().problems(entry)
    step = as_object(as_object(entry).get("step"))
    if problems or not step:
        return problems
    times: Record = {"step.at": step["at"], "step.clock.now": step.get("clock", {}).get("now", step["at"])}
    return [f"{path}: {time!r} is not a time" for path, time in times.items() if not _is_time(time)]


@cache
def _validator() -> Validator:
    return Validator(decode(files("mcp_sim.world").joinpath("trace.schema.json").read_bytes()))


def _is_time(text: str) -> bool:
    """Whether a text of the right form is a time: no 30 February."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def changes_of(bodies: Iterable[Record]) -> tuple[Change, ...]:
    """Return the changes of a step."""
    return tuple(map(Change.from_json, bodies))


def transition_of(body: Record) -> Transition:
    """Return the world's own transition of a step."""
    changes, repeats = changes_of(body["changes"]), body.get("repeats", 0)
    return Transition(observation_of(body["observation"]), changes, repeats=repeats, guesses=_guesses_of(body))


def _guesses_of(body: Record) -> tuple[str, ...]:
    """Return why an answer is a guess. Earlier versions wrote no reasons."""
    return tuple(body.get("guesses", ())) or (("a guess",) if body.get("guessed", False) else ())


def step_from_json(body: Record) -> Step:
    """Return the entry that `step_bytes` wrote."""
    opening = {name: body[name] for name in ("seed", "stream", "clock", "intensity", "faults", "actor") if name in body}
    truth = None if body.get("truth") is None else transition_of(body["truth"])
    served = None if body.get("served") is None else observation_of(body["served"])
    return Step(
        n=body["n"],
        entry=body["entry"],
        at=datetime.fromisoformat(body["at"]),
        index=body.get("index", 0),
        tool=body.get("tool", ""),
        arguments=body.get("arguments", {}),
        truth=truth,
        counterfactual=None if "counterfactual" not in body else transition_of(body["counterfactual"]),
        served=truth.observation if served is None and truth is not None else served,
        committed=changes_of(body.get("committed", ())),
        absorbed=changes_of(body.get("absorbed", ())),
        guesses=_guesses_of(body),
        stub=body.get("stub", False),
        keeps=body.get("keeps", ""),
        source=body.get("source", ""),
        perturbations=tuple(_known(Decision, decided) for decided in body.get("perturbations", ())),
        errors=tuple(_known(ConditionFailure, error) for error in body.get("errors", ())),
        answers=body.get("answers", {}),
        caller=body.get("caller", ""),
        actor=body.get("actor", "") if body["entry"] == "event" else "",
        steered=body.get("steered", {}),
        opening=opening,
    )


def _known(kind: type[D], body: Record) -> D:
    """Return an instance with the keys that it has; a later version may have written more."""
    return kind(**{field.name: body[field.name] for field in fields(kind) if field.name in body})


class _Newest(Generic[T]):
    """The newest of some items: at most `keep`, and 64 MB. What was added since the newest mark can be taken back."""

    __slots__ = ("_added", "_bytes", "_dropped", "_items", "_measure", "keep")

    def __init__(self, keep: int, size: Callable[[T], int], items: Iterable[T] = ()) -> None:
        self.keep = keep
        self._measure = size
        self._items = deque(items, maxlen=keep)
        self._bytes = sum(map(size, self._items))
        self._added = 0
        self._dropped: list[T] | None = None
        """What was dropped since the newest mark, if there is one."""

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self._bytes

    def mark(self) -> int:
        """Return the number of items that were added so far, to which `rewind` returns."""
        self._dropped = []
        return self._added

    def rewind(self, mark: int) -> None:
        """Take back what was added since the newest mark."""
        items = [*(self._dropped or ()), *self._items]
        items = items[: len(items) - (self._added - mark)]
        self._items, self._dropped = deque(items, maxlen=self.keep), []
        self._bytes, self._added = sum(map(self._measure, items)), mark

    def _add(self, item: T, size: int) -> None:
        if len(self._items) == self.keep:
            self._drop()
        self._items.append(item)
        self._bytes += size
        self._added += 1
        while self._bytes > MOST_BYTES and len(self._items) > 1:
            self._drop()

    def _drop(self) -> None:
        item = self._items.popleft()
        self._bytes -= self._measure(item)
        if self._dropped is not None:
            self._dropped.append(item)

    def __len__(self) -> int:
        return len(self._items)


class Ledger(_Newest[bytes]):
    """The newest entries of one world, as lines. Iterating yields them decoded, oldest first.

    It has at most `keep` entries and 64 MB; older entries are in the trace only.
    """

    __slots__ = ("_changed",)

    def __init__(self, keep: int, lines: Iterable[bytes] = ()) -> None:
        super().__init__(keep, len, lines)
        self._changed: Event | None = None

    def append(self, line: bytes) -> None:
        self._add(line, len(line))
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    async def changed(self) -> None:
        """Wait for the next entry."""
        if self._changed is None:
            self._changed = Event()
        await self._changed.wait()

    def fork(self) -> Ledger:
        """Return a ledger with the same entries that grows on its own."""
        twin = Ledger(self.keep)
        twin._items, twin._bytes, twin._added = self._items.copy(), self._bytes, self._added
        return twin

    @property
    def added(self) -> int:
        """How many entries were added so far; the newest has this number, counted from 1."""
        return self._added

    def after(self, number: int, most: int) -> list[tuple[int, bytes]]:
        """Return the first lines with a greater number, as far as they are kept, each with its number."""
        oldest = self._added - len(self._items) + 1
        skipped = min(max(0, number + 1 - oldest), len(self._items))
        return list(enumerate(islice(self._items, skipped, skipped + most), oldest + skipped))

    @property
    def newest(self) -> Record:
        """The latest entry."""
        return decode(self._items[-1])

    @property
    def steps(self) -> list[Record]:
        """The `step` objects, without crashes: what two runs are compared by."""
        return [entry["step"] for entry in self if "step" in entry]

    @property
    def crashes(self) -> list[Record]:
        """The `crash` objects."""
        return [entry["crash"] for entry in self if "crash" in entry]

    def __iter__(self) -> Iterator[Record]:
        return (decode(line) for line in tuple(self._items))


class History(_Newest[tuple[PastCall, int]], Sequence[PastCall]):
    """The newest calls and events of one world, for later calls; bounded like the ledger."""

    def __init__(self, keep: int) -> None:
        super().__init__(keep, itemgetter(1))

    def append(self, past: PastCall, size: int) -> None:
        """Add the newest; `size` is about how many bytes it holds."""
        self._add((past, size), size)

    def fork(self) -> History:
        twin = History(self.keep)
        twin._items, twin._bytes = self._items.copy(), self._bytes
        return twin

    def __getitem__(self, at: Any) -> Any:
        return [past for past, _ in list(self._items)[at]] if isinstance(at, slice) else self._items[at][0]
