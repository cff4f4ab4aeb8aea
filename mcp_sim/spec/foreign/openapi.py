"""Read the operations of OpenAPI documents leniently: what cannot be read is left out, part by part, and reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from mcp_sim.spec.foreign.files import read_value, shortened
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object

METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
FILES = "x-files"
"""The key of a document under which the files that it refers to are put, by their names."""


@frozen
class Operation:
    """An operation.

    `definition` is the operation as the document has it. `parameters` includes those of its path, with references
    resolved. `success` is the schema of a successful response, None if none is declared.
    """

    method: str
    path: str
    definition: Record
    parameters: tuple[Record, ...]
    body: Json
    is_body_required: bool
    success: Json

    @property
    def label(self) -> str:
        return f"{self.method.upper()} {self.path}"


def read_document(source: Path, doubts: list[str]) -> Record:
    """Return a document of OpenAPI 3, or of Swagger 2.0 as OpenAPI 3, with the files beside it that it refers to.

    Raises `UsageError` if it is neither, `DocumentError` if it cannot be parsed.
    """
    document = as_object(read_value(source))
    if str(document.get("swagger", "")).startswith("2"):
        document = to_openapi_3(document)
    version = str(document.get("openapi", ""))
    if not version.startswith("3."):
        raise UsageError(f'{source}: is not an OpenAPI document: it has no `openapi: 3...` or `swagger: "2.0"`')
    if not version.startswith(("3.0", "3.1")):
        doubts.append(f"OpenAPI {version} is read as if it were 3.1")
    return _Bundle(source.parent).bundled(document)


def operations(document: Record, doubts: list[str]) -> Iterator[Operation]:
    """Yield every operation, in the document's order."""
    for path, item in as_object(document.get("paths")).items():
        shared = _resolved(document, item, path, doubts)
        for method in (method for method in METHODS if method in shared):
            definition, label = as_object(shared[method]), f"{method.upper()} {path}"
            if not isinstance(shared[method], dict):
                doubts.append(f"{label} is left out: it is not an object")
                continue
            listed = [*as_list(shared.get("parameters")), *as_list(definition.get("parameters"))]
            parameters = [_resolved(document, entry, label, doubts) for entry in listed]
            named = [entry for entry in parameters if isinstance(entry.get("name"), str)]
            latest = {(entry.get("in"), entry["name"]): entry for entry in named}
            body = _resolved(document, definition.get("requestBody"), label, doubts)
            yield Operation(
                method,
                path,
                definition,
                tuple(latest.values()),
                _content(document, body, label, doubts),
                body.get("required") is True,
                _success(document, definition, label, doubts),
            )


def _success(document: Record, definition: Record, label: str, doubts: list[str]) -> Json:
    """Return the schema of the first successful response that has one."""
    responses = as_object(definition.get("responses"))
    good = [code for code in responses if code.startswith("2")]
    for code in [*sorted(good), *(["default"] if "default" in responses and not good else [])]:
        schema = _content(document, _resolved(document, responses[code], label, doubts), label, [])
        if schema is not None:
            return schema
    return None


def _content(document: Record, holder: Record, label: str, doubts: list[str]) -> Json:
    """Return the schema of a body: of its JSON, its form, or of whatever it is; None without a body."""
    content = _resolved(document, holder.get("content"), label, doubts)
    if not content:
        return None
    usable = [kind for mark in ("json", "form", "/*") for kind in content if mark in kind]
    if not usable:
        doubts.append(f"{label}: a body of {', '.join(content)} is read as one string")
        return {"type": "string"}
    return _resolved(document, content[usable[0]], label, doubts).get("schema")


# references -----------------------------------------------------------------------------------------------------------


class Missing(Exception):
    """Raised when a reference leads nowhere."""


