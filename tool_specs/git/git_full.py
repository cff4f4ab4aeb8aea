"""Simulated git repositories with the tools of a server that has most commands of git. Results are JSON."""

import re
from contextlib import suppress
from datetime import datetime
from fnmatch import fnmatch

from project import PROJECT

from mcp_sim.libraries.files import normalize
from mcp_sim.libraries.git import (
    BadName,
    CheckedOut,
    Conflict,
    NameTaken,
    NotARepository,
    NothingToDo,
    NotMerged,
    Overwritten,
    UnknownName,
    UnknownPath,
    UnknownRevision,
    Unmerged,
    count_lines,
    difference,
    render_patch,
)
from mcp_sim.libraries.git.views import diff_stat, status_lines
from mcp_sim.libraries.patterns import PatternError, search_test
from mcp_sim.programs import Refused, Result, initial, invalid_arguments, tool
from mcp_sim.programs.helpers import indented, zod_refusal, zod_refused

tables = {"session": {"singleton": True, "fields": {"path": {"type": ["string", "null"], "default": None}}}}

PROTECTED = ("main", "master", "production", "prod", "develop", "release")
NO_SESSION = "No session working directory set. Please specify a 'path' or use 'git_set_working_dir' first."
GENERATED = ("package-lock.json", "yarn.lock", "bun.lock", "poetry.lock", "go.sum", "Cargo.lock", "uv.lock")
RECENT = 2
WRAP_UP = (
    "Look at all changes with git_diff.",
    "Bring the changelog and the documentation up to date.",
    "Commit in logical, atomic steps with conventional messages.",
    "Check with git_status that nothing is left.",
)
HIDDEN = re.compile(r"stash@\{(\d+)\}")


@initial
def begin(given, world):
    """Create the given repositories, else one of a small project."""
    if not world.git.load(given):
        world.git.load(PROJECT)


def answer(nullable="", **body):
    """Return a result whose text shows what is missing as null, and whose structured content leaves it out."""
    body = {"success": True, **body}
    text = indented(body)
    shown = {name: value for name, value in body.items() if value is not None or name == nullable}
    return Result(text=text, structured=shown)


def failed(command, reason, code=128, output=""):
    return Refused(f"Error: Git {command} failed: Exit Code: {code}\nStderr: {reason}\nStdout: {output}")


def need(mode, **values):
    """Refuse a mode without one of the arguments that it needs."""
    for name, value in values.items():
        if value is None:
            raise Refused(f"Error: {name} is required for mode '{mode}'")


def place_of(world, path):
    if path not in (None, "", "."):
        return normalize(path)
    if world.session["path"] is None:
        raise Refused(f"Error: {NO_SESSION}")
    return world.session["path"]


def opened(world, path, command):
    """Return the repository at a path, or that of the session."""
    place = place_of(world, path)
    if not world.files.exists(place):
        raise Refused(f"Error: Working directory does not exist: {place}")
    try:
        return world.git.at(place)
    except NotARepository:
        raise failed(command, "fatal: not a git repository (or any of the parent directories): .git\n") from None


def seconds(date):
    return int(datetime.fromisoformat(date).timestamp())


def grouped(files):
    """Return paths by the kind of their change."""
    kinds = {}
    for path, kind in files.items():
        kinds.setdefault(kind, []).append(path)
    return kinds


def state_of(repository):
    status = repository.status()
    return {
        "current_branch": repository.branch, "is_clean": status.is_clean, "staged_changes": grouped(status.staged),
        "unstaged_changes": grouped(status.unstaged), "untracked_files": [*status.untracked],
        "conflicted_files": [*status.conflicts],
    }  # fmt: skip


def protect(repository, action, confirmed):
    if repository.branch in PROTECTED and not confirmed:
        branch = repository.branch
        raise Refused(f"Error: Cannot perform '{action}' on protected branch '{branch}' without explicit confirmation.")


# the session


@tool(verb="update", entity="session")
def git_set_working_dir(world, path, initializeIfNotPresent=False):
    place = normalize(path)
    if initializeIfNotPresent:
        world.git.init(place)
    repository = opened(world, path, "rev-parse")
    world.session["path"] = place
    context = {**context_of(repository), "remotes": remotes_of(repository)}
    return answer(path=place, message=f"Working directory set to: {place}", repository=context)


