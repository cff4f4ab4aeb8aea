"""Tasks that are made from a recorded session: its writes are the steps, what its last reads show is the goal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import cast

from mcp_sim.grading.expectations.probe import occurrences, shown_text, shown_value
from mcp_sim.runs.agents.script import Check, Step, around, find_shown
from mcp_sim.runs.validity.task import Goal, Task
from mcp_sim.spec.sessions import RecordedCall, Session, read_sessions
from mcp_sim.types import Json, Observation, Record
from mcp_sim.types.call_results import observation_of_answer
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_values import Path, encode, leaves
from mcp_sim.types.tools import Tool

MOST_GOALS = 12  # the most reads that are made at the end of each run
SHORTEST = 3  # the length from which a text does not occur in an answer by chance
_CONTEXT = 12  # characters before a value by which it is found again in a text: about a word

READING = ("get", "list", "search", "compute")


def _seems_to_read(domain: Domain, tool: Tool) -> bool:
    """Whether a tool changes nothing, as far as it is known: a guess only decides what becomes a step."""
    plan = domain.plans.get(tool.id)
    is_guessed = plan is not None and all(variant.verb in READING for variant in plan.variants)
    return domain.only_reads(tool) or (is_guessed and "readOnlyHint" not in tool.annotations)


def with_recording(task: Task) -> tuple[Task, Session | None]:
    """Return a task with the state that its recording begins with, and that session; as it is without a recording.

    Raises `UsageError` if the recording has several sessions.
    """
    if task.recording is None:
        return task, None
    sessions = read_sessions(task.recording)
    if len(sessions) > 1:
        raise UsageError(f"{task.recording}: has {len(sessions)} sessions; name the file of one")
    is_given = task.state is not None or task.prepare
    return task if is_given else task.model_copy(update={"state": sessions[0].state}), sessions[0]


def recorded_task(task: Task, session: Session, domain: Domain) -> Task:
    """Return a task with the steps and the goal of a session. Raises `UsageError` if it has no write that shows."""
    reads = {tool.name for tool in domain.tools.values() if _seems_to_read(domain, tool)}
    calls = [_Seen(call, call.tool in reads, task.folder) for call in session.calls]
    calls = [call for call in calls if call.observation.ok]
    _name_values(calls)
    # The goal is to write the texts that calls write, and that no answer has shown before.
    new = dict[str, bool]()
    for n, call in enumerate(calls):
        for text in [] if call.only_reads else call.texts:
            new.setdefault(text, not any(occurrences(earlier.text, text) for earlier in calls[:n]))
    goal = [*_goals(calls, [text for text, is_new in new.items() if is_new])]
    # The calls that write, and those that show values which others need.
    steps = list[Step]()
    for n, call in enumerate(calls):
        if call.only_reads and not call.is_needed:
            continue
        check = None if call.only_reads else _check(call, calls[n + 1 :], calls[:n])
        steps.append(Step(call=call.tool, arguments=call.arguments, keep=call.keep, check=check))
    if not goal or not any(step.check for step in steps):
        raise UsageError(
            f"{session.file}: no task can be made from it: no call that succeeded shows again what another wrote; "
            "write the task by hand (mcp-sim validity --help)"
        )
    name = f"What session {session.name} of {session.server} does."
    return task.model_copy(update={"steps": steps, "goal": goal, "task": name})


class _Seen:
    """A recorded call that succeeded, with names for the values that an earlier answer gave."""

    def __init__(self, call: RecordedCall, only_reads: bool, folder: str) -> None:
        self.tool, self.only_reads, self.seq = call.tool, only_reads, call.seq
        written = json.dumps(call.arguments, ensure_ascii=False).replace(folder, "{folder}")
        self.arguments = cast("Record", json.loads(written))
        self.observation: Observation = observation_of_answer(call.answer)
        self.text = shown_text(self.observation)
        self.keep = dict[str, str]()
        self.is_needed = False

    @property
    def texts(self) -> list[str]:
        """The texts of its arguments that identify what it writes."""
        texts = [leaf for _, leaf in leaves(self.arguments) if isinstance(leaf, str)]
        lines = [line.strip() for leaf in texts for line in leaf.splitlines()]
        return [line for line in lines if len(line) >= SHORTEST and "{" not in line]


def _name_values(calls: Sequence[_Seen]) -> None:
    """Name the values of arguments that an earlier answer was the first to show, such as ids of new records."""
    names = dict[str, str]()
    given = set[str]()
    for n, call in enumerate(calls):
        for path, leaf in [*leaves(call.arguments)]:
            key = json.dumps(leaf)
            name = next((key for key in reversed(path) if isinstance(key, str)), "")
            if key in names and _is_chosen_by_servers(leaf, name):
                _replace(call.arguments, path, names[key])
                continue
            source = None if key in given else _source(leaf, name, calls[:n])
            if source is None:
                given.add(key)
                continue
            earlier, place = source
            names[key] = f"{{value_{len(names) + 1}}}"
            earlier.keep[names[key][1:-1]] = place
            earlier.is_needed = True
            _replace(call.arguments, path, names[key])


def _source(leaf: Json, name: str, earlier: Sequence[_Seen]) -> tuple[_Seen, str] | None:
    """Return the first answer that shows the value of an argument which no call up to it was given, and where."""
    if isinstance(leaf, bool) or not _is_chosen_by_servers(leaf, name):
        return None
    text = leaf if isinstance(leaf, str) else str(leaf)
    for call in earlier:
        if any(inner == leaf for _, inner in leaves(call.arguments)):
            return None
        value = shown_value(call.observation)
        for path, inner in leaves(value):
            is_id = isinstance(leaf, str) or str(path[-1]).lower() in {"id", name.lower()}
            if path and is_id and inner == leaf and not isinstance(inner, bool):
                return call, ".".join(map(str, path))
        match = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", call.text) if isinstance(value, str) else None
        if match is not None:
            before = call.text[: match.start()].rpartition("\n")[2][-_CONTEXT:]
            return call, f"{re.escape(before)}([\\w.-]+)"
    return None


def _is_chosen_by_servers(leaf: Json, name: str) -> bool:
    """Whether a value may be an id: a text with a digit, or a number under such a name. Others are equal by chance."""
    if isinstance(leaf, str):
        return any(letter.isdigit() for letter in leaf) and " " not in leaf
    return isinstance(leaf, int) and name.lower().endswith(("id", "ids", "key", "number", "index"))


def _check(call: _Seen, later: Sequence[_Seen], earlier: Sequence[_Seen]) -> Check | None:
    """Return the first later call that reads and shows what a call wrote, unless an earlier equal one showed it."""
    for reading in later:
        shown = [text for text in call.texts if occurrences(reading.text, text)]
        before = [old for old in earlier if _is_same(old, reading)]
        new = [text for text in shown if not any(occurrences(old.text, text) for old in before)]
        if reading.only_reads and new:
            record = around(shown_value(reading.observation), new)
            return Check(
                call=reading.tool,
                arguments=reading.arguments,
                shows=new,
                keep=_kept_in(record, call),
                lasts=_lasts(call, reading, new, later),
            )
    return None


def _lasts(call: _Seen, reading: _Seen, texts: Sequence[str], later: Sequence[_Seen]) -> bool:
    """Whether an equal read shows the texts after all later calls that write to the same record."""
    names = [f"{{{name}}}" for name in call.keep]
    writes = [
        old.seq for old in later if not old.only_reads and any(leaf in names for _, leaf in leaves(old.arguments))
    ]
    return any(
        _is_same(old, reading)
        and old.seq > max(writes, default=0)
        and all(occurrences(old.text, text) for text in texts)
        for old in later
    )


def _kept_in(record: Json, call: _Seen) -> dict[str, str]:
    """Return where a record shows the values that are kept of a call's answer."""
    keep = dict[str, str]()
    for name, path in call.keep.items():
        kept = find_shown(shown_value(call.observation), path)
        place = next((inner for inner, leaf in leaves(record) if leaf == kept), None)
        if place is not None and not isinstance(record, str):
            keep[name] = ".".join(map(str, place))
        elif isinstance(record, str) and kept is not None:
            match = re.search(rf"(?<!\w){re.escape(str(kept))}(?!\w)", record)
            keep |= {} if match is None else {name: f"{re.escape(record[: match.start()][-_CONTEXT:])}([\\w.-]+)"}
    return keep


def _goals(calls: Sequence[_Seen], texts: Sequence[str]) -> Iterator[Goal]:
    """Yield the last of equal reads with the texts that they show, or have shown before something removed them."""
    first_write = next((n for n, call in enumerate(calls) if not call.only_reads), len(calls))
    last = {encode([call.tool, call.arguments]): call for call in calls[first_write:] if call.only_reads}
    for call in [*last.values()][-MOST_GOALS:]:
        equal = [old for old in calls if _is_same(old, call)]
        relevant = [text for text in texts if any(occurrences(old.text, text) for old in equal)]
        if relevant:
            yield Goal.model_validate({"tool": call.tool, "arguments": call.arguments, "as_often": relevant})


def _is_same(call: _Seen, other: _Seen) -> bool:
    return call.tool == other.tool and call.arguments == other.arguments


def _replace(arguments: Record, path: Path, name: str) -> None:
    """Replace a value of arguments by the name of a kept value."""
    place: Json = arguments
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = name
