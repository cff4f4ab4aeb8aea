"""Subcommands of git about branches, merges, tags and remotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from mcp_sim.libraries.files import join
from mcp_sim.libraries.git import Conflict, Repository, UnknownRevision, difference
from mcp_sim.libraries.git.views import branch_lines, diff_stat
from mcp_sim.libraries.shell.commands.git.changing import commit_index, report
from mcp_sim.libraries.shell.commands.git.invocation import GitRun, Options
from mcp_sim.libraries.shell.commands.git.looking import names_commit
from mcp_sim.libraries.shell.commands.invocation import Failed

_NO_ACCESS = (
    "fatal: Could not read from remote repository.\n\n"
    "Please make sure you have the correct access rights\nand the repository exists.\n"
)
_NO_DESTINATION = (
    "fatal: No configured push destination.\n"
    "Either specify the URL from the command-line or configure a remote repository using\n\n"
    "    git remote add <name> <url>\n\n"
    "and then push using the remote name\n\n"
    "    git push <name>\n\n"
)
_PICKED = (
    "hint: After resolving the conflicts, mark them with\n"
    'hint: "git add/rm <pathspec>", then run\n'
    'hint: "git cherry-pick --continue".\n'
    'hint: You can instead skip this commit with "git cherry-pick --skip".\n'
    'hint: To abort and get back to the state before "git cherry-pick",\n'
    'hint: run "git cherry-pick --abort".\n'
)


def branch(git: GitRun, words: Sequence[str]) -> None:
    options, names = git.options(
        words, "dDmMavrfl", "show-current delete:d list:l all:a verbose:v merged move:m force:f"
    )
    repository = git.repository
    if "show-current" in options:
        git.say(*([repository.branch] if repository.branch else []))
    elif options.keys() & {"d", "D"}:
        for name in names:
            short = repository.branches.get(name, "")[:7]
            repository.delete_branch(name, force="D" in options)
            git.say(f"Deleted branch {name} (was {short}).")
    elif options.keys() & {"m", "M"}:
        repository.rename_branch(
            names[0] if len(names) > 1 else repository.branch or "", names[-1], force="M" in options
        )
    elif names and "l" not in options:
        repository.create_branch(names[0], names[1] if len(names) > 1 else "HEAD", force="f" in options)
    else:
        lines = branch_lines(repository, repository.branches)
        shown = [line for line in lines if not names or any(fnmatchcase(line[2:], name) for name in names)]
        if "v" in options:
            width = max(map(len, repository.branches), default=0)
            shown = [_verbose(repository, line, width) for line in shown]
        git.say(*shown)


def _verbose(repository: Repository, line: str, width: int) -> str:
    commit = repository.get(line[2:]) if line[2:] in repository.branches else repository.get()
    return f"{line[:2]}{line[2:]:<{width}} {commit.short} {commit.title}"


def checkout(git: GitRun, words: Sequence[str]) -> None:
    words, paths = git.split(words)
    options, rest = git.options(words, "b:B:qf", "quiet:q force:f ours theirs orphan=")
    repository = git.repository
    name = options.get("b", options.get("B"))
    if name is not None:
        repository.create_branch(name, rest[0] if rest else "HEAD", force="B" in options)
        repository.checkout(name)
        _notify(git, options, f"Switched to a new branch '{name}'\n")
    elif options.keys() & {"ours", "theirs"} and (paths or rest):
        _take_side(git, repository, [*rest, *paths], is_ours="ours" in options)
    elif paths or (rest and not names_commit(repository, rest[0])):
        revision = rest[0] if rest and paths else ""
        chosen = repository.restore([git.path(repository, path) for path in paths or rest], revision)
        count = f"{len(chosen)} path{'' if len(chosen) == 1 else 's'}"
        if not paths:
            git.run.errors.append(
                f"Updated {count} from {repository.get(revision).short if revision else 'the index'}\n"
            )
    else:
        _switch_to(git, repository, rest[0] if rest else "HEAD", options)


def _take_side(git: GitRun, repository: Repository, paths: Sequence[str], *, is_ours: bool) -> None:
    """Let files in conflict have the text of one side."""
    parents: Sequence[str] = (repository.merging or {}).get("parents") or ["HEAD"]
    source = repository.tree("HEAD" if is_ours else parents[0])
    for path in paths:
        place = git.path(repository, path)
        if place not in source:
            raise Failed(f"error: path '{path}' does not have {'our' if is_ours else 'their'} version\n")
        git.run.fs.write_file(join(repository.root, place), source[place].encode("utf-8", "surrogatepass"))
    git.run.errors.append(f"Updated {len(paths)} path{'' if len(paths) == 1 else 's'} from the index\n")


def _notify(git: GitRun, options: Options, text: str) -> None:
    if "q" not in options:
        git.run.errors.append(text)


def _switch_to(git: GitRun, repository: Repository, revision: str, options: Options) -> None:
    if revision == repository.branch:
        _notify(git, options, f"Already on '{revision}'\n")
        return
    commit = repository.checkout(revision, force="f" in options)
    if repository.branch is None:
        _notify(git, options, f"Note: switching to '{revision}'.\n\nHEAD is now at {commit.short} {commit.title}\n")
    else:
        _notify(git, options, f"Switched to branch '{revision}'\n")


def switch(git: GitRun, words: Sequence[str]) -> None:
    options, rest = git.options(words, "c:qfd", "create:c detach:d quiet:q force:f")
    name = options.get("c")
    if name is not None:
        checkout(git, ["-b", name, *rest])
    elif not rest:
        raise Failed("fatal: missing branch or commit argument\n", 128)
    elif rest[0] not in git.repository.branches and "d" not in options:
        raise Failed(f"fatal: invalid reference: {rest[0]}\n", 128)
    else:
        _switch_to(git, git.repository, rest[0], options)


def merge(git: GitRun, words: Sequence[str]) -> None:
    options, names = git.options(words, "m:q", "no-ff ff-only abort continue no-edit squash quiet:q")
    repository = git.repository
    if "abort" in options:
        if repository.merging is None:
            raise Failed("fatal: There is no merge to abort (MERGE_HEAD missing).\n", 128)
        repository.reset("HEAD", "hard")
        return
    if "continue" in options:
        if repository.merging is None:
            raise Failed("fatal: There is no merge in progress (MERGE_HEAD missing).\n", 128)
        commit_index(git, ["--no-edit"])
        return
    if not names:
        raise Failed("fatal: No remote for the current branch.\n", 128)
    if repository.merging is not None:
        raise Failed(
            "fatal: You have not concluded your merge (MERGE_HEAD exists).\n"
            "Please, commit your changes before you merge.\n",
            128,
        )
    try:
        repository.resolve(names[0])
    except UnknownRevision:
        raise Failed(f"merge: {names[0]} - not something we can merge\n") from None
    _merge_into(git, repository, names[0], options)


def _merge_into(git: GitRun, repository: Repository, name: str, options: Options) -> None:
    before, head, target = repository.tree(), repository.head or "", repository.get(name)
    text = options.get("m", "") or f"Merge branch '{name}'"
    if not repository.is_ancestor(target.hash, head):
        base = next(commit for commit in repository.log(target.hash) if repository.is_ancestor(commit.hash, head))
        both = difference(base.tree, target.tree).keys() & difference(base.tree, repository.get().tree).keys()
        git.say(*(f"Auto-merging {path}" for path in sorted(both) if base.hash != head))
    try:
        merged, is_forward = repository.merge(name, f"{text}\n", fast_forward="no-ff" not in options)
    except Conflict as error:
        git.say(*(f"CONFLICT (content): Merge conflict in {path}" for path in error.paths))
        git.say("Automatic merge failed; fix conflicts and then commit the result.")
        git.run.code = 1
        return
    changes = difference(before, repository.tree())
    if merged.hash == head:
        git.say("Already up to date.")
    elif is_forward:
        git.say(f"Updating {head[:7]}..{merged.short}", "Fast-forward")
        git.run.out.append(diff_stat(changes))
    else:
        git.say("Merge made by the 'ort' strategy.")
        git.run.out.append(diff_stat(changes))


def tag(git: GitRun, words: Sequence[str]) -> None:
    options, names = git.options(words, "adlm:f", "delete:d list:l message:m")
    repository = git.repository
    if "d" in options:
        for name in names:
            git.say(f"Deleted tag '{name}' (was {repository.delete_tag(name)[:7]})")
    elif names and "l" not in options:
        repository.create_tag(
            names[0], names[1] if len(names) > 1 else "HEAD", options.get("m", ""), force="f" in options
        )
    else:
        git.say(*repository.tags)


def cherry_pick(git: GitRun, words: Sequence[str]) -> None:
    _, names = git.options(words, "xn", "no-commit")
    repository = git.repository
    for name in names:
        try:
            commit = repository.cherry_pick(name)
        except Conflict as error:
            for path in error.paths:
                git.say(f"Auto-merging {path}", f"CONFLICT (content): Merge conflict in {path}")
            source = repository.get(name)
            raise Failed(f"error: could not apply {source.short}... {source.title}\n{_PICKED}") from None
        if commit is not None:
            report(git, repository, commit, repository.changes_of(commit))


def config(git: GitRun, words: Sequence[str]) -> None:
    options, rest = git.options(words, "l", "global local list:l get unset add")
    repository = git.repository
    known = {"user.name": repository.owner[0], "user.email": repository.owner[1]}
    if "l" in options:
        git.say(*(f"{name}={value}" for name, value in known.items()))
    elif len(rest) == 1:
        if not known.get(rest[0]):
            raise Failed("", 1)
        git.say(known[rest[0]])
    elif len(rest) > 1 and rest[0] in known:
        repository.update(**{"author" if rest[0] == "user.name" else "email": rest[1]})


def remote(git: GitRun, words: Sequence[str]) -> None:
    repository = git.repository
    if words[:1] == ["add"] and len(words) > 2:
        repository.add_remote(words[1], words[2])
        return
    for name, row in repository.remotes.items():
        git.say(*([f"{name}\t{row['url']} (fetch)", f"{name}\t{row['url']} (push)"] if "-v" in words else [name]))


def unreachable(git: GitRun, words: Sequence[str]) -> None:
    """Answer for `push`, `pull`, `fetch` and `clone`: no other host is there."""
    rest = [word for word in words if not word.startswith("-")]
    is_clone = git.settings.get("subcommand") == "clone"
    remotes = {} if is_clone else git.repository.remotes
    name = rest[0] if rest else "origin"
    url = name if "://" in name or "@" in name else str((remotes.get(name) or {}).get("url") or "")
    if not url and not rest and git.settings.get("subcommand") == "push":
        raise Failed(_NO_DESTINATION, 128)
    if not url:
        raise Failed(f"fatal: '{name}' does not appear to be a git repository\n{_NO_ACCESS}", 128)
    host = re.sub(r"(?s)^\w+://|^.*@|[/:].*", "", url)
    raise Failed(f"fatal: unable to access '{url}': Could not resolve host: {host}\n", 128)
