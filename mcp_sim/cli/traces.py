"""Read traces: their entries, their worlds, and how a language model was used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, cast

from mcp_sim.cli.terminal import note
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.grades import last_reset
from mcp_sim.types.json_values import decode
from mcp_sim.world.trace import FORMAT, entry_problems

LONGEST = 64 * 1024 * 1024
"""The longest line that is read, in bytes. A damaged file may have no line break at all."""

_WORLD = re.compile(rb'\{"world":("(?:[^"\\]|\\.)*+")')


@dataclass(slots=True)
class WorldTrace:
    """The steps of one world. A fork begins with the steps of its parent; `own` is the index of its first own step."""

    world: str
    steps: list[Record] = field(default_factory=list[Record])
    crashes: list[Record] = field(default_factory=list[Record])
    crashed_at: list[int] = field(default_factory=list[int])
    """How many steps came before each crash."""
    own: int = 0
    stream: str | None = None
    """The random stream of its own steps, if it differs from the parent's."""
    answer: str | None = None
    """The agent's final answer, if the trace has it."""

    def since_opening(self) -> list[Record]:
        """Return its steps since the last reset."""
        return self.steps[self._opened :]

    def crash_since_opening(self) -> Record | None:
        """Return the first crash since the last reset, or None."""
        crashes = zip(self.crashes, self.crashed_at, strict=True)
        return next((crash for crash, at in crashes if at > self._opened), None)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was called or answered since the last reset, so that a grade would not be about an agent."""
        is_called = any(step["entry"] == "call" for step in self.since_opening())
        return not is_called and self.answer is None and self.crash_since_opening() is None

    @property
    def _opened(self) -> int:
        return last_reset(self.steps)


def read_entries(path: Path) -> Iterator[Record]:
    """Yield the entries of a trace. An incomplete last line is reported on stderr and skipped.

    A line that cannot be read is reported, too, and is a crash of its world: nothing can be said of what it recorded.
    Raises `UsageError` if the file cannot be read or is not a trace.
    """
    world = "default"
    try:
        with path.open("rb") as lines:
            _checked_header(lines.readline(LONGEST), path)
            for number in count(2):
                line = lines.readline(LONGEST)
                if not line:
                    return
                if not line.endswith(b"\n") and len(line) < LONGEST:
                    note(f"{path}:{number}: incomplete line skipped")
                    return
                try:
                    entry = _entry(line, f"{path}:{number}")
                except UsageError as error:
                    note(error)
                    named = _WORLD.match(line)
                    crash: Record = {"tool": "", "arguments": {}, "error": str(error), "attempts": []}
                    entry = {"world": decode(named[1]) if named else world, "crash": crash, "measured": {}}
                world = entry["world"]
                yield entry
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> UsageError:
    if not path.is_dir():
        return UsageError(f"cannot read {path}: {error.strerror}")
    examples = [f", such as {trace}" for trace in sorted(path.glob("*.jsonl"))[:1]]
    return UsageError(f"{path} is a folder; name a trace in it{''.join(examples)}")


def read_header(path: Path) -> Record:
    """Return the first line of a trace. Raises `UsageError` if the file is not a trace."""
    try:
        with path.open("rb") as lines:
            return _checked_header(lines.readline(LONGEST), path)
    except OSError as error:
        raise _unreadable(path, error) from None


def read_worlds(path: Path) -> dict[str, WorldTrace]:
    """Return the worlds of a trace by name. Raises `UsageError` if the file is not a trace."""
    return worlds_of(read_entries(path))


def worlds_of(entries: Iterable[Record]) -> dict[str, WorldTrace]:
    """Return the worlds of the entries of a trace by name."""
    worlds: dict[str, WorldTrace] = {}
    for entry in entries:
        name = entry["world"]
        if "fork" in entry:
            parent = worlds.get(entry["fork"]["of"], WorldTrace(""))
            worlds[name] = _forked(name, parent, entry["fork"])
            continue
        world_trace = worlds.setdefault(name, WorldTrace(name))
        if "answer" in entry:
            world_trace.answer = entry["answer"]
        elif "crash" in entry:
            world_trace.crashes.append(entry["crash"])
            world_trace.crashed_at.append(len(world_trace.steps))
        else:
            if entry["step"]["entry"] == "reset":
                world_trace.answer = None
            world_trace.steps.append(entry["step"])
    return worlds


def _forked(name: str, parent: WorldTrace, fork: Record) -> WorldTrace:
    """Return a world that begins with steps of another one; or the same world, which returns to an earlier step."""
    steps = [step for step in parent.steps if step["n"] <= fork["n"]]
    crashes = [pair for pair in zip(parent.crashes, parent.crashed_at, strict=True) if pair[1] <= len(steps)]
    own, stream = len(steps), fork["stream"]
    if name == parent.world:
        own, stream = min(parent.own, own), parent.stream
    return WorldTrace(name, steps, [crash for crash, _ in crashes], [at for _, at in crashes], own, stream)


def only_world(worlds: dict[str, WorldTrace], wanted: str | None, path: Path) -> WorldTrace:
    """Return the world named `wanted`, or the only one if that is None. Raises `UsageError` otherwise."""
    if wanted is None and len(worlds) == 1:
        return next(iter(worlds.values()))
    if wanted is None:
        raise UsageError(f"{path} has {len(worlds)} worlds ({', '.join(worlds)}); choose one with --world")
    if wanted not in worlds:
        raise UsageError(f"{path} has no world {wanted!r}; its worlds: {', '.join(worlds)}")
    return worlds[wanted]


def _checked_header(line: bytes, path: Path) -> Record:
    if not line:
        raise UsageError(f"{path} is empty, and not a trace")
    header = _decoded(line, f"{path}:1")
    if header.get("format") != FORMAT:
        problem = f"its format is {header['format']!r}" if "format" in header else "its first line has no format"
        raise UsageError(f"{path} is not a trace of format {FORMAT}, the only one that can be read: {problem}")
    return header


def _decoded(line: bytes, place: str) -> Record:
    try:
        value: Any = decode(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{place}: not a line of a trace, as --trace FILE writes it")
    return cast("Record", value)


def _entry(line: bytes, place: str) -> Record:
    entry = _decoded(line, place)
    problems = entry_problems(entry)
    if problems:
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise UsageError(f"{place}: not an entry of a trace of format {FORMAT}: {problems[0]}{more}")
    return entry


class ModelUsage:
    """Counts how a language model was used in the entries of a ledger."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def note(self, entry: Record) -> None:
        measured: Record = entry.get("measured") or {}
        if "asked" not in measured and "rejected" not in measured:
            return
        self._counts["calls"] += 1
        self._counts["again"] += bool(measured.get("rejected"))
        for name in ("asked", "cached", "fallback", "repaired"):
            self._counts[name] += bool(measured.get(name))
        for name in ("values_shown", "values_fixed", "prompt_tokens", "completion_tokens"):
            self._counts[name] += measured.get(name, 0)

    def lines(self) -> Iterator[str]:
        """Yield the summary; nothing if no language model was used."""
        counts = self._counts
        if not counts:
            return
        yield (
            f"language model: asked at {counts['asked']} of {counts['calls']} calls ({counts['cached']} answers from "
            f"the cache), {counts['prompt_tokens']:,} + {counts['completion_tokens']:,} tokens"
        )
        yield (
            f"  {counts['repaired']} answers were corrected by the world, {counts['again']} requested again, "
            f"{counts['fallback']} given by the fallback; {counts['values_fixed']} of {counts['values_shown']} values "
            "that were shown again were fixed"
        )
