"""Ledger entries as lines of text for people, and a sink that writes them to stderr."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from copy import copy
from traceback import extract_tb

from mcp_sim.server.descriptors import write_line
from mcp_sim.types import Json, Record
from mcp_sim.types.json_values import decode, encode


class CallLog:
    """A sink that logs each entry; with `crashes_only`, only crashes; with `with_worlds`, preceded by the world's name.

    Faults that were due and had no effect are logged only with `with_idle`. Serving never waits for logging: a line
    that cannot be written without blocking is dropped.
    """

    def __init__(
        self, target: int, *, crashes_only: bool = False, with_worlds: bool = False, with_idle: bool = False
    ) -> None:
        self._target = target
        self._crashes_only = crashes_only
        self._with_worlds = with_worlds
        self._with_idle = with_idle

    def write(self, line: bytes) -> None:
        if self._crashes_only and b'"crash"' not in line:
            return
        entry = decode(line)
        if self._crashes_only and "crash" not in entry:
            return
        place = f"{entry['world']} " if self._with_worlds else ""
        self.say(f"{place}{line}" for line in entry_lines(entry, with_idle=self._with_idle))

    def say(self, lines: Iterable[str]) -> None:
        """Write lines that are not entries of a ledger."""
        for line in lines:
            write_line(self._target, line)

    def close(self) -> None:
        return


class LogLines(logging.Handler):
    """A logging handler that never blocks: lines that cannot be written at once are dropped."""

    def __init__(self, target: int) -> None:
        super().__init__()
        self._target = target
        self.setFormatter(_OneLine("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        for line in self.format(record).splitlines():
            write_line(self._target, line)


class _OneLine(logging.Formatter):
    """Renders an exception and its origin on the line of the message; with a traceback only at level debug."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or logging.getLogger().isEnabledFor(logging.DEBUG):
            return super().format(record)
        plain_record = copy(record)
        plain_record.exc_info = plain_record.exc_text = None
        places = extract_tb(error.__traceback__)
        place = f" ({places[-1].filename}:{places[-1].lineno})" if places else ""
        return printable(f"{super().format(plain_record)}: {type(error).__name__}: {error}{place}")


WIDTH = 100
"""Longer values are cut."""
READ = 10 * WIDTH
"""The characters of a value that are looked at: calls may show megabytes."""


def entry_lines(entry: Record, *, with_idle: bool = False) -> list[str]:
    """Render a ledger entry: one line, and one more for each perturbation that was applied.

    `with_idle` adds those that were due and had no effect.
    """
    return [printable(line) for line in _entry_lines(entry, with_idle=with_idle)]


def _entry_lines(entry: Record, *, with_idle: bool) -> list[str]:
    if "crash" in entry:
        crash: Record = entry["crash"]
        return [f"CRASH {crash['tool']} {shorten(crash['arguments'])}: {crash['error']}"]
    step: Record = entry.get("step", {})
    match step.get("entry"):
        case "call":
            guessed = " (guessed)" if step["guessed"] else ""
            asked = f"#{step['index']} {step['tool']} {shorten(step['arguments'])}"
            return [
                f"{asked} -> {render_observation(step['served'] or step['truth']['observation'])}{guessed}",
                *fault_lines(step, with_idle=with_idle),
            ]
        case "event":
            return [f"{step['actor']} {render_event(step)}"]
        case _:
            return []


def fault_lines(step: Record, *, with_idle: bool = False) -> list[str]:
    """Render the perturbations that were applied to a call: which, why, and what really happened."""
    shown = [one for one in step["perturbations"] if with_idle or one["outcome"] == "applied"]
    return [_fault_line(step, decided) for decided in shown]


def _fault_line(step: Record, decided: Record) -> str:
    name = f"{decided['id']} ({decided['kind']}, {decided['why']})"
    if decided["outcome"] != "applied":
        return f"   {name}: {decided['outcome'].replace('_', ' ')}"
    return f"   FAULT {name}; the truth: {render_truth(step)}"


def render_truth(step: Record) -> str:
    """Render what a call really did, whatever was served."""
    if step["truth"] is None:
        return "the call never reached the world"
    if step["committed"]:
        return render_changes(step["committed"])
    return f"nothing changed; the answer was {render_observation(step['truth']['observation'])}"


def render_observation(observation: Record) -> str:
    """Render an observation briefly."""
    late = f" after {observation['delay_ms']:g} ms" if "delay_ms" in observation else ""
    if "rpc_error" in observation:
        return f"JSON-RPC error {observation['rpc_error']['code']}: {observation['rpc_error']['message']}{late}"
    if "broken" in observation:
        return f"{observation['broken']['how'].replace('_', ' ')}{late}"
    value = observation.get("text", observation["result"])
    return f"{'error: ' if observation.get('is_error') else ''}{shorten(value)}{late}"


def render_changes(changes: Sequence[Record]) -> str:
    """Render changes by entity and key."""
    words = {"put": "wrote", "remove": "removed", "reserve": "used up"}
    shown = [f"{words[change['op']]} {change['entity']} {change['key']}" for change in changes[:4]]
    return ", ".join(shown) + (f" and {len(changes) - 4} more" if len(changes) > 4 else "")


def render_event(step: Record) -> str:
    """Render what someone else did to the world."""
    match step.get("steered", {}):
        case {"inject": entry}:
            return f"added the fault {entry['id']}: {shorten(entry)}"
        case {"enable": name} | {"disable": name} as steered:
            return f"{next(iter(steered))}d the fault {name}"
        case {"advance_ms": milliseconds}:
            return f"advanced the clock by {milliseconds / 1000:g} s"
        case _:
            return render_changes(step["committed"])


def shorten(value: Json) -> str:
    """Render a value as one line of JSON, a string as it is, cut to WIDTH characters."""
    text = value if isinstance(value, str) else encode(value).decode()
    head = text[:READ]
    line = " ".join(head.split())
    is_whole = len(line) <= WIDTH and len(head) == len(text)
    return printable(line if is_whole else line[: WIDTH - 3] + "...")


def printable(line: str) -> str:
    """Replace characters that would end the line or control a terminal; values of clients may hold any."""
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line)
