"""Arguments of functions that return the same for the same content, for `functools.lru_cache`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ByText(Generic[T]):
    """A value that equals another one if both have the same text."""

    text: str
    value: T = field(compare=False)
