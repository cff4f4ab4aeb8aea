"""Work with remotes: list, add, remove, push, pull and fetch.

A remote contains only what was pushed to it: each branch with its commit.
"""

from __future__ import annotations

from mcp_sim.backends.git.entities import DEFAULT_REMOTE
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


def remotes(request: GitRequest) -> Outcome:
    """List the remotes with their URLs."""
    rows: list[Json] = [_facts(row) for row in _remotes(request).values()]
    text = "\n".join(f"{row['name']}\t{row['url']} ({way})" for row in rows for way in ("fetch", "push"))
    return Outcome(text or "No remotes", {"remotes": rows, "count": len(rows)}, "remotes")


def remote(request: GitRequest) -> Outcome:
    """Add a remote if a name and URL are given; list the remotes otherwise."""
    return add_remote(request) if request.text("remote") and request.text("url") else remotes(request)


def add_remote(request: GitRequest) -> Outcome:
    """Add a remote. Raises `Refused` if it already exists."""
    row: Record = {"name": _free_name(request, "remote"), "url": request.required("url")}
    _save(request, {**_remotes(request), row["name"]: row})
    return done(f"Added remote '{row['name']}': {row['url']}", **_facts(row), added=row)


def remove_remote(request: GitRequest) -> Outcome:
    """Remove a remote. Raises `Refused` if it does not exist."""
    row = _remote(request)
    _save(request, {name: other for name, other in _remotes(request).items() if name != row["name"]})
    return done(f"Removed remote '{row['name']}'", **_facts(row), removed=row["name"])


def rename_remote(request: GitRequest) -> Outcome:
    """Rename a remote. Raises `Refused` if it does not exist, or the new name is taken."""
    row, name = _remote(request), _free_name(request, "new_name")
    fresh = _update(request, row, name=name)
    text = f"Renamed remote '{row['name']}' to '{name}'"
    return done(text, **_facts(fresh), renamed={"from": row["name"], "to": name})


def set_remote_url(request: GitRequest) -> Outcome:
    """Change the URL of a remote. Raises `Refused` if it does not exist."""
    row = _update(request, _remote(request), url=request.required("url"))
    return done(f"Remote '{row['name']}' is at {row['url']}", **_facts(row))


def remote_url(request: GitRequest) -> Outcome:
    """Return the URL of a remote, by default of `origin`. Raises `Refused` if it does not exist."""
    row = _remote(request)
    return Outcome(row["url"], _facts(row), "url")


def push(request: GitRequest) -> Outcome:
    """Push the new commits of a branch, by default the current one, to a remote, by default `origin`.

    Raises `Refused` if the remote or the branch does not exist.
    """
    repo, target = request.repository, _remote(request)
    branch = request.text("branch") or repo.branch or "HEAD"
    tip, pushed = repo.resolve(branch), as_object(target.get("branches"))
    facts: Record = {"remote": target["name"], "branch": branch, "commit": tip, "url": target["url"]}
    if pushed.get(branch) == tip:
        return Outcome("Everything up-to-date", {**facts, "pushed": [], "count": 0})
    before = {row["hash"] for row in repo.history(pushed.get(branch))}
    facts |= {"pushed": [branch], "count": sum(row["hash"] not in before for row in repo.history(tip))}
    _update(request, target, branches={**pushed, branch: tip})
    span = f"{str(pushed[branch])[:7]}..{tip[:7]}" if branch in pushed else "[new branch]"
    return done(f"To {target['url']}\n   {span}  {branch} -> {branch}", **facts)


def pull(request: GitRequest) -> Outcome:
    """Report that the branch is up to date: a remote never has commits that are not here.

    Raises `Refused` if the remote does not exist.
    """
    target = _remote(request)
    facts: Record = {"remote": target["name"], "branch": request.text("branch") or request.repository.branch}
    return Outcome("Already up to date.", {**facts, "files_changed": 0, "conflicts": False, "up_to_date": True})


def fetch(request: GitRequest) -> Outcome:
    """Fetch from a remote, which has nothing new. Raises `Refused` if it does not exist."""
    target = _remote(request)
    return Outcome(f"Fetched from {target['name']}", {"remote": target["name"], "url": target["url"]})


def _remotes(request: GitRequest) -> dict[str, Record]:
    """Return the remotes by name."""
    return {row["name"]: as_object(row) for row in as_list(request.repository.record.get("remotes"))}


def _remote(request: GitRequest) -> Record:
    """Return the named remote, or the default one. Raises `Refused` if it does not exist."""
    name, known = request.text("remote") or DEFAULT_REMOTE, _remotes(request)
    if name not in known:
        message = f"'{name}' is no remote of this repository; remotes: {', '.join(known) or 'none'}"
        raise Refused("not_found", message, key=name)
    return known[name]


def _free_name(request: GitRequest, role: str) -> str:
    """Return the name of a new remote. Raises `Refused` if it is taken."""
    name = request.required(role)
    if name in _remotes(request):
        raise Refused("conflict", f"remote {name} already exists", key=name)
    return name


def _update(request: GitRequest, row: Record, **fields: Json) -> Record:
    """Change fields of a remote, and return it."""
    fresh: Record = {**row, **fields}
    _save(request, {name: fresh if name == row["name"] else one for name, one in _remotes(request).items()})
    return fresh


def _save(request: GitRequest, known: dict[str, Record]) -> None:
    request.repository.update_record(remotes=[*known.values()])


def _facts(row: Record) -> Record:
    return {"name": row["name"], "url": row["url"], "fetch_url": row["url"], "push_url": row["url"]}
