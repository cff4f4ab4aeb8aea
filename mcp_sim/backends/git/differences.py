"""What do the tools tell that compare: two revisions, what is staged, what is not?"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.asking import Asked
from mcp_sim.backends.git.repository import Difference, Repository, difference
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record


def diff(asked: Asked) -> Outcome:
    """What is not the same in two revisions; in one and the working tree; in what is staged and the working tree."""
    one = asked.repository
    first, second = _ends(asked)
    after = one.snapshot(one.resolve(second)) if second is not None else None
    if asked.flag("staged"):
        return _told(asked, "Staged changes:", _before(one, first or "HEAD"), one.index())
    if first is None:
        return diff_unstaged(asked)
    before = _before(one, first)
    if after is None:
        known = {*before, *one.index()}
        after = {path: text for path, text in one.working().items() if path in known}
    return _told(asked, f"Diff with {first}:" if second is None else f"Diff {first}..{second}:", before, after)


def _before(one: Repository, revision: str) -> dict[str, str]:
    return one.snapshot(None if revision == "HEAD" and one.head is None else one.resolve(revision))


def _ends(asked: Asked) -> tuple[str | None, str | None]:
    """The revisions to compare, as they are written."""
    given = [value for role in ("from", "to", "revision") if (value := asked.text(role)) is not None]
    if len(given) == 1 and ".." in given[0]:
        first, _, second = given[0].partition("..")
        return first or "HEAD", second.lstrip(".") or "HEAD"
    return (given[0] if given else None), (given[1] if len(given) > 1 else None)


def diff_unstaged(asked: Asked) -> Outcome:
    index = asked.repository.index()
    working = {path: text for path, text in asked.repository.working().items() if path in index}
    return _told(asked, "Unstaged changes:", index, working)


def diff_staged(asked: Asked) -> Outcome:
    one = asked.repository
    return _told(asked, "Staged changes:", one.snapshot(one.head), one.index())


def _told(asked: Asked, title: str, before: Mapping[str, str], after: Mapping[str, str]) -> Outcome:
    one, found = asked.repository, difference(before, after)
    if not asked.is_everything:
        wanted = [one.at(path) for path in asked.named]
        found = {path: change for path, change in found.items() if is_within(path, wanted)}
    files: list[Json] = [one.shown(path) for path in found]
    patch = "\n".join(files) if asked.flag("names") else rendered(one, found)
    text = f"{title}\n{patch}" if patch else f"{title}\nNo changes"
    facts: Record = {"diff": patch, "files": files, "files_changed": len(files), "has_changes": bool(files)}
    return Outcome(text, {**facts, **_counted(patch)})


def _counted(patch: str) -> Record:
    """How many lines a patch puts in and takes out."""
    lines = [line for line in patch.splitlines() if not line.startswith(("+++", "---"))]
    signs = {"insertions": "+", "deletions": "-"}
    return {name: sum(line.startswith(sign) for line in lines) for name, sign in signs.items()}


def rendered(one: Repository, found: Difference) -> str:
    """Differences as a patch."""
    return "\n".join(line for path, change in found.items() for line in _patch(one.shown(path), *change))


def _patch(path: str, before: str | None, after: str | None) -> list[str]:
    old = "/dev/null" if before is None else f"a/{path}"
    new = "/dev/null" if after is None else f"b/{path}"
    lines = unified_diff((before or "").splitlines(), (after or "").splitlines(), old, new, lineterm="")
    mode = ["new file mode 100644"] if before is None else ["deleted file mode 100644"] if after is None else []
    return [f"diff --git a/{path} b/{path}", *mode, *lines]
