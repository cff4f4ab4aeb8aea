"""Ask for a program, judge it, complain, and settle for what passes."""

from __future__ import annotations

import ast
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from anyio import create_task_group, to_thread

from mcp_sim.models.language_model.prompt import Message
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.recordings.compiling.combining import Vote, clusters, combined, majority, votes
from mcp_sim.recordings.compiling.gate import Difference, Gate, Judged
from mcp_sim.recordings.compiling.probes import INITIAL, Finding
from mcp_sim.recordings.compiling.settling import TOLERANCE, Notify, Settled, settle
from mcp_sim.types.errors import Rejected, Unanswered
from mcp_sim.types.frozen import frozen

ROUNDS = 3  # each is a whole program; the best one so far is kept
MOST_COMPLAINTS = 4
"""The most complaints about one tool. One mistake causes many, and all tools share the prompt."""
_LONGEST_REPLY = 120_000  # quoted in the next request, beside the prompt
_RECORDED = re.compile(r"recorded \"[^\"]*\", answered \"[^\"]*\"")  # the part of a reason that names two short texts

Author: TypeAlias = Callable[[Sequence[Message], int], Awaitable[Reply]]
"""Writes a program: answers a conversation, with other numbers otherwise. Raises `Unanswered` without an answer."""


@dataclass(slots=True)
class Tally:
    """What was asked: rounds, and tokens by name."""

    rounds: int = 0
    tokens: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, reply: Reply) -> None:
        for name, number in reply.usage.items():
            self.tokens[name] = self.tokens.get(name, 0) + number


@frozen
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
    votes: Mapping[str, Vote] = field(default_factory=dict[str, Vote])
    """What several programs answer to the same calls, by tool; empty with one program."""
    excused: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "list[str]"])
    """The tools whose functions are kept although calls contradict them, since others need them; and what is wrong."""


async def write_program(
    gate: Gate, prompt: str, author: Author, rounds: int, notify: Notify, samples: int = 1
) -> Outcome:
    """Ask an author for a program, at most `rounds` times, and return what passes the gate of the best one.

    `samples`: how many programs are written in the first round; the best one, with the tools that others answer better,
    goes on. If there is nothing but advice, it is given once.

    Raises `Unanswered` if there is no answer, unless an earlier one had a program.
    """
    messages: list[Message] = [{"role": "user", "content": prompt}]
    best, complaints, tally, was_advice = None, "", Tally(), False
    program, problems, all_votes = "", "", dict[str, Vote]()
    for number in range(1, rounds + 1):
        notify(f"round {number} of {rounds}: the model writes")
        try:
            replies = await _replies(author, messages, samples if number == 1 else 1)
        except Unanswered as error:
            if best is None:
                raise
            notify(f"{error}; going on with what there is")
            break
        for reply in replies:
            tally.add(reply)
        tally.rounds += 1
        notify(f"round {number} of {rounds}: trying the program out")
        tried = [(*await _judged(gate, reply), reply.content) for reply in replies]
        if samples > 1 and number == 1:
            all_votes = votes([judged for judged, _, _ in tried if judged is not None and not judged.whole])
        judged, complaints, content = await _elected(gate, tried, notify)
        tools = len(gate.subject.tools)
        if judged is not None and (best is None or judged.merit(tools) > best.merit(tools)):
            best = judged
        is_advice = judged is not None and not judged.is_wrong()
        if not complaints or (is_advice and was_advice):
            break
        was_advice = is_advice
        if judged is not None or not program:
            program, problems = content[:_LONGEST_REPLY], complaints
        else:  # the last program, and what is wrong with it, are worth more than a reply without one
            complaints = f"{problems}\n\nYour last answer could not be used. {complaints}"
        exchange: list[Message] = [{"role": "assistant", "content": program}, {"role": "user", "content": complaints}]
        messages = [messages[0], *exchange]
    notify("settling what is kept")
    kept = Settled(None) if best is None else await settle(gate, best, notify)
    return Outcome(kept.judged, best, kept.dropped, complaints, tally, all_votes, kept.excused)


