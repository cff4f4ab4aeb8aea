"""What a program is written about: a server with its tools, the state it begins with, documentation and recordings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path
from typing import cast

from mcp_sim.recordings.compiling.evidence import most_varied
from mcp_sim.simulator.compile import load
from mcp_sim.spec.places import Place
from mcp_sim.spec.sessions import TOOLS, RecordedCall, Session, single_server
from mcp_sim.spec.sources import Sources, is_shipped, locate
from mcp_sim.spec.tool_specs import is_spec, is_tool_list, spec_file
from mcp_sim.spec.trust import Trust
from mcp_sim.types import Json, Record, as_object, frozen
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.scenario import Scenario

PROGRAM = "program.py"  # how the file is called in complaints
_FOR_SCORE = 6  # from how many sessions on some are held back for the score alone
_WORLD = ("description", "now", "open")  # what worlds of a trial have of a scenario's world, besides state and records


@frozen
class Subject:
    """A server to write a program for."""

    server: str
    title: str
    """What the server is called in prose."""
    document: Record
    """Its tool spec in one piece: with the tools in it, and without a program."""
    world: Record
    """The world of the scenario: `state` and `records`, as far as they are given."""
    file: Path | None = None
    """The tool spec or list of tools on disk; None if it is only in recordings."""
    documentation: str = ""
    samples: Sequence[RecordedCall] = ()
    """Calls with answers of the real server, one of each tool, which the model and the gate see."""
    sample_state: Record = field(default_factory=dict[str, Json])
    """The state that the samples begin with, if it is known."""
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    """The modules beside a given program, by their paths there."""
    shown: Sequence[Session] = ()
    """Recorded sessions that the model may see."""
    held: Sequence[Session] = ()
    """Recorded sessions that only the gate uses."""
    scored: Sequence[Session] = ()
    """Recorded sessions that neither the model nor the gate uses: they only score what is kept."""

    @property
    def tools(self) -> Sequence[Record]:
        return self.document["tools"]

    @property
    def state(self) -> Json:
        """The state that a world begins with, for trials without a recording."""
        given: Json = self.world.get("state") or (self.shown[0].state if self.shown else None)
        return given or self.sample_state or None


def read_subject(reference: str | Path, trust: Iterable[Path] = ()) -> Subject:
    """Return the server of a tool spec, a tools/list result, or a scenario with one server.

    Raises `UsageError` if there is no single server, and `DocumentError` if the documents cannot be used.
    """
    scenario = load(reference, trust=[*trust])
    if len(scenario.servers) != 1:
        raise UsageError(f"{reference}: has {len(scenario.servers)} servers; name the tool spec of one of them")
    path = locate(reference)
    sources = Sources(Trust([*trust]))
    root = sources.open(path)
    if root is None:
        raise DocumentError(sources.sorted())
    (name,) = scenario.servers
    if is_spec(root.value):
        return Subject(name, _title(root.value, name, path), _document(root.value, name, scenario), {}, path)
    tools: Json = root.value["tools"]
    file = spec_file(str(next(iter(as_object(tools).values()), tools)), path, sources)
    if isinstance(file, str):
        raise UsageError(file)
    spec = sources.open(file)
    if spec is None:
        raise DocumentError(sources.sorted())
    world = _world(root.at("world"), path, sources, scenario)
    return Subject(name, _title(spec.value, name, file), _document(spec.value, name, scenario), world, file)


def recorded_subject(sessions: Sequence[Session]) -> Subject:
    """Return the server of recorded sessions, with the tools that they list. Raises `UsageError` for several."""
    server = single_server(sessions)
    tools = {tool["name"]: tool for session in sessions for tool in session.tools}
    names: set[Json] = {as_object(session.header.get("server_info")).get("name") for session in sessions}
    name: Json = names.pop() if len(names) == 1 else None
    name = (name if isinstance(name, str) else "") or server
    return Subject(server, name, {"mcp_sim": 1, "name": name, "tools": [*tools.values()]}, {})


def with_recordings(subject: Subject, sessions: Sequence[Session], visible: int | None, seed: int = 0) -> Subject:
    """Return a subject with recorded sessions: a third of them, at least one, is held back.

    Of six or more, half of those that are held back are for the score, and the others for the gate. Of fewer all are
    for the gate, since one session decides badly what to keep. `visible`: the model sees at most so many, and the rest
    is held back. Those that are shown have as many tools as possible, and one has a given state, if there is any; else
    the hashes of names decide.
    """
    ordered = sorted(sessions, key=lambda session: sha256(f"{seed} {session.name}".encode()).digest())
    held = max(len(ordered) // 3, 1) if len(ordered) > 1 else 0
    shown = len(ordered) - held if visible is None else min(visible, len(ordered))
    ordered = most_varied(ordered, shown, lambda call: call.tool)  # what is held back is then shown, too
    if not any(session.state for session in ordered[:shown]):  # its form is needed to begin with another one
        ordered.sort(key=lambda session: not session.state)
    scored = (len(ordered) - shown) // 2 if len(ordered) >= _FOR_SCORE else 0
    end = len(ordered) - scored
    seen, held, rest = (
        sorted(some, key=lambda session: session.name) for some in (ordered[:shown], ordered[shown:end], ordered[end:])
    )
    return replace(subject, shown=seen, held=held, scored=rest)


def write_server(subject: Subject, folder: Path, program: str | None = None) -> None:
    """Write a server into a folder: its tool spec, the document `scenario.json`, and the program with its modules."""
    spec = {**subject.document, **({} if program is None else {"program": PROGRAM})}
    scenario = {"mcp_sim": 1, "name": "trial", "tools": {subject.server: "server.json"}}
    scenario |= {"world": subject.world} if subject.world else {}
    (folder / "server.json").write_text(json.dumps(spec), encoding="utf-8")
    (folder / "scenario.json").write_text(json.dumps(scenario), encoding="utf-8")
    files = {} if program is None else {**subject.modules, PROGRAM: program}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def can_be_edited(file: Path | None) -> bool:
    """Whether a file is the user's own."""
    return file is not None and not is_shipped(file)


def _title(value: Json, name: str, file: Path) -> str:
    """Return the name of a server; that of its folder if only the name of the list of a recording's tools is known."""
    is_recorded = file.name == TOOLS and is_tool_list(value)
    return file.resolve().parent.name if is_recorded else name


def _document(value: Json, name: str, scenario: Scenario) -> Record:
    """Return a tool spec with its tools in it, without its program."""
    body: Mapping[str, Json] = {} if is_tool_list(value) else cast("Record", value)
    kept = {key: inner for key, inner in body.items() if key not in {"mcp_sim", "name", "tools", "program"}}
    tools = [tool.definition for tool in scenario.domain.tools.values()]
    return {"mcp_sim": 1, "name": name, "tools": tools, **kept}


def _world(place: Place, path: Path, sources: Sources, scenario: Scenario) -> Record:
    """Return the world of a scenario, with the content of the files that it names."""
    given = as_object(place.value)
    world: Record = {name: str(given[name]) for name in _WORLD if name in given}
    state: Json = given.get("state")
    if isinstance(state, str):
        file = sources.named_file(state, path)
        root = sources.open(file) if isinstance(file, Path) else None
        state = None if root is None else root.value
    records = {name: scenario.records[name] for name in as_object(given.get("records")) if name in scenario.records}
    rows = {name: {"count": record.count, "rows": [*record.rows]} for name, record in records.items()}
    return {**world, **({"state": state} if state else {}), **({"records": rows} if rows else {})}
