"""How git shows what is uncommitted, and the branches."""

from mcp_sim.libraries.git import count_lines

HINTS = {
    "staged": ("Changes to be committed:", '  (use "git restore --staged <file>..." to unstage)'),
    "unstaged": (
        "Changes not staged for commit:", '  (use "git add <file>..." to update what will be committed)',
        '  (use "git restore <file>..." to discard changes in working directory)',
    ),
    "untracked": ("Untracked files:", '  (use "git add <file>..." to include in what will be committed)'),
}  # fmt: skip
"""The headings above files of each kind."""
KINDS = {"added": "new file:   ", "modified": "modified:   ", "deleted": "deleted:    "}


def status_lines(repository):
    """Yield the lines of `git status`."""
    status = repository.status()
    yield f"On branch {repository.branch}" if repository.branch else f"HEAD detached at {repository.head[:7]}"
    if repository.head is None:
        yield from ("", "No commits yet", "")
    for name, files in (("staged", status.staged), ("unstaged", status.unstaged)):
        if files:
            yield from (*HINTS[name], *(f"\t{KINDS[kind]}{path}" for path, kind in files.items()), "")
    if status.untracked:
        yield from (*HINTS["untracked"], *(f"\t{path}" for path in folded(repository, status.untracked)), "")
    if not status.staged:
        yield nothing_to_commit(status)


def folded(repository, untracked):
    """Return untracked files, with the name of a folder in the place of those in one that has nothing else."""
    tracked, shown = repository.index, {}
    for path in untracked:
        folders = [path[: at + 1] for at, sign in enumerate(path) if sign == "/"]
        new = (folder for folder in folders if not any(known.startswith(folder) for known in tracked))
        shown[next(new, path)] = None
    return [*shown]


def nothing_to_commit(status):
    if status.unstaged:
        return 'no changes added to commit (use "git add" and/or "git commit -a")'
    if status.untracked:
        return 'nothing added to commit but untracked files present (use "git add" to track)'
    return "nothing to commit, working tree clean"


def branch_lines(repository, names):
    """Yield the lines of `git branch` for these branches."""
    if repository.branch is None and repository.head is not None:
        yield f"* (HEAD detached at {repository.head[:7]})"
    yield from (f"{'*' if name == repository.branch else ' '} {name}" for name in names)


WIDTH = 60
"""How many signs show the changed lines of a file at most."""


def diff_stat(changes):
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


def _graph(added, removed, most):
    if most > WIDTH:
        added, removed = (max(1, count * WIDTH // most) if count else 0 for count in (added, removed))
    return "+" * added + "-" * removed
