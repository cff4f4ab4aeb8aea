"""Match tools that reply to a message by its id, show a thread, or mark a message as read.

Messages with ids are records. This package adds what no field declares: a reply goes back to the sender, and belongs
to the thread of the message that it replies to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types.lexicon.english import singular, vocabulary
from mcp_sim.types.plans import Plan, Verb

_NOUNS = vocabulary("message email mail comment post review ticket sms dm conversation")
TEXTS = ("text", "content", "body", "message", "comment", "reply", "reply_text", "message_text")
_REPLIES = vocabulary("reply respond answer")
_SHOWS = vocabulary("get list read view show fetch")
_MAKES = vocabulary("send create post add compose get list read search")
THREADS = ("thread_id", "thread_ts", "conversation_id", "parent_id", "in_reply_to", "reply_to_id")
_VERBS: Mapping[str, Verb] = {"reply": "create", "thread": "list", "mark": "update"}
REPLYING = frozenset(_VERBS)


def reply_plans(listed: Sequence[ToolProfile]) -> list[Plan]:
    """Return the plans of tools that reply, show threads or mark as read, if other tools make or show messages."""
    known = {noun for one in listed for noun in one.nouns if _MAKES.intersection(one.words) and noun in _NOUNS}
    found = [plan for profile in listed if (plan := _plan(profile, known)) is not None]
    return found if any(plan.operation == "reply" for plan in found) else []


def _plan(profile: ToolProfile, known: set[str]) -> Plan | None:
    named = {*profile.words, *profile.nouns}
    place = profile.argument_like((*THREADS, "message_id", "email_id", "comment_id", "post_id", "id"))
    noun = _noun(profile, place, known)
    text = profile.argument(TEXTS, ("string",))
    if place is None or noun is None:
        return None
    arguments: dict[str, str] = {"message": place}
    operation = None
    if named & _REPLIES and text is not None and profile.needed <= {place, text}:
        arguments, operation = {"message": place, "text": text}, "reply"
    elif named & {"thread", "reply"} and named & _SHOWS and profile.needed <= {place}:
        operation = "thread"
    elif "mark" in named and named & {"read", "unread"} and profile.needed <= {place}:
        operation = "mark"
    if operation is None:
        return None
    reasons = (f"'{place}' is a {noun} that is replied to" if operation == "reply" else f"{operation} of a {noun}",)
    made = operation_plan(profile, operation, "messages", arguments, 0.7, reasons, verb=_VERBS[operation], entity=noun)
    return replace(made, fixed={"read": "unread" not in named}) if operation == "mark" else made


def _noun(profile: ToolProfile, place: str | None, known: set[str]) -> str | None:
    """Return the kind of message: by the tool's name, by its argument, or the only one."""
    nouns = [*reversed(profile.words), *(place or "").lower().replace("-", "_").split("_")]
    named = next((singular(word) for word in nouns if singular(word) in known), None)
    return named or (next(iter(known)) if len(known) == 1 else None)
