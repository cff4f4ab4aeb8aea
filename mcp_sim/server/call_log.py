"""Ledger entries as lines of text for people, and a sink that writes them to stderr."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from copy import copy
from datetime import timedelta
from traceback import extract_tb

from mcp_sim.server.descriptors import write_lines
from mcp_sim.types import BrokenDelivery, Change, Decision, Json, Observation, Record, RpcError, Step
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.oauth import EVENTS
from mcp_sim.types.readable import printable, readable
from mcp_sim.world.trace import step_from_json


class CallLog:
    """A sink that logs each entry; with `crashes_only`, only crashes; with `with_worlds`, preceded by the world's name.

    Faults that were due and had no effect are logged only with `with_idle`. Serving never waits for logging: calls are
    rendered and written after the event loop has done what it has to do now, together, and what cannot be written
    without blocking is dropped.
    """

    def __init__(
        self, target: int, *, crashes_only: bool = False, with_worlds: bool = False, with_idle: bool = False
    ) -> None:
        self._target = target
        self._crashes_only = crashes_only
        self._with_worlds = with_worlds
        self._with_idle = with_idle
        self._waiting = list[tuple[bytes, Step | None]]()

    def write(self, line: bytes, step: Step | None = None) -> None:
        if self._crashes_only and (step is not None or b'"crash"' not in line):
            return
        self._waiting.append((line, step))
        if len(self._waiting) == 1:
            try:
                asyncio.get_running_loop().call_soon(self.flush)
            except RuntimeError:  # no loop is running
                self.flush()

    def flush(self) -> None:
        """Write the entries that wait."""
        waiting, self._waiting = self._waiting, []
        write_lines(self._target, [text for line, step in waiting for text in self._rendered(line, step)])

    def say(self, lines: Iterable[str]) -> None:
        """Write lines that are not entries of a ledger."""
        self.flush()
        write_lines(self._target, lines)

    def close(self) -> None:
        self.flush()

    def _rendered(self, line: bytes, step: Step | None) -> Iterable[str]:
        if step is not None:
            world = line[len(b'{"world":') : line.index(b',"step":')]  # which is the first in the line of a step
            place = f"{decode(world)} " if self._with_worlds else ""
            return [f"{place}{text}" for text in step_lines(step, with_idle=self._with_idle)]
        entry = decode(line)
        if self._crashes_only and "crash" not in entry:
            return []
        place = f"{entry['world']} " if self._with_worlds else ""
        return [f"{place}{text}" for text in entry_lines(entry, with_idle=self._with_idle)]


class LogLines(logging.Handler):
    """A logging handler that never blocks: lines that cannot be written at once are dropped."""

    def __init__(self, target: int) -> None:
        super().__init__()
        self._target = target
        self.setFormatter(_OneLine("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        write_lines(self._target, self.format(record).splitlines())


class _OneLine(logging.Formatter):
    """Renders an exception and its origin on the line of the message; with a traceback only at level debug."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or logging.getLogger().isEnabledFor(logging.DEBUG):
            return readable(super().format(record))
        plain_record = copy(record)
        plain_record.exc_info = plain_record.exc_text = None
        places = extract_tb(error.__traceback__)
        place = f" ({places[-1].filename}:{places[-1].lineno})" if places else ""
        return printable(f"{super().format(plain_record)}: {type(error).__name__}: {error}{place}")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the name that logging calls)
        """Render the message, which may hold a path or a name that a client has sent, as one line."""
        return printable(super().formatMessage(record))


WIDTH = 100
"""Longer values are cut."""
READ = 10 * WIDTH
"""The characters of a value that are looked at: calls may show megabytes."""
MILLISECOND = timedelta(milliseconds=1)


def entry_lines(entry: Record, *, with_idle: bool = False) -> list[str]:
    """Render an entry of a ledger: one line, and one more for each perturbation that was applied.

    `with_idle` adds those that were due and had no effect.
    """
    if "crash" in entry:
        crash: Record = entry["crash"]
        return [printable(f"CRASH {crash['tool']} {shorten(crash['arguments'])}: {crash['error']}")]
    return step_lines(step_from_json(entry["step"]), with_idle=with_idle) if "step" in entry else []


