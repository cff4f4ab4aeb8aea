"""Read the operations of OpenAPI documents leniently: invalid parts are left out and reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, cast

from pydantic import ValidationError

from mcp_sim.spec.foreign.files import shortened
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import resolve_reference
from mcp_sim.types.json_schema.shapes import as_list, as_object

METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
_MOST_ROUNDS = 20


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


def parse_document(value: Json, source: str, doubts: list[str]) -> Record:
    """Return the document as validated by the parser of its version, without invalid operations and components.

    Raises `UsageError` if it is not an OpenAPI document, or nothing valid is left.
    """
    document = deepcopy(as_object(value))
    model = _model(document, source, doubts)
    for _ in range(_MOST_ROUNDS):
        try:
            model.model_validate(document)
        except ValidationError as error:
            if not _drop(document, error, doubts):
                first = error.errors()[0]
                place = ".".join(str(part) for part in first["loc"])
                raise UsageError(f"{source}: is not an OpenAPI document: {place}: {first['msg']}") from None
        else:
            return document
    raise UsageError(f"{source}: is not a readable OpenAPI document")


def operations(document: Record, doubts: list[str]) -> Iterator[Operation]:
    """Yield every operation, in the document's order."""
    for path, item in as_object(document.get("paths")).items():
        shared = _resolved(document, as_object(item), path, doubts)
        for method in METHODS:
            if isinstance(shared.get(method), dict):
                yield _operation(document, method, path, shared, doubts)


def _operation(document: Record, method: str, path: str, item: Record, doubts: list[str]) -> Operation:
    definition = as_object(item[method])
    label = f"{method.upper()} {path}"
    listed = [*as_list(item.get("parameters")), *as_list(definition.get("parameters"))]
    found = [_resolved(document, as_object(part), label, doubts) for part in listed]
    latest = {(part.get("in"), part.get("name")): part for part in found}
    body = _resolved(document, as_object(definition.get("requestBody")), label, doubts)
    return Operation(
        method,
        path,
        definition,
        tuple(latest.values()),
        _content(body, label, doubts),
        body.get("required") is True,
        _success(document, definition, label, doubts),
    )


def _success(document: Record, definition: Record, label: str, doubts: list[str]) -> Json:
    """Return the schema of the first successful response that has one."""
    responses = as_object(definition.get("responses"))
    good = [code for code in responses if str(code).startswith("2")]
    for code in [*sorted(good), *(["default"] if "default" in responses and not good else [])]:
        schema = _content(_resolved(document, as_object(responses[code]), label, doubts), label, [])
        if schema is not None:
            return schema
    return None


def _content(holder: Record, label: str, doubts: list[str]) -> Json:
    """Return the schema of a body: of its JSON, else of its form; None without a body."""
    content = as_object(holder.get("content"))
    if not content:
        return None
    usable = [kind for kind in content if "json" in kind] or [kind for kind in content if "form" in kind]
    if not usable:
        doubts.append(f"{label}: a body of {', '.join(content)} is read as one string")
        return {"type": "string"}
    return as_object(content[usable[0]]).get("schema")


def _resolved(document: Record, part: Record, label: str, doubts: list[str]) -> Record:
    """Return the target of a reference, or the part itself if it is not a reference."""
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return part
    found = resolve_reference(document, reference)
    if not found:
        doubts.append(f"{label}: {shortened(reference)} does not exist in the document, and is left out")
    return {**found, **{key: value for key, value in part.items() if key != "$ref"}}


# validation -----------------------------------------------------------------------------------------------------------


def _model(document: Record, source: str, doubts: list[str]) -> Any:
    version = str(document.get("openapi", ""))
    if "swagger" in document:
        raise UsageError(f"{source}: is Swagger {document['swagger']}; convert it to OpenAPI 3 first")
    if version.startswith("3.0"):
        from openapi_pydantic.v3.v3_0 import OpenAPI  # noqa: PLC0415 (only for documents of this version)

        document["openapi"] = "3.0.3"
        return OpenAPI
    if not version.startswith("3."):
        raise UsageError(f"{source}: is not an OpenAPI document of version 3; it has no `openapi: 3...`")
    if not version.startswith("3.1"):
        doubts.append(f"OpenAPI {version} is read as if it were 3.1")
    from openapi_pydantic.v3.v3_1 import OpenAPI  # noqa: PLC0415 (only for documents of this version)

    document["openapi"] = "3.1.0"
    return OpenAPI


def _drop(document: Record, error: ValidationError, doubts: list[str]) -> bool:
    """Remove what the parser rejects. Return False if that is the document itself."""
    dropped = False
    for detail in error.errors():
        at = [part for part in detail["loc"] if not _is_branch(part)]
        removed = _removed(document, [str(part) for part in at])
        if removed:
            doubts.append(f"{removed} is left out: {_place(at)}: {detail['msg']}")
        dropped = dropped or removed is not None
    return dropped or all(_is_gone(document, detail["loc"]) for detail in error.errors())


def _place(at: list[int | str]) -> str:
    return ".".join(str(part) for part in at[-2:])


def _removed(document: Record, at: list[str]) -> str | None:
    """Remove the operation, path or component at a place. Return what was removed, None if there is none."""
    if at[:1] == ["paths"] and len(at) > 1:
        item = as_object(as_object(document["paths"]).get(at[1]))
        method = next((part for part in at[2:] if part in METHODS and part in item), None)
        if method is not None:
            del item[method]
            return f"{method.upper()} {at[1]}"
        return f"the path {at[1]}" if as_object(document["paths"]).pop(at[1], None) is not None else None
    if at[:1] == ["components"] and len(at) > 2:
        part = as_object(as_object(document["components"]).get(at[1]))
        return f"{at[1]}.{at[2]}" if part.pop(at[2], None) is not None else None
    if at and at[0] in document and at[0] not in {"paths", "openapi", "info"}:
        del document[at[0]]
        return at[0]
    return None


def _is_branch(part: int | str) -> bool:
    """Whether part of a location is the name of a model that was tried, not a key of the document."""
    return isinstance(part, str) and part[:1].isupper() and part.isalnum() and part in _TRIED


_TRIED = frozenset({"Reference", "Schema", "Parameter", "RequestBody", "Response", "Header", "Example", "Link"})


def _is_gone(document: Record, place: tuple[int | str, ...]) -> bool:
    """Whether a rejected part was already removed together with another one."""
    value: Json = document
    if len(place) < 2:
        return False
    for part in place[:2]:
        if not isinstance(value, dict) or part not in cast("Mapping[Any, Any]", value):
            return True
        value = cast("Mapping[Any, Any]", value)[part]
    return False
