"""Answer calls that reply to a message record, show its thread, or mark it as read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from mcp_sim.backends.messages.replies import TEXTS, THREADS
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, as_text, compile_inventing_answer, done
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.types import Change, Json, Key, Record, Tool, Turn
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.plans import Plan

_Work: TypeAlias = Callable[[Turn, Invent], Outcome]

_SENDERS = ("sender", "from", "sender_id", "from_id", "from_email", "author", "author_id", "from_address")
_RECEIVERS = ("to", "receiver", "recipient", "recipients", "receiver_id", "recipient_id", "to_email", "to_address")
_TIMES = ("sent_at", "created_at", "timestamp", "date", "received_at", "sent", "created")
_FLAGS: Mapping[str, bool] = {"is_read": True, "read": True, "seen": True, "unread": False, "is_unread": False}
_NAMES: Names = {"messages": ("replies", "emails", "thread", "results", "comments", "posts", "items")}


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Compile the answer of a tool on message records."""
    noun = plan.entity or ""
    entity = domain.entities.get(noun, Entity(noun, "id", None, {}))
    return compile_inventing_answer(tool, domain, _WORKS[plan.operation](plan, entity), _NAMES)


def _replying(plan: Plan, entity: Entity) -> _Work:
    keys, text_field = key_maker(entity), _first(entity.fields, TEXTS) or plan.arguments["text"]

    def reply(turn: Turn, invent: Invent) -> Outcome:
        original = _found(turn, plan, entity)
        key = next_key(entity, keys, turn.view, turn.draws)
        values: Record = {entity.key: key, text_field: _asked(turn, plan, "text")}
        record = _answering(original, entity, values, turn)
        for field in entity.fields.values():
            if field.required and field.derived is None and field.name not in record:
                record[field.name] = invent(turn, entity.name, field.name, field.schema, record)
        change = Change("put", entity.name, key, record, expected=turn.view.version(entity.name, key))
        return done(f"Reply to {original[entity.key]} sent", change, **{**record, "id": key})

    return reply


def _answering(original: Record, entity: Entity, values: Record, turn: Turn) -> Record:
    """Return the reply: to the sender, in the same thread, with the same subject and links."""
    sender, receiver = _first(original, _SENDERS), _first(original, _RECEIVERS)
    record = {name: original[name] for name, field in entity.fields.items() if field.link and name in original}
    if sender is not None and receiver is not None:
        as_list = isinstance(original[receiver], list)
        record |= {receiver: [original[sender]] if as_list else original[sender]}
        record |= {sender: next(iter(original[receiver]), None) if as_list else original[receiver]}
    thread = _first({**original, **entity.fields}, THREADS) or "in_reply_to"
    record[thread] = original.get(thread) or original[entity.key]
    subject = _first(original, ("subject", "title"))
    if subject is not None:
        record[subject] = f"Re: {str(original[subject]).removeprefix('Re: ')}"
    moment = _first(entity.fields, _TIMES)
    return {**record, **({moment: iso(turn.now.replace(microsecond=0))} if moment is not None else {}), **values}


def _showing(plan: Plan, entity: Entity) -> _Work:
    def thread(turn: Turn, _invent: Invent) -> Outcome:
        asked: Json = _asked(turn, plan, "message")
        rows = list(_thread(turn, entity, asked))
        if not rows:
            raise Refused("not_found", f"Thread {asked} not found", key=asked, entity=entity.name)
        return Outcome(as_text(rows), {"messages": rows, "count": len(rows)}, "messages", is_json=True)

    return thread


def _thread(turn: Turn, entity: Entity, asked: Json) -> Iterator[Record]:
    """Yield the message with this id and all messages of its thread, in order."""
    start = turn.view.get(entity.name, asked) if isinstance(asked, str | int) else None
    ids = {asked, *(start[name] for name in THREADS if start is not None and start.get(name))}
    for key, row in turn.view.rows(entity.name):
        if key in ids or any(row.get(name) in ids for name in THREADS if row.get(name) is not None):
            yield row


def _marking(plan: Plan, entity: Entity) -> _Work:
    read = bool(plan.fixed.get("read", True))

    def mark(turn: Turn, _invent: Invent) -> Outcome:
        record = _found(turn, plan, entity)
        name = _first({**entity.fields, **record}, tuple(_FLAGS)) or "is_read"
        is_text = main_type(entity.fields[name].schema) == "string" if name in entity.fields else False
        flag = read == _FLAGS[name]
        key: Key = record[entity.key]
        changed = {**record, name: str(flag).lower() if is_text else flag}
        change = Change("put", entity.name, key, changed, expected=turn.view.version(entity.name, key))
        return done(f"{entity.name.capitalize()} {key} marked as {'read' if read else 'unread'}", change, **changed)

    return mark


_WORKS: Mapping[str, Callable[[Plan, Entity], _Work]] = {"reply": _replying, "thread": _showing, "mark": _marking}


def _asked(turn: Turn, plan: Plan, role: str) -> Json:
    """Return the argument of a role. Raises Refused if it is missing, even if no schema requires it."""
    name = plan.arguments[role]
    if turn.call.arguments.get(name) is None:
        raise Refused("invalid", f"{name} is required", argument=name)
    return turn.call.arguments[name]


def _found(turn: Turn, plan: Plan, entity: Entity) -> Record:
    asked: Json = _asked(turn, plan, "message")
    found = turn.view.get(entity.name, asked) if isinstance(asked, str | int) else None
    if found is None:
        label = entity.name.rpartition(".")[2].replace("_", " ").capitalize()
        raise Refused("not_found", f"{label} {asked} not found", key=asked, entity=entity.name)
    return found


def _first(named: Mapping[str, object], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in named), None)
