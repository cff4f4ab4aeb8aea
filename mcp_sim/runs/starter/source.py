"""What a first scenario is made for: the tools of servers, in any form that an importer reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path

from mcp_sim.spec.foreign.files import distinct, kind_of_file, read_value
from mcp_sim.spec.import_files import build_files
from mcp_sim.spec.sources import is_file_name, is_readable, shipped
from mcp_sim.spec.tool_specs import is_spec
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Imported, Unreached, importers

TAKEN = ["scenario", "script", "conftest"]
"""File names that no server gets."""


@frozen
class Source:
    """The servers of a scenario: those to write tool specs for, or the spec that exists."""

    servers: Sequence[Imported] = ()
    kind: str = ""
    """The importer."""
    spec: str | Path = ""
    """The spec that exists: a shipped name, or a file."""
    unreached: Sequence[Unreached] = ()

    def names(self) -> list[str]:
        """Return the names of the servers."""
        return [server.name for server in self.servers] or [Path(self.spec).stem]

    def references(self, folder: Path) -> Mapping[str, str]:
        """Return what a scenario in a folder names under `tools`, by server."""
        if isinstance(self.spec, Path):
            return {self.spec.stem: _relative(self.spec, folder)}
        return {self.spec: self.spec} if self.spec else {server.name: f"{server.name}.yaml" for server in self.servers}

    def files(self, folder: Path) -> tuple[Mapping[str, str], list[str]]:
        """Return the texts of the tool specs by file name, and messages about what is doubtful."""
        texts: dict[str, str] = {}
        doubts: list[str] = []
        for server in self.servers:
            files = build_files(server, self.kind, folder)
            texts |= {path.name: text for path, text in files.texts.items() if text is not None}
            doubts += files.doubts
        return texts, doubts


async def read_source(reference: str) -> Source:
    """Return the servers that a reference describes.

    It is the name of a shipped tool spec, a URL, or a file: a list of tools, the configuration of an MCP client, a tool
    spec, or what another importer reads. Raises `UsageError` and `DocumentError`.
    """
    known, path = shipped("tool_specs"), _path(reference)
    if "://" in reference:
        return await _imported("mcp", reference)
    if is_readable(path):
        value = read_value(path)
        if "mcp_sim" not in as_object(value):
            return await _imported(kind_of_file(value) or ("tools" if _lists_tools(value) else "client"), str(path))
        if is_spec(value):
            return Source(spec=path)
        raise UsageError(f"{reference}: is no tool spec; expected one, or a list of tools or a client configuration")
    if reference in known:
        return Source(spec=reference)
    if is_file_name(reference):
        raise UsageError(f"{reference}: file not found")
    raise UsageError(f"{reference}: no such file or shipped tool spec{did_you_mean(reference, known)}")


def _path(reference: str) -> Path:
    return Path(reference).expanduser()


def _lists_tools(value: object) -> bool:
    body = as_object(value)
    return isinstance(value, list) or "tools" in body or "tools" in as_object(body.get("result"))


async def _imported(kind: str, source: str) -> Source:
    imported = await importers[kind].model_validate({"sources": (source,)}).imported()
    reached = [server for server in imported if isinstance(server, Imported)]
    names = list(distinct([*TAKEN, *(server.name for server in reached)]))[len(TAKEN) :]
    servers = [
        Imported(name, server.tools, server.spec, server.doubts) for name, server in zip(names, reached, strict=True)
    ]
    return Source(servers, kind, unreached=[server for server in imported if isinstance(server, Unreached)])


def _relative(path: Path, folder: Path) -> str:
    """Return a path as a document in the folder names it."""
    return Path(relpath(path.absolute(), folder.absolute())).as_posix()
