"""Subcommands of git that change files, the index and commits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mcp_sim.libraries.files import join, normalize
from mcp_sim.libraries.git import Commit, Difference, Git, NothingToDo, Repository, Unmerged, difference
from mcp_sim.libraries.git.views import diff_stat, status_lines
from mcp_sim.libraries.shell.commands.git.invocation import GitRun
from mcp_sim.libraries.shell.commands.git.looking import LETTERS, names_commit, show_changes
from mcp_sim.libraries.shell.commands.invocation import Failed

_UNMERGED = (
    "error: Committing is not possible because you have unmerged files.\n"
    "hint: Fix them up in the work tree, and then use 'git add/rm <file>'\n"
    "hint: as appropriate to mark resolution and make a commit.\n"
    "fatal: Exiting because of an unresolved conflict.\n"
)


def create(git: GitRun, words: Sequence[str]) -> None:
    options, rest = git.options(words, "qb:", "initial-branch:b quiet:q bare")
    root = normalize(rest[0] if rest else ".", git.directory)
    git.run.machine.collect(fs=git.run.fs)
    repository = Git(git.run.store).init(root, options.get("b", "master"))
    if "q" not in options:
        git.say(f"Initialized empty Git repository in {join(repository.root, '.git')}/")


def add(git: GitRun, words: Sequence[str]) -> None:
    words, paths = git.split(words)
    options, rest = git.options(words, "Aunvfp", "all:A update:u dry-run:n verbose:v force:f")
    repository = git.repository
    paths = [git.path(repository, path) for path in [*rest, *paths]]
    if "u" in options:
        paths = [*repository.status().unstaged, *repository.conflicts]
    elif "A" in options and not paths:
        paths = ["."]
    elif not paths:
        raise Failed("Nothing specified, nothing added.\nhint: Maybe you wanted to say 'git add .'?\n", 0)
    if paths:
        repository.add(paths)


def commit_index(git: GitRun, words: Sequence[str]) -> None:
    words = [word if word != "-am" else "-a -m" for word in words]
    words = [option for word in words for option in (word.split() if word == "-a -m" else [word])]
    messages = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-m", "--message")]
    options, paths = git.options(
        words, "am:qF:vs", "all:a message:m amend no-edit allow-empty quiet:q file:F author= no-verify"
    )
    repository = git.repository
    if "a" in options:
        changed = [*repository.status().unstaged, *repository.conflicts]
        if changed:
            repository.add(changed)
    elif paths:
        repository.add([git.path(repository, path) for path in paths])
    source = options.get("F")
    text = git.run.text(source) if source is not None else "\n\n".join(messages) or options.get("m", "")
    merging = repository.merging
    if not text:
        text = repository.get().message if "amend" in options else str((merging or {}).get("message") or "")
    if not text.strip():
        raise Failed("Aborting commit due to empty commit message.\n", 1)
    before = repository.tree()
    try:
        name, _, address = options.get("author", "").partition("<")
        author = name.rstrip(), address[:-1]
        if not address.endswith(">"):
            author = git.settings.get("user.name", ""), git.settings.get("user.email", "")
        commit = repository.commit(
            f"{text.strip()}\n", author=author[0], email=author[1], amend="amend" in options,
            allow_empty="allow-empty" in options,
        )  # fmt: skip
    except NothingToDo:
        git.say(*status_lines(repository))
        raise Failed("", 1) from None
    except Unmerged as error:
        git.run.out += [f"U\t{path}\n" for path in error.paths]
        raise Failed(_UNMERGED, 128) from None
    if "q" not in options:
        report(git, repository, commit, {} if merging else difference(before, repository.tree()))


def report(git: GitRun, repository: Repository, commit: Commit, changes: Difference) -> None:
    """Show what a commit did: its name, how much changed, and the files that came or went."""
    where = repository.branch or "detached HEAD"
    root = "" if commit.parents else " (root-commit)"
    git.say(f"[{where}{root} {commit.short}] {commit.title}")
    total = diff_stat(changes).rstrip("\n").rpartition("\n")[2]
    git.say(*([total] if total else []))
    for path, change in changes.items():
        if None in change:
            git.say(f" {'create' if change[0] is None else 'delete'} mode 100644 {path}")


def restore(git: GitRun, words: Sequence[str]) -> None:
    words, paths = git.split(words)
    options, rest = git.options(words, "Ss:W", "staged:S source:s worktree:W")
    repository = git.repository
    places = [git.path(repository, path) for path in [*rest, *paths]]
    if not places:
        raise Failed("fatal: you must specify path(s) to restore\n", 128)
    if "S" in options:
        repository.unstage(places)
    else:
        repository.restore(places, options.get("s", ""))


def reset(git: GitRun, words: Sequence[str]) -> None:
    words, paths = git.split(words)
    options, rest = git.options(words, "q", "hard soft mixed merge keep quiet:q")
    repository = git.repository
    if rest and not names_commit(repository, rest[0]):
        paths, rest = [*rest, *paths], []
    if paths:
        repository.unstage([git.path(repository, path) for path in paths])
    else:
        mode = next((name for name in ("hard", "soft", "keep", "merge") if name in options), "mixed")
        commit = repository.reset(rest[0] if rest else "HEAD", mode)
        if mode == "hard":
            git.say(f"HEAD is now at {commit.short} {commit.title}")
    changed = repository.status().unstaged
    if changed and not options.keys() & {"hard", "soft", "q"}:
        git.say("Unstaged changes after reset:", *(f"{LETTERS[kind]}\t{path}" for path, kind in changed.items()))


def remove_files(git: GitRun, words: Sequence[str]) -> None:
    options, paths = git.options(words, "rfq", "cached force:f quiet:q")
    repository = git.repository
    for path in repository.match([git.path(repository, path) for path in paths], repository.index):
        if "cached" not in options and git.run.look(join(repository.root, path)) is not None:
            git.run.fs.remove(join(repository.root, path))
        index = {known: text for known, text in repository.index.items() if known != path}
        repository.set_index(index)
        git.say(f"rm '{path}'")


def move_file(git: GitRun, words: Sequence[str]) -> None:
    _, paths = git.options(words, "f")
    repository = git.repository
    source, target = (git.path(repository, path) for path in paths[:2])
    node = git.run.look(join(repository.root, target))
    if node is not None and node.is_directory:
        target = f"{target}/{source.rpartition('/')[2]}"
    if source not in repository.index:
        raise Failed(f"fatal: not under version control, source={source}, destination={target}\n", 128)
    git.run.fs.rename(join(repository.root, source), join(repository.root, target))
    index = repository.index
    index[target] = index.pop(source)
    repository.set_index(index)


def clean(git: GitRun, words: Sequence[str]) -> None:
    options, _ = git.options(words, "nfdxq", "dry-run:n force:f")
    if not options.keys() & {"n", "f"}:
        raise Failed(
            "fatal: clean.requireForce defaults to true and neither -i, -n, nor -f given; refusing to clean\n", 128
        )
    is_dry = "n" in options
    for path in git.repository.clean(dry_run=is_dry):
        git.say(f"{'Would remove' if is_dry else 'Removing'} {path}")


def _stash_name(given: Sequence[str], at: int) -> str:
    return f"stash@{{{at}}}" if given else f"refs/stash@{{{at}}}"


def stash(git: GitRun, words: Sequence[str]) -> None:
    verb = words[0] if words and not words[0].startswith("-") else "push"
    options, rest = git.options(
        words[1:] if words and words[0] == verb else words, "m:uqp", "message:m include-untracked:u"
    )
    repository = git.repository
    match = re.search(r"([0-9]+)", rest[0]) if rest else None
    at = int(match[1]) if match else 0
    if verb in ("push", "save"):
        message = options.get("m", rest[0] if verb == "save" and rest else "")
        try:
            stashed = repository.stash(message, untracked="u" in options)
        except NothingToDo:
            git.say("No local changes to save")
            return
        git.say(f"Saved working directory and index state {stashed['message']}")
    elif verb == "list":
        git.say(*(f"stash@{{{number}}}: {row['message']}" for number, row in enumerate(repository.stashes)))
    elif not repository.stashes:
        raise Failed("No stash entries found.\n")
    elif verb in ("pop", "apply"):
        identity = repository.stashes[at]["commit"] if at < len(repository.stashes) else ""
        repository.apply_stash(at, drop=verb == "pop")
        git.say(*status_lines(repository))
        git.say(*([f"Dropped {_stash_name(rest, at)} ({identity})"] if verb == "pop" else []))
    elif verb == "drop":
        stashed = repository.drop_stash(at)
        git.say(f"Dropped {_stash_name(rest, at)} ({stashed['commit']})")
    elif verb == "show":
        files: Mapping[str, str | None] = repository.stashes[at]["files"]
        tree = repository.tree()
        show_changes(
            git,
            {path: (tree.get(path), text) for path, text in files.items()},
            {**options, **({} if "p" in options else {"stat": ""})},
        )
    else:
        raise Failed(
            f"fatal: subcommand wasn't specified; 'push' can't be assumed due to unexpected token '{verb}'\n", 129
        )
