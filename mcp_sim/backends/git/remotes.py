"""What do the tools do that speak with other repositories: list, add, remove, push, pull, fetch?

Nothing is at the other end but what was pushed there: it is remembered to which commit each branch was pushed.
"""

from __future__ import annotations

from mcp_sim.backends.git.entities import USUAL
from mcp_sim.backends.git.request import Asked
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


def remotes(asked: Asked) -> Outcome:
    """The names of the remotes, and where they are."""
    rows: list[Json] = [_told(row) for row in _known(asked)]
    text = "\n".join(f"{row['name']}\t{row['url']} ({way})" for row in rows for way in ("fetch", "push"))
    return Outcome(text or "No remotes", {"remotes": rows, "count": len(rows)}, "remotes")


def _known(asked: Asked) -> list[Record]:
    return [as_object(row) for row in as_list(asked.repository.record.get("remotes"))]


def _told(row: Record) -> Record:
    return {"name": row["name"], "url": row["url"], "fetch_url": row["url"], "push_url": row["url"]}


def add_remote(asked: Asked) -> Outcome:
    name, url = asked.needed("remote"), asked.needed("url")
    known = _known(asked)
    if any(row["name"] == name for row in known):
        raise Refused("conflict", f"remote {name} already exists", key=name)
    row: Record = {"name": name, "url": url}
    return _keep(asked, [*known, row], f"Added remote '{name}': {url}", {**_told(row), "added": row})


def remove_remote(asked: Asked) -> Outcome:
    gone = _remote(asked)
    rest = [row for row in _known(asked) if row["name"] != gone["name"]]
    return _keep(asked, rest, f"Removed remote '{gone['name']}'", {**_told(gone), "removed": gone["name"]})


def rename_remote(asked: Asked) -> Outcome:
    """The same remote under another name."""
    old, name = _remote(asked)["name"], asked.needed("new_name")
    if name != old and any(row["name"] == name for row in _known(asked)):
        raise Refused("conflict", f"remote {name} already exists", key=name)
    rows, fresh = _changed(asked, old, {"name": name})
    facts: Record = {**_told(fresh), "renamed": {"from": old, "to": name}}
    return _keep(asked, rows, f"Renamed remote '{old}' to '{name}'", facts)


def place_remote(asked: Asked) -> Outcome:
    """The same remote at another URL."""
    name, url = _remote(asked)["name"], asked.needed("url")
    rows, fresh = _changed(asked, name, {"url": url})
    return _keep(asked, rows, f"Remote '{name}' is at {url}", _told(fresh))


def _changed(asked: Asked, name: str, said: Record) -> tuple[list[Record], Record]:
    """All remotes, and the one of this name as it is to be."""
    rows = [{**row, **said} if row["name"] == name else row for row in _known(asked)]
    return rows, next(row for row in rows if row["name"] == said.get("name", name))


def show_remote(asked: Asked) -> Outcome:
    """Where one remote is."""
    there = _remote(asked)
    return Outcome(there["url"], _told(there), "url")


def remote(asked: Asked) -> Outcome:
    """A tool for all of it: a new remote where a name and a URL are given, else those that there are."""
    if asked.text("remote") and asked.text("url"):
        return add_remote(asked)
    return remotes(asked)


def _keep(asked: Asked, rows: list[Record], text: str, facts: Record) -> Outcome:
    asked.repository.say(remotes=rows)
    return done(text, *asked.repository.changes, **facts)


def _remote(asked: Asked) -> Record:
    """The remote that is meant; the usual one where none is named. Raises Refused where it is not there."""
    name = asked.text("remote") or USUAL
    found = next((row for row in _known(asked) if row["name"] == name), None)
    if found is None:
        known = ", ".join(row["name"] for row in _known(asked)) or "none"
        raise Refused("not_found", f"'{name}' is no remote of this repository; remotes: {known}", key=name)
    return found


def push(asked: Asked) -> Outcome:
    """The commits of a branch that are not there yet go to a remote."""
    one, there = asked.repository, _remote(asked)
    branch = asked.text("branch") or one.branch or "HEAD"
    tip = one.resolve(branch)
    pushed = as_object(there.get("branches"))
    facts: Record = {"remote": there["name"], "branch": branch, "commit": tip, "url": there["url"]}
    if pushed.get(branch) == tip:
        return Outcome("Everything up-to-date", {**facts, "pushed": [], "count": 0})
    before = {row["hash"] for row in one.history(pushed.get(branch))}
    count = sum(row["hash"] not in before for row in one.history(tip))
    rows = [
        {**row, "branches": {**pushed, branch: tip}} if row["name"] == there["name"] else row for row in _known(asked)
    ]
    span = f"{str(pushed[branch])[:7]}..{tip[:7]}" if branch in pushed else "[new branch]"
    facts |= {"pushed": [branch], "count": count}
    return _keep(asked, rows, f"To {there['url']}\n   {span}  {branch} -> {branch}", facts)


def pull(asked: Asked) -> Outcome:
    """There is nothing at the other end that is not here."""
    there = _remote(asked)
    facts: Record = {"remote": there["name"], "branch": asked.text("branch") or asked.repository.branch}
    return Outcome("Already up to date.", {**facts, "files_changed": 0, "conflicts": False, "up_to_date": True})


def fetch(asked: Asked) -> Outcome:
    there = _remote(asked)
    return Outcome(f"Fetched from {there['name']}", {"remote": there["name"], "url": there["url"]})
