"""Operations on messages: those that users send each other, users, and messages with ids that are records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.messages.entities import DIRECTORY, FLAGS, MESSAGE, NAMES, first_name, message_entity, user_entity
from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.refusal import Refused, label
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import items, main_type, properties


class MessagesRequest(Request):
    """One call on messages, by the user who is logged in."""

    def entity_of(self, name: str) -> Entity:
        """Return an entity of this world; from Python, as this backend declares it."""
        domain: Mapping[str, Entity] = self.binding.shared or {}
        if name == DIRECTORY and name not in domain:
            return user_entity(self.view.last_key(name) or "USR001")
        return domain.get(name) or message_entity({"type": "integer"})

    def new_key(self, name: str) -> Key:
        """Return the key of a new record."""
        from mcp_sim.generate.keys import key_maker, next_key  # noqa: PLC0415 (matching does not need generators)

        entity = self.entity_of(name)
        return next_key(entity, key_maker(entity), self.view, self.draws)

    def user(self) -> Json:
        """Return the user of the login to messages, or of the only login. Raises `Refused` if none is logged in."""
        logins = ((name, self.view.get(name, name)) for name in self.view.entities() if "session" in name)
        found = {name: record for name, record in logins if record is not None}
        own = [record for name, record in found.items() if name.startswith(MESSAGE)]
        if not own and len(found) != 1:
            return None
        session = next(iter(own or found.values()))
        user = session.get(first_name(session, "owner") or "")
        if user is None:
            raise Refused("unauthorized", "No user is currently logged in.")
        return user

    def mine(self, *fields: str, drafts: bool | None = False) -> Iterator[Record]:
        """Yield the messages whose sender or receiver is the current user; all of them without a login.

        `drafts`: whether to yield those that were not sent; None: both.
        """
        user, rows = self.user(), self.rows()
        rows = (row for row in rows if drafts is None or (row.get("draft") is True) is drafts)
        return (row for row in rows if user is None or any(row.get(one) in (user, None) for one in fields))

    def addressed(self) -> Record:
        """Return the message that the call names. Raises `Refused` if it does not exist."""
        asked = self.get("message")
        if asked is None:
            raise Refused("invalid", f"{self.named('message')} is required", argument=self.named("message"))
        found = self.record(asked) if isinstance(asked, str | int) else None
        if found is None:
            raise Refused("not_found", f"{label(self.entity)} {asked} not found", key=asked, entity=self.entity)
        return found

    def result_parts(self) -> list[Record]:
        """Return the schemas of the properties that the result of the tool has."""
        return [*properties((self.tool.output_schema if self.tool is not None else None) or {}).values()]


def _listed(name: str, rows: Sequence[Json], text: str) -> Outcome:
    return Outcome(text, {name: [*rows], "count": len(rows)}, name, is_json=True)


def send(request: MessagesRequest) -> Outcome:
    """Send a text to a receiver, or keep it as a draft. Raises `Refused` if a directory lacks the receiver."""
    sender, named, receiver = request.user(), request.required("receiver"), request.get("receiver")
    known = DIRECTORY in request.view.entities() and request.view.count(DIRECTORY)
    if known and not (isinstance(receiver, str | int) and request.view.get(DIRECTORY, receiver)):
        raise Refused("not_found", f"Receiver ID '{named}' not found.", key=named)
    key = request.new_key(request.entity)
    shown: Record = {"id": key, "sender": sender, "receiver": receiver}
    is_draft = request.flag("draft")
    shown |= {"draft": True} if is_draft else {"sent_at": request.time("sent_at")}
    request.put(key, {**shown, "text": request.get("text")})
    return done(f"Draft to '{named}' saved." if is_draft else f"Message sent to '{named}' successfully.", **shown)


def unsend(request: MessagesRequest) -> Outcome:
    """Delete the newest message to a receiver. Raises `Refused` if there is none."""
    receiver = request.get("receiver")
    sent = [row for row in request.mine("sender", drafts=None) if row["receiver"] == receiver]
    if not sent:
        raise Refused("not_found", f"No messages found for receiver ID '{receiver}'.", key=receiver)
    request.drop(sent[-1]["id"])
    return done(f"Receiver {receiver}'s latest message deleted successfully.", id=sent[-1]["id"])


def list_messages(request: MessagesRequest) -> Outcome:
    """List messages, sent ones by default, drafts only on request.

    If the result of the tool is an object, it maps users to texts.
    """
    mine, others = ("receiver", "sender") if request.flag("inward") else ("sender", "receiver")
    other, is_unread = request.get("receiver"), request.flag("unread")
    shown = request.mine(mine, others if request.flag("both") else mine, drafts=request.flag("draft"))
    rows = [row for row in shown if other in (None, row.get("receiver"), row.get("sender"))]
    rows = [row for row in rows if not (is_unread and row.get("read") is True)]
    if any(main_type(part) == "object" for part in request.result_parts()):
        groups: dict[str, list[Json]] = {}
        for row in rows:
            groups.setdefault(str(row[others]), []).append(row["text"])
        return Outcome(as_text(groups), {"messages": groups}, "messages", is_json=True)
    return _listed("messages", rows, "\n".join(map(_line, rows)) or "No messages")


def _line(row: Record) -> str:
    return f"{row.get('sender') or 'me'} to {row.get('receiver') or 'me'}: {as_text(row.get('text'))}"


def search(request: MessagesRequest) -> Outcome:
    """List the sent messages whose text contains the query."""
    wanted = request.required("query").lower()
    found = [row for row in request.mine("sender") if wanted in as_text(row["text"]).lower()]
    text = "\n".join(f"{row['receiver']}: {as_text(row['text'])}" for row in found)
    rows: list[Json] = [{"receiver_id": row["receiver"], "message": row["text"]} for row in found]
    return _listed("messages", rows, text or f"No messages contain '{wanted}'")


def mark_all(request: MessagesRequest) -> Outcome:
    """Mark received messages as read: all, or those of one sender."""
    other = request.get("receiver")
    came = [row for row in request.mine("receiver") if other is None or row.get("sender") == other]
    unread = [row for row in came if row.get("read") is not True]
    for row in unread:
        request.put(row["id"], {**row, "read": True})
    return done(f"{len(unread)} messages marked as read", count=len(unread))


def count(request: MessagesRequest) -> Outcome:
    """Count the messages that were sent and received."""
    sent = len([*request.mine("sender")])
    received = len([*request.mine("receiver")]) if request.user() is not None else 0
    stats: Record = {"sent": sent, "received": received, "count": sent + received}
    return Outcome(f"{sent} messages sent, {received} received", {"stats": stats, **stats}, "stats")


def find_user(request: MessagesRequest) -> Outcome:
    """Return the id of the user with a name. Raises `Refused` if there is none."""
    name = request.required("name")
    found = next((row["id"] for row in request.rows() if row["name"] == name), None)
    if found is None:
        raise Refused("not_found", f"User '{name}' not found in the workspace.", key=name)
    return Outcome(as_text(found), {"id": found}, "id")


def list_users(request: MessagesRequest) -> Outcome:
    """List the users; their names if the tool's result has names."""
    arrays = [part for part in request.result_parts() if main_type(part) == "array"]
    by_name = any(main_type(items(part)) in {"string", ""} for part in arrays)
    rows = [*request.rows()]
    text = "\n".join(f"{row['name']} ({row['id']})" for row in rows) or "No users"
    return _listed("users", [row["name"] if by_name else row for row in rows], text)


