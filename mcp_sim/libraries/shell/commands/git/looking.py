"""Subcommands of git that show something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from mcp_sim.libraries.git import Commit, Difference, Repository, UnknownRevision, count_lines, difference, render_patch
from mcp_sim.libraries.git.views import diff_stat, folded, status_lines
from mcp_sim.libraries.shell.commands.git.invocation import GitRun, Options
from mcp_sim.libraries.shell.commands.invocation import Failed, is_number

LETTERS = {"added": "A", "modified": "M", "deleted": "D"}
_FORMATS = {
    "oneline": "%h %s", "short": "commit %H%nAuthor: %an <%ae>%n%n    %s%n", "reference": "%h (%s, %as)",
}  # fmt: skip


def status(git: GitRun, words: Sequence[str]) -> None:
    options, _ = git.options(words, "sbuv", "short:s branch:b porcelain porcelain= untracked-files= ignored")
    repository = git.repository
    if not options.keys() & {"s", "porcelain"}:
        git.say(*status_lines(repository))
        return
    if "b" in options:
        git.say(f"## {repository.branch or 'HEAD (no branch)'}")
    status = repository.status()
    for path in sorted({*status.staged, *status.unstaged, *status.conflicts}):
        left = LETTERS.get(status.staged.get(path, ""), " ")
        right = LETTERS.get(status.unstaged.get(path, ""), " ")
        git.say(f"{'UU' if path in status.conflicts else left + right} {path}")
    git.say(*(f"?? {path}" for path in folded(repository, status.untracked)))


def diff(git: GitRun, words: Sequence[str]) -> None:
    words, paths = git.split(words)
    options, rest = git.options(
        words,
        "U:p",
        "cached staged stat name-only name-status shortstat numstat unified:U color= no-color quiet exit-code "
        "diff-filter=",
    )
    repository = git.repository
    revisions = [word for word in rest if _is_revision(repository, word)]
    paths += [word for word in rest if word not in revisions]
    is_cached = bool(options.keys() & {"cached", "staged"})
    before, after = _sides(repository, revisions, is_cached=is_cached)
    changes = chosen_changes(git, repository, difference(before, after), paths)
    conflicts: Difference = {} if revisions else dict.fromkeys(repository.conflicts, (None, None))
    unmerged = [*chosen_changes(git, repository, conflicts, paths)]
    shown = unmerged if _is_shown("U", options) else []
    hidden = unmerged if is_cached or not options.keys() & {"name-only", "name-status", "quiet"} else ()
    changes = _filtered({path: change for path, change in changes.items() if path not in hidden}, options)
    if "quiet" not in options:
        if "name-only" in options:
            git.say(*shown)
        elif "name-status" in options:
            git.say(*(f"U\t{path}" for path in shown))
        else:
            git.say(*(f"* Unmerged path {path}" for path in shown))
        show_changes(git, changes, options)
    if options.keys() & {"quiet", "exit-code"}:
        # The patch of a conflict combines its sides, and git does not count that as a difference.
        is_counted = is_cached or options.keys() & {"quiet", "name-only", "name-status", "numstat", "stat", "shortstat"}
        git.run.code = 1 if changes or (shown and is_counted) else 0


def _is_shown(letter: str, options: Options) -> bool:
    """Return whether `--diff-filter` shows a kind of change: capitals choose, small letters leave out."""
    letters = options.get("diff-filter", "")
    unknown = re.search(r"[^ACDMRTUXB*]", letters, re.IGNORECASE)
    if unknown:
        raise Failed(f"error: unknown change class '{unknown[0]}' in --diff-filter={letters}\n", 129)
    chosen = [other for other in letters if other.isupper()]
    return letter.lower() not in letters and (not chosen or letter in chosen)


def _filtered(changes: Difference, options: Options) -> Difference:
    """Return the changes that `--diff-filter` shows."""
    return {path: change for path, change in changes.items() if _is_shown(_letter(*change), options)}


def _sides(
    repository: Repository, revisions: Sequence[str], *, is_cached: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files on both sides of a diff."""
    words = [revision or "HEAD" for word in revisions for revision in re.split(r"\.\.\.?", word)]
    if is_cached:
        return repository.tree(words[0] if words else "HEAD"), repository.index
    if len(words) > 1:
        return repository.tree(words[0]), repository.tree(words[1])
    tracked = repository.index
    working = {path: text for path, text in repository.working.items() if path in tracked}
    return (repository.tree(words[0]), working) if words else (tracked, working)


def _is_revision(repository: Repository, word: str) -> bool:
    try:
        for revision in re.split(r"\.\.\.?", word):
            repository.resolve(revision or "HEAD")
    except UnknownRevision:
        if ".." in word:
            raise
        known = {**repository.index, **repository.working}
        if any(path == word or path.startswith(f"{word.rstrip('/')}/") for path in known) or "/" in word or "." in word:
            return False
        raise
    return True


