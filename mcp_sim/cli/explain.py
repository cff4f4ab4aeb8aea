"""`mcp-sim explain`: show which faults fire at each call of a trace, and why the others do not."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from mcp_sim.cli.grade import named_scenario
from mcp_sim.cli.parsing import trust_option
from mcp_sim.cli.terminal import Palette, json_option, print_json
from mcp_sim.cli.traces import WorldTrace, read_header, read_worlds
from mcp_sim.server.call_log import render_observation, shorten
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.explain import Explainer, Finding, as_it_ran
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.readable import printable
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.trace import FORMAT, observation_of

MARGIN = "    "


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace", type=Path, metavar="TRACE", help="a file that --trace wrote")
    parser.add_argument(
        "--scenario", metavar="SCENARIO", help="another scenario to apply to its calls; needed if its file was moved"
    )
    parser.add_argument("--world", metavar="NAME", help="only this world")
    parser.add_argument("--step", type=int, metavar="N", help="only step N of a world")
    parser.add_argument("--id", metavar="ID", help="only this perturbation")
    trust_option(parser)
    json_option(parser, "the findings")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or 2 if the file is not a trace."""
    header = read_header(args.trace)
    scenario = load(args.scenario or named_scenario(args.trace, header), trust=args.trust)
    same, worlds = header.get("sha256") == scenario.sha256, read_worlds(args.trace)
    if args.world is not None and args.world not in worlds:
        raise UsageError(f"{args.trace} has no world {args.world!r}{did_you_mean(args.world, worlds)}")
    chosen = [trace for trace in worlds.values() if args.world in (None, trace.world)]
    steps = [step for trace in chosen for step in trace.steps]
    if args.step is not None and not any(step.get("index") and step["n"] == args.step for step in steps):
        raise UsageError(f"{args.trace} has no call at step {args.step}")
    try:
        explanations = [_Explained.of(trace, scenario, args, is_same=same) for trace in chosen]
        ids = [entry.id for explained in explanations for entry in explained.perturbations]
        if args.id is not None and args.id not in ids:
            raise UsageError(f"the scenario has no perturbation {args.id!r}{did_you_mean(args.id, ids)}")
    except (AssertionError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{args.trace} is not a trace of format {FORMAT}: {error!r}") from None
    if args.json:
        worlds_json = {explanation.world: explanation.to_json(args.id) for explanation in explanations}
        print_json({"scenario": scenario.name, "of_this_scenario": same, "worlds": worlds_json})
        return 0
    palette = Palette.of(sys.stdout)
    if not same:
        print(palette.dim("the trace belongs to another scenario; shown is what this one would do to its calls"))
    for explained in explanations:
        _print_world(explained, args.id, palette, is_same=same)
    return 0


@dataclass(slots=True)
class _Explained:
    """The calls of a world with their findings, and what they come to."""

    world: str
    calls: list[tuple[Record, list[Finding]]]
    reached: Counter[str]
    """How many calls each perturbation applies to, by id."""
    decided: Counter[str]
    """At how many of them it fires."""
    perturbations: Sequence[PerturbationEntry]

    @classmethod
    def of(cls, world_trace: WorldTrace, scenario: Scenario, args: argparse.Namespace, *, is_same: bool) -> Self:
        explainer = Explainer(as_it_ran(scenario, world_trace.steps) if is_same else scenario)
        steps: list[Record] = world_trace.steps
        if not is_same:  # what was done to the faults of its own scenario does not concern this one
            steps = [{name: value for name, value in step.items() if name != "steered"} for step in steps]
        explained = cls(world_trace.world, [], Counter(), Counter(), explainer.perturbations(steps))
        first = world_trace.steps[world_trace.own]["n"] if world_trace.own < len(world_trace.steps) else 0
        for step, findings in explainer.findings(steps, world_trace.own, world_trace.stream):
            wanted = [finding for finding in findings if args.id in (None, finding.id)]
            if step["n"] < first or not wanted:
                continue
            for finding in wanted:
                explained.reached[finding.id] += 1
                explained.decided[finding.id] += finding.decided
            if args.step in (None, step["n"]):
                explained.calls.append((step, wanted))
        return explained

    def to_json(self, wanted: str | None) -> Record:
        """Return the findings call by call, and a sentence for each perturbation."""
        calls = [
            {
                "step": step["n"],
                "tool": step["tool"],
                "arguments": step["arguments"],
                "findings": [{**asdict(finding), "why": [*map(str, finding.why)]} for finding in findings],
            }
            for step, findings in self.calls
        ]
        return {"calls": calls, "perturbations": dict(_summary(self, wanted))}


def _print_world(explained: _Explained, wanted: str | None, palette: Palette, *, is_same: bool) -> None:
    print(palette.bold(f"world {printable(explained.world)}"))
    for step, findings in explained.calls:
        seen = render_observation(observation_of(step["served"] or step["truth"]["observation"]))
        source = f" (answered by {step['source']})" if step.get("source") else ""
        print(printable(f"#{step['n']} {step['tool']} {shorten(step['arguments'])} -> {seen}{source}"))
        for finding in findings:
            print(_line(finding, step, palette, is_same=is_same))
    for name, text in _summary(explained, wanted):
        print(palette.dim(printable(f"{name}: {text}")))


def _line(finding: Finding, step: Record, palette: Palette, *, is_same: bool) -> str:
    recorded = any(perturbation["id"] == finding.id for perturbation in step["perturbations"])
    name, why = f"{finding.id} ({finding.kind})", "; ".join(map(str, finding.why)) or "always"
    more = "".join(f"; {text}" for text in (finding.note, finding.error and f"error: {finding.error}") if text)
    if is_same and recorded != finding.decided:
        more += f"; the trace differs: {'decided' if recorded else 'not decided'}"
    if not finding.decided:
        return palette.dim(printable(f"{MARGIN}no    {name}: {why}{more}"))
    outcome = f", {finding.outcome.replace('_', ' ')}" if finding.outcome else ""
    return palette.yellow(printable(f"{MARGIN}fires {name}{outcome}: {why}{more}"))


def _summary(explained: _Explained, wanted: str | None) -> Iterator[tuple[str, str]]:
    """Yield each perturbation and at how many of its calls it fires."""
    for entry in explained.perturbations:
        if wanted not in (None, entry.id):
            continue
        reached = explained.reached[entry.id]
        if not entry.enabled and not reached:
            text = "is disabled"
        elif entry.perturbation.is_timed():
            text = "acts on its own, not at calls"
        elif not reached:
            text = f"no call matches its tools ({', '.join(entry.tools) or 'every tool'})"
        else:
            text = f"fires at {explained.decided[entry.id]} of {reached} matching calls"
        yield entry.id, text
