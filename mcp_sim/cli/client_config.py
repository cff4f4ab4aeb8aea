"""`mcp-sim client-config`: print or write the entries with which a client starts or finds `mcp-sim serve SCENARIO`.

Paths are absolute, because applications not started from a shell know neither its PATH nor its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from mcp_sim.cli.files import back_up, replace_file
from mcp_sim.cli.parsing import server_url
from mcp_sim.cli.terminal import note, print_json
from mcp_sim.simulator.compile import load
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.scenario import Scenario


@frozen
class ClientFormat:
    """The configuration format of a client.

    `file` is its default file (relative: in the project's folder), `key` the key with its servers, `extra` what an
    entry has besides the command. A client with `speaks_http` gets a URL, others get `mcp-sim connect URL`.
    """

    file: str
    key: str = "mcpServers"
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    speaks_http: bool = True


def _claude_desktop() -> str:
    """Return the path of Claude Desktop's configuration on this system."""
    folders = {
        "darwin": "~/Library/Application Support/Claude",
        "win32": f"{os.environ.get('APPDATA', '~/AppData/Roaming')}/Claude",
    }
    return f"{folders.get(sys.platform, '~/.config/Claude')}/claude_desktop_config.json"


CLIENTS: Mapping[str, ClientFormat] = {
    "claude-desktop": ClientFormat(_claude_desktop(), speaks_http=False),
    "claude-code": ClientFormat(".mcp.json", extra={"type": "stdio"}),
    "cursor": ClientFormat(".cursor/mcp.json"),
    "vscode": ClientFormat(".vscode/mcp.json", key="servers", extra={"type": "stdio"}),
    "mcp-json": ClientFormat(".mcp.json"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario or tool spec: a file, or a shipped name")
    parser.add_argument("--client", choices=sorted(CLIENTS), required=True, help="which client the entries are for")
    parser.add_argument(
        "--url",
        metavar="[HOST:]PORT[/w/WORLD]",
        type=server_url,
        help="use the running server of `mcp-sim serve SCENARIO --http PORT` instead of starting one",
    )
    parser.add_argument(
        "--write",
        nargs="?",
        const="",
        metavar="FILE",
        help="merge the entries into FILE (default: the client's file), and keep a copy as FILE.bak",
    )


def run(args: argparse.Namespace) -> int:
    """Print the entries as JSON, with a hint on stderr where they belong, or merge them into the client's file."""
    scenario = load(args.scenario)
    client = CLIENTS[args.client]
    entries = {scenario.servers[key].name: _entry(key, scenario, client, args) for key in scenario.servers}
    if args.write is not None:
        path = Path(args.write or client.file).expanduser()
        try:
            value: Any = json.loads(path.read_text(encoding="utf-8") or "{}") if path.exists() else {}
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{path} cannot be merged into ({error}); nothing was written") from None
        if not isinstance(value, dict):
            raise UsageError(f"{path} does not contain a JSON object; nothing was written")
        before = cast("Record", value)
        known = before.get(client.key, {})
        if not isinstance(known, dict):
            raise UsageError(f"{path}: {client.key!r} is not an object; nothing was written")
        merged = {**before, client.key: {**cast("Record", known), **entries}}
        copy = back_up(path)
        replace_file(path, json.dumps(merged, indent=2, ensure_ascii=False) + "\n")
        note(f"Wrote {', '.join(entries)} to {path}{f' (before: {copy})' if copy else ''}.")
        note("Restart the client.")
    else:
        print_json({client.key: entries})
        note(f"Merge this into {client.file} (or use --write) and restart the client.")
    if args.url is None and len(entries) > 1:
        note(
            "Each entry starts a separate world. To share one world, run `mcp-sim serve "
            f"{args.scenario} --http 8930` and use --url 8930 here."
        )
    return 0


def _entry(server: str, scenario: Scenario, client: ClientFormat, args: argparse.Namespace) -> Record:
    command, *words = _command()
    if args.url is None:
        chosen = ["--server", server] if len(scenario.servers) > 1 else []
        return {**client.extra, "command": command, "args": [*words, "serve", _absolute(args.scenario), *chosen]}
    url = _endpoint(args.url, server if len(scenario.servers) > 1 else None)
    if client.speaks_http:
        return {"type": "http", "url": url}
    return {**client.extra, "command": command, "args": [*words, "connect", url]}


def _endpoint(url: str, server: str | None) -> str:
    """Return the URL of one server in the world that `url` names, else in the world `default`."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"--url must be like 8930, http://127.0.0.1:8930 or http://127.0.0.1:8930/w/NAME, not {url!r}")
    path = parts.path.rstrip("/").removesuffix("/mcp") or "/w/default"
    return f"{parts.scheme}://{parts.netloc}{path}{f'/{server}' if server else ''}/mcp"


def _absolute(reference: str) -> str:
    path = Path(reference)
    return str(path.absolute()) if path.exists() else reference


def _command() -> list[str]:
    """Return the command that starts this installation from any folder."""
    beside = Path(sys.executable).absolute()
    for name in ("mcp-sim", "mcp-sim.exe"):
        if beside.with_name(name).is_file():
            return [str(beside.with_name(name))]
    return [str(beside), "-m", "mcp_sim"]
