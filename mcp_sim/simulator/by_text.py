"""Arguments of functions that return the same for the same content, for `functools.lru_cache`."""

from __future__ import annotations

from dataclasses import field
from typing import Generic, TypeVar

from mcp_sim.types.frozen import frozen

T = TypeVar("T")


@frozen
class ByText(Generic[T]):
    """A value that equals another one if both have the same text."""

    text: str
    value: T = field(compare=False)
