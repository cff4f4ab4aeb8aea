"""What does a tool's name say: which verb, which noun, one or many?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from mcp_sim.domain import Verb
from mcp_sim.plans.deeds import DEEDS, LOOKING, MAKING, deed_named, verb_said
from mcp_sim.words import is_plural, singular, singular_phrase, vocabulary, words

Words: TypeAlias = "tuple[str, ...]"

_STRONG: dict[str, Verb] = {
    "create": "create", "add": "create", "new": "create", "insert": "create", "register": "create", "log": "create",
    "upsert": "create",
    "get": "get", "read": "get", "fetch": "get", "show": "get", "retrieve": "get", "describe": "get", "view": "get",
    "list": "list", "enumerate": "list", "browse": "list",
    "search": "search", "find": "search", "query": "search", "filter": "search",
    "update": "update", "edit": "update", "modify": "update", "patch": "update", "change": "update",
    "delete": "delete", "remove": "delete", "destroy": "delete",
}  # fmt: skip
_WEAK: dict[str, Verb] = {
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
    "refund": "refunded", "reject": "rejected", "reopen": "open", "resolve": "resolved", "resume": "active",
    "return": "returned", "revoke": "revoked", "ship": "shipped", "suspend": "suspended", "unarchive": "active",
    "unlock": "unlocked", "unpublish": "draft", "void": "void", "win": "won", "turn_on": "on", "turn_off": "off",
    "switch_on": "on", "switch_off": "off", "check_in": "checked_in", "check_out": "checked_out",
}  # fmt: skip
_PHRASES = frozenset(
    {("turn", "on"), ("turn", "off"), ("switch", "on"), ("switch", "off"), ("check", "in"), ("check", "out")}
)
"""Verbs of two words."""

_MAKES, _CHANGES = vocabulary("create add insert"), vocabulary("update replace edit modify patch set")
_FILLERS = vocabulary(
    "a all an any available the my our current existing every given latest most new one recent single specific"
)
_NOUNS_TOO = vocabulary(
    "file record book place post log schedule request draft charge fund order invite archive star watch block credit "
    "debit refund deposit purchase exchange release return ship hold bookmark favorite favourite flag feature ban "
    "highlight display filter query view lock merge tag pin"
)
"""Weak verbs that stand for a thing where a verb ends the name: `file_upload`, `bookmark_list`."""

_ENDS = vocabulary(
    "create add get fetch list search find update edit modify patch delete remove destroy upload save submit send"
)
_PLAIN = vocabulary("create get list update delete")
"""Verbs that are about records and nothing else."""

_ONE_OF_A_KIND = frozenset({"current", "my"})
_BATCH = frozenset({"batch", "bulk", "many", "multi", "multiple"})
_MAY_LOOK = frozenset({"open", "request", "start", "raise", "record", "file"})
"""Weak verbs that make something, or show it."""

_AGAIN = frozenset({"do", "please", "then"})
_TOLD: dict[str, Verb] = dict.fromkeys(("return", "provide", "obtain", "pull", "give"), "get")
"""Verbs of descriptions that say what is told."""

_PREPOSITIONS = vocabulary("as at by for from in into inside of on to under using via with within")
_NOISE = vocabulary("detail details info information metadata record records exists existence")
_KINDS = vocabulary("type types")
_PLURAL_NOISE = frozenset({"list", "lists", "history"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a name says. `noun` is the noun phrase in the singular, `after` the words behind a preposition.

    `status` is the state that a verb like `close` leads to. `sure` is False for verbs that mean other things elsewhere.
    `said` is the verb that the description begins with; `told` says that the verb is that one, the name has none.
    A `deed` is a verb of the name that is done to no record.
    """

    verb: Verb
    noun: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    word: str = ""
    plural: bool = False
    sure: bool = False
    first: bool = True
    batch: bool = False
    one_of_a_kind: bool = False
    status: str | None = None
    said: str = ""
    told: bool = False
    deed: str = ""