def context_of(repository):
    status = repository.status()
    commits = repository.log()[:RECENT] if repository.head else []
    recent = [
        {"hash": commit.short, "author": commit.author, "subject": commit.title,
         "date": f"{datetime.fromisoformat(commit.date):%Y-%m-%dT%H:%M:%S}.000Z"}
        for commit in commits
    ]  # fmt: skip
    return {
        "status": {
            "branch": repository.branch, "isClean": status.is_clean, "staged": [*status.staged],
            "unstaged": [*status.unstaged], "untracked": [*status.untracked], "conflicts": [*status.conflicts],
        },
        "recentCommits": recent, "recentTags": [{"name": name} for name in repository.tags],
    }  # fmt: skip


@tool(verb="update", entity="session")
def git_clear_working_dir(world, confirm):  # noqa: ARG001 (the tool requires it)
    before, world.session["path"] = world.session["path"], None
    text = f"Working directory cleared. Previous path was: {before}" if before else "Working directory was not set"
    return answer(message=text, previousPath=before)


@tool(verb="create", entity="repository")
def git_init(world, path=".", initialBranch=None, bare=False):
    place = place_of(world, path)
    repository = world.git.init(place, initialBranch or "main")
    return answer(path=place, initialBranch=repository.branch, isBare=bare)


# looking


@tool(reads=True, verb="get", entity="repository")
def git_status(world, path=".", includeUntracked=True):
    repository = opened(world, path, "status")
    status = repository.status()
    untracked = [*status.untracked] if includeUntracked else []
    return answer(
        nullable="currentBranch",
        currentBranch=repository.branch,
        isClean=not (status.staged or status.unstaged or untracked or status.conflicts),
        stagedChanges=grouped(status.staged), unstagedChanges=grouped(status.unstaged), untrackedFiles=untracked,
        conflictedFiles=[*status.conflicts],
    )  # fmt: skip


@tool(reads=True, verb="list", entity="commit")
def git_log(
    world, path=".", maxCount=10, skip=0, since=None, until=None, author=None, grep=None, branch=None, filePath=None,
    oneline=False, stat=False, patch=False,
):  # fmt: skip
    repository = opened(world, path, "log")
    if repository.head is None and not branch:
        raise failed("log", f"fatal: your current branch '{repository.branch}' does not have any commits yet\n")
    commits = found(repository, branch or "HEAD", "log", bad_revision).log
    by, mentioned = (pattern_test(pattern or "") for pattern in (author, grep))
    tests = [
        (since, lambda commit: commit.date >= since), (until, lambda commit: commit.date <= until),
        (author, lambda commit: by(f"{commit.author} <{commit.email}>")),
        (grep, lambda commit: mentioned(commit.message)),
        (filePath, lambda commit: filePath in repository.changes_of(commit)),
    ]  # fmt: skip
    tests = [test for given, test in tests if given]
    kept = [commit for commit in commits(branch or "HEAD") if all(test(commit) for test in tests)]
    rows = [row_of(repository, commit, oneline, stat, patch) for commit in kept[skip or 0 :][:maxCount]]
    return answer(commits=rows, totalCount=len(rows))


def pattern_test(pattern):
    """Return a test whether a text has a match, in upper or lower case."""
    try:
        return search_test(f"(?im){pattern}")
    except PatternError:
        raise failed("log", f"fatal: command line, '{pattern}': Invalid preceding regular expression\n") from None


def row_of(repository, commit, oneline, stat, patch):
    row = {"hash": commit.hash, "shortHash": commit.short}
    if oneline:
        return {**row, "subject": commit.title}
    row |= {"author": commit.author, "authorEmail": commit.email, "timestamp": seconds(commit.date)}
    row |= {"subject": commit.title, "parents": commit.parents}
    body = commit.message.strip().partition("\n")[2].strip()
    row |= {"body": body} if body else {}
    changes = repository.changes_of(commit) if stat or patch else {}
    return row | ({"stat": diff_stat(changes)} if stat else {}) | ({"patch": render_patch(changes)} if patch else {})


def bad_revision(name):
    hint = "Use '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'"
    return f"fatal: ambiguous argument '{name}': unknown revision or path not in the working tree.\n{hint}\n"


def found(repository, revision, command, reason, code=128):
    """Return the repository if it has a revision; otherwise refuse with what git says of it."""
    try:
        repository.resolve(revision)
    except UnknownRevision:
        raise failed(command, reason(revision), code) from None
    return repository


