"""Import functions in the formats of language models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from mcp_sim.spec.foreign.dialects import to_json_schema
from mcp_sim.spec.foreign.files import file_name, read_value
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

_INPUTS = ("inputSchema", "input_schema", "args_schema", "parameters", "parametersJsonSchema")
_PARTS = ("parameter_definitions", "parameterDefinitions", "args")
"""The keys under which Cohere and LangChain name the parameters alone."""
_OUTPUTS = ("outputSchema", "output_schema", "response", "responseJsonSchema", "returns")
_LISTS = ("tools", "functions", "function", "functionDeclarations", "function_declarations")
_WRAPPERS = ("function", "toolSpec")
_KEPT = ("title", "description", "annotations")


@importers.register("openai")
class Openai(Importer):
    """Read functions in the formats of OpenAI, Anthropic, Gemini, Bedrock, Cohere and BFCL: JSON, or one per line.

    Supported are OpenAI's `{type: function, function: {...}}` and the flat form of the Responses API, Anthropic's
    `input_schema`, Gemini's `functionDeclarations`, and BFCL's functions with type names like `dict` and `float`. A
    `response` schema becomes the outputSchema.
    """

    sources: tuple[str, ...] = Field(min_length=1, description="The files.", examples=[["functions.json"]])
    name: str | None = Field(default=None, description="Name of the server. Default: the file's name.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [self._server(Path(source)) for source in self.sources]

    def _server(self, path: Path) -> Imported:
        doubts: list[str] = []
        functions = list[Record]()
        for function in _functions(read_value(path)):
            if function not in functions:
                functions.append(function)
        tools: list[Json] = [_tool(function, number, doubts) for number, function in enumerate(functions, 1)]
        if not tools:
            raise UsageError(
                f"{path}: has no functions in the formats of OpenAI, Anthropic, Gemini, Bedrock, Cohere or BFCL"
            )
        return Imported(file_name(self.name or path.name.split(".")[0]), tools, {}, tuple(dict.fromkeys(doubts)))


def _functions(value: Json) -> Iterator[Record]:
    """Yield the functions anywhere in a value."""
    if isinstance(value, list):
        for item in as_list(value):
            yield from _functions(item)
        return
    body = as_object(value)
    wrapper = next((key for key in _WRAPPERS if isinstance(body.get(key), dict)), None)
    if wrapper is not None:
        yield as_object(body[wrapper])
    elif isinstance(body.get("toolConfig"), dict):
        yield from _functions(body["toolConfig"])
    elif isinstance(body.get("name"), str) and not any(isinstance(body.get(key), list) for key in _LISTS):
        yield body
    elif any(isinstance(body.get(key), list) for key in _LISTS):
        for key in _LISTS:
            yield from _functions(as_list(body.get(key)))
    elif any(key in body for key in _INPUTS) or "type" in body:
        yield body


def _tool(function: Record, number: int, doubts: list[str]) -> Record:
    """Return a function as an MCP tool."""
    name = function.get("name")
    where = name if isinstance(name, str) else f"function {number}"
    if not any(key in function for key in (*_INPUTS, "description")):
        doubts.append(f"{where}: has no parameters ({function.get('type', 'none declared')}); it accepts any")
    tool = {} if name is None else {"name": name}
    tool |= {key: function[key] for key in _KEPT if function.get(key) is not None}
    schemas: list[Json] = [function[key] for key in _INPUTS if function.get(key) is not None]
    schemas += [{"type": "object", "properties": function[key]} for key in _PARTS if as_object(function.get(key))]
    schemas = [as_object(schema).get("json", schema) for schema in schemas]  # Bedrock's
    tool["inputSchema"] = to_json_schema(
        schemas[0] if schemas else {"type": "object"}, lambda message: doubts.append(f"{where}: {message}")
    )
    output = next((as_object(function[key]) for key in _OUTPUTS if as_object(function.get(key))), None)
    if output is None:
        return tool
    schema = as_object(to_json_schema(output, lambda message: doubts.append(f"{where}, its response: {message}")))
    if schema.get("type") != "object":
        doubts.append(f"{where}: its response is not an object and cannot be an outputSchema; it is left out")
        return tool
    return {**tool, "outputSchema": schema}
