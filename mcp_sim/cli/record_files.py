"""`mcp-sim record --from FILE...`: convert traces of mcp-sim, HAR files and JSON-RPC messages to recorded sessions."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mcp_sim.cli.grade import reference_of
from mcp_sim.cli.record import Recording
from mcp_sim.cli.traces import read_entries, read_header
from mcp_sim.recordings.capture.conversation import iso
from mcp_sim.recordings.capture.files import MessagesRecorder, by_url, har_events, is_har, is_message, without_bodies
from mcp_sim.recordings.capture.folder import Folder, SessionFile
from mcp_sim.recordings.capture.http import HttpRecorder
from mcp_sim.recordings.capture.redaction import Redactor
from mcp_sim.recordings.relays.backlog import warn
from mcp_sim.recordings.responders import answer_of
from mcp_sim.simulator.compile import load
from mcp_sim.spec.foreign.files import as_utf8, without_event_fields
from mcp_sim.spec.sessions import TOOLS
from mcp_sim.spec.yaml12 import LARGEST
from mcp_sim.types import BrokenDelivery, Json, Observation, Record
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.json_values import decode
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.tools import Tool
from mcp_sim.types.urls import split_url
from mcp_sim.world.trace import step_from_json


def from_files(args: argparse.Namespace) -> int:
    """Return 0. Raises `UsageError` for a file in another format."""
    recording = Recording(args)
    folder = recording.folder
    sources = [(file, _content(file)) for file in args.files]
    for file, content in sources:
        if content is None:
            read_header(file)
    for file, content in sources:
        if content is None:
            _convert_trace(file, folder, args)
        elif isinstance(content, bytes):
            MessagesRecorder(folder, file).read(content)
        else:
            _convert_har(file, content, folder, recording.redactor)
    if not folder.sessions:
        raise UsageError("the files have no calls of MCP tools")
    for place in sorted({path.parent for path in folder.sessions}):
        if not (place / TOOLS).exists():
            warn(f"{place / TOOLS} is missing, and the files do not have the list of tools; measure needs it")
    recording.finish()
    return 0


def _content(file: Path) -> Json | bytes:
    """Return the value of a HAR file, the bytes of a file with JSON-RPC messages, or None for another file."""
    try:
        with file.open("rb") as stream:
            data = without_event_fields(as_utf8(stream.read(LARGEST + 1)))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    if len(data) > LARGEST:
        return None
    first = data.lstrip().partition(b"\n")[0]
    with suppress(ValueError):
        if is_message(decode(first)):
            return data
    with suppress(ValueError):
        if is_har(value := decode(data)):
            return value
    return None


def _convert_har(file: Path, har: Json, folder: Folder, redactor: Redactor | None) -> None:
    """Write the sessions with each server of a HAR file; several have a folder each."""
    answers, missing = without_bodies(har)
    if missing:
        warn(f"{file}: {missing} of {answers} answers have no body; save the HAR file with its content")
    servers = by_url(har)
    for url, exchanges in servers.items():
        (shown,) = [url] if redactor is None else redactor.redact_command([url])
        recorder = HttpRecorder(folder.within(_name(url, servers)), redactor, {"url": shown})
        at = 0.0
        for at, number, kind, data in har_events(exchanges):
            recorder.take(kind, number, data, at)
        recorder.finish(at)


def _name(url: str, urls: Collection[str]) -> str:
    """Return the name of the folder of one of several servers: its host, with its path if others have this host."""
    if len(urls) == 1:
        return ""
    host = _host(url)
    return host if sum(_host(other) == host for other in urls) == 1 else f"{host}{split_url(url).path}"


def _host(url: str) -> str:
    return split_url(url).netloc.rpartition("@")[2] or "server"


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
    if scenario is None or server not in scenario.servers:
        listed = []
    else:
        listed = [scenario.domain.tools[tool].definition for tool in scenario.servers[server].tools]
    file = folder.new_session(line["at"], None if folder.session else world)
    file.write(folder.header(file.path, {"started": line["at"], "transport": "trace"}))
    if listed and not folder.has_tools(listed):
        file.write({"type": "tools", "tools": listed})
    return file


def _scenario(header: Record, args: argparse.Namespace) -> Scenario | None:
    """Return the scenario of a trace, None if its file cannot be used any more."""
    reference = reference_of(header)
    try:
        return None if reference is None else load(reference, trust=args.trust)
    except (DocumentError, UsageError):
        return None


def session_of(entries: Iterable[Record], tools: Mapping[str, Tool]) -> Iterator[tuple[str, Record]]:
    """Yield the server and the line of each call in the entries of one world.

    `tools` are those of the scenario by id; without them all calls are of the server ''.
    """
    for entry in entries:
        step = entry.get("step")
        if step is None or step["entry"] != "call":
            continue
        tool = tools.get(step["tool"])
        line = {"tool": tool.name if tool else step["tool"], "arguments": step["arguments"]}
        observation = step_from_json(step).served
        at = iso(datetime.fromisoformat(step["at"]).timestamp())
        yield tool.server if tool else "", _line(line, observation, at)


def _line(line: Record, observation: Observation | None, at: str) -> Record:
    if observation is None or isinstance(observation.body, BrokenDelivery):
        return {"type": "unanswered", "method": "tools/call", **line, "at": at}
    return {"type": "call", **line, **answer_of(observation), "at": at, "ms": observation.delay.total_seconds() * 1000}
