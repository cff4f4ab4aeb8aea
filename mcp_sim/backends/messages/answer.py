"""Answer calls of tools that send and show messages, and look up users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from mcp_sim.backends.messages.directory import DIRECTORY
from mcp_sim.backends.messages.matching import ENTITY
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, as_text, compile_answer, done
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.types import Change, Json, Key, Record, Tool, Turn
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NAMES: Names = {
    "messages": ("results", "matches", "inbox", "conversation", "history"),
    "users": ("user_list", "contacts", "members", "results"),
    "text": ("message", "content", "body"),
    "receiver": ("receiver_id", "recipient", "recipient_id", "to"),
    "sender": ("sender_id", "from", "from_user"),
    "sent_at": ("timestamp", "time", "date", "created_at"),
    "id": ("message_id", "user_id"),
    "stats": ("statistics", "count"),
}


@dataclass(frozen=True, slots=True)
class Mail:
    """The messages as one call sees them. `me` is the user who is logged in, None if no login is needed."""

    turn: Turn
    plan: Plan
    me: Json

    def get(self, role: str) -> Json:
        return self.turn.call.arguments.get(self.plan.arguments.get(role, ""))

    def mine(self, *, inward: bool) -> list[tuple[Key, Record]]:
        """Return what the current user sent or received, or everything without a login."""
        field, rows = "receiver" if inward else "sender", self.turn.view.rows(ENTITY)
        return [(key, row) for key, row in rows if self.me is None or row.get(field) in {self.me, None}]

    def seen(self) -> list[tuple[Key, Record]]:
        """Return the messages that the tool shows: sent, received or both, with one user if the call names one."""
        inward, other = bool(self.plan.fixed.get("inward")), self.get("receiver")
        rows = self.mine(inward=inward)
        if self.plan.fixed.get("both") and self.me is not None:
            rows = sorted({**dict(rows), **dict(self.mine(inward=not inward))}.items(), key=lambda row: row[1]["id"])
        if other is not None:
            rows = [(key, row) for key, row in rows if other in {row.get("receiver"), row.get("sender")}]
        return [one for one in rows if one[1].get("read") is not True] if self.plan.fixed.get("unread") else rows

    def put(self, record: Record) -> Change:
        key = record["id"]
        return Change("put", ENTITY, key, record, expected=self.turn.view.version(ENTITY, key))


def sending(_tool: Tool, plan: Plan, domain: Domain) -> Callable[[Mail], Outcome]:
    """Compile a tool that sends a message. The receiver must be in the directory, if there is one."""
    entity = domain.entities[ENTITY]
    keys = key_maker(entity)

    def send(mail: Mail) -> Outcome:
        turn, receiver = mail.turn, mail.get("receiver")
        if plan.fixed.get("directory") and turn.view.count(DIRECTORY) and turn.view.get(DIRECTORY, receiver) is None:
            raise Refused("not_found", f"Receiver ID '{receiver}' not found.", key=receiver)
        key = next_key(entity, keys, turn.view, turn.draws)
        record: Record = {"id": key, "sender": mail.me, "receiver": receiver, "text": mail.get("text")}
        record["sent_at"] = iso(turn.now)
        shown = {name: value for name, value in record.items() if name != "text"}
        return done(f"Message sent to '{receiver}' successfully.", mail.put(record), **shown)

    return send


def viewing(tool: Tool, _plan: Plan, _domain: Domain) -> Callable[[Mail], Outcome]:
    """Compile a tool that lists messages, or maps users to texts if the result is an object."""
    grouped = any(main_type(part) == "object" for part in properties(tool.output_schema or {}).values())

    def view(mail: Mail) -> Outcome:
        rows = [row for _, row in mail.seen()]
        if not grouped:
            return Outcome(as_text(rows), {"messages": rows, "count": len(rows)}, "messages", is_json=True)
        groups: dict[str, list[Json]] = {}
        for row in rows:
            groups.setdefault(str(row["sender" if mail.plan.fixed.get("inward") else "receiver"]), []).append(
                row["text"]
            )
        return Outcome(as_text(groups), {"messages": groups}, "messages", is_json=True)

    return view


def _search(mail: Mail) -> Outcome:
    wanted = str(mail.get("query")).lower()
    rows = [row for _, row in mail.mine(inward=False) if wanted in as_text(row["text"]).lower()]
    shown = [{"receiver_id": row["receiver"], "message": row["text"]} for row in rows]
    return Outcome(as_text(shown), {"messages": shown, "count": len(shown)}, "messages", is_json=True)


def _unsend(mail: Mail) -> Outcome:
    receiver = mail.get("receiver")
    sent = [key for key, row in mail.mine(inward=False) if row["receiver"] == receiver]
    if not sent:
        raise Refused("not_found", f"No messages found for receiver ID '{receiver}'.", key=receiver)
    change = Change("remove", ENTITY, sent[-1], expected=mail.turn.view.version(ENTITY, sent[-1]))
    return done(f"Receiver {receiver}'s latest message deleted successfully.", change, id=sent[-1])


def _mark(mail: Mail) -> Outcome:
    """Mark received messages as read: all, or those of one sender."""
    other = mail.get("receiver")
    came = [row for _, row in mail.mine(inward=True) if other is None or row.get("sender") == other]
    unread = [row for row in came if row.get("read") is not True]
    changes = (mail.put({**row, "read": True}) for row in unread)
    return done(f"{len(unread)} messages marked as read", *changes, count=len(unread))


def _count(mail: Mail) -> Outcome:
    sent = [row for _, row in mail.mine(inward=False)]
    got = [row for _, row in mail.mine(inward=True)] if mail.me is not None else []
    stats: Record = {
        "sent_count": len(sent),
        "received_count": len(got),
        "total_contacts": len({as_text(row["receiver"]) for row in sent}),
        "total_messages": len(sent) + len(got),
    }
    return Outcome(as_text(stats), {"stats": stats, **stats}, "stats", is_json=True)


# users ----------------------------------------------------------------------------------------------------------------


def _user_id(mail: Mail) -> Outcome:
    name = mail.get("name")
    found = next((key for key, row in mail.turn.view.rows(DIRECTORY) if row["name"] == name), None)
    if found is None:
        raise Refused("not_found", f"User '{name}' not found in the workspace.", key=name)
    return Outcome(as_text(found), {"id": found}, "id")


def listing(tool: Tool, _plan: Plan, _domain: Domain) -> Callable[[Mail], Outcome]:
    """Compile a tool that lists the users, or their names if the result has names."""
    arrays = [part for part in properties(tool.output_schema or {}).values() if main_type(part) == "array"]
    by_name = any(main_type(items(part)) in {"string", ""} for part in arrays)

    def users(mail: Mail) -> Outcome:
        rows = [row["name"] if by_name else row for _, row in mail.turn.view.rows(DIRECTORY)]
        return Outcome(as_text(rows), {"users": rows, "count": len(rows)}, "users", is_json=True)

    return users


def adding(_tool: Tool, _plan: Plan, domain: Domain) -> Callable[[Mail], Outcome]:
    """Compile a tool that adds a user under a name that is free."""
    entity = domain.entities[DIRECTORY]
    keys = key_maker(entity)

    def add(mail: Mail) -> Outcome:
        name, view = mail.get("name"), mail.turn.view
        if view.find(DIRECTORY, "name", name):
            raise Refused("conflict", f"User name '{name}' already exists.", key=name)
        key = next_key(entity, keys, view, mail.turn.draws)
        change = Change("put", DIRECTORY, key, {"id": key, "name": name}, expected=view.version(DIRECTORY, key))
        return done(f"Contact '{name}' added successfully.", change, id=key, name=name)

    return add


Work: TypeAlias = Callable[[Mail], Outcome]
_COMPILED: Mapping[str, Callable[[Tool, Plan, Domain], Work]] = {
    "send": sending, "view": viewing, "users": listing, "add_user": adding,
}  # fmt: skip
_PLAIN: Mapping[str, Work] = {
    "search": _search, "unsend": _unsend, "mark": _mark, "count": _count, "user_id": _user_id,
}  # fmt: skip


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Compile the answer of a tool for the user who is logged in."""
    current, compiled = _current(domain), _COMPILED.get(plan.operation)
    work = compiled(tool, plan, domain) if compiled is not None else _PLAIN[plan.operation]
    is_private = plan.entity == ENTITY

    def operate(turn: Turn) -> Outcome:
        needed, me = current(turn)
        if is_private and needed and me is None:
            raise Refused("unauthorized", "No user is currently logged in.")
        return work(Mail(turn, plan, me))

    return compile_answer(tool, domain, operate, _NAMES)


def _current(domain: Domain) -> Callable[[Turn], tuple[bool, Json]]:
    """Return a function that finds whether a login is needed, and who is logged in."""
    singletons = [entity.name for entity in domain.entities.values() if entity.singleton and "session" in entity.name]
    name = next((one for one in singletons if one.startswith("message")), singletons[0] if len(singletons) == 1 else "")

    def current(turn: Turn) -> tuple[bool, Json]:
        record = turn.view.get(name, name) if name else None
        if record is None:
            return False, None
        return True, next((record[field] for field in ("current_user", "current_user_id") if field in record), None)

    return current