@tool(reads=True, verb="get", entity="commit", key="object")
def git_show(world, object, path=".", stat=False, filePath=None):
    repository = opened(world, path, "show")
    revision, is_file, file = object.partition(":")
    if filePath:
        is_file, file = True, filePath
    found(repository, revision or "HEAD", "cat-file", lambda _: f"fatal: Not a valid object name {object}\n")
    commit = repository.get(revision or "HEAD")
    if is_file:
        text = repository.tree(commit.hash).get(file)
        if text is None:
            raise failed("show", f"fatal: path '{file}' does not exist in '{revision}'\n")
        return answer(object=object, type="blob", content=text, metadata={})
    message = "\n".join(f"    {line}".rstrip() for line in commit.message.rstrip("\n").split("\n"))
    date = datetime.fromisoformat(commit.date)
    head = [f"commit {commit.hash}"]
    if len(commit.parents) > 1:
        head.append(f"Merge: {' '.join(parent[:7] for parent in commit.parents)}")
    head.append(f"Author: {commit.author} <{commit.email}>")
    head += [f"Date:   {date:%a %b} {date.day} {date:%H:%M:%S %Y %z}", "", message, ""]
    changes = {} if len(commit.parents) > 1 else repository.changes_of(commit)
    rest = diff_stat(changes) if stat else render_patch(changes) + "\n" if changes else ""
    text = "\n".join(head) + (f"\n{rest}" if rest else "")
    return answer(object=object, type="commit", content=text, metadata={})


@tool(reads=True, verb="get", entity="repository")
def git_diff(
    world, path=".", target=None, source=None, paths=None, staged=False, includeUntracked=False, nameOnly=False,
    stat=False, contextLines=3, autoExclude=True,
):  # fmt: skip
    repository = opened(world, path, "diff")
    for revision in filter(None, (target, source)):
        found(repository, revision, "diff", bad_revision)
    index, working = repository.index, repository.working
    tracked = {name: text for name, text in working.items() if name in index}
    if source:
        before, after = repository.tree(source), repository.tree(target or "HEAD")
    elif target:
        before, after = repository.tree(target), index if staged else tracked
    else:
        before, after = (repository.tree(), index) if staged else (index, tracked)
    changes = difference(before, after)
    excluded = [name for name in changes if autoExclude and name.rpartition("/")[2] in GENERATED]
    changes = {name: change for name, change in changes.items() if name not in excluded and named(name, paths)}
    if includeUntracked:
        new = (name for name in repository.status().untracked if named(name, paths))
        changes |= {name: (None, working[name]) for name in new}
    counts = [count_lines(*change) for change in changes.values()]
    text = "\n".join(changes) if nameOnly else render_patch(changes, contextLines)
    text = diff_stat(changes) if stat else f"{text}\n" if text else ""
    sums = [None, None] if nameOnly else [sum(added for added, _ in counts), sum(removed for _, removed in counts)]
    more = {"excludedFiles": excluded} if excluded else {}
    return answer(diff=text, filesChanged=len(changes), insertions=sums[0], deletions=sums[1], **more)


def named(path, patterns):
    return not patterns or any(path == item or path.startswith(f"{item.rstrip('/')}/") or fnmatch(path, item)
                               for item in patterns)  # fmt: skip


@tool(reads=True, verb="get", entity="repository")
def git_blame(world, filePath, path=".", startLine=None, endLine=None):
    repository = opened(world, path, "blame")
    try:
        blamed = repository.blame(filePath)
    except (UnknownPath, UnknownRevision):
        raise failed("blame", f"fatal: no such path '{filePath}' in HEAD\n") from None
    lines = [
        {"commitHash": commit.hash, "lineNumber": at, "author": commit.author, "timestamp": seconds(commit.date),
         "content": text}
        for at, (commit, text) in enumerate(blamed, 1)
        if (startLine or 1) <= at <= (endLine or at)
    ]  # fmt: skip
    return answer(filePath=filePath, lines=lines, totalLines=len(lines))


@tool(reads=True, verb="list", entity="repository")
def git_reflog(world, path=".", ref="HEAD", maxCount=None):
    repository = opened(world, path, "reflog")
    moves = [*repository.reflog()][:maxCount]
    entries = [
        {"hash": move["commit"], "refName": f"{ref}@{{{at}}}", "action": move["action"], "message": move["message"],
         "timestamp": seconds(move["date"])}
        for at, move in enumerate(moves)
    ]  # fmt: skip
    return answer(ref=ref, entries=entries, totalEntries=len(entries))


# the index and commits


