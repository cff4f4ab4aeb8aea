"""What is fixed before a call, and why: the one place that decides what a model may not contradict.

A value of an identified record is fixed if it is given, was written, or was shown, until a write names the record by
its id, key, name or path, or a write with unknown effect touches its entity. What the outputSchema of a tool does not
allow at its place is not a fact to this tool, as others may show anything. While the call itself is a write, nothing
is fixed that the write may change: any value if its effect is unknown, else those within its `Reach`. An id that two
differing objects of one answer share, an index, and what an answer says about the call (`success`, `message`) identify
or fix nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from datetime import timedelta
from itertools import islice
from typing import cast

from mcp_sim.models.language_model.conformity import DeclaredValues
from mcp_sim.models.language_model.subjects import STATES, Reach, Subject, identity_of, names_of, scalars
from mcp_sim.types import Change, Json, Key, Memory, Record, Turn, as_object, find_key, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import Path, is_number
from mcp_sim.types.lexicon.english import singular, snake
from mcp_sim.types.time_formats import parse_time

MAX_NAMED = 200  # how many arguments of a write are remembered
MAX_PROVISIONAL = 50  # how many new records of an entity may wait for their id
LARGEST_SHIFT = timedelta(days=1)
"""How far two notations of one moment may be apart, as they may name other time zones or the day alone."""
MAX_NAME = 300  # longer texts name nothing

WRITTEN = "written"  # the name under which the memory has the number of the last call that may have written
EVERY = "*"  # any entity
LONG = 40  # the length from which on a text has sections, in characters
LEAST_SECTION = 8
"""The length of the shortest section of a text, in characters. Random replies under the grammar showed that shorter
ones are parts of other texts by chance."""
EMPTY: tuple[Json, ...] = (None, "", [], {})  # ways to show a missing value


_AMOUNT = re.compile(r"\d[\d\s.,:/+T-]{0,40}([a-zA-Z%€$]{0,3}|\s[a-zA-Z]{1,20})")
"""A number or a time, perhaps with a unit."""


@frozen
class Shown:
    """When the fields of a record were shown or written last, by the number of the call.

    `version` is the version of the record that this describes: another one was written by someone else.
    """

    version: int = 0
    call: int = 0
    """The number of the call that noted this."""
    at: Mapping[str, int] = field(default_factory=dict[str, int])
    container: frozenset[str] = frozenset()


@frozen
class FixedFacts:
    """The fixed facts of one turn.

    `declared`: the values that the tool may show; None for tools without an outputSchema. `reach`: what a write may
    change; None if that is unknown.
    """

    turn: Turn
    memory: Memory
    declared: DeclaredValues | None
    is_write: bool
    reach: Reach | None = None

    def fixed(self, subject: Subject) -> Record:
        """Return the fields of a subject that it shows and that must have a certain value: that value, by name."""
        if self.is_write and self.reach is None:
            return {}
        values = self._fixed_at(subject)
        known = self.turn.view.get(*subject.identity) or {}
        return {name: value for name, value in values.items() if self._binds(subject, name, value, known)}

    def _binds(self, subject: Subject, name: str, value: Json, known: Record) -> bool:
        """Whether a fixed value is out of reach of the call, and one that the tool may show at this place."""
        if self.reach is not None and self.reach.includes(subject, name, known):
            return False
        # Inferred schemas are too narrow for given values: with them 21 of 40 altered values were corrected, without
        # them all 40.
        return self.declared is None or self.declared.allow((*subject.path, name), value)

    def _fixed_at(self, subject: Subject) -> Record:
        """Return the shown fields of the record of a subject that nothing may have changed since."""
        shown = self._shown(subject.identity)
        record = self.turn.view.get(*subject.identity)
        # A name is unique within its container only: `notes.txt` of two folders are two files.
        if record is None or shown.container != subject.container:
            return {}
        common = {name: record[name] for name in subject.value if name in record}
        # Someone else has written the record since, so that what answers showed before is out of date.
        if shown.call < self.turn.index and self.turn.view.version(*subject.identity) != shown.version:
            return common
        changed = self._changed_at(subject, record)
        return {name: value for name, value in common.items() if shown.at.get(name, 0) >= changed}

    def may_have_more(self, entity: str) -> bool:
        """Whether a write may have created records of an entity that the world does not know."""
        return any(self.memory.get(f"grown/{name}") is not None for name in (entity, EVERY))

    def _shown(self, identity: tuple[str, Key]) -> Shown:
        return self.memory.get(_shown_name(identity), Shown())

    def _changed_at(self, subject: Subject, known: Mapping[str, Json]) -> int:
        """Return the number of the last call that may have changed a record, or 0."""
        touched = (self.memory.get(f"touched/{name}", 0) for name in names_of(subject.key, known))
        if subject.is_named:
            return self.memory.get(WRITTEN, 0)
        unsettled = (self.memory.get(f"unsettled/{entity}", 0) for entity in (subject.entity.name, EVERY))
        return max(*touched, *unsettled)

    def place(self, subject: Subject) -> Subject:
        """Return a subject with its key in the form in which the world has it: 7 and "7" are the same."""
        key = find_key(self.turn.view, subject.entity.name, subject.key)
        return subject if key is None or key == subject.key else replace(subject, key=key)

    def is_known(self, key: Key) -> bool:
        """Whether an answer has shown a record of this id."""
        return self.memory.get(f"known/{key}", False)

    def was_hidden(self, entity: str, key: Key) -> bool:
        """Whether the last write of a record may have hidden it, so that the model decides whether tools show it."""
        return self.memory.get(f"hidden/{entity}/{key}", False)

    def has_moved(self, entity: str, key: Key, asked: AbstractSet[str] = frozenset()) -> bool:
        """Whether a state or a flag of a record has changed since it is known, except fields that a call asks for."""
        view = self.turn.view
        now = scope_of(view.get(entity, key) or {})
        puts = (
            change
            for past in self.turn.history
            for change in past.changes
            if change.entity == entity and change.key == key
        )
        records = [view.initial_records(entity).get(key), *(put.record for put in puts)]
        earlier = [scope_of(record) for record in records if record is not None]
        return any(then.get(name) != now.get(name) for then in earlier for name in (then.keys() | now.keys()) - asked)

    def has_written(self) -> bool:
        """Whether any call may have written."""
        return self.memory.get(WRITTEN, 0) > 0

    def provisional(self, entity: str) -> tuple[Key, ...]:
        """Return the keys of new records whose id no answer has shown yet."""
        return self.memory.get(f"provisional/{entity}", ())

    # what a call leaves

    def touch(self, arguments: Record) -> None:
        """Note that a call wrote, and named records by its arguments."""
        self.memory.set(WRITTEN, self.turn.index)
        for name in islice(scalars(arguments), MAX_NAMED):
            if not isinstance(name, str) or len(name) <= MAX_NAME:
                self.memory.set(f"touched/{name}", self.turn.index)

    def unsettle(self, entities: Iterable[str]) -> None:
        """Note that a write may have changed any record of these entities, and created more."""
        for entity in entities:
            self.memory.set(f"unsettled/{entity}", self.turn.index)
            self.memory.set(f"grown/{entity}", self.turn.index)

    def note_provisional(self, entity: str, keys: Iterable[Key]) -> None:
        """Note the keys of new records whose id no answer has shown yet; the newest ones."""
        self.memory.set(f"provisional/{entity}", tuple(keys)[-MAX_PROVISIONAL:])

    def note_hidden(self, entity: str, key: Key, *, is_hidden: bool) -> None:
        """Note whether a write may have hidden a record."""
        if is_hidden or self.was_hidden(entity, key):
            self.memory.set(f"hidden/{entity}/{key}", is_hidden)

    def note_growth(self, entities: Iterable[str]) -> None:
        """Note that a write may have created records of these entities that the world does not know."""
        for entity in entities:
            self.memory.set(f"grown/{entity}", self.turn.index)

    def note(
        self, subject: Subject, fields: Iterable[str], changes: Iterable[Change], guessed: Iterable[str] = ()
    ) -> None:
        """Note that these fields of a subject are fixed from now on, and that the `guessed` ones are not.

        `changes` are all that the call writes.
        """
        identity = subject.identity
        before = self._shown(identity)
        puts = sum((change.entity, change.key) == identity and change.op == "put" for change in changes)
        version = self.turn.view.version(*identity)
        known: Iterable[str] = ()
        if before.call < self.turn.index and version != before.version:
            known = self.turn.view.get(*identity) or {}
        at = {**before.at, **dict.fromkeys((*known, *fields), self.turn.index), **dict.fromkeys(guessed, -1)}
        self.memory.set(f"known/{subject.key}", True)
        self.memory.set(_shown_name(identity), Shown(version + puts, self.turn.index, at, subject.container))


def scope_of(record: Record) -> Record:
    """Return what tools choose records by unless they are asked for others: states, flags, whether a time is set."""
    scope: Record = {}
    for name, value in record.items():
        if snake(name) in STATES or isinstance(value, bool):
            scope[name] = value
        elif snake(name).endswith("_at"):
            scope[name] = value is not None
    return scope


def differences(fixed: Json, shown: Json, path: Path = ()) -> Iterator[tuple[Path, Json, Json]]:
    """Yield where a shown value says something else than a fixed one: the path, the fixed and the shown part.

    Of objects, common properties are compared, and of lists of objects those with the same id. A text may be shortened.
    """
    if isinstance(fixed, dict) and isinstance(shown, dict):
        ours, theirs = cast("Record", fixed), cast("Record", shown)
        for name in ours.keys() & theirs.keys():
            yield from differences(ours[name], theirs[name], (*path, name))
    elif _is_plain_list(fixed) and _is_plain_list(shown):
        # Without regard to order: servers sort tags and members as they like.
        if sorted(map(repr, as_list(fixed))) != sorted(map(repr, as_list(shown))):
            yield path, fixed, shown
    elif isinstance(fixed, list) and isinstance(shown, list):
        kind = singular(snake(str(path[-1]))) if path else ""
        identities = ((identity_of(as_object(item), kind), item) for item in cast("list[Json]", fixed))
        known = {identity[1]: item for identity, item in identities if identity is not None}
        for at, item in enumerate(cast("list[Json]", shown)):
            identity = identity_of(as_object(item), kind)
            if identity is not None and identity[1] in known:
                yield from differences(known[identity[1]], item, (*path, at))
    elif not _agrees(fixed, shown):
        yield path, fixed, shown


def _agrees(fixed: Json, shown: Json) -> bool:
    """Whether two plain values say the same."""
    if isinstance(fixed, str) and isinstance(shown, str) and fixed != shown:
        return any((_is_part(shown, fixed), _is_part(fixed, shown), fixed.strip() == shown.strip()))
    if isinstance(fixed, dict | list) or isinstance(shown, dict | list):
        return True  # the same thing in another form: an object instead of its id
    return equal(fixed, shown)


def restates(given: Json, shown: Json) -> bool:
    """Whether a shown value may be what an argument became: itself, in another form or notation."""
    if given in EMPTY or shown in EMPTY:
        return given is None or (given in EMPTY and shown in EMPTY)
    if isinstance(given, str) and isinstance(shown, str):
        return _restates_text(given, shown)
    if _is_plain_list(given) and _is_plain_list(shown):
        ours, theirs = cast("list[Json]", given), cast("list[Json]", shown)
        return len(theirs) <= len(ours) and all(any(restates(value, other) for other in theirs) for value in ours)
    return not _are_comparable(given, shown) or equal(given, shown)


def _restates_text(given: str, shown: str) -> bool:
    ours, theirs = (" ".join(text.casefold().split()) for text in (given, shown))
    is_shortened = theirs in ours and len(theirs) >= len(ours) / 2
    return is_shortened or f" {ours} " in f" {theirs} " or _may_be_one_moment(given, shown)


def _are_comparable(value: Json, other: Json) -> bool:
    """Whether two values are plain ones of one type, so that they say the same only if they are equal."""
    if is_number(value) and is_number(other):
        return True
    return type(value) is type(other) and not isinstance(value, dict | list)


def _is_plain_list(value: Json) -> bool:
    return isinstance(value, list) and not any(isinstance(item, dict | list) for item in cast("list[Json]", value))


def _may_be_one_moment(given: str, shown: str) -> bool:
    """Whether texts may be one time, in two time zones, or the same amount in two notations."""
    ours, theirs = parse_time(given), parse_time(shown)
    if ours is not None and theirs is not None:
        return abs(ours - theirs) <= LARGEST_SHIFT
    # Notations of one time or amount have the same digits, as far as both have them.
    digits, others = (re.sub(r"\D", "", text) for text in (given, shown))
    is_same = digits.startswith(others) or others.startswith(digits) or sorted(digits) == sorted(others)
    return is_same and all(map(_AMOUNT.fullmatch, (given, shown)))


def _is_part(text: str, whole: str) -> bool:
    """Whether a text is the beginning of a longer one, with an ellipsis, or a section of a much longer one."""
    bare = text.strip(". …")
    if text.startswith(("...", "…")) or (text.endswith(("...", "…")) and len(bare) < len(whole)):
        return bare in whole if text.startswith((".", "…")) else whole.startswith(bare)
    section = text.strip()
    return len(whole) > LONG and LEAST_SECTION <= len(section) < len(whole) / 2 and section in whole


def _shown_name(identity: tuple[str, Key]) -> str:
    return f"shown/{identity[0]}/{type(identity[1]).__name__[0]}{identity[1]}"
