"""Import the operations of an HTTP API that an OpenAPI document describes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path

from pydantic import Field

from mcp_sim.spec.foreign.dialects import to_json_schema
from mcp_sim.spec.foreign.files import distinct, file_name
from mcp_sim.spec.foreign.openapi import (
    Missing,
    Operation,
    composing,
    fields_of,
    operations,
    read_document,
    referred,
    target_of,
    tokens_of,
)
from mcp_sim.spec.foreign.resources import COMPONENTS, PARAMETER, Resource, Resources, entity_entry, resources, segments
from mcp_sim.spec.foreign.rest import sim_entry
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import SCHEMA_MAPS, as_list, as_object, properties, required
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers
from mcp_sim.types.lexicon.english import plural, snake
from mcp_sim.types.lexicon.terms import terms

_LEFT_OUT = frozenset({"authorization", "accept", "content_type", "user_agent"})
_ONCE = terms("arguments.idempotency.sure", "arguments.idempotency.unsure")
_BEFORE_NOUNS = re.compile(r"api|rest|v\d+([._]\d+)*", re.IGNORECASE)
_VALUES = frozenset({"example", "examples", "default", "enum", "const"})
"""Keywords whose values are not schemas."""

_HINTS = {"get": {"readOnlyHint": True}, "head": {"readOnlyHint": True}, "delete": {"destructiveHint": True}}


@importers.register("openapi")
class Openapi(Importer):
    """Read OpenAPI 3.0, 3.1 and Swagger 2.0 documents in JSON or YAML. Each operation becomes a tool.

    Parameters and the properties of the body become arguments; optional headers only if they prevent a repetition. The
    successful response becomes the outputSchema; a list is put into an object, under the plural of what it lists.
    Component schemas with a key become entities if a path names them. The method and path say what a tool does if they
    are clear: `GET /pets/{petId}` gets a pet.
    """

    sources: tuple[str, ...] = Field(min_length=1, description="The files.", examples=[["petstore.yaml"]])
    name: str | None = Field(default=None, description="Name of the server. Default: the API's title.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [self._server(Path(source)) for source in self.sources]

    def _server(self, path: Path) -> Imported:
        doubts: list[str] = []
        document = read_document(path, doubts)
        listed = list(operations(document, doubts))
        known = resources(document, listed)
        names = list(distinct([_name(operation) for operation in listed]))
        tools, sim = list[Record](), dict[str, Record]()
        for name, operation in zip(names, listed, strict=True):
            arguments, schema = _input(document, operation, name, doubts)
            tools.append(_tool(name, operation, schema, _output(document, operation, name, known, doubts)))
            entry = sim_entry(operation, known, arguments, properties(schema))
            if entry is not None:
                sim[name] = entry
        if not tools:
            raise UsageError(f"{path}: describes no operations")
        info = as_object(document.get("info"))
        kept = known.shown | {entry["entity"] for entry in sim.values() if "entity" in entry}
        entities = {res.entity: _proper_entry(res, doubts) for res in known.named.values() if res.entity in kept}
        for name, entity in entities.items():
            if _is_named_by_callers([entry for entry in sim.values() if entry.get("entity") == name], tools):
                entity["open"] = True
        spec = {
            "version": str(info.get("version", "1.0.0")),
            **{key: info[key] for key in ("title", "description") if isinstance(info.get(key), str)},
            **{key: section for key, section in (("entities", entities), ("sim", sim)) if section},
        }
        name = file_name(self.name or str(info.get("title", "")), file_name(path.stem))
        return Imported(name, tools, spec, tuple(dict.fromkeys(doubts)))


def _is_named_by_callers(entries: Sequence[Record], tools: Sequence[Record]) -> bool:
    """Whether callers bring the keys of an entity, such as their tenant's, since no tool shows one before it gets one.

    `entries` are the entries under `sim:` of the tools that work on the entity.
    """
    keys = {entry["key"] for entry in entries if "key" in entry}
    others = [tool for tool in tools if keys.isdisjoint(required(as_object(tool["inputSchema"])))]
    shown = json.dumps([tool.get("outputSchema") for tool in others])
    is_read = {entry["verb"] for entry in entries} <= {"get", "update"}
    return is_read and bool(keys) and not any(f'"{key}":' in shown for key in keys)


def _name(operation: Operation) -> str:
    """Return the operation's id, else a name like `get_pets_by_petId` for `GET /api/v1/pets/{petId}`.

    FastAPI appends path and method to the name of its function, which are left out.
    """
    declared = operation.definition.get("operationId")
    if isinstance(declared, str) and declared:
        appended = f"{re.sub(r'[^0-9A-Za-z_]', '_', operation.path)}_{operation.method}"
        return file_name(declared.removesuffix(appended).replace("/", "_"), operation.method)
    *others, last = segments(operation.path) or [""]
    literal = [segment for segment in (*others, last) if PARAMETER.search(segment) is None]
    inside = [*dropwhile(_BEFORE_NOUNS.fullmatch, literal)] or literal
    key = PARAMETER.fullmatch(last)
    return file_name("_".join([operation.method, *inside, *(["by", key[1]] if key else [])]), operation.method)


def _tool(name: str, operation: Operation, schema: Record, output: Record | None) -> Record:
    body = operation.definition
    texts = [body[key] for key in ("summary", "description") if isinstance(body.get(key), str)]
    description = "\n\n".join(dict.fromkeys(texts)) or operation.label
    hints = {"annotations": _HINTS[operation.method]} if operation.method in _HINTS else {}
    return {"name": name, "description": description, "inputSchema": schema, **hints} | (
        {} if output is None else {"outputSchema": output}
    )


def _proper_entry(resource: Resource, doubts: list[str]) -> Record:
    entry = entity_entry(resource)
    fields = {
        name: to_json_schema(value, lambda message: doubts.append(f"{resource.component}: {message}"), f".{name}")
        for name, value in as_object(entry["fields"]).items()
    }
    return {**entry, "fields": fields}


# arguments ------------------------------------------------------------------------------------------------------------


def _input(document: Record, operation: Operation, name: str, doubts: list[str]) -> tuple[dict[str, str], Record]:
    """Return the argument of each parameter, and the inputSchema."""
    arguments: dict[str, str] = {}
    schemas: dict[str, Json] = {}
    required: list[str] = []
    for parameter in operation.parameters:
        if not _is_argument(parameter):
            continue
        argument = (
            str(parameter["name"]) if parameter["name"] not in schemas else f"{parameter['in']}_{parameter['name']}"
        )
        arguments.setdefault(str(parameter["name"]), argument)
        schemas[argument] = _described(parameter)
        required += [argument] if parameter.get("required") is True or parameter["in"] == "path" else []
    fields = {} if operation.body is None else fields_of(document, operation.body)
    sent = {name if name not in schemas else f"body_{name}": field for name, field in fields.items()}
    if operation.body is not None and not fields:
        sent = {"body": operation.body}
    required += _required_in_body(document, operation, sent)
    schema = {"type": "object", "properties": {**schemas, **sent}, **({"required": required} if required else {})}
    return arguments, _with_definitions(document, schema, f"{name}, its arguments", doubts, "readOnly")


def _is_argument(parameter: Record) -> bool:
    """Whether a parameter is one for the agent, not what its client sends with every request, such as a request id."""
    name = snake(str(parameter.get("name")))
    is_sent = parameter.get("required") is True or name in _ONCE
    is_header = parameter.get("in") == "header" and name not in _LEFT_OUT and is_sent
    return is_header or parameter.get("in") in {"path", "query"}


def _described(answer: Record) -> Record:
    contents = [as_object(as_object(content).get("schema")) for content in as_object(answer.get("content")).values()]
    schema = as_object(answer.get("schema")) or (contents[0] if contents else as_object(None))
    described = {"description": answer["description"]} if isinstance(answer.get("description"), str) else {}
    return {**described, **schema} if "$ref" not in schema else {**schema, **described}


def _required_in_body(document: Record, operation: Operation, sent: dict[str, Json]) -> list[str]:
    """Return the required arguments of the body; none if the body is optional."""
    if not operation.is_body_required:
        return []
    if not fields_of(document, operation.body):
        return ["body"]
    names = [
        name for composed in composing(document, operation.body, set()) for name in as_list(composed.get("required"))
    ]
    return [str(name) for name in dict.fromkeys(names) if name in sent]


# results --------------------------------------------------------------------------------------------------------------


def _output(document: Record, operation: Operation, name: str, known: Resources, doubts: list[str]) -> Record | None:
    """Return the outputSchema: the response if it is an object, else an object that contains it."""
    if operation.success is None:
        return None
    where = f"{name}, its result"
    schema = operation.success
    if _is_object(document, schema, set()):
        output = _with_definitions(document, as_object(schema), where, doubts, "writeOnly")
        return {"type": "object", **output} if output.get("type") is None else output
    body = as_object(schema)
    listed = referred(document, str(body["$ref"])) if "$ref" in body else body
    name = _list_name(listed, known) if listed.get("type") == "array" else "result"
    wrapped: Record = {"type": "object", "properties": {name: schema}, "required": [name]}
    return _with_definitions(document, wrapped, where, doubts, "writeOnly")


def _is_object(document: Record, schema: Json, seen: set[str]) -> bool:
    """Whether each value of a schema is an object."""
    body = as_object(schema)
    reference = body.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        return _is_object(document, referred(document, reference), {*seen, reference})
    if "type" in body:
        return body["type"] in ("object", ["object"])
    composed = [_is_object(document, entry, seen) for entry in as_list(body.get("allOf"))]
    choices = [_is_object(document, entry, seen) for key in ("anyOf", "oneOf") for entry in as_list(body.get(key))]
    return "properties" in body or any(composed) or (bool(choices) and all(choices))


def _list_name(schema: Record, known: Resources) -> str:
    """Return the name of a list: the plural of the entity that it lists."""
    component = str(as_object(schema.get("items")).get("$ref", "")).removeprefix(COMPONENTS)
    listed = known.by_component.get(component) or next(
        (resource for resource in known.named.values() if resource.component == component), None
    )
    return plural(listed.entity) if listed else "items"


def _with_definitions(document: Record, schema: Record, where: str, doubts: list[str], left_out: str) -> Record:
    """Return the schema with everything that it refers to under `$defs`, without properties that are `left_out`."""
    references = _References(document, where, doubts, left_out)
    here = references.localised(schema)
    body = as_object(to_json_schema(here, lambda message: doubts.append(f"{where}: {message}")))
    defs = {
        name: to_json_schema(target, lambda message: doubts.append(f"{where}: {message}"), f".{name}")
        for name, target in references.targets.items()
    }
    return {**body, **({"$defs": defs} if defs else {})}


class _References:
    """Makes references point to `$defs`. Those without a target are left out.

    So are properties with the mark `left_out`: OpenAPI keeps `readOnly` ones out of requests, `writeOnly` ones out of
    responses.
    """

    def __init__(self, document: Record, where: str, doubts: list[str], left_out: str) -> None:
        self._left_out = left_out
        self.targets: dict[str, Json] = {}
        self._document = document
        self._where = where
        self._doubts = doubts
        self._names: dict[str, str] = {}

    def localised(self, value: Json) -> Json:
        """Return a schema whose references point to `$defs`, without extensions of OpenAPI (`x-...`)."""
        if isinstance(value, list):
            return [self.localised(item) for item in as_list(value)]
        if not isinstance(value, dict):
            return value
        whole = self._exchanged(as_object(value))
        body = {key: self._member(key, member) for key, member in whole.items() if key[:2] != "x-"}
        reference = body.pop("$ref", None)
        if not isinstance(reference, str):
            return body
        try:
            return {**body, "$ref": f"#/$defs/{self._name(reference)}"}
        except Missing:
            self._doubts.append(f"{self._where}: {reference} is not found; any value is accepted")
            return body

    def _exchanged(self, schema: Record) -> Record:
        """Return a schema without the properties that are not sent this way, nor in its list of required ones."""
        parts = {name: as_object(inner) for name, inner in as_object(schema.get("properties")).items()}
        marked = [
            name
            for name, inner in parts.items()
            if {**referred(self._document, str(inner.get("$ref", ""))), **inner}.get(self._left_out) is True
        ]
        if not marked:
            return schema
        kept = {name: inner for name, inner in parts.items() if name not in marked}
        needed = [name for name in as_list(schema.get("required")) if name not in marked]
        return {**schema, "properties": kept, **({"required": needed} if "required" in schema else {})}

    def _member(self, key: str, member: Json) -> Json:
        """Return the value of a keyword: a map from names to schemas, plain values, or schemas."""
        if key in SCHEMA_MAPS:
            return {name: self.localised(schema) for name, schema in as_object(member).items()}
        return member if key in _VALUES else self.localised(member)

    def _name(self, reference: str) -> str:
        """Return the name of a reference's target under `$defs`. Raises `Missing`."""
        if reference not in self._names:
            target, tokens = target_of(self._document, reference), tokens_of(reference)
            component = "_".join(tokens[2:] if tokens[:1] == ["components"] else tokens[-2:])
            name = [*distinct([*self.targets, file_name(component, "schema")])][-1]
            self._names[reference] = name
            self.targets[name] = {}  # the target may refer to itself
            self.targets[name] = self.localised(target)
        return self._names[reference]
