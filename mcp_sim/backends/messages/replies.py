"""Operations on one message with an id: reply to it, show its thread, mark it as read.

A reply goes back to the sender, and belongs to the thread of the message that it replies to.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.backends.messages.entities import FLAGS, RECEIVERS, SENDERS, TEXTS, THREADS, TIMES
from mcp_sim.backends.messages.request import MessagesRequest, first_name
from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type


def reply(request: MessagesRequest) -> Outcome:
    """Reply to a message with a text. Raises `Refused` if the message does not exist."""
    original, entity = request.addressed(), request.entity_of(request.entity)
    key, text = request.new_key(request.entity), request.required("text")
    text_field = first_name(entity.fields, TEXTS) or request.named("text")
    record = {**_answering(original, entity), entity.key: key, text_field: text}
    moment = first_name(entity.fields, TIMES)
    if moment is not None:
        record[moment] = request.time(moment)
    _invent_missing(request, entity, record)
    request.put(key, record)
    return done(f"Reply to {original[entity.key]} sent", **{**record, "id": key})


def _answering(original: Record, entity: Entity) -> Record:
    """Return the fields of a reply: to the sender, in the same thread, with the same subject and links."""
    record = {name: original[name] for name, field in entity.fields.items() if field.link and name in original}
    sender, receiver = first_name(original, SENDERS), first_name(original, RECEIVERS)
    if sender is not None and receiver is not None:
        is_list = isinstance(original[receiver], list)
        record[receiver] = [original[sender]] if is_list else original[sender]
        record[sender] = next(iter(original[receiver]), None) if is_list else original[receiver]
    thread = first_name({**original, **entity.fields}, THREADS) or "in_reply_to"
    record[thread] = original.get(thread) or original[entity.key]
    subject = first_name(original, ("subject", "title"))
    if subject is not None:
        record[subject] = f"Re: {str(original[subject]).removeprefix('Re: ')}"
    return record


def _invent_missing(request: MessagesRequest, entity: Entity, record: Record) -> None:
    """Generate the required fields that a new record lacks."""
    for field in entity.fields.values():
        is_missing = field.required and field.derived is None and field.name not in record
        if is_missing and request.invent is not None and request.turn is not None:
            record[field.name] = request.invent(request.turn, entity.name, field.name, field.schema, record)


def thread(request: MessagesRequest) -> Outcome:
    """List the message with an id and all messages of its thread. Raises `Refused` if there are none."""
    asked = request.required("message")
    rows: list[Json] = [*_thread(request, request.get("message"))]
    if not rows:
        raise Refused("not_found", f"Thread {asked} not found", key=asked, entity=request.entity)
    return Outcome(as_text(rows), {"messages": rows, "count": len(rows)}, "messages", is_json=True)


def _thread(request: MessagesRequest, asked: Json) -> Iterator[Record]:
    start = request.record(asked) if isinstance(asked, str | int) else None
    ids = {asked, *(start[name] for name in THREADS if start is not None and start.get(name))}
    for key, row in request.view.rows(request.entity):
        if key in ids or any(row.get(name) in ids for name in THREADS if row.get(name) is not None):
            yield row


def mark(request: MessagesRequest) -> Outcome:
    """Mark a message as read, or as unread if `read` is false. Raises `Refused` if it does not exist."""
    record, entity = request.addressed(), request.entity_of(request.entity)
    is_read = request.get("read") is not False
    name = first_name({**entity.fields, **record}, FLAGS) or "is_read"
    flag = is_read == FLAGS[name]
    is_text = name in entity.fields and main_type(entity.fields[name].schema) == "string"
    changed = {**record, name: str(flag).lower() if is_text else flag}
    request.put(record[entity.key], changed)
    words = f"{request.entity.capitalize()} {record[entity.key]} marked as {'read' if is_read else 'unread'}"
    return done(words, **changed)
