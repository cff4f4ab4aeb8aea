"""One line per call for whoever watches: a sink that tells the ledger on stderr."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from copy import copy
from traceback import extract_tb

from mcp_sim.server.descriptors import write_line
from mcp_sim.types import Json, Record
from mcp_sim.types.json_values import decode, encode


class CallLog:
    """Tells each entry as it is committed; with `crashes_only`, nothing but crashes; `with_worlds`, and in which world.

    The serving never waits for the telling: a line that cannot be written at once is left out.
    """

    def __init__(self, target: int, *, crashes_only: bool = False, with_worlds: bool = False) -> None:
        self._target = target
        self._crashes_only = crashes_only
        self._with_worlds = with_worlds

    def write(self, line: bytes) -> None:
        if self._crashes_only and b'"crash"' not in line:
            return
        entry = decode(line)
        if self._crashes_only and "crash" not in entry:
            return
        place = f"{entry['world']} " if self._with_worlds else ""
        self.say(f"{place}{line}" for line in told(entry))

    def say(self, lines: Iterable[str]) -> None:
        """Write lines that no ledger has."""
        for line in lines:
            write_line(self._target, line)

    def close(self) -> None:
        return


class LogLines(logging.Handler):
    """What else is logged, told in the same way: nobody waits for it."""

    def __init__(self, target: int) -> None:
        super().__init__()
        self._target = target
        self.setFormatter(_OneLine("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        for line in self.format(record).splitlines():
            write_line(self._target, line)


class _OneLine(logging.Formatter):
    """An exception is told in the line of its message, with the place it comes from; its way there only to debug."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or logging.getLogger().isEnabledFor(logging.DEBUG):
            return super().format(record)
        told = copy(record)
        told.exc_info = told.exc_text = None
        places = extract_tb(error.__traceback__)
        place = f" ({places[-1].filename}:{places[-1].lineno})" if places else ""
        return plain(f"{super().format(told)}: {type(error).__name__}: {error}{place}")


WIDTH = 100
"""Longer values are cut."""


def told(entry: Record) -> list[str]:
    """One line for the entry, and one more for each perturbation that was decided for it."""
    return [plain(line) for line in _told(entry)]


def _told(entry: Record) -> list[str]:
    if "crash" in entry:
        crash: Record = entry["crash"]
        return [f"CRASH {crash['tool']} {shortened(crash['arguments'])}: {crash['error']}"]
    step: Record = entry.get("step", {})
    match step.get("entry"):
        case "call":
            guessed = " (guessed)" if step["guessed"] else ""
            asked = f"#{step['index']} {step['tool']} {shortened(step['arguments'])}"
            return [f"{asked} -> {observed(step['served'] or step['truth']['observation'])}{guessed}", *faults(step)]
        case "event":
            return [f"{step['actor']} {written(step['committed'])}"]
        case _:
            return []


def faults(step: Record) -> list[str]:
    """Which perturbations struck a call, why, and what was true all the same."""
    return [_fault(step, decided) for decided in step["perturbations"]]


def _fault(step: Record, decided: Record) -> str:
    name = f"{decided['id']} ({decided['kind']}, {decided['why']})"
    if decided["outcome"] != "applied":
        return f"   {name}: {decided['outcome'].replace('_', ' ')}"
    return f"   FAULT {name}; the truth: {truth(step)}"


def truth(step: Record) -> str:
    """What a call really did, whatever was served."""
    if step["truth"] is None:
        return "the call never reached the world"
    if step["committed"]:
        return written(step["committed"])
    return f"nothing changed; the answer was {observed(step['truth']['observation'])}"


def observed(observation: Record) -> str:
    """What an observation says, in short."""
    late = f" after {observation['delay_ms']:g} ms" if "delay_ms" in observation else ""
    if "rpc_error" in observation:
        return f"JSON-RPC error {observation['rpc_error']['code']}: {observation['rpc_error']['message']}{late}"
    if "broken" in observation:
        return f"{observation['broken']['how'].replace('_', ' ')}{late}"
    value = observation.get("text", observation["result"])
    return f"{'error: ' if observation.get('is_error') else ''}{shortened(value)}{late}"


def written(changes: Sequence[Record]) -> str:
    """What was written, by entity and key."""
    words = {"put": "wrote", "remove": "removed", "reserve": "used up"}
    shown = [f"{words[change['op']]} {change['entity']} {change['key']}" for change in changes[:4]]
    return ", ".join(shown) + (f" and {len(changes) - 4} more" if len(changes) > 4 else "")


def shortened(value: Json) -> str:
    """A value as one line of JSON (text as it is), cut where it is long."""
    text = value if isinstance(value, str) else encode(value).decode()
    line = " ".join(text.split())
    return plain(line if len(line) <= WIDTH else line[: WIDTH - 3] + "...")


def plain(line: str) -> str:
    """The line without signs that end it, or that command a terminal: what a client sent may hold any."""
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line)
