"""Derive plans from OpenAPI documents: methods on the paths of entities."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from mcp_sim.spec.foreign.openapi import Operation, composing, fields_of
from mcp_sim.spec.foreign.resources import PARAMETER, Resource, Resources, joined, segments
from mcp_sim.types import Record
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE
from mcp_sim.types.json_schema.shapes import as_object, main_type, properties, required
from mcp_sim.types.lexicon.english import noun_of_id, snake, words

_OF_SEVERAL = {"post": ("create", "sets"), "get": ("list", "filters")}
_NOTHING: Record = {"verb": "none"}
"""What removes no record: `DELETE /photos/{id}/like`, or a segment from `/contacts/{id}/segments/{segment}`."""

_UPSERTS = re.compile(
    r"(?:\b|_)(?:upsert|(?:create|add)s?[ _]or[ _](?:update|replace|overwrite)|(?:update|replace)s?[ _]or[ _]create)",
    re.IGNORECASE,
)
_IDS = re.compile(r"(body_)?(\w+_)?(ids|uris|keys|uuids)")

_VERBS = {"get": "get", "put": "update", "patch": "update", "delete": "delete"}


def _entry_by_key(
    operation: Operation, known: Resources, resource: Resource, key: str | None, arguments: Mapping[str, Record]
) -> Record | None:
    """Return the `sim` entry of an operation on one record, whose key is an argument."""
    verb = _VERBS.get(operation.method)
    if verb == "delete" and known.is_removed_elsewhere(segments(operation.path), resource):
        return _NOTHING
    if verb is None or key is None:
        return None
    envelope = known.envelope(operation, resource) if verb != "delete" else {}
    sent = _sent(operation, known, resource, arguments) if verb == "update" else {}
    return {"verb": verb, "entity": resource.entity, "key": key, **sent, **envelope}


def sim_entry(
    operation: Operation, known: Resources, names: Mapping[str, str], arguments: Mapping[str, Record]
) -> Record | None:
    """Return the `sim` entry of an operation, None unless method, path and schemas leave no doubt.

    `names` maps its parameters to arguments; `arguments` are all arguments.
    """
    parts = segments(operation.path)
    ends_with_key = bool(parts) and PARAMETER.fullmatch(parts[-1]) is not None
    resource = known.of(parts[:-1] if ends_with_key else parts)
    if _touches_nothing(operation, parts, known, arguments):
        return _NOTHING
    if resource is None:
        return None
    entity = resource.entity
    if ends_with_key:
        key = names.get(parts[-1][1:-1])
        owner = noun_of_id(snake(key or "")).replace("_", "")
        if operation.method == "get" and owner in {*known.named} - {joined(entity)} and known.lists(operation):
            return {"verb": "list", "entity": entity}  # `/notes/{projectId}`, beside `/notes/{projectId}/n/{noteId}`
        if key is not None and operation.method == "put" and _creates_too(operation):
            return _upsert(operation, known, resource, key, names, arguments)
        return _entry_by_key(operation, known, resource, key, arguments)
    if operation.method not in _OF_SEVERAL:
        return None
    is_single = "/".join(parts) in known.singles
    if operation.method == "get" and not known.lists(operation):
        return {"verb": "get", "entity": entity, **known.envelope(operation, resource)} if is_single else None
    if operation.method == "post" and not known.is_created(operation, resource):
        return None
    verb, role = _OF_SEVERAL[operation.method]
    envelope = known.envelope(operation, resource) if verb == "create" else {}
    roles = _argument_fields(role, parts, known, resource, names, arguments)
    return {"verb": verb, "entity": entity, **roles, **envelope}


def _upsert(
    operation: Operation,
    known: Resources,
    resource: Resource,
    key: str,
    names: Mapping[str, str],
    arguments: Mapping[str, Record],
) -> Record:
    """Return the `sim` entry of an operation that creates or updates the record of a key."""
    fields, owned = properties(resource.schema), segments(operation.path)[:-1]
    sets = {name: name for name in arguments if name in fields and name != resource.key}
    sets |= {**_owners(owned, known, fields, names), key: resource.key}
    envelope = known.envelope(operation, resource)
    return {"verb": "create", "entity": resource.entity, "sets": sets, "if_exists": "update", **envelope}


def _touches_nothing(
    operation: Operation, parts: Sequence[str], known: Resources, arguments: Mapping[str, Record]
) -> bool:
    """Whether an operation touches no record: it removes parts or members, or reads a plain value, such as a log.

    Members are what a list of ids names at a path that shows no records: `DELETE /me/albums` beside `/albums/{id}`.
    """
    ends_with_key = PARAMETER.fullmatch((parts or [""])[-1]) is not None
    is_named = known.of(parts[:-1] if ends_with_key else parts) is not None
    if operation.method == "delete" and not ends_with_key:
        has_ids = any(_IDS.fullmatch(snake(name)) for name in arguments)
        are_members = has_ids and "/".join(parts) not in known.at
        return are_members or (not is_named and known.of(parts[:-2]) is not None)
    if operation.method == "delete":
        return not is_named and known.shows_owner(operation, parts)
    return operation.method == "get" and not ends_with_key and not is_named and known.is_plain(operation)


def _creates_too(operation: Operation) -> bool:
    """Whether a PUT also creates records, by its texts and responses."""
    texts = [str(operation.definition.get(key, "")) for key in ("operationId", "summary", "description")]
    is_described = _UPSERTS.search(" ".join(["_".join(words(texts[0])), *texts[1:]])) is not None
    return is_described or "201" in as_object(operation.definition.get("responses"))


def _sent(operation: Operation, known: Resources, resource: Resource, arguments: Mapping[str, Record]) -> Record:
    """Return the fields that a body with required ids changes: the record links to these now, they do not identify it.

    Left out is what has another type than the field.
    """
    needed = {name for schema in composing(known.document, operation.body, set()) for name in required(schema)}
    if not any(name != resource.key and noun_of_id(snake(name)) for name in needed):
        return {}
    fields = {name: field for name, field in properties(resource.schema).items() if str(IMPOSSIBLE) not in str(field)}
    sent = fields_of(known.document, operation.body)
    same = {name for name in sent if name in fields and main_type(fields[name]) == main_type(arguments.get(name, {}))}
    return {"sets": {name: name for name in sent if name in same}} if same else {}


def _argument_fields(
    role: str,
    parts: list[str],
    known: Resources,
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


def _owners(parts: list[str], known: Resources, fields: Collection[str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the field that names the owner, by argument: in `/books/{id}/loans`, `id` is the `bookId` of a loan."""
    fields_by_name = {joined(name): name for name in fields}
    owners: dict[str, str] = {}
    for at, inside in enumerate(parts):
        owner, parameter = known.of(parts[:at]), PARAMETER.fullmatch(inside)
        argument = names.get(parameter[1]) if parameter and owner else None
        field = fields_by_name.get(f"{joined(owner.entity)}id") if owner else None
        if argument is not None and field is not None and snake(argument) != snake(field):
            owners[argument] = field
    return owners
