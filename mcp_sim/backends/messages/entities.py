"""Entities of messages, and the names that their fields have."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_sim.backends.operation import read_names
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field

_WORDS = read_names(__name__)
MESSAGE, DIRECTORY = "message", "user"
FLAGS = {"is_read": True, "read": True, "seen": True, "unread": False, "is_unread": False}
"""Fields that show whether a message was read, and their value if it was."""
NAMES = _WORDS.table("field") | {"read": tuple(FLAGS)}
"""Field of a message, a user or a login -> the names that it may have."""

_TEXT: Record = {"type": ["string", "null"]}


def message_entity(key_schema: Record) -> Entity:
    """Return the entity of messages without ids of their own, whose keys have this schema."""
    fields = (
        Field("id", key_schema, required=True),
        Field("sender", _TEXT),
        Field("receiver", {"type": ["string", "integer"]}, required=True),
        Field("text", {}, required=True),
        Field("sent_at", _TEXT),
        Field("read", {"type": ["boolean", "null"]}),
    )
    first = "msg_0001" if key_schema.get("type") == "string" else 1
    return Entity(MESSAGE, "id", first, {field.name: field for field in fields})


def user_entity(first: str | int) -> Entity:
    """Return the entity of users. `first` is an example of their ids."""
    key: Record = {"type": ["integer", "string"]}
    fields = (Field("id", key, required=True), Field("name", {"type": "string"}, required=True))
    return Entity(DIRECTORY, "id", first, {field.name: field for field in fields})


def first_name(known: Iterable[str], field: str) -> str | None:
    """Return the first of the names of a field that is known."""
    found = {*known}
    return next((name for name in NAMES[field] if name in found), None)
