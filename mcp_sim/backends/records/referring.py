"""Which records link to a record, and what becomes of their links when it goes, or gets another key?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mcp_sim.types import Change, Key, Record, View
from mcp_sim.types.domain import Domain, Field
from mcp_sim.types.json_schema.shapes import as_list, is_nullable, main_type
from mcp_sim.types.lexicon.words import plural


@dataclass(frozen=True, slots=True)
class Referrer:
    """A field of another entity (or of the same) that links here."""

    entity: str
    field: Field

    @property
    def holds(self) -> bool:
        """Is there no such record without the link?"""
        return self.field.required and not is_nullable(self.field.schema) and not self.is_list

    @property
    def is_list(self) -> bool:
        return main_type(self.field.schema) == "array"

    def rows(self, view: View, key: Key) -> Sequence[tuple[Key, Record]]:
        """The records that link to the one with this key."""
        if self.is_list:
            name = self.field.name
            return [row for row in view.rows(self.entity) if key in as_list(row[1].get(name))]
        return view.find(self.entity, self.field.name, key)

    def without(self, record: Record, key: Key) -> Record:
        """The record when the link is let go."""
        name = self.field.name
        if self.is_list:
            return {**record, name: [one for one in record[name] if one != key]}
        if is_nullable(self.field.schema):
            return {**record, name: None}
        return {field: value for field, value in record.items() if field != name}

    def following(self, record: Record, key: Key, new_key: Key) -> Record:
        """The record when what it links to has another key."""
        name = self.field.name
        value = [new_key if one == key else one for one in record[name]] if self.is_list else new_key
        return {**record, name: value}


def referring(domain: Domain, entity: str) -> list[Referrer]:
    """All fields that link to an entity's records."""
    return [
        Referrer(other.name, field)
        for other in domain.entities.values()
        for field in other.fields.values()
        if field.link == entity and field.derived is None
    ]


def let_go(view: View, referrers: Sequence[Referrer], key: Key, removed: Change) -> tuple[Change, ...] | str:
    """The changes that leave no link behind, or what forbids it."""
    touched: dict[tuple[str, Key], Record] = {}
    for one in referrers:
        rows = [row for row in one.rows(view, key) if (one.entity, row[0]) != (removed.entity, key)]
        if rows and one.holds:
            noun = (one.entity if len(rows) == 1 else plural(one.entity)).rpartition(".")[2].replace("_", " ")
            return f"{len(rows)} {noun} {'refers' if len(rows) == 1 else 'refer'} to it"
        for other, record in rows:
            touched[one.entity, other] = one.without(touched.get((one.entity, other), record), key)
    return (removed, *_puts(view, touched))


def renamed(view: View, referrers: Sequence[Referrer], key: Key, new_key: Key) -> tuple[Change, ...]:
    """The changes that let every link follow."""
    return _rewritten(view, referrers, key, lambda one, record: one.following(record, key, new_key))


def _rewritten(
    view: View, referrers: Sequence[Referrer], key: Key, rewrite: Callable[[Referrer, Record], Record]
) -> tuple[Change, ...]:
    touched: dict[tuple[str, Key], Record] = {}
    for one in referrers:
        for other, record in one.rows(view, key):
            touched[one.entity, other] = rewrite(one, touched.get((one.entity, other), record))
    return _puts(view, touched)


def _puts(view: View, records: dict[tuple[str, Key], Record]) -> tuple[Change, ...]:
    return tuple(
        Change("put", entity, key, record, expected=view.version(entity, key))
        for (entity, key), record in records.items()
    )
