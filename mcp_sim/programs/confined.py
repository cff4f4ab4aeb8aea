"""The side of a program that runs in a confined process: it loads the program and calls its functions."""

from __future__ import annotations

import pickle
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from rpds import HashTrieMap

from mcp_sim.generate.values import inventor
from mcp_sim.programs.distant_views import Connection, DistantView, change_message, decoded
from mcp_sim.programs.loading import failed_at, reason
from mcp_sim.programs.results import Failure, Refused, Result, Rpc, plain
from mcp_sim.programs.sandbox.child import Channel
from mcp_sim.programs.world import World, result_of
from mcp_sim.types import Call, Json, Key, Memories, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import encode
from mcp_sim.types.kinds import Invent

_TOOL = Tool("", "", {"name": "", "inputSchema": {"type": "object"}})


@frozen
class Setup:
    """What a process needs once. It is pickled, which only the process that is confined reads."""

    path: Path
    files: Mapping[str, bytes]
    """The program and the modules beside it, by path."""
    prefix: str
    domain: Domain
    """Its entities, description and time."""


def serve(channel: Channel) -> None:
    """Load a program and answer calls of its functions, until the other side is closed."""
    setup: Setup = pickle.loads(channel.receive())  # noqa: S301 (from the process that started this one)
    server = _Server(channel, setup)
    try:
        functions = _load(setup.path, setup.files)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (the edge)
        channel.send(encode(["failed", f"{failed_at(error, setup.path)}: cannot be loaded: {reason(error)}"]))
        return
    channel.send(encode(["loaded"]))
    while True:
        try:
            request = decoded(channel.receive())
        except EOFError:
            return
        channel.send(encode(server.answer(functions, *request)))


@dataclass
class _Server:
    """Answers calls."""

    channel: Channel
    setup: Setup

    def answer(
        self,
        functions: Mapping[str, Callable[..., Any]],
        function: str,
        before: Sequence[Json],
        arguments: Record,
        situation: Mapping[str, Any],
    ) -> list[Any]:
        """Return `["done", value, changes, seconds]` or `["crashed", why]`."""
        self.connection.views = 1
        turn = _turn(self.connection, situation)
        world = World(self.setup.domain, self.setup.prefix, turn, self.invent)
        try:
            value, changes = result_of(functions[function], world, arguments, before)
            written = [change_message(change) for change in changes]
            return ["done", _message_of(value), written, time.process_time()]
        except (Exception, SystemExit) as error:  # noqa: BLE001 (the edge)
            return ["crashed", f"{failed_at(error, self.setup.path)}: {reason(error)}"[:10_000]]

    @cached_property
    def connection(self) -> Connection:
        return Connection(self.ask)

    @cached_property
    def invent(self) -> Invent:
        return _Inventions(inventor(self.setup.domain), self.connection)

    def ask(self, question: list[Any]) -> Any:
        self.channel.send(encode(["ask", *question]))
        return decoded(self.channel.receive())


@frozen
class _Inventions:
    """Invents here, and imagines where the language model is."""

    invent: Invent
    connection: Connection

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        return self.invent(turn, entity, field, schema, record)

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Any) -> Key:
        return self.invent.choose_reference(turn, entity, field, target, keys)

    def imagine(self, turn: Turn, schema: Record, about: str) -> Json:
        value = self.connection.ask([0, [], "imagine", turn.draws.scope, schema, about])
        return self.invent.imagine(turn, schema, about) if value is None else value[0]


def _turn(connection: Connection, situation: Mapping[str, Any]) -> Turn:
    view = DistantView(connection)
    view.know(situation["hits"], situation["summaries"])
    now = datetime.fromisoformat(situation["now"])
    return Turn(
        Call("", {}, caller=situation["caller"]),
        index=situation["index"],
        tool=_TOOL,
        view=view,
        start=now,
        now=now,
        draws=Draws(*situation["draws"]),
        history=(),
        memories=Memories(HashTrieMap()),
        lost=frozenset(situation["lost"]),
    )


def _message_of(value: Any) -> list[Json]:
    """Return what a function returned or refused as a message."""
    match value:
        case Rpc():
            return ["rpc", plain(value.code), plain(value.message), plain(value.data)]
        case Failure():
            return ["failure", plain(value.value)]
        case Refused():
            return ["refused", plain(value.value)]
        case Result():
            parts = (value.text, value.structured, value.blocks, value.is_error)
            return ["result", *(plain(item) for item in parts)]
        case bytes():
            return ["bytes", b64encode(value).decode()]
        case _:
            return ["value", plain(value)]


class _Sources(MetaPathFinder, SourceLoader):
    """Finds the modules beside a program in memory."""

    def __init__(self, folder: Path, files: Mapping[str, bytes]) -> None:
        self._folder, self._files = folder, files
        self._names: dict[str, str] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        stem = self._folder.joinpath(*fullname.split("."))
        for file, inside in ((stem / "__init__.py", [str(stem)]), (stem.with_name(f"{stem.name}.py"), None)):
            if str(file) in self._files:
                return self.spec(fullname, file, inside)
        if any(Path(file).is_relative_to(stem) for file in self._files):
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(stem)]
            return spec
        return None

    def spec(self, name: str, file: Path, inside: list[str] | None = None) -> ModuleSpec:
        """Return the module of a file."""
        self._names[name] = str(file)
        spec = spec_from_file_location(name, file, loader=self, submodule_search_locations=inside)
        assert spec is not None
        return spec

    def get_filename(self, fullname: str) -> str:
        return self._names[fullname]

    def get_data(self, path: str | bytes) -> bytes:
        return self._files[str(path)]


def _load(path: Path, files: Mapping[str, bytes]) -> dict[str, Callable[..., Any]]:
    sources = _Sources(path.parent, files)
    sys.meta_path.insert(0, sources)
    spec = sources.spec(f"mcp_sim_program_{path.stem}", path)
    module = sys.modules[spec.name] = module_from_spec(spec)
    sources.exec_module(module)
    return {name: value for name, value in vars(module).items() if callable(value)}
