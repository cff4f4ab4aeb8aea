"""Convert Swagger 2.0 documents to OpenAPI 3."""

from __future__ import annotations

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_SCHEMA_KEYS = frozenset({
    "type", "format", "items", "default", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "enum", "multipleOf",
})  # fmt: skip
"""The keys of a parameter that belong to its schema in OpenAPI 3."""

_MOVED = {
    "#/definitions/": "#/components/schemas/",
    "#/parameters/": "#/components/parameters/",
    "#/responses/": "#/components/responses/",
}
_NOT_OPERATIONS = ("parameters", "$ref")


def to_openapi_3(document: Record) -> Record:
    """Return a Swagger 2.0 document as OpenAPI 3.0."""
    moved = as_object(_with_moved_references(document))
    shared = as_object(moved.get("parameters"))
    paths = {path: _path(as_object(item), shared) for path, item in as_object(moved.get("paths")).items()}
    components = {
        "schemas": moved.get("definitions", {}),
        "parameters": {name: _parameter(as_object(entry)) for name, entry in shared.items()},
        "responses": {name: _response(entry) for name, entry in as_object(moved.get("responses")).items()},
    }
    return {"openapi": "3.0.3", "info": moved.get("info", {}), "paths": paths, "components": components}


def _with_moved_references(value: Json) -> Json:
    if isinstance(value, list):
        return [_with_moved_references(item) for item in as_list(value)]
    if not isinstance(value, dict):
        return value
    body = {key: _with_moved_references(member) for key, member in as_object(value).items()}
    reference = body.get("$ref")
    if isinstance(reference, str):
        for old, new in _MOVED.items():
            if reference.startswith(old):
                body["$ref"] = new + reference.removeprefix(old)
    return body


def _path(item: Record, shared: Record) -> Record:
    common = [_target(entry, shared) for entry in as_list(item.get("parameters"))]
    kept = {key: item[key] for key in _NOT_OPERATIONS if key in item and key != "parameters"}
    operations = {
        method: _operation(as_object(operation), common, shared) if isinstance(operation, dict) else operation
        for method, operation in item.items()
        if method not in _NOT_OPERATIONS
    }
    return {**kept, **operations}


def _target(entry: Json, shared: Record) -> Record:
    """Return a parameter; a reference to a shared one is followed, since bodies are no longer parameters."""
    body = as_object(entry)
    name = str(body.get("$ref", "")).removeprefix("#/components/parameters/")
    return as_object(shared[name]) if name in shared else body


def _operation(operation: Record, common: list[Record], shared: Record) -> Record:
    parameters = [_target(entry, shared) for entry in as_list(operation.get("parameters"))]
    latest = {(entry.get("in"), entry.get("name")): entry for entry in [*common, *parameters]}
    body = _body([entry for (place, _), entry in latest.items() if place in {"body", "formData"}])
    plain = [_parameter(entry) for (place, _), entry in latest.items() if place not in {"body", "formData"}]
    responses = {code: _response(entry) for code, entry in as_object(operation.get("responses")).items()}
    return {**operation, "parameters": plain, "responses": responses, **({"requestBody": body} if body else {})}


def _parameter(entry: Record) -> Record:
    schema = {key: value for key, value in entry.items() if key in _SCHEMA_KEYS}
    others = {key: value for key, value in entry.items() if key not in _SCHEMA_KEYS}
    return {**others, "schema": schema} if schema and "schema" not in entry else others


def _body(entries: list[Record]) -> Record | None:
    """Return the request body that `body` or `formData` parameters describe, None without any."""
    if not entries:
        return None
    whole = next((entry for entry in entries if entry.get("in") == "body"), None)
    if whole is not None:
        content: Record = {"application/json": {"schema": whole.get("schema", {})}}
        return {"content": content, "required": whole.get("required") is True}
    fields = {str(entry.get("name")): _parameter(entry).get("schema", {}) for entry in entries}
    required: list[Json] = [str(entry.get("name")) for entry in entries if entry.get("required") is True]
    schema: Record = {"type": "object", "properties": fields, "required": required}
    return {"content": {"multipart/form-data": {"schema": schema}}, "required": bool(required)}


def _response(entry: Json) -> Json:
    body = as_object(entry)
    if "schema" not in body:
        return entry
    others = {key: value for key, value in body.items() if key not in {"schema", "examples", "headers"}}
    return {**others, "content": {"application/json": {"schema": body["schema"]}}}
