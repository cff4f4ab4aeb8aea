"""What does a file that --trace wrote hold? Its entries, or its worlds with all that happened in each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_text import decode
from mcp_sim.world.trace import FORMAT


@dataclass(slots=True)
class Course:
    """What happened in one world. A fork begins with the steps of its parent; `own` is where its own begin."""

    world: str
    steps: list[Record] = field(default_factory=list[Record])
    crashes: list[Record] = field(default_factory=list[Record])
    own: int = 0
    stream: str | None = None
    """The stream of its own steps, if it is not that of the parent."""

    def since_opening(self) -> list[Record]:
        """Its steps since it last began."""
        opened = [at for at, step in enumerate(self.steps) if step["entry"] == "reset"]
        return self.steps[opened[-1] :] if opened else self.steps


def entries_of(path: Path) -> Iterator[Record]:
    """The entries of a trace, line by line; a last line that was cut off is told and passed over."""
    try:
        with path.open("rb") as lines:
            _checked_header(next(lines, b""), path)
            for number, line in enumerate(lines, 2):
                if not line.endswith(b"\n"):
                    print(f"{path}:{number}: cut off; passed over", file=sys.stderr)
                    return
                yield _decoded(line, f"{path}:{number}")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def header_of(path: Path) -> Record:
    """The first line of a trace."""
    try:
        with path.open("rb") as lines:
            return _checked_header(next(lines, b""), path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def courses_of(path: Path) -> dict[str, Course]:
    """The worlds of a trace, by name. Raises UsageError for what is no trace."""
    courses: dict[str, Course] = {}
    try:
        _collect(entries_of(path), courses)
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no trace: {error!r} is not as format {FORMAT} says") from None
    return courses


def _collect(entries: Iterable[Record], courses: dict[str, Course]) -> None:
    for entry in entries:
        name = entry["world"]
        if "fork" in entry:
            parent = courses.get(entry["fork"]["of"], Course(""))
            steps = [step for step in parent.steps if step["n"] <= entry["fork"]["n"]]
            courses[name] = Course(name, steps, own=len(steps), stream=entry["fork"]["stream"])
            continue
        course = courses.setdefault(name, Course(name))
        if "crash" in entry:
            course.crashes.append(entry["crash"])
        else:
            course.steps.append(entry["step"])


def only_world(courses: dict[str, Course], wanted: str | None, path: Path) -> Course:
    """The world that is wanted, or the only one. Raises UsageError where that is not one."""
    if wanted is None and len(courses) == 1:
        return next(iter(courses.values()))
    if wanted is None:
        raise UsageError(f"{path} has {len(courses)} worlds ({', '.join(courses)}); choose one with --world")
    if wanted not in courses:
        raise UsageError(f"{path} has no world {wanted!r}, but {', '.join(courses)}")
    return courses[wanted]


def _checked_header(line: bytes, path: Path) -> Record:
    header = _decoded(line, f"{path}:1")
    if header.get("format") != FORMAT:
        raise UsageError(f"{path} is no trace of format {FORMAT}")
    return header


def _decoded(line: bytes, place: str) -> Record:
    try:
        value: Any = decode(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{place}: not a line of a trace")
    return cast("Record", value)