@tool(verb="update", entity="repository")
def git_add(world, path=".", paths=(), update=False, all=False):
    repository = opened(world, path, "add")
    before, specs = repository.index, paths
    if update:
        specs = [*repository.status().unstaged]
    elif all:
        specs = ["."]
    if not (paths or update or all):
        raise Refused(
            "MCP error -32602: Input validation error: Invalid arguments for tool git_add: Either paths "
            "must be provided, or all/update must be true. at paths"
        )
    known = {**repository.working, **repository.index}
    if lost := [spec for spec in specs if "*" not in spec and not _matches(repository, spec, known)]:
        raise Refused(f"Error: File not found: {lost[0]}")
    try:
        chosen = repository.add(specs)
    except UnknownPath as error:
        raise failed("add", f"fatal: pathspec '{error.path}' did not match any files\n") from None
    after = repository.index
    staged = [name for name in chosen if before.get(name) != after.get(name)] if update or all else [*paths]
    return answer(stagedFiles=staged, totalFiles=len(staged), status=state_of(repository))


def _matches(repository, spec, known):
    try:
        return spec == "." or bool(repository.match([spec], known))
    except UnknownPath:
        return False


@tool(verb="create", entity="commit")
def git_commit(world, message, path=".", author=None, amend=False, allowEmpty=False, filesToStage=None):
    repository = opened(world, path, "commit")
    if filesToStage:
        try:
            repository.add(filesToStage)
        except UnknownPath as error:
            raise failed("add", f"fatal: pathspec '{error.path}' did not match any files\n") from None
    author = author or {}
    text = message if message.endswith("\n") else f"{message}\n"
    try:
        commit = repository.commit(
            text, author=author.get("name", ""), email=author.get("email", ""), amend=amend, allow_empty=allowEmpty
        )
    except NothingToDo:
        raise failed("commit", "", 1, "\n".join(status_lines(repository)) + "\n") from None
    except Unmerged as error:
        files = "".join(f"U\t{name}\n" for name in error.paths)
        hint = "hint: Fix them up in the work tree, and then use 'git add/rm <file>'\nhint: as appropriate to mark "
        hint += "resolution and make a commit.\nfatal: Exiting because of an unresolved conflict.\n"
        reason = f"error: Committing is not possible because you have unmerged files.\n{hint}"
        raise failed("commit", reason, 128, files) from None
    files = [*repository.changes_of(commit)]
    return answer(
        commitHash=commit.hash, message=message, author=commit.author, timestamp=seconds(commit.date),
        filesChanged=len(files), insertions=None, deletions=None, committedFiles=files, signed=False,
        status=state_of(repository),
    )  # fmt: skip


@tool(verb="update", entity="repository")
def git_reset(world, path=".", mode="mixed", target="HEAD", paths=None, confirmed=False):
    repository = opened(world, path, "reset")
    if mode in ("hard", "merge", "keep"):
        protect(repository, f"reset --{mode}", confirmed)
    found(repository, target, "reset", bad_revision)
    before = repository.head
    if paths:
        files = repository.unstage(paths)
        return answer(mode=mode, target=before, filesReset=files)
    staged = repository.index
    try:
        commit = repository.reset(target, mode)
    except Unmerged:
        raise failed("reset", "fatal: Cannot do a soft reset in the middle of a merge.\n") from None
    except Overwritten as error:
        raise failed("reset", f"error: Entry '{error.paths[0]}' not uptodate. Cannot merge.\n") from None
    files = [*difference(repository.index, staged)] if mode == "mixed" else []
    more = {"previousCommit": before} if before != commit.hash else {}
    return answer(mode=mode, target=commit.hash, filesReset=files, **more)


@tool(verb="delete", entity="file")
def git_clean(world, path=".", force=False, dryRun=False):
    if not (force or dryRun):
        hint = "force flag must be set to true to clean untracked files (or use dryRun to preview) at force"
        raise zod_refused("git_clean", [hint])
    files = opened(world, path, "clean").clean(dry_run=dryRun)
    return answer(filesRemoved=files, directoriesRemoved=[], dryRun=dryRun)


