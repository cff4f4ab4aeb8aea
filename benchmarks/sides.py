"""The compared servers, the bare SDK server and mcp-sim: the same tools, the same 2 KB for every call.

mcp-sim has a world of 1,000 records, three perturbations that match the tool, and a trace on disk.
"""

from __future__ import annotations

import asyncio
import json
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
    """Commands of both servers; `result` is what either returns for every call."""

    scenario: Path
    result: dict[str, Any]
    _result_file: Path

    def bare(self, script: str) -> list[str]:
        return [sys.executable, str(HERE / script), str(TOOLS), str(self._result_file)]

    def ours(self, *options: str) -> list[str]:
        trace = str(self.scenario.with_name("trace.jsonl"))
        return [sys.executable, "-m", "mcp_sim", "serve", str(self.scenario), "--trace", trace, *options]


@contextmanager
def open_sides() -> Generator[Sides]:
    """Yield both servers. Their files are removed at the end of the block."""
    with TemporaryDirectory() as folder:
        scenario, result_file = Path(folder, "overhead.yaml"), Path(folder, "result.json")
        scenario.write_text(SCENARIO, encoding="utf-8")
        result = asyncio.run(_simulated_result(scenario))
        result_file.write_text(json.dumps(result), encoding="utf-8")
        print(f"one result: {result_file.stat().st_size} bytes")
        yield Sides(scenario, result, result_file)


def definitions() -> list[dict[str, Any]]:
    return json.loads(TOOLS.read_text(encoding="utf-8"))["tools"]


async def _simulated_result(scenario: Path) -> Any:
    """Return the answer of the simulator, which the reference returns too."""
    async with Simulator.load(scenario).open() as world:
        body = (await world.call(TOOL, ARGUMENTS)).body
        assert isinstance(body, ToolResult)
        return body.value
