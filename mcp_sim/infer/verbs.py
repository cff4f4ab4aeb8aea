"""Which words are verbs of records, and what does each mean?"""

from __future__ import annotations

from mcp_sim.types.lexicon.words import vocabulary
from mcp_sim.types.plans import Verb

STRONG: dict[str, Verb] = {
    "create": "create", "add": "create", "new": "create", "insert": "create", "register": "create", "log": "create",
    "upsert": "create",
    "get": "get", "read": "get", "fetch": "get", "show": "get", "retrieve": "get", "describe": "get", "view": "get",
    "list": "list", "enumerate": "list", "browse": "list",
    "search": "search", "find": "search", "query": "search", "filter": "search",
    "update": "update", "edit": "update", "modify": "update", "patch": "update", "change": "update",
    "delete": "delete", "remove": "delete", "destroy": "delete",
}  # fmt: skip
WEAK: dict[str, Verb] = {
    "open": "create", "post": "create", "submit": "create", "book": "create", "schedule": "create", "place": "create",
    "send": "create", "record": "create", "make": "create", "save": "create", "store": "create", "write": "create",
    "purchase": "create", "buy": "create", "reserve": "create", "invite": "create", "request": "create",
    "upload": "create", "compose": "create", "draft": "create", "start": "create", "raise": "create", "file": "create",
    "lookup": "get", "load": "get", "inspect": "get", "display": "get",
    "set": "update", "rename": "update", "replace": "update", "adjust": "update", "revise": "update", "amend": "update",
    **dict.fromkeys(
        ("fund", "deposit", "withdraw", "fill", "refill", "charge", "recharge", "credit", "debit", "deduct", "increase",
         "decrease", "increment", "decrement", "spend", "follow", "unfollow", "subscribe", "unsubscribe", "like",
         "unlike", "star", "unstar", "watch", "unwatch", "mute", "unmute", "block", "unblock", "append", "push",
         "exchange", "swap", "mark", "toggle", "reset", "switch", "engage", "release", "pin", "unpin", "move",
         "hide", "unhide", "flag", "unflag", "bookmark", "unbookmark", "favorite",
         "unfavorite", "favourite", "freeze", "unfreeze", "verify", "unverify", "ban", "unban", "protect", "unprotect",
         "snooze", "unsnooze", "feature", "unfeature", "highlight", "tag", "untag"),
        "update",
    ),
    "link": "create", "unlink": "delete",
    "drop": "delete", "erase": "delete", "purge": "delete", "unregister": "delete", "trash": "delete",
}  # fmt: skip
TRANSITIONS = {
    "accept": "accepted", "activate": "active", "approve": "approved", "archive": "archived", "assign": "assigned",
    "cancel": "cancelled", "close": "closed", "complete": "completed", "confirm": "confirmed",
    "deactivate": "inactive", "decline": "declined", "deliver": "delivered", "disable": "disabled",
    "enable": "enabled", "escalate": "escalated", "fail": "failed", "finish": "finished", "hold": "on_hold",
    "lock": "locked", "lose": "lost", "merge": "merged", "pause": "paused", "pay": "paid", "publish": "published",
    "refund": "refunded", "reject": "rejected", "reopen": "open", "resolve": "resolved", "restore": "active",
    "resume": "active",
    "return": "returned", "revoke": "revoked", "ship": "shipped", "suspend": "suspended", "unarchive": "active",
    "unlock": "unlocked", "unpublish": "draft", "void": "void", "win": "won", "turn_on": "on", "turn_off": "off",
    "switch_on": "on", "switch_off": "off", "check_in": "checked_in", "check_out": "checked_out",
}  # fmt: skip
PHRASES = frozenset(
    {("turn", "on"), ("turn", "off"), ("switch", "on"), ("switch", "off"), ("check", "in"), ("check", "out")}
)
"""Verbs of two words."""

NOUNS_TOO = vocabulary(
    "file record book place post log schedule request draft charge fund order invite archive star watch block credit "
    "debit refund deposit purchase exchange release return ship hold bookmark favorite favourite flag feature ban "
    "highlight display filter query view lock merge tag pin"
)
"""Weak verbs that stand for a thing where a verb ends the name: `file_upload`, `bookmark_list`."""

_ENDS = vocabulary(
    "create add get fetch list search find update edit modify patch delete remove destroy upload save submit send"
)
PLAIN = vocabulary("create get list update delete")
"""Verbs that are about records and nothing else."""

MAY_LOOK = frozenset({"open", "request", "start", "raise", "record", "file"})
"""Weak verbs that make something, or show it."""

TOLD: dict[str, Verb] = dict.fromkeys(("return", "provide", "obtain", "pull", "give"), "get")
"""Verbs of descriptions that say what is told."""


def verb_meant(word: str) -> Verb | None:
    """What a verb means, where it is one of records."""
    return STRONG.get(word) or TOLD.get(word) or WEAK.get(word) or ("update" if word in TRANSITIONS else None)


def verb_of(word: str) -> tuple[Verb, bool]:
    if word in STRONG:
        return STRONG[word], True
    if word in WEAK:
        return WEAK[word], False
    return "update", False


def verb_place(parts: tuple[str, ...]) -> int | None:
    known = (STRONG, WEAK, TRANSITIONS)
    if len(parts) > 1 and parts[0] == "check" and parts[-1] in NOUNS_TOO:
        return None
    if len(parts) > 1 and parts[0] in NOUNS_TOO and parts[-1] in _ENDS:
        return len(parts) - 1
    if parts and any(parts[0] in verbs for verbs in known):
        return 0
    if len(parts) > 1 and any(parts[-1] in verbs for verbs in known):
        return len(parts) - 1
    if len(parts) > 2 and parts[-2] in STRONG:
        return len(parts) - 2
    return None
