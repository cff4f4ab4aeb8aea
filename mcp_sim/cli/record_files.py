"""`mcp-sim record --from FILE...`: convert traces of mcp-sim and HAR files to recorded sessions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mcp_sim.cli.grade import reference_of
from mcp_sim.cli.recorded_folder import new_folder, report
from mcp_sim.cli.traces import read_entries, read_header
from mcp_sim.recordings.capture.folder import Folder, SessionFile
from mcp_sim.recordings.capture.har import har_events, is_har, urls
from mcp_sim.recordings.capture.http import HttpRecorder
from mcp_sim.recordings.capture.traces import session_of
from mcp_sim.recordings.relays.backlog import warn
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import TOOLS
from mcp_sim.spec.yaml12 import LARGEST
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.json_values import decode
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.tools import Tool


def from_files(args: argparse.Namespace) -> int:
    """Return 0. Raises `UsageError` for a file in another format."""
    folder, redactor = new_folder(args)
    sources = [(file, _har(file)) for file in args.files]
    for file, har in sources:
        if har is None:
            read_header(file)
    for file, har in sources:
        if har is not None:
            _convert_har(har, folder, redactor)
        else:
            _convert_trace(file, folder, args)
    if not folder.sessions:
        raise UsageError("the files have no calls of MCP tools")
    for place in sorted({path.parent for path in folder.sessions}):
        if not (place / TOOLS).exists():
            warn(f"{place / TOOLS} is missing, and the files do not have the list of tools; measure needs it")
    report(folder, redactor)
    return 0


def _har(file: Path) -> Json:
    """Return the value of a HAR file, None for another file."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
        value = decode(data) if len(data) <= LARGEST else None
    except ValueError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    return value if is_har(value) else None


def _convert_har(har: Json, folder: Folder, redactor: Any) -> None:
    about = {"url": ", ".join(urls(har))}
    if redactor is not None:
        about["url"] = ", ".join(redactor.redact_command(urls(har)))
    recorder = HttpRecorder(folder, redactor, about)
    at = 0.0
    for at, number, kind, data in har_events(har):
        recorder.take(kind, number, data, at)
    recorder.finish(at)


def _convert_trace(file: Path, folder: Folder, args: argparse.Namespace) -> None:
    """Write a session for each world of a trace and each server that it calls."""
    header = read_header(file)
    scenario = _scenario(header, args)
    tools = scenario.domain.tools if scenario is not None else dict[str, Tool]()
    has_several = scenario is not None and len(scenario.servers) > 1
    worlds = dict[str, list[Record]]()
    for entry in read_entries(file):
        worlds.setdefault(entry["world"], []).append(entry)
    for world, entries in worlds.items():
        files = dict[str, SessionFile]()
        for server, line in session_of(entries, tools):
            if server not in files:
                place = folder.within(server if has_several else "")
                files[server] = _opened(place, scenario, server, world, line)
            files[server].write(line)


def _opened(folder: Folder, scenario: Scenario | None, server: str, world: str, line: Record) -> SessionFile:
    """Create the session of a world and a server, and the list of tools."""
    listed = _definitions(scenario, server)
    file = folder.new_session(line["at"], None if folder.session else world)
    file.write(folder.header(file.path, {"started": line["at"], "transport": "trace"}))
    if listed and not folder.has_tools(listed):
        file.write({"type": "tools", "tools": listed})
    return file


def _definitions(scenario: Scenario | None, server: str) -> list[Json]:
    if scenario is None or server not in scenario.servers:
        return []
    return [scenario.domain.tools[tool].definition for tool in scenario.servers[server].tools]


def _scenario(header: Record, args: argparse.Namespace) -> Scenario | None:
    """Return the scenario of a trace, None if its file cannot be used any more."""
    reference = reference_of(header)
    try:
        return None if reference is None else load(reference, trust=args.trust)
    except (DocumentError, UsageError):
        return None
