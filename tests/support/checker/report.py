"""Violations of R1 to R8 in a ledger, in total and per 1,000 calls without faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from support.checker.knowledge import Knowledge
from support.checker.ledger import Answered, Happened, Json, Record, entries
from support.checker.pages import Lists
from support.checker.prose import prose_problems
from support.checker.records import missing_problems, record_problems
from support.checker.specs import NOWHERE, Specs, at
from support.checker.writes import write_problems


@dataclass(frozen=True)
class Violation:
    """A violated rule, the step, the tool, and a description."""

    rule: str
    n: int
    tool: str
    what: str


@dataclass(frozen=True)
class Report:
    """The result of a check. `calls` counts the checked calls, `succeeded` the successful ones."""

    calls: int
    succeeded: int
    violations: tuple[Violation, ...]

    @property
    def per_thousand(self) -> float:
        return 1000 * len(self.violations) / self.calls if self.calls else 0.0

    @property
    def by_rule(self) -> Counter[str]:
        return Counter(violation.rule for violation in self.violations)


def judged(lines: Iterable[Json], plans: Record, world: str | None = None, *, own_ids: bool = False) -> Report:
    """Return the report on one world: `lines` of a trace, parsed (or steps); `plans` as of `mcp-sim plan --json`.

    `own_ids`: a language model answers. It chooses the ids of new records, unused ones of any form and order, and
    whether lists show records whose state has changed.
    """
    specs = Specs(plans["tools"], plans["entities"])
    calls = succeeded = 0
    violations = list[Violation]()
    knowledge = Knowledge(own_ids=own_ids)
    lists = Lists(specs, knowledge)
    for entry in entries(lines, world):
        if isinstance(entry, Happened):
            if entry.restarted:
                knowledge = Knowledge(own_ids=own_ids)
                lists = Lists(specs, knowledge)
            knowledge.write(entry.written)
            continue
        if entry.judged:
            calls, succeeded = calls + 1, succeeded + (not entry.failed)
            findings = _findings(entry, specs, knowledge, lists)
            violations += [Violation(rule, entry.n, entry.tool, what) for rule, what in findings]
        else:
            knowledge.write(entry.written)
    return Report(calls, succeeded, tuple(violations))


def _findings(call: Answered, specs: Specs, knowledge: Knowledge, lists: Lists) -> Iterator[tuple[str, str]]:
    plan = specs.plan(call.tool)
    if plan is None:
        knowledge.write(call.written)
        return
    if call.failed and call.written:
        yield "R3", f"{call.tool} fails, but {len(call.written)} changes are written"
    yield from missing_problems(plan, call, specs, knowledge)
    yield from write_problems(plan, call, specs, knowledge)
    knowledge.write(call.written, creates=plan["verb"] == "create")
    yield from record_problems(plan, call, specs, knowledge)
    yield from lists.problems(plan, call)
    yield from prose_problems(plan, call, knowledge)
    yield from _echo_problems(plan, call)


def _echo_problems(plan: Record, call: Answered) -> Iterator[tuple[str, str]]:
    """Check R8: what the plan declares is returned as given."""
    if call.failed:
        return
    for path, argument in plan["envelope"].get("echoes", {}).items():
        answered: Any = at(call.value, path)
        given: Any = at(call.arguments, argument)
        if NOWHERE not in (answered, given) and answered != given:
            yield "R8", f"{path} is {answered!r}, but {argument} was given as {given!r}"
