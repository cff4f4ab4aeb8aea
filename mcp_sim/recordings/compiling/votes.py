"""Several programs for one server: where their answers to the same calls agree, and which tools each answers best."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from mcp_sim.recordings.compiling.gate import Judged, tables_of
from mcp_sim.recordings.observed import TIME
from mcp_sim.types import Record
from mcp_sim.types.frozen import frozen

_ID = re.compile(r"\b(?:[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z_-]*\d[\w-]*)\b")
"""Ids and numbers, in which programs may differ by chance."""


@frozen
class Vote:
    """What several programs answer to the calls of one tool that all of them got."""

    calls: int
    agreement: float
    """The share of calls to which all programs give the same answer, but for ids and times."""
    call: str = ""
    """The first call to which they give different answers."""
    answers: Mapping[str, int] = field(default_factory=dict[str, int])
    """Their answers to it, and how many programs give each."""

    def to_json(self) -> Record:
        differing = {"call": self.call, "answers": {**self.answers}} if self.call else {}
        return {"calls": self.calls, "agreement": round(self.agreement, 4), **differing}


def votes(programs: Sequence[Judged]) -> dict[str, Vote]:
    """Return the votes on each tool."""
    answers = [_by_call(judged) for judged in programs]
    common = [call for call in answers[0] if all(call in others for others in answers)] if answers else []
    by_tool = dict[str, list[tuple[str, str]]]()
    for call in common:
        by_tool.setdefault(call[0], []).append(call)
    return {tool: _vote(calls, answers) for tool, calls in by_tool.items()}


def majority(programs: Sequence[Judged]) -> list[float]:
    """Return for each program how often its answers are those that most programs give, from 0 to 1."""
    answers = [_by_call(judged) for judged in programs]
    counts = dict[tuple[str, str], Counter[str]]()
    for given in answers:
        for call, text in given.items():
            counts.setdefault(call, Counter())[_plain(text)] += 1
    shares = [
        [counts[call][_plain(text)] / counts[call].total() for call, text in given.items() if counts[call].total() > 1]
        for given in answers
    ]
    return [sum(share) / len(share) if share else 0.0 for share in shares]


def clusters(judged: Judged) -> list[frozenset[str]]:
    """Return the tools of a program in groups that share no table. Those that use a library are in one group."""
    tables = {tool: tables_of(function) for tool, function in judged.functions.items()}
    for tool, function in judged.functions.items():
        if function.effects.uses_libraries or function.effects.is_partial:
            tables[tool].add("(library)")
    groups = list[set[str]]()
    for tool, used in tables.items():
        linked = [group for group in groups if any(used & tables[other] for other in group)]
        groups = [group for group in groups if group not in linked] + [{tool}.union(*linked)]
    return [frozenset(group) for group in groups]


def _by_call(judged: Judged) -> dict[tuple[str, str], str]:
    """Return the answers of a program by tool and arguments: the first one to each call."""
    answers = dict[tuple[str, str], str]()
    for tool, arguments, _, text in judged.answers:
        answers.setdefault((tool, arguments), text)
    return answers


def _plain(text: str) -> str:
    """Return an answer without what differs by chance."""
    return _ID.sub("#", TIME.sub("#", text))


def _vote(calls: Sequence[tuple[str, str]], answers: Sequence[Mapping[tuple[str, str], str]]) -> Vote:
    agree = [all(_plain(left[call]) == _plain(right[call]) for left, right in pairwise(answers)) for call in calls]
    share = sum(agree) / len(agree)
    if all(agree):
        return Vote(len(calls), share)
    differing = calls[agree.index(False)]
    forms = Counter(_plain(given[differing]) for given in answers)
    shown = {_plain(given[differing]): given[differing] for given in reversed(answers)}
    counts = {shown[form]: count for form, count in forms.most_common()}
    return Vote(len(calls), share, f"{differing[0]}({differing[1]})", counts)
