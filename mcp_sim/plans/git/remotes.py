"""Work with remotes: list, add, remove, push, pull and fetch.

A remote contains only what was pushed to it: each branch with its commit.
"""

from __future__ import annotations

from mcp_sim.plans.git.entities import DEFAULT_REMOTE
from mcp_sim.plans.git.request import GitRequest, listing
from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object


def remotes(request: GitRequest) -> Outcome:
    """List the remotes with their URLs."""
    rows = [_facts(row) for row in request.stored("remotes")]
    return listing(
        "remotes", rows, (f"{row['name']}\t{row['url']} ({way})" for row in rows for way in ("fetch", "push"))
    )


def remote(request: GitRequest) -> Outcome:
    """Add a remote if a name and URL are given; list the remotes otherwise."""
    return add_remote(request) if request.text("remote") and request.text("url") else remotes(request)


def add_remote(request: GitRequest) -> Outcome:
    """Add a remote. Raises `Refused` if it already exists."""
    row: Record = {"name": _free_name(request, "remote"), "url": request.required("url")}
    request.update(remotes=[*request.stored("remotes"), row])
    return done(f"Added remote '{row['name']}': {row['url']}", **_facts(row), added=row)


def remove_remote(request: GitRequest) -> Outcome:
    """Remove a remote. Raises `Refused` if it does not exist."""
    row = _remote(request)
    request.update(remotes=[other for other in request.stored("remotes") if other != row])
    return done(f"Removed remote '{row['name']}'", **_facts(row), removed=row["name"])


def rename_remote(request: GitRequest) -> Outcome:
    """Rename a remote. Raises `Refused` if it does not exist, or the new name is taken."""
    old, name = _remote(request), _free_name(request, "new_name")
    facts = _facts(_change(request, old, name=name))
    text = f"Renamed remote '{old['name']}' to '{name}'"
    return done(text, **facts, renamed={"from": old["name"], "to": name})


def set_remote_url(request: GitRequest) -> Outcome:
    """Change the URL of a remote. Raises `Refused` if it does not exist."""
    row = _change(request, _remote(request), url=request.required("url"))
    return done(f"Remote '{row['name']}' is at {row['url']}", **_facts(row))


def remote_url(request: GitRequest) -> Outcome:
    """Return the URL of a remote. Raises `Refused` if it does not exist."""
    row = _remote(request)
    return Outcome(row["url"], _facts(row), "url")


def push(request: GitRequest) -> Outcome:
    """Push a branch, by default the current one, to a remote. Raises `Refused` if one of them does not exist."""
    target, branch = _remote(request), request.text("branch") or request.branch or "HEAD"
    tip, pushed = request.resolve(branch), as_object(target.get("branches"))
    facts: Record = {"remote": target["name"], "branch": branch, "commit": tip, "url": target["url"]}
    if pushed.get(branch) == tip:
        return Outcome("Everything up-to-date", {**facts, "pushed": [], "count": 0})
    before = {row["hash"] for row in request.ancestry(pushed.get(branch))}
    facts |= {"pushed": [branch], "count": sum(row["hash"] not in before for row in request.ancestry(tip))}
    _change(request, target, branches={**pushed, branch: tip})
    span = f"{str(pushed[branch])[:7]}..{tip[:7]}" if branch in pushed else "[new branch]"
    return done(f"To {target['url']}\n   {span}  {branch} -> {branch}", **facts)


def pull(request: GitRequest) -> Outcome:
    """Report that a remote has no commits that are not here. Raises `Refused` if it does not exist."""
    facts: Record = {"remote": _remote(request)["name"], "branch": request.text("branch") or request.branch}
    return Outcome("Already up to date.", {**facts, "files_changed": 0, "conflicts": False, "up_to_date": True})


def fetch(request: GitRequest) -> Outcome:
    """Fetch from a remote, which has nothing new. Raises `Refused` if it does not exist."""
    target = _remote(request)
    return Outcome(f"Fetched from {target['name']}", {"remote": target["name"], "url": target["url"]})


def _remote(request: GitRequest) -> Record:
    """Return the named remote, by default `origin`. Raises `Refused` if it does not exist."""
    name, known = request.text("remote") or DEFAULT_REMOTE, request.stored("remotes")
    known_remote = next((row for row in known if row["name"] == name), None)
    if known_remote is None:
        names = ", ".join(row["name"] for row in known) or "none"
        raise Refused("not_found", f"'{name}' is no remote of this repository; remotes: {names}", key=name)
    return known_remote


def _free_name(request: GitRequest, role: str) -> str:
    """Return the name of a new remote. Raises `Refused` if it is taken."""
    name = request.required(role)
    if any(row["name"] == name for row in request.stored("remotes")):
        raise Refused("conflict", f"remote {name} already exists", key=name)
    return name


def _change(request: GitRequest, row: Record, **fields: Json) -> Record:
    """Change fields of a remote, and return it."""
    fresh: Record = {**row, **fields}
    request.update(remotes=[fresh if entry == row else entry for entry in request.stored("remotes")])
    return fresh


def _facts(row: Record) -> Record:
    return {"name": row["name"], "url": row["url"], "fetch_url": row["url"], "push_url": row["url"]}
