"""Compare recorded sessions with the live server: its list of tools, and its answers to calls.

Reads are made once, on one connection. If calls that may write are made too, each session is repeated in its order on a
connection of its own, with the ids that the live server gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, cast

from mcp_sim.recordings.capture.redaction import Redactor
from mcp_sim.recordings.differences import Kind, ToolDrift, differences, tool_drifts
from mcp_sim.recordings.known import ReplayIds
from mcp_sim.recordings.observed import Observed, normal, observe
from mcp_sim.simulator.compile import load
from mcp_sim.spec.repair import repair_tools
from mcp_sim.spec.sessions import PLACEHOLDER, Answer, RecordedCall, Session
from mcp_sim.types import Json, Record, as_object, canonical, frozen, leaves
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import DocumentError, UsageError

Call: TypeAlias = Callable[[str, Record], Awaitable[Answer]]  # makes a call on the live server

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Call]]
"""Connects to the live server, which a command starts anew."""

NEVER_SUCCEEDS = "no call of this tool succeeds any more"


@frozen
class CallDrift:
    """A recorded call that the server answers differently now.

    `outcome`: only one of the answers fails; `form`: the paths or types of data, or the labels of a text, differ;
    `values`: only the values do.
    """

    tool: str
    arguments: Record
    session: str
    seq: int
    kind: Kind
    details: Sequence[str]


@dataclass(slots=True)
class Drift:
    """The differences between recordings and a live server."""

    tools: list[ToolDrift] = field(default_factory=list[ToolDrift])
    calls: list[CallDrift] = field(default_factory=list[CallDrift])
    not_comparable: list[CallDrift] = field(default_factory=list[CallDrift])
    """The calls with a single failing answer, after writes that were not repeated."""
    made: int = 0
    """How many calls were made."""
    may_write: list[str] = field(default_factory=list[str])
    """The recorded tools that were not called, since they may write."""
    repeated: list[str] = field(default_factory=list[str])
    """The tools that may write and were called."""
    redacted: int = 0
    """How many calls were not made, since their arguments have secrets that were redacted."""
    after_writes: int = 0
    """How many calls were compared by form only, after writes that were not repeated."""

    @property
    def equal(self) -> int:
        """How many calls are answered as they were."""
        return self.made - len(self.calls) - len(self.not_comparable)

    def differs(self, ignored: Sequence[str] = ()) -> bool:
        """Whether anything differs but for the ignored kinds: `tools` or their weights, `outcome`, `form`, `values`."""
        tools = [tool for tool in self.tools if "tools" not in ignored and tool.weight not in ignored]
        return bool(tools) or any(call.kind not in ignored for call in self.calls)

    def to_json(self) -> Record:
        return {**asdict(self), "equal": self.equal}


async def compare(
    sessions: Sequence[Session], tools: Sequence[Json], connect: Connect, named: Sequence[str] = ()
) -> Drift:
    """Return how a live server differs from recordings of it.

    `tools` is its list. Called are tools that certainly read, and those that match a glob in `named`.
    """
    newest = max(sessions, key=lambda session: str(session.header.get("started", "")))
    drift = Drift(tools=list(tool_drifts(newest.tools, tools)))
    runs = _chosen(sessions, _Reads(tools, named), drift)
    if drift.repeated:
        answered = [
            call for session, run in zip(sessions, runs, strict=True) for call in await _repeat(session, run, connect)
        ]
    else:
        answered = await _ask(_once(runs), connect)
    drift.made = len(answered)
    # Tools whose every recorded success fails now, and not for lack of what sessions had written. That lack explains a
    # failure that mentions an argument, or that was recorded of the same tool.
    calls = [call for session in sessions for call in session.calls]
    recorded = {(call.tool, _text_of(seen)) for call in calls if (seen := observe(call.answer)).failed}
    succeeded = [call for call in answered if not call.before.failed]
    unexplained = {call.tool for call in succeeded if call.now.failed and not _is_explained(call, recorded)}
    _judge(answered, unexplained - {call.tool for call in succeeded if not call.now.failed}, drift)
    return drift


# which calls ----------------------------------------------------------------------------------------------------------


class _Reads:
    """Which tools of the live server may be called."""

    def __init__(self, tools: Sequence[Json], named: Sequence[str]) -> None:
        listed = [as_object(tool) for tool in tools]
        self.names = {str(tool.get("name")) for tool in listed}
        self._named = named
        self._hinted = {
            str(tool.get("name")): as_object(tool.get("annotations")).get("readOnlyHint") is True for tool in listed
        }
        self._domain = _domain_of(tools)

    def may_call(self, tool: str) -> bool:
        return self.only_reads(tool) or any(fnmatchcase(tool, glob) for glob in self._named)

    def only_reads(self, tool: str) -> bool:
        if self._domain is not None and tool in self._domain.tools:
            return self._domain.only_reads(self._domain.tools[tool])
        return self._hinted.get(tool, False)


def _domain_of(tools: Sequence[Json]) -> Domain | None:
    """Return what mcp-sim infers from a list of tools, None if it cannot be read."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "live.json"
        file.write_text(json.dumps({"tools": [*repair_tools(tools).tools]}), encoding="utf-8")
        try:
            return load(file).domain
        except (DocumentError, UsageError):
            return None


