"""Someone else works in the same world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.edits import Editor, value_problems
from mcp_sim.generate.inserts import Inserter
from mcp_sim.types import Change, Json, Key, Proceed, Record, Tool, Transition, Turn, View
from mcp_sim.types.call_matchers import unfit_fields
from mcp_sim.types.conditions import Matcher, at_path, matcher
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import Apply, Occasion, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, MatcherSource, Point, PositiveDuration
from mcp_sim.world.deferred_commits import fitting

SHORTEST = timedelta(seconds=1)
MOST_AT_ONCE = 1_000


@perturbations.register("external_change")
class ExternalChange(Perturbation):
    """Another actor inserts, edits or deletes records: right before a call, at a time, or every so often.

    Without `at` and `every` it happens right before the calls that `when` decides for, which then meet the changed
    world. With them it happens by itself, once at `at` (a duration since the world's start, or a time), or again and
    again, `every` so long; then it takes no `tools`, `when` or `fires`. Either way the ledger has it as an `event` of
    its own, by `actor`. What happens by itself is written when the next call comes, with the time at which it happened;
    where that was more than a thousand times, the last thousand.

    Which records: those that satisfy `where`, drawn. What is written: `values`; an edit without any gives one field
    another value, and what an insert leaves open is made up. A record that others link to is not deleted. No effect
    where there is no such record.
    """

    stage = Stage.WORLD
    visibility: ClassVar[Literal["explicit", "implicit"]] = "implicit"
    severities: ClassVar[tuple[str, ...]] = ("count",)

    do: Literal["insert", "edit", "delete"] = Field(description="What the other one does.", examples=["edit"])
    entity: str = Field(description="To records of which entity.", examples=["deal"])
    where: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="Which records are edited or deleted: field -> matcher.",
    )
    values: dict[str, Json] = Field(
        default_factory=dict[str, Json], description="What is written, by field.", examples=[{"stage": "lost"}]
    )
    count: Count = Field(default=1, description="How many records at a time, at most.")
    at: Point | None = Field(
        default=None, description="When it happens: a duration since the world's start, or a time. Else at calls."
    )
    every: PositiveDuration | None = Field(
        default=None, description="How long until it happens again; the first time at `at`, or after as long."
    )
    times: Count | None = Field(default=None, description="How often it happens at most, with `every`.")
    actor: str = Field(default="someone else", min_length=1, description="Who it is, in the ledger.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.do == "delete" and self.values:
            raise ValueError("values are for insert and edit")
        if self.do == "insert" and self.where:
            raise ValueError("where chooses among records that exist; it is for edit and delete")
        if self.times is not None and self.every is None:
            raise ValueError("times goes with every")
        if self.every is not None and self.every < SHORTEST:
            raise ValueError("every is at least 1s")
        if self.at is not None and not isinstance(self.at, datetime) and self.at.time is None:
            raise ValueError("at is a duration or a time; to act at a call, write `when: {after: 5 calls}`")
        return self

    def is_timed(self) -> bool:
        return self.at is not None or self.every is not None

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        entity = domain.entities.get(self.entity)
        if entity is None:
            return [f"unknown entity {self.entity!r}{did_you_mean(self.entity, domain.entities)}"]
        never = ["never happens: all of it is before the world's start"] if self._is_over(domain.now) else []
        return [*never, *unfit_fields(entity, self.where), *value_problems(entity, self.values)]

    def _is_over(self, start: datetime) -> bool:
        """Is every time at which it happens by itself before the world's start?"""
        late = start - self._first(start)
        if not self.is_timed() or late <= timedelta(0):
            return False
        return self.every is None or (self.times is not None and late / self.every > self.times - 1)

    def occasions(self, start: datetime, after: datetime, until: datetime) -> Iterator[tuple[int, datetime]]:
        first = self._first(start)
        if self.every is None:
            if after < first <= until:
                yield 0, first
            return
        number = max(0, (after - first) // self.every, (until - first) // self.every - MOST_AT_ONCE + 1)
        while (at := first + self.every * number) <= until and (self.times is None or number < self.times):
            if at > after:
                yield number, at
            number += 1

    def act(self, occasion: Occasion, domain: Domain) -> tuple[str, Sequence[Change]]:
        return self.actor, self._changes(occasion.view, occasion.at, occasion.draws, domain)

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            draws = turn.draws.about(f"{turn.draws.scope}/{turn.draws.occurrence}/{turn.owner}")
            changes = self._changes(turn.view, turn.now, draws, domain)
            if not changes:
                return turn.no_effect(await proceed(turn))
            transition = await proceed(turn.after(changes))
            return _with_event(transition, turn, self.actor, changes)

        return apply

    def _first(self, start: datetime) -> datetime:
        if isinstance(self.at, datetime):
            return self.at
        return start + ((self.at.time if self.at is not None else self.every) or timedelta(0))

    @cached_property
    def _tests(self) -> tuple[tuple[list[str], Matcher], ...]:
        return tuple((name.split("."), matcher(value)) for name, value in self.where.items())

    def _changes(self, view: View, now: datetime, draws: Draws, domain: Domain) -> tuple[Change, ...]:
        """What the other one does to the world as it is."""
        entity = domain.entities[self.entity]
        if self.do == "insert":
            return _inserts(Inserter(entity, self.values), view, now, draws, self.count)
        chance = Chance(draws.key + b"choose")
        changes = list[Change]()
        for key in self._candidates(view, chance):
            change = self._change(entity, view, key, now, chance)
            if change is not None and fitting(view, (change,), domain):
                changes.append(change)
                view = view.after((change,))
            if len(changes) == self.count:
                break
        return tuple(changes)

    def _candidates(self, view: View, chance: Chance) -> Iterator[Key]:
        """The keys of the records in question, in an order that is drawn."""
        keys = [key for key, record in view.rows(self.entity) if self._fits(record)]
        while keys:
            at = chance.below(len(keys))
            keys[at], keys[-1] = keys[-1], keys[at]
            yield keys.pop()

    def _fits(self, record: Record) -> bool:
        return all(matches(at_path(record, path)) for path, matches in self._tests)

    def _change(self, entity: Entity, view: View, key: Key, now: datetime, chance: Chance) -> Change | None:
        if self.do == "delete":
            return Change("remove", entity.name, key)
        return Editor(entity, self.values).edited(view, key, now, chance)


def _inserts(inserter: Inserter, view: View, now: datetime, draws: Draws, count: int) -> tuple[Change, ...]:
    changes = list[Change]()
    for number in range(count):
        change = inserter.inserted(view, now, draws.about(f"{draws.scope}/{draws.occurrence}/{number}"))
        if change is None:
            break
        changes.append(change)
        view = view.after((change,))
    return tuple(changes)


def _with_event(transition: Transition, turn: Turn, actor: str, changes: Sequence[Change]) -> Transition:
    return replace(transition, events=(turn.by(actor, *changes), *transition.events))
