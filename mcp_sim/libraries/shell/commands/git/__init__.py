"""git, in front of the repositories of the world: its subcommands and their wording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mcp_sim.libraries.files import normalize
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
from mcp_sim.libraries.shell.commands.git import branching, changing, looking
from mcp_sim.libraries.shell.commands.git.invocation import GitRun
from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation

_SUBCOMMANDS: Mapping[str, Callable[[GitRun, Sequence[str]], None]] = {
    "status": looking.status,
    "diff": looking.diff,
    "log": looking.log,
    "show": looking.show_commits,
    "blame": looking.blame,
    "rev-parse": looking.rev_parse,
    "ls-files": looking.ls_files,
    "reflog": looking.reflog,
    "init": changing.create,
    "add": changing.add,
    "stage": changing.add,
    "commit": changing.commit_index,
    "branch": branching.branch,
    "checkout": branching.checkout,
    "switch": branching.switch,
    "restore": changing.restore,
    "reset": changing.reset,
    "merge": branching.merge,
    "stash": changing.stash,
    "rm": changing.remove_files,
    "mv": changing.move_file,
    "clean": changing.clean,
    "tag": branching.tag,
    "cherry-pick": branching.cherry_pick,
    "config": branching.config,
    "remote": branching.remote,
    "push": branching.unreachable,
    "pull": branching.unreachable,
    "fetch": branching.unreachable,
    "clone": branching.unreachable,
}


def git(run: Invocation) -> None:
    words, directory, settings = [*run.arguments], run.directory, dict[str, str]()
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "-C" and words:
            directory = normalize(words.pop(0), directory)
        elif word == "-c" and words:
            name, _, value = words.pop(0).partition("=")
            settings[name] = value
        elif word == "--version":
            run.out.append("git version 2.39.5\n")
            return
    name = words[0] if words else "help"
    subcommand = _SUBCOMMANDS.get(name)
    if subcommand is None:
        raise Failed(f"git: '{name}' is not a git command. See 'git --help'.\n")
    run.machine.collect(fs=run.fs)
    try:
        subcommand(GitRun(run, directory, {**settings, "subcommand": name}), words[1:])
    except GitError as error:
        raise worded(error, name) from None
    finally:
        run.machine.collect(fs=run.fs)
        run.machine.follow(run.fs)


BODIES: Mapping[str, Body] = {"git": git}

# usage and failures ---------------------------------------------------------------------------------------------------


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