def chosen_changes(
    git: GitRun, repository: Repository, changes: Difference, paths: Sequence[str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the changes at and below paths."""
    places = [git.path(repository, path).rstrip("/") for path in paths]
    return {
        path: change
        for path, change in changes.items()
        if not places or any(place in (".", path) or path.startswith(f"{place}/") for place in places)
    }


def show_changes(git: GitRun, changes: Difference, options: Options) -> None:
    if "name-only" in options:
        git.say(*changes)
    elif "name-status" in options:
        git.say(*(f"{_letter(*change)}\t{path}" for path, change in changes.items()))
    elif "numstat" in options:
        counts = {path: count_lines(*change) for path, change in changes.items()}
        git.say(*(f"{added}\t{removed}\t{path}" for path, (added, removed) in counts.items()))
    elif "stat" in options:
        git.run.out.append(diff_stat(changes))
    elif "shortstat" in options:
        git.run.out.append(diff_stat(changes).rstrip("\n").rpartition("\n")[2] + "\n" if changes else "")
    else:
        width = options.get("U", "3")
        git.say(*([render_patch(changes, int(width))] if changes else []))


def _letter(before: str | None, after: str | None) -> str:
    return "A" if before is None else "D" if after is None else "M"


def log(git: GitRun, words: Sequence[str]) -> None:
    words, paths = git.split([f"-n{word[1:]}" if re.fullmatch(r"-[0-9]+", word) else word for word in words])
    options, rest = git.options(
        words,
        "n:ps",
        "oneline max-count:n stat patch:p name-only name-status format= pretty= all author= grep= graph decorate "
        "no-merges reverse follow no-color since= first-parent",
    )
    repository = git.repository
    revisions = [word for word in rest if _is_revision(repository, word)]
    paths += [word for word in rest if word not in revisions]
    if repository.head is None:
        raise Failed(f"fatal: your current branch '{repository.branch}' does not have any commits yet\n", 128)
    commits = _listed(repository, revisions or (list(repository.branches) if "all" in options else ["HEAD"]))
    commits = [commit for commit in commits if _is_wanted(git, repository, commit, options, paths)]
    count = options.get("n")
    commits = commits[: int(count)] if count and is_number(count) else commits
    if "graph" in options:
        options = {**options, "format": "* " + _FORMATS["oneline"]} if "oneline" in options else options
    for number, commit in enumerate(reversed(commits) if "reverse" in options else commits):
        _show_commit(git, repository, commit, options, is_first=not number)


def _listed(repository: Repository, revisions: Sequence[str]) -> list[Commit]:
    """Return the commits that revisions and ranges reach, the newest first."""
    reached: dict[str, Commit] = {}
    excluded: set[str] = set()
    for word in revisions:
        start, dots, end = word.partition("..")
        reached |= {commit.hash: commit for commit in repository.log((end.lstrip(".") or "HEAD") if dots else word)}
        if dots:
            excluded |= {commit.hash for commit in repository.log(start or "HEAD")}
    return sorted(
        (commit for name, commit in reached.items() if name not in excluded), key=lambda commit: -commit.number
    )


def _is_wanted(git: GitRun, repository: Repository, commit: Commit, options: Options, paths: Sequence[str]) -> bool:
    if "no-merges" in options and len(commit.parents) > 1:
        return False
    if not _contains(options.get("author", ""), f"{commit.author} <{commit.email}>"):
        return False
    if not _contains(options.get("grep", ""), commit.message):
        return False
    return not paths or bool(chosen_changes(git, repository, repository.changes_of(commit), paths))


def _contains(pattern: str, text: str) -> bool:
    return pattern.lower() in text.lower()


def _show_commit(git: GitRun, repository: Repository, commit: Commit, options: Options, *, is_first: bool) -> None:
    given = options.get("format", options.get("pretty", "oneline" if "oneline" in options else ""))
    pattern = given.removeprefix("format:").removeprefix("tformat:") if "%" in given else _FORMATS.get(given, "")
    if pattern:
        body = commit.message.partition("\n\n")[2].rstrip("\n")
        moment = moment_of(commit)
        values = {
            "H": commit.hash, "h": commit.short, "s": commit.title, "an": commit.author, "ae": commit.email, "b": body,
            "cn": commit.author, "ce": commit.email, "ad": _date(commit), "cd": _date(commit), "n": "\n",
            "B": commit.message,
            "as": f"{moment:%Y-%m-%d}", "cs": f"{moment:%Y-%m-%d}", "at": str(int(moment.timestamp())),
            "aI": f"{moment:%Y-%m-%dT%H:%M:%S}+00:00", "P": " ".join(commit.parents), "d": "", "%": "%",
            "p": " ".join(parent[:7] for parent in commit.parents), "ai": f"{moment:%Y-%m-%d %H:%M:%S} +0000", "D": "",
        }  # fmt: skip
        git.say(re.sub(r"%(a[nedstIi]|c[neds]|[HhsbnBPpdD%])", lambda match: values[match[1]], pattern))
    else:
        git.say(*([] if is_first else [""]), *_heading(commit))
    if options.keys() & {"p", "stat", "name-only", "name-status"} and len(commit.parents) < 2:
        git.say(*([] if pattern else [""]))
        show_changes(git, _filtered(repository.changes_of(commit), options), options)


def _heading(commit: Commit) -> Iterator[str]:
    """Yield the lines of a commit as `git log` shows it."""
    yield f"commit {commit.hash}"
    if len(commit.parents) > 1:
        yield f"Merge: {' '.join(parent[:7] for parent in commit.parents)}"
    yield f"Author: {commit.author} <{commit.email}>"
    yield f"Date:   {_date(commit)}"
    yield ""
    yield from (f"    {line}" for line in commit.message.rstrip("\n").split("\n"))


def _date(commit: Commit) -> str:
    moment = moment_of(commit)
    return f"{moment:%a %b} {moment.day} {moment:%H:%M:%S %Y} +0000"


def moment_of(commit: Commit) -> datetime:
    return datetime.fromisoformat(commit.date).astimezone(UTC)


def show_commits(git: GitRun, words: Sequence[str]) -> None:
    words, _ = git.split(words)
    options, rest = git.options(
        words, "sp", "stat name-only name-status no-patch:s format= pretty= oneline diff-filter="
    )
    repository = git.repository
    for word in rest or ["HEAD"]:
        revision, colon, path = word.partition(":")
        if colon:
            text = repository.tree(revision or "HEAD").get(path)
            if text is None:
                raise Failed(f"fatal: path '{path}' does not exist in '{revision}'\n", 128)
            git.run.out.append(text)
            continue
        more = {} if options.keys() & {"s", "stat", "name-only", "name-status"} else {"p": ""}
        commit = repository.get(revision)
        if "diff-filter" not in options or _filtered(repository.changes_of(commit), options):
            _show_commit(git, repository, commit, {**options, **more}, is_first=True)


def blame(git: GitRun, words: Sequence[str]) -> None:
    words, paths = git.split(words)
    _, rest = git.options(words, "L:wel")
    repository = git.repository
    path = git.path(repository, [*rest, *paths][-1])
    lines = repository.blame(path)
    width = max((len(commit.author) for commit, _ in lines), default=0)
    digits = len(str(len(lines)))
    for number, (commit, line) in enumerate(lines, 1):
        mark = commit.hash[:8] if commit.parents else f"^{commit.hash[:7]}"
        facts = f"{commit.author:<{width}} {moment_of(commit):%Y-%m-%d %H:%M:%S} +0000"
        git.say(f"{mark} ({facts} {number:>{digits}}) {line}")


def rev_parse(git: GitRun, words: Sequence[str]) -> None:
    repository = git.repository
    flags = [word for word in words if word.startswith("--")]
    if "--show-toplevel" in flags:
        git.say(repository.root)
    elif "--is-inside-work-tree" in flags:
        git.say("true")
    elif "--git-dir" in flags:
        git.say(".git")
    for word in (word for word in words if not word.startswith("--")):
        name = repository.resolve(word)
        is_named = "--abbrev-ref" in flags
        git.say((repository.branch or "HEAD") if is_named else name[:7] if "--short" in flags else name)


def ls_files(git: GitRun, words: Sequence[str]) -> None:
    options, _ = git.options(words, "mocd", "modified:m others:o exclude-standard cached:c deleted:d")
    repository = git.repository
    status = repository.status()
    paths = sorted(repository.index)
    if "o" in options:
        paths = [*status.untracked]
    elif "m" in options:
        paths = [*status.unstaged]
    git.say(*paths)


def reflog(git: GitRun, words: Sequence[str]) -> None:
    count = next((int(word.lstrip("-n")) for word in words if re.fullmatch(r"-n?[0-9]+", word)), None)
    moves = [*git.repository.reflog()][:count]
    git.say(*(f"{str(move['commit'])[:7]} HEAD@{{{at}}}: {move['message']}" for at, move in enumerate(moves)))


def names_commit(repository: Repository, word: str) -> bool:
    try:
        repository.resolve(word)
    except UnknownRevision:
        return False
    return True
