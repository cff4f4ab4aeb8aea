"""Frozen dataclasses that are cheap to define and to create."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots, whose instances are compared, hashed and shown by their fields.

    A type checker refuses assignments to its fields; at run time nothing does. All classes share the methods that
    `dataclass` compiles for each of them: a server defines more than a hundred classes before it lists its tools.
    """
    own, shared = vars(cls), cast("Any", cls)
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # `dataclass` would format the signature
    if "__repr__" not in own:
        shared.__repr__ = _shown
    if own.get("__hash__") is None:
        shared.__hash__ = _hash
    if "__eq__" not in own:
        shared.__eq__ = _is_equal
    made_class: Any = dataclass(slots=True, eq=False, repr=False)(cls)
    made_class.__compared__ = _getter([attribute.name for attribute in fields(made_class) if attribute.compare])
    return made_class


def is_frozen(cls: Any) -> bool:
    """Whether a class is a frozen dataclass, made by `frozen` or by `dataclass`."""
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and (parameters.frozen or "__compared__" in vars(cls))


def _getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that returns some attributes of a value."""
    if len(names) > 1:
        return attrgetter(*names)

    def get(value: Any) -> tuple[Any, ...]:
        return tuple([getattr(value, name) for name in names])

    return get


def _is_equal(self: Any, other: Any) -> bool:
    cls = self.__class__
    return cls.__compared__(self) == cls.__compared__(other) if other.__class__ is cls else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__class__.__compared__(self))


@recursive_repr()
def _shown(self: Any) -> str:
    shown = ", ".join(
        [f"{attribute.name}={getattr(self, attribute.name)!r}" for attribute in fields(self) if attribute.repr]
    )
    return f"{self.__class__.__qualname__}({shown})"
