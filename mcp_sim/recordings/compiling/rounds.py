"""Ask for a program, judge it, complain, and settle for what passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from anyio import to_thread

from mcp_sim.models.language_model.prompt import Message
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.recordings.compiling.gate import Difference, Gate, Judged
from mcp_sim.recordings.compiling.removal import without_tools
from mcp_sim.recordings.compiling.reply import program_in
from mcp_sim.types.errors import Rejected, Unanswered

ROUNDS = 3
GOOD_ENOUGH = 0.97
"""From this agreement with the recordings that the model sees, it is not asked again."""
MOST_COMPLAINTS = 4
"""The most complaints about one tool."""
_LONGEST_REPLY = 120_000
_TOLERANCE = 1e-6

Author: TypeAlias = Callable[[Sequence[Message]], Awaitable[Reply]]
"""Writes a program: answers a conversation. Raises `Unanswered` if there is no answer."""
Notify: TypeAlias = Callable[[str], None]
"""Gets a sentence about what is in progress."""


@dataclass(slots=True)
class Tally:
    """What was asked: rounds, and tokens by name."""

    rounds: int = 0
    tokens: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, reply: Reply) -> None:
        self.rounds += 1
        for name, number in reply.usage.items():
            self.tokens[name] = self.tokens.get(name, 0) + number


@dataclass(frozen=True, slots=True)
class Outcome:
    """What remains of the best program."""

    judged: Judged | None
    """The program that may be kept; None if nothing passed."""
    best: Judged | None
    """The best program as it was written; None if no reply had a file."""
    dropped: Mapping[str, Sequence[str]]
    """The tools whose functions were taken out, and why."""
    complaints: str
    """What there was to say about the last reply; empty if nothing."""
    tally: Tally


async def write_program(gate: Gate, prompt: str, author: Author, rounds: int, notify: Notify) -> Outcome:
    """Ask an author for a program, at most `rounds` times, and return what passes the gate of the best one.

    Raises `Unanswered` if there is no answer, unless an earlier one had a program.
    """
    messages: list[Message] = [{"role": "user", "content": prompt}]
    best, complaints, tally = None, "", Tally()
    program, problems = "", ""
    for number in range(1, rounds + 1):
        notify(f"round {number} of {rounds}: the model writes")
        try:
            reply = await author(messages)
        except Unanswered as error:
            if best is None:
                raise
            notify(f"{error}; going on with what there is")
            break
        tally.add(reply)
        notify(f"round {number} of {rounds}: trying the program out")
        judged, complaints = await _judged(gate, reply)
        tools = len(gate.subject.tools)
        if judged is not None and (best is None or judged.merit(tools) > best.merit(tools)):
            best = judged
        if not complaints:
            break
        if judged is not None or not program:
            program, problems = reply.content[:_LONGEST_REPLY], complaints
        else:  # the last program, and what is wrong with it, are worth more than a reply without one
            complaints = f"{problems}\n\nYour last answer could not be used. {complaints}"
        said: list[Message] = [{"role": "assistant", "content": program}, {"role": "user", "content": complaints}]
        messages = [messages[0], *said]
    notify("settling what is kept")
    settled, dropped = (None, {}) if best is None else await _settled(gate, best, notify)
    return Outcome(settled, best, dropped, complaints, tally)


async def _judged(gate: Gate, reply: Reply) -> tuple[Judged | None, str]:
    try:
        text = program_in(reply)
    except Rejected as error:
        return None, "\n".join(error.problems)
    judged = await to_thread.run_sync(gate.judge, text)
    return judged, complaints_about(judged, [str(tool["name"]) for tool in gate.subject.tools])


# complaints -----------------------------------------------------------------------------------------------------------


def complaints_about(judged: Judged, tools: Sequence[str]) -> str:
    """Return complaints for the author of a program; empty if there are none."""
    parts = [*_complaints(judged, tools)]
    if not parts:
        return ""
    return "\n\n".join(
        [
            "The program was tried out. Correct what follows, look for the same mistakes elsewhere, and keep the rest.",
            *parts,
            "Answer with the whole corrected file in one fenced block that begins with ```python.",
        ]
    )


def _complaints(judged: Judged, tools: Sequence[str]) -> Iterator[str]:
    if judged.whole:
        yield "\n".join(f"- {problem}" for problem in judged.whole)
        return
    found: dict[str, list[str]] = {}
    for one in judged.findings:
        found.setdefault(one.tool, []).append(one.message)
    missing = [tool for tool in tools if tool not in judged.functions]
    if missing:
        yield f"These tools have no function: {', '.join(missing)}."
    for tool, messages in found.items():
        if tool in judged.functions:
            yield "\n".join([f"## {tool}", *(f"- {message}" for message in messages[:MOST_COMPLAINTS])])
    if (judged.shown.score or 1.0) < GOOD_ENOUGH and judged.differences:
        yield "\n\n".join(
            [
                "## Calls of the recorded sessions above that the real server answers otherwise",
                *(_difference_text(one) for one in sorted(judged.differences, key=lambda one: one.mean)),
            ]
        )


def _difference_text(one: Difference) -> str:
    reasons = f"\n({'; '.join(one.reasons)})" if one.reasons else ""
    return f"{one.call}{reasons}\nThe real server:\n{one.expected}\nYour program:\n{one.answered}"


# what is kept ---------------------------------------------------------------------------------------------------------


async def _settled(gate: Gate, best: Judged, notify: Notify) -> tuple[Judged | None, dict[str, list[str]]]:
    """Return a program without the functions that fail, or answer worse than the plans, and why each was taken out."""
    dropped: dict[str, list[str]] = {}
    current = best
    if current.whole:
        return None, dropped
    while failing := {**current.failing(), **_left_alone(current, best, gate.plans)}:
        dropped |= failing
        notify(f"taking out {', '.join(failing)}")
        current = await _without(gate, current, [*failing])
        if current is None:
            return None, dropped
    kept = await _better(gate, current, dropped, notify)
    return kept, dropped


def _left_alone(current: Judged, best: Judged, plans: Judged) -> dict[str, list[str]]:
    """Return the tools whose functions cannot stay, since the plans of others do not write the same tables.

    A tool whose function was taken out may have another entity by its plan; what it writes is then out of sight.
    """
    found: dict[str, list[str]] = {}
    for tool, function in best.functions.items():
        effects = function.effects
        written = {*effects.creates, *effects.updates, *effects.deletes}
        if tool in current.functions or not written or current.writes.get(tool) in written:
            continue
        for other in current.writing(written):
            found[other] = [f"works on {', '.join(sorted(written))}, which the plan of {tool} does not write"]
    for tool, message in current.harmed(plans).items():
        for other in current.writing({current.writes.get(tool)}):
            found.setdefault(other, [f"the plan of {tool} does not work beside it: {message}"])
    return found


async def _better(gate: Gate, current: Judged, dropped: dict[str, list[str]], notify: Notify) -> Judged | None:
    """Take out what answers held-out recordings worse than the plans, as long as the whole does not suffer."""
    plans = gate.plans.held if current.held.score is not None else None
    if plans is None:
        return current
    tried = set[str]()
    while worse := [tool for tool in _worse(current, plans.tools) if tool not in tried]:
        tool = worse[0]
        tried.add(tool)
        notify(f"trying without {tool}")
        without = await _without(gate, current, [tool])
        is_worse = without is not None and (without.failing() or _left_alone(without, current, gate.plans))
        if without is None or is_worse or (without.held.score or 0) < (current.held.score or 0) - _TOLERANCE:
            continue
        score, plan = current.held.tools[tool], plans.tools[tool]
        dropped[tool] = [f"held-back sessions: {score:.3f}, its plan {plan:.3f}"]
        current = without
    score, plan = current.held.score or 0, plans.score or 0
    if score >= plan - _TOLERANCE:
        return current
    why = f"held-back sessions: the program as a whole {score:.3f}, the plans {plan:.3f}"
    dropped |= {tool: [why] for tool in current.functions}
    return None


def _worse(judged: Judged, plans: Mapping[str, float]) -> list[str]:
    """Return the tools that agree less with held-out recordings than their plans, the worst first."""
    scores = judged.held.tools
    lost = {tool: plans[tool] - scores[tool] for tool in judged.functions if tool in scores and tool in plans}
    return sorted((tool for tool, loss in lost.items() if loss > _TOLERANCE), key=lambda tool: -lost[tool])


async def _without(gate: Gate, judged: Judged, tools: Sequence[str]) -> Judged | None:
    """Judge a program without the functions of some tools; None if nothing is left, or it cannot be used."""
    if not judged.functions.keys() - {*tools}:
        return None
    text = without_tools(judged.text, judged.functions, tools)
    found = await to_thread.run_sync(gate.judge, text)
    return None if found.whole else found
