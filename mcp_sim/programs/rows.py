"""Rows: records as programs see them, copied only as far as they may change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, Self

from mcp_sim.types import Json, Key, Record

_NESTED = (dict, list)
_MISSING: Any = object()


class Row(dict[str, Json]):
    """One record of a table. Setting a field writes it when the function returns.

    Nested lists and objects may be changed in place, too: each is copied when it is first read, since records are
    shared between worlds.
    """

    __slots__ = ("_changed", "_owned", "key")

    def __init__(self, record: Record, key: Key, changed: Callable[[Row], None]) -> None:
        super().__init__(record)
        self.key = key
        self._changed: Callable[[Row], None] | None = changed
        self._owned: set[str] | None = None

    @property
    def may_change_inside(self) -> bool:
        """Whether a nested value was read, which may be changed in place at any time."""
        return self._owned is not None

    @property
    def is_there(self) -> bool:
        """Whether the record still exists, as far as the program's own writes go."""
        return self._changed is not None

    def raw(self, name: str, default: Json = None) -> Json:
        """Return a value without taking a copy of it. It must not be changed."""
        return super().get(name, default)

    def restore(self, name: str, value: Json) -> None:
        """Set a field without writing it."""
        super().__setitem__(name, value)

    def reset(self, record: Record) -> None:
        """Undo all changes: take over the fields of a record."""
        super().clear()
        super().update(record)
        self._owned = None

    def detach(self) -> None:
        """Let later changes write nothing: the record is gone."""
        self._changed = None

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
        return dict, (dict(self),)

    # writing

    def __setitem__(self, name: str, value: Json) -> None:
        super().__setitem__(name, value)
        self._note(name if value.__class__ in _NESTED else None)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._note()

    def pop(self, name: str, *default: Any) -> Any:
        value = super().pop(name, *default)
        self._note()
        return deepcopy(value)

    def popitem(self) -> tuple[str, Json]:
        name, value = super().popitem()
        self._note()
        return name, deepcopy(value)

    def clear(self) -> None:
        super().clear()
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
            value = deepcopy(value)
            super().__setitem__(name, value)
            self._note(name)
        return value

    def _own_all(self) -> None:
        for name, value in [*super().items()]:
            if value.__class__ in _NESTED:
                self._own(name, value)

    def _note(self, owned: str | None = None) -> None:
        """Report to the table that the row may have changed."""
        if owned is not None:
            self._owned = self._owned or set()
            self._owned.add(owned)
        if self._changed is not None:
            self._changed(self)