@frozen
class _Chosen:
    call: RecordedCall
    session: str
    is_after_writes: bool
    """Whether the session had written something that is not repeated."""


def _chosen(sessions: Sequence[Session], reads: _Reads, drift: Drift) -> list[list[_Chosen]]:
    """Return the calls of each session that may be made, in their order."""
    refused, repeated, redacted = dict[str, None](), dict[str, None](), set[str]()
    runs = list[list[_Chosen]]()
    for session in sessions:
        run, has_written = list[_Chosen](), False
        for call in session.calls:
            key, only_reads = _key(call), reads.only_reads(call.tool)
            is_made = call.tool in reads.names and reads.may_call(call.tool) and not PLACEHOLDER.search(key)
            if is_made:
                run.append(_Chosen(call, session.file.name, has_written))
                repeated |= {} if only_reads else {call.tool: None}
            elif call.tool in reads.names and not reads.may_call(call.tool):
                refused[call.tool] = None
            elif call.tool in reads.names:
                redacted.add(key)
            if not is_made and not only_reads and not observe(call.answer).failed:
                has_written = True
        runs.append(run)
    drift.may_write, drift.repeated, drift.redacted = list(refused), list(repeated), len(redacted)
    return runs


def _once(runs: Sequence[Sequence[_Chosen]]) -> list[_Chosen]:
    """Return each call once: as it was before a session wrote anything, if it was made then."""
    chosen = dict[str, _Chosen]()
    for call in chain.from_iterable(runs):
        key = _key(call.call)
        if key not in chosen or (chosen[key].is_after_writes and not call.is_after_writes):
            chosen[key] = call
    return list(chosen.values())


def _key(call: RecordedCall) -> str:
    return canonical([call.tool, call.arguments])


# calls ----------------------------------------------------------------------------------------------------------------


@frozen
class _Answered:
    """A recorded call, and both answers to it."""

    chosen: _Chosen
    before: Observed
    now: Observed

    @property
    def tool(self) -> str:
        return self.chosen.call.tool

    def drift(self) -> CallDrift | None:
        """Return how the answers differ, None if they do not."""
        difference = next(differences(self.before, self.now), None)
        call = self.chosen.call
        return difference and CallDrift(call.tool, call.arguments, self.chosen.session, call.seq, *difference)


async def _ask(run: Sequence[_Chosen], connect: Connect) -> list[_Answered]:
    """Make calls that only read."""
    async with connect() as call:
        return [
            _Answered(
                chosen, observe(chosen.call.answer), _observed(await call(chosen.call.tool, chosen.call.arguments))
            )
            for chosen in run
        ]


async def _repeat(session: Session, run: Sequence[_Chosen], connect: Connect) -> list[_Answered]:
    """Make the calls of a session in their order, with the ids that the live server gives for the recorded ones."""
    ids, answered = ReplayIds(session.state), list[_Answered]()
    async with connect() as call:
        for chosen in run:
            before = observe(chosen.call.answer)
            now = _observed(await call(chosen.call.tool, ids.arguments(chosen.call)))
            ids.pair(chosen.call, before, now)
            ids.learn(before, chosen.call.seq)
            answered.append(_Answered(chosen, replace(before, value=ids.alignment.translate(before.value)), now))
    return answered


def _observed(answer: Answer) -> Observed:
    """Return what a live answer shows, without its secrets."""
    return observe(cast("Answer", Redactor().redact(answer, "live")))


# what counts ----------------------------------------------------------------------------------------------------------


def _judge(answered: Sequence[_Answered], never_succeeding: set[str], drift: Drift) -> None:
    """Sort what differs into what counts, and what cannot be compared after writes that were not repeated."""
    for call in answered:
        call_drift = call.drift()
        flips = call_drift is not None and call_drift.kind == "outcome"
        if call.chosen.is_after_writes and not flips:
            drift.after_writes += 1
        if call_drift is None or (call.chosen.is_after_writes and call_drift.kind == "values"):
            continue
        if not flips or not call.chosen.is_after_writes:
            drift.calls.append(call_drift)
        elif call.now.failed and call.tool in never_succeeding:
            drift.calls.append(replace(call_drift, details=[*call_drift.details, NEVER_SUCCEEDS]))
        else:
            drift.not_comparable.append(call_drift)


def _is_explained(answered: _Answered, recorded: set[tuple[str, str]]) -> bool:
    text = _text_of(answered.now)
    names = [name for _, value in leaves(answered.chosen.call.arguments) if (name := normal(value)) is not None]
    mentions = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
    return mentions or (answered.tool, text) in recorded


def _text_of(observed: Observed) -> str:
    return "\n".join(str(value) for _, value in leaves(observed.value))