def add_user(request: MessagesRequest) -> Outcome:
    """Add a user. Raises `Refused` if the name is taken."""
    name = request.required("name")
    if request.view.find(request.entity, "name", name):
        raise Refused("conflict", f"User name '{name}' already exists.", key=name)
    key = request.new_key(request.entity)
    request.put(key, {"id": key, "name": name})
    return done(f"Contact '{name}' added successfully.", id=key, name=name)


def reply(request: MessagesRequest) -> Outcome:
    """Reply to a message with a text, or draft the reply: to its sender, in its thread.

    Raises `Refused` if the message does not exist.
    """
    original, entity = request.addressed(), request.entity_of(request.entity)
    key, text = request.new_key(request.entity), request.required("text")
    text_field = first_name(entity.fields, "text") or request.named("text")
    record = {**_answering(original, entity), entity.key: key, text_field: text}
    moment, is_draft = first_name(entity.fields, "sent_at"), request.flag("draft")
    if is_draft:
        record[first_name(entity.fields, "draft") or "draft"] = True
    elif moment is not None:
        record[moment] = request.time(moment)
    for field in entity.fields.values():
        is_missing = field.required and field.derived is None and field.name not in record
        if is_missing and request.invent is not None and request.turn is not None:
            record[field.name] = request.invent(request.turn, entity.name, field.name, field.schema, record)
    request.put(key, record)
    return done(
        f"Reply to {original[entity.key]} {'saved as a draft' if is_draft else 'sent'}", **{**record, "id": key}
    )


def _answering(original: Record, entity: Entity) -> Record:
    """Return the fields of a reply: to the sender, in the same thread, with the same subject and links."""
    record = {name: original[name] for name, field in entity.fields.items() if field.link and name in original}
    sender, receiver = first_name(original, "sender"), first_name(original, "receiver")
    if sender is not None and receiver is not None:
        is_list = isinstance(original[receiver], list)
        record[receiver] = [original[sender]] if is_list else original[sender]
        record[sender] = next(iter(original[receiver]), None) if is_list else original[receiver]
    thread = first_name({**original, **entity.fields}, "thread") or "in_reply_to"
    record[thread] = original.get(thread) or original[entity.key]
    subject = first_name(original, "subject")
    if subject is not None:
        record[subject] = f"Re: {str(original[subject]).removeprefix('Re: ')}"
    return record


def thread(request: MessagesRequest) -> Outcome:
    """List the message with an id and all messages of its thread. Raises `Refused` if there are none."""
    named, asked = request.required("message"), request.get("message")
    start = request.record(asked) if isinstance(asked, str | int) else None
    ids = [asked, *(start[name] for name in NAMES["thread"] if start is not None and start.get(name))]
    every = ((row, (key, *map(row.get, NAMES["thread"]))) for key, row in request.view.rows(request.entity))
    rows = [row for row, known in every if any(one is not None and one in ids for one in known)]
    if not rows:
        raise Refused("not_found", f"Thread {named} not found", key=named, entity=request.entity)
    return _listed("messages", rows, as_text(rows))


def mark(request: MessagesRequest) -> Outcome:
    """Mark a message as read, or as unread if `read` is false. Raises `Refused` if it does not exist."""
    record, entity = request.addressed(), request.entity_of(request.entity)
    is_read = request.get("read") is not False
    name = first_name({**entity.fields, **record}, "read") or "is_read"
    flag = is_read == FLAGS[name]
    is_text = name in entity.fields and main_type(entity.fields[name].schema) == "string"
    changed = {**record, name: str(flag).lower() if is_text else flag}
    request.put(record[entity.key], changed)
    words = f"{request.entity.capitalize()} {record[entity.key]} marked as {'read' if is_read else 'unread'}"
    return done(words, **changed)
