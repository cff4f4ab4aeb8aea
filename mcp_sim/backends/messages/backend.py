"""Tools that pass messages between users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

from mcp_sim.backends.given import Given
from mcp_sim.backends.matching.matched_tools import MatchedTool, both, match_tool, named
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.messages.entities import DIRECTORY, message_entity, user_entity
from mcp_sim.backends.operation import Names, Operation, Test, pick, read_names
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.request import Binding
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.kinds import Match, ServerEvidence, backends
from mcp_sim.types.lexicon.english import singular, snake, vocabulary
from mcp_sim.types.plans import Verb

_WORDS = read_names(__name__)
_ROLES, _NAMES = _WORDS.roles, _WORDS.facts
_BOX = "message|dm|sms|inbox|outbox|conversation|chat"
_SHOWN = "get|view|list|read|show|fetch|check|inbox|history|conversation"
_PERSON = "user|contact|member"
_OF_RECORDS = _WORDS.terms("of_records")
_NOUNS = _WORDS.terms("noun")
_MAKES = _WORDS.terms("verb")
_IMPLIED = {
    "inward": vocabulary("inbox received unread incoming"),
    "both": vocabulary("conversation chat history thread with"),
    "unread": vocabulary("unread new"),
    "draft": vocabulary("draft drafts"),
}
"""What a list of messages shows -> the words that imply it."""


def _lists_people(profile: ToolProfile) -> bool:
    return len(profile.words) <= 3 and not {"users", "contacts", "members"}.isdisjoint(profile.words)


def _operation(name: str, verb: Verb, takes: str, means: Test, entity: str = "") -> Operation:
    return Operation(name, f"operations:{name}", verb, pick(takes, _ROLES), means, entity)


_BOXES = (
    _operation("send", "create", "receiver text draft?", named(f"{_BOX} send|reply|respond|answer")),
    _operation("unsend", "delete", "receiver", named(f"{_BOX} delete|unsend")),
    _operation("mark_all", "update", "receiver?", named(f"{_BOX} mark read")),
    _operation("search", "search", "query", named(f"{_BOX} search|find")),
    _operation("count", "get", "", named(f"{_BOX} stat|statistic|count")),
    _operation("list_messages", "list", "receiver? inward? both? unread? draft?",
               named(f"{_BOX} {_SHOWN}", _WORDS.line("shown_with"))),
    _operation("find_user", "get", "name",
               named("user id", _WORDS.line("looks_up")), DIRECTORY),
    _operation("add_user", "create", "name", named(f"{_PERSON} add|invite"), DIRECTORY),
    _operation("list_users", "list", "", both(named(f"{_PERSON} list|get|show"), _lists_people), DIRECTORY),
)  # fmt: skip
"""On messages without ids, and on users."""
_REPLIES = (
    _operation("reply", "create", "message text draft?", named("reply|respond|answer")),
    _operation("thread", "list", "message", named("thread|reply get|list|read|view|show|fetch")),
    _operation("mark", "update", "message read?", named("mark read|unread")),
)
"""On one message with an id, which is a record."""


@backends.register("messages")
class Messages(OperationsBackend):
    """Sends, lists, searches, counts, marks and deletes messages between users, and looks up users.

    Servers whose tools take message ids have records; of those, only replies, threads and read marks are handled here.
    The sender is the user who is logged in. A receiver who is not in the directory is refused.
    """

    order = 70
    operations = (*_BOXES, *_REPLIES)
    entities = (message_entity({"type": "integer"}), user_entity("USR001"))
    request = "operations:MessagesRequest"
    names: ClassVar[Names] = _NAMES

    def match(self, evidence: ServerEvidence) -> Match | None:
        """Match the tools of each server. There are users only if tools ask for them, or the state has them."""
        found = super().match(evidence)
        if found is None:
            return None
        users = next(iter(found.records.get(DIRECTORY, ())), {"id": "USR001"})
        entities = [user_entity(users["id"]) if one.name == DIRECTORY else one for one in found.entities]
        return replace(found, entities=[one for one in entities if one.name in found.records])

    def candidates(self, listed: Sequence[ToolProfile]) -> list[MatchedTool]:
        """Return what the tools may mean: on messages without ids, on messages with ids, or both."""
        return [one for profile in listed for one in self.match_tool(profile)]

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operation on messages without ids, and the one on a message with an id, that a tool may mean."""
        for family, confidence in ((_BOXES, 0.85), (_REPLIES, 0.7)):
            found = islice(match_tool(profile, family, self.idle, confidence), 1)
            yield from (replace(one, fixed=_settings(one)) for one in found)

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept tools that send and show messages without ids; else those on messages with ids, if one replies."""
        done = {one.name for one in found}
        taken = {snake(name) for one in listed if one.has(*_BOX.split("|")) for name in one.arguments}
        if "send" in done and done & {"list_messages", "search", "unsend"} and _OF_RECORDS.isdisjoint(taken):
            return [one for one in found if one.operation in _BOXES]
        replies = [*_on_records(found, listed)]
        return replies if "reply" in {one.name for one in replies} else ()

    def entities_for(self, matched: Sequence[MatchedTool]) -> Sequence[Entity]:
        """Return messages and users, unless the tools work on records. Ids have the type that a tool returns."""
        if not any(one.operation in _BOXES for one in matched):
            return ()
        outputs = (properties(one.profile.output).items() for one in matched if one.name == "send")
        types = [main_type(part) for name, part in next(outputs, ()) if snake(name) in {"message_id", "id"}]
        return message_entity({"type": "string" if types[:1] == ["string"] else "integer"}), self.entities[1]

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the messages and the users of a state."""
        from mcp_sim.backends.messages.given import given_records

        if not entities:
            return Given(rest=state)
        asks = any(one.operation.entity == DIRECTORY for one in matched)
        inward = any(one.fixed.get("inward") for one in matched)
        return given_records(state, entities, inward=inward, asks=asks, is_whole=is_whole)

    def prepare(self, binding: Binding, domain: Domain) -> Any:
        return domain.entities


def _settings(one: MatchedTool) -> Record:
    """Return what the words of a tool imply."""
    words = {*one.profile.words}
    if one.name == "mark":
        return {"read": "unread" not in words}
    return {name: bool(words & known) for name, known in _IMPLIED.items()} if one.name == "list_messages" else {}


def _on_records(found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Iterator[MatchedTool]:
    """Yield the tools on kinds of messages that other tools make or show: by name, by argument, or the only kind."""
    known = {noun for one in listed for noun in one.nouns & _NOUNS if _MAKES.intersection(one.words)}
    only = [*known] if len(known) == 1 else []
    replies = (one for one in found if one.operation in _REPLIES)
    for one in replies:
        names = (*reversed(one.profile.words), *snake(one.arguments["message"]).split("_"))
        for noun in islice((noun for noun in (*map(singular, names), *only) if noun in known), 1):
            yield replace(one, entity=noun)
