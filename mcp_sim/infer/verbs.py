"""Verbs of tool names: those of records, and those that touch no records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_sim.types.lexicon.english import vocabulary, words
from mcp_sim.types.lexicon.translations import verb_in_english
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
"""Weak verbs that are nouns before a final verb: `file_upload`, `bookmark_list`."""

_FINAL_VERBS = vocabulary(
    "create add get fetch list search find update edit modify patch delete remove destroy upload save submit send"
)
PLAIN_VERBS = vocabulary("create get list update delete")
"""Verbs that are about records and nothing else."""

STARTED_STATES = {"start": "in_progress", "open": "open", "submit": "submitted", "raise": "raised"}
"""States of records that exist before a weak verb is done: `start_task(task_id)` beside `create_task`."""

RETURN_VERBS: dict[str, Verb] = dict.fromkeys(("return", "provide", "obtain", "pull", "give"), "get")
"""Verbs of descriptions that say what is returned."""

RECORDLESS_VERBS = vocabulary(
    "press click hover drag type scroll tap swipe focus wait sleep resize zoom navigate go jump walk look turn rotate "
    "dial reboot restart reload refresh step next continue undo redo capture snapshot screenshot take grab connect "
    "disconnect attach detach ping handshake calculate compute evaluate multiply divide subtract scale transpose "
    "invert project plot draw visualize visualise render convert transform translate parse format compile decompile "
    "disassemble encode decode encrypt decrypt hash compress decompress estimate predict forecast analyze analyse "
    "compare classify simulate perform execute run exec call invoke handle process play serve test explain examine "
    "debug speak say listen print select choose solve decompose think reason ask answer suggest recommend optimize "
    "optimise round sum count average interact stop shutdown trigger"
)
"""Verbs that touch no records."""

_RECORDLESS_NOUNS = vocabulary(
    "project type format count call process run plot test answer sum round step look walk play hash scale draw handle "
    "focus reason estimate forecast trigger average print turn next stop"
)
CREATION_VERBS = vocabulary(
    "generate initialize initialise init setup provision launch spawn install import clone produce build deploy issue "
    "enqueue ingest define declare copy duplicate replicate"
)
"""Verbs that create a record, if other tools mention such records."""

INSPECTION_VERBS = vocabulary(
    "check validate preview export download track monitor summarize summarise analyze analyse examine render play "
    "compare verify visualize visualise"
)
"""Verbs that read a record, if other tools mention such records."""

_OPENERS = re.compile(
    r"(?:use this (?:\w+ )?to|this (?:\w+ )?(?:is used to|allows you to|lets you|can be used to|will|tool|function|"
    r"method|endpoint)|(?:a |the )?(?:tool|function) (?:to|for|that)|allows? (?:you|users?|the user) to|lets you|"
    r"used to|useful (?:for|to)|to|please|\w+ly)\s+",
    re.IGNORECASE,
)
_MAX_PREFIX = 200
"""Number of characters of a description that are searched for its first verb."""

_KNOWN_VERBS = (
    RECORDLESS_VERBS
    | CREATION_VERBS
    | INSPECTION_VERBS
    | vocabulary(
        "create add new insert register log get read fetch show retrieve describe view list enumerate "
        "browse search find query filter update edit modify patch change delete remove destroy return "
        "provide obtain pull give display load look lookup set rename replace save store write send post "
        "upload close open cancel append move copy archive assign approve reject complete submit book "
        "schedule clear reset toggle"
    )
)


def classify_verb(word: str) -> Verb | None:
    """Return the meaning of a verb of records, or None."""
    return STRONG.get(word) or RETURN_VERBS.get(word) or WEAK.get(word) or ("update" if word in TRANSITIONS else None)


def known_verb(word: str) -> tuple[Verb, bool]:
    """Return the meaning of a known verb, and whether it is certain."""
    if word in STRONG:
        return STRONG[word], True
    if word in WEAK:
        return WEAK[word], False
    return "update", False


def find_verb(parts: tuple[str, ...]) -> int | None:
    """Return the position of the verb in a name, or None."""
    known = (STRONG, WEAK, TRANSITIONS)
    if len(parts) > 1 and parts[0] in NOUNS_TOO and parts[-1] in _FINAL_VERBS:
        return len(parts) - 1
    if parts and any(parts[0] in verbs for verbs in known):
        return 0
    if len(parts) > 1 and any(parts[-1] in verbs for verbs in known):
        return len(parts) - 1
    if len(parts) > 2 and parts[-2] in STRONG:
        return len(parts) - 2
    return None


def find_recordless_verb(parts: Sequence[str], described_verb: str) -> str:
    """Return a verb without records at the beginning or end of a name.

    At the end it may be a noun: `init_project`.
    """
    if not parts:
        return ""
    if parts[0] in RECORDLESS_VERBS:
        return parts[0]
    is_verb = parts[-1] in RECORDLESS_VERBS and (parts[-1] not in _RECORDLESS_NOUNS or parts[-1] == described_verb)
    return parts[-1] if is_verb else ""


def is_verb(word: str) -> bool:
    """Whether a word is known as a verb."""
    return word in _KNOWN_VERBS and word not in _RECORDLESS_NOUNS


def find_described_verb(about: str) -> str:
    """Return the plain form of the first verb of a description: `retrieve` of `Retrieves all notes`."""
    first = next(iter(words(skip_opener(about).partition(" ")[0])), "")
    known = next((form for form in _plain_forms(first) if form in _KNOWN_VERBS), None)
    return known or verb_in_english(first) or first


def skip_opener(about: str) -> str:
    """Return the description from its verb on."""
    text = about[:_MAX_PREFIX].strip()
    while found := _OPENERS.match(text):
        text = text[found.end() :]
    return text


def _plain_forms(word: str) -> Iterator[str]:
    """Yield possible plain forms of `creates`, `copies` or `pushes`."""
    yield word
    if word.endswith("s"):
        yield from (word[:-1], word.removesuffix("es"), f"{word.removesuffix('ies')}y")
