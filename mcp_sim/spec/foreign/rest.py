"""Derive entities and plans from OpenAPI documents: component schemas, and methods on paths."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from mcp_sim.spec.foreign.openapi import Operation
from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE, expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, main_type, properties
from mcp_sim.types.lexicon.english import plural, singular, snake, words

_PARAMETER = re.compile(r"\{([^}]+)\}")
_VERSION = re.compile(r"(?<=.)_v_?\d+$")
_KEYS = ("id", "uuid", "guid", "key", "_id")
_COMPONENT = "#/components/schemas/"
_LONGEST_FIELD = 400  # a field with a long list of choices would hide the others in the spec
_OF_SEVERAL = {"post": ("create", "sets"), "get": ("list", "filters")}
_VERBS = {"get": "get", "put": "update", "patch": "update", "delete": "delete"}


@frozen
class Resource:
    """A component schema that is an entity: the component's name, the entity's name, its key, its expanded schema."""

    component: str
    entity: str
    key: str
    schema: Record


def resources(document: Record) -> dict[str, Resource]:
    """Return the component schemas of objects that have a key, by their entities without `_`."""
    by_path: dict[str, Resource] = {}
    schemas = as_object(as_object(document.get("components")).get("schemas"))
    for component in schemas:
        schema = expanded({**document, "$ref": _COMPONENT + component})
        entity = singular(_VERSION.sub("", snake(component)))
        key = _key(entity, properties(schema))
        if key is not None and _joined(entity) not in by_path:
            by_path[_joined(entity)] = Resource(component, entity, key, {**schema, "$defs": None})
    return by_path


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


def _key(entity: str, fields: Mapping[str, Record]) -> str | None:
    """Return the field that identifies a record, None if no field has such a name."""
    fields_by_name = {snake(name): name for name in reversed(list(fields))}
    for name in (*_KEYS, f"{entity}_id", f"{entity}_key", f"{entity}_number"):
        if snake(name) in fields_by_name and main_type(fields[fields_by_name[snake(name)]]) in {"string", "integer"}:
            return fields_by_name[snake(name)]
    return None


def entity_entry(resource: Resource) -> Record:
    """Return the entity's entry in a tool spec: its key, an example id if there is one, and its short fields."""
    fields = properties(resource.schema)
    example = _example(fields[resource.key]) or as_object(resource.schema.get("example")).get(resource.key)
    like = {"key_like": example} if isinstance(example, str | int) and not isinstance(example, bool) else {}
    plain = {name: field for name, field in fields.items() if len(str(field)) <= _LONGEST_FIELD and field != IMPOSSIBLE}
    required = [name for name in as_list(resource.schema.get("required")) if name in plain]
    return {"key": resource.key, **like, "fields": plain, **({"required": required} if required else {})}


def _example(schema: Record) -> Json:
    examples = as_list(schema.get("examples"))
    return schema.get("example", examples[0] if examples else None)


def sim_entry(
    operation: Operation, known: Mapping[str, Resource], names: Mapping[str, str], arguments: Mapping[str, Record]
) -> Record | None:
    """Return the `sim` entry of an operation, None unless method, path and schemas leave no doubt.

    `names` maps its parameters to arguments; `arguments` are all arguments.
    """
    parts = [segment for segment in operation.path.split("/") if segment]
    ends_with_key = bool(parts) and _PARAMETER.fullmatch(parts[-1]) is not None
    resource = _resource_at(parts[:-1] if ends_with_key else parts, known)
    if resource is None:
        return None
    entity = resource.entity
    if ends_with_key and operation.method in _VERBS:
        argument = names.get(parts[-1][1:-1])
        verb = _VERBS[operation.method]
        return None if argument is None else {"verb": verb, "entity": entity, "key": argument}
    if ends_with_key or operation.method not in _OF_SEVERAL:
        return None
    if operation.method == "post" and not _is_of(operation.body, resource):
        return None
    verb, role = _OF_SEVERAL[operation.method]
    return {"verb": verb, "entity": entity, **_argument_fields(role, parts, known, resource, names, arguments)}


def _argument_fields(
    role: str,
    parts: list[str],
    known: Mapping[str, Resource],
    resource: Resource,
    names: Mapping[str, str],
    arguments: Mapping[str, Record],
) -> Record:
    """Return the field of each argument if an argument of the path has another name than its field.

    A `project_name` does not identify a project if its `project_id` is a number, or in the body as well.
    """
    fields = properties(resource.schema)
    owners = {
        argument: field
        for argument, field in _owners(parts, known, fields, names).items()
        if field not in arguments and main_type(fields[field]) == main_type(arguments[argument])
    }
    others = {name: name for name in arguments if name in fields and name not in owners}
    return {role: {**owners, **others}} if owners else {}


def _owners(
    parts: list[str], known: Mapping[str, Resource], fields: Collection[str], names: Mapping[str, str]
) -> dict[str, str]:
    """Return the field that names the owner, by argument: in `/books/{id}/loans`, `id` is the `bookId` of a loan."""
    fields_by_name = {_joined(name): name for name in fields}
    owners: dict[str, str] = {}
    for at, inside in enumerate(parts):
        owner, parameter = _resource_at(parts[:at], known), _PARAMETER.fullmatch(inside)
        argument = names.get(parameter[1]) if parameter and owner else None
        field = fields_by_name.get(f"{_joined(owner.entity)}id") if owner else None
        if argument is not None and field is not None and snake(argument) != snake(field):
            owners[argument] = field
    return owners


def _resource_at(parts: Sequence[str], known: Mapping[str, Resource]) -> Resource | None:
    """Return what the end of a path names in the plural: a sales order for `/salesorders` and `/sales/orders`."""
    name, resource = "", None
    for segment in takewhile(lambda segment: _PARAMETER.search(segment) is None, reversed(parts)):
        *others, last = words(segment) or ("",)
        if not name:
            if plural(singular(last)) != last:
                return None
            last = singular(last)
        name = "".join((*others, last)) + name
        resource = known.get(name, resource)
    return resource


def _joined(name: str) -> str:
    return "".join(words(name))


def _is_of(body: Json, resource: Resource) -> bool:
    """Whether a body looks like the record: a named schema, or one that shares at least half of its fields."""
    sent = as_object(body)
    if "$ref" in sent:
        return True
    shared = properties(sent).keys() & properties(resource.schema).keys()
    return bool(shared) and 2 * len(shared) >= len(properties(sent))
