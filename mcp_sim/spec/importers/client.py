"""The MCP servers that a client is configured with, all at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import anyio
from pydantic import Field

from mcp_sim.spec.foreign.naming import distinct, file_name
from mcp_sim.spec.foreign.placeholders import Unfilled, filled
from mcp_sim.spec.foreign.reading import read_value
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

AT_ONCE = 8
"""How many servers are asked at the same time."""

_SERVERS = ("mcpServers", "servers", "context_servers", "mcp_servers")
"""The keys under which clients keep their servers."""


class _Unusable(Exception):
    """An entry says no server that could be asked; why."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A server as a configuration has it, and the names that clients fill in beside the environment."""

    name: str
    said: Record
    folders: Mapping[str, str]


@importers.register("client")
class Client(Importer):
    """Reads the configuration of an MCP client, and asks every server in it for its tools.

    It takes `.mcp.json`, the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf and Zed, and whatever else
    has servers under `mcpServers` or `servers`, with comments or without. Variables, headers and arguments are used and
    not written anywhere. `${NAME}` and `${env:NAME}` are filled in from the environment, and `${input:name}` from the
    variable NAME. What is disabled is left out; one server that does not answer does not keep the others.
    """

    sources: tuple[str, ...] = Field(
        min_length=1, description="The files of clients.", examples=[["~/.cursor/mcp.json"]]
    )
    servers: tuple[str, ...] = Field(default=(), description="Globs of the servers that are asked. Default: all.")
    timeout: float = Field(default=60.0, gt=0, description="How many seconds each may take.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        chosen = self._chosen()
        found: list[Imported | Unreached] = [Unreached(entry.name, "was not asked") for entry in chosen]
        limit = anyio.CapacityLimiter(AT_ONCE)
        names = list(distinct([file_name(entry.name) for entry in chosen]))

        async def ask(place: int) -> None:
            async with limit:
                found[place] = await self._asked(chosen[place], names[place])

        async with anyio.create_task_group() as group:
            for place in range(len(chosen)):
                group.start_soon(ask, place)
        return found

    def _chosen(self) -> list[_Entry]:
        entries = [entry for source in self.sources for entry in _entries(Path(source).expanduser())]
        chosen = [entry for entry in entries if self._is_wanted(entry)]
        if not chosen:
            told = ", ".join(entry.name for entry in entries) or "none"
            raise UsageError(f"{', '.join(self.sources)}: no server to import; there are: {told}")
        return chosen

    def _is_wanted(self, entry: _Entry) -> bool:
        if self.servers:
            return any(fnmatchcase(entry.name, glob) for glob in self.servers)
        return entry.said.get("disabled") is not True and entry.said.get("enabled") is not False

    async def _asked(self, entry: _Entry, name: str) -> Imported | Unreached:
        try:
            options = _options(entry)
        except (Unfilled, _Unusable) as error:
            return Unreached(name, str(error))
        importer = importers["mcp"].model_validate({"name": name, "timeout": self.timeout, **options})
        (found,) = await importer.imported()
        return found


# files ----------------------------------------------------------------------------------------------------------------


def _entries(path: Path) -> Iterator[_Entry]:
    """The servers in a file, in its order."""
    value = read_value(path)
    here = str(path.absolute().parent)
    project = str(Path(here).parent) if Path(here).name in {".vscode", ".cursor"} else here
    folders = {"workspaceFolder": project, "userHome": str(Path.home()), "pathSeparator": os.sep, "/": os.sep}
    found = False
    for name, said in _servers(as_object(value)):
        found = True
        yield _Entry(name, as_object(said), folders)
    if not found:
        raise UsageError(f"{path}: names no MCP servers; clients keep them under `mcpServers` or `servers`")


def _servers(value: Record) -> Iterator[tuple[str, Json]]:
    """The entries under every key that holds servers: at the top, in settings of VS Code, in Claude Code's projects."""
    for key in _SERVERS:
        yield from as_object(value.get(key)).items()
    yield from (pair for key in ("mcp", "mcp.servers") for pair in _nested(key, value))
    for project in as_object(value.get("projects")).values():
        yield from as_object(as_object(project).get("mcpServers")).items()
    if value and all(_is_server(part) for part in value.values()):
        yield from value.items()


def _nested(key: str, value: Record) -> Iterator[tuple[str, Json]]:
    part = as_object(value.get(key))
    yield from as_object(part.get("servers")).items() if key == "mcp" else part.items()


def _is_server(value: Json) -> bool:
    return bool({"command", "url", "serverUrl"} & as_object(value).keys())


# entries --------------------------------------------------------------------------------------------------------------


def _options(entry: _Entry) -> dict[str, Any]:
    """What the importer of live servers is told; raises Unfilled, _Unusable."""
    said = entry.said
    command = as_object(said["command"]) if isinstance(said.get("command"), dict) else said
    url = said.get("url") or said.get("serverUrl") or said.get("httpUrl")
    if isinstance(url, str):
        headers = _texts(said.get("headers"), entry)
        is_old = said.get("type") == "sse" or said.get("transport") == "sse"
        whole = _text(url, entry)
        hidden = () if whole == url else (whole.partition("?")[2],)
        transport = "sse" if is_old else "http"
        return {"sources": (whole,), "headers": headers, "transport": transport, "secrets": hidden}
    program = command.get("command") or command.get("path")
    if not isinstance(program, str) or not program:
        raise _Unusable("has neither a command nor a URL")
    written = [program, *map(str, as_list(command.get("args")))]
    words = [_text(word, entry) for word in written]
    hidden = tuple(
        word for word, before in zip(words, written, strict=True) if word != before and "Folder}" not in before
    )
    env = {**_from_file(said.get("envFile"), entry), **_texts(command.get("env"), entry)}
    folder = said.get("cwd")
    return {
        "sources": words,
        "env": env,
        "folder": _text(folder, entry) if isinstance(folder, str) else None,
        "secrets": hidden,
    }


def _text(text: str, entry: _Entry) -> str:
    return filled(text, os.environ, entry.folders)


def _texts(value: Json, entry: _Entry) -> dict[str, str]:
    texts = {name: part if isinstance(part, str) else json.dumps(part) for name, part in as_object(value).items()}
    return {name: _text(part, entry) for name, part in texts.items()}


def _from_file(value: Json, entry: _Entry) -> dict[str, str]:
    """The variables in a file of lines NAME=VALUE."""
    if not isinstance(value, str):
        return {}
    try:
        lines = Path(_text(value, entry)).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise _Unusable("its envFile cannot be read") from None
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines)
    return {name.strip(): text.strip().strip("'\"") for name, sign, text in pairs if sign and not name.startswith("#")}
