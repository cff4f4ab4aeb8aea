"""The compared servers, the bare SDK server and mcp-sim: the same tools, and answers of the same size.

mcp-sim has a world of 1,000 records, three perturbations that match the tool, and a trace on disk.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mcp_sim import Simulator
from mcp_sim.types import ToolResult

HERE = Path(__file__).parent
TOOLS = HERE.parent / "tool_specs" / "crm.tools.json"
TOOL, ARGUMENTS = "get_contact", {"contact_id": "con_00001"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "get": (TOOL, ARGUMENTS),
    "create": ("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}),
    "list of 20": ("search_contacts", {"limit": 20}),
}
BARE, OURS = "bare SDK server", "mcp-sim"
NEVER = 1_000_000_000

SCENARIO = f"""\
mcp_sim: 1
name: overhead
tools: crm
world:
  records:
    company: 100
    contact: {{count: 500, rows: [{{id: con_00001, job_title: "{"Prefers to be called before noon. " * 50}"}}]}}
    deal: 250
    activity: 150
perturbations:
  - error: {{status: 503}}
    when: {{nth: {NEVER}}}
  - latency: 1s
    when: {{every: {NEVER}}}
  - rate_limit: {{limit: {NEVER}, window: 1s}}
"""


@dataclass(frozen=True, slots=True)
class Sides:
    """Commands of both servers; `results` are what the reference returns for the calls, by tool."""

    scenario: Path
    results: dict[str, Any]
    _results_file: Path

    def bare(self, script: str) -> list[str]:
        return [sys.executable, str(HERE / script), str(TOOLS), str(self._results_file)]

    def other(self, command: str) -> list[str]:
        return [*shlex.split(command), str(TOOLS), str(self._results_file)]

    def ours(self, *options: str) -> list[str]:
        trace = str(self.scenario.with_name("trace.jsonl"))
        return [sys.executable, "-m", "mcp_sim", "serve", str(self.scenario), "--trace", trace, *options]


@contextmanager
def open_sides() -> Generator[Sides]:
    """Yield both servers. Their files are removed at the end of the block."""
    with TemporaryDirectory() as folder:
        scenario, results_file = Path(folder, "overhead.yaml"), Path(folder, "results.json")
        scenario.write_text(SCENARIO, encoding="utf-8")
        results = asyncio.run(_simulated_results(scenario))
        results_file.write_text(json.dumps(results), encoding="utf-8")
        yield Sides(scenario, results, results_file)


def definitions() -> list[dict[str, Any]]:
    return json.loads(TOOLS.read_text(encoding="utf-8"))["tools"]


async def _simulated_results(scenario: Path) -> dict[str, Any]:
    """Return the answers of the simulator by tool, which the reference returns too."""
    results = dict[str, Any]()
    async with Simulator.load(scenario).open() as world:
        for tool, arguments in CALLS.values():
            body = (await world.call(tool, arguments)).body
            assert isinstance(body, ToolResult)
            results[tool] = body.value
    return results
