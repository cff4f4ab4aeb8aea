"""Recorded sessions, and which of their calls answers a call of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from difflib import SequenceMatcher
from functools import partial
from typing import TypeAlias

from mcp_sim.models.recorded.likeness import Likeness, Renamed, pairs, renamed
from mcp_sim.spec.sessions import Answer, RecordedCall, RecordedRequest, Session
from mcp_sim.types import Record, as_object, canonical, encode, frozen

CAPABILITIES = {"resources": "resources", "prompts": "prompts", "completion": "completions"}
"""First words of methods -> the capability that servers declare for them."""

LONGEST_COMPARED = 300
"""How many characters of the arguments are compared to find the nearest call: the time grows with their square."""

MOST_COMPARED = 100
"""How many recorded calls of a tool are compared. The hint about the nearest call must not take longer than the
call."""

At: TypeAlias = tuple[int, int]  # a recorded call: the numbers of its session and of the call in it


@frozen
class Progress:
    """How far a run has used the recordings."""

    used: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Session -> the calls that the calls of the run would have used there, in their order; -1 where there was none."""
    served: tuple[At, ...] = ()
    """The recorded calls that were served, one for each call."""
    followed: int = 0
    """The session that the last answer came from."""
    renamed: Mapping[int, Renamed] = field(default_factory=dict[int, Renamed])
    """Session -> its recorded values and those of this run."""


@frozen
class Found:
    """A recorded call that answers, what it needs renamed, how it was found, and the progress after it."""

    call: RecordedCall
    session: Session
    names: Renamed
    how: str
    """`exact`, `volatile` (but for times and ids) or `repeated` (the last answer to this read once more)."""
    progress: Progress