async def _replies(author: Author, messages: Sequence[Message], count: int) -> list[Reply]:
    """Return several replies to the same question, asked at the same time."""
    replies, failures = dict[int, Reply](), list[Unanswered]()

    async def ask(number: int) -> None:
        try:
            replies[number] = await author(messages, number)
        except Unanswered as error:
            failures.append(error)

    async with create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(ask, number)
    if not replies:
        raise failures[0]
    return [replies[number] for number in sorted(replies)]


_Tried: TypeAlias = tuple[Judged | None, str, str]
"""What the gate found in a reply, the complaints, and the reply."""


async def _elected(gate: Gate, tried: Sequence[_Tried], notify: Notify) -> _Tried:
    """Return the best of several programs, with the tools of others where the gate finds that better.

    Of programs that are equally good, the one counts whose answers most others give.
    """
    usable = [(judged, complaints, content) for judged, complaints, content in tried if judged is not None]
    if len(usable) < 2:
        return usable[0] if usable else tried[0]
    tools = len(gate.subject.tools)
    shares = majority([judged for judged, _, _ in usable])
    ranked = sorted(range(len(usable)), key=lambda at: (-usable[at][0].merit(tools), -shares[at]))
    best, complaints, content = usable[ranked[0]]
    for at in ranked[1:]:
        other = usable[at][0]
        for cluster in _better_clusters(best, other):
            text = combined(best, other, cluster)
            judged = None if text is None else await to_thread.run_sync(gate.judge, text)
            if text is not None and judged is not None and judged.merit(tools) > best.merit(tools) + TOLERANCE:
                notify(f"taking {', '.join(sorted(cluster))} from another program")
                names = [str(tool["name"]) for tool in gate.subject.tools]
                best, complaints = judged, complaints_about(judged, names, gate.plans)
                content = f"```python\n{text}\n```"
    return best, complaints, content


def _better_clusters(best: Judged, other: Judged) -> list[frozenset[str]]:
    """Return groups of tools that share no table with the rest in either program, and that the other does better."""
    ours, theirs = {*clusters(best)}, [*clusters(other)] if not other.whole else []
    return [
        cluster
        for cluster in theirs
        if all(group <= cluster or not group & cluster for group in ours)
        and cluster < {*other.functions}
        and _cluster_merit(other, cluster) > _cluster_merit(best, cluster) + TOLERANCE
    ]


def _cluster_merit(judged: Judged, cluster: Collection[str]) -> float:
    """Return how good a program is at some tools: the share that passes, and the agreement with recordings."""
    passing = len({*cluster} & {*judged.functions} - judged.failing().keys()) / len(cluster)
    scores = {**judged.shown.tools, **judged.held.tools}
    known = [scores[tool] for tool in cluster if tool in scores]
    return passing + (2 * sum(known) / len(known) if known else 0.0)


async def _judged(gate: Gate, reply: Reply) -> tuple[Judged | None, str]:
    try:
        text = program_in(reply)
    except Rejected as error:
        return None, "\n".join(error.problems)
    judged = await to_thread.run_sync(gate.judge, text)
    return judged, complaints_about(judged, [str(tool["name"]) for tool in gate.subject.tools], gate.plans)


# complaints -----------------------------------------------------------------------------------------------------------


def complaints_about(judged: Judged, tools: Sequence[str], plans: Judged) -> str:
    """Return complaints for the author of a program; empty if they are missing."""
    parts = [*_complaints(judged, tools, plans)]
    if not parts:
        return ""
    return "\n\n".join(
        [
            "The program was tried out. Correct what follows, look for the same mistakes elsewhere, and keep the rest.",
            *parts,
            "Answer with the whole corrected file in one fenced block that begins with ```python.",
        ]
    )


