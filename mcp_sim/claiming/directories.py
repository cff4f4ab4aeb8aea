"""Who can be written to: users by name and id, as a given state and the tools of a server tell of them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_sim.claiming.computed import plan_of
from mcp_sim.claiming.tellings import telling
from mcp_sim.claiming.traits import Traits, within
from mcp_sim.domain import Domain, Entity, Field, Plan
from mcp_sim.extensions import Answer, Invent
from mcp_sim.records.keys import keys_of, next_key
from mcp_sim.schemas import as_object, items, main_type, properties
from mcp_sim.types import Change, Json, Record, Tool, Transition, Turn
from mcp_sim.words import snake, vocabulary

DIRECTORY = "user"
MAPS = vocabulary("user_map users user_ids user_directory contacts contact_map directory")
_COUNTS = vocabulary("user_count users_count contact_count")
_NAMES = vocabulary("user user_name username name contact_name full_name contact")
_PEOPLE = frozenset({"user", "users", "contact", "contacts", "member", "members"})


@dataclass(frozen=True, slots=True)
class Directory:
    """The users: their entity, those that are given, and the names in the state that told of them."""

    entity: Entity
    rows: Sequence[Record]
    taken: frozenset[str]


def directory_in(body: Record, listed: Sequence[Traits]) -> Directory | None:
    """The directory that a state holds as `{name: id}`, or that tools ask for; None where nothing tells of one."""
    name = next((name for name, part in body.items() if snake(name) in MAPS and _is_map(part)), None)
    asked = [traits for traits in listed if _operation(traits) is not None]
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


def directory_tools(known: Directory, listed: Sequence[Traits], behaviour: str) -> list[Plan]:
    """The tools that look up a user's id, list the users, or add one."""
    found = [(traits, said) for traits in listed if (said := _operation(traits)) is not None]
    verbs = {"user_id": "get", "users": "list", "add_user": "create"}
    return [
        plan_of(
            traits,
            said[0],
            behaviour,
            said[1],
            0.8,
            (f"users of {len(known.rows)} names",),
            verb=verbs[said[0]],
            entity=DIRECTORY,
        )
        for traits, said in found
    ]


def of_directory(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """The closure of a directory's tool."""
    return {"user_id": _user_id, "users": _users, "add_user": _add_user}[plan.operation](tool, plan, domain)


def _is_map(part: Json) -> bool:
    body = as_object(part)
    return bool(body) and all(isinstance(value, str | int) and not isinstance(value, bool) for value in body.values())


def _operation(traits: Traits) -> tuple[str, Mapping[str, str]] | None:
    name = traits.argument(_NAMES, ("string",))
    only = name is not None and traits.required <= {name}
    if within(("user", "id"), traits.words) and only and not set(traits.words) & {"set", "delete", "update"}:
        return "user_id", {"name": str(name)}
    if set(traits.words) & {"add", "invite"} and set(traits.words) & _PEOPLE and only:
        return "add_user", {"name": str(name)}
    lists = set(traits.words) & {"list", "get", "show"} and set(traits.words) & {"users", "contacts", "members"}
    return ("users", {}) if lists and not traits.required and len(traits.words) <= 3 else None


def _user_id(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("user_id", "id"))

    def answer(turn: Turn, _invent: Invent) -> Transition:
        name = turn.call.arguments[plan.arguments["name"]]
        key = next((key for key, row in turn.view.rows(DIRECTORY) if row["name"] == name), None)
        if key is None:
            sentence = f"User '{name}' not found in the workspace."
            return Transition(tool.failure("not_found", sentence, key=name, **turn.call.arguments))
        return Transition(tell(turn, key, {"user_id": key, "id": key}))

    return answer


def _users(tool: Tool, _plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("user_list", "users", "contacts"))
    arrays = [part for part in properties(tool.output_schema or {}).values() if main_type(part) == "array"]
    named = any(main_type(items(part)) in {"string", ""} for part in arrays)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        rows = [row["name"] if named else row for _, row in turn.view.rows(DIRECTORY)]
        return Transition(tell(turn, rows, {}))

    return answer


def _add_user(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("added_status", "success"))
    entity = domain.entities[DIRECTORY]
    keys = keys_of(entity)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        name = turn.call.arguments[plan.arguments["name"]]
        if turn.view.find(DIRECTORY, "name", name):
            return Transition(
                tool.failure("conflict", f"User name '{name}' already exists.", key=name, **turn.call.arguments)
            )
        key = next_key(entity, keys, turn.view, turn.draws)
        change = Change("put", DIRECTORY, key, {"id": key, "name": name}, expected=turn.view.version(DIRECTORY, key))
        facts = {"message": f"Contact '{name}' added successfully.", "user_id": key, "id": key}
        return Transition(tell(turn, True, facts), (change,))

    return answer
