"""The entries of a trace: calls, answers, and what was written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

Json = Any
Record = dict[str, Any]

_FAILING = re.compile(
    r"^\W*(error|failed|failure|invalid|cannot|could not|unable|unknown|no such|not found)\b", re.IGNORECASE
)
_MISSING = re.compile(
    r"not found|no such|does not exist|doesn't exist|there is no|no \w+ with|unknown|NotFound|404|not_found",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Answered:
    """One call of a ledger, and what was written when it was made.

    `judged`: nothing bent it, so that its answer must hold. `value` is the JSON of the result, also where it came as
    text; `text` is the result as an agent reads it.
    """

    n: int
    at: str
    tool: str
    arguments: Record
    judged: bool
    failed: bool
    value: Json
    text: str
    written: tuple[Record, ...]
    guessed: bool
    """Whether it rests on a guess, which may be wrong."""

    @property
    def is_missing(self) -> bool:
        """Whether the answer states that something does not exist."""
        return self.failed and _MISSING.search(self.text) is not None


@dataclass(frozen=True)
class Happened:
    """Changes by another actor, or the reset of a world (`restarted`)."""

    written: tuple[Record, ...]
    restarted: bool = False


def entries(lines: Iterable[Json], world: str | None = None) -> Iterator[Answered | Happened]:
    """Return the entries of one world, in order; lines are parsed lines of a trace, or its `step` objects."""
    for line in lines:
        if world is not None and line.get("world", world) != world:
            continue
        step = line.get("step", line)
        if step.get("entry") == "call":
            yield _answered(step)
        elif step.get("entry") == "event":
            yield Happened(tuple(step["committed"]))
        elif step.get("entry") == "reset":
            yield Happened((), restarted=True)


def _answered(step: Record) -> Answered:
    truth: Record = step.get("truth") or {}
    observation: Record = step.get("served") or truth.get("observation") or {}
    value, text = _value(observation)
    bent = bool(step.get("perturbations") or step.get("stub") or step.get("served")) or not truth
    failed = bool(observation.get("is_error")) or "result" not in observation or _says_failure(observation)
    written = (*step.get("committed", ()), *step.get("absorbed", ()))
    called, guessed = (step["n"], step["at"], step["tool"], step["arguments"]), step.get("guessed", False)
    return Answered(*called, not bent, failed, value, text, written, guessed)


def _value(observation: Record) -> tuple[Json, str]:
    """Return the result as JSON and as text. Text that is JSON counts as both."""
    if "rpc_error" in observation:
        return None, str(observation["rpc_error"].get("message"))
    result: Json = observation.get("result")
    if observation.get("form") == "blocks":
        result = "\n".join(str(block.get("text", "")) for block in cast("list[Record]", result))
    if isinstance(result, str):
        return _parsed(result), result
    inner = unwrapped(result)
    if isinstance(inner, str):
        return _parsed(inner), inner
    return result, json.dumps(result, ensure_ascii=False)


def unwrapped(result: Json) -> Json:
    """Return the content of a wrapper around a single text: `{"result": "..."}`."""
    if not isinstance(result, dict):
        return result
    body = cast("Record", result)
    inner = next(iter(body.values())) if len(body) == 1 else None
    return inner if isinstance(inner, str) else body


def _parsed(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return None
    return cast("Json", value) if isinstance(value, dict | list) else None


def _says_failure(observation: Record) -> bool:
    """Whether ordinary content reports a failure."""
    result: Json = unwrapped(observation.get("result"))
    if isinstance(result, dict):
        body = cast("Record", result)
        return body.get("success") is False or body.get("ok") is False or set(body) == {"error"}
    return isinstance(result, str) and _FAILING.search(result) is not None