def _complaints(judged: Judged, tools: Sequence[str], plans: Judged) -> Iterator[str]:
    if judged.whole or judged.removed or judged.flaws:
        yield "\n".join(f"- {problem}" for problem in (*judged.removed, *judged.whole, *judged.flaws))
    if judged.whole:
        return
    for tool, why in judged.left_out.items():
        yield "\n".join([f"## {tool}", *(f"- {reason}" for reason in why)])
    known = {*judged.functions, *judged.left_out}
    missing = [tool for tool in tools if tool not in known]
    if missing:
        yield f"These tools have no function: {', '.join(missing)}."
    for tool in (INITIAL, *judged.answering):
        findings = [finding for finding in judged.relevant() if finding.tool == tool]
        shown = [_said(judged, finding) for finding in findings[:MOST_COMPLAINTS]]
        sentences = [*shown, *_scored_low(judged, tool, plans)]
        if sentences:
            yield "\n".join([f"## {tool}", *(f"- {remark}" for remark in sentences)])
    if judged.differs() and judged.differences:
        worst_first = sorted(judged.differences, key=lambda difference: difference.mean)
        title = "## Calls of the recorded sessions above that the real server answers otherwise"
        yield "\n\n".join([title, *map(_difference_text, _distinct(worst_first))])


def _scored_low(judged: Judged, tool: str, plans: Judged) -> Iterator[str]:
    """Yield that a tool agrees less with recordings than its plan, which would answer in its place."""
    for agreement, plan, which in (
        (judged.held, plans.held, "other sessions, which you do not see"),
        (judged.shown, plans.shown, "the sessions above"),
    ):
        if tool in agreement.tools and agreement.tools[tool] < plan.tools.get(tool, 0.0) - TOLERANCE:
            score, other = agreement.tools[tool], plan.tools[tool]
            yield (
                f"agrees {score:.2f} of 1 with the real server in {which}; a guess from its schema alone agrees "
                f"{other:.2f}, and would take its place. Does @initial understand every state? Are the fields right?"
            )


def _said(judged: Judged, finding: Finding) -> str:
    sign = "(look whether this is right) " if finding.kind == "advice" else ""
    return f"{sign}{judged.placed(finding)}"


def _distinct(differences: Sequence[Difference]) -> Iterator[Difference]:
    """Yield the differences that have another cause than those before them, as far as the values show it."""
    seen = set[str]()
    for difference in differences:
        causes = {item for reason in difference.reasons for item in _RECORDED.findall(reason)}
        if not causes or causes - seen:
            yield difference
        seen |= causes


def _difference_text(difference: Difference) -> str:
    reasons = f"\n({'; '.join(difference.reasons)})" if difference.reasons else ""
    return f"{difference.call}{reasons}\nThe real server:\n{difference.expected}\nYour program:\n{difference.answered}"


LONGEST = 400_000  # the longest reply that is read, in characters

_THINKING = re.compile(r"\A\s*(?:<think(?:ing)?>)?.*?</think(?:ing)?>", re.DOTALL)
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<text>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_FIRST_LINE = re.compile(r'^(?:"""|from |import |tables\b|@tool\b|def )', re.MULTILINE)
_TOOL = re.compile(r"^@\w[\w.]*", re.MULTILINE)


def program_in(reply: Reply) -> str:
    """Return the Python file in a reply: without reasoning, prose and fences.

    Raises `Rejected`, with a message for the model, if it is missing or it is cut off.
    """
    if reply.finish_reason == "length":
        raise Rejected(reply.content, ["The reply was cut off at the token limit. Write the whole file more briefly."])
    if len(reply.content) > LONGEST:
        raise Rejected(reply.content, [f"The reply has over {LONGEST:,} characters. Write one file, more briefly."])
    content = reply.content.replace("\r\n", "\n").replace("\r", "\n")  # all three end a line of Python
    text = _THINKING.sub("", content, count=1) if "</think" in content else content
    blocks = [match["text"] for match in _FENCED.finditer(text)]
    if blocks:  # the file is likely one with functions for tools, valid Python, the longest
        program = max(blocks, key=lambda block: (bool(_TOOL.search(block)), _is_python(block), len(block)))
    else:
        program = _unfenced(text)
    if program is None:
        raise Rejected(reply.content, ["The reply has no Python file. Answer with one fenced block of Python."])
    return f"{program.strip()}\n"


def _unfenced(text: str) -> str | None:
    """Return a file that is written without a fence, perhaps after some prose."""
    first = _FIRST_LINE.search(text)
    if first is None or _TOOL.search(text) is None:
        return None
    return text[first.start() :]


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
