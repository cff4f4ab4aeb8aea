"""Compare the rows of a page with those that the world has for it.

Which rows a call asks for is known as far as arguments say so. The scope that a tool has by default, and the order that
decides which rows are on a page, are guesses unless the spec declares them: the model decides about both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from mcp_sim.models.language_model.compiled_tools import CompiledTool
from mcp_sim.models.language_model.fixed_facts import EMPTY, FixedFacts, scope_of
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import NOWHERE, is_key, value_at
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.views import find_key

ANY_VALUES = terms("arguments.any")


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
        if rows and (self._has_guessed_scope or self._asks_for_all):
            return self._with_missing(rows, known, lambda _: True)
        return self._exactly(rows, known)

    def _exactly(self, rows: list[Json], known: list[Json]) -> list[Json] | None:
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
        return any(value not in _values(others, name) for name, value in self._scope(self._record(row)).items())

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

    @property
    def _asks_for_all(self) -> bool:
        """Whether a filter has a value like `all`, which is that of no record."""
        arguments = self.facts.turn.call.arguments
        given = (arguments.get(name) for name in self.tool.plan.filters)
        return any(isinstance(value, str) and snake(value) in ANY_VALUES for value in given)

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


def _values(records: Sequence[Record], name: str) -> list[Json]:
    return [record[name] for record in records if name in record]
