"""Drafts of a tool spec: the document, and scenarios of it for trials."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mcp_sim.simulator.compile import load
from mcp_sim.spec.foreign.files import file_name
from mcp_sim.types import Json, Record, as_object, frozen
from mcp_sim.types.scenario import Scenario

_LEARNT = ("mcp_sim", "name", "tools", "sim", "entities", "errors")


@frozen
class Draft:
    """A tool spec that is being learnt."""

    server: str
    tools: Sequence[Record]
    sim: Mapping[str, Record] = field(default_factory=dict[str, Record])
    """Tool -> what is declared about it."""
    entities: Mapping[str, Record] = field(default_factory=dict[str, Record])
    errors: Mapping[str, Json] = field(default_factory=dict[str, Json])
    rest: Record = field(default_factory=dict[str, Any])
    """The other keys of the document."""

    @classmethod
    def of(cls, document: Record) -> Draft:
        """Return the draft that begins with a tool spec; its tools are a list."""
        rest = {key: value for key, value in document.items() if key not in _LEARNT}
        sim, entities, errors = (as_object(document.get(key)) for key in ("sim", "entities", "errors"))
        return cls(str(document["name"]), document["tools"], sim, entities, errors, rest)

    def without(self, tool: str) -> Draft:
        """Return the draft with nothing declared about a tool."""
        return replace(self, sim={name: declared for name, declared in self.sim.items() if name != tool})

    def with_tool(self, tool: str, declared: Record) -> Draft:
        """Return the draft with something else declared about a tool."""
        return replace(self, sim={**self.sim, tool: declared}) if declared else self.without(tool)

    def document(self, tools: Json) -> Record:
        """Return the tool spec, with its list of tools or the name of its file."""
        sim = {name: self.sim[name] for name in (tool["name"] for tool in self.tools) if self.sim.get(name)}
        parts: Record = {"entities": dict(self.entities), "sim": sim, "errors": dict(self.errors)}
        document: Record = {"mcp_sim": 1, "name": self.server, **self.rest, "tools": tools}
        return {**document, **{key: body for key, body in parts.items() if body}}


@contextmanager
def written(draft: Draft) -> Generator[Path]:
    """Write a draft to a temporary file. A draft that declares nothing is the bare list of tools."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{file_name(draft.server)}.json"
        bare = not (draft.sim or draft.entities or draft.errors or draft.rest)
        body: Json = {"tools": [*draft.tools]} if bare else draft.document([*draft.tools])
        file.write_text(json.dumps(body), encoding="utf-8")
        yield file


def load_draft(draft: Draft, state: Json) -> Scenario:
    """Return the scenario of a draft. Raises `DocumentError` if it is invalid."""
    with written(draft) as file:
        return load(file, state=state)