@tool(verb="update", entity="repository")
def git_stash(world, path=".", mode="push", message="", stashRef=None, includeUntracked=False):
    repository = opened(world, path, "stash")
    shown = {"stashes": None, "created": None, "applied": None, "dropped": None, "conflicts": None}
    if mode == "list":
        return answer(
            mode=mode, **{**shown, "stashes": [stash_of(at, row) for at, row in enumerate(repository.stashes)]}
        )
    if mode == "push":
        with suppress(NothingToDo):  # the server does not look at what git says then
            try:
                repository.stash(message or "", untracked=includeUntracked)
            except Unmerged as error:
                raise failed("stash", "", 1, needs_merge(error)) from None
        return answer(mode=mode, **{**shown, "created": "stash@{0}"})
    match = HIDDEN.fullmatch(stashRef or "stash@{0}")
    at = int(match[1]) if match else 0
    ref = f"stash@{{{at}}}"
    try:
        if mode == "clear":
            while repository.stashes:
                repository.drop_stash()
            return answer(mode=mode, **shown)
        if mode == "drop":
            repository.drop_stash(at)
            return answer(mode=mode, **{**shown, "dropped": ref})
        repository.apply_stash(at, drop=mode == "pop")
    except UnknownName:
        none = "No stash entries found." if not repository.stashes else f"error: {ref} is not a valid reference"
        raise failed("stash", f"{none}\n", 1) from None
    except Overwritten as error:
        paths = "".join(f"\t{name}\n" for name in error.paths)
        reason = f"error: Your local changes to the following files would be overwritten by merge:\n{paths}"
        raise failed("stash", f"{reason}Please commit your changes or stash them before you merge.\n", 1) from None
    return answer(mode=mode, **{**shown, "applied": ref, "conflicts": False})


def needs_merge(error):
    return "".join(f"{name}: needs merge\n" for name in error.paths)


def stash_of(at, row):
    description = row["message"].partition(": ")[2]
    return {"ref": f"stash@{{{at}}}", "index": at, "branch": row["branch"], "description": description,
            "timestamp": seconds(row["date"])}  # fmt: skip


# branches, tags and merges


@tool(verb="update", entity="branch")
def git_branch(
    world, path=".", mode="list", branchName=None, newBranchName=None, startPoint=None, force=False, remote=False,
    merged=None, noMerged=None, limit=None,
):  # fmt: skip
    repository = opened(world, path, "branch")
    shown = {"branches": None, "currentBranch": None, "message": None}
    if mode == "list":
        return answer(mode=mode, **{**shown, "branches": listed(repository, remote, merged, noMerged)[:limit],
                                    "currentBranch": repository.branch})  # fmt: skip
    if mode == "show-current":
        current = repository.branch
        return answer(mode=mode, **{**shown, "currentBranch": current, "message": f"Current branch: {current}"})
    need(mode, branchName=branchName, **({"newBranchName": newBranchName} if mode == "rename" else {}))
    try:
        message = changed_branch(repository, mode, branchName, newBranchName, startPoint, force)
    except UnknownName as error:
        raise Refused(f"Error: Branch not found: {error.name}") from None
    except UnknownRevision as error:
        raise failed("branch", f"fatal: not a valid object name: '{error.revision}'\n") from None
    except BadName as error:
        raise failed("branch", f"fatal: '{error.name}' is not a valid branch name\n") from None
    except NameTaken as error:
        raise failed("branch", f"fatal: a branch named '{error.name}' already exists\n") from None
    except CheckedOut as error:
        place = f"error: cannot delete branch '{error.name}' used by worktree at '{repository.root}'\n"
        raise failed("branch", place, 1) from None
    except NotMerged as error:
        hint = f"hint: If you are sure you want to delete it, run 'git branch -D {error.name}'\n"
        raise failed("branch", f"error: the branch '{error.name}' is not fully merged\n{hint}", 1) from None
    return answer(mode=mode, **{**shown, "message": message})


def changed_branch(repository, mode, name, new_name, start, force):
    if mode == "create":
        repository.create_branch(name, start or "HEAD", force=force)
        return f"Branch '{name}' created successfully."
    if mode == "delete":
        repository.delete_branch(name, force=force)
        return f"Branch '{name}' deleted successfully."
    repository.rename_branch(name, new_name, force=force)
    return f"Branch '{name}' renamed to '{new_name}'."


def listed(repository, remote, merged, not_merged):
    branches = {} if remote else repository.branches
    for revision, is_wanted in ((merged, True), (not_merged, False)):
        if revision:
            tip = "HEAD" if revision is True else revision
            branches = {
                name: commit for name, commit in branches.items() if repository.is_ancestor(commit, tip) == is_wanted
            }
    return [
        {"name": name, "commitHash": commit, "current": name == repository.branch, "ahead": 0, "behind": 0}
        for name, commit in branches.items()
    ]


