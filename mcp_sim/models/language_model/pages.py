"""Hold a page of records to its own total and, if all records of its entity are known, to the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from mcp_sim.models.language_model.absorption import OMITTED, Contradiction, is_absent
from mcp_sim.models.language_model.compiled_tools import CompiledTool
from mcp_sim.models.language_model.effects import Draft
from mcp_sim.models.language_model.fixed_facts import FixedFacts
from mcp_sim.models.language_model.readable import Readable
from mcp_sim.types import Json
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import NOWHERE, value_at
from mcp_sim.types.result_parts import MISSING, get_part, split_path
from mcp_sim.types.views import find_key


@dataclass(frozen=True, slots=True)
class Pages:
    """The page of records that one call asks for. `draft` is the world's own answer, if it has one."""

    tool: CompiledTool
    domain: Domain
    facts: FixedFacts
    draft: Draft | None

    def contradictions(self, value: Json) -> Iterator[Contradiction]:
        """Yield what an answer states otherwise than it shows, or than the world knows."""
        plan = self.tool.plan
        if plan.guessed or plan.verb not in ("list", "search"):
            return
        rows: Json = self._part(value, plan.envelope.rows)
        known = self._known()
        known_rows = self._part(known, plan.envelope.rows)
        if isinstance(rows, list) and isinstance(known_rows, list) and rows != known_rows:
            shown, true = len(cast("list[Json]", rows)), len(cast("list[Json]", known_rows))
            if not shown:
                problem = f"{plan.envelope.rows or 'the list'} has {shown} rows, not {true}"
                yield Contradiction(split_path(plan.envelope.rows or ""), problem, known_rows)
                rows = cast("list[Json]", known_rows)
        unknown = [*self._unknown_rows(rows)]
        yield from unknown
        if not unknown:
            yield from self._wrong_total(value, rows, known)
            yield from self._wrong_more(value, rows)

    def _unknown_rows(self, rows: Json) -> Iterator[Contradiction]:
        """Yield the rows of records that certainly do not exist, also if several rows share their id."""
        entity, place = self.tool.entity, self.tool.plan.envelope.rows
        if entity is None or place is None or not isinstance(rows, list):
            return
        for at, row in enumerate(cast("list[Json]", rows)):
            key: Json = as_object(row).get(entity.key)
            is_key = isinstance(key, str | int) and find_key(self.facts.turn.view, entity.name, key) is None
            if is_key and is_absent(self.facts.turn.view, self.facts, self.domain, entity, key):
                yield Contradiction((*split_path(place), at), f"there is no {entity.name} {key!r}", OMITTED)

    def _wrong_total(self, value: Json, rows: Json, known: Json) -> Iterator[Contradiction]:
        plan = self.tool.plan
        total, known_total = self._part(value, plan.envelope.total), self._part(known, plan.envelope.total)
        if plan.envelope.total is None or not _is_count(total) or not isinstance(rows, list):
            return
        shown = len(cast("list[Json]", rows))
        true: Json = total
        if _is_count(known_total) and (self._is_exact or not shown or total > self._count()):
            true = max(known_total, shown)
        elif total < shown or (not shown and (self._is_first_page() or (self._is_closed and total > self._count()))):
            true = shown
        if true != total:
            yield Contradiction(split_path(plan.envelope.total), f"{plan.envelope.total} is {true}, not {total}", true)

    def _wrong_more(self, value: Json, rows: Json) -> Iterator[Contradiction]:
        """Yield that an answer says otherwise than its total whether there are more rows."""
        plan = self.tool.plan
        more, total = self._part(value, plan.envelope.more), self._part(value, plan.envelope.total)
        if (
            plan.envelope.more is None
            or not isinstance(more, bool)
            or not _is_count(total)
            or not isinstance(rows, list)
        ):
            return
        shown, offset = len(cast("list[Json]", rows)), self._offset()
        if shown and offset is not None and more is not (offset + shown < total):
            problem = f"{plan.envelope.more} is {not more}, not {more}"
            yield Contradiction(split_path(plan.envelope.more), problem, not more)

    def _offset(self) -> int | None:
        """Return how many rows the call skips; None if that is unknown."""
        paging, arguments = self.tool.plan.paging, self.facts.turn.call.arguments
        if any(arguments.get(name) for name in (paging.page, paging.cursor) if name is not None):
            return None
        asked = 0 if paging.offset is None else arguments.get(paging.offset, 0)
        return asked if _is_count(asked) else None

    def _known(self) -> Json:
        """Return the world's own answer to a call for all records of an entity that the scenario specifies.

        How a filter matches, and what a write leaves, is the model's decision.
        """
        plan, entity, draft = self.tool.plan, self.tool.entity, self.draft
        if entity is None or draft is None or not draft.ok:
            return None
        asks_for_all = self.facts.turn.call.arguments.keys().isdisjoint({*plan.filters, plan.query or ""})
        is_closed = entity.name in self.domain.specified and asks_for_all and not self.facts.has_written()
        readable = Readable.of(draft.transition.observation) if is_closed else None
        return None if readable is None else readable.value

    @property
    def _is_closed(self) -> bool:
        """Whether the world knows how many records there are at most."""
        entity = self.tool.entity
        if entity is None or entity.name not in self.domain.specified:
            return False
        return not self.facts.may_have_more(entity.name)

    @property
    def _is_exact(self) -> bool:
        """Whether the arguments decide what is listed; how a search matches is the model's decision."""
        plan, arguments = self.tool.plan, self.facts.turn.call.arguments
        return plan.verb == "list" and (plan.query is None or value_at(arguments, plan.query) in (NOWHERE, None, ""))

    def _is_first_page(self) -> bool:
        """Whether the call asks for the first page, and for at least one row."""
        paging, arguments = self.tool.plan.paging, self.facts.turn.call.arguments
        asked = [arguments.get(name) for name in (paging.offset, paging.page, paging.cursor) if name is not None]
        return not any(asked) and (paging.limit is None or arguments.get(paging.limit) != 0)

    def _count(self) -> int:
        entity = self.tool.entity
        return 0 if entity is None else self.facts.turn.view.count(entity.name)

    @staticmethod
    def _part(value: Json, place: str | None) -> Json:
        return MISSING if place is None else get_part(value, split_path(place))


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
