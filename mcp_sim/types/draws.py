"""Random draws. A draw is a pure function of seed, stream, purpose and occurrence.

No draw depends on how many others were made before it. Adding, removing or reordering perturbations, and the order in
which parallel calls arrive, leave every other draw as it was.
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
    """Compile `draws.unit(purpose) < probability`: the digest is compared with the bound as bytes."""
    bound = ceil(probability * (1 << 53))
    if bound >= 1 << 53:
        return lambda _: True
    threshold = (bound << 3).to_bytes(7, "big")
    name = purpose.encode("utf-8", "surrogatepass")
    return lambda draws: sha256(draws.key + name).digest() < threshold


@dataclass(slots=True)
class Draws:
    """The draws of one call."""

    seed: int
    stream: str
    scope: str
    """Names the call (tool and canonical arguments). It is part of every draw."""
    occurrence: int
    """How many calls with the same scope there were before."""
    _key: bytes | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def key(self) -> bytes:
        """The hash of all four, in 32 bytes, so that a draw hashes no more than the key and its purpose."""
        if self._key is None:
            text = SEPARATOR.join((str(self.seed), self.stream, self.scope, str(self.occurrence)))
            self._key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        return self._key

    def unit(self, purpose: str) -> float:
        """Return a number in [0, 1), always the same for the same purpose."""
        digest = sha256(self.key + purpose.encode("utf-8", "surrogatepass")).digest()
        return (int.from_bytes(digest[:7], "big") >> 3) / (1 << 53)

    def choice(self, purpose: str, options: Sequence[T]) -> T:
        """Return one of the options, each with equal probability."""
        return options[int(self.unit(purpose) * len(options))]

    def about(self, scope: str) -> Draws:
        """Return the draws of something other than this call, such as a record: the same at every call."""
        return Draws(self.seed, self.stream, scope, 0)

    def generator(self, purpose: str) -> Random:
        """Return a random generator, for what needs many numbers for one purpose."""
        parts = (self.seed, self.stream, purpose, self.scope, self.occurrence)
        return Random(SEPARATOR.join(str(key) for key in parts))  # noqa: S311 (chance, not a secret)
