"""Hold a page of records to its own total and, if all records of its entity are known, to the world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Self, cast

from mcp_sim.models.language_model.absorption import OMITTED, Contradiction, is_absent, is_closed
from mcp_sim.models.language_model.compiled_tools import CompiledTool
from mcp_sim.models.language_model.effects import Draft
from mcp_sim.models.language_model.fixed_facts import EMPTY, FixedFacts, scope_of
from mcp_sim.models.language_model.observations import Readable
from mcp_sim.types import Json, Key, Record, as_object, find_key, frozen
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_values import MISSING, NOWHERE, get_part, is_key, split_path, value_at
from mcp_sim.types.plans import Envelope


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
        rows = ListedRows(self.tool, self.facts, self._is_exact, self.is_repeated)
        true = None if wrong or known.rows is None else rows.corrected(shown.rows, known.rows)
        if true is not None:
            place, count = plan.envelope.rows or "", len(shown.rows)
            problem = f"{place or 'the list'} has {count} rows, but other rows exist for this call: {len(true)}"
            wrong = [Contradiction(split_path(place), problem, true)]
        total = shown.total if wrong or not _is_count(shown.total) else self._true_total(shown, known)
        if total != shown.total:
            place = plan.envelope.total or ""
            wrong = [Contradiction(split_path(place), f"{place} is {total}, not {shown.total}", total)]
        yield from wrong or self._wrong_end(shown, known)

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

    def _true_total(self, shown: _Page, known: _Page) -> int:
        """Return the total that the world knows; else the nearest one that agrees with the rows of the page."""
        entity, limit = self.tool.entity, self.tool.plan.paging.limit
        count = 0 if entity is None else self.facts.turn.view.count(entity.name)
        if _is_count(known.total) and (self._has_rows_of(shown, known) or shown.total > count):
            return max(known.total, shown.size)
        start = self._offset()
        if shown.size:
            return max(shown.total, (start or 0) + shown.size)
        asks_for_rows = limit is None or self.facts.turn.call.arguments.get(limit) != 0
        return max(0, min(shown.total, start) if start is not None and asks_for_rows else shown.total)

    def _wrong_end(self, shown: _Page, known: _Page) -> Iterator[Contradiction]:
        """Yield that an answer says otherwise than its total, or the world, whether there are more rows.

        A cursor must be the world's own, if it has one; else there must be one before the end, and none at the end.
        """
        envelope, is_more = self.tool.plan.envelope, self._is_more(shown, known)
        if is_more is None:
            return
        if isinstance(shown.more, bool) and shown.more is not is_more:
            more = envelope.more or ""
            yield Contradiction(split_path(more), f"{more} is {is_more}, not {shown.more}", is_more)
        if shown.cursor is MISSING or not (shown.cursor or is_more):
            return
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


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# rows -----------------------------------------------------------------------------------------------------------------


@frozen
class ListedRows:
    """The rows that one call asks for.

    `is_exact`: the plan explains all arguments, and none of them is a query. `is_repeated`: the model gave the same
    answer before, and got the complaint that it contradicts the world.
    """

    tool: CompiledTool
    facts: FixedFacts
    is_exact: bool
    is_repeated: bool

    def corrected(self, rows: list[Json], known: list[Json]) -> list[Json] | None:
        """Return the rows that the page must have, by those that the world has for it; None if it has them.

        A shown row stays as it is. After a complaint, the same rows lack only what calls created; if the call asks for
        all records, they lack what is not hidden by its state.
        """
        if self.is_repeated and rows:
            return self._with_missing(rows, known, lambda row: self._asks_for_everything or self._is_created(row))
        if rows and (None in map(self._key, known) or all(self._key(row) is None for row in rows)):
            return None  # what identifies nothing cannot be compared
        if not self.is_exact:
            return self._with_missing(rows, known, self._is_hit)
        if rows and self._is_part(known) and len(rows) <= len(known):
            return self._with_missing(rows, known, lambda _: len(rows) < len(known))
        if rows and self._has_guessed_scope:
            return self._with_missing(rows, known, lambda _: True)
        shown = {self._key(row): row for row in rows if not self._is_removed_softly(row)}
        due = [row for row in known if self._key(row) in shown or not self._may_be_hidden(row, rows)]
        keys = [*map(self._key, due)]
        softly = [row for row in rows if self._is_removed_softly(row)]
        if shown.keys() == {*keys} and len(rows) == len(due) + len(softly):
            return None
        if not rows and all(map(self._has_moved, known)):
            return None
        return [*(shown.get(key, row) for key, row in zip(keys, due, strict=True)), *softly]

    def _with_missing(self, rows: list[Json], known: list[Json], is_due: Callable[[Json], bool]) -> list[Json] | None:
        """Return the rows with the known ones that are due; None if it has them.

        The page has as many rows as the model shows, or as the world's own.
        """
        shown = {self._key(row) for row in rows}
        absent = [row for row in known if self._key(row) not in shown and is_due(row)]
        missing = [row for row in absent if not self._may_be_hidden(row, rows)]
        return [*rows[: max(len(rows), len(known)) - len(missing)], *missing] if missing else None

    def _may_be_hidden(self, row: Json, rows: list[Json]) -> bool:
        """Whether the tool may leave out a row: a call may have hidden it, or a state of it is outside of its scope.

        Then a state or a flag of the row is that of no shown row. The model is asked again before it is believed, but
        not about what a call has moved.
        """
        if self._was_hidden(row):
            return True
        if not rows or not (self.is_repeated or self._has_moved(row)):
            return False
        others = [self._scope(self._record(shown)) for shown in rows]
        return any(
            value not in [other[name] for other in others if name in other]
            for name, value in self._scope(self._record(row)).items()
        )

    def _was_hidden(self, row: Json) -> bool:
        """Whether a call may have hidden the record of a row."""
        entity, key = self.tool.entity, self._key(row)
        return entity is not None and key is not None and self.facts.was_hidden(entity.name, key)

    def _is_removed_softly(self, row: Json) -> bool:
        """Whether a call has hidden the record of a row so that the world no longer has it, and tools may show it."""
        return self._was_hidden(row) and self._stored(row) is None

    def _has_moved(self, row: Json) -> bool:
        """Whether the record of a row may be hidden since a state or a flag of it has changed."""
        entity, key = self.tool.entity, self._key(row)
        return entity is not None and key is not None and self.facts.has_moved(entity.name, key, self._asked)

    def _scope(self, record: Record) -> Record:
        """Return what tools choose records by unless they are asked for others: states, flags, whether a time is set.

        What an argument filters by is left out.
        """
        return {name: value for name, value in scope_of(record).items() if name not in self._asked}

    @property
    def _asked(self) -> AbstractSet[str]:
        """The fields that arguments of the call filter by."""
        arguments = self.facts.turn.call.arguments
        return {narrowed.field for name, narrowed in self.tool.plan.filters.items() if name in arguments}

    @property
    def _asks_for_everything(self) -> bool:
        """Whether the call asks for all records of the entity: the tool has no pages, and no argument has a value."""
        arguments = self.facts.turn.call.arguments
        return not self.tool.plan.paging.is_asked and all(value in EMPTY for value in arguments.values())

    @property
    def _has_guessed_scope(self) -> bool:
        """Whether the plan leaves out records that no argument excludes, and nothing declares that."""
        plan, arguments = self.tool.plan, self.facts.turn.call.arguments
        hides = any(narrowed.unless is not None and name not in arguments for name, narrowed in plan.filters.items())
        return any(
            is_set and (name not in plan.basis or plan.basis[name].source == "inferred")
            for name, is_set in (("fixed", bool(plan.fixed)), ("filters", hides))
        )

    def _is_part(self, known: list[Json]) -> bool:
        """Whether the page may be one of several, and no argument says how the rows are ordered."""
        paging, arguments = self.tool.plan.paging, self.facts.turn.call.arguments
        if not paging.is_asked or arguments.get(paging.sort or ""):
            return False
        limit: Json = arguments.get(paging.limit or "", paging.size)
        is_full = isinstance(limit, int) and len(known) >= limit
        return is_full or any(arguments.get(name) for name in (paging.offset, paging.page, paging.cursor) if name)

    def _is_created(self, row: Json) -> bool:
        """Whether a call has created the record of a row, and the call asks for it for certain."""
        entity, key = self.tool.entity, self._key(row)
        if entity is None or key is None or not self.is_exact:
            return False
        written = self.facts.turn.view.latest_write(entity.name, key)
        return written is not None and written.born >= 0

    def _is_hit(self, row: Json) -> bool:
        """Whether a row certainly matches the query of a search: one of its texts has it."""
        query = self.tool.plan.query
        text = NOWHERE if query is None else value_at(self.facts.turn.call.arguments, query)
        parts = as_object(row).values()
        return isinstance(text, str) and any(
            isinstance(value, str) and text.lower() in value.lower() for value in parts
        )

    def _record(self, row: Json) -> Record:
        """Return what the world has of a row; what the row shows of a record that the world does not have."""
        stored = self._stored(row)
        return as_object(row) if stored is None else stored

    def _stored(self, row: Json) -> Record | None:
        entity, key = self.tool.entity, self._key(row)
        return None if entity is None or key is None else self.facts.turn.view.get(entity.name, key)

    def _key(self, row: Json) -> Key | None:
        """Return the key of a row, as the world has it."""
        entity = self.tool.entity
        key: Json = None if entity is None else as_object(row).get(entity.key)
        if entity is None or not is_key(key):
            return None
        stored = find_key(self.facts.turn.view, entity.name, key)
        return key if stored is None else stored
