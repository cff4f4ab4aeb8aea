"""Boolean fields that verbs like `pin` set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from mcp_sim.infer.verbs import TRANSITIONS
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import plural, snake

_PARTICIPLES = {
    "pin": "pinned", "star": "starred", "mute": "muted", "block": "blocked", "hide": "hidden", "flag": "flagged",
    "favorite": "favorite", "favourite": "favourite", "bookmark": "bookmarked", "lock": "locked", "freeze": "frozen",
    "feature": "featured", "verify": "verified", "ban": "banned", "protect": "protected", "watch": "watched",
    "archive": "archived", "snooze": "snoozed", "read": "read", "share": "shared", "highlight": "highlighted",
}  # fmt: skip
_OPPOSITES = {
    "disable": "enable",
    "deactivate": "activate",
    "show": "hide",
    "reopen": "close",
    "resume": "pause",
    "turn_off": "turn_on",
    "switch_off": "turn_on",
}
_FLAG_NAMES = {
    "complete": ("completed", "complete", "done", "finished"), "finish": ("finished", "done", "completed"),
    "enable": ("enabled", "active", "on"), "activate": ("active", "activated", "enabled"),
    "turn_on": ("on", "powered", "powered_on", "enabled", "active"),
    "check": ("checked", "done", "completed"), "close": ("closed", "done"), "resolve": ("resolved", "done"),
}  # fmt: skip
_ENDED_FLAGS = {"pause": ("playing", "running", "active"), "restore": ("archived", "deleted", "trashed", "hidden")}
"""Flags that are true until the verb is done."""

TOGGLES = frozenset({"toggle", "flip"})
"""Verbs that invert a flag."""

STATELESS_VERBS = frozenset(_PARTICIPLES) - {"read"}
"""Verbs of flags that are independent of a state, like `pin`."""

_SWITCH_VERBS = frozenset({"enable", "activate", "turn_on"})
_FLAG_PREFIXES = ("", "is_", "has_")
_FLAG_SUFFIXES = ("_enabled", "_active", "_on", "_allowed", "_activated", "", "_mode", "_enabled_setting")


def split_negation(word: str) -> tuple[str, bool]:
    """Return the verb without its negation, and whether it is positive: `pin` and False for `unpin`."""
    if word in _OPPOSITES:
        return _OPPOSITES[word], False
    bare = word.removeprefix("un")
    if word == "switch_on":
        return "turn_on", True
    return (bare, False) if bare != word and (bare in _PARTICIPLES or bare in TRANSITIONS) else (word, True)


def flag_name(word: str) -> str:
    """Return the name of the flag that a verb sets: `enabled` for `disable`. '' if it sets none."""
    verb, _ = split_negation(word)
    return next(iter(_FLAG_NAMES.get(verb, ())), "") or _PARTICIPLES.get(verb, "")


def participle_of(word: str) -> tuple[str, bool]:
    """Return `frozen` for `freeze`, and whether it is positive. '' for verbs without a flag."""
    verb, yes = split_negation(word)
    return _PARTICIPLES.get(verb, ""), yes


def regular_participles(verb: str) -> tuple[str, ...]:
    """Return possible participles of a verb: `armed` of `arm`, `liked` of `like`, `carried` of `carry`."""
    return (f"{verb}ed", f"{verb}d", f"{verb[:-1]}ied", f"{verb}{verb[-1]}ed") if len(verb) > 2 else ()


def strip_contrary_prefix(word: str) -> str:
    """Return the verb that a contrary verb undoes: `arm` for `disarm`. '' if there is none."""
    return next((word.removeprefix(start) for start in ("dis", "un", "de") if word.startswith(start)), "")


def find_flag(word: str, entity: Entity) -> dict[str, Json]:
    """Find the flag of an entity that a verb sets, and its value."""
    verb, yes = split_negation(word)
    names = (
        *_FLAG_NAMES.get(verb, ()),
        _PARTICIPLES.get(verb, ""),
        TRANSITIONS.get(verb, ""),
        *regular_participles(verb),
    )
    flags = {
        snake(name).removeprefix("is_"): name
        for name, field in entity.fields.items()
        if main_type(field.schema) == "boolean" and field.derived is None
    }
    found = next((flags[name] for name in names if name in flags), None)
    if found is not None:
        return {found: yes}
    contrary = next((flags[name] for name in regular_participles(strip_contrary_prefix(word)) if name in flags), None)
    if contrary is not None:
        return {contrary: False}
    ended = next((flags[name] for name in _ENDED_FLAGS.get(verb, ()) if name in flags), None)
    return {ended: not yes} if ended is not None else {}


def find_switch(word: str, noun: Sequence[str], fields: Mapping[str, Field]) -> dict[str, Json]:
    """Find the flag of a switch, and its value: `roaming_enabled` of `enable_roaming`."""
    verb, yes = split_negation(word)
    if verb not in _SWITCH_VERBS or not noun:
        return {}
    flags = {snake(name): name for name, field in fields.items() if main_type(field.schema) == "boolean"}
    one = "_".join(noun)
    names = [
        f"{prefix}{what}{ending}"
        for what in (one, plural(one))
        for prefix in _FLAG_PREFIXES
        for ending in _FLAG_SUFFIXES
    ]
    found = next((flags[name] for name in names if name in flags), None)
    return {found: yes} if found is not None else {}


def find_participle_flag(named: Sequence[str], fields: Mapping[str, Field]) -> dict[str, Json]:
    """Find a flag by noun and participle: `vpn_connected` of `connect_vpn` and of `disconnect_vpn`."""
    verb, what = named[0] if named else "", "_".join(named[1:])
    flags = {snake(name): name for name, field in fields.items() if main_type(field.schema) == "boolean"}
    for stem, yes in ((verb, True), (strip_contrary_prefix(verb), False)):
        names = [f"{prefix}{what}_{made}" for made in regular_participles(stem) for prefix in _FLAG_PREFIXES]
        found = next((flags[name] for name in names if what and name in flags), None)
        if found is not None:
            return {found: yes}
    return {}


def find_toggled_flag(word: str, entity: Entity, shown: Iterable[str], taken: Collection[str]) -> str | None:
    """Find the flag that `toggle` inverts: the only one in the result, else the only one of the record.

    `taken` are the fields that arguments set.
    """
    flags = [name for name, one in entity.fields.items() if main_type(one.schema) == "boolean" and one.derived is None]
    if word not in TOGGLES or {*flags} & {*taken}:
        return None
    candidates = [name for name in flags if name in {*shown}] or flags
    usual = (
        [name for name in candidates if snake(name).removeprefix("is_") in _FLAG_NAMES["turn_on"]]
        if len(candidates) > 1
        else candidates
    )
    return usual[0] if len(usual) == 1 else None


def mentioned_flags(words: Iterable[str]) -> list[Field]:
    """Return the flags that verbs of updates mention, if nothing shows the fields of the records."""
    verbs = dict.fromkeys(split_negation(word)[0] for word in words)
    named = [_PARTICIPLES[verb] for verb in verbs if verb in STATELESS_VERBS]
    return [Field(name, {"type": "boolean", "default": False}, required=True) for name in named]
