"""Find the entities of OpenAPI documents: component schemas with a key, and what the paths of records show."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from mcp_sim.spec.foreign.openapi import Operation, fields_of, referred
from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE, expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, main_type, properties
from mcp_sim.types.json_values import is_key
from mcp_sim.types.lexicon.english import plural, singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms

PARAMETER = re.compile(r"\{([^}]+)\}")
COMPONENTS = "#/components/schemas/"
_VERSION = re.compile(r"(?<=.)_v_?\d+$")
_KEYS = ("id", "uuid", "guid", "key", "_id")
_PLAIN = frozenset({"string", "number", "integer", "boolean"})
_LONGEST_FIELD = 400  # a field with a long list of choices would hide the others in the spec
_DEEPEST_WRAPPER = 2  # `{data: {items: [...]}}`


@frozen
class Resource:
    """A schema that is an entity: its component's name, the entity's name, its key, its expanded schema.

    `place`: its path in a result that has other objects, too. `is_single`: the path of all records shows one.
    """

    component: str
    entity: str
    key: str
    schema: Record
    place: str = ""
    is_single: bool = False


@frozen
class Resources:
    """The entities of a document.

    `named` has them by name, without `_`; `at` by the path of all records. `by_component` has those that a path names
    or shows. `singles` are the paths of all records that show one: `/config`, beside `/config/{id}`. `removals` has the
    length of the shortest path that deletes a record, by entity.
    """

    document: Record
    named: Mapping[str, Resource]
    at: Mapping[str, Resource]
    by_component: Mapping[str, Resource]
    singles: Collection[str]
    removals: Mapping[str, int]

    @property
    def shown(self) -> set[str]:
        """The entities that a path names or shows."""
        return {resource.entity for resource in (*self.by_component.values(), *self.at.values())}

    def of(self, parts: Sequence[str]) -> Resource | None:
        """Return what the segments of a path end with: what it shows, else what its end names in the plural.

        `/salesorders` and `/sales/orders` name a sales order.
        """
        shown = self.at.get("/".join(parts))
        if shown is not None:
            return shown
        name, resource = "", None
        for segment in takewhile(lambda segment: PARAMETER.search(segment) is None, reversed(parts)):
            *others, last = words(segment) or ("",)
            if not name:
                if plural(singular(last)) != last:
                    return None
                last = singular(last)
            name = "".join((*others, last)) + name
            resource = self.named.get(name, resource)
        return resource

    def is_created(self, operation: Operation, resource: Resource) -> bool:
        """Whether the body of an operation has the name or half of its fields from a record, or the result is one."""
        component, body = _target(self.document, as_object(operation.body))
        sent, own = properties(_whole(self.document, body)), properties(resource.schema)
        noun = noun_of(segments(operation.path))
        names = {joined(noun), joined(resource.entity)}
        if not names.isdisjoint(map(joined, sent)) or any(name in joined(component) for name in names):
            return True
        if sent and 2 * len(sent.keys() & own.keys()) >= len(sent):
            return True
        shown = _record(self.document, operation.success, noun, resource.key)
        if shown is None or self.by_component.get(shown.component) == resource:
            return shown is not None
        return not shown.component and are_alike(shown.schema, resource.schema)

    def envelope(self, operation: Operation, resource: Resource) -> Record:
        """Return where a result has the record, if it has other objects, too."""
        shown = _record(self.document, operation.success, noun_of(segments(operation.path)), resource.key)
        return {"envelope": {"record": shown.place}} if shown is not None and shown.place else {}

    def lists(self, operation: Operation) -> bool:
        """Whether the result of an operation lists records, or is not declared."""
        noun = noun_of(segments(operation.path))
        is_record = _record(self.document, operation.success, noun) is not None
        return not is_record or _row(self.document, operation.success, noun) is not None

    def shows_owner(self, operation: Operation, parts: Sequence[str]) -> bool:
        """Whether an operation shows the record above its path: `/carts/{id}/coupons/{code}`, which shows a cart."""
        shown = _record(self.document, operation.success, noun_of(parts))
        owners = [self.of(parts[:at]) for at, segment in enumerate(parts[:-1]) if PARAMETER.fullmatch(segment)]
        return shown is not None and self.by_component.get(shown.component, shown) in owners

    def is_plain(self, operation: Operation) -> bool:
        """Whether the result of an operation is a plain value, such as the text of a log."""
        return main_type(_target(self.document, as_object(operation.success))[1]) in _PLAIN

    def is_removed_elsewhere(self, parts: Sequence[str], resource: Resource) -> bool:
        """Whether a path inside another record only ends a membership: a shorter one deletes records of the entity."""
        is_inside = any(PARAMETER.fullmatch(segment) for segment in parts[:-1])
        return is_inside and len(parts) > self.removals.get(resource.entity, len(parts))


def resources(document: Record, listed: Sequence[Operation]) -> Resources:
    """Return the entities that the component schemas, paths and results of a document have."""
    named = _components(document)
    kept = named_by_paths([resource.entity for resource in named.values()], listed)
    by_component = {resource.component: resource for resource in named.values() if resource.entity in kept}
    naming = _Naming({name: resource for name, resource in named.items() if resource.entity in kept}, by_component)
    shown = [*_shown(document, listed)]
    shown.sort(key=lambda item: joined(noun_of(item[0])) not in item[1].component.lower())
    at = {"/".join(path): resource for path, record in shown if (resource := naming.of(path, record)) is not None}
    renamed = {path: naming.latest(resource) for path, resource in at.items()}
    singles = {"/".join(path) for path, record in shown if record.is_single}
    whole = Resources(document, {**named, **naming.entities}, renamed, naming.by_component, singles, {})
    deleting = [segments(operation.path) for operation in listed if operation.method == "delete"]
    keyed = sorted((parts for parts in deleting if parts and PARAMETER.fullmatch(parts[-1])), key=len, reverse=True)
    removals = {resource.entity: len(parts) for parts in keyed if (resource := whole.of(parts[:-1])) is not None}
    return replace(whole, removals=removals)


def _components(document: Record) -> dict[str, Resource]:
    """Return the component schemas of objects that have a key, by their entities without `_`."""
    named: dict[str, Resource] = {}
    for component in as_object(as_object(document.get("components")).get("schemas")):
        schema = _whole(document, {"$ref": COMPONENTS + component})
        entity = singular(_VERSION.sub("", snake(component)))
        key = _key(entity, properties(schema))
        if key is not None and joined(entity) not in named:
            named[joined(entity)] = Resource(component, entity, key, schema)
    return named


def named_by_paths(entities: Iterable[str], listed: Iterable[Operation]) -> set[str]:
    """Return the entities whose words occur in one path. Others are forms of data, such as `task_response`.

    `line_item` is named by `/line-items` and `/lineitems`, `lineitem` too.
    """
    paths = defaultdict[str, set[str]](set)
    for path in {operation.path for operation in listed}:
        for name in map(words, path.split("/")):
            for word in (*name, "".join(name)):
                paths[singular(word)].add(path)
    return {
        entity
        for entity in entities
        if paths.get(singular(entity.replace("_", "")))
        or set[str].intersection(*(paths.get(singular(word), set()) for word in entity.split("_")))
    }


def entity_entry(resource: Resource) -> Record:
    """Return the entity's entry in a tool spec: its key, an example id if there is one, and its short fields."""
    fields = properties(resource.schema)
    key: Record = fields[resource.key]
    example = key.get("example", next(iter(as_list(key.get("examples"))), None))
    example = example or as_object(resource.schema.get("example")).get(resource.key)
    like = {"key_like": example} if is_key(example) else {}
    plain = {name: field for name, field in fields.items() if len(str(field)) <= _LONGEST_FIELD and field != IMPOSSIBLE}
    required = [name for name in as_list(resource.schema.get("required")) if name in plain]
    return {"key": resource.key, **like, "fields": plain, **({"required": required} if required else {})}


