"""The exceptions of mcp-sim itself, as opposed to the failures that it simulates.

McpSimError
+-- DocumentError   a document cannot be used; has every problem found
+-- UsageError      invalid usage of a command or an API
|   +-- BadArguments  the arguments of a call are not JSON
|   +-- StoreFailure  a store of worlds cannot be read or written
|       +-- StoreBusy   another process has it
+-- UnknownKind     a name that no registry has
+-- StaleChange     a change was computed from an older version of a record
+-- Unwritable      a sink cannot take an entry
+-- Unevaluable     an expression has no value on a world
+-- Unanswered      a model did not answer
|   +-- TooLong       the conversation does not fit into its context
+-- Rejected        a world model's answer cannot be served; it may be asked again
+-- Crash           a call could not be answered; never an observation
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from mcp_sim.types.frozen import frozen

CRASH_CODE = -32019
"""The JSON-RPC code of a crash. No simulated error may have it. It lies in the range that JSON-RPC leaves to servers
(-32000 to -32099), where MCP uses others."""


_CONTINUED = re.compile(r"\n(?!  )")


def continued(message: str) -> str:
    """Indent the lines of a message after the first, so that they do not look like other messages."""
    return _CONTINUED.sub("\n  ", message)


Severity: TypeAlias = Literal["error", "warning"]


class McpSimError(Exception):
    """Base of every exception that mcp-sim raises on purpose."""


@frozen
class Problem:
    """A problem of a document, and its place."""

    file: str
    line: int
    """Counts from 1, or 0."""
    path: str
    """Dotted: `perturbations[0].when.nth`."""
    message: str
    severity: Severity = "error"
    """Warnings do not keep a document from being used."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        where = f"{self.path}: " if self.path else ""
        label = "warning: " if self.severity == "warning" else ""
        return continued(f"{place}{label}{where}{self.message}")


class DocumentError(McpSimError):
    """One or more documents cannot be used. `problems` has all problems, warnings included."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[DocumentError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class UsageError(McpSimError):
    """Invalid usage. The message says what to do instead."""


class BadArguments(UsageError):
    """The arguments of a call are not JSON, or are nested too deeply; `reason` says which."""

    def __init__(self, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(f"the arguments of {tool} {reason}")


class StoreFailure(UsageError):
    """A store of worlds cannot be read or written. The message names the file and says what to do."""


class StoreBusy(StoreFailure):
    """Another process has the store. It may be asked for again."""


class UnknownKind(McpSimError):
    """No kind of this name is registered. `choices` are the registered names."""

    def __init__(self, family: str, name: str, choices: Sequence[str]) -> None:
        self.family, self.name, self.choices = family, name, tuple(choices)
        super().__init__(f"unknown {family.replace('_', ' ').removesuffix('s')} {name!r}{did_you_mean(name, choices)}")


class StaleChange(McpSimError):
    """A change expected another version of its record than the newest one."""

    def __init__(self, entity: str, key: str | int, expected: int, actual: int) -> None:
        self.entity, self.key, self.expected, self.found = entity, key, expected, actual
        super().__init__(f"{entity} {key!r} is at version {actual}, not {expected}")


class Unwritable(McpSimError):
    """A sink cannot take an entry: what could not be written, where, and why."""

    def __init__(self, what: str, where: str, reason: str) -> None:
        self.what, self.where, self.reason = what, where, reason
        super().__init__(f"cannot write {what} to {where}: {reason}")

    @classmethod
    def trace(cls, path: object, why: OSError | str) -> Unwritable:
        """Return the failure to write a trace file."""
        return cls("the trace", str(path), why if isinstance(why, str) else why.strerror or str(why))


class Unevaluable(McpSimError):
    """An expression cannot be evaluated on a world, or is neither true nor false there."""

    def __init__(self, text: str, reason: str) -> None:
        self.text, self.reason = text, reason
        super().__init__(f"{text}: {reason}")


class Unanswered(McpSimError):
    """A language model did not answer. `where` names it, `reason` says why and what to do."""

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where}: {reason}")


class TooLong(Unanswered):
    """The conversation is longer than the model's context."""


class Rejected(McpSimError):
    """The answer of a world model cannot be served. `raw` is its text, `problems` what is wrong."""

    def __init__(self, raw: str, problems: Sequence[str], measured: dict[str, Any] | None = None) -> None:
        self.raw, self.problems, self.measured = raw, tuple(problems), measured or {}
        super().__init__("; ".join(self.problems))


class Unmatched(McpSimError):
    """A world model has no answer to a call, such as one that was never recorded. `reason` says what came closest."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class InputRequired(McpSimError):
    """Raised while questions to the client are open. `result` is the result to send for now."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result
        super().__init__("input required")


class Crash(McpSimError):
    """mcp-sim could not answer a call. Recorded as a crash, never served as an observation.

    `attempts` are the answers of the world model that were rejected, each as `{"raw", "problems"}`.
    """

    def __init__(self, tool: str, error: str, attempts: Sequence[dict[str, Any]] = ()) -> None:
        self.tool, self.error, self.attempts = tool, error, tuple(attempts)
        super().__init__(f"{tool}: {error}")


_ALIKE = 0.8  # below, suggestions look unrelated to what was written


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the choice that a name is a misspelling of; None if it is like none of them."""
    known = sorted(choices)
    swapped = [candidate for candidate in known if sorted(candidate) == sorted(name)]
    near = get_close_matches(name, known, n=1, cutoff=_ALIKE) if len(name) <= LONGEST_COMPARED else []
    return next(iter(swapped or near), None)


MOST_COMPARED = 2000  # difflib takes quadratic time for each, and a catalogue has many thousands
LONGEST_COMPARED = 200
"""How many choices, and how long a name, are compared for a suggestion."""


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` or `; choose from 'a', 'b'`, to append to a message."""
    known = sorted(choices)
    at = bisect(known, name)  # of many choices, those that begin alike are compared
    compared = known[max(0, at - MOST_COMPARED // 2) : at + MOST_COMPARED // 2]
    near = get_close_matches(name, compared, n=1, cutoff=0.6) if len(name) <= LONGEST_COMPARED else []
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(repr(choice) for choice in known[:12])
    return f"; choose from {shown}{', ...' if len(known) > 12 else ''}" if known else ""
