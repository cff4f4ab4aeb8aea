"""A list of tools that somebody saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from mcp_sim.spec.foreign.foreign import foreign
from mcp_sim.spec.foreign.naming import file_name
from mcp_sim.spec.foreign.reading import read_value
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

_SAID = ("version", "title", "description", "instructions")


@importers.register("tools")
class Tools(Importer):
    """Reads files with a tools/list result: `{"tools": [...]}`, the list itself, or the answer of a JSON-RPC server.

    Beside the list may stand `name` or `server`, `version`, `title`, `description` and `instructions`.
    """

    sources: tuple[str, ...] = Field(min_length=1, description="The files.", examples=[["crm.tools.json"]])
    name: str | None = Field(default=None, description="The server's name. Default: what the file says, or its name.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [self._server(Path(source)) for source in self.sources]

    def _server(self, path: Path) -> Imported:
        value = read_value(path)
        if told := foreign(value):
            raise UsageError(f"{path}: {told}")
        body = as_object(as_object(value).get("result")) or as_object(value)
        if not isinstance(value, list) and not isinstance(body.get("tools"), list):
            raise UsageError(f'{path}: holds no list of tools: it must be {{"tools": [...]}}, or the list itself')
        told = next((body[key] for key in ("name", "server") if isinstance(body.get(key), str)), None)
        stem = path.name.removesuffix(".json").removesuffix(".tools")
        spec = {key: body[key] for key in _SAID if isinstance(body.get(key), str)}
        doubts = ("its list goes on behind a nextCursor; only this page is here",) if body.get("nextCursor") else ()
        return Imported(
            file_name(self.name or told or stem), as_list(value) or as_list(body.get("tools")), spec, doubts
        )
