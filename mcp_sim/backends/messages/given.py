"""Messages and users of a given state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from mcp_sim.backends.given import MAX_DEPTH, MAX_OBJECTS, Given, Sought, is_named, take_given
from mcp_sim.backends.messages.entities import DIRECTORY, FLAGS, MESSAGE, NAMES, first_name
from mcp_sim.backends.operation import read_names
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake

_WORDS = read_names(__name__)
_BOXES = _WORDS.terms("box")
_PEOPLE = _WORDS.terms("people")


def given_records(state: Json, entities: Sequence[Entity], *, inward: bool, asks: bool, is_whole: bool) -> Given:
    """Return the messages and users of a state, and the rest of the state.

    Messages may map users to one text or several: senders if `inward`, else receivers. Unless a tool `asks` for users,
    they have nothing but a name and an id.
    """
    sought = [
        Sought(MESSAGE, "id", _BOXES, plain="text", read=_box_row),
        Sought(DIRECTORY, "name", _PEOPLE, plain="id", read=lambda row: _user(row) if asks or len(row) == 2 else None),
    ]
    taken, owner = take_given(state, sought, is_whole=is_whole), _owner(state, MAX_DEPTH)
    rows = [one for row in taken.records[MESSAGE] for one in _messages(row, owner, inward=inward)]
    like = next((entity.key_like for entity in entities if entity.name == MESSAGE), 1)
    keyed = [{"id": at if isinstance(like, int) else f"msg_{at:04d}", **row} for at, row in enumerate(rows, 1)]
    users = taken.records[DIRECTORY]
    return Given({MESSAGE: keyed, **({DIRECTORY: users} if asks or users else {})}, taken.rest)


def _user(row: Record) -> Record | None:
    """Return a row as a user with a name and an id, None if it has none."""
    name, key = first_name(row, "name"), first_name(row, "id")
    if name is None or key is None or not isinstance(row[key], str | int) or isinstance(row[key], bool):
        return None
    rest = {field: value for field, value in row.items() if field not in {name, key}}
    return {**rest, "name": row[name], "id": row[key]}


def _box_row(row: Record) -> Record | None:
    """Return a row if it is a message, or maps users to texts."""
    is_message = first_name(map(snake, row), "text") is not None
    return row if is_message or all(isinstance(value, str | list | dict) for value in row.values()) else None


def _messages(row: Record, owner: Json, *, inward: bool) -> Iterator[Record]:
    """Yield the messages of a row."""
    message = _message({snake(name): value for name, value in row.items()}, owner)
    if message is not None:
        yield message
        return
    by_user = row.items()
    if row.keys() == {"id", "text"}:
        by_user = [(row["id"], text) for text in as_list(row["text"]) or [row["text"]]]
    for other, text in by_user:
        yield {"sender": other if inward else owner, "receiver": owner if inward else other, "text": text}


def _message(known: Record, owner: Json) -> Record | None:
    """Return a row as a message, None if it does not name who it is from or to."""
    names = {field: first_name(known, field) for field in ("sender", "receiver", "text", "sent_at")}
    found: Record = {field: known[name] for field, name in names.items() if name is not None}
    if "text" not in found or found.keys().isdisjoint({"sender", "receiver"}):
        return None
    if any(known.get(name) is True for name in NAMES["draft"]):
        found["draft"] = True
    flag = first_name(known, "read")
    if flag is not None:
        found["read"] = known[flag] is FLAGS[flag]
    return {"sender": owner, "receiver": owner, **found}


def _owner(state: Json, depth: int) -> Json:
    """Return the user to whom the boxes of a state belong."""
    body = as_object(state)
    if any(is_named(name, _BOXES | _PEOPLE) for name in body):
        return body.get(first_name(body, "owner") or "")
    inner = islice(body.values(), MAX_OBJECTS if depth else 0)
    return next((found for one in inner if (found := _owner(one, depth - 1)) is not None), None)