def target_of(document: Record, reference: str) -> Json:
    """Return what a JSON Pointer leads to (RFC 6901, section 6: in a fragment of a URI). Raises `Missing`."""
    if not reference.startswith("#"):
        raise Missing
    value: Json = document
    for token in tokens_of(reference):
        if isinstance(value, list):
            items = as_list(value)
            if not token.isdecimal() or int(token) >= len(items):
                raise Missing
            value = items[int(token)]
        else:
            members = as_object(value)
            if token not in members:
                raise Missing
            value = members[token]
    return value


def tokens_of(reference: str) -> list[str]:
    """Return the tokens of a JSON Pointer in a fragment."""
    pointer = unquote(reference.removeprefix("#"))
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def fields_of(document: Record, body: Json) -> Record:
    """Return the properties of an object and of the schemas that compose it, with references kept."""
    listed = [as_object(schema.get("properties")) for schema in composing(document, body, set())]
    return {name: schema for fields in listed for name, schema in fields.items()}


def composing(document: Record, body: Json, seen: set[str]) -> Iterator[Record]:
    """Yield the schemas that a schema refers to or joins with `allOf`, each once, then the schema itself."""
    schema = as_object(body)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen.add(reference)
        yield from composing(document, referred(document, reference), seen)
    for item in as_list(schema.get("allOf")):
        yield from composing(document, item, seen)
    yield schema


def referred(document: Record, reference: str) -> Record:
    """Return the schema that a reference leads to; {} if it leads nowhere."""
    try:
        return as_object(target_of(document, reference))
    except Missing:
        return {}


def _resolved(document: Record, holder: Json, label: str, doubts: list[str]) -> Record:
    """Return the target of a reference, or the part itself if it is not a reference."""
    body = as_object(holder)
    reference = body.get("$ref")
    if not isinstance(reference, str):
        return body
    others = {key: value for key, value in body.items() if key != "$ref"}
    try:
        return {**as_object(target_of(document, reference)), **others}
    except Missing:
        doubts.append(f"{label}: {shortened(reference)} is not found, and is left out")
        return others


class _Bundle:
    """Puts the files that a document refers to into the document, so that every reference is a pointer within it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._files: dict[str, Json] = {}

    def bundled(self, document: Record) -> Record:
        whole = as_object(self._with_pointers(document, self._folder, ""))
        return {**whole, FILES: self._files} if self._files else whole

    def _with_pointers(self, value: Json, folder: Path, prefix: str) -> Json:
        """Return a value of a file in a folder, whose own parts are at a prefix of the document."""
        if isinstance(value, list):
            return [self._with_pointers(item, folder, prefix) for item in as_list(value)]
        if not isinstance(value, dict):
            return value
        body = {key: self._with_pointers(member, folder, prefix) for key, member in as_object(value).items()}
        reference = body.get("$ref")
        return {**body, "$ref": self._pointer(reference, folder, prefix)} if isinstance(reference, str) else body

    def _pointer(self, reference: str, folder: Path, prefix: str) -> str:
        file, _, pointer = reference.partition("#")
        if not file:
            return f"#{prefix}{pointer}"
        path = (folder / unquote(file)).resolve()
        if "://" in file or not path.is_relative_to(self._folder):
            return reference
        name = path.relative_to(self._folder).as_posix()
        escaped = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
        if name not in self._files:
            try:
                value = read_value(path)
            except (UsageError, DocumentError):
                return reference  # it is reported where it is used
            self._files[name] = None  # files may refer to each other
            self._files[name] = self._with_pointers(value, path.parent, f"/{FILES}/{escaped}")
        return f"#/{FILES}/{escaped}{pointer}"


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
        method: _converted_operation(as_object(operation), common, shared) if isinstance(operation, dict) else operation
        for method, operation in item.items()
        if method not in _NOT_OPERATIONS
    }
    return {**kept, **operations}


def _target(entry: Json, shared: Record) -> Record:
    """Return a parameter; a reference to a shared one is followed, since bodies are no longer parameters."""
    body = as_object(entry)
    name = str(body.get("$ref", "")).removeprefix("#/components/parameters/")
    return as_object(shared[name]) if name in shared else body


def _converted_operation(operation: Record, common: list[Record], shared: Record) -> Record:
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
