"""Find the part of a given state that some tools work on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import words


@dataclass(frozen=True, slots=True)
class Scope:
    """An object in a given state, and its path."""

    path: tuple[str, ...]
    body: Record


MAX_OBJECTS = 200
"""How many objects within one object are considered. More are the rows of a table."""


def scopes(state: Json, deepest: int = 2) -> Iterator[Scope]:
    """Yield the state itself and the objects in it, down to a depth."""
    yield from _scopes(state, (), deepest)


def _scopes(value: Json, path: tuple[str, ...], deepest: int) -> Iterator[Scope]:
    if not isinstance(value, dict):
        return
    body = cast("Record", value)
    yield Scope(path, body)
    if deepest:
        objects = (name for name, inner in body.items() if isinstance(inner, dict))
        for name in islice(objects, MAX_OBJECTS):
            yield from _scopes(body[name], (*path, name), deepest - 1)


def without(state: Json, path: Sequence[str], names: Collection[str]) -> Json:
    """Return the state without these entries of the object at `path`."""
    if not isinstance(state, dict):
        return state
    body = cast("Mapping[str, Json]", state)
    if not path:
        return {name: value for name, value in body.items() if name not in names}
    return {name: without(value, path[1:], names) if name == path[0] else value for name, value in body.items()}


def matching_words(profile: ToolProfile, scope: Scope) -> int:
    """Return how many words of a tool's name (counted three times) and description occur in the path of a scope."""
    named = {word for part in scope.path for word in words(part)}
    return 3 * sum(_is_like(word, named) for word in profile.words) + sum(
        _is_like(word, named) for word in profile.description_words
    )


def _is_like(word: str, named: Collection[str]) -> bool:
    return len(word) > 3 and any(word == other or (len(other) > 3 and other.startswith(word[:5])) for other in named)


def common_prefix_length(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    return next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
