"""The operations of the control plane over HTTP: their routes, and the methods of `Controls` that they call.

The OpenAPI document is made from the models that validate their requests.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import cached_property
from inspect import getdoc
from typing import Any, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from mcp_sim import __version__
from mcp_sim.server.control.controls import Controls
from mcp_sim.server.control.models import Refused
from mcp_sim.types import Record


class Operation:
    """A route, and the method of `Controls` that it calls with the parts of the path, and with the body or query.

    What the method is annotated with is what a request must be, and what the answer is.
    """

    def __init__(self, route: str, name: str, run: Callable[..., Any], status: int = 200) -> None:
        self.method, _, self.path = route.partition(" ")
        self.name, self.run, self.status = name, run, status

    @property
    def summary(self) -> str:
        return (getdoc(self.run) or "").partition("\n")[0]

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.run)

    @property
    def returns(self) -> Any:
        """The model of the answer, or a list of it. None for an answer without content."""
        return None if self.streams or self._hints["return"] is type(None) else self._hints["return"]

    @property
    def takes(self) -> type[BaseModel] | None:
        """The model of the body, or of the query of a GET."""
        given = (hint for name, hint in self._hints.items() if name != "return" and isinstance(hint, type))
        return next((hint for hint in given if issubclass(hint, BaseModel)), None)

    @property
    def shows(self) -> bool:
        """Whether it answers with a page of HTML."""
        return self._hints["return"] is str

    @property
    def streams(self) -> bool:
        """Whether it answers with server-sent events."""
        return get_origin(self._hints["return"]) is AsyncGenerator


OPERATIONS = (
    Operation("GET /scenario", "get_scenario", Controls.about),
    Operation("GET /worlds", "list_worlds", Controls.worlds),
    Operation("POST /worlds", "create_world", Controls.create, 201),
    Operation("GET /worlds/{world}", "inspect_world", Controls.inspect),
    Operation("DELETE /worlds/{world}", "close_world", Controls.close, 204),
    Operation("POST /worlds/{world}/fork", "fork_world", Controls.fork, 201),
    Operation("POST /worlds/{world}/reset", "reset_world", Controls.reset),
    Operation("GET /worlds/{world}/snapshots", "list_snapshots", Controls.snapshots),
    Operation("POST /worlds/{world}/snapshots", "take_snapshot", Controls.snapshot, 201),
    Operation("DELETE /worlds/{world}/snapshots/{snapshot}", "delete_snapshot", Controls.drop_snapshot, 204),
    Operation("POST /worlds/{world}/restore", "restore_world", Controls.restore),
    Operation("GET /worlds/{world}/faults", "list_faults", Controls.faults),
    Operation("POST /worlds/{world}/faults", "inject_fault", Controls.inject, 201),
    Operation("PATCH /worlds/{world}/faults/{fault}", "switch_fault", Controls.switch),
    Operation("POST /worlds/{world}/clock", "advance_clock", Controls.advance),
    Operation("GET /worlds/{world}/records", "list_records", Controls.records),
    Operation("POST /worlds/{world}/records", "change_records", Controls.change),
    Operation("GET /worlds/{world}/screen", "show_screen", Controls.screen),
    Operation("POST /worlds/{world}/calls", "call_tool", Controls.call),
    Operation("POST /worlds/{world}/answer", "submit_answer", Controls.answer),
    Operation("GET /worlds/{world}/grade", "grade_world", Controls.grade),
    Operation("GET /worlds/{world}/compare", "compare_worlds", Controls.compare),
    Operation("GET /worlds/{world}/ledger", "read_ledger", Controls.ledger),
    Operation("GET /worlds/{world}/ledger/stream", "stream_ledger", Controls.follow),
)


REFERENCES = "#/components/schemas/{model}"
_PART = re.compile(r"\{(\w+)\}")


def document() -> Record:
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


class _Schemas(GenerateJsonSchema):
    """Requires each field of an answer: also those with a default are always sent."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return self.mode == "serialization" or super().field_is_required(field, total)


def _schema(model: Any, schemas: Record, mode: Any = "validation") -> Record:
    """Return the schema of a model; the models that it names are added to the schemas of the document."""
    schema = TypeAdapter(model).json_schema(ref_template=REFERENCES, mode=mode, schema_generator=_Schemas)
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
