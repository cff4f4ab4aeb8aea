"""Simulated git repositories with the tools of the reference server."""

import re
from datetime import datetime, timedelta

from project import PROJECT

from mcp_sim.libraries.files import is_within, normalize
from mcp_sim.libraries.git import (
    BadName,
    NameTaken,
    NotARepository,
    Overwritten,
    UnknownPath,
    UnknownRevision,
    difference,
    render_patch,
)
from mcp_sim.libraries.git.views import branch_lines, status_lines
from mcp_sim.programs import Refused, initial, invalid_arguments, tool

tables = {"server": {"singleton": True, "fields": {"root": {"type": ["string", "null"], "default": None}}}}

NOTHING_STAGED = (
    "No changes staged for commit. Use git_add to stage changes first; git_status shows what is currently staged."
)
NOTHING_NEW = (
    "No changes were staged: the given paths had nothing new to stage. git_status shows what is modified or untracked."
)
BAD_NAME = (
    "references cannot contain spaces, tildes (~), carets (^), colons (:), question marks (?), asterisks (*), "
    "open brackets ([) or backslashes (\\)"
)
AGO = re.compile(r"(\d+) (hour|day|week|month|year)s? ago")
SPANS = {"hour": 1, "day": 24, "week": 168, "month": 730, "year": 8760}


@initial
def begin(given, world):
    """Create the given repositories, else one of a small project. The server is started for one repository."""
    repositories = world.git.load(given) or world.git.load(PROJECT)
    world.server["root"] = repositories[0].root if len(repositories) == 1 else None


def failed(tool_name, reason):
    return Refused(f"Error executing tool {tool_name}: {reason}")


def opened(world, path, tool_name):
    """Return the repository at a path, or above it."""
    root, place = world.server["root"], normalize(path)
    if root is not None and not is_within(place, [root]):
        raise failed(tool_name, f"Repository path '{path}' is outside the allowed repository '{root}'")
    try:
        repository = world.git.at(place)
    except NotARepository:
        raise failed(tool_name, path) from None
    if place != repository.root:
        raise failed(tool_name, place)
    return repository


def resolved(repository, revision, tool_name):
    try:
        return repository.get(revision)
    except UnknownRevision:
        raise failed(tool_name, f"Ref '{revision}' did not resolve to an object") from None


def checked(name, value, tool_name):
    """Raise a refusal for a value that git would take for an option."""
    if value.startswith("-"):
        raise failed(tool_name, f"Invalid {name}: '{value}' - cannot start with '-'")


@tool(reads=True, verb="get", entity="repository", key="repo_path")
def git_status(world, repo_path):
    return "Repository status:\n" + "\n".join(status_lines(opened(world, repo_path, "git_status")))


@tool(reads=True, verb="get", entity="repository", key="repo_path")
def git_diff_unstaged(world, repo_path, context_lines=3):
    repository = opened(world, repo_path, "git_diff_unstaged")
    return "Unstaged changes:\n" + render_patch(unstaged(repository), context_lines)


def unstaged(repository):
    index = repository.index
    tracked = {path: text for path, text in repository.working.items() if path in index}
    return difference(index, tracked)


@tool(reads=True, verb="get", entity="repository", key="repo_path")
def git_diff_staged(world, repo_path, context_lines=3):
    repository = opened(world, repo_path, "git_diff_staged")
    return "Staged changes:\n" + render_patch(difference(repository.tree(), repository.index), context_lines)


@tool(reads=True, verb="get", entity="repository", key="repo_path")
def git_diff(world, repo_path, target, context_lines=3):
    checked("target", target, "git_diff")
    repository = opened(world, repo_path, "git_diff")
    before, index = repository.tree(resolved(repository, target, "git_diff").hash), repository.index
    tracked = {path: text for path, text in repository.working.items() if path in index or path in before}
    return f"Diff with {target}:\n" + render_patch(difference(before, tracked), context_lines)


@tool(verb="create", entity="commit")
def git_commit(world, repo_path, message):
    repository = opened(world, repo_path, "git_commit")
    if not repository.status().staged:
        raise failed("git_commit", NOTHING_STAGED)
    return f"Changes committed successfully with hash {repository.commit(message).hash}"


@tool(verb="update", entity="repository")
def git_add(world, repo_path, files):
    repository = opened(world, repo_path, "git_add")
    before = repository.index
    try:
        repository.add(files)
    except UnknownPath as error:
        command = f"Cmd('git') failed due to: exit code(128)\n  cmdline: git add -- {' '.join(files)}"
        reason = f"{command}\n  stderr: 'fatal: pathspec '{error.path}' did not match any files'"
        raise failed("git_add", reason) from None
    return "Files staged successfully" if repository.index != before else NOTHING_NEW


@tool(verb="update", entity="repository")
def git_reset(world, repo_path):
    opened(world, repo_path, "git_reset").unstage()
    return "All staged changes reset"


