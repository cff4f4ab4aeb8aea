"""Match tools that pass messages between people without message ids, and read a given state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.scopes import Scope, matching_words, scopes, without
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.messages.directory import DIRECTORY, MAPS, Directory, directory_in, directory_plans
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, main_type, properties
from mcp_sim.types.kinds import Match, ServerEvidence
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan, Verb

ENTITY = "message"
_NOUNS = vocabulary("message messages dm dms sms inbox outbox conversation chat")
_RECEIVERS = vocabulary("receiver receiver_id recipient recipient_id to to_user to_user_id to_id target_user user_id "
                        "sender sender_id from_user contact contact_id username")  # fmt: skip
_TEXTS = vocabulary("message text content body message_text message_content")
_QUERIES = vocabulary("keyword query text search term search_term q keywords")
_MINE = ("get", "view", "list", "read", "show", "fetch", "check", "inbox", "history", "conversation")
_VIEWED = _NOUNS | {*_MINE} | vocabulary("sent received all my with from user unread incoming historical recent new")
_BOXES = vocabulary("inbox messages sent outbox message_history sent_messages")
_COUNTERS = vocabulary("message_count messages_count message_counter")
_SENDS = vocabulary("send reply respond answer")
_RECEIVED = vocabulary("inbox received unread incoming")
_TALKS = vocabulary("conversation chat history thread with")
_OF_RECORDS = vocabulary("message_id id ids message_ids channel channel_id thread_id chat_id chat_jid conversation_id")
_UNKNOWN: Record = {}
_VERBS: Mapping[str, Verb] = {
    "send": "create", "unsend": "delete", "search": "search", "view": "list", "count": "get", "mark": "update",
}  # fmt: skip
_NEEDS = {"send": {"receiver", "text"}, "unsend": {"receiver"}, "search": {"query"}}


@dataclass(frozen=True, slots=True)
class MatchedTool:
    """A tool of messages: its operation, and its arguments by role."""

    profile: ToolProfile
    operation: str
    arguments: Mapping[str, str]


def recognised(listed: Sequence[ToolProfile]) -> list[MatchedTool]:
    """Return the tools that send and show messages, or none if messages have ids and are records."""
    found = [one for profile in listed if (one := _recognised(profile)) is not None]
    done = {one.operation for one in found}
    if "send" not in done or not done & {"view", "search", "unsend"} or _has_records(listed):
        return []
    return found


def _recognised(profile: ToolProfile) -> MatchedTool | None:
    named = set(profile.words)
    if not named & _NOUNS:
        return None
    operation = _operation(profile, named)
    roles = {"receiver": profile.argument(_RECEIVERS, ("string", "integer"))}
    if operation == "send":
        roles["text"] = profile.argument(_TEXTS, ("string",))
    if operation == "search":
        roles["query"] = profile.argument(_QUERIES, ("string",))
    given = {role: name for role, name in roles.items() if name is not None}
    if operation is None or profile.needed - set(given.values()) or _NEEDS.get(operation, set[str]()) - given.keys():
        return None
    return MatchedTool(profile, operation, given)


def _operation(profile: ToolProfile, named: set[str]) -> str | None:
    if named & _SENDS:
        return "send"
    if named & {"delete", "unsend"}:
        return "unsend"
    if "mark" in named and "read" in named:
        return "mark"
    if named & {"search", "find"}:
        return "search"
    if named & {"stats", "statistics", "count"} and not profile.needed:
        return "count"
    return "view" if named.intersection(_MINE) and named <= _VIEWED else None


def _has_records(listed: Sequence[ToolProfile]) -> bool:
    """Whether any tool takes the id of a message, or a channel to post to."""
    names = {snake(name) for one in listed for name in one.arguments if set(one.words) & _NOUNS}
    return bool(names & _OF_RECORDS)


def matched(evidence: ServerEvidence, listed: Sequence[ToolProfile], found: Sequence[MatchedTool]) -> Match:
    """Return the plans of the tools, and the messages and users of the given state."""
    sender = next(one.profile for one in found if one.operation == "send")
    home = _home(evidence.state, sender)
    body = home.body if home is not None else {}
    boxes = [name for name, value in body.items() if snake(name) in _BOXES and isinstance(value, list)]
    key_schema = _key_schema(sender)
    rows = _given(body, boxes, inward=any(_is_inward(one.profile) for one in found))
    numbered = [{"id": _key(key_schema, at), **row} for at, row in enumerate(rows, 1)]
    known = directory_in(body, listed)
    plans = [_plan(one, known) for one in found]
    entities = [_entity(key_schema)]
    records: dict[str, Sequence[Record]] = {ENTITY: numbered}
    taken = {*boxes, *(name for name in body if snake(name) in _COUNTERS)}
    if known is not None:
        plans += directory_plans(known, listed, "messages")
        entities.append(known.entity)
        records[DIRECTORY] = known.rows
        taken |= known.taken
    state = without(evidence.state, home.path, taken) if home is not None else evidence.state
    return Match(plans, entities, records, state)


def _is_inward(profile: ToolProfile) -> bool:
    """Whether the tool is about received messages."""
    return bool(set(profile.words) & _RECEIVED)


def _plan(one: MatchedTool, known: Directory | None) -> Plan:
    reasons = (f"messages go to {one.arguments.get('receiver', 'somebody')}, without ids",)
    verb = _VERBS[one.operation]
    made = operation_plan(
        one.profile, one.operation, "messages", one.arguments, 0.85, reasons, verb=verb, entity=ENTITY
    )
    named = set(one.profile.words)
    fixed: Record = {"directory": known is not None, "inward": _is_inward(one.profile)}
    return replace(made, fixed={**fixed, "both": bool(named & _TALKS), "unread": bool(named & {"unread", "new"})})


def _home(state: Json, sender: ToolProfile) -> Scope | None:
    """Return the object of the given state with messages or users. If there are several, the one that tools name."""
    places = [scope for scope in scopes(state) if any(snake(name) in _BOXES | MAPS for name in scope.body)]
    return max(places, key=lambda scope: matching_words(sender, scope), default=None)


def _key_schema(sender: ToolProfile) -> Record:
    named = (part for name, part in properties(sender.output).items() if snake(name) in {"message_id", "id"})
    kind = main_type(next(named, _UNKNOWN))
    return {"type": kind if kind in {"integer", "string"} else "integer"}


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
        Field("read", {"type": ["boolean", "null"]}),
    )
    return Entity(ENTITY, "id", _key(key_schema, 1), {field.name: field for field in fields})


def _given(body: Record, boxes: Sequence[str], *, inward: bool) -> Iterator[Record]:
    """Yield the messages of a given state, from `{user: text}` or records. The user is the sender of received ones."""
    me = next((body[name] for name in ("current_user", "current_user_id") if name in body), None)
    for item in (as_object(item) for name in boxes for item in as_list(body[name])):
        known = {snake(name): value for name, value in item.items()}
        to = next((known[name] for name in ("receiver", "receiver_id", "recipient", "to") if name in known), None)
        text = next((known[name] for name in ("message", "text", "content", "body") if name in known), None)
        if to is not None and text is not None:
            yield {"sender": known.get("sender", known.get("sender_id", me)), "receiver": to, "text": text}
            continue
        for other, content in item.items():
            yield {"sender": other if inward else me, "receiver": me if inward else other, "text": content}
