"""Libraries that programs call: files, git, screens, search, a shell and SQL over the tables of a world.

They are plain Python with types. They know no tools and word no answers: what goes wrong is a `LibraryError`, which the
program words. All state is in tables, so that forks, resets and faults need nothing of them. May import `types` and
`world`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from mcp_sim.libraries.store import LibraryError, Store
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity
from mcp_sim.types.programs import LIBRARIES

__all__ = ["LIBRARIES", "LibraryError", "Store", "entities_of", "open_library"]


def open_library(name: str, store: Store) -> Any:
    """Return a library over the tables of one call. Each is a package with a `library` and its `entities`."""
    return import_module(f"{__name__}.{name}").library(store)


def entities_of(name: str, state: Json) -> Sequence[Entity]:
    """Return the entities that a library stores, for the given state of a world."""
    return import_module(f"{__name__}.{name}").entities(state)
