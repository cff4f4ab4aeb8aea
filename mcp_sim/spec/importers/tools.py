"""Import a saved list of tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from mcp_sim.spec.foreign.files import file_name, import_hint, read_value
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

_KEPT = ("version", "title", "description", "instructions")


@importers.register("tools")
class Tools(Importer):
    """Read files with a tools/list result: `{"tools": [...]}`, the list alone, or responses of a JSON-RPC server.

    The keys `name` or `server`, `version`, `title`, `description` and `instructions` beside the list are kept. The
    `tools.json` of Docker's registry is read, too: its arguments become an inputSchema.
    """

    sources: tuple[str, ...] = Field(min_length=1, description="The files.", examples=[["crm.tools.json"]])
    name: str | None = Field(
        default=None,
        description="Name of the server. Default: the name in the file, else the file's name, or its folder's for "
        "`tools.json`.",
    )

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [self._server(Path(source)) for source in self.sources]

    def _server(self, path: Path) -> Imported:
        value = _listed(read_value(path))
        if hint := import_hint(value):
            raise UsageError(f"{path}: {hint}")
        body = as_object(as_object(value).get("result")) or as_object(value)
        if not isinstance(value, list) and not isinstance(body.get("tools"), list):
            raise UsageError(f'{path}: has no list of tools: expected {{"tools": [...]}} or a list of tools')
        declared = next((body[key] for key in ("name", "server") if isinstance(body.get(key), str)), None)
        stem = path.name.removesuffix(".json").removesuffix(".tools")
        if stem == "tools":  # as in recordings and Docker's registry, whose folders have the name
            stem = path.absolute().parent.name
        spec = {key: body[key] for key in _KEPT if isinstance(body.get(key), str)}
        doubts = (
            ("the list has further pages (nextCursor); only this one is imported",) if body.get("nextCursor") else ()
        )
        tools = [_with_schema(tool) for tool in as_list(value) or as_list(body.get("tools"))]
        return Imported(file_name(self.name or declared or stem), tools, spec, doubts)


def _listed(value: Json) -> Json:
    """Return the tools of all responses if a value is a list of JSON-RPC messages: pages, or lines of a session."""
    messages = [as_object(message) for message in as_list(value)]
    if not messages or not all("jsonrpc" in message for message in messages):
        return value
    return {"tools": [tool for message in messages for tool in as_list(as_object(message.get("result")).get("tools"))]}


def _with_schema(tool: Json) -> Json:
    """Return the tool with an inputSchema instead of the list of arguments that Docker's registry has.

    Most of these lists do not mark what is optional, so only what is marked as not optional is required.
    """
    body = as_object(tool)
    if "inputSchema" in body or not isinstance(body.get("arguments"), list):
        return tool
    arguments = [as_object(argument) for argument in as_list(body["arguments"])]
    schema: Record = {
        "type": "object",
        "properties": {str(argument.get("name")): _argument_schema(argument) for argument in arguments},
        "required": [str(argument.get("name")) for argument in arguments if argument.get("optional") is False],
    }
    return {**{key: value for key, value in body.items() if key != "arguments"}, "inputSchema": schema}


def _argument_schema(argument: Record) -> Record:
    schema = {key: argument[key] for key in ("type", "items") if key in argument}
    return {**schema, "description": argument["desc"]} if argument.get("desc") else schema
