"""Where on the callers' disk does a tree stand whose state never says so?

Such a tree begins at `/` in the world, and callers speak of `/home/ada/project/notes/a.md` from the first call on. What
is above the tree is what has to be taken off a path for the rest of it to be there. Where no path tells that, the
first directory that a caller names is the tree's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from mcp_sim.backends.files.paths import ROOT, is_within, names_of, parent
from mcp_sim.types import Json, Past
from mcp_sim.types.json_schema.shapes import as_list, as_object

_FIRST_CALLS = 30
"""So many calls are looked at for a path that tells where the tree is."""


def is_absolute(path: str) -> bool:
    """Does a caller name a place on a disk: from its root on, or with the letter of a drive?"""
    return path.startswith(("/", "file:///")) or path[1:3] in {":\\", ":/"}


def above_of(path: str, exists: Callable[[str], bool], history: Sequence[Past]) -> str:
    """What is above the tree, by an absolute path of which the whole is not there; `/` where that tells nothing."""
    found = above_told(path, exists)
    if found is None:
        earlier = (above_told(one, exists) for one in islice(_paths_said(history), _FIRST_CALLS))
        found = next((one for one in earlier if one is not None), None)
    if found is None and len(names_of(path)) > 1 and not exists(ROOT + names_of(path)[0]):
        return parent(path) if "." in names_of(path)[-1] else path
    return found if found is not None else ROOT


def above_told(path: str, exists: Callable[[str], bool]) -> str | None:
    """What is above, where the rest of a path is there, or the directory that it would be in; None where neither is."""
    names = names_of(path)
    if names and exists(ROOT + names[0]):
        return ROOT
    for kept in (names, names[:-1]):
        for start in range(1, len(kept)):
            if exists(ROOT + "/".join(kept[start:])):
                return ROOT + "/".join(names[:start])
    return None


def _paths_said(history: Sequence[Past]) -> Iterator[str]:
    for past in history[:_FIRST_CALLS]:
        yield from (one for value in past.arguments.values() for one in _texts(value) if is_absolute(one))


def _texts(value: Json) -> Iterable[str]:
    within = (part for one in as_list(value) for part in as_object(one).values())
    return [one for one in (value, *as_list(value), *within) if isinstance(one, str)]


def below(path: str, above: str) -> str:
    """The path within the tree; the whole where it is somewhere else."""
    if above == ROOT or not is_within(path, [above]):
        return path
    return path[len(above) :] or ROOT
