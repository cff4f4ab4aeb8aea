"""Batches that are written only in part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import Field, model_validator

from mcp_sim.faults.results import ResultShape, no_writes, result_value, with_body
from mcp_sim.types import Change, Json, Proceed, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import MISSING, get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count
from mcp_sim.world.deferred_commits import fitting, reservations


@frozen
class _Cut:
    """The parts of a batch in order, and the places (from 0) of those that are not written."""

    parts: tuple[int, ...]
    failed: frozenset[int]


@perturbations.register("partial_batch")
class PartialBatch(Perturbation):
    """Write some items of a batch and drop the others. No effect if the call is not a batch of at least two items.

    A program is called again without what it wrote for the dropped items. For other tools `report` says what the answer
    shows. No effect if a dropped and a kept item write to the same record, or if a kept item links to a dropped one.
    """

    stage = Stage.COMMIT
    severities: ClassVar[tuple[str, ...]] = ("share",)

    items: list[Count] | None = Field(
        default=None, description="The items to drop, counted from 1. Default: random ones, by `share`.", examples=[[2]]
    )
    share: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        default=0.5, description="The share of the items to drop; at least one, and never all."
    )
    report: Literal["items", "counts", "nothing"] = Field(
        default="items", description="Whether the result marks dropped items, only counts them, or hides the loss."
    )
    message: str = Field(default="could not be processed", description="The error of a dropped item.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if {"items", "share"} <= self.model_fields_set:
            raise ValueError("items and share exclude each other")
        return self

    def acts_on_records(self) -> bool:
        return True

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        shape = ResultShape.of(tool, domain)
        reruns = domain.program_of(tool.id) is not None

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            staged = dict(turn.memories.staged)
            transition = await proceed(turn)
            cut = self._cut(turn, transition)
            if reruns and cut.failed:
                with turn.memories.aside(staged):
                    return await proceed(replace(turn, lost=frozenset(cut.parts[at] for at in cut.failed)))
            kept = _kept(turn, transition.changes, cut, domain)
            if not cut.failed or not transition.observation.ok or kept is None:
                return turn.no_effect(transition)
            return self._with_report(replace(transition, changes=kept), shape, cut)

        return apply

    def _cut(self, turn: Turn, transition: Transition) -> _Cut:
        """Return which items are dropped; none if there is nothing to choose from."""
        parts = tuple(sorted({change.part for change in transition.changes if change.part is not None}))
        # A single item that fails is a failed call, not a partial one.
        if len(parts) < 2:
            return _Cut(parts, frozenset())
        if self.items is not None:
            chosen = {item - 1 for item in self.items if item <= len(parts)}
        else:
            count = min(max(1, round(self.share * len(parts))), len(parts) - 1)
            chosen = set(turn.draws.generator(f"{turn.owner}/items").sample(range(len(parts)), count))
        return _Cut(parts, frozenset(chosen))

    def _with_report(self, transition: Transition, shape: ResultShape, cut: _Cut) -> Transition:
        value = result_value(transition)
        ways: dict[str, Callable[[], Any]] = {
            "items": lambda: self._marked(value, shape, cut),
            "counts": lambda: {"succeeded": len(cut.parts) - len(cut.failed), "failed": len(cut.failed)},
            "nothing": lambda: MISSING,
        }
        reported = ways[self.report]()
        if reported is MISSING:
            return transition
        return with_body(transition, replace(cast("ToolResult", transition.observation.body), value=reported))

    def _marked(self, value: Json, shape: ResultShape, cut: _Cut) -> Json:
        """Return the result with an error for each dropped item; their numbers if it lists no items."""
        rows = None if value is MISSING else shape.rows(value)
        shown: Sequence[Json] = [] if rows is None else cast("list[Json]", get_part(value, rows))
        if rows is None or len(shown) != len(cut.parts):
            return {
                "succeeded": len(cut.parts) - len(cut.failed),
                "failed": [self._error(at) for at in sorted(cut.failed)],
            }
        marked = [self._error(at) if at in cut.failed else item for at, item in enumerate(shown)]
        return replace_part(value, rows, marked)

    def _error(self, at: int) -> Record:
        return {"item": at + 1, "error": self.message}

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return self.report == "nothing"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "batch to cut")


def _kept(turn: Turn, changes: tuple[Change, ...], cut: _Cut, domain: Domain) -> tuple[Change, ...] | None:
    """Return the changes to write; None if the dropped changes cannot be separated from them."""
    dropped = {cut.parts[at] for at in cut.failed}
    lost = [change for change in changes if change.part in dropped]
    kept = [change for change in changes if change.part not in dropped]
    touched = {(change.entity, change.key) for change in lost}
    # A kept item has changed a record as a dropped one left it.
    if any((change.entity, change.key) in touched for change in kept):
        return None
    if kept and not fitting(turn.view, kept, domain):
        return None
    return (*kept, *reservations(turn, lost))
