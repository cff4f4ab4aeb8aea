"""Where does a command write its trace? Never over what it reads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from os import path as paths
from pathlib import Path

from mcp_sim import __version__
from mcp_sim.types.errors import UsageError
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.trace import header_line


def trace_file(path: Path, scenario: Scenario, inputs: Sequence[Path | int] = (), *, goes_on: bool = False) -> Jsonl:
    """The trace of a scenario, made anew unless it `goes_on`. Raises UsageError where the run reads this very file.

    `inputs` are what is read beside the scenario's documents: files, or descriptors.
    """
    if path.is_file() and any(_is_same(path, read) for read in (*scenario.files, *inputs)):
        raise UsageError(f"--trace {path}: this run reads that file, and the trace would take its place")
    return Jsonl(path, header_line(scenario.name, scenario.sha256, __version__), goes_on=goes_on)


def _is_same(path: Path, read: Path | int) -> bool:
    with suppress(OSError):
        return paths.samefile(path, read)  # noqa: PTH121 (a descriptor is no Path)
    return False
