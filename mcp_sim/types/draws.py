"""Chance, derived and not shared: a draw is a pure function of seed, stream, purpose and occurrence.

No draw depends on how many others were made before it, so adding, removing or reordering perturbations, and the
arrival order of different parallel calls, leave every other draw as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil
from random import Random
from typing import TypeVar

T = TypeVar("T")
SEPARATOR = "\x1f"


def below(probability: float, purpose: str) -> Callable[[Draws], bool]:
    """`draws.unit(purpose) < probability`, compiled: the digest is compared as it is, with the bound as bytes."""
    bound = ceil(probability * (1 << 53))
    if bound >= 1 << 53:
        return lambda _: True
    threshold = (bound << 3).to_bytes(7, "big")
    name = purpose.encode("utf-8", "surrogatepass")
    return lambda draws: sha256(draws.key + name).digest() < threshold


def _fraction(digest: bytes) -> float:
    return (int.from_bytes(digest[:7], "big") >> 3) / (1 << 53)


@dataclass(frozen=True, slots=True)
class Draws:
    """The chance of one call: `seed` and `stream` of its world, the call itself, the how-manieth of its like.

    `scope` names the call (tool and canonical arguments) and is part of every draw. `key` is all four in 32 bytes, so
    that a draw hashes no more than the key and its purpose.
    """

    seed: int
    stream: str
    scope: str
    occurrence: int
    key: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = SEPARATOR.join((str(self.seed), self.stream, self.scope, str(self.occurrence)))
        object.__setattr__(self, "key", sha256(text.encode("utf-8", "surrogatepass")).digest())

    def unit(self, purpose: str) -> float:
        """A number in [0, 1), the same whenever the same purpose is asked for."""
        return _fraction(sha256(self.key + purpose.encode("utf-8", "surrogatepass")).digest())

    def choice(self, purpose: str, options: Sequence[T]) -> T:
        """One of the options, evenly."""
        return options[int(self.unit(purpose) * len(options))]

    def about(self, scope: str) -> Draws:
        """The chance of something else than this call, a record for instance: the same at every call."""
        return Draws(self.seed, self.stream, scope, 0)

    def generator(self, purpose: str) -> Random:
        """A generator of its own, for what needs many numbers for one purpose."""
        parts = (self.seed, self.stream, purpose, self.scope, self.occurrence)
        return Random(SEPARATOR.join(str(part) for part in parts))  # noqa: S311 (chance, not a secret)
