"""git, in front of the repositories of the world: its subcommands and their wording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mcp_sim.libraries.files import normalize
from mcp_sim.libraries.git import GitError
from mcp_sim.libraries.shell.commands.git import branching, changing, looking
from mcp_sim.libraries.shell.commands.git.invocation import GitRun
from mcp_sim.libraries.shell.commands.git.wording import worded
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
