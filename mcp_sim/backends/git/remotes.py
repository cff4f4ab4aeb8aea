"""Work with remotes: list, add, remove, push, pull and fetch.

A remote contains only what was pushed to it: each branch with its commit.
"""

from __future__ import annotations

from mcp_sim.backends.git.entities import DEFAULT_REMOTE
from mcp_sim.backends.git.request import Request
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


def remotes(request: Request) -> Outcome:
    """List the remotes with their URLs."""
    rows: list[Json] = [_render_remote(row) for row in _all_remotes(request)]
    text = "\n".join(f"{row['name']}\t{row['url']} ({way})" for row in rows for way in ("fetch", "push"))
    return Outcome(text or "No remotes", {"remotes": rows, "count": len(rows)}, "remotes")


def _all_remotes(request: Request) -> list[Record]:
    return [as_object(row) for row in as_list(request.repository.record.get("remotes"))]


def _render_remote(row: Record) -> Record:
    return {"name": row["name"], "url": row["url"], "fetch_url": row["url"], "push_url": row["url"]}


def add_remote(request: Request) -> Outcome:
    """Add a remote. Raises `Refused` if it already exists."""
    name, url = request.required_text("remote"), request.required_text("url")
    known = _all_remotes(request)
    if any(row["name"] == name for row in known):
        raise Refused("conflict", f"remote {name} already exists", key=name)
    row: Record = {"name": name, "url": url}
    return _save(request, [*known, row], f"Added remote '{name}': {url}", {**_render_remote(row), "added": row})


def remove_remote(request: Request) -> Outcome:
    gone = _remote(request)
    rest = [row for row in _all_remotes(request) if row["name"] != gone["name"]]
    return _save(request, rest, f"Removed remote '{gone['name']}'", {**_render_remote(gone), "removed": gone["name"]})


def rename_remote(request: Request) -> Outcome:
    """Rename a remote. Raises `Refused` if the new name is taken."""
    old, name = _remote(request)["name"], request.required_text("new_name")
    if name != old and any(row["name"] == name for row in _all_remotes(request)):
        raise Refused("conflict", f"remote {name} already exists", key=name)
    rows, fresh = _update_remote(request, old, {"name": name})
    facts: Record = {**_render_remote(fresh), "renamed": {"from": old, "to": name}}
    return _save(request, rows, f"Renamed remote '{old}' to '{name}'", facts)


def place_remote(request: Request) -> Outcome:
    """Change the URL of a remote."""
    name, url = _remote(request)["name"], request.required_text("url")
    rows, fresh = _update_remote(request, name, {"url": url})
    return _save(request, rows, f"Remote '{name}' is at {url}", _render_remote(fresh))


def _update_remote(request: Request, name: str, fields: Record) -> tuple[list[Record], Record]:
    """Return all remotes, and the changed one."""
    rows = [{**row, **fields} if row["name"] == name else row for row in _all_remotes(request)]
    return rows, next(row for row in rows if row["name"] == fields.get("name", name))


def show_remote(request: Request) -> Outcome:
    """Return the URL of a remote."""
    target = _remote(request)
    return Outcome(target["url"], _render_remote(target), "url")


def remote(request: Request) -> Outcome:
    """Add a remote if a name and URL are given; else list the remotes."""
    if request.text("remote") and request.text("url"):
        return add_remote(request)
    return remotes(request)


def _save(request: Request, rows: list[Record], text: str, facts: Record) -> Outcome:
    request.repository.update_record(remotes=rows)
    return done(text, *request.repository.changes, **facts)


def _remote(request: Request) -> Record:
    """Return the named remote, or the default one. Raises `Refused` if it does not exist."""
    name = request.text("remote") or DEFAULT_REMOTE
    found = next((row for row in _all_remotes(request) if row["name"] == name), None)
    if found is None:
        known = ", ".join(row["name"] for row in _all_remotes(request)) or "none"
        raise Refused("not_found", f"'{name}' is no remote of this repository; remotes: {known}", key=name)
    return found


def push(request: Request) -> Outcome:
    """Push the new commits of a branch to a remote."""
    repo, target = request.repository, _remote(request)
    branch = request.text("branch") or repo.branch or "HEAD"
    tip = repo.resolve(branch)
    pushed = as_object(target.get("branches"))
    facts: Record = {"remote": target["name"], "branch": branch, "commit": tip, "url": target["url"]}
    if pushed.get(branch) == tip:
        return Outcome("Everything up-to-date", {**facts, "pushed": [], "count": 0})
    before = {row["hash"] for row in repo.history(pushed.get(branch))}
    count = sum(row["hash"] not in before for row in repo.history(tip))
    rows = [
        {**row, "branches": {**pushed, branch: tip}} if row["name"] == target["name"] else row
        for row in _all_remotes(request)
    ]
    span = f"{str(pushed[branch])[:7]}..{tip[:7]}" if branch in pushed else "[new branch]"
    facts |= {"pushed": [branch], "count": count}
    return _save(request, rows, f"To {target['url']}\n   {span}  {branch} -> {branch}", facts)


def pull(request: Request) -> Outcome:
    """Report that the branch is up to date: a remote never has commits that are not here."""
    target = _remote(request)
    facts: Record = {"remote": target["name"], "branch": request.text("branch") or request.repository.branch}
    return Outcome("Already up to date.", {**facts, "files_changed": 0, "conflicts": False, "up_to_date": True})


def fetch(request: Request) -> Outcome:
    target = _remote(request)
    return Outcome(f"Fetched from {target['name']}", {"remote": target["name"], "url": target["url"]})
