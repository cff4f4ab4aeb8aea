"""Operations on messages that users send each other, and on the directory of users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_sim.backends.messages.entities import DIRECTORY
from mcp_sim.backends.messages.request import MessagesRequest
from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties


def send(request: MessagesRequest) -> Outcome:
    """Send a text to a receiver. Raises `Refused` if there is a directory without the receiver."""
    sender, receiver = request.user(), request.required("receiver")
    known = DIRECTORY in request.view.entities() and request.view.count(DIRECTORY)
    if known and request.view.get(DIRECTORY, request.get("receiver")) is None:
        raise Refused("not_found", f"Receiver ID '{receiver}' not found.", key=receiver)
    key = request.new_key(request.entity)
    shown: Record = {
        "id": key,
        "sender": sender,
        "receiver": request.get("receiver"),
        "sent_at": request.time("sent_at"),
    }
    request.put(key, {**shown, "text": request.get("text")})
    return done(f"Message sent to '{receiver}' successfully.", **shown)


def unsend(request: MessagesRequest) -> Outcome:
    """Delete the newest message to a receiver. Raises `Refused` if there is none."""
    receiver = request.get("receiver")
    sent = [row for row in _mine(request, "sender") if row["receiver"] == receiver]
    if not sent:
        raise Refused("not_found", f"No messages found for receiver ID '{receiver}'.", key=receiver)
    request.drop(sent[-1]["id"])
    return done(f"Receiver {receiver}'s latest message deleted successfully.", id=sent[-1]["id"])


def list_messages(request: MessagesRequest) -> Outcome:
    """List messages: sent, or received (`inward`), or both; of one user if one is named; only unread ones if asked for.

    If the result of the tool is an object, map users to texts.
    """
    field = "receiver" if request.flag("inward") else "sender"
    rows = [row for row in _shown_to(request, field) if not (request.flag("unread") and row.get("read") is True)]
    if any(main_type(part) == "object" for part in _result_parts(request)):
        return _by_user(rows, "sender" if field == "receiver" else "receiver")
    return _listed(rows)


def _shown_to(request: MessagesRequest, field: str) -> Iterator[Record]:
    """Yield the messages that the current user sent or received, or both; with one user if one is named."""
    fields = ("sender", "receiver") if request.flag("both") else (field,)
    mine = {row["id"] for one in fields for row in _mine(request, one)}
    other = request.get("receiver")
    for row in request.rows():
        if row["id"] in mine and (other is None or other in {row.get("receiver"), row.get("sender")}):
            yield row


def search(request: MessagesRequest) -> Outcome:
    """List the sent messages whose text contains the query."""
    wanted = request.required("query").lower()
    found = (row for row in _mine(request, "sender") if wanted in as_text(row["text"]).lower())
    shown: list[Json] = [{"receiver_id": row["receiver"], "message": row["text"]} for row in found]
    lines = (f"{row['receiver_id']}: {as_text(row['message'])}" for row in shown)
    text = "\n".join(lines) or f"No messages contain '{wanted}'"
    return Outcome(text, {"messages": shown, "count": len(shown)}, "messages", is_json=True)


def mark_all(request: MessagesRequest) -> Outcome:
    """Mark received messages as read: all, or those of one sender."""
    other = request.get("receiver")
    came = [row for row in _mine(request, "receiver") if other is None or row.get("sender") == other]
    unread = [row for row in came if row.get("read") is not True]
    for row in unread:
        request.put(row["id"], {**row, "read": True})
    return done(f"{len(unread)} messages marked as read", count=len(unread))


def count(request: MessagesRequest) -> Outcome:
    """Count the messages that were sent and received."""
    is_private = request.user() is not None
    sent, received = [*_mine(request, "sender")], [*_mine(request, "receiver")] if is_private else []
    stats: Record = {"sent": len(sent), "received": len(received), "count": len(sent) + len(received)}
    return Outcome(f"{len(sent)} messages sent, {len(received)} received", {"stats": stats, **stats}, "stats")


def _mine(request: MessagesRequest, field: str) -> Iterator[Record]:
    """Yield the messages whose sender or receiver is the current user; all of them without a login."""
    user = request.user()
    return (row for row in request.rows() if user is None or row.get(field) in {user, None})


def _listed(rows: Sequence[Record]) -> Outcome:
    lines = (
        f"{row.get('sender') or 'me'} to {row.get('receiver') or 'me'}: {as_text(row.get('text'))}" for row in rows
    )
    facts: Record = {"messages": [*rows], "count": len(rows)}
    return Outcome("\n".join(lines) or "No messages", facts, "messages", is_json=True)


def _by_user(rows: Sequence[Record], field: str) -> Outcome:
    groups: dict[str, list[Json]] = {}
    for row in rows:
        groups.setdefault(str(row[field]), []).append(row["text"])
    return Outcome(as_text(groups), {"messages": groups}, "messages", is_json=True)


# users ----------------------------------------------------------------------------------------------------------------


def find_user(request: MessagesRequest) -> Outcome:
    """Return the id of the user with a name. Raises `Refused` if there is none."""
    name = request.required("name")
    found = next((row["id"] for row in request.rows() if row["name"] == name), None)
    if found is None:
        raise Refused("not_found", f"User '{name}' not found in the workspace.", key=name)
    return Outcome(as_text(found), {"id": found}, "id")


def list_users(request: MessagesRequest) -> Outcome:
    """List the users; their names if the tool's result has names."""
    arrays = [part for part in _result_parts(request) if main_type(part) == "array"]
    by_name = any(main_type(items(part)) in {"string", ""} for part in arrays)
    rows = [*request.rows()]
    shown: list[Json] = [row["name"] if by_name else row for row in rows]
    text = "\n".join(f"{row['name']} ({row['id']})" for row in rows) or "No users"
    return Outcome(text, {"users": shown, "count": len(shown)}, "users", is_json=True)


def add_user(request: MessagesRequest) -> Outcome:
    """Add a user. Raises `Refused` if the name is taken."""
    name = request.required("name")
    if request.view.find(request.entity, "name", name):
        raise Refused("conflict", f"User name '{name}' already exists.", key=name)
    key = request.new_key(request.entity)
    request.put(key, {"id": key, "name": name})
    return done(f"Contact '{name}' added successfully.", id=key, name=name)


def _result_parts(request: MessagesRequest) -> list[Record]:
    """Return the schemas of the properties that the result of the tool has."""
    output = request.tool.output_schema if request.tool is not None else None
    return [*properties(output or {}).values()]
