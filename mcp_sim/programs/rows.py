"""Rows: records as programs see them, copied only as far as they may change, and pages of them in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Protocol, Self, cast

from mcp_sim.programs.results import Refused, plain
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.frozen import frozen

_NESTED = (dict, list)
_MISSING: Any = object()


class Owner(Protocol):
    """What rows belong to: their table."""

    @property
    def key_name(self) -> str:
        """The field that identifies a record; '' for singletons."""
        ...

    def changed(self, row: Row) -> None:
        """Note a row that may have changed."""
        ...

    def handed_out(self, row: Row) -> None:
        """Note a row whose nested value was read, and may be changed in place from now on."""
        ...


class Row(dict[str, Json]):
    """One record of a table. Setting a field writes it when the function returns.

    Nested lists and objects may be changed in place, too: each is copied when it is first read, since records are
    shared between worlds.
    """

    __slots__ = ("_owned", "_owner", "key")

    def __init__(self, record: Record, key: Key, owner: Owner) -> None:
        super().__init__(record)
        self.key = key
        self._owner: Owner | None = owner
        self._owned: set[str] | None = None

    def raw(self, name: str, default: Json = None) -> Json:
        """Return a value without taking a copy of it. It must not be changed."""
        return super().get(name, default)

    def restore(self, name: str, value: Json) -> None:
        """Set a field without writing it."""
        super().__setitem__(name, value)

    def reset(self, record: Record) -> None:
        """Undo all changes: take over the fields of a record. Nested values that were handed out stay the same ones."""
        before = {name: self.raw(name) for name in self._owned or ()}
        super().clear()
        super().update({name: _refilled(before.get(name), value) for name, value in record.items()})
        self._owned = {name for name, value in before.items() if value is not None and value is self.raw(name)}

    def detach(self) -> None:
        """Let later changes write nothing: the record is gone."""
        self._owner = None

    # reading

    def __getitem__(self, name: str) -> Json:
        value = super().__getitem__(name)
        return self._own(name, value) if value.__class__ in _NESTED else value

    def get(self, name: str, default: Any = None) -> Any:
        value = super().get(name, _MISSING)
        if value is _MISSING:
            return default
        return self._own(name, value) if value.__class__ in _NESTED else value

    def __iter__(self) -> Iterator[str]:  # `{**row}` and `dict(row)` read each value by its name because of this
        return super().__iter__()

    def values(self) -> Any:
        self._own_all()
        return super().values()

    def items(self) -> Any:
        self._own_all()
        return super().items()

    def copy(self) -> dict[str, Json]:
        return dict(self)

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)

    def __copy__(self) -> dict[str, Json]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Json]:
        return deepcopy(dict(self), memo)

    def __reduce__(self) -> tuple[type[dict[str, Json]], tuple[dict[str, Json]]]:
        # A pickled row is data: its table belongs to one call.
        return dict, (dict(self),)

    # writing

    def __setitem__(self, name: str, value: Json) -> None:
        if isinstance(value, tuple):
            # A tuple would come back as a list from a store, so that a world would differ after a restart.
            value = [*cast("tuple[Any, ...]", value)]
        super().__setitem__(name, value)
        self._note(name if isinstance(value, _NESTED) else None)

    def __delitem__(self, name: str) -> None:
        self._keep_key(name)
        super().__delitem__(name)
        self._note()

    def pop(self, name: str, *default: Any) -> Any:
        self._keep_key(name)
        value = super().pop(name, *default)
        self._note()
        return deepcopy(value)

    def popitem(self) -> tuple[str, Json]:
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        """Remove all fields but the key."""
        for name in [*self]:
            if self._owner is None or name != self._owner.key_name:
                super().__delitem__(name)
        self._note()

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *values: Any, **named: Json) -> None:
        for name, value in dict[str, Json](*values, **named).items():
            self[name] = value

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def _own(self, name: str, value: Json) -> Json:
        """Return the row's own copy of a nested value."""
        if self._owned is None:
            self._owned = set()
        if name not in self._owned:
            value = plain(value)
            super().__setitem__(name, value)
            self._owned.add(name)
            if self._owner is not None:
                self._owner.handed_out(self)
        return value

    def _own_all(self) -> None:
        for name, value in [*super().items()]:
            if value.__class__ in _NESTED:
                self._own(name, value)

    def _note(self, owned: str | None = None) -> None:
        """Report to the table that the row may have changed."""
        owner = self._owner
        if owned is not None:
            self._owned = self._owned or set()
            self._owned.add(owned)
            if owner is not None:
                owner.handed_out(self)
        if owner is not None:
            owner.changed(self)

    def _keep_key(self, name: str) -> None:
        """Raise `TypeError` if this is the key of a record, which it cannot lose."""
        if self._owner is not None and name == self._owner.key_name:
            raise TypeError(f"a record cannot lose its key {name}: change a copy, dict(row)")


def _refilled(nested: Json, value: Json) -> Json:
    """Return a nested value with other contents; the contents themselves if it is of another type."""
    match nested, value:
        case list(), list():
            # In place, since the program may still hold the list.
            nested[:] = plain(value)
            return cast("Json", nested)
        case dict(), dict():
            contents = plain(value)
            nested.clear()
            cast("Record", nested).update(contents)
            return cast("Json", nested)
        case _:
            return value


@frozen
class Page:
    """One page of rows."""

    rows: list[Row]
    total: int
    """How many rows there are on all pages."""
    offset: int
    """The position of the first row, from 0."""
    cursor: str | None
    """The cursor of the next page; None on the last one."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True

    @property
    def more(self) -> bool:
        """Whether there is another page."""
        return self.cursor is not None


def sort_rows(rows: list[Row], sort: str | Callable[[Row], Any], *, descending: bool) -> None:
    """Sort rows in place. Missing values come last in both directions."""
    if callable(sort):
        rows.sort(key=sort, reverse=descending)
        return
    there = [row for row in rows if _raw(row, sort) is not None]
    missing = [row for row in rows if _raw(row, sort) is None]
    there.sort(key=lambda row: _comparable(_raw(row, sort)), reverse=descending)
    rows[:] = [*there, *missing]


def _raw(row: Mapping[str, Json], name: str) -> Json:
    """Return a value for comparison, without taking a copy of it."""
    return row.raw(name) if isinstance(row, Row) else row.get(name)


def offset_of(cursor: str) -> int:
    """Return the place of the first row of a page. Raises `Refused` for what is not a cursor."""
    if cursor.isascii() and cursor.isdecimal() and len(cursor) < 10:
        return int(cursor)
    raise Refused(f"Invalid cursor: {cursor}")


def _comparable(value: Json) -> tuple[int, Any]:
    """Return a value that can be compared with those of other types: numbers come before texts, these before others."""
    if isinstance(value, bool | int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, str(value))
