"""Tools that pass messages between people: sent to somebody, and read back by conversation instead of by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.claiming.computed import plan_of
from mcp_sim.claiming.directories import DIRECTORY, MAPS, Directory, directory_in, directory_tools, of_directory
from mcp_sim.claiming.scopes import Scope, kinship, scopes, without
from mcp_sim.claiming.tellings import plain, telling
from mcp_sim.claiming.traits import Traits, traits_of
from mcp_sim.clock import iso
from mcp_sim.domain import Domain, Entity, Field, Plan
from mcp_sim.extensions import Answer, Behaviour, Claims, Invent, Survey, behaviours
from mcp_sim.records.keys import keys_of, next_key
from mcp_sim.schemas import as_list, as_object, main_type, properties
from mcp_sim.types import Change, Json, Key, Record, Tool, Transition, Turn
from mcp_sim.words import snake, vocabulary

ENTITY = "message"
_NOUNS = vocabulary("message messages dm dms sms inbox outbox conversation chat")
_RECEIVERS = vocabulary("receiver receiver_id recipient recipient_id to to_user to_user_id to_id target_user user_id")
_TEXTS = vocabulary("message text content body message_text message_content")
_QUERIES = vocabulary("keyword query text search term search_term q keywords")
_MINE = ("get", "view", "list", "read", "show", "fetch", "check", "inbox", "history", "conversation")
_VIEWED = _NOUNS | {*_MINE} | vocabulary("sent received all my with from user unread incoming historical recent new")
_UNKNOWN: Record = {}
_BOXES = vocabulary("inbox messages sent outbox message_history sent_messages")
_COUNTERS = vocabulary("message_count messages_count message_counter")
_SENT = vocabulary("sent outbox")
_RECEIVED = vocabulary("inbox received unread incoming")


@dataclass(frozen=True, slots=True)
class _Found:
    traits: Traits
    operation: str
    arguments: Mapping[str, str]


@behaviours.register("messages")
class Messages(Behaviour):
    """Send to a user, view what was sent or received, search, delete the latest, count; and the users by name.

    Claimed where messages have no ids that a tool takes: servers whose messages are got and listed one by one have
    records. The sender is who is logged in; a receiver whom the directory does not know is refused.
    """

    def claims(self, survey: Survey) -> Claims | None:
        listed = traits_of(survey.tools)
        found = [one for traits in listed if (one := _recognised(traits)) is not None]
        done = {one.operation for one in found}
        if "send" not in done or not done & {"view", "search", "unsend"} or _has_records(listed):
            return None
        return _claimed(survey, listed, found)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        return _COMPILED[plan.operation](tool, plan, domain)


# recognition ----------------------------------------------------------------------------------------------------------


def _recognised(traits: Traits) -> _Found | None:
    named = set(traits.words)
    if not named & _NOUNS:
        return None
    receiver, text = traits.argument(_RECEIVERS, ("string", "integer")), traits.argument(_TEXTS, ("string",))
    if "send" in named and receiver is not None and text is not None and traits.required <= {receiver, text}:
        return _Found(traits, "send", {"receiver": receiver, "text": text})
    if named & {"delete", "unsend"} and receiver is not None and traits.required <= {receiver}:
        return _Found(traits, "unsend", {"receiver": receiver})
    query = traits.argument(_QUERIES, ("string",))
    if named & {"search", "find"} and query is not None and traits.required <= {query}:
        return _Found(traits, "search", {"query": query})
    if named & {"stats", "statistics", "count"} and not traits.required:
        return _Found(traits, "count", {})
    if named.intersection(_MINE) and named <= _VIEWED and traits.required <= {receiver}:
        return _Found(traits, "view", {"receiver": receiver} if receiver is not None else {})
    return None


def _has_records(listed: Sequence[Traits]) -> bool:
    """Does any tool take the id of a message, or name a channel to post to? Then messages are records."""
    names = {snake(name) for traits in listed for name in traits.arguments if set(traits.words) & _NOUNS}
    return bool(
        names & {"message_id", "id", "ids", "message_ids", "channel", "channel_id", "thread_id", "chat_id", "chat_jid"}
    )


def _claimed(survey: Survey, listed: Sequence[Traits], found: Sequence[_Found]) -> Claims:
    sender = next(one.traits for one in found if one.operation == "send")
    home = _home(survey.state, sender)
    body = home.body if home is not None else {}
    inward = any(set(one.traits.words) & _RECEIVED for one in found)
    boxes = [name for name, value in body.items() if snake(name) in _BOXES and isinstance(value, list)]
    key_schema = _key_schema(sender)
    me = next((body[name] for name in ("current_user", "current_user_id") if name in body), None)
    rows = [*_given(body, boxes, me, inward=inward)]
    numbered = [{"id": _key(key_schema, at), **row} for at, row in enumerate(rows, 1)]
    known = directory_in(body, listed)
    plans = [_plan(one, known) for one in found]
    entities = [_entity(key_schema)]
    records: dict[str, Sequence[Record]] = {ENTITY: numbered}
    taken = {*boxes, *(name for name in body if snake(name) in _COUNTERS)}
    if known is not None:
        plans += directory_tools(known, listed, "messages")
        entities.append(known.entity)
        records[DIRECTORY] = known.rows
        taken |= known.taken
    state = without(survey.state, home.path, taken) if home is not None else survey.state
    return Claims(plans, entities, records, state)


def _home(state: Json, sender: Traits) -> Scope | None:
    """The object of the given state that holds messages or users; of several the one that the tools name."""
    places = [scope for scope in scopes(state) if any(snake(name) in _BOXES | MAPS for name in scope.body)]
    return max(places, key=lambda scope: kinship(sender, scope), default=None)


def _key_schema(sender: Traits) -> Record:
    shown = next(
        (part for name, part in properties(sender.output).items() if snake(name) in {"message_id", "id"}), _UNKNOWN
    )
    return {"type": main_type(shown) if main_type(shown) in {"integer", "string"} else "integer"}


def _key(schema: Record, at: int) -> Key:
    return at if schema["type"] == "integer" else f"msg_{at:04d}"


def _entity(key_schema: Record) -> Entity:
    anything: Record = {}
    text: Record = {"type": ["string", "null"]}
    fields = (
        Field("id", key_schema, required=True),
        Field("sender", text),
        Field("receiver", {"type": ["string", "integer"]}, required=True),
        Field("text", anything, required=True),
        Field("sent_at", text),
    )
    return Entity(ENTITY, "id", _key(key_schema, 1), {field.name: field for field in fields})


def _given(body: Record, boxes: Sequence[str], me: Json, *, inward: bool) -> Iterator[Record]:
    """The messages that a state holds, as `{user: text}` or as records; who is named is the sender of what came in."""
    for item in (as_object(item) for name in boxes for item in as_list(body[name])):
        known = {snake(name): value for name, value in item.items()}
        to = next((known[name] for name in sorted(_RECEIVERS) if name in known), None)
        text = next((known[name] for name in ("message", "text", "content", "body") if name in known), None)
        if to is not None and text is not None:
            yield {"sender": known.get("sender", known.get("sender_id", me)), "receiver": to, "text": text}
            continue
        for other, told in item.items():
            yield {"sender": other if inward else me, "receiver": me if inward else other, "text": told}


def _plan(one: _Found, known: Directory | None) -> Plan:
    verb = {"send": "create", "unsend": "delete", "search": "search", "view": "list", "count": "get"}[one.operation]
    reasons = (
        f"messages go to {'somebody' if not one.arguments else next(iter(one.arguments.values()))}, without ids",
    )
    made = plan_of(one.traits, one.operation, "messages", one.arguments, 0.85, reasons, verb=verb, entity=ENTITY)
    inward = bool(set(one.traits.words) & _RECEIVED)
    return replace(made, fixed={"inward": inward, "directory": known is not None})


# answers --------------------------------------------------------------------------------------------------------------


def _current(domain: Domain) -> Callable[[Turn], tuple[bool, Json]]:
    """Whether somebody must be logged in, and who is."""
    singletons = [entity.name for entity in domain.entities.values() if entity.singleton and "session" in entity.name]
    name = next((one for one in singletons if one.startswith("message")), singletons[0] if len(singletons) == 1 else "")

    def current(turn: Turn) -> tuple[bool, Json]:
        record = turn.view.get(name, name) if name else None
        if record is None:
            return False, None
        return True, next((record[field] for field in ("current_user", "current_user_id") if field in record), None)

    return current


def _guarded(answer: Callable[[Turn, Json], Transition], tool: Tool, domain: Domain) -> Answer:
    current = _current(domain)

    def guarded(turn: Turn, _invent: Invent) -> Transition:
        needed, me = current(turn)
        if needed and me is None:
            return Transition(tool.failure("unauthorized", "No user is currently logged in.", **turn.call.arguments))
        return answer(turn, me)

    return guarded


def _send(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("sent_status", "success"))
    entity, arguments = domain.entities[ENTITY], plan.arguments
    keys = keys_of(entity)

    def answer(turn: Turn, me: Json) -> Transition:
        called = turn.call.arguments
        receiver = called[arguments["receiver"]]
        if plan.fixed.get("directory") and turn.view.count(DIRECTORY) and turn.view.get(DIRECTORY, receiver) is None:
            return Transition(tool.failure("not_found", f"Receiver ID '{receiver}' not found.", key=receiver, **called))
        key = next_key(entity, keys, turn.view, turn.draws)
        record: Record = {"id": key, "sender": me, "receiver": receiver, "text": called[arguments["text"]]}
        record["sent_at"] = iso(turn.now)
        change = Change("put", ENTITY, key, record, expected=turn.view.version(ENTITY, key))
        facts = {
            "message": f"Message sent to '{receiver}' successfully.",
            "message_id": key,
            "id": key,
            **_plain(record),
        }
        return Transition(tell(turn, True, facts), (change,))

    return _guarded(answer, tool, domain)


def _plain(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in {"id", "text"}}


def _mine(turn: Turn, me: Json, *, inward: bool) -> list[tuple[Key, Record]]:
    """What the current user sent, or got; everything where nobody is."""
    field = "receiver" if inward else "sender"
    return [(key, row) for key, row in turn.view.rows(ENTITY) if me is None or row.get(field) in {me, None}]


def _view(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("messages", "results"))
    grouped = any(main_type(part) == "object" for part in properties(tool.output_schema or {}).values())
    inward, argument = bool(plan.fixed.get("inward")), plan.arguments.get("receiver")

    def answer(turn: Turn, me: Json) -> Transition:
        other = turn.call.arguments.get(argument) if argument is not None else None
        rows = [
            row
            for _, row in _mine(turn, me, inward=inward)
            if other is None or other in {row.get("receiver"), row.get("sender")}
        ]
        if not grouped:
            return Transition(tell(turn, [_shown(row) for row in rows], {}))
        groups: dict[str, list[Json]] = {}
        for row in rows:
            groups.setdefault(str(row["sender" if inward else "receiver"]), []).append(row["text"])
        return Transition(tell(turn, {"messages": groups}, {}))

    return _guarded(answer, tool, domain)


def _shown(row: Record) -> Record:
    return {
        **row,
        "message": row["text"],
        "content": row["text"],
        "receiver_id": row["receiver"],
        "sender_id": row["sender"],
    }


def _search(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("results", "messages", "matches"))

    def answer(turn: Turn, me: Json) -> Transition:
        wanted = str(turn.call.arguments[plan.arguments["query"]]).lower()
        rows = [row for _, row in _mine(turn, me, inward=False) if wanted in plain(row["text"]).lower()]
        return Transition(tell(turn, [{"receiver_id": row["receiver"], "message": row["text"]} for row in rows], {}))

    return _guarded(answer, tool, domain)


def _unsend(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("deleted_status", "success"))

    def answer(turn: Turn, me: Json) -> Transition:
        receiver = turn.call.arguments[plan.arguments["receiver"]]
        sent = [key for key, row in _mine(turn, me, inward=False) if row["receiver"] == receiver]
        if not sent:
            sentence = f"No messages found for receiver ID '{receiver}'."
            return Transition(tool.failure("not_found", sentence, key=receiver, **turn.call.arguments))
        change = Change("remove", ENTITY, sent[-1], expected=turn.view.version(ENTITY, sent[-1]))
        facts = {"message": f"Receiver {receiver}'s latest message deleted successfully.", "message_id": sent[-1]}
        return Transition(tell(turn, True, facts), (change,))

    return _guarded(answer, tool, domain)


def _count(tool: Tool, _plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain, ("stats", "count"))

    def answer(turn: Turn, me: Json) -> Transition:
        sent = [row for _, row in _mine(turn, me, inward=False)]
        got = [row for _, row in _mine(turn, me, inward=True)] if me is not None else []
        contacts = len({plain(row["receiver"]) for row in sent})
        stats = {
            "sent_count": len(sent),
            "received_count": len(got),
            "total_contacts": contacts,
            "total_messages": len(sent) + len(got),
        }
        return Transition(tell(turn, {"stats": stats}, stats))

    return _guarded(answer, tool, domain)


_COMPILED: Mapping[str, Callable[[Tool, Plan, Domain], Answer]] = {
    "send": _send,
    "view": _view,
    "search": _search,
    "unsend": _unsend,
    "count": _count,
    **dict.fromkeys(("user_id", "users", "add_user"), of_directory),
}
