"""Take a model's answer into the world: compare it with the fixed facts, correct it, and absorb what it shows.

What contradicts a fixed fact is a problem, which the model is asked to mend; at the last attempt that one value is
corrected. Everything else stays as the model says it, and becomes a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, cast

from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.fixed_facts import FixedFacts, differences
from mcp_sim.models.language_model.subjects import IDS, STATES, Subject, scalars
from mcp_sim.types import Change, Json, Key, Record, View, find_key, frozen, was_written
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import is_nullable
from mcp_sim.types.json_values import Path, get_part, in_list, is_key, replace_part
from mcp_sim.types.lexicon.english import is_past_event
from mcp_sim.types.time_formats import parse_time, time_format

OMITTED: Any = object()  # the correction of a row that does not exist

SLACK = timedelta(days=1)  # how much later than now a past event may seem to be, by another clock or time zone
_UPDATED = re.compile(r"(?:last_)?(?:updated|modified)(?=_?(?:at|on|date|time)$|$)", re.IGNORECASE)

Unchecked = set[tuple[str, Key, str]]
"""Entity, key and field of values that no check may compare; the field `*` means all."""


@frozen
class Contradiction:
    """A value of an answer that a fixed fact contradicts, and what it must be."""

    path: Path
    problem: str
    """A sentence for the model; empty if the model may not know the fact."""
    true: Json


@dataclass(slots=True)
class Absorption:
    """The absorption of the subjects of one answer.

    `view` has the changes of the call itself. `is_search`: the answer shows excerpts, which are not facts.
    """

    disclosure: Disclosure
    facts: FixedFacts
    view: View
    is_search: bool
    changes: tuple[Change, ...] = ()
    absorbed: list[Change] = field(default_factory=list[Change])
    unchecked: Unchecked = field(default_factory=Unchecked)
    shown: int = 0
    """How many values were shown of known subjects."""
    fixed: int = 0
    """How many of them were fixed."""

    @property
    def domain(self) -> Domain:
        return self.disclosure.domain

    def contradictions(self, subjects: Iterable[Subject], rows: Callable[[Path], bool]) -> Iterator[Contradiction]:
        """Yield what contradicts the fixed facts. `rows` says whether a path is one of a list of records."""
        for subject in subjects:
            if self._is_absent(subject) and rows(subject.path):
                yield Contradiction(subject.path, f"there is no {subject.entity.name} {subject.key!r}", OMITTED)
                continue
            fixed = self.facts.fixed(subject)
            known = {**(self.view.get(*subject.identity) or {}), **fixed}
            for name, shown in self._known_fields(subject):
                self.shown += name in known
                self.fixed += name in fixed
                for path, ours, theirs in differences(fixed[name], shown, (name,)) if name in fixed else ():
                    label = f"{subject.entity.name} {subject.key!r}: {'.'.join(map(str, path))}"
                    yield Contradiction((*subject.path, *path), f"{label} is {ours!r}, not {theirs!r}", ours)

    def undisclosed(self, subjects: Iterable[Subject], drafted: Sequence[Subject]) -> Iterator[Contradiction]:
        """Yield what an answer shows of values that the model may not see or change, and what it leaves out of them.

        The tool shows a value that is left out if the draft does.
        """
        shown = {drafted_subject.identity: drafted_subject.value for drafted_subject in drafted}
        for subject in () if self.disclosure.is_whole else subjects:
            record = self.view.get(*subject.identity) or {}
            hidden = self.disclosure.hidden(subject.entity.name, record)
            left_out = hidden & shown.get(subject.identity, {}).keys() & record.keys() - subject.value.keys()
            said = {name for name, value in subject.fields() if name in record and not equal(record[name], value)}
            for name in sorted(left_out | {name for name in said if not self._may_say(subject, name)}):
                # Without a sentence: a complaint would show the model what is withheld from it.
                yield Contradiction((*subject.path, name), "", record[name])

    def _may_say(self, subject: Subject, name: str) -> bool:
        """Whether the model decides what an answer shows of a field."""
        record = self.view.get(*subject.identity)
        return record is None or self.disclosure.may_change(subject.entity.name, record, name, subject.value[name])

    def _known_fields(self, subject: Subject) -> Iterator[tuple[str, Json]]:
        """Yield the shown fields of a subject that the model may know."""
        if self.disclosure.is_whole:
            return subject.fields()
        return ((name, value) for name, value in subject.fields() if self._may_say(subject, name))

    def impossible_times(self, subjects: Iterable[Subject]) -> Iterator[Contradiction]:
        """Yield times of past events that lie in the future, and updates before the creation."""
        latest, given = self.facts.turn.now + SLACK, [*scalars(self.facts.turn.call.arguments)]
        for subject in subjects:
            times = {name: parse_time(value) for name, value in subject.value.items() if is_past_event(name)}
            known = self.view.get(*subject.identity) or {}
            for name, moment in times.items():
                shown = subject.value[name]
                if moment is not None and moment > latest and shown not in (*given, known.get(name)):
                    form = time_format(shown)
                    true = shown if form is None else form.write(self.facts.turn.now)
                    yield Contradiction((*subject.path, name), f"{name} is in the future: {shown!r}", true)
            known = {**known, **subject.value}
            for name, updated in times.items():
                creation = _UPDATED.sub("created", name, count=1)
                created = parse_time(known.get(creation)) if creation != name else None
                if created is not None and updated is not None and updated < created <= latest:
                    yield Contradiction((*subject.path, name), f"{name} is before {creation}", known[creation])

    def dangling_links(self, subjects: Iterable[Subject]) -> Iterator[Contradiction]:
        """Yield links to records that certainly do not exist, and empty ones."""
        for subject in subjects:
            for name, shown in self._known_fields(subject):
                target = self._link(subject.entity, name)
                wrong = [] if target is None else [key for key in in_list(shown) if self._leads_nowhere(target, key)]
                if target is None or not wrong:
                    continue
                rest = [key for key in in_list(shown) if key not in wrong]
                true = rest if isinstance(shown, list) else self._true_link(subject, name, target)
                if not equal(true, shown):  # a record may keep the link to what was deleted
                    problem = f"{subject.entity.name} {subject.key!r}: {name} {wrong[0]!r} is no {target.name}"
                    yield Contradiction((*subject.path, name), problem, true)

    def _leads_nowhere(self, target: Entity, key: Json) -> bool:
        if not is_key(key) or target.singleton or target.inside is not None:
            return False
        is_found = find_key(self.view, target.name, key) is not None
        return not is_found and (key == "" or is_absent(self.view, self.facts, self.domain, target, key))

    def _true_link(self, subject: Subject, name: str, target: Entity) -> Json:
        """Return the earlier link of a record. Without one: null, or the newest record if the link is required."""
        before = (self.facts.turn.view.get(*subject.identity) or {}).get(name)
        if before is not None or is_nullable(subject.entity.fields[name].schema):
            return before
        return self.view.last_key(target.name)

    def absorb(self, subjects: Iterable[Subject]) -> None:
        """Absorb what an answer shows of its subjects, but not of a record that the call removes."""
        removed = {(change.entity, change.key) for change in self.changes if change.op == "remove"}
        for subject in subjects:
            if subject.identity in removed or self._is_absent(subject):
                continue
            entity, key = subject.entity, self._stored_key(subject.entity, subject.key)
            stored = self.view.get(entity.name, key)
            fields = dict(self._known_fields(subject))
            news = self._news(subject, fields, stored)
            before = stored if stored is not None else {**self._provisional(entity, fields), entity.key: key}
            after = {**before, **news}
            if news or stored is None:
                self._change(Change("put", entity.name, key, after))
            self.unchecked |= {(entity.name, key, name) for name in _differing(dict(subject.fields()), after)}
            self.absorb_links(entity, fields)
            guessed = [name for name, value in fields.items() if self._is_provisional(subject, name, value, stored)]
            facts = fields.keys() - _differing(fields, {**dict.fromkeys(fields), **after}) - {*guessed}
            self.facts.note(replace(subject, key=key), facts, (*self.changes, *self.absorbed), guessed)

    def _provisional(self, entity: Entity, fields: Record) -> Record:
        """Remove the record that was created without a known id and has these fields, and return it without its key."""
        for key in self.facts.provisional(entity.name):
            record = self.view.get(entity.name, key)
            known = {} if record is None else {name: value for name, value in record.items() if name != entity.key}
            common = known.keys() & fields.keys()
            if common and all(not any(differences(known[name], fields[name])) for name in common):
                rest = (waiting for waiting in self.facts.provisional(entity.name) if waiting != key)
                self.facts.note_provisional(entity.name, rest)
                self._change(Change("remove", entity.name, key))
                return known
        return {}

    def _is_provisional(self, subject: Subject, name: str, value: Json, stored: Record | None) -> bool:
        """Whether a shown value is not a fact yet: an excerpt of a search, the first state of what the call creates.

        A state that the call gives is a fact at once, others are when a read shows them.
        """
        if not self.facts.is_write or name not in STATES:
            return self.is_search and (stored is None or name not in stored)
        turn = self.facts.turn
        return turn.view.get(*subject.identity) is None and value not in scalars(turn.call.arguments)

    def _news(self, subject: Subject, fields: Record, stored: Record | None) -> Record:
        """Return the shown values that are to be stored: new ones, and others of fields that nothing fixes."""
        if stored is None:
            return fields
        if self.is_search:
            return {name: value for name, value in fields.items() if name in IDS and name not in stored}
        fixed = self.facts.fixed(subject)
        return {
            name: value
            for name, value in fields.items()
            if name not in stored or (name not in fixed and not equal(stored[name], value))
        }

    def _change(self, change: Change) -> None:
        self.absorbed.append(change)
        self.view = self.view.after([change])

    def absorb_links(self, entity: Entity, fields: Mapping[str, Json]) -> None:
        """Absorb the records that a record refers to: they exist, and nothing else is known of them."""
        for name, value in fields.items():
            target = self._link(entity, name)
            if target is None or target.inside is not None or target.singleton:
                continue
            for key in in_list(value):
                if is_key(key) and key != "" and self.view.get(target.name, key) is None:
                    self._change(Change("put", target.name, key, {target.key: key}))

    def _link(self, entity: Entity, name: str) -> Entity | None:
        declared = entity.fields.get(name)
        return None if declared is None or declared.link is None else self.domain.entities.get(declared.link)

    def _stored_key(self, entity: Entity, key: Key) -> Key:
        """Return the key in the form in which the world has it: 7 and "7" are the same."""
        stored = find_key(self.view, entity.name, key)
        return key if stored is None else stored

    def _is_absent(self, subject: Subject) -> bool:
        return self.is_certainly_absent(subject.entity, subject.key)

    def is_certainly_absent(self, entity: Entity, key: Key) -> bool:
        """Whether the world knows that a record does not exist: it was deleted, or all records are given."""
        return is_absent(self.view, self.facts, self.domain, entity, self._stored_key(entity, key))


def _differing(shown: Record, stored: Record) -> set[str]:
    """Return the fields that both have with other values."""
    return {name for name in shown.keys() & stored.keys() if not equal(shown[name], stored[name])}


def is_absent(view: View, facts: FixedFacts, domain: Domain, entity: Entity, key: Key) -> bool:
    """Whether it is a fixed fact that a record does not exist: it was deleted, or all records are given."""
    if view.get(entity.name, key) is not None or facts.may_have_more(entity.name) or entity.inside is not None:
        return False
    if facts.was_hidden(entity.name, key):
        return False  # it may be archived
    if entity.natural and entity.name not in domain.entities:
        return False  # what only a name identifies may exist again
    return was_written(view, entity.name, key) or is_closed(domain, entity)


def is_closed(domain: Domain, entity: Entity) -> bool:
    """Whether the scenario says which records an entity has at the beginning."""
    return entity.name in domain.specified and not entity.open and not domain.open


def corrected(value: Json, contradictions: Sequence[Contradiction]) -> Json:
    """Return an answer with what contradicts the world replaced; rows that do not exist are left out."""
    for contradiction in contradictions:
        if contradiction.true is not OMITTED:
            value = replace_part(value, contradiction.path, contradiction.true)
    omitted: dict[Path, set[int]] = {}
    for contradiction in contradictions:
        if contradiction.true is OMITTED and isinstance(contradiction.path[-1], int):
            omitted.setdefault(contradiction.path[:-1], set()).add(contradiction.path[-1])
    # The deepest first, since leaving out an outer row moves the paths of those after it.
    for path, places in sorted(omitted.items(), key=lambda item: -len(item[0])):
        rows = cast("list[Json]", get_part(value, path))
        value = replace_part(value, path, [row for at, row in enumerate(rows) if at not in places])
    return value