def step_lines(step: Step, *, with_idle: bool = False) -> list[str]:
    """Render a step, as `entry_lines`."""
    match step.entry:
        case "call":
            assert step.served is not None
            guessed = f" (guessed: {'; '.join(step.guesses)})" if step.guessed else ""
            asked = f"#{step.n} {step.tool} {shorten(step.arguments)}"
            line = f"{asked} -> {render_observation(step.served)}{guessed}"
            return [printable(line), *map(printable, fault_lines(step, with_idle=with_idle))]
        case "event":
            return [printable(f"{step.actor} {render_event(step)}")]
        case _:
            return []


def fault_lines(step: Step, *, with_idle: bool = False) -> list[str]:
    """Render the perturbations that were applied to a call: which, why, and what really happened."""
    return [
        _fault_line(step, perturbation)
        for perturbation in step.perturbations
        if with_idle or perturbation.outcome == "applied"
    ]


def _fault_line(step: Step, decided: Decision) -> str:
    name = f"{decided.id} ({decided.kind}, {decided.why})"
    if decided.outcome != "applied":
        return f"   {name}: {decided.outcome.replace('_', ' ')}"
    return f"   FAULT {name}; the truth: {render_truth(step)}"


def render_truth(step: Step) -> str:
    """Render what a call really did, whatever was served."""
    if step.truth is None:
        return "the call never reached the world"
    if step.committed:
        return render_changes(step.committed)
    return f"nothing changed; the answer was {render_observation(step.truth.observation)}"


def render_observation(observation: Observation) -> str:
    late = f" after {observation.delay / MILLISECOND:g} ms" if observation.delay else ""
    body = observation.body
    if isinstance(body, RpcError):
        return f"JSON-RPC error {body.code}: {body.message}{late}"
    if isinstance(body, BrokenDelivery):
        return f"{body.how.replace('_', ' ')}{late}"
    if body.text is not None or isinstance(body.value, str):
        shown = shorten(body.value if body.text is None else body.text)
    else:
        shown = _cut(body.encoded)
    return f"{'error: ' if body.is_error else ''}{shown}{late}"


def render_changes(changes: Sequence[Change]) -> str:
    """Render changes by entity and key."""
    words = {"put": "wrote", "remove": "removed", "reserve": "used up"}
    shown = [f"{words[change.op]} {change.entity} {change.key}" for change in changes[:4]]
    return ", ".join(shown) + (f" and {len(changes) - 4} more" if len(changes) > 4 else "")


def render_event(step: Step) -> str:
    """Render what someone else did to the world."""
    match step.steered:
        case {"inject": entry}:
            return f"added the fault {entry['id']}: {shorten(entry)}"
        case {"enable": name} | {"disable": name} as steered:
            return f"{next(iter(steered))}d the fault {name}"
        case {"programs": [*tools]}:
            return f"programs answer from now on: {', '.join(map(str, tools))}"
        case {"advance_ms": milliseconds}:
            return f"advanced the clock by {milliseconds / 1000:g} s"
        case {"event": event} as steered:
            reason = f": {steered['reason']}" if "reason" in steered else ""
            return f"{EVENTS.get(event, event)}{reason}"
        case _:
            return render_changes(step.committed) or "changed nothing"


def shorten(value: Json) -> str:
    """Render a value as one line of JSON, a string as it is, cut to WIDTH characters."""
    return _cut(value if isinstance(value, str) else encode(value))


def _cut(text: str | bytes) -> str:
    """Return a text as one line, cut to WIDTH characters."""
    line = ""
    for read in (2 * WIDTH, READ):  # few texts have more white space than others
        head = text[:read] if isinstance(text, str) else text[:read].decode("utf-8", "ignore")
        line = " ".join(head.split())
        if len(line) > WIDTH or len(text) <= read:
            break
    is_whole = len(line) <= WIDTH and len(text) <= READ
    return printable(line if is_whole else line[: WIDTH - 3] + "...")
