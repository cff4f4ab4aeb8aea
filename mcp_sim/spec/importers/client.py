"""Import all MCP servers that a client is configured with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import anyio
from pydantic import Field, ValidationError

from mcp_sim.spec.foreign.files import distinct, file_name, read_value
from mcp_sim.spec.foreign.secrets import MissingValue, fill_placeholders
from mcp_sim.spec.messages import error_messages
from mcp_sim.spec.trust import read_whole
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

AT_ONCE = 8
"""The most servers that are asked at the same time."""

_SERVERS = ("mcpServers", "servers", "context_servers", "mcp_servers", "extensions", "registry", "mcp")
"""The keys under which clients list their servers."""


_ADDRESSES = ("url", "serverUrl", "httpUrl", "uri")
_VARIABLES = ("env", "environment", "envs")
"""The keys under which clients name the address of a server, and the variables of its command."""


class _Unusable(Exception):
    """An entry does not describe a server that can be asked."""


@frozen
class _Entry:
    """The entry of a server in a configuration. `folders` are placeholders that clients fill in themselves."""

    name: str
    definition: Record
    folders: Mapping[str, str]


@importers.register("client")
class Client(Importer):
    """Ask every server in the configuration of an MCP client for its tools.

    Supported are `.mcp.json`, the files of Claude Desktop, Claude Code, Codex, Continue, Cursor, goose, opencode,
    VS Code, Windsurf and Zed, Docker's catalogs, `server.json` of the MCP registry, manifests of MCP bundles, and other
    files with servers under `mcpServers` or `servers`. Comments are allowed.
    Variables, headers and arguments are used but not written anywhere. `${NAME}` and `${env:NAME}` are filled in from
    the environment, `${input:name}` from the variable NAME. Disabled servers are skipped. A server that does not answer
    does not stop the others.
    """

    sources: tuple[str, ...] = Field(
        min_length=1, description="Configuration files of clients.", examples=[["~/.cursor/mcp.json"]]
    )
    servers: tuple[str, ...] = Field(default=(), description="Globs of servers to ask. Default: all.")
    timeout: float = Field(default=60.0, gt=0, description="Time limit for each server, in seconds.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        chosen = self._chosen()
        servers: list[Imported | Unreached] = [Unreached(entry.name, "was not asked") for entry in chosen]
        limit = anyio.CapacityLimiter(AT_ONCE)
        names = list(distinct([file_name(entry.name) for entry in chosen]))

        async def ask(place: int) -> None:
            async with limit:
                servers[place] = await self._asked(chosen[place], names[place])

        async with anyio.create_task_group() as group:
            for place in range(len(chosen)):
                group.start_soon(ask, place)
        return servers

    def _chosen(self) -> list[_Entry]:
        entries = [entry for source in self.sources for entry in _entries(Path(source).expanduser())]
        chosen = [entry for entry in entries if self._is_wanted(entry)]
        if not chosen:
            names = ", ".join(entry.name for entry in entries) or "none"
            raise UsageError(f"{', '.join(self.sources)}: no server to import; configured servers: {names}")
        return chosen

    def _is_wanted(self, entry: _Entry) -> bool:
        if self.servers:
            return any(fnmatchcase(entry.name, glob) for glob in self.servers)
        return entry.definition.get("disabled") is not True and entry.definition.get("enabled") is not False

    async def _asked(self, entry: _Entry, name: str) -> Imported | Unreached:
        kind = importers["mcp"]
        try:
            options = {"name": name, "timeout": self.timeout, **_options(entry)}
        except (MissingValue, _Unusable) as error:
            return Unreached(name, str(error))
        try:
            importer = kind.model_validate(options)
        except ValidationError as error:
            return Unreached(name, "; ".join(message for _, message in error_messages(error, kind, options)))
        (imported,) = await importer.imported()
        return imported


# files ----------------------------------------------------------------------------------------------------------------


def _entries(path: Path) -> list[_Entry]:
    """Return the servers in a file, in its order."""
    servers = [*_servers(as_object(read_value(path)))]
    if not servers:
        raise UsageError(f"{path}: has no MCP servers; expected them under `mcpServers` or `servers`")
    here = str(path.absolute().parent)
    project = str(Path(here).parent) if Path(here).name in {".vscode", ".cursor"} else here
    folders = {
        "__dirname": here,
        "workspaceFolder": project,
        "workspaceFolderBasename": Path(project).name,
        "userHome": str(Path.home()),
        "pathSeparator": os.sep,
        "/": os.sep,
    }
    return [_Entry(name, as_object(definition), folders) for name, definition in servers]


def _servers(value: Record) -> Iterator[tuple[str, Json]]:
    """Yield the servers by name: at the top level, in settings of VS Code, in projects of Claude Code."""
    for key in (*_SERVERS, *(key for key in value if key.endswith(".mcpServers"))):  # such as `amp.mcpServers`
        yield from ((name, item) for name, item in _named(value.get(key)) if key != "mcp" or _is_server(item))
    yield from as_object(as_object(value.get("mcp")).get("servers")).items()
    yield from as_object(value.get("mcp.servers")).items()
    yield from _named(as_object(value.get("experimental")).get("modelContextProtocolServers"))  # older Continue
    for project in as_object(value.get("projects")).values():
        yield from as_object(as_object(project).get("mcpServers")).items()
    # The file of one server: of Docker's registry, of a bundle, of the MCP registry.
    bundled = as_object(as_object(value.get("server")).get("mcp_config"))
    published = [*as_list(value.get("packages")), *as_list(value.get("remotes"))]
    for item in ([value] if "image" in value else []) + ([bundled] if bundled else []) + published[:1]:
        yield str(value.get("name", "server")).rpartition("/")[2], item
    if value and all(_is_server(item) for item in value.values()):
        yield from value.items()


def _named(servers: Json) -> Iterator[tuple[str, Json]]:
    """Yield the entries of a map by their keys, those of a list by the name in each."""
    yield from as_object(servers).items()
    yield from ((str(as_object(item).get("name", "server")), item) for item in as_list(servers))


def _is_server(value: Json) -> bool:
    return bool({"command", "cmd", "url", "uri", "serverUrl", "image"} & as_object(value).keys())


# entries --------------------------------------------------------------------------------------------------------------


def _options(entry: _Entry) -> dict[str, Any]:
    """Return the options for the importer of live servers. Raises `MissingValue` or `_Unusable`."""
    outer = _package(entry.definition) if "registryType" in entry.definition else entry.definition
    inner = (as_object(outer.get(key)) for key in ("remote", "transport"))
    definition = next(filter(None, inner), outer)
    if "ref" in definition and "image" not in definition:
        raise _Unusable("names no image: import the catalog that describes it, with --server")
    if "image" in definition:
        definition = _container(definition)
    command = as_object(definition["command"]) if isinstance(definition.get("command"), dict) else definition
    url = next((definition[key] for key in _ADDRESSES if isinstance(definition.get(key), str)), None)
    if isinstance(url, str):
        return _remote_options(url, definition, entry)
    variables = {name: text for key in _VARIABLES for name, text in _texts(command.get(key), entry).items()}
    return {
        **_local_options(command, entry),
        "env": {**_from_file(definition.get("envFile"), entry), **variables},
        "folder": _text(folder, entry) if isinstance(folder := definition.get("cwd"), str) else None,
    }


def _remote_options(url: str, definition: Record, entry: _Entry) -> dict[str, Any]:
    """Return the options for a server at a URL."""
    headers = _texts(definition.get("headers"), entry)
    is_old = "sse" in {definition.get(key) for key in ("type", "transport", "transport_type")}
    filled = _text(url, entry)
    secrets = () if filled == url else (filled.partition("?")[2],)
    return {"sources": (filled,), "headers": headers, "transport": "sse" if is_old else "http", "secrets": secrets}


def _local_options(command: Record, entry: _Entry) -> dict[str, Any]:
    """Return the words of a command, and those of them that are secrets. Raises `MissingValue` or `_Unusable`."""
    program = command.get("command") or command.get("cmd") or command.get("path")
    written = [*map(str, as_list(program) or [program or ""]), *map(str, as_list(command.get("args")))]
    if not written[0]:
        raise _Unusable("has neither a command nor a URL")
    words = [_text(word, entry) for word in written]
    places = [f"${{{name}}}" for name in entry.folders]
    pairs = zip(words, written, strict=True)
    secrets = tuple(word for word, before in pairs if word != before and not any(place in before for place in places))
    return {"sources": words, "secrets": secrets}


def _container(definition: Record) -> Record:
    """Return the entry that runs the image of an entry in one of Docker's catalogs.

    Secrets, and variables whose value is a placeholder of Docker, have the values of this process.
    """
    if definition.get("type") == "poci":
        raise _Unusable("its tools are containers of their own, not a server")
    config, run = as_object(definition.get("config")), as_object(definition.get("run"))
    settings = [as_object(item) for of in (definition, config) for item in as_list(of.get("env"))]
    secrets = [as_object(item) for of in (definition, config) for item in as_list(of.get("secrets"))]
    values = {str(item.get("name")): str(item.get("value", "{{}}")) for item in settings}
    fixed = {name: value for name, value in values.items() if "{{" not in value}
    passed = [*values, *(str(item.get("env")) for item in secrets)]
    options = [word for name in dict.fromkeys(passed) for word in ("-e", name)]
    words = [str(word) for word in as_list(definition.get("command")) or as_list(run.get("command"))]
    unfilled = next((word for word in words if "{{" in word), None)
    if unfilled is not None:
        raise _Unusable(f"Docker fills in {unfilled!r} of its command; write the value into the entry")
    # Volumes are left out: a server lists its tools without them.
    return {
        "command": "docker",
        "args": ["run", "--rm", "-i", "--init", *options, str(definition["image"]), *words],
        "env": fixed,
    }


_RUNNERS = {
    "npm": ("npx", "-y", "{0}@{1}"),
    "pypi": ("uvx", "{0}@{1}"),
    "nuget": ("dnx", "--yes", "{0}@{1}"),
    "oci": ("docker", "run", "--rm", "-i", "{0}"),
}
"""The commands that run a package, by the registry that holds it."""


def _package(package: Record) -> Record:
    """Return the entry that runs a package which `server.json` of the MCP registry describes.

    Values that a person must give are those of variables of this process. Raises `_Unusable`.
    """
    runner = _RUNNERS.get(str(package["registryType"]))
    if runner is None:
        raise _Unusable(f"packages of {package['registryType']!r} cannot be run; import the command, with `import mcp`")
    name = str(package.get("identifier"))
    *command, last = [word.format(name, package.get("version", "latest")) for word in runner]
    variables = {str(item.get("name")): item for item in map(as_object, as_list(package.get("environmentVariables")))}
    given = {name: item.get("value", item.get("default", os.environ.get(name))) for name, item in variables.items()}
    env = {name: value for name, value in given.items() if value is not None}
    if command[0] == "docker":
        command += [word for name in env for word in ("-e", name)]
    words = [*command[1:], *_words(package.get("runtimeArguments")), last, *_words(package.get("packageArguments"))]
    return {"command": command[0], "args": words, "env": env}


def _words(arguments: Json) -> Iterator[str]:
    """Yield the words of arguments that are named, or stand at a place, and have a value."""
    for item in map(as_object, as_list(arguments)):
        value = item.get("value", item.get("default"))
        if item.get("type") == "named" and (value is not None or item.get("isRequired")):
            yield str(item.get("name"))
        if value is not None:
            yield str(value)


def _text(text: str, entry: _Entry) -> str:
    return fill_placeholders(text, os.environ, entry.folders)


def _texts(value: Json, entry: _Entry) -> dict[str, str]:
    texts = {name: inner if isinstance(inner, str) else json.dumps(inner) for name, inner in as_object(value).items()}
    return {name: _text(text, entry) for name, text in texts.items()}


def _from_file(value: Json, entry: _Entry) -> dict[str, str]:
    """Return the variables in a file with lines NAME=VALUE."""
    if not isinstance(value, str):
        return {}
    try:
        lines = read_whole(Path(_text(value, entry)).expanduser()).decode().splitlines()
    except (OSError, ValueError):
        raise _Unusable("its envFile cannot be read") from None
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines)
    return {name.strip(): text.strip().strip("'\"") for name, sign, text in pairs if sign and not name.startswith("#")}