@tool(verb="update", entity="repository")
def git_checkout(world, target, path=".", createBranch=False, force=False, paths=None):
    repository = opened(world, path, "checkout")
    try:
        if paths:
            return answer(target=target, branchCreated=False, filesModified=repository.restore(paths, target))
        if createBranch:
            repository.create_branch(target, force=force)
        repository.checkout(target, force=force)
    except Unmerged as error:
        reason = "error: you need to resolve your current index first\n"
        raise failed("checkout", reason, 1, needs_merge(error)) from None
    except (UnknownRevision, UnknownPath) as error:
        name = getattr(error, "path", target)
        raise failed("checkout", f"error: pathspec '{name}' did not match any file(s) known to git\n", 1) from None
    except BadName:
        raise failed("checkout", f"fatal: '{target}' is not a valid branch name\n") from None
    except NameTaken:
        raise failed("checkout", f"fatal: a branch named '{target}' already exists\n") from None
    except Overwritten as error:
        files = "".join(f"\t{name}\n" for name in error.paths)
        reason = f"error: Your local changes to the following files would be overwritten by checkout:\n{files}"
        hint = "Please commit your changes or stash them before you switch branches.\nAborting\n"
        raise failed("checkout", reason + hint, 1) from None
    return answer(target=target, branchCreated=createBranch, filesModified=[])


@tool(verb="create", entity="commit")
def git_merge(world, branch="", path=".", strategy="ort", noFastForward=False, message="", abort=False):
    repository = opened(world, path, "merge")
    shown = {"strategy": strategy, "fastForward": False, "conflicts": False, "conflictedFiles": [], "mergedFiles": []}
    if abort:
        if not repository.merging:
            raise failed("merge", "fatal: There is no merge to abort (MERGE_HEAD missing).\n")
        repository.reset("HEAD", "hard")
        return answer(**shown, message="Merge aborted")
    found(repository, branch, "merge", lambda name: f"merge: {name} - not something we can merge\n", 1)
    before = repository.get()
    try:
        head, is_forward = repository.merge(
            branch, f"{message or f'Merge branch {chr(39)}{branch}{chr(39)}'}\n", fast_forward=not noFastForward
        )
    except Conflict as conflict:
        many = len(conflict.paths)
        text = f"Merge paused with conflicts in {many} file(s). Resolve them and commit, or pass abort=true to cancel."
        return answer(**{**shown, "conflicts": True, "conflictedFiles": conflict.paths}, message=text)
    except Unmerged:
        reason = "error: Merging is not possible because you have unmerged files.\n"
        raise failed("merge", f"{reason}fatal: Exiting because of an unresolved conflict.\n") from None
    except Overwritten as error:
        files = "".join(f"\t{name}\n" for name in error.paths)
        reason = f"error: Your local changes to the following files would be overwritten by merge:\n{files}"
        raise failed("merge", f"{reason}Please commit your changes or stash them before you merge.\n", 1) from None
    if head.hash == before.hash:
        return answer(**shown, message="Already up to date.")
    changes = difference(repository.tree(before.hash), repository.tree(head.hash))
    lines = (
        [f"Updating {before.short}..{head.short}", "Fast-forward"]
        if is_forward
        else ["Merge made by the 'ort' strategy."]
    )
    modes = [f" {'create' if new else 'delete'} mode 100644 {name}" for name, (old, new) in changes.items()
             if None in (old, new)]  # fmt: skip
    text = "\n".join([*lines, diff_stat(changes).rstrip("\n"), *modes])
    return answer(**{**shown, "fastForward": is_forward, "mergedFiles": [*changes]}, message=message or text)


@tool(verb="create", entity="commit")
def git_cherry_pick(world, commits, path=".", noCommit=False, continueOperation=False, abort=False):
    repository = opened(world, path, "cherry-pick")
    if abort or continueOperation:
        if not repository.merging:
            raise failed("cherry-pick", "error: no cherry-pick or revert in progress\nfatal: cherry-pick failed\n")
        return ended(repository, abort)
    picked = []
    for revision in commits:
        found(repository, revision, "cherry-pick", lambda name: f"fatal: bad revision '{name}'\n")
        try:
            repository.cherry_pick(revision, commit=not noCommit)
        except Conflict as conflict:
            many = len(conflict.paths)
            text = f"Cherry-pick paused with conflicts in {many} file(s). Resolve them and run git_cherry_pick with "
            text += "continueOperation=true, or pass abort=true to cancel."
            return answer(pickedCommits=[*commits], conflicts=True, conflictedFiles=conflict.paths, message=text)
        except Unmerged:
            hint = "error: Cherry-picking is not possible because you have unmerged files.\n"
            raise failed("cherry-pick", f"{hint}fatal: cherry-pick failed\n") from None
        except NothingToDo:
            hint = "If you wish to commit it anyway, use:\n\n    git commit --allow-empty\n\n"
            skip = "Otherwise, please use 'git cherry-pick --skip'\n"
            reason = f"The previous cherry-pick is now empty, possibly due to conflict resolution.\n{hint}{skip}"
            raise failed("cherry-pick", reason, 1, "\n".join(status_lines(repository)) + "\n") from None
        except Overwritten:
            hint = "hint: commit your changes or stash them to proceed.\nfatal: cherry-pick failed\n"
            reason = f"error: your local changes would be overwritten by cherry-pick.\n{hint}"
            raise failed("cherry-pick", reason) from None
        picked.append(revision)
    return answer(pickedCommits=picked, conflicts=False, conflictedFiles=[])


