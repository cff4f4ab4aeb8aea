"""Import the operations of an HTTP API that an OpenAPI document describes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from mcp_sim.spec.foreign.dialects import to_json_schema
from mcp_sim.spec.foreign.files import distinct, file_name, read_value
from mcp_sim.spec.foreign.openapi import Operation, operations, parse_document
from mcp_sim.spec.foreign.rest import Resource, entity_entry, resources, sim_entry
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers
from mcp_sim.types.lexicon.english import plural

_COMPONENTS = "#/components/schemas/"
_LEFT_OUT = frozenset({"authorization", "accept", "content-type", "user-agent"})
_HINTS = {"get": {"readOnlyHint": True}, "head": {"readOnlyHint": True}, "delete": {"destructiveHint": True}}


@importers.register("openapi")
class Openapi(Importer):
    """Read OpenAPI 3.0 and 3.1 documents in JSON or YAML. Each operation becomes a tool.

    Parameters and the properties of the body become arguments. The successful response becomes the outputSchema; a
    list is put into an object, under the plural of what it lists. Component schemas with a key become entities. The
    method and path say what a tool does if they are clear: `GET /pets/{petId}` gets a pet.
    """

    sources: tuple[str, ...] = Field(min_length=1, description="The files.", examples=[["petstore.yaml"]])
    name: str | None = Field(default=None, description="Name of the server. Default: the API's title.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [self._server(Path(source)) for source in self.sources]

    def _server(self, path: Path) -> Imported:
        doubts: list[str] = []
        document = parse_document(read_value(path), str(path), doubts)
        tools, sim = _tools(document, doubts)
        if not tools:
            raise UsageError(f"{path}: describes no operations")
        info = as_object(document.get("info"))
        entities = {name: _proper_entry(resource, doubts) for name, resource in resources(document).items()}
        spec = {
            "version": str(info.get("version", "1.0.0")),
            **{key: info[key] for key in ("title", "description") if isinstance(info.get(key), str)},
            **{key: part for key, part in (("entities", entities), ("sim", sim)) if part},
        }
        name = file_name(self.name or str(info.get("title", "")), file_name(path.stem))
        return Imported(name, tools, spec, tuple(dict.fromkeys(doubts)))


def _tools(document: Record, doubts: list[str]) -> tuple[list[Json], dict[str, Record]]:
    """Return the tools, and their entries under `sim:`."""
    known = resources(document)
    found = list(operations(document, doubts))
    names = list(distinct([_name(operation) for operation in found]))
    tools: list[Json] = []
    sim: dict[str, Record] = {}
    for name, operation in zip(names, found, strict=True):
        arguments, schema = _input(document, operation, name, doubts)
        tools.append(_tool(name, operation, schema, _output(document, operation, name, known, doubts)))
        entry = sim_entry(operation, known, arguments, properties(schema))
        if entry is not None:
            sim[name] = entry
    return tools, sim


def _name(operation: Operation) -> str:
    declared = operation.definition.get("operationId")
    if isinstance(declared, str) and declared:
        return file_name(declared.replace("/", "_"), operation.method)
    return file_name("_".join([operation.method, *re.findall(r"[^/{}]+", operation.path)]), operation.method)


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
        name: to_json_schema(part, lambda message: doubts.append(f"{resource.component}: {message}"), f".{name}")
        for name, part in as_object(entry["fields"]).items()
    }
    return {**entry, "fields": fields}


# arguments ------------------------------------------------------------------------------------------------------------


def _input(document: Record, operation: Operation, name: str, doubts: list[str]) -> tuple[dict[str, str], Record]:
    """Return the argument of each parameter, and the inputSchema."""
    arguments: dict[str, str] = {}
    schemas: dict[str, Json] = {}
    required: list[str] = []
    for parameter in operation.parameters:
        if parameter.get("in") not in {"path", "query", "header"} or str(parameter.get("name")).lower() in _LEFT_OUT:
            continue
        argument = (
            str(parameter["name"]) if parameter["name"] not in schemas else f"{parameter['in']}_{parameter['name']}"
        )
        arguments.setdefault(str(parameter["name"]), argument)
        schemas[argument] = _described(parameter)
        required += [argument] if parameter.get("required") is True or parameter["in"] == "path" else []
    sent = dict(_body_arguments(document, operation, schemas))
    required += _required_in_body(document, operation, sent)
    schema = {"type": "object", "properties": {**schemas, **sent}, **({"required": required} if required else {})}
    return arguments, _with_definitions(document, schema, f"{name}, its arguments", doubts)


def _described(part: Record) -> Record:
    contents = [as_object(as_object(one).get("schema")) for one in as_object(part.get("content")).values()]
    schema = as_object(part.get("schema")) or (contents[0] if contents else as_object(None))
    described = {"description": part["description"]} if isinstance(part.get("description"), str) else {}
    return {**described, **schema} if "$ref" not in schema else {**schema, **described}


def _body_arguments(document: Record, operation: Operation, taken: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the arguments of the body: its properties, or the whole body if it has none."""
    if operation.body is None:
        return
    fields = _fields(document, operation.body)
    if fields:
        yield from ((name if name not in taken else f"body_{name}", field) for name, field in fields.items())
    else:
        yield "body", operation.body