def read_names(names: Iterable[str], told: Mapping[str, str] = MappingProxyType({})) -> dict[str, Reading]:
    """The readings of the tools of one server; a first word that most of them share is the server's, not the tool's.

    Unless it is what the tools are about: `task_create`, `task_list` and `task_delete` of a server for tasks. `told`
    are the descriptions: what a name leaves open they may say.
    """
    bare = {name: words(last_segment(name)) for name in names}
    shared = _shared_first_word([*bare.values()])
    bare = {name: parts[1:] if shared and parts[:1] == (shared,) else parts for name, parts in bare.items()}
    bare = _noun_first(_with_namespaces({name: _joined(parts) for name, parts in bare.items()}))
    alone = {name: read(parts) for name, parts in bare.items()}
    nouns = {reading.noun for reading in alone.values() if reading.noun and reading.verb != "unknown"}
    return {
        name: _completed(reading, bare[name], verb_said(told.get(name, "")), nouns) for name, reading in alone.items()
    }


def _joined(parts: Words) -> Words:
    """`turn on` as one word, and `create or update` as `upsert`."""
    if parts[1:2] == ("or",) and {parts[0]} <= _MAKES and {*parts[2:3]} <= _CHANGES:
        return ("upsert", *parts[3:])
    return ("_".join(parts[:2]), *parts[2:]) if parts[:2] in _PHRASES else parts


def _noun_first(bare: Mapping[str, Words]) -> dict[str, Words]:
    """`hold_place` beside `hold_list`: a word that may be either is a noun where several verbs follow it."""
    verbs = frozenset({*_STRONG, *_WEAK, *TRANSITIONS})
    pairs = {(name, parts[0]) for name, parts in bare.items() if len(parts) == 2 and parts[1] in verbs}
    counts = Counter(noun for _, noun in pairs if noun in _NOUNS_TOO)
    turned = {name for name, noun in pairs if counts[noun] > 1}
    return {name: (parts[1], parts[0]) if name in turned else parts for name, parts in bare.items()}


def _with_namespaces(bare: Mapping[str, Words]) -> dict[str, Words]:
    """`courses.list` and `grades.set` speak of courses and grades, where there are several such namespaces."""
    spaces = {name: words(_segments(name)[-2]) for name in bare if len(_segments(name)) > 1}
    if len({*spaces.values()}) < 2:
        return dict(bare)
    return {
        name: _about(parts, spaces[name]) if name in spaces and not read(parts).noun else parts
        for name, parts in bare.items()
    }


def _about(parts: Words, space: Words) -> Words:
    """The words of a name that begins with a verb and says no more, with what its namespace is about."""
    noun = space if read(parts).verb in {"list", "search"} else words(singular_phrase(space))
    return (*parts[:1], *noun, *parts[1:])


def _completed(reading: Reading, parts: Words, said: str, nouns: AbstractSet[Words]) -> Reading:
    """The reading with what the other tools and the description say, where the name alone tells of no verb."""
    if reading.verb != "unknown" or len(parts) == 0:
        return replace(_opened(reading, said), said=said)
    fused = _taken_apart(parts, nouns)
    if fused is not None:
        return replace(read(fused), said=said)
    deed = deed_named(parts, said)
    verb = _verb_elsewhere(parts, said, deed, nouns)
    if verb is None:
        return replace(reading, said=said, deed=deed)
    starts = parts[0] in DEEDS | MAKING | LOOKING and len(parts) > 1
    word, rest = (parts[0], parts[1:]) if starts else (said, parts)
    noun, after, plural, batch, special = _noun(rest)
    if verb == "get" and plural:
        verb = "list"
    return Reading(verb, noun, after, word, plural, batch=batch, one_of_a_kind=special, said=said, told=not starts)


def _opened(reading: Reading, said: str) -> Reading:
    """`open_case` creates one, unless its description begins with `get`."""
    verb = _STRONG.get(said)
    if reading.word not in _MAY_LOOK or reading.verb != "create" or verb not in {"get", "list", "search"}:
        return reading
    return replace(reading, verb="list" if verb == "get" and reading.plural else verb)


def _taken_apart(parts: Words, nouns: AbstractSet[Words]) -> Words | None:
    """`listprompts`, where other tools speak of prompts."""
    whole = parts[0] if len(parts) == 1 else ""
    verb = next((verb for verb in _PLAIN if whole.startswith(verb)), None)
    rest = whole.removeprefix(verb or "")
    return (verb, rest) if verb is not None and (singular(rest),) in nouns else None


