"""The known facts of a world: its records, their fields, and deleted records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from support.checker.ledger import Json, Record

Key = str | int
_STATES = ("state", "status", "stage", "phase")


@dataclass
class Fact:
    """What is known of a record. `written`: fields as written in this ledger, `answered`: as answers showed.

    `made`: it was created in this ledger; `moved`: a later write gave it another state, flag or time; `referred`:
    nothing is known of it but that others link to it. `fleeting` are shown values that nothing says to be stored, with
    the version of the world that they are of.
    """

    exists: bool
    made: bool = False
    moved: bool = False
    is_whole: bool = False
    referred: bool = False
    written: Record = field(default_factory=dict[str, Any])
    answered: Record = field(default_factory=dict[str, Any])
    fleeting: dict[str, tuple[int, Json]] = field(default_factory=dict[str, tuple[int, Any]])

    @property
    def fields(self) -> Record:
        return {**self.answered, **self.written}


class Knowledge:
    """Facts by entity and key. `version` counts the writes; `complete` names the entities known in full.

    `own_ids`: a language model answers. The ids of new records need not be like earlier ones, and lists may hide
    records that moved.
    """

    def __init__(self, *, own_ids: bool = False) -> None:
        self.own_ids = own_ids
        self.facts: defaultdict[str, dict[Key, Fact]] = defaultdict(dict)
        self.complete: set[str] = set()
        self.version = 0

    def of(self, entity: str, key: Json) -> Fact | None:
        if not isinstance(key, str | int) or isinstance(key, bool):
            return None
        return self.facts[entity].get(key)

    def existing(self, entity: str) -> Iterator[tuple[Key, Fact]]:
        return ((key, fact) for key, fact in self.facts[entity].items() if fact.exists)

    def gone(self, entity: str) -> Iterator[Key]:
        return (key for key, fact in self.facts[entity].items() if not fact.exists)

    def is_absent(self, entity: str, key: Json) -> bool:
        """Whether a record certainly does not exist."""
        fact = self.of(entity, key)
        return not fact.exists if fact is not None else entity in self.complete

    # learning

    def write(self, changes: Iterable[Record], *, creates: bool = False) -> None:
        """Learn written changes; puts are whole records. `creates`: of records that were not there before."""
        for change in changes:
            self.version += 1
            entity, key = change["entity"], change["key"]
            before = self.facts[entity].get(key)
            if change["op"] == "put":
                is_created = before is None or not before.exists or before.made
                moved = not creates if before is None else before.moved or _moves(before.fields, change["record"])
                self.facts[entity][key] = Fact(True, is_created, moved, is_whole=True, written=dict(change["record"]))
            elif change["op"] == "remove":
                self.facts[entity][key] = Fact(False, made=before.made if before is not None else False)

    def show(self, entity: str, key: Key, stored: Record, other: Record) -> None:
        """Learn the fields of a record in an answer, which are stored or computed."""
        fact = self.facts[entity].setdefault(key, Fact(True))
        fact.referred = False
        fact.answered.update({name: value for name, value in stored.items() if name not in fact.written})
        fact.fleeting.update({name: (self.version, value) for name, value in other.items()})

    def refer(self, entity: str, key: Key) -> None:
        """Learn that a record exists because an answer links to it."""
        self.facts[entity].setdefault(key, Fact(True, referred=True))


def _moves(before: Record, after: Record) -> bool:
    """Whether a write gives a record another state, flag or time, by which tools may hide it."""
    changed = [name for name in after if name in before and before[name] != after[name]]
    return any(name in _STATES or name.endswith("_at") or isinstance(after[name], bool) for name in changed)
