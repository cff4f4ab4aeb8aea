"""What can go wrong with a repository."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_sim.libraries.store import LibraryError


class GitError(LibraryError):
    """A call on a repository that fails."""


class NotARepository(GitError):
    """No repository is at a path or above it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"not a git repository: {path}")
        self.path = path


class UnknownRevision(GitError):
    """No branch, tag or commit has a name."""

    def __init__(self, revision: str) -> None:
        super().__init__(f"unknown revision: {revision}")
        self.revision = revision


class UnknownPath(GitError):
    """A name or pattern of files matches nothing."""

    def __init__(self, path: str) -> None:
        super().__init__(f"pathspec '{path}' did not match any files")
        self.path = path


class UnknownName(GitError):
    """A name belongs to no branch, tag, remote or stash."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"{kind} '{name}' not found")
        self.kind, self.name = kind, name


class NameTaken(GitError):
    """There is a branch, tag or remote of a name already."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"a {kind} named '{name}' already exists")
        self.kind, self.name = kind, name


class BadName(GitError):
    """A name cannot be that of a branch or tag."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' is not a valid branch name")
        self.name = name


class NothingToDo(GitError):
    """There is nothing to commit, or to stash."""

    def __init__(self, what: str) -> None:
        super().__init__(f"nothing to {what}")
        self.what = what


class NotMerged(GitError):
    """A branch has commits that would be lost."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the branch '{name}' is not fully merged")
        self.name = name


class CheckedOut(GitError):
    """A branch cannot be deleted while it is checked out."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the branch '{name}' is checked out")
        self.name = name


class Overwritten(GitError):
    """Local changes would be lost. `paths` are those files."""

    def __init__(self, paths: Iterable[str], by: str) -> None:
        self.paths, self.by = sorted(paths), by
        super().__init__(f"local changes to these files would be overwritten by {by}: {', '.join(self.paths)}")


class Conflict(GitError):
    """Both sides have changed files. `paths` are those files.

    If the program goes on, they hold both texts, and a merge is in progress until they are added and committed.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(paths)
        super().__init__(f"merge conflict in {', '.join(self.paths)}")


class Unmerged(GitError):
    """A merge is in progress, and files are still in conflict. `paths` are those files."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(paths)
        super().__init__(f"unmerged files: {', '.join(self.paths)}")
