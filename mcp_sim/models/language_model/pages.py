"""Hold a page of records to its own total and, if all records of its entity are known, to the world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from mcp_sim.models.language_model.absorption import OMITTED, Contradiction, is_absent, is_closed
from mcp_sim.models.language_model.compiled_tools import CompiledTool
from mcp_sim.models.language_model.effects import Draft
from mcp_sim.models.language_model.fixed_facts import FixedFacts
from mcp_sim.models.language_model.readable import Readable
from mcp_sim.types import Json, Key
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
    is_repeated: bool = False
    """Whether the model gave the same answer before, and got the complaint that it contradicts the world."""

    def contradictions(self, value: Json) -> Iterator[Contradiction]:
        """Yield what an answer states otherwise than it shows, or than the world knows.

        Rows come first: totals are judged once the rows are right.
        """
        plan = self.tool.plan
        shown: Json = self._part(value, plan.envelope.rows)
        if plan.guessed or plan.verb not in ("list", "search") or not isinstance(shown, list):
            return
        rows = cast("list[Json]", shown)
        known = self._known()
        wrong = [*self._unknown_rows(rows)] or [*self._wrong_rows(rows, self._part(known, plan.envelope.rows))]
        wrong = wrong or [*self._wrong_total(value, rows, known)]
        yield from wrong or self._wrong_end(value, rows, known)

    def _wrong_rows(self, rows: list[Json], known: Json) -> Iterator[Contradiction]:
        """Yield that the rows are not those of the page, if the world knows these.

        A tool may hide some unless it is asked for them: rows that the model shows again after a complaint stay.
        """
        if not isinstance(known, list) or (rows and self.is_repeated):
            return
        true = self._true_rows(rows, cast("list[Json]", known))
        if true is not None:
            place = self.tool.plan.envelope.rows or ""
            problem = f"{place or 'the list'} has {len(rows)} rows, but other rows exist for this call: {len(true)}"
            yield Contradiction(split_path(place), problem, true)

    def _true_rows(self, rows: list[Json], known: list[Json]) -> list[Json] | None:
        """Return the rows that the page must have; None if it has them. A shown row stays as it is."""
        keys = [self._key(row) for row in known]
        if not rows or None in keys:
            true = [row for row in known if self._is_exact or self._is_hit(row)]
            return true if true and not rows else None
        shown = {self._key(row): row for row in rows}
        if self._is_exact:
            is_right = shown.keys() == {*keys} and len(rows) == len(known)
            return None if is_right else [shown.get(key, row) for key, row in zip(keys, known, strict=True)]
        missing = [row for row in known if self._key(row) not in shown and self._is_hit(row)]
        room = max(len(rows), len(known)) - len(missing)
        return [*rows[:room], *missing] if missing else None

    def _key(self, row: Json) -> Key | None:
        """Return the key of a row, as the world has it."""
        entity = self.tool.entity
        key: Json = None if entity is None else as_object(row).get(entity.key)
        if entity is None or not isinstance(key, str | int) or isinstance(key, bool):
            return None
        stored = find_key(self.facts.turn.view, entity.name, key)
        return key if stored is None else stored

    def _is_hit(self, row: Json) -> bool:
        """Whether a row certainly matches the query of a search: one of its texts has it."""
        query = self.tool.plan.query
        text = NOWHERE if query is None else value_at(self.facts.turn.call.arguments, query)
        parts = as_object(row).values()
        return isinstance(text, str) and any(isinstance(one, str) and text.lower() in one.lower() for one in parts)

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

    def _wrong_total(self, value: Json, rows: Sequence[Json], known: Json) -> Iterator[Contradiction]:
        plan = self.tool.plan
        total, known_total = self._part(value, plan.envelope.total), self._part(known, plan.envelope.total)
        if plan.envelope.total is None or not _is_count(total):
            return
        shown, start = len(rows), self._offset()
        true: Json = total
        if _is_count(known_total) and (self._has_rows_of(rows, known) or total > self._count()):
            true = max(known_total, shown)
        elif start is not None and total < start + shown and shown:
            true = start + shown
        elif not shown and self._asks_for_rows() and start is not None and total > start:
            true = start
        elif total < shown:
            true = shown
        if true != total:
            yield Contradiction(split_path(plan.envelope.total), f"{plan.envelope.total} is {true}, not {total}", true)

    def _wrong_end(self, value: Json, rows: list[Json], known: Json) -> Iterator[Contradiction]:
        """Yield that an answer says otherwise than its total, or the world, whether there are more rows."""
        envelope = self.tool.plan.envelope
        more, cursor = self._part(value, envelope.more), self._part(value, envelope.cursor)
        known_cursor = self._part(known, envelope.cursor)
        is_more = self._is_more(value, rows, known)
        if is_more is None:
            return
        if isinstance(more, bool) and more is not is_more:
            yield Contradiction(split_path(envelope.more or ""), f"{envelope.more} is {not more}, not {more}", not more)
        if cursor is MISSING or (not cursor and not is_more):
            return
        if known_cursor is not MISSING and bool(known_cursor) is is_more:
            if known_cursor != cursor:
                yield Contradiction(split_path(envelope.cursor or ""), "", known_cursor)
        elif not is_more:
            yield Contradiction(split_path(envelope.cursor or ""), f"this is the last page: no {envelope.cursor}", None)
        elif not cursor:
            shown = (self._offset() or 0) + len(rows)
            problem = f"{envelope.total} is more than {shown}, but there is no {envelope.cursor}"
            yield Contradiction(split_path(envelope.total or ""), problem, shown)

    def _is_more(self, value: Json, rows: list[Json], known: Json) -> bool | None:
        """Return whether there are rows after those of the page; None if that is unknown."""
        envelope = self.tool.plan.envelope
        ends = [self._part(known, place) for place in (envelope.more, envelope.cursor)]
        if self._has_rows_of(rows, known) and any(end is not MISSING for end in ends):
            return any(end is not MISSING and bool(end) for end in ends)
        total, offset = self._part(value, envelope.total), self._offset()
        return offset + len(rows) < total if rows and offset is not None and _is_count(total) else None

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

    def _has_rows_of(self, rows: Sequence[Json], known: Json) -> bool:
        """Whether an answer has as many rows as the world's own."""
        theirs = self._part(known, self.tool.plan.envelope.rows)
        return self._is_exact and isinstance(theirs, list) and len(cast("list[Json]", theirs)) == len(rows)

    def _asks_for_rows(self) -> bool:
        limit = self.tool.plan.paging.limit
        return limit is None or self.facts.turn.call.arguments.get(limit) != 0

    def _count(self) -> int:
        entity = self.tool.entity
        return 0 if entity is None else self.facts.turn.view.count(entity.name)

    @staticmethod
    def _part(value: Json, place: str | None) -> Json:
        return MISSING if place is None else get_part(value, split_path(place))


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