# names ----------------------------------------------------------------------------------------------------------------


def segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def noun_of(parts: Sequence[str]) -> str:
    """Return the singular of the last segment of a path that is not a parameter, '' if all are."""
    literal = next((segment for segment in reversed(parts) if PARAMETER.search(segment) is None), "")
    return singular_phrase(words(literal))


def joined(name: str) -> str:
    return "".join(words(name))


class _Naming:
    """Finds the entities of the records that paths show, and names new ones."""

    def __init__(self, entities: Mapping[str, Resource], by_component: Mapping[str, Resource]) -> None:
        self.entities, self.by_component = {**entities}, {**by_component}
        self._keyed, self._paths = set[str](), defaultdict[str, list[str]](list)

    def of(self, path: Sequence[str], shown: Resource) -> Resource | None:
        """Return the entity of a record that a path shows. None if the path has no name for it.

        `/photos/{uid}/label/{id}`, which shows a photo, is not about photos, since a label's id is not a photo's uid.
        Nor is it if both have an `id`: it is below the path of photos.
        """
        alike, known = self._alike(noun_of(path), shown), self.by_component.get(shown.component)
        whole = "/".join(path)
        if known is not None and alike is None and known.entity in self._keyed:
            is_below = any(whole.startswith(f"{above}/") for above in self._paths[known.entity])
            return known if known.key == shown.key and not is_below else None
        known = known or alike
        resource = self._new(path, shown) if known is None else self._with_key(known, shown)
        if resource is not None:
            self._paths[resource.entity].append(whole)
        return resource

    def latest(self, resource: Resource) -> Resource:
        """Return an entity with the key that the paths use."""
        return self.entities[joined(resource.entity)]

    def _alike(self, noun: str, shown: Resource) -> Resource | None:
        """Return an entity that a path names and that shares most of the fields. `pet_visit` names a visit too."""
        ends = [noun.split("_", count)[-1] for count in range(noun.count("_") + 1)]
        named = [self.entities[end] for end in map(joined, ends) if end in self.entities]
        return next((resource for resource in named if are_alike(resource.schema, shown.schema)), None)

    def _new(self, path: Sequence[str], shown: Resource) -> Resource | None:
        """Return a new entity, with the name of what is before it in the path if its own is taken."""
        literal = [segment for segment in path if PARAMETER.search(segment) is None]
        owner = noun_of(literal[:-1])
        names = [noun_of(path), *([f"{owner}_{noun_of(path)}"] if owner else [])]
        name = next((name for name in names if name and joined(name) not in self.entities), None)
        if name is None:
            return None
        return self._kept(replace(shown, entity=name, place="", is_single=False))

    def _with_key(self, known: Resource, shown: Resource) -> Resource:
        """Return an entity with the key of the first path that shows it."""
        if known.entity in self._keyed or shown.key not in properties(known.schema):
            return known
        return self._kept(replace(known, key=shown.key))

    def _kept(self, resource: Resource) -> Resource:
        self._keyed.add(resource.entity)
        self.entities[joined(resource.entity)] = resource
        if resource.component:
            self.by_component[resource.component] = resource
        return resource


