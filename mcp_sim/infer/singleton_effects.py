"""Effects on one field of a singleton, and the matching of names to its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mcp_sim.infer.flags import TOGGLES, find_flag, find_participle_flag, find_switch
from mcp_sim.infer.names import ParsedName, Words
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import plural, singular, vocabulary, words
from mcp_sim.types.plans import How, Verb

_EMPTYING_VERBS = vocabulary("clear empty reset flush")
_PREFIXES = vocabulary("new current updated total my the latest remaining final resulting user account")
_SUFFIXES = vocabulary("status state list value amount level limit mode setting settings info")
_FACETS = _SUFFIXES | vocabulary("service")
_SHOWING_WORDS = vocabulary("check display show view get read status print")
_SUBJECT_PREFIXES = vocabulary("current my the active device phone system of and")
_SUBJECT_SUFFIXES = vocabulary("status state setting settings info information details mode")


@dataclass(frozen=True, slots=True)
class SingletonEffect:
    """The effect of a tool on the only record of an entity."""

    verb: Verb
    entity: str
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    how: Mapping[str, How] = field(default_factory=dict[str, "How"])
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    shows: Mapping[str, str] = field(default_factory=dict[str, str])
    choice: str | None = None
    """The argument that chooses among the values in `chosen`."""
    chosen: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, "Mapping[str, Json]"])
    only: tuple[str, ...] = ()
    """The only fields that are shown."""
    reason: str = ""


def find_verb_flag(
    parsed: ParsedName, arguments: Record, shows: Mapping[str, str], entity: Entity
) -> SingletonEffect | None:
    """Return the effect of an unknown verb that sets a flag: `arm_alarm(mode)`, `disarm_alarm()`."""
    if parsed.verb != "unknown" or len(parsed.noun) < 2 or "".join(parsed.noun[1:]) != join_words(entity.name):
        return None
    fixed = find_flag(parsed.noun[0], entity)
    sets = FieldNames(entity).match_all(arguments.items())
    if not fixed or fixed.keys() & {*sets.values()}:
        return None
    return SingletonEffect(
        "update", entity.name, sets, {}, fixed, shows, reason=f"sets {', '.join(fixed)} of {entity.name}"
    )


def find_toggle(
    parsed: ParsedName, needed: Sequence[str], shows: Mapping[str, str], entity: Entity
) -> SingletonEffect | None:
    """Return the effect of `toggle_shuffle()`: the flag of its noun or result is inverted."""
    if parsed.word not in TOGGLES or needed:
        return None
    meant = find_field(parsed, shows, entity) or next(iter(dict.fromkeys(shows.values())), "")
    if meant not in entity.fields or main_type(entity.fields[meant].schema) != "boolean":
        return None
    reason, only = f"toggles {meant}", () if shows else (meant,)
    return SingletonEffect("update", entity.name, {}, {meant: "toggle"}, {meant: True}, shows, only=only, reason=reason)


def find_emptied_list(
    parsed: ParsedName, needed: Sequence[str], shows: Mapping[str, str], entity: Entity
) -> SingletonEffect | None:
    """Return the effect of `clear_queue()`: the list of its noun becomes empty."""
    noun = (
        parsed.noun
        if parsed.word in _EMPTYING_VERBS
        else parsed.noun[1:]
        if {*parsed.noun[:1]} & _EMPTYING_VERBS
        else ()
    )
    meant = {"".join(noun), join_words(plural("_".join(noun)))} if noun and not needed else set[str]()
    lists = (name for name, one in entity.fields.items() if main_type(one.schema) == "array")
    name = next((name for name in lists if join_words(name) in meant), None)
    if name is None:
        return None
    return SingletonEffect(
        "update", entity.name, fixed={name: []}, shows=shows, reason=f"empties {name} of {entity.name}"
    )


class FieldNames:
    """The fields of an entity by what their names mean, exactly or without words like `new` and `status`."""

    def __init__(self, entity: Entity) -> None:
        self._entity = entity

    def match(self, path: str, part: Record) -> str | None:
        """Return the field that a name means, or None."""
        name, kind = path.rsplit(".", 1)[-1], main_type(part)
        for reduce, fields in self._by_meaning:
            found = [one for one in fields.get(reduce(name), ()) if not kind or _is_compatible(self._type(one), kind)]
            if len(found) == 1:
                return found[0]
        return None

    def match_all(self, parts: Iterable[tuple[str, Record]]) -> dict[str, str]:
        """Return the fields that names mean, by path."""
        return {path: found for path, part in parts if (found := self.match(path, part)) is not None}

    @cached_property
    def _by_meaning(self) -> list[tuple[Callable[[str], str], dict[str, list[str]]]]:
        """The fields by their reduced names, for each reduction."""
        indexes: list[tuple[Callable[[str], str], dict[str, list[str]]]] = []
        for reduce in (join_words, _strip_prefixes, core_words):
            fields: dict[str, list[str]] = {}
            for name in self._entity.fields:
                fields.setdefault(reduce(name), []).append(name)
            fields.pop("", None)
            indexes.append((reduce, fields))
        return indexes

    def _type(self, name: str) -> str:
        return main_type(self._entity.fields[name].schema)


def _is_compatible(own: str, kind: str) -> bool:
    """Whether a value of the type `kind` fits a field of the type `own`. An untyped field fits all."""
    return not own or own == kind or (own, kind) == ("integer", "number")


def join_words(name: str) -> str:
    """Return the words of a name without separators."""
    return "".join(words(name))


def _strip_prefixes(name: str) -> str:
    parts = words(name)
    while len(parts) > 1 and parts[0] in _PREFIXES:
        parts = parts[1:]
    return "".join(parts)


def core_words(name: str) -> str:
    """Return the words of a name without words like `new` and `status`."""
    parts = [part for part in words(name) if part not in _PREFIXES]
    while len(parts) > 1 and parts[-1] in _SUFFIXES:
        parts = parts[:-1]
    return "".join(parts)


def find_field(parsed: ParsedName, shows: Mapping[str, str], entity: Entity) -> str | None:
    """Return the field that the noun or the result names, or None."""
    noun = "".join(parsed.noun)
    near = [name for name in entity.fields if noun and noun in {join_words(name), core_words(name)}]
    near = near or [name for name in dict.fromkeys(shows.values()) if noun and noun in join_words(name)]
    return near[0] if len(near) == 1 else None if near else find_field_in_noun(parsed, entity)


def find_field_in_noun(parsed: ParsedName, entity: Entity) -> str | None:
    """Return the longest field whose words the noun begins with: `wifi` of `wifi_status`."""
    noun, prefixes = (
        parsed.noun,
        {name: _matching_prefix(name, parsed.noun) for name in entity.fields if name != entity.name},
    )
    fitting = [name for name, own in prefixes.items() if own and {*noun[len(own) :]} <= _FACETS]
    return max(fitting, key=lambda name: len(prefixes[name]), default=None)


def _matching_prefix(field: str, noun: Words) -> Words:
    """Return the words of a field that a noun begins with: a channel of `channels`, a day of `current_day`."""
    parts = words(field)
    bare = parts[next((place for place, part in enumerate(parts) if part not in _PREFIXES), 0) :]
    forms = (parts, bare, (*bare[:-1], singular(bare[-1]))) if parts else ()
    return next((own for own in forms if own == noun[: len(own)]), ())


def find_switched_field(parsed: ParsedName, needed: Sequence[str], entity: Entity) -> SingletonEffect | None:
    """Return the effect of `toggle_data()`, `enable_roaming()`, `disconnect_vpn()` on a flag."""
    if needed:
        return None
    flips = parsed.word in TOGGLES
    fixed = find_switch("enable" if flips else parsed.word, parsed.noun, entity.fields)
    fixed = fixed or (find_participle_flag(parsed.noun, entity.fields) if parsed.verb == "unknown" else {})
    if not fixed:
        return None
    name = next(iter(fixed))
    reason = f"{'toggles' if flips else 'sets'} {name} of {entity.name}"
    return SingletonEffect(
        "update", entity.name, {}, {name: "toggle"} if flips else {}, fixed, only=(name,), reason=reason
    )


def find_shown_fields(parsed: ParsedName, needed: Sequence[str], about: str, entity: Entity) -> SingletonEffect | None:
    """Return the effect of a tool that shows the fields its noun or its description names."""
    is_read = parsed.word == "check" or (parsed.verb in {"get", "unknown"} and {_first_word(parsed)} & _SHOWING_WORDS)
    if needed or not is_read:
        return None
    subject, described = _subject_of(parsed), {*words(about)}
    shown = [name for name in entity.fields if name != entity.key and _is_named_in(words(name), subject, described)]
    if not shown:
        return None
    return SingletonEffect("get", entity.name, only=tuple(shown), reason=f"shows {', '.join(shown)} of {entity.name}")


def _first_word(parsed: ParsedName) -> str:
    return parsed.word or next(iter(parsed.noun), "")


def _subject_of(parsed: ParsedName) -> Words:
    """Return the subject of a name: `wifi` of `check_wifi_status`."""
    noun = parsed.noun[1:] if {*parsed.noun[:1]} & _SHOWING_WORDS else parsed.noun
    while len(noun) > 1 and noun[0] in _SUBJECT_PREFIXES:
        noun = noun[1:]
    while len(noun) > 1 and noun[-1] in _SUBJECT_SUFFIXES:
        noun = noun[:-1]
    return noun


def _is_named_in(field: Words, subject: Words, described: set[str]) -> bool:
    starts = range(len(field) - len(subject) + 1) if subject else ()
    return any(field[at : at + len(subject)] == subject for at in starts) or (len(field) > 1 and {*field} <= described)