@tool(reads=True, verb="list", entity="commit")
def git_log(world, repo_path, max_count=10, start_timestamp=None, end_timestamp=None):
    repository = opened(world, repo_path, "git_log")
    since, until = moment_of(world, start_timestamp), moment_of(world, end_timestamp)
    commits = [] if repository.head is None else repository.log()
    kept = [commit for commit in commits if (since or "") <= commit.date <= (until or "~")]
    shown = [
        f"Commit: {commit.hash}\nAuthor: {commit.author}\nDate: {datetime.fromisoformat(commit.date)}\n"
        f"Message: {commit.message}\n"
        for commit in kept[:max_count]
    ]
    return "\n".join(["Commit history:", *shown]) if shown else "Commit history:\n"


def moment_of(world, text):
    """Return the time that git takes a text for: a date, or `2 weeks ago`; None for an empty one."""
    if not text:
        return None
    match = AGO.fullmatch(text.strip().lower())
    hours = {"yesterday": 24, "now": 0}.get(text, int(match[1]) * SPANS[match[2]] if match else None)
    if hours is not None:
        return f"{world.now - timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}"
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%dT%H:%M:%SZ}"
    except ValueError:
        return text


@tool(verb="create", entity="branch")
def git_create_branch(world, repo_path, branch_name, base_branch=None):
    checked("branch name", branch_name, "git_create_branch")
    repository = opened(world, repo_path, "git_create_branch")
    base = base_branch or repository.branch
    if base_branch and base not in {**repository.branches, **repository.tags}:
        raise failed("git_create_branch", f"No item found with id {base}")
    try:
        repository.create_branch(branch_name, base or "HEAD")
    except BadName:
        reason = f"Invalid reference 'refs/heads/{branch_name}': {BAD_NAME}"
        raise failed("git_create_branch", reason) from None
    except NameTaken:
        reason = f"Cannot create branch '{branch_name}': refs/heads/{branch_name} already exists"
        raise failed("git_create_branch", reason) from None
    return f"Created branch '{branch_name}' from '{base}'"


@tool(verb="update", entity="repository")
def git_checkout(world, repo_path, branch_name):
    checked("branch name", branch_name, "git_checkout")
    repository = opened(world, repo_path, "git_checkout")
    target = resolved(repository, branch_name, "git_checkout")
    try:
        repository.checkout(branch_name)
    except Overwritten as error:
        paths = "".join(f"\t{path}\n" for path in error.paths)
        reason = f"Your local changes to the following files would be overwritten by checkout:\n{paths}"
        hint = "Please commit your changes or stash them before you switch branches.\nAborting"
        command = f"Cmd('git') failed due to: exit code(1)\n  cmdline: git checkout {branch_name}"
        raise failed("git_checkout", f"{command}\n  stderr: 'error: {reason}{hint}'") from None
    is_branch = repository.branch is not None
    return f"Switched to branch '{branch_name}'" if is_branch else f"HEAD is now detached at {target.short}"


@tool(reads=True, verb="get", entity="commit", key="revision")
def git_show(world, repo_path, revision):
    checked("revision", revision, "git_show")
    repository = opened(world, repo_path, "git_show")
    name, is_file, path = revision.partition(":")
    commit = resolved(repository, name or "HEAD", "git_show")
    if is_file:
        text = repository.tree(commit.hash).get(path)
        if text is None:
            missing = path.rpartition("/")[2]
            raise failed("git_show", f"\"Blob or Tree named '{missing}' not found\"")
        return text
    message = "\n".join(f"    {line}" for line in commit.message.rstrip("\n").split("\n"))
    head = [f"commit {commit.hash}", f"Author: {commit.author} <{commit.email}>"]
    head += [f"Date:   {datetime.fromisoformat(commit.date):%Y-%m-%d %H:%M:%S %z}", "", message, ""]
    patches = (render_patch({path: change}).split("\n") for path, change in repository.changes_of(commit).items())
    hunks = ("\n".join(lines[next(at for at, line in enumerate(lines) if line[:4] == "--- ") :]) for lines in patches)
    return "\n".join(head) + "".join(f"\n{text}\n" for text in hunks)


@tool(reads=True, verb="list", entity="branch")
def git_branch(world, repo_path, branch_type, contains=None, not_contains=None):
    repository = opened(world, repo_path, "git_branch")
    if branch_type not in ("local", "remote", "all"):
        raise failed("git_branch", f"Invalid branch type: {branch_type}")
    flags = {"local": "", "remote": "-r ", "all": "-a "}[branch_type]
    names = [] if branch_type == "remote" else [*repository.branches]
    for option, revision, is_wanted in (("contains", contains, True), ("no-contains", not_contains, False)):
        if revision:
            checked(option.replace("no-", "not_"), revision, "git_branch")
            try:
                commit = repository.resolve(revision)
            except UnknownRevision:
                command = (
                    f"Cmd('git') failed due to: exit code(129)\n  cmdline: git branch {flags}--{option} {revision}"
                )
                reason = f"{command}\n  stderr: 'error: malformed object name {revision}'"
                raise failed("git_branch", reason) from None
            names = [name for name in names if repository.is_ancestor(commit, name) == is_wanted]
    return "\n".join(branch_lines(repository, names))


@invalid_arguments
def invalid(_world, tool, _arguments, problems):
    reasons = "\n".join(f"  {problem}" for problem in problems)
    return failed(tool, f"{len(problems)} validation error for {tool}\n{reasons}")
