"""Functions as they are written for language models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from mcp_sim.spec.foreign.dialects import proper
from mcp_sim.spec.foreign.naming import file_name
from mcp_sim.spec.foreign.reading import read_value
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

_INPUTS = ("inputSchema", "input_schema", "parameters", "parametersJsonSchema")
_OUTPUTS = ("outputSchema", "output_schema", "response", "responseJsonSchema", "returns")
_LISTS = ("tools", "functions", "function", "functionDeclarations", "function_declarations")
_KEPT = ("title", "description", "annotations")


@importers.register("openai")
class Openai(Importer):
    """Reads functions as OpenAI, Anthropic, Gemini and BFCL write them: JSON, or a function in each line.

    OpenAI's `{type: function, function: {...}}` and the flat form of the Responses API, Anthropic's `input_schema`,
    Gemini's `functionDeclarations`, and BFCL's functions, with type names like `dict` and `float`. Where there is a
    `response` schema, it becomes the outputSchema.
    """

    sources: tuple[str, ...] = Field(min_length=1, description="The files.", examples=[["functions.json"]])
    name: str | None = Field(default=None, description="The server's name. Default: the file's.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [self._server(Path(source)) for source in self.sources]

    def _server(self, path: Path) -> Imported:
        doubts: list[str] = []
        tools = list(_tools(read_value(path), doubts))
        if not tools:
            raise UsageError(f"{path}: holds no functions as OpenAI, Anthropic, Gemini or BFCL write them")
        return Imported(file_name(self.name or path.name.split(".")[0]), tools, {}, tuple(dict.fromkeys(doubts)))


def _tools(value: Json, doubts: list[str]) -> Iterator[Json]:
    """The functions in a value, wherever lists of them stand, as MCP lists tools; the same one only once."""
    seen: list[Json] = []
    for said in _functions(value):
        if said not in seen:
            seen.append(said)
            yield _tool(said, len(seen), doubts)


def _functions(value: Json) -> Iterator[Record]:
    if isinstance(value, list):
        for part in as_list(value):
            yield from _functions(part)
        return
    body = as_object(value)
    if isinstance(body.get("function"), dict):
        yield as_object(body["function"])
    elif isinstance(body.get("name"), str) and not any(isinstance(body.get(key), list) for key in _LISTS):
        yield body
    elif any(isinstance(body.get(key), list) for key in _LISTS):
        for key in _LISTS:
            yield from _functions(as_list(body.get(key)))
    elif any(key in body for key in _INPUTS) or "type" in body:
        yield body


def _tool(said: Record, number: int, doubts: list[str]) -> Record:
    name = said.get("name")
    where = name if isinstance(name, str) else f"function {number}"
    if not any(key in said for key in (*_INPUTS, "description")):
        doubts.append(f"{where}: has no parameters ({said.get('type', 'nothing is said of them')}); it takes any")
    tool = {} if name is None else {"name": name}
    tool |= {key: said[key] for key in _KEPT if said.get(key) is not None}
    told: list[Json] = [said[key] for key in _INPUTS if said.get(key) is not None]
    tool["inputSchema"] = proper(
        told[0] if told else {"type": "object"}, lambda sentence: doubts.append(f"{where}: {sentence}")
    )
    output = next((as_object(said[key]) for key in _OUTPUTS if as_object(said.get(key))), None)
    return tool if output is None else _with_output(tool, output, where, doubts)


def _with_output(tool: Record, output: Record, where: str, doubts: list[str]) -> Record:
    schema = as_object(proper(output, lambda sentence: doubts.append(f"{where}, its response: {sentence}")))
    if schema.get("type") != "object":
        doubts.append(f"{where}: its response is no object, and so no outputSchema; it is left out")
        return tool
    return {**tool, "outputSchema": schema}