def are_alike(schema: Record, other: Record) -> bool:
    """Whether two objects share at least half of the fields of the smaller one."""
    names, others = properties(schema).keys(), properties(other).keys()
    return 2 * len(names & others) >= min(len(names), len(others)) > 0


# results --------------------------------------------------------------------------------------------------------------


def _shown(document: Record, listed: Iterable[Operation]) -> Iterator[tuple[list[str], Resource]]:
    """Yield the path of each kind of records that some operation addresses by a key, and its record."""
    above = defaultdict[str, list[Operation]](list)
    for operation in listed:
        above["/".join(segments(operation.path))].append(operation)
    for path, operations in above.items():
        parts = path.split("/")
        match = PARAMETER.fullmatch(parts[-1])
        if match is None or len(parts) == 1 or PARAMETER.search(parts[-2]):
            continue
        noun, base = noun_of(parts[:-1]), above.get("/".join(parts[:-1]), ())
        kinds = {operation.method: operation for operation in operations}
        results = [kinds[method].success for method in ("get", "put", "patch") if method in kinds]
        results += [operation.success for operation in base if operation.method == "post"]
        records = [_record(document, result, noun, match[1]) for result in results]
        lists = [operation.success for operation in base if operation.method == "get"]
        rows = [_row(document, result, noun, match[1]) for result in lists]
        only = [_record(document, result, noun, match[1]) for result in lists] if None in rows else []
        records += [*only, *rows]
        record = next((record for record in records if record is not None), None)
        if record is not None:
            yield parts[:-1], replace(record, is_single=any(only))


