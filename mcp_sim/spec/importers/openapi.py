"""The operations of an HTTP API that an OpenAPI document describes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from mcp_sim.spec.foreign.dialects import proper
from mcp_sim.spec.foreign.naming import distinct, file_name
from mcp_sim.spec.foreign.openapi import Operation, operations, parsed
from mcp_sim.spec.foreign.reading import read_value
from mcp_sim.spec.foreign.rest import Resource, entity_entry, resources, sim_entry
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers
from mcp_sim.types.lexicon.words import plural

_COMPONENTS = "#/components/schemas/"
_LEFT_OUT = frozenset({"authorization", "accept", "content-type", "user-agent"})
_HINTS = {"get": {"readOnlyHint": True}, "head": {"readOnlyHint": True}, "delete": {"destructiveHint": True}}


@importers.register("openapi")
class Openapi(Importer):
    """Reads OpenAPI 3.0 and 3.1 documents, as JSON or YAML: each operation becomes a tool.

    Parameters and the properties of the body are the arguments, the answer to success is the outputSchema (a list
    stands in an object, under the plural of what it lists). Component schemas with a key become entities, and methods
    on paths say what a tool does where that is plain: `GET /pets/{petId}` gets a pet.
    """

    sources: tuple[str, ...] = Field(min_length=1, description="The files.", examples=[["petstore.yaml"]])
    name: str | None = Field(default=None, description="The server's name. Default: the API's title.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [self._server(Path(source)) for source in self.sources]

    def _server(self, path: Path) -> Imported:
        doubts: list[str] = []
        document = parsed(read_value(path), str(path), doubts)
        tools, sim = _tools(document, doubts)
        if not tools:
            raise UsageError(f"{path}: describes no operations")
        info = as_object(document.get("info"))
        entities = {name: _proper_entry(one, doubts) for name, one in resources(document).items()}
        spec = {
            "version": str(info.get("version", "1.0.0")),
            **{key: info[key] for key in ("title", "description") if isinstance(info.get(key), str)},
            **{key: part for key, part in (("entities", entities), ("sim", sim)) if part},
        }
        name = file_name(self.name or str(info.get("title", "")), file_name(path.stem))
        return Imported(name, tools, spec, tuple(dict.fromkeys(doubts)))


def _tools(document: Record, doubts: list[str]) -> tuple[list[Json], dict[str, Record]]:
    """The tools, and what `sim:` says of them."""
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
    told = operation.said.get("operationId")
    if isinstance(told, str) and told:
        return file_name(told.replace("/", "_"), operation.method)
    return file_name("_".join([operation.method, *re.findall(r"[^/{}]+", operation.path)]), operation.method)


def _tool(name: str, operation: Operation, schema: Record, output: Record | None) -> Record:
    told = [operation.said[key] for key in ("summary", "description") if isinstance(operation.said.get(key), str)]
    description = "\n\n".join(dict.fromkeys(told)) or operation.label
    hints = {"annotations": _HINTS[operation.method]} if operation.method in _HINTS else {}
    return {"name": name, "description": description, "inputSchema": schema, **hints} | (
        {} if output is None else {"outputSchema": output}
    )


def _proper_entry(resource: Resource, doubts: list[str]) -> Record:
    entry = entity_entry(resource)
    fields = {
        name: proper(part, lambda sentence: doubts.append(f"{resource.component}: {sentence}"), f".{name}")
        for name, part in as_object(entry["fields"]).items()
    }
    return {**entry, "fields": fields}


# arguments ------------------------------------------------------------------------------------------------------------


def _input(document: Record, operation: Operation, name: str, doubts: list[str]) -> tuple[dict[str, str], Record]:
    """The argument of each parameter, and the inputSchema."""
    arguments: dict[str, str] = {}
    schemas: dict[str, Json] = {}
    needed: list[str] = []
    for part in operation.parameters:
        if part.get("in") not in {"path", "query", "header"} or str(part.get("name")).lower() in _LEFT_OUT:
            continue
        argument = str(part["name"]) if part["name"] not in schemas else f"{part['in']}_{part['name']}"
        arguments.setdefault(str(part["name"]), argument)
        schemas[argument] = _described(part)
        needed += [argument] if part.get("required") is True or part["in"] == "path" else []
    sent = dict(_sent(document, operation, schemas))
    needed += _needed(document, operation, sent)
    whole = {"type": "object", "properties": {**schemas, **sent}, **({"required": needed} if needed else {})}
    return arguments, _whole(document, whole, f"{name}, its arguments", doubts)


def _described(part: Record) -> Record:
    contents = [as_object(as_object(one).get("schema")) for one in as_object(part.get("content")).values()]
    schema = as_object(part.get("schema")) or (contents[0] if contents else as_object(None))
    told = {"description": part["description"]} if isinstance(part.get("description"), str) else {}
    return {**told, **schema} if "$ref" not in schema else {**schema, **told}


def _sent(document: Record, operation: Operation, taken: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """The arguments of the body: its properties, or itself where it has none."""
    if operation.body is None:
        return
    fields = _fields(document, operation.body)
    if fields:
        yield from ((name if name not in taken else f"body_{name}", part) for name, part in fields.items())
    else:
        yield "body", operation.body


def _fields(document: Record, body: Json) -> dict[str, Record]:
    """The properties of an object, and of the schemas that it is made of, references kept."""
    parts = [properties(part) for part in _made_of(document, body, set())]
    return {name: schema for part in parts for name, schema in part.items()}


def _made_of(document: Record, body: Json, seen: set[str]) -> Iterator[Record]:
    """A schema, and those that it refers to or joins with `allOf`, each once and behind what it is made of."""
    schema = as_object(body)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen.add(reference)
        yield from _made_of(document, _component(document, reference), seen)
    for part in as_list(schema.get("allOf")):
        yield from _made_of(document, part, seen)
    yield schema


def _component(document: Record, reference: str) -> Record:
    schemas = as_object(as_object(document.get("components")).get("schemas"))
    return as_object(schemas.get(reference.removeprefix(_COMPONENTS)))


def _needed(document: Record, operation: Operation, sent: dict[str, Json]) -> list[str]:
    """The arguments without which there is no body; none where there need not be one."""
    if not operation.is_body_required:
        return []
    if not _fields(document, operation.body):
        return ["body"]
    told = [name for part in _made_of(document, operation.body, set()) for name in as_list(part.get("required"))]
    return [str(name) for name in dict.fromkeys(told) if name in sent]


# results --------------------------------------------------------------------------------------------------------------


def _output(
    document: Record, operation: Operation, name: str, known: dict[str, Resource], doubts: list[str]
) -> Record | None:
    """The outputSchema: what is answered where it is an object, else an object that holds it."""
    if operation.success is None:
        return None
    where = f"{name}, its result"
    schema = as_object(operation.success)
    target = _component(document, str(schema["$ref"])) if "$ref" in schema else schema
    if target.get("type", "object") == "object" and "items" not in target:
        whole = _whole(document, schema, where, doubts)
        return {"type": "object", **whole} if whole.get("type") is None else whole
    place = _listed(target, known) if target.get("type") == "array" else "result"
    return _whole(document, {"type": "object", "properties": {place: schema}, "required": [place]}, where, doubts)


def _listed(schema: Record, known: dict[str, Resource]) -> str:
    """The name of a list: the plural of the entity that it lists."""
    component = str(as_object(schema.get("items")).get("$ref", "")).removeprefix(_COMPONENTS)
    return next((plural(one.entity) for one in known.values() if one.component == component), "items")


def _whole(document: Record, schema: Record, where: str, doubts: list[str]) -> Record:
    """The schema with all that it refers to under `$defs`."""
    used: dict[str, Json] = {}
    here = _pointed(document, schema, used, where, doubts)
    body = as_object(proper(here, lambda sentence: doubts.append(f"{where}: {sentence}")))
    defs = {
        name: proper(part, lambda sentence: doubts.append(f"{where}: {sentence}"), f".{name}")
        for name, part in used.items()
    }
    return {**body, **({"$defs": defs} if defs else {})}


def _pointed(document: Record, value: Json, used: dict[str, Json], where: str, doubts: list[str]) -> Json:
    """A schema whose references point to `$defs`; those that lead nowhere are left out."""
    if isinstance(value, list):
        return [_pointed(document, part, used, where, doubts) for part in as_list(value)]
    if not isinstance(value, dict):
        return value
    body = as_object(value)
    reference = body.get("$ref")
    if not isinstance(reference, str):
        return {key: _pointed(document, part, used, where, doubts) for key, part in body.items()}
    name, target = reference.removeprefix(_COMPONENTS), _component(document, reference)
    if not target:
        doubts.append(f"{where}: {reference} leads nowhere within the document; any value is taken")
        return {key: part for key, part in body.items() if key != "$ref"}
    if name not in used:
        used[name] = {}
        used[name] = _pointed(document, target, used, where, doubts)
    return {**body, "$ref": f"#/$defs/{name}"}
