"""Hold a page of records to its own total and, if all records of its entity are known, to the world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self, cast

from mcp_sim.models.language_model.absorption import OMITTED, Contradiction, is_absent, is_closed
from mcp_sim.models.language_model.compiled_tools import CompiledTool
from mcp_sim.models.language_model.effects import Draft
from mcp_sim.models.language_model.fixed_facts import FixedFacts
from mcp_sim.models.language_model.listed_rows import ListedRows
from mcp_sim.models.language_model.observations import Readable
from mcp_sim.types import Json, Key
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import MISSING, get_part, split_path
from mcp_sim.types.plans import Envelope
from mcp_sim.types.views import find_key


@frozen
class _Page:
    """The parts of an answer that show a page: its rows, and others. `MISSING` if the plan or the answer lacks it."""

    rows: list[Json] | None
    total: Json
    more: Json
    cursor: Json

    @classmethod
    def of(cls, value: Json, envelope: Envelope) -> Self:
        places = (envelope.rows, envelope.total, envelope.more, envelope.cursor)
        rows, *others = (MISSING if place is None else get_part(value, split_path(place)) for place in places)
        return cls(cast("list[Json]", rows) if isinstance(rows, list) else None, *others)

    @property
    def size(self) -> int:
        """The number of rows, or -1 if they are not a list."""
        return -1 if self.rows is None else len(self.rows)


@frozen
class Pages:
    """The page of records that one call asks for. `draft` is the world's own answer, if it has one."""

    tool: CompiledTool
    domain: Domain
    facts: FixedFacts
    draft: Draft | None
    is_repeated: bool = False
    """Whether the model gave the same answer before, and got the complaint that it contradicts the world."""

    def contradictions(self, value: Json) -> Iterator[Contradiction]:
        """Yield what an answer states otherwise than it shows, or than the world knows.

        Rows come first: totals are judged once the rows are right.
        """
        plan = self.tool.plan
        shown = _Page.of(value, plan.envelope)
        if plan.guessed or plan.verb not in ("list", "search") or shown.rows is None:
            return
        known = _Page.of(self._known(), plan.envelope)
        wrong = [*self._unknown_rows(shown.rows), *self._repeated_rows(shown.rows)]
        wrong = wrong or [*self._wrong_rows(shown.rows, known.rows)] or [*self._wrong_total(shown, known)]
        yield from wrong or self._wrong_end(shown, known)

    def _wrong_rows(self, rows: list[Json], known: list[Json] | None) -> Iterator[Contradiction]:
        """Yield that the rows are not those of the page, if the world knows these."""
        if known is None:
            return
        true = ListedRows(self.tool, self.facts, self._is_exact, self.is_repeated).corrected(rows, known)
        if true is not None:
            place = self.tool.plan.envelope.rows or ""
            problem = f"{place or 'the list'} has {len(rows)} rows, but other rows exist for this call: {len(true)}"
            yield Contradiction(split_path(place), problem, true)

    def _unknown_rows(self, rows: list[Json]) -> Iterator[Contradiction]:
        """Yield the rows of records that certainly do not exist, also if several rows share their id."""
        entity, place = self.tool.entity, self.tool.plan.envelope.rows
        if entity is None or place is None:
            return
        for at, row in enumerate(rows):
            key: Json = as_object(row).get(entity.key)
            is_key = isinstance(key, str | int) and find_key(self.facts.turn.view, entity.name, key) is None
            if is_key and is_absent(self.facts.turn.view, self.facts, self.domain, entity, key):
                yield Contradiction((*split_path(place), at), f"there is no {entity.name} {key!r}", OMITTED)

    def _repeated_rows(self, rows: list[Json]) -> Iterator[Contradiction]:
        """Yield the rows of a record that an earlier row shows, if the world knows all records of the entity."""
        entity, seen = self.tool.entity, set[Key]()
        if entity is None or not self._is_closed:
            return
        for at, row in enumerate(rows):
            key = find_key(self.facts.turn.view, entity.name, as_object(row).get(entity.key))
            if key is not None and key in seen:
                place = split_path(self.tool.plan.envelope.rows or "")
                yield Contradiction((*place, at), f"two rows show {entity.name} {key!r}", OMITTED)
            elif key is not None:
                seen.add(key)

    def _wrong_total(self, shown: _Page, known: _Page) -> Iterator[Contradiction]:
        place = self.tool.plan.envelope.total
        true = self._true_total(shown, known) if _is_count(shown.total) else shown.total
        if place is not None and true != shown.total:
            yield Contradiction(split_path(place), f"{place} is {true}, not {shown.total}", true)

    def _true_total(self, shown: _Page, known: _Page) -> int:
        """Return the total that the world knows; else the nearest one that agrees with the rows of the page."""
        if _is_count(known.total) and (self._has_rows_of(shown, known) or shown.total > self._count()):
            return max(known.total, shown.size)
        start = self._offset()
        if shown.size:
            return max(shown.total, (start or 0) + shown.size)
        is_past_the_end = start is not None and self._asks_for_rows()
        return max(0, min(shown.total, start) if is_past_the_end else shown.total)

    def _wrong_end(self, shown: _Page, known: _Page) -> Iterator[Contradiction]:
        """Yield that an answer says otherwise than its total, or the world, whether there are more rows."""
        place, is_more = self.tool.plan.envelope.more or "", self._is_more(shown, known)
        if is_more is None:
            return
        if isinstance(shown.more, bool) and shown.more is not is_more:
            yield Contradiction(split_path(place), f"{place} is {is_more}, not {shown.more}", is_more)
        if shown.cursor is not MISSING and (shown.cursor or is_more):
            yield from self._wrong_cursor(shown, known, is_more=is_more)

    def _wrong_cursor(self, shown: _Page, known: _Page, *, is_more: bool) -> Iterator[Contradiction]:
        """Yield that a cursor is not the world's own; else one at the end, or that it is missing before the end."""
        envelope = self.tool.plan.envelope
        place = split_path(envelope.cursor or "")
        if known.cursor is not MISSING and bool(known.cursor) is is_more:
            if known.cursor != shown.cursor:
                yield Contradiction(place, "", known.cursor)
        elif not is_more:
            yield Contradiction(place, f"this is the last page: no {envelope.cursor}", None)
        elif not shown.cursor:
            end = (self._offset() or 0) + shown.size
            problem = f"{envelope.total} is more than {end}, but there is no {envelope.cursor}"
            yield Contradiction(split_path(envelope.total or ""), problem, end)

    def _is_more(self, shown: _Page, known: _Page) -> bool | None:
        """Return whether there are rows after those of the page; None if that is unknown."""
        ends = [end for end in (known.more, known.cursor) if end is not MISSING]
        if ends and self._has_rows_of(shown, known):
            return any(map(bool, ends))
        offset = self._offset()
        if not shown.size or offset is None or not _is_count(shown.total):
            return None
        return offset + shown.size < shown.total

    def _offset(self) -> int | None:
        """Return how many rows the call skips; None if that is unknown."""
        paging, arguments = self.tool.plan.paging, self.facts.turn.call.arguments
        if any(arguments.get(name) for name in (paging.page, paging.cursor) if name is not None):
            return None
        asked = 0 if paging.offset is None else arguments.get(paging.offset, 0)
        return asked if _is_count(asked) else None

    def _known(self) -> Json:
        """Return the world's own answer, if it knows all records of the entity; else None."""
        if self.draft is None or not self.draft.ok or not self._is_closed:
            return None
        readable = Readable.of(self.draft.transition.observation)
        return None if readable is None else readable.value

    @property
    def _is_closed(self) -> bool:
        """Whether the world knows all records of the entity: no write may have created others."""
        entity = self.tool.entity
        return entity is not None and is_closed(self.domain, entity) and not self.facts.may_have_more(entity.name)

    @property
    def _is_exact(self) -> bool:
        """Whether the plan explains all arguments, and there is no query: what matches one is the model's decision."""
        plan, arguments = self.tool.plan, self.facts.turn.call.arguments
        paging = plan.paging
        explained = {*plan.filters, paging.limit, paging.offset, paging.page, paging.cursor, paging.sort, paging.order}
        heads = {name.partition(".")[0] for name in explained if name is not None}
        return all(name in heads or value in (None, "") for name, value in arguments.items())

    def _has_rows_of(self, shown: _Page, known: _Page) -> bool:
        """Whether an answer has as many rows as the world's own."""
        return self._is_exact and known.size == shown.size

    def _asks_for_rows(self) -> bool:
        limit = self.tool.plan.paging.limit
        return limit is None or self.facts.turn.call.arguments.get(limit) != 0

    def _count(self) -> int:
        entity = self.tool.entity
        return 0 if entity is None else self.facts.turn.view.count(entity.name)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
