"""Faulty pagination of lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, cast

from pydantic import Field, model_validator

from mcp_sim.faults.results import ResultShape, no_reads, proceed_twice, result_value, with_value
from mcp_sim.types import Json, Observation, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.json_values import MISSING, canonical, get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, SpanText, span_text
from mcp_sim.types.plans import Envelope, Paging

LISTS = ("list", "search")


@frozen
class _Pages:
    """How one tool pages: its arguments, and the paths in its results."""

    shape: ResultShape
    paging: Paging
    envelope: Envelope

    @classmethod
    def of(cls, tool: Tool, domain: Domain) -> _Pages | None:
        shape = ResultShape.of(tool, domain)
        plan = shape.plan
        if plan is None or plan.verb not in LISTS or not plan.paging.is_asked or plan.envelope.rows is None:
            return None
        return cls(shape, plan.paging, plan.envelope)

    def question(self, turn: Turn) -> str:
        """Return the arguments without those that choose the page."""
        chooses = {self.paging.limit, self.paging.offset, self.paging.page, self.paging.cursor}
        return canonical({name: value for name, value in turn.call.arguments.items() if name not in chooses})

    def is_later(self, turn: Turn) -> bool:
        """Whether the call requests a page after the first."""
        arguments, paging = turn.call.arguments, self.paging
        page = arguments.get(paging.page or "")
        return bool(
            arguments.get(paging.cursor or "")
            or arguments.get(paging.offset or "")
            or (isinstance(page, int) and page > paging.first_page)
        )


@perturbations.register("pagination")
class Pagination(Perturbation):
    """Paginate incorrectly: small pages, wrong totals, unstable order, duplicate or missing rows, expired cursors.

    `duplicates` and `drops` act on each later page, as if records were inserted or deleted in the meantime. Use it
    without `when`, since it has to see every page.
    """

    stage = Stage.ANSWER

    page_size: Count | None = Field(
        default=None, description="Maximum number of rows, whatever the call requests.", examples=[2]
    )
    total: Literal["page", "more", "fewer", "rounded"] | None = Field(
        default=None, description="What replaces the true total."
    )
    order: Literal["unstable"] | None = Field(default=None, description="Shuffles each page.")
    duplicates: Count | None = Field(default=None, description="Number of rows of the previous page that are repeated.")
    drops: Count | None = Field(default=None, description="Number of rows left out at the beginning of a page.")
    cursor_expires: SpanText | None = Field(default=None, description="Lifetime of a cursor.")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("expected one of page_size, total, order, duplicates, drops, cursor_expires")
        if self.duplicates is not None and self.drops is not None:
            raise ValueError("duplicates and drops exclude each other")
        return self

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        pages = _Pages.of(tool, domain)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            if pages is None:
                return turn.no_effect(await proceed(turn))
            truth, page = await self._page(turn, proceed, pages)
            if result_value(page) is MISSING:
                return turn.no_effect(truth)
            if self._is_expired(turn, pages):
                return replace(truth, observation=self._expired(turn, pages))
            value = self._bent(turn, result_value(page), pages)
            # The true rows, not the bent ones: a page that repeats rows would repeat them again on the next.
            self._note(turn, result_value(page), pages)
            return with_value(turn, truth, value)

        return apply

    async def _page(self, turn: Turn, proceed: Proceed, pages: _Pages) -> tuple[Transition, Transition]:
        """Return the true page, and the page of the limited size."""
        limit, asked = pages.paging.limit, turn.call.arguments
        if self.page_size is None or limit is None or self._wanted(asked, pages) <= self.page_size:
            truth = await proceed(turn)
            return truth, truth
        call = replace(turn.call, arguments={**asked, limit: self.page_size})
        # The true page is asked for, too: the ledger says what was true, and verdicts compare with it.
        truth, page = await proceed_twice(turn, proceed, replace(turn, call=call))
        return truth, page if truth.observation.ok else truth

    def _wanted(self, arguments: Mapping[str, Json], pages: _Pages) -> int:
        wanted = arguments.get(pages.paging.limit or "")
        return wanted if isinstance(wanted, int) else pages.paging.size

    def _bent(self, turn: Turn, value: Json, pages: _Pages) -> Json:
        where = pages.shape.rows(value)
        if where is None:
            return value
        rows = self._rows(turn, cast("list[Json]", get_part(value, where)), pages)
        bent = replace_part(value, where, rows)
        at = pages.shape.part(value, pages.envelope.total, "total")
        total = None if at is None else get_part(value, at)
        if self.total is None or at is None or not isinstance(total, int):
            return bent
        return replace_part(bent, at, TOTALS[self.total](total, len(rows)))

    def _rows(self, turn: Turn, rows: Sequence[Json], pages: _Pages) -> list[Json]:
        if pages.is_later(turn) and self.duplicates is not None:
            before: Sequence[Json] = turn.memory.get(f"page:{pages.question(turn)}", ())
            rows = [*before, *rows]
        if pages.is_later(turn) and self.drops is not None:
            rows = rows[self.drops :]
        if self.order == "unstable":
            return turn.draws.generator(f"{turn.owner}/order").sample(rows, len(rows))
        return list(rows)

    def _note(self, turn: Turn, value: Json, pages: _Pages) -> None:
        """Remember the last rows of this page, and when its cursor was issued."""
        where = pages.shape.rows(value)
        if self.duplicates is not None and where is not None:
            last = tuple(cast("list[Json]", get_part(value, where))[-self.duplicates :])
            turn.memory.set(f"page:{pages.question(turn)}", last)
        at = pages.shape.part(value, pages.envelope.cursor, "cursor")
        cursor = None if at is None else get_part(value, at)
        if self.cursor_expires is not None and isinstance(cursor, str):
            turn.memory.set(f"cursor:{cursor}", (turn.index, turn.now))

    def _is_expired(self, turn: Turn, pages: _Pages) -> bool:
        given = turn.memory.get(f"cursor:{turn.call.arguments.get(pages.paging.cursor or '')}")
        if self.cursor_expires is None or given is None:
            return False
        if self.cursor_expires.calls is not None:
            return turn.index - given[0] > self.cursor_expires.calls
        return self.cursor_expires.time is not None and turn.now - given[1] > self.cursor_expires.time

    def _expired(self, turn: Turn, pages: _Pages) -> Observation:
        name = pages.paging.cursor
        lived = "" if self.cursor_expires is None else span_text(self.cursor_expires)
        cursor = turn.call.arguments.get(name or "")
        message = f"Invalid {name}: it has expired after {lived}; begin again with the first page"
        return turn.tool.failure("invalid", message, argument=name, value=cursor, key=cursor)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        unfit = no_reads(domain, tools, LISTS)
        paged = [pages for tool in tools if (pages := _Pages.of(tool, domain)) is not None]
        if unfit or not tools:
            return unfit
        if not paged:
            return ["no tool in reach has an argument that chooses a page; declare it under `sim:`"]
        # What these options need and none of the tools has.
        needs: Sequence[tuple[str, bool, Callable[[_Pages], Any], str]] = (
            ("page_size", self.page_size is not None, self._takes_size, "an argument that takes this page size"),
            ("total", self.total is not None, lambda pages: pages.envelope.total, "a total in its answers"),
            ("cursor_expires", self.cursor_expires is not None, lambda pages: pages.paging.cursor, "a cursor"),
        )
        asked = [(name, has, what) for name, is_asked, has, what in needs if is_asked]
        return [f"{name}: no tool in reach has {what}" for name, has, what in asked if not any(map(has, paged))]

    def _takes_size(self, pages: _Pages) -> bool:
        limit, size = pages.paging.limit, self.page_size
        if limit is None or size is None:
            return False
        schema = properties(expanded(pages.shape.tool.input_schema)).get(limit, {})
        return schema.get("minimum", size) <= size <= schema.get("maximum", size)


TOTALS: Mapping[str, Callable[[int, int], int]] = {
    "page": lambda _total, rows: rows,
    "more": lambda total, _rows: total + max(1, total // 10),
    "fewer": lambda total, _rows: max(0, total - max(1, total // 10)),
    "rounded": lambda total, _rows: max(10, round(total, -1)) if total % 10 else total + 10,
}
"""The total that replaces the true one, given that and the number of rows on the page."""
