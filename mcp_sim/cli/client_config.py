"""`mcp-sim client-config`: the entry with which a client starts `mcp-sim serve SCENARIO` by itself.

Paths are absolute, since applications that are not started from a shell know neither its PATH nor its folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcp_sim.documents import load
from mcp_sim.server.carriage import only_server
from mcp_sim.types import Record


@dataclass(frozen=True, slots=True)
class ClientFormat:
    """Where a client keeps its servers, and under which key; `extra` is what its entries have besides the command."""

    file: str
    key: str = "mcpServers"
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


CLIENTS: Mapping[str, ClientFormat] = {
    "claude-desktop": ClientFormat("claude_desktop_config.json (Settings, Developer, Edit Config)"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", help="a scenario or tool spec: a file, or a shipped name")
    parser.add_argument("--client", choices=sorted(CLIENTS), required=True, help="which client the entry is for")


def run(args: argparse.Namespace) -> int:
    """Print the entry as JSON on stdout, and on stderr where it goes."""
    scenario = load(args.scenario)
    client = CLIENTS[args.client]
    name = scenario.servers[only_server(scenario)].name
    print(json.dumps({client.key: {name: _entry(args.scenario, client)}}, indent=2))
    print(f"Merge this into {client.file} and restart the client.", file=sys.stderr)
    return 0


def _entry(reference: str, client: ClientFormat) -> Record:
    command, *words = _command()
    path = Path(reference)
    scenario = str(path.absolute()) if path.exists() else reference
    return {**client.extra, "command": command, "args": [*words, "serve", scenario]}


def _command() -> list[str]:
    """How this very installation is started, from anywhere."""
    beside = Path(sys.executable).absolute()
    for name in ("mcp-sim", "mcp-sim.exe"):
        if beside.with_name(name).is_file():
            return [str(beside.with_name(name))]
    return [str(beside), "-m", "mcp_sim"]
