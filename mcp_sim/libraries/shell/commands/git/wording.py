"""Failures in git's words."""

from __future__ import annotations

from mcp_sim.libraries.git import (
    BadName,
    CheckedOut,
    GitError,
    NameTaken,
    NotMerged,
    Overwritten,
    UnknownName,
    UnknownPath,
    UnknownRevision,
    Unmerged,
)
from mcp_sim.libraries.shell.commands.invocation import Failed


def worded(error: GitError, name: str) -> Failed:  # noqa: C901 (a table of failures)
    """Return a failure in git's words."""
    match error:
        case UnknownRevision():
            if name in ("checkout", "switch"):
                return Failed(f"error: pathspec '{error.revision}' did not match any file(s) known to git\n")
            if name == "branch":
                return Failed(f"fatal: not a valid object name: '{error.revision}'\n", 128)
            hint = "Use '--' to separate paths from revisions, like this:\n"
            hint += "'git <command> [<revision>...] -- [<file>...]'\n"
            problem = f"ambiguous argument '{error.revision}': unknown revision or path not in the working tree."
            return Failed(f"fatal: {problem}\n{hint}", 128)
        case UnknownPath():
            known = " did not match any files" if name in ("add", "rm") else " did not match any file(s) known to git"
            is_fatal = name in ("add", "rm", "blame")
            text = f"{'fatal' if is_fatal else 'error'}: pathspec '{error.path}'{known}\n"
            return Failed(
                f"fatal: no such path '{error.path}' in HEAD\n" if name == "blame" else text, 128 if is_fatal else 1
            )
        case Overwritten():
            files = "".join(f"\t{path}\n" for path in error.paths)
            before = "switch branches" if error.by == "checkout" else "merge"
            heading = f"Your local changes to the following files would be overwritten by {error.by}:"
            return Failed(
                f"error: {heading}\n{files}Please commit your changes or stash them before you {before}.\nAborting\n"
            )
        case NameTaken():
            return Failed(f"fatal: a {error.kind} named '{error.name}' already exists\n", 128)
        case UnknownName():
            return Failed(f"error: {error.kind} '{error.name}' not found.\n")
        case BadName():
            return Failed(f"fatal: '{error.name}' is not a valid branch name\n", 128)
        case NotMerged():
            hint = f"If you are sure you want to delete it, run 'git branch -D {error.name}'.\n"
            return Failed(f"error: The branch '{error.name}' is not fully merged.\n{hint}")
        case CheckedOut():
            return Failed(f"error: Cannot delete branch '{error.name}' checked out\n")
        case Unmerged():
            return Failed(
                "error: you need to resolve your current index first\n"
                + "".join(f"{path}: needs merge\n" for path in error.paths)
            )
        case _:
            return Failed(f"fatal: {error}\n", 128)
