"""What do the tools tell that look at a repository as it stands: status, branches, tags?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.entities import BRANCH, TAG
from mcp_sim.backends.git.repository import Difference, Repository, difference, unknown
from mcp_sim.backends.git.request import Asked
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record

_LINES = {
    "staged": ("Changes to be committed:", '  (use "git restore --staged <file>..." to unstage)'),
    "unstaged": (
        "Changes not staged for commit:",
        '  (use "git add <file>..." to update what will be committed)',
        '  (use "git restore <file>..." to discard changes in working directory)',
    ),
    "untracked": ("Untracked files:", '  (use "git add <file>..." to include in what will be committed)'),
}
"""What git writes above files of a kind."""


def status(asked: Asked) -> Outcome:
    """What is staged, what is not, and what is not tracked."""
    one = asked.repository
    index, working = one.index(), one.working()
    staged = difference(one.snapshot(one.head), index)
    unstaged = difference(index, {path: text for path, text in working.items() if path in index})
    untracked: list[Json] = sorted(one.shown(path) for path in working if path not in index)
    facts: Record = {"branch": one.branch, "head": one.head, "untracked": untracked, "ahead": 0, "behind": 0}
    lines = [f"On branch {one.branch}" if one.branch is not None else f"HEAD detached at {(one.head or '')[:7]}"]
    lines += ["", "No commits yet", ""] if one.head is None else []
    for name, found in (("staged", staged), ("unstaged", unstaged)):
        lines += [*_LINES[name], *_named(one, found), ""] if found else []
        facts[name] = [one.shown(path) for path in found]
    lines += [*_LINES["untracked"], *(f"\t{path}" for path in untracked), ""] if untracked else []
    lines += [] if staged else [_nothing(unstaged, untracked)]
    facts["is_clean"] = not (staged or unstaged or untracked)
    facts["files"] = [{"path": path, "status": "untracked"} for path in untracked]
    facts["files"] += [
        {"path": one.shown(path), "status": _kind(*change), "staged": found is staged}
        for found in (staged, unstaged)
        for path, change in found.items()
    ]
    kinds = {"staged_changes": _by_kind(one, staged), "unstaged_changes": _by_kind(one, unstaged)}
    return Outcome("Repository status:\n" + "\n".join(lines), {**facts, **kinds, "modified": facts["unstaged"]})


def _by_kind(one: Repository, found: Difference) -> Record:
    """The paths that were added, modified and deleted, each kind that there is."""
    kinds: dict[str, list[str]] = {}
    for path, change in found.items():
        kinds.setdefault(_kind(*change), []).append(one.shown(path))
    return {**kinds}


def _nothing(unstaged: Difference, untracked: Sequence[Json]) -> str:
    if unstaged:
        return 'no changes added to commit (use "git add" and/or "git commit -a")'
    if untracked:
        return 'nothing added to commit but untracked files present (use "git add" to track)'
    return "nothing to commit, working tree clean"


def _named(one: Repository, found: Difference) -> list[str]:
    width = {"added": "new file:   ", "modified": "modified:   ", "deleted": "deleted:    "}
    return [f"\t{width[_kind(*change)]}{one.shown(path)}" for path, change in found.items()]


def _kind(before: str | None, after: str | None) -> str:
    return "added" if before is None else "deleted" if after is None else "modified"


# branches and tags ----------------------------------------------------------------------------------------------------


def branches(asked: Asked) -> Outcome:
    """The names of the branches; there are no remote ones."""
    one = asked.repository
    kind = str(asked.text("kind") or "local").lower()
    if not kind.startswith(("local", "remote", "all")):
        raise Refused("invalid", f"Invalid {asked.roles['kind']}: {kind}. It is local, remote or all")
    named = sorted(one.rows(BRANCH), key=lambda row: row["name"])
    rows: list[Json] = [] if kind.startswith("remote") else [_branch(one, row) for row in named]
    names: list[Json] = [row["name"] for row in rows]
    text = "\n".join(f"{'*' if row['current'] else ' '} {row['name']}" for row in rows)
    facts: Record = {"branches": rows, "names": names, "current": one.branch, "count": len(rows)}
    return Outcome(text or "No branches", facts, "branches")


def _branch(one: Repository, row: Record) -> Record:
    return {
        **row,
        "current": row["name"] == one.branch,
        "hash": row["commit"],
        "remote": False,
        "ahead": 0,
        "behind": 0,
    }


def current_branch(asked: Asked) -> Outcome:
    one = asked.repository
    text = one.branch if one.branch is not None else f"HEAD detached at {(one.head or '')[:7]}"
    return Outcome(text, {"branch": text, "commit": one.head}, "branch")


def tags(asked: Asked) -> Outcome:
    rows: list[Json] = asked.repository.rows(TAG)
    return Outcome("\n".join(row["name"] for row in rows) or "No tags", {"tags": rows, "count": len(rows)}, "tags")


def branch_named(one: Repository, name: str) -> Record:
    """A branch that must be there."""
    found = one.get(BRANCH, name)
    if found is None:
        raise unknown(name)
    return found


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
