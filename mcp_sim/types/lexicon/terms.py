"""The lexicon: the words that names of tools, arguments, results and fields consist of, read from `lexicon.json`.

`lexicon.schema.json` describes the file. A group is named by its path: `terms("arguments.limit")`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from typing import Any


@cache
def _lexicon() -> Mapping[str, Any]:
    return json.loads(get_data("mcp_sim.types.lexicon", "lexicon.json") or b"")


def _group(path: str) -> Any:
    """Return a group of the lexicon. Raises `KeyError` if it does not exist."""
    group: Any = _lexicon()
    for name in path.split("."):
        group = group[name]
    return group


def ordered(path: str) -> tuple[str, ...]:
    """Return the words of a group in the order of the file."""
    return tuple(_group(path))


@cache
def terms(*paths: str) -> frozenset[str]:
    """Return the words of one or several groups, as a set for lookups."""
    return frozenset(word for path in paths for word in _group(path))


def table(path: str) -> Mapping[str, str]:
    """Return a group that maps words to words."""
    return _group(path)


def groups(path: str) -> dict[str, tuple[str, ...]]:
    """Return the groups below a path, by name."""
    return {name: tuple(group) for name, group in _group(path).items()}


def by_word(path: str) -> dict[str, str]:
    """Return the groups below a path by their words: the name of the group for each of its words."""
    return {word: name for name, group in groups(path).items() for word in group}
