"""Changes by other actors in the same world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.edits import Editor, Inserter, value_problems
from mcp_sim.types import Change, Json, Key, Proceed, Tool, Transition, Turn, View
from mcp_sim.types.call_matchers import unfit_fields
from mcp_sim.types.conditions import Matcher, where_test
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import Apply, Occasion, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, MatcherSource, Point, PositiveDuration
from mcp_sim.world.deferred_commits import fitting

SHORTEST = timedelta(seconds=1)  # a shorter period would commit many changes in every call
MOST_AT_ONCE = 1_000  # an advance of the clock by years must not commit changes for minutes


@perturbations.register("external_change")
class ExternalChange(Perturbation):
    """Let another actor insert, edit or delete records: right before a call, at a given time, or periodically.

    Without `at` and `every` the change precedes the calls for which `when` holds. With one of them it happens at its
    own times; then `tools`, `when` and `fires` are not allowed. It is an `event` of its own in the ledger. Timed
    changes are recorded at the next call, with the time at which they happened; of more than a thousand, the last
    thousand.

    Random records that satisfy `where` are changed. An edit without `values` changes one field at random, and an insert
    generates the fields that are not given. A record that others link to is not deleted.
    """

    stage = Stage.WORLD
    visibility: ClassVar[Literal["explicit", "implicit"]] = "implicit"
    severities: ClassVar[tuple[str, ...]] = ("count",)

    do: Literal["insert", "edit", "delete"] = Field(description="What the actor does.", examples=["edit"])
    entity: str = Field(description="The entity of the records.", examples=["deal"])
    where: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="The records to edit or delete: field -> matcher. Default: all.",
    )
    values: dict[str, Json] = Field(
        default_factory=dict[str, Json], description="The values to write, by field.", examples=[{"stage": "lost"}]
    )
    count: Count = Field(default=1, description="Maximum number of records per change.")
    at: Point | None = Field(
        default=None, description="When it happens: a duration since the world's start, or a time. Default: at calls."
    )
    every: PositiveDuration | None = Field(
        default=None, description="The period. The first change is at `at`, or after one period."
    )
    times: Count | None = Field(default=None, description="Maximum number of changes with `every`. Default: no limit.")
    actor: str = Field(default="someone else", min_length=1, description="The actor's name in the ledger.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.do == "delete" and self.values:
            raise ValueError("values is only valid with insert and edit")
        if self.do == "insert" and self.where:
            raise ValueError("where is only valid with edit and delete, since it selects existing records")
        if self.times is not None and self.every is None:
            raise ValueError("times requires every")
        if self.every is not None and self.every < SHORTEST:
            raise ValueError("every must be at least 1s")
        if self.at is not None and not isinstance(self.at, datetime) and self.at.time is None:
            raise ValueError("at must be a duration or a time; to act at a call, write `when: {after: 5 calls}`")
        return self

    def acts_on_records(self) -> bool:
        return True

    def is_timed(self) -> bool:
        return self.at is not None or self.every is not None

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        entity = domain.entities.get(self.entity)
        if entity is None:
            return [f"unknown entity {self.entity!r}{did_you_mean(self.entity, domain.entities)}"]
        never = ["never happens: all of it is before the world's start"] if self._is_over(domain.now) else []
        return [*never, *unfit_fields(entity, self.where), *value_problems(entity, self.values)]

    def _is_over(self, start: datetime) -> bool:
        """Whether all of its times are before the world's start."""
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
            return replace(transition, events=(turn.by(self.actor, *changes), *transition.events))

        return apply

    def _first(self, start: datetime) -> datetime:
        if isinstance(self.at, datetime):
            return self.at
        return start + ((self.at.time if self.at is not None else self.every) or timedelta(0))

    @cached_property
    def _fits(self) -> Matcher:
        return where_test(self.where)

    def _changes(self, view: View, now: datetime, draws: Draws, domain: Domain) -> tuple[Change, ...]:
        """Return what the actor changes in this state."""
        entity = domain.entities[self.entity]
        if self.do == "insert":
            return _inserts(Inserter(entity, self.values), view, now, draws, self.count)
        chance = Chance(draws.key + b"choose")
        changes = list[Change]()
        for key in self._candidates(view, chance):
            if self.do == "delete":
                change = Change("remove", entity.name, key)
            else:
                change = Editor(entity, self.values).edited(view, key, now, chance)
            if change is not None and fitting(view, (change,), domain):
                changes.append(change)
                view = view.after((change,))
            if len(changes) == self.count:
                break
        return tuple(changes)

    def _candidates(self, view: View, chance: Chance) -> Iterator[Key]:
        """Yield the keys of the selected records, in random order."""
        keys = [key for key, record in view.rows(self.entity) if self._fits(record)]
        while keys:
            at = chance.below(len(keys))
            keys[at], keys[-1] = keys[-1], keys[at]
            yield keys.pop()


def _inserts(inserter: Inserter, view: View, now: datetime, draws: Draws, count: int) -> tuple[Change, ...]:
    changes = list[Change]()
    for number in range(count):
        change = inserter.inserted(view, now, draws.about(f"{draws.scope}/{draws.occurrence}/{number}"))
        if change is None:
            break
        changes.append(change)
        view = view.after((change,))
    return tuple(changes)