def ended(repository, abort):
    """Give up a cherry-pick in progress, or commit it."""
    if abort:
        repository.reset("HEAD", "hard")
        return answer(pickedCommits=[], conflicts=False, conflictedFiles=[])
    try:
        commit = repository.commit(repository.merging["message"])
    except Unmerged as error:
        hint = "error: Committing is not possible because you have unmerged files.\n"
        raise failed("cherry-pick", f"{hint}fatal: cherry-pick failed\n", 128, needs_merge(error)) from None
    return answer(pickedCommits=[commit.hash], conflicts=False, conflictedFiles=[])


@tool(verb="update", entity="tag")
def git_tag(
    world, path=".", mode="list", tagName=None, commit=None, message="", annotated=False, force=False, limit=None
):
    repository = opened(world, path, "tag")
    shown = {"tags": None, "created": None, "deleted": None}
    if mode == "list":
        return answer(mode=mode, **{**shown, "tags": [tag_of(repository, name) for name in repository.tags][:limit]})
    need(mode, tagName=tagName)
    try:
        if mode == "delete":
            repository.delete_tag(tagName)
            return answer(mode=mode, **{**shown, "deleted": tagName})
        text = message or (f"Tag {tagName}" if annotated else "")
        repository.create_tag(tagName, commit or "HEAD", text, force=force)
    except UnknownName:
        raise failed("tag", f"error: tag '{tagName}' not found.\n", 1) from None
    except NameTaken:
        raise failed("-c", f"fatal: tag '{tagName}' already exists\n") from None
    except UnknownRevision:
        raise failed("-c", f"fatal: Failed to resolve '{commit}' as a valid ref.\n") from None
    except BadName:
        raise failed("-c", f"fatal: '{tagName}' is not a valid tag name.\n") from None
    return answer(mode=mode, **{**shown, "created": tagName}, signed=False)


def tag_of(repository, name):
    commit, message = repository.tags[name]
    row, known = {"name": name, "commit": commit[:7]}, repository.get(commit)
    if not message:
        return {**row, "message": known.title, "timestamp": seconds(known.date)}
    owner, email = repository.owner
    return {**row, "message": message, "tagger": f"{owner} <{email}>", "timestamp": seconds(known.date)}


# remotes


def remotes_of(repository):
    return [{"name": name, "fetchUrl": row["url"], "pushUrl": row["url"]} for name, row in repository.remotes.items()]


@tool(verb="update", entity="repository")
def git_remote(world, path=".", mode="list", name=None, url=None, newName=None):
    repository = opened(world, path, "remote")
    shown = {"remotes": None, "url": None, "added": None, "removed": None, "renamed": None}
    if mode != "list":
        more = {"add": {"url": url}, "set-url": {"url": url}, "rename": {"newName": newName}}
        need(mode, name=name, **more.get(mode, {}))
    try:
        if mode == "list":
            shown["remotes"] = remotes_of(repository)
        elif mode == "add":
            repository.add_remote(name, url)
            shown["added"] = {"name": name, "url": url}
        elif mode == "remove":
            repository.remove_remote(name)
            shown["removed"] = name
        elif mode == "rename":
            repository.change_remote(name, new_name=newName)
            shown["renamed"] = {"from": name, "to": newName}
        elif mode == "set-url":
            repository.change_remote(name, url=url)
        else:
            shown["url"] = url_of(repository, name)
    except UnknownName:
        raise failed("remote", f"error: No such remote: '{name}'\n", 2) from None
    except NameTaken as error:
        raise failed("remote", f"error: remote {error.name} already exists.\n", 3) from None
    return answer(mode=mode, **shown)


