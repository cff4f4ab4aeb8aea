"""Tags of commits."""

from __future__ import annotations

from mcp_sim.backends.git.entities import TAG
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record


def tags(request: GitRequest) -> Outcome:
    """List the tags."""
    rows: list[Json] = [*request.repository.rows(TAG)]
    return Outcome("\n".join(row["name"] for row in rows) or "No tags", {"tags": rows, "count": len(rows)}, "tags")


def tag(request: GitRequest) -> Outcome:
    """Create the named tag, or delete it if `delete` is set; list the tags if none is named."""
    if not request.text("tag"):
        return tags(request)
    return delete_tag(request) if request.flag("delete") else create_tag(request)


def create_tag(request: GitRequest) -> Outcome:
    """Create a tag of a revision, of the head by default.

    Raises `Refused` if it already exists, or the revision is unknown.
    """
    repo, name = request.repository, request.required("tag")
    if repo.get(TAG, name) is not None:
        raise Refused("conflict", f"Tag '{name}' already exists", tag=name, key=name, entity=TAG)
    row: Record = {"name": name, "commit": repo.resolve(request.text("revision") or "HEAD")}
    repo.put(TAG, name, {**row, "message": request.get("message")})
    return done(f"Created tag '{name}' at {row['commit'][:7]}", **row, tag=name, created=name)


def delete_tag(request: GitRequest) -> Outcome:
    """Delete a tag. Raises `Refused` if it does not exist."""
    repo, name = request.repository, request.required("tag")
    if repo.get(TAG, name) is None:
        raise Refused("not_found", f"Tag '{name}' not found", tag=name, key=name, entity=TAG)
    repo.put(TAG, name, None)
    return done(f"Deleted tag '{name}'", tag=name, deleted=name)
