"""The OpenAPI document of the control plane, made from the models that validate its requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import TypeAdapter

from mcp_sim import __version__
from mcp_sim.server.control.models import Refused
from mcp_sim.server.control.operations import OPERATIONS, Operation
from mcp_sim.types import Record

REFERENCES = "#/components/schemas/{model}"
_PART = re.compile(r"\{(\w+)\}")


def document() -> Record:
    """Return the OpenAPI document."""
    schemas = Record()
    paths = dict[str, Record]()
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "mcp-sim control plane", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": dict(sorted(schemas.items())),
        },
    }


def _operation(operation: Operation, schemas: Record) -> Record:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PART.findall(operation.path)
    ]
    described: Record = {"operationId": operation.name, "summary": operation.summary, "parameters": parameters}
    if operation.takes is not None and operation.method == "GET":
        parameters.extend(_query(_schema(operation.takes, schemas), schemas))
    elif operation.takes is not None:
        described["requestBody"] = {"required": True, **_content(_schema(operation.takes, schemas))}
    answered = {"description": "Done."} if operation.returns is None else {"description": "The answer."}
    if operation.streams:
        answered = {"description": "The entries.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
    elif operation.shows:
        kinds = ("text/html", "text/plain")
        answered = {"description": "The page.", "content": {kind: {"schema": {"type": "string"}} for kind in kinds}}
    elif operation.returns is not None:
        answered |= _content(_schema(operation.returns, schemas, "serialization"))
    refused = {"description": "The request is refused.", **_content(_schema(Refused, schemas, "serialization"))}
    described["responses"] = {str(operation.status): answered, "4XX": refused}
    return described


def _content(schema: Record) -> Record:
    return {"content": {"application/json": {"schema": schema}}}


def _schema(model: Any, schemas: Record, mode: Any = "validation") -> Record:
    """Return the schema of a model; the models that it names are added to the schemas of the document."""
    schema = TypeAdapter(model).json_schema(ref_template=REFERENCES, mode=mode)
    schemas |= schema.pop("$defs", {})
    name = schema.get("title")
    if schema.get("type") != "object" or name is None:
        return schema
    schemas[name] = schema
    return {"$ref": REFERENCES.format(model=name)}


def _query(reference: Record, schemas: Record) -> Iterator[Record]:
    """Yield the parameters of a query; its model is not one of the document."""
    schema = schemas.pop(reference["$ref"].rpartition("/")[2])
    required: Sequence[str] = schema.get("required", ())
    for name, value in schema["properties"].items():
        yield {"name": name, "in": "query", "required": name in required, "schema": value}