def url_of(repository, name):
    if name not in repository.remotes:
        raise UnknownName("remote", name)
    return repository.remotes[name]["url"]


@tool(verb="update", entity="repository")
def git_push(
    world, path=".", remote="origin", branch=None, force=False, setUpstream=False,
    dryRun=False, delete=False, confirmed=False,
):  # fmt: skip
    repository = opened(world, path, "push")
    name, remote = branch or repository.branch, remote or "origin"
    if force or delete:
        protect(repository, "push --force" if force else "push --delete", confirmed)
    if remote not in repository.remotes:
        hint = "Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n"
        reason = f"fatal: '{remote}' does not appear to be a git repository\nfatal: {hint}and the repository exists.\n"
        raise failed("push", reason)
    found(repository, name, "push", lambda ref: f"error: src refspec {ref} does not match any\n", 1)
    try:
        new = [] if dryRun else repository.push(remote, name)
    except NotMerged:
        return answer(remote=remote, branch=name, upstreamSet=False, pushedRefs=[], rejectedRefs=[name])
    return answer(
        remote=remote, branch=name, upstreamSet=setUpstream, pushedRefs=[name] if new else [], rejectedRefs=[]
    )


def unreachable(command, url):
    host = re.sub(r"^\w+://|[/:].*$", "", url)
    return failed(command, f"fatal: unable to access '{url}': Could not resolve host: {host}\n")


@tool(reads=True)
def git_fetch(world, path=".", remote="origin"):
    repository = opened(world, path, "fetch")
    if remote not in repository.remotes:
        raise failed("fetch", f"fatal: '{remote}' does not appear to be a git repository\n")
    raise unreachable("fetch", repository.remotes[remote]["url"])


@tool(reads=True)
def git_pull(world, path=".", remote="origin"):
    repository = opened(world, path, "pull")
    if remote not in repository.remotes:
        raise failed("pull", f"fatal: '{remote}' does not appear to be a git repository\n")
    raise unreachable("pull", repository.remotes[remote]["url"])


@tool(reads=True)
def git_clone(_world, url, path):  # noqa: ARG001 (the tool requires it)
    raise unreachable("clone", url)


@tool(reads=True)
def git_rebase(world, path="."):
    opened(world, path, "rebase")
    raise failed("rebase", "error: rebase is not available in this repository\n", 1)


@tool(reads=True)
def git_worktree(world, path=".", mode="list"):
    repository = opened(world, path, "worktree")
    if mode != "list":
        raise failed("worktree", "error: worktrees are not available in this repository\n", 1)
    row = {"path": repository.root, "head": repository.head or "0" * 40, "branch": repository.branch, "bare": False}
    row |= {"detached": repository.branch is None, "locked": False, "prunable": False}
    return answer(mode=mode, worktrees=[row], added=None, removed=None, moved=None, pruned=None)


@tool(reads=True)
def git_wrapup_instructions(world, acknowledgement, createTag=False):  # noqa: ARG001 (the tool requires it)
    steps = [*WRAP_UP, *(["Tag the release with an annotated tag."] if createTag else [])]
    text = "\n".join(f"{at}. {step}" for at, step in enumerate(steps, 1))
    repository = None if world.session["path"] is None else context_of(opened(world, ".", "status"))
    body = {"instructions": text, **({"repository": repository} if repository else {})}
    return Result(text=indented(body), structured=body)


@tool(reads=True, verb="list", entity="commit")
def git_changelog_analyze(world, reviewTypes, path=".", maxCommits=200, branch=None):
    repository = opened(world, path, "log")
    commits = found(repository, branch or "HEAD", "log", bad_revision).log(branch or "HEAD")[:maxCommits]
    rows = [
        {"hash": commit.short, "subject": commit.title, "author": commit.author, "timestamp": seconds(commit.date)}
        for commit in commits
    ]
    tags = [{"name": name, "commit": commit[:7]} for name, (commit, _) in repository.tags.items()]
    context = {"currentBranch": repository.branch, "totalCommitsFetched": len(rows), "commits": rows, "tags": tags}
    text = "\n".join(f"Review the changelog for {kind.replace('_', ' ')}." for kind in reviewTypes)
    return answer(reviewTypes=reviewTypes, gitContext=context, reviewInstructions=text)


@invalid_arguments
def invalid(world, tool, arguments, problems):
    return zod_refusal(world, tool, arguments, problems)