def _record(document: Record, body: Json, noun: str, parameter: str = "", depth: int = 0) -> Resource | None:
    """Return the one record that a result is or wraps, None for other results. Its entity has no name yet."""
    component, schema = _target(document, as_object(body))
    if depth > _DEEPEST_WRAPPER or not schema or _is_list(schema):
        return None
    fields = fields_of(document, schema)
    objects = {name: field for name, field in fields.items() if _is_object(document, field)}
    whole = _whole(document, schema)
    own = next((name for name in objects if joined(name) in {joined(noun), joined(plural(noun))}), None)
    key = None if own is not None else _key(noun, properties(whole), parameter)
    if key is not None:
        return Resource(component, "", key, whole)
    ending = next((name for name in objects if noun and singular(joined(name)).endswith(joined(noun))), None)
    inner = own or _wrapper(objects) or ending
    record = None if inner is None else _record(document, objects[inner], noun, parameter, depth + 1)
    if record is None or (len(objects) == 1 and not record.place):
        return record
    return replace(record, place=f"{inner}.{record.place}".strip("."))


def _row(document: Record, body: Json, noun: str, parameter: str = "", depth: int = 0) -> Resource | None:
    """Return what a result lists, None if it is or wraps no list of records."""
    schema = _target(document, as_object(body))[1]
    if depth > _DEEPEST_WRAPPER or not schema:
        return None
    if _is_list(schema):
        return _record(document, schema.get("items"), noun, parameter, _DEEPEST_WRAPPER)
    fields = fields_of(document, schema)
    lists = {name: field for name, field in fields.items() if _is_list(_target(document, as_object(field))[1])}
    objects = {name: field for name, field in fields.items() if _is_object(document, field)}
    own = next((name for name in lists if joined(name) == joined(plural(noun))), None)
    inner = own or _wrapper(lists) or (None if lists else _wrapper(objects))
    return None if inner is None else _row(document, fields[inner], noun, parameter, depth + 1)


def _whole(document: Record, schema: Record) -> Record:
    """Return the expanded schema. If it is a choice of objects, its fields are those that all of them have."""
    whole = {**expanded({**document, **schema}), "$defs": None}
    ways = [properties(as_object(way)) for word in ("oneOf", "anyOf") for way in as_list(whole.get(word))]
    shared = {name: field for way in ways[:1] for name, field in way.items() if all(name in other for other in ways)}
    same = {name: field for name, field in shared.items() if all(other[name] == field for other in ways)}
    return whole if properties(whole) or not ways else {**whole, "properties": same}


def _wrapper(fields: Collection[str]) -> str | None:
    """Return the property that has the record or the list, by its name, or as the only one."""
    usual = terms("results.rows")
    return next((name for name in fields if snake(name) in usual), next(iter(fields)) if len(fields) == 1 else None)


def _target(document: Record, body: Record) -> tuple[str, Record]:
    """Return the name of the component that a schema refers to, '' if it does not, and what it refers to."""
    component, seen = "", set[str]()
    while isinstance(reference := body.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        component = reference.removeprefix(COMPONENTS) if reference.startswith(COMPONENTS) else ""
        body = referred(document, reference)
    return component, body


def _is_list(schema: Record) -> bool:
    return main_type(schema) == "array" or ("items" in schema and "type" not in schema)


def _is_object(document: Record, field: Json) -> bool:
    schema = _target(document, as_object(field))[1]
    return bool(as_object(schema.get("properties"))) or not schema.keys().isdisjoint(("allOf", "oneOf", "anyOf"))


def _key(entity: str, fields: Mapping[str, Record], parameter: str = "") -> str | None:
    """Return the field that identifies a record, None if no field has such a name.

    It is what the parameter of its path names: `code` for `{code}`, `external_id` for `{external_customer_id}`.
    """
    by_name = {snake(name): name for name in reversed(list(fields))}
    name, own = snake(parameter), set(words(entity))
    short = "_".join(word for word in words(parameter) if word not in own)
    given = [short, name] if short in _KEYS else [name, short]  # a company with an `id`, too, is not its `company_id`
    names = [*given, *map(snake, _KEYS), *(f"{entity}_{end}" for end in ("id", "key", "number"))]
    names += ["name"] if parameter and not short else []  # `/branches/{branch}`
    fitting = (by_name[name] for name in names if name in by_name)
    return next((field for field in fitting if main_type(fields[field]) in {"string", "integer"}), None)
