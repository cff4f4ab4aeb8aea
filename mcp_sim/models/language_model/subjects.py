"""Find the records that a JSON answer shows, and those that a write addresses."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Self, cast

from mcp_sim.types import Change, Json, Key, Record, Tool, Turn, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_values import READS, Path, is_key, split_path
from mcp_sim.types.lexicon.english import plural, singular, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import RECORDLESS, Plan
from mcp_sim.types.time_formats import parse_time

IDS = ("id", "uuid", "guid", "_id")  # the usual names of ids
NAMES = ("key", "path", "uri", "url", "slug", "full_name", "name", "username", "filename", "sku", "symbol", "title")
"""The usual names of what identifies an object without id, within its container."""
_QUERIES = terms("arguments.query")
_ENTRY = "_entry"
_GLOBAL = frozenset("/@")  # characters of names that have no container, such as paths and addresses
_NOWHERE: frozenset[str] = frozenset()
ENVELOPE = frozenset(
    {"success", "ok", "message", "operation", "action", "error", "errors", "warning", "warnings", "isError"}
)
"""Names of what an answer says about the call, not about a record."""
INDEXES = frozenset({"index", "position", "line", "row", "rank", "order", "offset"})
STATES = terms("fields.state")
"""Fields whose value may change by itself soon after a create: an order is pending, and then open."""
_GENERIC = terms("results.rows") | terms("results.record")
"""Names of properties that say nothing about the kind of what they hold."""
MAX_OBJECTS = 2_000
"""How many objects of one answer are read. Each is compared with the records of the world."""


@frozen
class Subject:
    """An object with an identity, in an answer."""

    path: Path
    entity: Entity
    """Its entity. Objects that no plan mentions have one of their own, named by the property that holds them."""
    key: Key
    key_field: str
    value: Record
    container: frozenset[str] = frozenset()
    """What a name is unique within: the arguments of the call and the keys of the objects around. Empty for ids."""
    is_named: bool = False
    """Whether a name identifies it, not an id."""

    @property
    def identity(self) -> tuple[str, Key]:
        return self.entity.name, self.key

    def fields(self) -> Iterator[tuple[str, Json]]:
        """Yield the fields of the record: not its key, nor what the answer says about the call."""
        for name, value in self.value.items():
            if name not in (self.key_field, self.entity.key) and name not in ENVELOPE:
                yield name, value


@frozen
class SubjectNames:
    """How the answers of one tool name their subjects.

    `entities` maps property names to entities, `paths` the paths of the plan's records to their entity. `noun` is the
    kind of the objects that the tool shows, `taken` has the names of all entities of the scenario.
    """

    entities: Mapping[str, Entity]
    paths: Mapping[Path, Entity]
    noun: str
    taken: Container[str]

    @classmethod
    def of(cls, tool: Tool, plan: Plan, domain: Domain, entities: Mapping[str, Entity]) -> SubjectNames:
        entity = next((candidate for candidate in entities.values() if candidate.name == plan.entity), None)
        places = (plan.envelope.rows, plan.envelope.record) if entity is not None else ()
        paths = {split_path(place): entity for place in places if place is not None and entity is not None}
        parsed = words(tool.name)
        return cls(entities, paths, plan.entity or (singular(parsed[-1]) if parsed else ""), domain.entities)

    def subjects(self, value: Json, arguments: Record) -> list[Subject]:
        """Return the subjects of an answer, without those whose id two differing objects of it share."""
        given = frozenset(
            text for name, text in arguments.items() if isinstance(text, str) and snake(name) not in _QUERIES
        )
        subjects = list(islice(self._within(value, (), self._entity(self.noun), self.noun, given), MAX_OBJECTS))
        seen: dict[tuple[str, Key], Subject] = {}
        shared = set[tuple[str, Key]]()
        for subject in subjects:
            first = seen.setdefault(subject.identity, subject)
            common = first.value.keys() & subject.value.keys() if first is not subject else ()
            if any(not equal(first.value[name], subject.value[name]) for name in common):
                shared.add(subject.identity)
        return [subject for subject in subjects if subject.identity not in shared]

    def _within(
        self, value: Json, path: Path, entity: Entity | None, kind: str, around: frozenset[str]
    ) -> Iterator[Subject]:
        entity = self.paths.get(path, entity)
        if isinstance(value, list):
            for at, item in enumerate(cast("list[Json]", value)):
                yield from self._within(item, (*path, at), entity, kind, around)
        elif isinstance(value, dict):
            body = cast("Record", value)
            subject = _subject(body, path, entity, self.free_kind(kind, entity), around)
            if subject is not None:
                yield subject
                around |= {str(subject.key)}
            for name, item in body.items():
                if isinstance(item, dict | list):
                    inner, own = self._inside(name, kind, subject)
                    yield from self._within(item, (*path, name), own, inner, around)

    def free_kind(self, kind: str, entity: Entity | None) -> str:
        """Return the name of the entity of objects of a kind, which is not an entity of the scenario."""
        return kind if entity is None and kind not in self.taken else free_name(kind)

    def _inside(self, name: str, kind: str, subject: Subject | None) -> tuple[str, Entity | None]:
        """Return the kind of the objects that a property holds, and their entity if it is known."""
        if snake(name) not in _GENERIC:
            return singular(snake(name)), self._entity(name)
        return (kind, self._entity(kind)) if subject is None else (f"{kind}_{singular(snake(name))}", None)

    def _entity(self, name: str) -> Entity | None:
        form = snake(name)
        return self.entities.get(form) or self.entities.get(singular(form))


def free_name(entity: str) -> str:
    """Return the name of the entity of objects that look like an entity of the scenario, and have no such key."""
    return entity + _ENTRY


def entity_names(domain: Domain) -> Mapping[str, Entity]:
    """Return the entities by the names of properties that hold their records.

    Entities of backends that need complete records are left out: an answer shows parts of them.
    """
    others = {plan.entity for plan in domain.plans.values() if plan.backend not in ("records", "schema_only")}
    plain = [entity for entity in domain.entities.values() if entity.name not in others]
    named = [(entity, entity.name.rpartition(".")[2]) for entity in plain]
    return {form: entity for entity, name in named for form in (snake(name), snake(plural(name)))}


def identity_of(body: Record, place: str, key_field: str | None = None) -> tuple[str, Key] | None:
    """Return the name and the value of the field that identifies an object; None if nothing does."""
    stem = snake(place).rpartition(".")[2]
    own = (key_field,) if key_field is not None else ()
    for name in (*own, f"{stem}_id", f"{stem}Id", *IDS):
        key: Any = body.get(name)
        if is_key(key) and key != "" and snake(name) not in INDEXES:
            return name, key
    return None


def _subject(body: Record, path: Path, entity: Entity | None, kind: str, around: frozenset[str]) -> Subject | None:
    if entity is not None and not entity.singleton and entity.inside is None:
        identity = identity_of(body, entity.name, entity.key)
        if identity is not None:
            return Subject(path, entity, identity[1], identity[0], body, is_named=identity[0] in NAMES)
        is_row = len(path) > 0 and isinstance(path[-1], int) and len(body) > 1
        return _named_subject(body, path, free_name(entity.name), around) if is_row else None
    identity = identity_of(body, kind.removesuffix(_ENTRY))
    if identity is not None:
        return Subject(path, Entity(kind, identity[0]), identity[1], identity[0], body)
    return _named_subject(body, path, kind, around) if len(body) > 1 else None


def _named_subject(body: Record, path: Path, kind: str, around: frozenset[str]) -> Subject | None:
    called = next((name for name in NAMES if isinstance(body.get(name), str) and body[name] != ""), None)
    if called is None:
        return None
    container = around if _GLOBAL.isdisjoint(body[called]) else _NOWHERE
    return Subject(path, Entity(kind, called, natural=True), body[called], called, body, container, is_named=True)


def scalars(value: Json) -> Iterator[Key]:
    """Yield the texts and whole numbers within a value."""
    left: list[Any] = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, dict):
            left.extend(cast("Record", inner).values())
        elif isinstance(inner, list):
            left.extend(cast("Sequence[Any]", inner))
        elif is_key(inner):
            yield inner


# what a write addresses -----------------------------------------------------------------------------------------------


ADDRESSES = ("name", "title", "path", "slug", "key", "full_name", "number", "filename", "file_path", "uri", "url")
"""Fields that a call may name a record by, besides its id."""


@frozen
class Reach:
    """What a write addresses.

    `entity` is that of its plan, and `place` the path of the new or updated record in the answer. `names` has the
    arguments. `written` are the records that it writes, and `linked` those that these refer to, by entity and key.
    """

    entity: str
    place: Path | None
    names: frozenset[str]
    written: frozenset[tuple[str, str]]
    linked: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, turn: Turn, plan: Plan, domain: Domain, changes: Iterable[Change]) -> Self | None:
        """Return the reach of a write with these changes; None if its plan is not sure, so that it may change all."""
        is_unsure = plan.guessed or plan.verb in (*READS, *RECORDLESS)
        if is_unsure or plan.entity is None or plan.entity not in domain.entities:
            return None
        written, linked = set[tuple[str, str]](), set[tuple[str, str]]()
        for change in changes:
            written.add((change.entity, str(change.key)))
            entity = domain.entities.get(change.entity)
            for record in (change.record, turn.view.get(change.entity, change.key)):
                linked.update(() if entity is None or record is None else _links(entity, record))
        place = plan.envelope.record if plan.verb in ("create", "update") else None
        return cls(
            plan.entity,
            None if place is None else split_path(place),
            frozenset(map(str, scalars(turn.call.arguments))),
            frozenset(written),
            frozenset(linked),
        )

    def includes(self, subject: Subject, name: str, known: Record) -> bool:
        """Whether the write may change a field of a record. This is known of it.

        What it names or writes may change, and what refers to a written record or is referred to. So may whatever a
        name identifies, as another object may have it now, and, of records of other entities, what is not a plain text:
        counts, totals, times, states.
        """
        if subject.is_named or subject.path == self.place or not self.names.isdisjoint(names_of(subject.key, known)):
            return True
        if (subject.entity.name, str(subject.key)) in self.written | self.linked:
            return True
        if not self.written.isdisjoint(_links(subject.entity, known)):
            return True
        value: Json = known.get(name)
        is_plain = isinstance(value, str) and parse_time(value) is None
        return subject.entity.name != self.entity and (name in STATES or not is_plain)


def names_of(key: Key, known: Mapping[str, Json]) -> Iterator[str]:
    """Yield what a call may name a record by: its key, and its fields that are names."""
    yield str(key)
    yield from (str(known[name]) for name in ADDRESSES if isinstance(known.get(name), str | int))


def _links(entity: Entity, record: Record) -> Iterator[tuple[str, str]]:
    for field in entity.fields.values():
        if field.link is not None and isinstance(record.get(field.name), str | int):
            yield field.link, str(record[field.name])
