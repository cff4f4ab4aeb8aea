"""The expectation that nothing else was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any, cast

from pydantic import Field, field_validator
from rpds import HashTrieMap

from mcp_sim.grading.bases import MOST_STEPS, NO_EVIDENCE, Evidence, is_unclear, judged
from mcp_sim.types import Change, Json, Key, Record, Step, Tool
from mcp_sim.types.call_matchers import unfit_fields
from mcp_sim.types.conditions import Matcher, at_path, matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import End, Expectation, Perturbation, Verdict, expectations
from mcp_sim.types.scenario import Scenario


@frozen
class Write:
    """A write of a record that should not have been written."""

    entity: str
    key: Key
    n: int
    evidence: Evidence

    def __str__(self) -> str:
        return f"{self.entity} {self.key} at step {self.n}"


@frozen
class FirstWrite:
    """The first write of a record, where the exceptions depend on its fields."""

    write: Write
    before: Record | None
    """The record before, if someone else had written it; None: as the world began, if it existed."""
    after: Record | None


_NO_FIRST_WRITES: HashTrieMap[tuple[str, Key], FirstWrite] = HashTrieMap()
_NO_RECORDS: HashTrieMap[tuple[str, Key], Record | None] = HashTrieMap()


@frozen
class Facts:
    """The writes of the agent that no exception allows."""

    has_calls: bool = False
    first: tuple[Write, ...] = ()
    """The first of them."""
    more: int = 0
    tested: HashTrieMap[tuple[str, Key], FirstWrite] = _NO_FIRST_WRITES
    """Writes that are allowed if the record, as it was before, is an exception."""
    others: HashTrieMap[tuple[str, Key], Record | None] = _NO_RECORDS
    """What others wrote before the agent did; only of entities whose exceptions depend on fields."""
    unclear: Evidence = NO_EVIDENCE
    """Calls that are only guessed to have written nothing else."""


@frozen
class Allowed:
    """Records of an entity that may be written: all of them, one, or those that satisfy matchers."""

    entity: str
    key: Key | None = None
    tests: tuple[tuple[list[str], Matcher], ...] = ()

    def fits(self, key: Key, record: Record | None = None) -> bool:
        if self.tests:
            return record is not None and all(matches(at_path(record, path)) for path, matches in self.tests)
        return self.key is None or str(self.key) == str(key)


def _allowed(item: Any) -> Allowed:
    """Return the records that an item of `except` names. Raises `ValueError`."""
    if isinstance(item, str):
        return Allowed(item)
    body = cast("dict[str, Any]", item)
    if not isinstance(item, dict) or len(body) != 1:
        raise ValueError(f"{item!r} is not an entity, {{entity: key}} or {{entity: {{field: matcher}}}}")
    ((entity, value),) = body.items()
    if isinstance(value, dict):
        where = cast("dict[str, Any]", value)
        return Allowed(entity, tests=tuple((name.split("."), matcher(wanted)) for name, wanted in where.items()))
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{value!r} is not the key of a record")
    return Allowed(entity, value)


@expectations.register("unchanged")
class Unchanged(Expectation):
    """The agent wrote nothing outside the named records.

    `unchanged: {except: [{deal: D-1}]}` allows writes of this deal only. `unchanged:` allows none at all, and
    `unchanged: [contact, company]` none of these entities. A record that was changed and then restored has been
    written. Changes by other actors do not count.

    `unchanged: {except: [{deal: {title: Spring order}}]}` allows writes of the deals that had this title before the
    agent first wrote them, and of those that it created with this title. Vacuous if no tool was called.
    """

    entities: list[str] = Field(default_factory=list[str], description="Only records of these entities. Default: all.")
    except_: list[Json] = Field(
        default_factory=list[Any],
        alias="except",
        description="Records that may be written: an entity, {entity: key}, or {entity: {field: matcher}}.",
        examples=[[{"deal": "D-1"}]],
    )

    @field_validator("except_")
    @classmethod
    def _readable(cls, value: list[Any]) -> list[Any]:
        for item in value:
            _allowed(item)
        return value

    @cached_property
    def allowed(self) -> Mapping[str, Sequence[Allowed]]:
        """The exceptions by entity."""
        by_entity: dict[str, list[Allowed]] = {}
        for item in map(_allowed, self.except_):
            by_entity.setdefault(item.entity, []).append(item)
        return by_entity

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        return True

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        if step.entry == "event":
            return self._after_others(facts, (*step.committed, *step.absorbed))
        if step.entry != "call":
            return facts
        if not facts.has_calls:
            facts = replace(facts, has_calls=True)
        if is_unclear(step, scenario.domain, self.entities or ("tables",)):
            facts = replace(facts, unclear=facts.unclear.with_step(step))
        for change in step.committed:
            facts = self._after(facts, change, step)
        return self._after_others(facts, step.absorbed)

    def _after_others(self, facts: Facts, changes: Sequence[Change]) -> Facts:
        """Return the facts after changes that are not the agent's."""
        for change in changes:
            record = change.entity, change.key
            if change.op != "reserve" and self._has_tests(change.entity) and record not in facts.tested:
                facts = replace(facts, others=facts.others.insert(record, change.record))
        return facts

    def _after(self, facts: Facts, change: Change, step: Step) -> Facts:
        if change.op == "reserve" or (self.entities and change.entity not in self.entities):
            return facts
        if any(allowed.fits(change.key) for allowed in self.allowed.get(change.entity, ())):
            return facts
        record = change.entity, change.key
        write = Write(*record, step.n, NO_EVIDENCE.with_step(step))
        if self._has_tests(change.entity):
            if record in facts.tested:
                return facts
            first = FirstWrite(write, facts.others.get(record), change.record)
            return replace(facts, tested=facts.tested.insert(record, first))
        if len(facts.first) < MOST_STEPS:
            return replace(facts, first=(*facts.first, write))
        return replace(facts, more=facts.more + 1)

    def _has_tests(self, entity: str) -> bool:
        return any(allowed.tests for allowed in self.allowed.get(entity, ()))

    def verdict(self, facts: Facts, end: End) -> Verdict:
        if not facts.has_calls:
            return judged("vacuous", "no tool was called")
        wrong = sorted((*facts.first, *self._wrong_records(facts, end)), key=attrgetter("n"))
        if not wrong:
            because = "nothing else was written" if self.allowed or self.entities else "nothing was written"
            return judged("passed", because, facts.unclear)
        shown = ", ".join(map(str, wrong[:3]))
        more = len(wrong) - 3 + facts.more
        because = f"written, but should not be: {shown}{f' and {more} more' if more > 0 else ''}"
        return judged("failed", because, *(write.evidence for write in wrong))

    def _wrong_records(self, facts: Facts, end: End) -> Iterator[Write]:
        """Yield the first writes of records, without exceptions. Those that the agent created are judged as new."""
        for (entity, key), first in facts.tested.items():
            before = end.view.initial_records(entity).get(key) if first.before is None else first.before
            record = first.after if before is None else before
            if record is None or not any(allowed.fits(key, record) for allowed in self.allowed[entity]):
                yield first.write

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        names = [*self.entities, *self.allowed]
        problems = [
            f"unknown entity {name!r}{did_you_mean(name, domain.entities)}"
            for name in dict.fromkeys(names)
            if name not in domain.entities
        ]
        for item in self.except_:
            if isinstance(item, dict):
                ((name, where),) = cast("dict[str, Any]", item).items()
                if isinstance(where, dict) and name in domain.entities:
                    problems += unfit_fields(domain.entities[name], cast("dict[str, Any]", where))
        return problems
