"""Of a batch, only some items are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import Field, model_validator

from mcp_sim.backends.rendering.places import NOTHING, Anatomy, answered, no_writes, part, with_body, with_part
from mcp_sim.types import Change, Json, Proceed, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count
from mcp_sim.world.deferred_commits import fitting, reservations


@dataclass(frozen=True, slots=True)
class _Cut:
    """The parts of a batch in order, and the places (from 0) of those that are not written."""

    parts: tuple[int, ...]
    failed: frozenset[int]


@perturbations.register("partial_batch")
class PartialBatch(Perturbation):
    """Write some items of a batch and drop the others. No effect where the call is no batch of at least two items.

    `told: items` marks each dropped item in the answer, `counts` says only how many there were of each sort, and
    `nothing` answers as if all had been written. Items that write to the same record, or link to one that is dropped,
    cannot be told apart: then it has no effect.
    """

    stage = Stage.COMMIT
    severities: ClassVar[tuple[str, ...]] = ("share",)

    items: list[Count] | None = Field(
        default=None, description="Which items are dropped, from 1. Default: drawn, as `share` says.", examples=[[2]]
    )
    share: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        default=0.5, description="Which part of the items is dropped; at least one, and never all."
    )
    told: Literal["items", "counts", "nothing"] = Field(default="items", description="What the agent is told of it.")
    message: str = Field(default="could not be processed", description="What is said of a dropped item.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if {"items", "share"} <= self.model_fields_set:
            raise ValueError("say either items or share")
        return self

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        anatomy = Anatomy.of(tool, domain)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            transition = await proceed(turn)
            cut = self._cut(turn, transition)
            kept = _kept(turn, transition.changes, cut, domain)
            if not cut.failed or not transition.observation.ok or kept is None:
                return turn.no_effect(transition)
            return self._told(replace(transition, changes=kept), anatomy, cut)

        return apply

    def _cut(self, turn: Turn, transition: Transition) -> _Cut:
        """Which items are dropped; none where there is nothing to choose from."""
        parts = tuple(sorted({change.part for change in transition.changes if change.part is not None}))
        if len(parts) < 2:
            return _Cut(parts, frozenset())
        if self.items is not None:
            chosen = {item - 1 for item in self.items if item <= len(parts)}
        else:
            count = min(max(1, round(self.share * len(parts))), len(parts) - 1)
            chosen = set(turn.draws.generator(f"{turn.owner}/items").sample(range(len(parts)), count))
        return _Cut(parts, frozenset(chosen))

    def _told(self, transition: Transition, anatomy: Anatomy, cut: _Cut) -> Transition:
        value = answered(transition)
        ways: dict[str, Callable[[], Any]] = {
            "items": lambda: self._marked(value, anatomy, cut),
            "counts": lambda: {"succeeded": len(cut.parts) - len(cut.failed), "failed": len(cut.failed)},
            "nothing": lambda: NOTHING,
        }
        told = ways[self.told]()
        if told is NOTHING:
            return transition
        return with_body(transition, replace(cast("ToolResult", transition.observation.body), value=told))

    def _marked(self, value: Json, anatomy: Anatomy, cut: _Cut) -> Json:
        """The answer with an error in the place of each dropped item; their numbers where it lists no items."""
        rows = None if value is NOTHING else anatomy.rows(value)
        shown: Sequence[Json] = [] if rows is None else cast("list[Json]", part(value, rows))
        if rows is None or len(shown) != len(cut.parts):
            return {
                "succeeded": len(cut.parts) - len(cut.failed),
                "failed": [self._error(at) for at in sorted(cut.failed)],
            }
        marked = [self._error(at) if at in cut.failed else item for at, item in enumerate(shown)]
        return with_part(value, rows, marked)

    def _error(self, at: int) -> Record:
        return {"item": at + 1, "error": self.message}

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return self.told == "nothing"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "batch to cut")


def _kept(turn: Turn, changes: tuple[Change, ...], cut: _Cut, domain: Domain) -> tuple[Change, ...] | None:
    """What is written of the changes; None where what is dropped cannot be told apart from what is kept."""
    dropped = {cut.parts[at] for at in cut.failed}
    lost = [change for change in changes if change.part in dropped]
    kept = [change for change in changes if change.part not in dropped]
    touched = {(change.entity, change.key) for change in lost}
    if any((change.entity, change.key) in touched for change in kept):
        return None
    if kept and not fitting(turn.view, kept, domain):
        return None
    return (*kept, *reservations(turn, lost))
