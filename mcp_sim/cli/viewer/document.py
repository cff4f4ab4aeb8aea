"""Collect what the viewer shows of traces as one JSON document.

A world of the document has its own entries, as the trace has them, and for a fork its parent. What the trace does not
have follows from its scenario: verdicts, the faults that could have fired, and the records that the world began with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_sim import __version__
from mcp_sim.cli.grade import grades_of, reference_of
from mcp_sim.cli.traces import WorldTrace, read_entries, read_header, worlds_of
from mcp_sim.libraries.screens import screens
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.explain import Explainer, Finding, as_it_ran
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Key, Record
from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import encode
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.trace import FORMAT

MOST_BYTES = 2_000_000
"""The most bytes of records that worlds began with and no step wrote. The page says how many it leaves out. The page is
one file, which a browser must open at once."""

Place = tuple[str, Key]  # an entity and the key of one of its records


@frozen
class Judged:
    """What a run knows about its world beyond the trace: its grade, the command that repeats it, and its stderr."""

    grade: Record
    repeat: str
    stderr: str = ""


@dataclass(slots=True)
class _Origin:
    """A scenario of the document, and what its worlds need of it."""

    json: Record
    scenario: Scenario | None = None
    explainers: dict[tuple[float, bool], Explainer] = field(default_factory=dict[tuple[float, bool], Explainer])
    touched: dict[int, set[Place]] = field(default_factory=dict[int, set[Place]])
    """The written records by the seed of their world."""


class Collector:
    """Collects traces. `reference` names the scenario of all of them, if it is not to be looked for."""

    def __init__(self, reference: str = "", scenario: Scenario | None = None, trust: Iterable[Path] = ()) -> None:
        self._reference, self._scenario, self._trust = reference, scenario, tuple(trust)
        self._origins: dict[tuple[str, str], _Origin] = {}
        self._traces, self._worlds = list[Record](), list[Record]()

    def add(self, path: Path, judged: Mapping[str, Judged] | None = None, *, is_kept: bool = True) -> None:
        """Add a trace. `judged` is by world; without `is_kept`, commands do not mention the file.

        Raises `UsageError` if the file is not a trace.
        """
        header, entries = read_header(path), list(read_entries(path))
        try:
            # The scenario of a trace; without one that is as it was, it has a note.
            identity = str(header.get("scenario")), str(header.get("sha256"))
            if identity not in self._origins:
                reference = self._reference or reference_of(header)
                scenario, note = self._loaded(reference, header)
                name, sha256 = identity
                self._origins[identity] = _Origin(
                    {
                        "name": name,
                        "sha256": sha256,
                        "reference": reference or "",
                        "note": note,
                        "task": scenario.task if scenario else "",
                        "trust": list(scenario.relying) if scenario else [],
                        "faults": [_fault(entry) for entry in scenario.perturbations] if scenario else [],
                        "bases": {},
                    },
                    scenario,
                )
            origin = self._origins[identity]
            trace = {"file": str(path) if is_kept else "", "scenario": [*self._origins].index(identity)}
            worlds = self._add_worlds(entries, len(self._traces))
            self._traces.append(trace)
            self._judge(path, worlds_of(entries), worlds, origin, judged or {})
        except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path} is not a trace of format {FORMAT}: {error!r}") from None

    def document(self, note: str = "", report: Record | None = None) -> Record:
        """Return the document, with a note about all of its worlds, and the report of the command that ran them."""
        bases = sum(len(origin.touched) for origin in self._origins.values() if origin.scenario is not None)
        for origin in self._origins.values():
            if origin.scenario is not None:
                simulator = Simulator(origin.scenario)
                origin.json["bases"] = {
                    str(seed): _base(simulator, seed, touched, MOST_BYTES // bases)
                    for seed, touched in origin.touched.items()
                }
        return {
            "version": __version__,
            "note": note,
            "report": report,
            "scenarios": [origin.json for origin in self._origins.values()],
            "traces": self._traces,
            "worlds": self._worlds,
        }

    # parts

    def _loaded(self, reference: str | None, header: Record) -> tuple[Scenario | None, str]:
        """Return the scenario of a trace, or None and why it is not used."""
        missing = "verdicts, faults that did not fire and records that no step wrote are missing"
        if reference is None:
            return None, f"The scenario was not found, so {missing}; name it with --scenario."
        try:
            scenario = self._scenario or load(reference, trust=self._trust)
            if scenario.sha256 != header.get("sha256"):
                return None, f"{reference} has changed since the run, so {missing}."
            Simulator(scenario).base(scenario.seed).counts()
        except McpSimError as error:
            if self._reference:
                raise
            return None, f"The scenario could not be used, so {missing}: {error}"
        return scenario, ""

    def _add_worlds(self, entries: Iterable[Record], trace: int) -> dict[str, Record]:
        """Add the worlds of a trace, and return them by name."""
        added: dict[str, Record] = {}
        places: dict[str, int] = {}
        for entry in entries:
            name, fork = entry["world"], entry.get("fork")
            if fork is not None and fork["of"] == name and name in added:
                self._take_back(added[name], places[name], fork["n"])
                continue
            if fork is not None or name not in added:
                parent = None if fork is None else {"world": places.get(fork["of"]), "n": fork["n"]}
                stream = None if fork is None else fork["stream"]
                added[name] = {"trace": trace, "name": name, "fork": parent, "stream": stream, "entries": []}
                places[name] = len(self._worlds)
                self._worlds.append(added[name])
            if "answer" in entry:
                added[name]["answer"] = entry["answer"]
            elif fork is None:
                # An entry without its world, and without the changes in `truth` if they are those that were written.
                kept = {name: value for name, value in entry.items() if name != "world"}
                step: Record = entry.get("step", {})
                truth = step.get("truth")
                if truth and truth["changes"] == step["committed"]:
                    kept["step"] = {**step, "truth": {"observation": truth["observation"]}}
                added[name]["entries"].append(kept)
                if entry.get("step", {}).get("entry") == "reset":
                    added[name].pop("answer", None)
        return added

    def _take_back(self, world: Record, place: int, n: int) -> None:
        """Move the steps of a world after step `n`, which were undone, into a branch of their own."""
        entries: list[Record] = world["entries"]
        fork: Record | None = world["fork"]
        end = next((at for at, entry in enumerate(entries) if entry.get("step", {}).get("n", 0) > n), len(entries))
        branch = {
            "trace": world["trace"],
            "name": f"{world['name']} (undone)",
            "fork": {"world": place, "n": n} if fork is None or n >= fork["n"] else {**fork},
            "stream": world["stream"],
            "entries": entries[end:],
            "undone": True,
        }
        del entries[end:]
        if fork is not None:
            fork["n"] = min(n, fork["n"])
        if not branch["entries"]:
            return
        for other in self._worlds:
            if other["fork"] is not None and other["fork"]["world"] == place and other["fork"]["n"] > n:
                other["fork"]["world"] = len(self._worlds)
        self._worlds.append(branch)

    def _judge(
        self,
        path: Path,
        traced: Mapping[str, WorldTrace],
        worlds: Mapping[str, Record],
        origin: _Origin,
        judged: Mapping[str, Judged],
    ) -> None:
        """Add grades, findings and commands to the worlds of a trace."""
        for name, world in worlds.items():
            if name in judged:
                known = {"grade": judged[name].grade, "repeat": judged[name].repeat, "stderr": judged[name].stderr}
                world.update(known)
        if origin.scenario is None:
            return
        if origin.scenario.expectations:
            rest = {name: trace for name, trace in traced.items() if name not in judged}
            for name, grade in grades_of(_whole(rest), origin.scenario, path, None, strict=False):
                worlds[name]["grade"] = grade.to_json()
        for name, world_trace in _whole(traced).items():
            ran = as_it_ran(origin.scenario, world_trace.steps)
            explainer = origin.explainers.setdefault((ran.intensity, ran.has_faults), Explainer(ran))
            known = {entry.id for entry in origin.scenario.perturbations}
            added = [entry for entry in explainer.perturbations(world_trace.steps) if entry.id not in known]
            worlds[name]["added"] = [_fault(entry) for entry in added]
            # The faults that could have fired at the own calls of a world, by step; conditions are numbered.
            conditions, steps = dict[str, int](), dict[str, list[Any]]()
            first = world_trace.steps[world_trace.own]["n"] if world_trace.own < len(world_trace.steps) else 0
            for step, findings in explainer.findings(world_trace.steps, world_trace.own, world_trace.stream):
                if findings and step["n"] >= first:
                    steps[str(step["n"])] = [_finding(finding, conditions) for finding in findings]
            worlds[name]["findings"] = {"conditions": list(conditions), "steps": steps}
            worlds[name]["screens"] = _screens(world_trace)
            _note_touched(world_trace, origin)


def _whole(worlds: Mapping[str, WorldTrace]) -> dict[str, WorldTrace]:
    """Return the worlds whose first steps the trace has."""
    return {name: world for name, world in worlds.items() if world.steps and world.steps[0]["entry"] == "reset"}


def _fault(entry: PerturbationEntry) -> Record:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "tools": list(entry.tools),
        "enabled": entry.enabled,
        "timed": entry.perturbation.is_timed(),
    }


# faults ---------------------------------------------------------------------------------------------------------------


def _finding(finding: Finding, conditions: dict[str, int]) -> Record:
    why = [[conditions.setdefault(why.condition, len(conditions)), why.actual, int(why.held)] for why in finding.why]
    extras = {name: text for name, text in (("note", finding.note), ("error", finding.error)) if text}
    return {
        "id": finding.id,
        "kind": finding.kind,
        "decided": finding.decided,
        "outcome": finding.outcome,
        "why": why,
        **extras,
    }


# records --------------------------------------------------------------------------------------------------------------


def _note_touched(world_trace: WorldTrace, origin: _Origin) -> None:
    """Note which records a world wrote under which seed."""
    touched = set[Place]()
    for step in world_trace.steps:
        if step["entry"] == "reset":
            touched = origin.touched.setdefault(step["seed"], set())
        for change in (*step.get("committed", ()), *step.get("absorbed", ())):
            touched.add((change["entity"], change["key"]))


def _screens(world_trace: WorldTrace) -> Record:
    """Return what was on screens: pages of HTML, and the number of the page by step, where it changed."""
    tables, pages, steps = dict[str, dict[Key, Record]](), dict[str, int](), dict[str, int]()
    left = MOST_BYTES
    for step in world_trace.steps:
        for change in step.get("committed", ()):
            table = tables.setdefault(change["entity"], {})
            if change["op"] == "put":
                table[change["key"]] = change["record"]
            elif change["op"] == "remove":
                table.pop(change["key"], None)
        if not any("tab" in change["entity"] or "screen" in change["entity"] for change in step.get("committed", ())):
            continue
        html = "<hr>".join(screens(tables, lambda name: tables.get(name, {}).values()))
        left -= 0 if html in pages else len(html)
        if left < 0:
            break
        steps[str(step["n"])] = pages.setdefault(html, len(pages))
    return {"pages": [*pages], "steps": steps}


def _base(simulator: Simulator, seed: int, touched: set[Place], most: int) -> Record:
    """Return the first records by entity: their number, those that were written, and others within `most` bytes."""
    state = simulator.base(seed)
    counts = state.counts()
    return {
        entity: {"count": count, "records": list(_some(state.rows(entity), entity, touched, most // len(counts)))}
        for entity, count in counts.items()
    }


def _some(
    rows: Iterable[tuple[Key, Record]], entity: str, touched: set[Place], most: int
) -> Iterator[tuple[Key, Record]]:
    left = most
    for key, record in rows:
        if (entity, key) in touched:
            yield key, record
        elif left > 0:
            left -= len(encode(record))
            yield key, record