def _fields(document: Record, body: Json) -> dict[str, Record]:
    """Return the properties of an object and of the schemas that compose it, with references kept."""
    parts = [properties(part) for part in _composing(document, body, set())]
    return {name: schema for part in parts for name, schema in part.items()}


def _composing(document: Record, body: Json, seen: set[str]) -> Iterator[Record]:
    """Yield the schemas that a schema refers to or joins with `allOf`, each once, then the schema itself."""
    schema = as_object(body)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen.add(reference)
        yield from _composing(document, _component(document, reference), seen)
    for part in as_list(schema.get("allOf")):
        yield from _composing(document, part, seen)
    yield schema


def _component(document: Record, reference: str) -> Record:
    schemas = as_object(as_object(document.get("components")).get("schemas"))
    return as_object(schemas.get(reference.removeprefix(_COMPONENTS)))


def _required_in_body(document: Record, operation: Operation, sent: dict[str, Json]) -> list[str]:
    """Return the required arguments of the body; none if the body is optional."""
    if not operation.is_body_required:
        return []
    if not _fields(document, operation.body):
        return ["body"]
    names = [name for part in _composing(document, operation.body, set()) for name in as_list(part.get("required"))]
    return [str(name) for name in dict.fromkeys(names) if name in sent]


# results --------------------------------------------------------------------------------------------------------------


def _output(
    document: Record, operation: Operation, name: str, known: dict[str, Resource], doubts: list[str]
) -> Record | None:
    """Return the outputSchema: the response if it is an object, else an object that contains it."""
    if operation.success is None:
        return None
    where = f"{name}, its result"
    schema = as_object(operation.success)
    target = _component(document, str(schema["$ref"])) if "$ref" in schema else schema
    if target.get("type", "object") == "object" and "items" not in target:
        output = _with_definitions(document, schema, where, doubts)
        return {"type": "object", **output} if output.get("type") is None else output
    name = _list_name(target, known) if target.get("type") == "array" else "result"
    wrapped = {"type": "object", "properties": {name: schema}, "required": [name]}
    return _with_definitions(document, wrapped, where, doubts)


def _list_name(schema: Record, known: dict[str, Resource]) -> str:
    """Return the name of a list: the plural of the entity that it lists."""
    component = str(as_object(schema.get("items")).get("$ref", "")).removeprefix(_COMPONENTS)
    return next((plural(resource.entity) for resource in known.values() if resource.component == component), "items")


def _with_definitions(document: Record, schema: Record, where: str, doubts: list[str]) -> Record:
    """Return the schema with everything that it refers to under `$defs`."""
    used: dict[str, Json] = {}
    here = _with_local_references(document, schema, used, where, doubts)
    body = as_object(to_json_schema(here, lambda message: doubts.append(f"{where}: {message}")))
    defs = {
        name: to_json_schema(part, lambda message: doubts.append(f"{where}: {message}"), f".{name}")
        for name, part in used.items()
    }
    return {**body, **({"$defs": defs} if defs else {})}


def _with_local_references(document: Record, value: Json, used: dict[str, Json], where: str, doubts: list[str]) -> Json:
    """Return a schema whose references point to `$defs`. Those without a target are left out."""
    if isinstance(value, list):
        return [_with_local_references(document, part, used, where, doubts) for part in as_list(value)]
    if not isinstance(value, dict):
        return value
    body = as_object(value)
    reference = body.get("$ref")
    if not isinstance(reference, str):
        return {key: _with_local_references(document, part, used, where, doubts) for key, part in body.items()}
    name, target = reference.removeprefix(_COMPONENTS), _component(document, reference)
    if not target:
        doubts.append(f"{where}: {reference} does not exist in the document; any value is accepted")
        return {key: part for key, part in body.items() if key != "$ref"}
    if name not in used:
        used[name] = {}
        used[name] = _with_local_references(document, target, used, where, doubts)
    return {**body, "$ref": f"#/$defs/{name}"}
