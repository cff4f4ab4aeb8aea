"""Check that MCP clients get from mcp-sim what tests/clients expects, over stdio and HTTP, each in its own environment.

    python .ci/clients.py FOLDER [CLIENT...]      FOLDER receives the environments and the error output of the clients

In tests/clients, clients.toml lists the clients and their versions, steps.json the calls that each makes in two worlds,
and with_CLIENT is the script of a client.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import NODE, serving
from environments import make

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / "tests" / "clients"
LIBRARY = NODE / "lib" / "node_modules" / "npm" / "bin"
AT_ONCE = 2
LONGEST = 240  # seconds for one command


@dataclass(frozen=True, slots=True)
class ClientResult:
    """The result of one client: the time to install and to run, its routes, and the differences found."""

    name: str
    installed: float
    ran: float
    routes: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one client; `programs` holds the programs that its command lines name."""

    name: str
    needs: Sequence[str]
    folder: Path
    programs: Path

    @property
    def from_npm(self) -> bool:
        return self.needs[0].startswith("@")

    def install(self) -> None:
        """Create an environment with the client, without mcp-sim, unless there is one."""
        ready = self.folder / "installed"
        if not ready.exists():
            self._install()
            ready.touch()

    def _install(self) -> None:
        if self.from_npm:
            self.done("node", LIBRARY / "npm-cli.js", "install", "--silent", "--no-audit", "--no-fund", *self.needs)
            return
        try:
            make(self.folder / "venv", self.needs)
        except subprocess.CalledProcessError as failure:
            raise Failed(f"{failure}:\n{failure.stderr[-3000:]}") from failure

    @property
    def python(self) -> tuple[object, ...]:
        """Return the command of an interpreter with the client, if it is a Python client."""
        return (sys.executable,) if self.from_npm else (self.folder / "venv" / "bin" / "python",)

    def run(self, url: str) -> str:
        """Return the output of the client's script."""
        module = CLIENTS / f"with_{self.name}.mjs"
        if not module.exists():
            return self.done(*self.python, CLIENTS / f"with_{self.name}.py", url)
        beside = self.folder / "client"  # node looks for packages beside the script
        beside.mkdir()
        for source in (module, CLIENTS / "steps.json"):
            (beside / source.name).write_bytes(source.read_bytes())
        return self.done("node", beside / module.name, url)

    def done(self, *command: object) -> str:
        """Run a command in the client's folder and return its output. Raises if it fails."""
        environment = {**os.environ, "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}
        words = list(map(str, command))
        with (self.folder / "stderr.txt").open("w+") as stderr:
            try:
                done = subprocess.run(
                    words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=stderr, text=True, timeout=LONGEST, check=True,
                )  # fmt: skip
            except subprocess.SubprocessError as failure:
                stderr.seek(0)
                raise Failed(f"{failure}:\n{stderr.read()[-3000:]}") from failure
        return done.stdout


class Failed(Exception):
    """Raised when a client cannot be installed, or its script fails."""


def main(folder: Path, asked: Sequence[str]) -> int:
    clients = tomllib.loads((CLIENTS / "clients.toml").read_text(encoding="utf-8"))
    unknown = set(asked) - clients.keys()
    if unknown:
        raise SystemExit(f"unknown clients {sorted(unknown)}; choose from {list(clients)}")
    programs = make_programs(folder)
    places = [Place(name, clients[name]["needs"], folder / name, programs) for name in asked or clients]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failed = [result.name for result in pool.map(attempt, places) if print_result(result).problems]
    return 1 if failed else 0


def print_result(result: ClientResult) -> ClientResult:
    """Print the result of a client, and return it."""
    verdict = "FAILED" if result.problems else "passed"
    times = f"installed in {result.installed:5.1f} s, ran in {result.ran:5.1f} s"
    print(f"{result.name:14}{verdict}  {times}", *result.routes, sep="  ", flush=True)
    for problem in result.problems:
        print(f"    {problem}", flush=True)
    return result


def make_programs(folder: Path) -> Path:
    """Make a folder with `mcp-sim` of this checkout, and `node` and `npx` of a version that the clients support."""
    programs = folder / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    node = NODE / "bin" / "node"
    for name, line in {
        "mcp-sim": f'PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m mcp_sim "$@"',
        "node": f'exec {shlex.quote(str(node))} "$@"',
        "npx": f'exec {shlex.quote(str(node))} {shlex.quote(str(LIBRARY / "npx-cli.js"))} --no-install "$@"',
    }.items():
        program = programs / name
        program.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        program.chmod(0o755)
    return programs


def attempt(place: Place) -> ClientResult:
    """Install a client, connect it to a server, and check its results."""
    place.folder.mkdir(exist_ok=True)
    started = installed = time.monotonic()
    try:
        place.install()
        installed = time.monotonic()
        with serving("flaky_crm") as url:
            routes = [json.loads(line) for line in place.run(url).splitlines() if line.startswith('{"route"')]
    except Failed as failure:
        return ClientResult(place.name, installed - started, time.monotonic() - installed, (), (str(failure),))
    ran = time.monotonic() - installed
    timings = tuple(f"{route['route']}: {route['seconds']:.1f} s" for route in routes)
    return ClientResult(place.name, installed - started, ran, timings, tuple(find_differences(routes)))


def find_differences(routes: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the differences of all routes."""
    steps = json.loads((CLIENTS / "steps.json").read_text(encoding="utf-8"))
    if len(routes) < 2:
        yield f"expected at least two routes, got {[route['route'] for route in routes]}"
    for route in routes:
        for step, answer in zip(steps, route["answers"], strict=True):
            if not matches(step, answer):
                yield f"{route['route']}: {step['is']} (world {step['world']}): got {str(answer)[:300]}"


def matches(step: dict[str, Any], answer: Any) -> bool:
    """Whether an answer is the expected one of a step."""
    if "tool" not in step:
        body = json.loads((ROOT / "tool_specs" / "crm" / "crm.tools.json").read_text(encoding="utf-8"))
        return answer == [tool["name"] for tool in body["tools"]]
    times = {text: answer["text"].count(text) for text in step["times"]}
    return answer["failed"] is step["failed"] and times == step["times"]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
