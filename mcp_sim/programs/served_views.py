"""Answers to what a confined program asks about the state (see `distant_views`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic
from typing import Any, cast

from mcp_sim.generate.keys import following_key
from mcp_sim.programs.distant_views import change_of
from mcp_sim.types import Json, Key, Record, Turn, View
from mcp_sim.types.kinds import Invent

MOST_IMAGINED = 20
"""Values that one call may have a language model imagine."""

_FIRST_ROWS, _MOST_ROWS = 64, 4096
"""Most programs look at a few rows: the first piece is small, later ones save round trips."""
_MODEST = 100  # a schema from a program that is not trusted must not generate for minutes in the parent
_LEVELS = 8


@dataclass(slots=True)
class ServedViews:
    """The views of one call that a worker knows. The first one is the state before the call."""

    turn: Turn
    invent: Invent
    initial: dict[str, Mapping[Key, Record]]
    """The records that worlds begin with, as the worker knows them."""
    views: list[View] = field(default_factory=list[View])
    rows: list[tuple[View, str, Iterator[tuple[Key, Record]]]] = field(default_factory=list[Any])
    imagined: int = 0
    waited: float = 0.0
    """Seconds that a language model took for the last question."""

    def __post_init__(self) -> None:
        self.views.append(self.turn.view)

    def answer(self, number: int, changes: Sequence[Any], question: str, *arguments: Any) -> Any:
        """Return the answer to a question about a view, or about the one after changes, which is kept.

        Raises some exception for what is not a question.
        """
        view = self.views[number]
        if changes:
            view = view.after([change_of(change) for change in changes])
            self.views.append(view)
        simple = _ANSWERS.get(question)
        if simple is not None:
            return simple(view, *arguments)
        special: Mapping[str, Callable[..., Any]] = {
            "rows": self._rows,
            "more": self._more,
            "initial_records": self._initial_records,
            "imagine": self._imagine,
        }
        return special[question](view, *arguments)

    def _rows(self, view: View, entity: str) -> list[Any]:
        self.rows.append((view, entity, view.rows(entity)))
        return [len(self.rows) - 1, self._more(view, len(self.rows) - 1, _FIRST_ROWS)]

    def _more(self, _view: View, which: int, most: int = _MOST_ROWS) -> list[Any]:
        view, entity, rows = self.rows[which]
        return _hits(view, entity, islice(rows, most))

    def _initial_records(self, view: View, entity: str) -> list[Any] | None:
        """Return the records that worlds begin with; None if the worker has them."""
        initial_records = view.initial_records(entity)
        if self.initial.get(entity) is initial_records:
            return None
        self.initial[entity] = initial_records
        return [[key, record] for key, record in initial_records.items()]

    def _imagine(self, _view: View, scope: str, schema: Record, about: str) -> list[Json] | None:
        """Return what the language model says, in a list; None if the worker has to invent it."""
        if self.imagined >= MOST_IMAGINED or not _is_modest(schema):
            return None
        self.imagined += 1
        began = monotonic()
        turn = replace(self.turn, draws=replace(self.turn.draws, scope=scope))
        value = self.invent.imagine(turn, schema, about)
        self.waited = monotonic() - began
        return [value]


def hit(view: View, entity: str, key: Key) -> list[Any]:
    """Return a record with its key and its version."""
    return [key, view.get(entity, key), view.version(entity, key)]


def summary(view: View, entity: str) -> list[Any]:
    """Return the number of records, the last key, and what there is under the next one."""
    last = view.last_key(entity)
    following = following_key(last)
    return [view.count(entity), last, [] if following is None else [hit(view, entity, following)]]


def _hits(view: View, entity: str, hits: Iterable[tuple[Key, Record]]) -> list[Any]:
    return [[key, record, view.version(entity, key)] for key, record in hits]


def _get(view: View, entity: str, key: Key) -> list[Any]:
    return hit(view, entity, key)[1:]


def _find(view: View, entity: str, name: str, value: Json) -> list[Any]:
    return _hits(view, entity, view.find(entity, name, value))


def _search(view: View, entity: str, names: list[str], words: list[str]) -> list[Any]:
    return _hits(view, entity, view.search(entity, names, words))


def _written(view: View, entity: str) -> list[Any]:
    return [[key, written.record, written.born] for key, written in view.written(entity).items()]


def _changed(view: View, entity: str) -> list[Key]:
    return [*view.changed(entity)]


def _entities(view: View) -> list[str]:
    return [*view.entities()]


def _size(view: View) -> int:
    return view.size


def _sample_key(view: View, entity: str, share: float) -> Key | None:
    return view.sample_key(entity, share)


_ANSWERS: Mapping[str, Callable[..., Any]] = {
    "get": _get,
    "find": _find,
    "search": _search,
    "summary": summary,
    "written": _written,
    "changed": _changed,
    "entities": _entities,
    "size": _size,
    "sample_key": _sample_key,
}


def _is_modest(schema: Json, levels: int = _LEVELS) -> bool:
    """Whether a JSON Schema asks for nothing that takes long to generate or to check."""
    if levels < 0:
        return False
    if isinstance(schema, list):
        parts = cast("list[Json]", schema)
        return len(parts) <= _MODEST and all(_is_modest(inner, levels - 1) for inner in parts)
    if not isinstance(schema, dict):
        return True
    return all(
        not name.startswith(("pattern", "$"))
        and not (name.startswith("min") and isinstance(value, int) and value > _MODEST)
        and _is_modest(value, levels - 1)
        for name, value in cast("Record", schema).items()
    )
