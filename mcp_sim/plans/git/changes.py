"""Snapshots of files, the differences between them, and patches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff
from hashlib import sha1
from io import StringIO
from typing import TypeAlias

from mcp_sim.types import Json

Snapshot: TypeAlias = Mapping[str, str]
"""Files by absolute path."""

Difference: TypeAlias = Mapping[str, "tuple[str | None, str | None]"]
"""Path -> the content before and after; None if there is no file."""


def difference(before: Snapshot, after: Snapshot) -> Difference:
    """Return the changed paths of two snapshots, sorted."""
    paths = sorted(before.keys() | after.keys())
    return {path: (before.get(path), after.get(path)) for path in paths if before.get(path) != after.get(path)}


def apply_changes(before: Snapshot, changes: Mapping[str, Json]) -> dict[str, str]:
    """Return a snapshot with changed contents; None removes a file."""
    return {path: content for path, content in {**before, **changes}.items() if content is not None}


def render_patch(differing: Difference, shown: Callable[[str], str], context: int | None = None) -> str:
    """Return differences as a patch, with three lines of context by default. `shown` makes paths relative."""
    size = 3 if context is None else context
    return "\n".join(line for path, change in differing.items() for line in _patch(shown(path), *change, size))


def _patch(path: str, before: str | None, after: str | None, context: int) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}"
    if before is None:
        yield "new file mode 100644"
    if after is None:
        yield "deleted file mode 100644"
    yield f"index {_blob(before)}..{_blob(after)}{'' if None in {before, after} else ' 100644'}"
    old = "/dev/null" if before is None else f"a/{path}"
    new = "/dev/null" if after is None else f"b/{path}"
    for line in unified_diff([*StringIO(before or "")], [*StringIO(after or "")], old, new, n=context):
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _blob(text: str | None) -> str:
    """Return the abbreviated id of a content, as git computes it."""
    if text is None:
        return "0" * 7
    content = text.encode("utf-8", "surrogatepass")
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()[:7]