def _verb_elsewhere(parts: Words, said: str, deed: str, nouns: AbstractSet[Words]) -> Verb | None:
    """The verb that other tools and the description make of a name without one; None where it stays so."""
    rest = _noun(parts[1:])[0]
    if parts[0] in MAKING and rest in nouns:
        return "create"
    if parts[0] in LOOKING and any(rest[:end] in nouns or rest[-end:] in nouns for end in range(1, len(rest) + 1)):
        return "get"
    return None if deed or parts[0] in LOOKING else _STRONG.get(said) or _TOLD.get(said)


def read(parts: tuple[str, ...]) -> Reading:
    """The reading of the words of one name."""
    if len(parts) > 2 and parts[0] in _BATCH | _AGAIN:
        return replace(read(parts[1:]), batch=parts[0] in _BATCH)
    place = _verb_place(parts)
    if place is None:
        return _noun_only(parts)
    word = parts[place]
    rest = parts[place + 1 :] if place == 0 else parts[:place]
    noun, after, plural, batch, special = _noun(rest)
    verb, sure = _verb(word)
    if verb == "get" and plural:
        verb = "list"
    if verb == "search" and noun and not plural and after[:1] == ("by",):
        verb = "get"
    status = TRANSITIONS.get(word)
    joined = "and" in parts or "or" in parts
    return Reading(verb, noun, after, word, plural, sure and not joined, place == 0, batch, special, status)


def verb_meant(word: str) -> Verb | None:
    """What a verb means, where it is one of records."""
    return _STRONG.get(word) or _TOLD.get(word) or _WEAK.get(word) or ("update" if word in TRANSITIONS else None)


def _verb(word: str) -> tuple[Verb, bool]:
    if word in _STRONG:
        return _STRONG[word], True
    if word in _WEAK:
        return _WEAK[word], False
    return "update", False


def _verb_place(parts: tuple[str, ...]) -> int | None:
    known = (_STRONG, _WEAK, TRANSITIONS)
    if len(parts) > 1 and parts[0] in _NOUNS_TOO and parts[-1] in _ENDS:
        return len(parts) - 1
    if parts and any(parts[0] in verbs for verbs in known):
        return 0
    if len(parts) > 1 and any(parts[-1] in verbs for verbs in known):
        return len(parts) - 1
    if len(parts) > 2 and parts[-2] in _STRONG:
        return len(parts) - 2
    return None


def _noun(rest: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], bool, bool, bool]:
    """The noun phrase in the singular, what follows a preposition, and whether it is plural, a batch, the only one."""
    cut = next((at for at, word in enumerate(rest) if word in _PREPOSITIONS), len(rest))
    phrase, after = rest[:cut], rest[cut:]
    listed = "all" in phrase or (len(phrase) > 1 and phrase[-1] in _PLURAL_NOISE)
    batch = any(word in _BATCH for word in phrase)
    special = any(word in _ONE_OF_A_KIND for word in phrase) or phrase[:1] == ("next",)
    phrase = phrase[1:] if phrase[:1] == ("next",) and len(phrase) > 1 else phrase
    kept = tuple(word for word in phrase if word not in _FILLERS and word not in _BATCH)
    while len(kept) > 1 and (kept[-1] in _NOISE or kept[-1] in _PLURAL_NOISE):
        kept = kept[:-1]
    plural = listed or bool(kept and is_plural(kept[-1]))
    return words(singular_phrase(kept)), after, plural, batch, special


def _noun_only(parts: tuple[str, ...]) -> Reading:
    noun, after, plural, _, special = _noun(parts)
    return Reading("unknown", noun, after, plural=plural, one_of_a_kind=special)


def last_segment(name: str) -> str:
    """`slack.post_message`, `jira/create_issue`, `mcp__jira__create_issue`: what stands behind the last separator."""
    return _segments(name)[-1] or name


def _segments(name: str) -> list[str]:
    return re.split(r"[./:]|__", name.strip("_./:"))


def _shared_first_word(names: Sequence[tuple[str, ...]]) -> str | None:
    counts = Counter(parts[0] for parts in names if len(parts) > 1)
    word, count = counts.most_common(1)[0] if counts else ("", 0)
    is_verb = word in _STRONG or word in _WEAK or word in TRANSITIONS
    followers = {singular(parts[1]) for parts in names if parts[:1] == (word,) and len(parts) > 1}
    shared = count >= 3 and count >= 0.6 * len(names) and len(followers) > 1
    about = {parts[1] for parts in names if parts[:1] == (word,) and len(parts) == 2} & _PLAIN
    return word if shared and not is_verb and len(about) < 2 else None