class Cassette:
    """The calls of recorded sessions by tool and arguments."""

    def __init__(self, sessions: Sequence[Session], likeness: Likeness) -> None:
        self._sessions, self._likeness = tuple(sessions), likeness
        self._exact = dict[tuple[int, str, str], list[int]]()
        self._by_tool = dict[tuple[int, str], list[int]]()
        self._texts = [[canonical(call.answer) for call in session.calls] for session in sessions]
        self._first_shown = dict[tuple[int, str], int]()
        for at, session in enumerate(sessions):
            for n, call in enumerate(session.calls):
                self._exact.setdefault((at, call.tool, canonical(call.arguments)), []).append(n)
                self._by_tool.setdefault((at, call.tool), []).append(n)

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that were called."""
        return frozenset(tool for _, tool in self._by_tool)

    def find(self, tool: str, arguments: Record, progress: Progress, *, repeats: bool) -> Found | None:
        """Return the recorded call that answers a call: its next occurrence, or its last if it `repeats`."""
        progress = self._used(tool, arguments, progress)
        for search in (self._exactly, self._alike):
            for session in self._preferred(progress):
                matching = search(session, tool, arguments, progress)
                free = [pair for pair in matching if (session, pair[0]) not in progress.served]
                if free or (matching and repeats):
                    n, names = free[0] if free else matching[-1]
                    is_exact = canonical(self._sessions[session].calls[n].arguments) == canonical(arguments)
                    how = "repeated" if not free else "exact" if is_exact else "volatile"
                    return self._found(session, n, names, how, progress)
        return None

    def request(self, method: str, params: Record, progress: Progress) -> Answer | None:
        """Return the recorded answer to a request other than a call, or None.

        A session that has several has the one that followed the run's last call there, or else its last one.
        """
        for at in self._preferred(progress):
            position = max((n + 1 for session, n in progress.served if session == at), default=0)
            known = progress.renamed.get(at, {})
            given = {name: value for name, value in params.items() if value}
            matching = list[tuple[RecordedRequest, Renamed]]()
            for request in (request for request in self._sessions[at].requests if request.method == method):
                asked = {name: value for name, value in request.params.items() if value}
                names = self._likeness.renamed(asked, given, known, lambda _: False)
                if names is not None:
                    matching.append((request, names))
            if matching:
                request, names = next((pair for pair in matching if pair[0].after >= position), matching[-1])
                return renamed(request.answer, names)
        return None

    def offers(self) -> frozenset[str]:
        """Return the capabilities of the recorded servers that requests other than calls need."""
        declared = {name for session in self._sessions for name in as_object(session.header.get("capabilities"))}
        asked = {request.method.partition("/")[0] for session in self._sessions for request in session.requests}
        return frozenset(name for method, name in CAPABILITIES.items() if name in declared or method in asked)

    def nearest_request(self, method: str) -> str:
        """Return what is recorded of a method, as a phrase."""
        asked = [
            request.params for session in self._sessions for request in session.requests if request.method == method
        ]
        names = dict.fromkeys(
            str(params.get("uri") or params.get("name") or encode(params).decode()) for params in asked
        )
        return f"recorded are {', '.join([*names][:5])}" if names else f"no {method} is recorded"

    def nearest(self, tool: str, arguments: Record) -> str:
        """Return what is recorded of a tool that comes closest to a call, as a phrase."""
        calls = [
            (session, session.calls[n])
            for at, session in enumerate(self._sessions)
            for n in self._by_tool.get((at, tool), ())
        ]
        if not calls:
            return f"no call of {tool} is recorded"
        matcher = SequenceMatcher(None, b=canonical(arguments)[:LONGEST_COMPARED])

        def likeness(pair: tuple[Session, RecordedCall]) -> float:
            matcher.set_seq1(canonical(pair[1].arguments)[:LONGEST_COMPARED])
            return matcher.ratio()

        session, call = max(calls[:MOST_COMPARED], key=likeness)
        place = f"{session.file.name}, call {call.seq}"
        differing = "; ".join([*self._likeness.differences(call.arguments, arguments)][:5])
        return f"the nearest is {place}: {differing or 'the same, and its answers are used up'}"

    def _preferred(self, progress: Progress) -> list[int]:
        """Return the sessions, that which has most of the run's calls first."""
        had = {at: sum(n >= 0 for n in progress.used.get(at, ())) for at in range(len(self._sessions))}
        return sorted(had, key=lambda at: (-had[at], at != progress.followed, at))

    def _exactly(self, session: int, tool: str, arguments: Record, progress: Progress) -> list[tuple[int, Renamed]]:
        """Return the calls of a session that are this one, with what is known to stand for its values."""
        names = progress.renamed.get(session, {})
        same = self._exact.get((session, tool, canonical(arguments)), ())
        if same or not names:
            return [(n, names) for n in same]
        return [pair for pair in self._alike(session, tool, arguments, progress) if pair[1] == names]

    def _alike(self, session: int, tool: str, arguments: Record, progress: Progress) -> list[tuple[int, Renamed]]:
        known = progress.renamed.get(session, {})
        calls = self._sessions[session].calls
        candidates = (
            (n, self._likeness.renamed(calls[n].arguments, arguments, known, partial(self._is_own, session, n)))
            for n in self._by_tool.get((session, tool), ())
        )
        return [(n, names) for n, names in candidates if names is not None]

    def _is_own(self, session: int, n: int, value: str) -> bool:
        """Whether no answer before a recorded call had shown a value. The answers are searched once for each value."""
        if (session, value) not in self._first_shown:
            texts = self._texts[session]
            self._first_shown[session, value] = next((at for at, text in enumerate(texts) if value in text), len(texts))
        return self._first_shown[session, value] >= n

    def _used(self, tool: str, arguments: Record, progress: Progress) -> Progress:
        """Return the progress after each session has used its own next occurrence of a call."""
        used, names_of = dict(progress.used), dict(progress.renamed)
        for at in range(len(self._sessions)):
            before = used.get(at, ())
            matching = self._exactly(at, tool, arguments, progress) or self._alike(at, tool, arguments, progress)
            n, names = next(((n, names) for n, names in matching if n not in before), (-1, names_of.get(at, {})))
            used[at], names_of[at] = (*before, n), names
        return replace(progress, used=used, renamed=names_of)

    def _found(self, session: int, n: int, names: Renamed, how: str, progress: Progress) -> Found:
        call, names_of = self._sessions[session].calls[n], {**progress.renamed, session: names}
        served = renamed(call.answer, names)
        # The other sessions that have all calls of the run so far may answer later; their ids become those served now.
        for other, used in progress.used.items():
            if other != session and -1 not in used:
                renames = dict(pairs(self._sessions[other].calls[used[-1]].answer, served))
                names_of[other] = {**renames, **names_of.get(other, {})}
        progress = replace(progress, served=(*progress.served, (session, n)), followed=session, renamed=names_of)
        return Found(call, self._sessions[session], names, how, progress)
