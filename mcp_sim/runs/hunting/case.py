"""Write a trial as a scenario: a regression test that `run` and pytest execute."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, cast

from mcp_sim.runs.hunting.trials import Setup, Trial, recoveries, without_own_faults
from mcp_sim.spec import yaml12
from mcp_sim.spec.parts.scenario import EVERY
from mcp_sim.spec.sources import is_shipped
from mcp_sim.spec.tool_specs import is_spec
from mcp_sim.spec.trust import read_whole
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.scenario import GivenRecords, Scenario

_OF_FAULTS = ("extends", "allow_adversarial", "intensity", "perturbations")
"""The keys of a scenario that are about its own faults."""


class CaseWriter:
    """Makes the text of cases from the document of the scenario that was searched.

    `folder` is where the files will be, `origin` the first line of each. Raises `UsageError` if the document is not a
    scenario.
    """

    def __init__(self, scenario: Scenario, source: Path, folder: Path, command: Sequence[str], origin: str) -> None:
        self._scenario, self._command, self._origin = scenario, command, origin
        document: Any = yaml12.load(read_whole(source), str(source)).value
        if is_spec(document):
            raise UsageError(f"{source}: a hunt needs a scenario; `mcp-sim init` writes a first one for given tools")
        self._document = relocated(cast("Record", document), source.parent, folder)

    def text(self, name: str, setup: Setup, trial: Trial) -> str:
        """Return the scenario of a trial, with comments that say what fails and how to repeat it."""
        kept = {name: value for name, value in self._document.items() if name not in _OF_FAULTS}
        case: Record = {**kept, "name": name, "seed": setup.seed}
        # The clock is virtual, as in the hunt, unless the scenario says otherwise.
        world = cast("Record", self._document.get("world") or {})
        if setup.records:
            # The records of a trial. Rows from a file of all tables become rows of the case: they may be fewer.
            records: Json = world.get("records") or {}
            given: Record = dict(cast("Record", records)) if isinstance(records, dict) else {EVERY: records}
            if given.pop(EVERY, None) is not None:
                known = self._scenario.records.items()
                given |= {name: _part(rows) for name, rows in known if rows.rows and not rows.whole}
            world = {**world, "records": {**given, **{name: _part(rows) for name, rows in setup.records.items()}}}
        clock = cast("Record", world.get("clock") or {})
        case["world"] = {**world, "clock": {"mode": "virtual", **clock}}
        case["perturbations"] = [fault.entry() for fault in setup.faults]
        case["expect"] = self._expectations(setup)
        command = shlex.join(["mcp-sim", "run", f"{name}.yaml", "--", *self._command])
        comments = [self._origin, ""]
        comments += [f"  {line}" for line in trial.because.splitlines()]
        comments += ["", f"Repeat: {command}"]
        return "".join(f"# {line}".rstrip() + "\n" for line in comments) + yaml12.dump(case, blocks=3)

    def _expectations(self, setup: Setup) -> list[Json]:
        """Return the expectations that are not about the scenario's own faults."""
        kept = {entry.id for entry in without_own_faults(self._scenario).expectations}
        if not kept:
            entries = recoveries(setup.faults)
            return [{"recovered": entry.id.removeprefix("recovered-"), "id": entry.id} for entry in entries]
        given = cast("list[Json]", self._document.get("expect") or [])
        pairs = zip(given, self._scenario.expectations, strict=True)
        return [expectation for expectation, entry in pairs if entry.id in kept]


def _part(given: GivenRecords) -> Json:
    if not given.rows:
        return given.count
    rows: list[Json] = [dict(row) for row in given.rows]
    return {"count": given.count, "rows": rows}


def relocated(document: Record, before: Path, folder: Path) -> Record:
    """Return a scenario whose files are named relative to another folder."""

    def moved(value: Json) -> Json:
        is_there = isinstance(value, str) and (before / value).exists() and not is_shipped(before / value)
        return PurePosixPath(os.path.relpath(before / cast("str", value), folder)).as_posix() if is_there else value

    def moved_records(value: Json) -> Json:
        if not isinstance(value, dict):
            return moved(value)
        records = cast("Record", value)
        return {**records, "file": moved(records["file"])} if "file" in records else records

    def moved_tools(value: Json) -> Json:
        return moved(value) if (before / value).is_file() else value  # a shipped name may be that of a folder, too

    def moved_check(entry: Json) -> Json:
        check: Json = as_object(entry).get("python")
        code = as_object(check).get("function", check)
        if not isinstance(code, str):
            return entry
        file, _, function = code.rpartition(":")
        return {**as_object(entry), "python": f"{moved(file)}:{function}"}

    result = {**document, "tools": _each(document["tools"], moved_tools)}
    result |= {"extends": _each(document["extends"], moved)} if "extends" in document else {}
    result |= {"expect": [moved_check(entry) for entry in as_list(document["expect"])]} if "expect" in document else {}
    if isinstance(world := document.get("world"), dict):
        result["world"] = given = dict(cast("Record", world))
        given |= {"state": moved(given["state"])} if "state" in given else {}
        given |= {"records": _each(given["records"], moved_records)} if "records" in given else {}
    return result


def _each(value: Json, change: Callable[[Json], Json]) -> Json:
    """Return a value, or each value of a mapping or list, changed."""
    if isinstance(value, dict):
        return {name: change(held) for name, held in cast("Record", value).items()}
    return [change(held) for held in cast("list[Json]", value)] if isinstance(value, list) else change(value)
