"""How git shows what is uncommitted, the branches, and how much changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mcp_sim.libraries.git.changes import Difference, count_lines

if TYPE_CHECKING:
    from mcp_sim.libraries.git.repository import Repository, Status

HINTS: Mapping[str, Sequence[str]] = {
    "staged": ("Changes to be committed:", '  (use "git restore --staged <file>..." to unstage)'),
    "unstaged": (
        "Changes not staged for commit:", '  (use "git add <file>..." to update what will be committed)',
        '  (use "git restore <file>..." to discard changes in working directory)',
    ),
    "conflicts": ("Unmerged paths:", '  (use "git add <file>..." to mark resolution)'),
    "untracked": ("Untracked files:", '  (use "git add <file>..." to include in what will be committed)'),
}  # fmt: skip
"""The headings above files of each kind."""
_UNMERGED = (
    "You have unmerged paths.",
    '  (fix conflicts and run "git commit")',
    '  (use "git merge --abort" to abort the merge)',
    "",
)
_MERGED = ("All conflicts fixed but you are still merging.", '  (use "git commit" to conclude merge)', "")
KINDS = {"added": "new file:   ", "modified": "modified:   ", "deleted": "deleted:    "}


def status_lines(repository: Repository) -> Iterator[str]:
    """Yield the lines of `git status`."""
    status = repository.status()
    yield f"On branch {repository.branch}" if repository.branch else f"HEAD detached at {(repository.head or '')[:7]}"
    if repository.head is None:
        yield from ("", "No commits yet", "")
    if repository.merging is not None:
        yield from (_UNMERGED if status.conflicts else _MERGED)
    for name, files in (("staged", status.staged), ("unstaged", status.unstaged)):
        if name == "unstaged" and status.conflicts:
            yield from (*HINTS["conflicts"], *(f"\tboth modified:   {path}" for path in status.conflicts), "")
        if files:
            yield from (
                *_hints(repository, name, files),
                *(f"\t{KINDS[kind]}{path}" for path, kind in files.items()),
                "",
            )
    if status.untracked:
        yield from (*HINTS["untracked"], *(f"\t{path}" for path in folded(repository, status.untracked)), "")
    if not status.staged:
        yield nothing_to_commit(status)


def _hints(repository: Repository, name: str, files: Mapping[str, str]) -> Sequence[str]:
    """Return the heading above files of a kind, with what git suggests there."""
    heading, *hints = HINTS[name]
    if name == "staged" and repository.merging is not None:
        return (heading,)
    if name == "staged" and repository.head is None:
        return (heading, '  (use "git rm --cached <file>..." to unstage)')
    if name == "unstaged" and "deleted" in files.values():
        hints[0] = hints[0].replace("git add", "git add/rm")
    return (heading, *hints)


def folded(repository: Repository, untracked: Sequence[str]) -> list[str]:
    """Return untracked files, with the name of a folder instead of its files where it has no others."""
    tracked, shown = repository.index, dict[str, None]()
    for path in untracked:
        folders = [path[: at + 1] for at, sign in enumerate(path) if sign == "/"]
        new = (folder for folder in folders if not any(known.startswith(folder) for known in tracked))
        shown[next(new, path)] = None
    return [*shown]


def nothing_to_commit(status: Status) -> str:
    """Return the last line of a status with nothing staged."""
    if status.unstaged or status.conflicts:
        return 'no changes added to commit (use "git add" and/or "git commit -a")'
    if status.untracked:
        return 'nothing added to commit but untracked files present (use "git add" to track)'
    return "nothing to commit, working tree clean"


def branch_lines(repository: Repository, names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of `git branch` for these branches."""
    if repository.branch is None and repository.head is not None:
        yield f"* (HEAD detached at {(repository.head or '')[:7]})"
    yield from (f"{'*' if name == repository.branch else ' '} {name}" for name in names)


WIDTH = 60
"""How many signs show the changed lines of a file at most."""


def diff_stat(changes: Difference) -> str:
    """Return what `git diff --stat` prints of changes."""
    counts = {path: count_lines(*change) for path, change in changes.items()}
    if not counts:
        return ""
    longest, most = max(map(len, counts)), max(sum(count) for count in counts.values())
    digits = len(str(most))
    lines = [
        f" {path:<{longest}} | {added + removed:>{digits}} {_graph(added, removed, most)}".rstrip()
        for path, (added, removed) in counts.items()
    ]
    added, removed = (sum(count[at] for count in counts.values()) for at in (0, 1))
    parts = [f"{len(counts)} file{'s' if len(counts) > 1 else ''} changed"]
    parts += [f"{added} insertion{'s' if added != 1 else ''}(+)"] if added else []
    parts += [f"{removed} deletion{'s' if removed != 1 else ''}(-)"] if removed else []
    return "\n".join([*lines, " " + ", ".join(parts)]) + "\n"


def _graph(added: int, removed: int, most: int) -> str:
    if most > WIDTH:
        added, removed = (max(1, count * WIDTH // most) if count else 0 for count in (added, removed))
    return "+" * added + "-" * removed
