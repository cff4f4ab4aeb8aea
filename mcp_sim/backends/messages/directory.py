"""The directory of users, from a given state and the tools of a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile, contains_phrase
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan, Verb

DIRECTORY = "user"
MAPS = vocabulary("user_map users user_ids user_directory contacts contact_map directory")
_COUNTS = vocabulary("user_count users_count contact_count")
_NAMES = vocabulary("user user_name username name contact_name full_name contact")
_PEOPLE = frozenset({"user", "users", "contact", "contacts", "member", "members"})
_VERBS: Mapping[str, Verb] = {"user_id": "get", "users": "list", "add_user": "create"}


@dataclass(frozen=True, slots=True)
class Directory:
    """The users: their entity, the given ones, and the keys of the state that they were read from."""

    entity: Entity
    rows: Sequence[Record]
    taken: frozenset[str]


def directory_in(body: Record, listed: Sequence[ToolProfile]) -> Directory | None:
    """Return the directory that a state holds as `{name: id}` or that tools query, or None."""
    name = next((name for name, part in body.items() if snake(name) in MAPS and _is_map(part)), None)
    asked = [profile for profile in listed if _operation(profile) is not None]
    if name is None and not asked:
        return None
    rows = [{"id": key, "name": who} for who, key in as_object(body[name]).items()] if name is not None else []
    taken = {name, *(other for other in body if snake(other) in _COUNTS)} - {None}
    like: Any = rows[0]["id"] if rows else "USR001"
    fields = {
        "id": Field("id", {"type": "integer" if isinstance(like, int) else "string"}, required=True),
        "name": Field("name", {"type": "string"}, required=True),
    }
    return Directory(Entity(DIRECTORY, "id", like, fields), rows, frozenset(str(one) for one in taken))


def directory_plans(known: Directory, listed: Sequence[ToolProfile], backend: str) -> Iterator[Plan]:
    """Yield the plans of tools that look up a user's id, list the users, or add one."""
    reasons = (f"users of {len(known.rows)} names",)
    for profile in listed:
        found = _operation(profile)
        if found is not None:
            verb = _VERBS[found[0]]
            yield operation_plan(profile, found[0], backend, found[1], 0.8, reasons, verb=verb, entity=DIRECTORY)


def _is_map(part: Json) -> bool:
    body = as_object(part)
    return bool(body) and all(isinstance(value, str | int) and not isinstance(value, bool) for value in body.values())


def _operation(profile: ToolProfile) -> tuple[str, Mapping[str, str]] | None:
    name = profile.argument(_NAMES, ("string",))
    only = name is not None and profile.needed <= {name}
    if contains_phrase(("user", "id"), profile.words) and only and not set(profile.words) & {"set", "delete", "update"}:
        return "user_id", {"name": str(name)}
    if set(profile.words) & {"add", "invite"} and set(profile.words) & _PEOPLE and only:
        return "add_user", {"name": str(name)}
    lists = set(profile.words) & {"list", "get", "show"} and set(profile.words) & {"users", "contacts", "members"}
    return ("users", {}) if lists and not profile.needed and len(profile.words) <= 3 else None
