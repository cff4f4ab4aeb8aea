"""`mcp-sim diff`: compare two runs by answers, changes, faults and final state."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from typing import cast

from mcp_sim.cli.terminal import Palette
from mcp_sim.cli.traces import WorldTrace, only_world, read_header, read_worlds
from mcp_sim.server.call_log import render_changes, render_observation, shorten
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_values import canonical
from mcp_sim.world.trace import FORMAT

MARGIN = "    "
ABSENT = "(absent)"
MOST_PARTS = 3
"""The most differences shown for two answers whose shortened texts are equal."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", type=Path, help="a file that --trace wrote")
    parser.add_argument("b", metavar="B", type=Path, help="another one; or the same, with --world and --world-b")
    parser.add_argument("--world", metavar="NAME", help="the world to compare, if there are several")
    parser.add_argument("--world-b", metavar="NAME", help="the world of B, if it has another name")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 if the runs are equal, 1 if they differ, 2 if a file is not a trace."""
    a = only_world(read_worlds(args.a), args.world, args.a)
    b = only_world(read_worlds(args.b), args.world_b or args.world, args.b)
    palette = Palette.of(sys.stdout)
    try:
        lines = [*_crashes("A", a), *_crashes("B", b), *_paired(a.since_opening(), b.since_opening(), palette)]
        ends = list(_ends(worlds_end(a.since_opening()), worlds_end(b.since_opening())))
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"not a trace of format {FORMAT}: {error!r}") from None
    for line in (palette.bold(f"A  {_about(args.a, a)}"), palette.bold(f"B  {_about(args.b, b)}"), *lines):
        print(line)
    if not lines:
        print("answers and changes are equal at every step")
    print(palette.bold("final state"))
    print("\n".join(ends) if ends else f"{MARGIN}equal")
    return int(bool(lines or ends))


def _about(path: Path, world_trace: WorldTrace) -> str:
    """Return a description of a run: scenario, world, seed, number of calls."""
    opening = next((step for step in reversed(world_trace.steps) if step["entry"] == "reset"), Record())
    scenario = read_header(path).get("scenario")
    calls = sum(step["entry"] == "call" for step in world_trace.since_opening())
    return f"{path}: {scenario}, world {world_trace.world}, seed {opening.get('seed')}, {calls} calls"


def _crashes(side: str, world_trace: WorldTrace) -> Iterator[str]:
    for crash in world_trace.crashes:
        yield f"only {side}  CRASH {crash['tool']} {shorten(crash['arguments'])}: {crash['error']}"


# step by step ---------------------------------------------------------------------------------------------------------


def _paired(a: Sequence[Record], b: Sequence[Record], palette: Palette) -> Iterator[str]:
    """Pair calls by tool and arguments, and events by their changes, and yield the differences.

    A step without a counterpart is listed alone.
    """
    ours, theirs = ([step for step in steps if step["entry"] != "reset"] for steps in (a, b))
    matcher = SequenceMatcher(None, [_identity(one) for one in ours], [_identity(one) for one in theirs], False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        if tag == "equal":
            for one, other in zip(ours[a_from:a_to], theirs[b_from:b_to], strict=True):
                yield from _differences(one, other, palette)
            continue
        for side, alone in (("A", ours[a_from:a_to]), ("B", theirs[b_from:b_to])):
            for step in alone:
                yield palette.yellow(f"only {side}  {_headline(step)}")
                yield from (f"{MARGIN}{text}" for text in _facts(step).values() if text)


def _identity(step: Record) -> str:
    if step["entry"] == "event":
        return canonical([step["actor"], step["committed"]])
    return canonical([step["tool"], step["arguments"]])


def _headline(step: Record) -> str:
    if step["entry"] == "event":
        return f"({step['actor']}) {render_changes(step['committed'])}"
    return f"#{step['index']} {step['tool']} {shorten(step['arguments'])}"


def _differences(a: Record, b: Record, palette: Palette) -> Iterator[str]:
    """Yield the differences between two paired steps."""
    if a["entry"] == "event":
        return
    exact = {name: (left, right) for name, left, right in _compared(a, b) if left != right}
    if not exact:
        return
    yield f"both    {_headline(a)}" + (f"  (#{b['index']} in B)" if a["index"] != b["index"] else "")
    ours, theirs = _facts(a), _facts(b)
    for name, (left, right) in exact.items():
        if ours[name] != theirs[name]:
            yield from _both(name, ours[name] or "-", theirs[name] or "-", palette)
            continue
        for path, one, other in islice(_apart(left, right, ""), MOST_PARTS):
            yield from _both(name, f"{path}: {shorten(one)}", f"{path}: {shorten(other)}", palette)


def _both(name: str, ours: str, theirs: str, palette: Palette) -> Iterator[str]:
    yield f"{MARGIN}{name:9}  A  {palette.yellow(ours)}"
    yield f"{MARGIN}{'':9}  B  {palette.yellow(theirs)}"


def _apart(a: Json, b: Json, path: str) -> Iterator[tuple[str, Json, Json]]:
    """Yield the differing parts of two values, each with its path."""
    if isinstance(a, dict) and isinstance(b, dict):
        ours, theirs = cast("Record", a), cast("Record", b)
        for name in dict.fromkeys((*ours, *theirs)):
            yield from _apart(ours.get(name, ABSENT), theirs.get(name, ABSENT), f"{path}.{name}" if path else name)
    elif isinstance(a, list) and isinstance(b, list):
        pairs = zip_longest(cast("list[Json]", a), cast("list[Json]", b), fillvalue=ABSENT)
        for at, (one, other) in enumerate(pairs):
            yield from _apart(one, other, f"{path}[{at}]")
    elif a != b:
        yield path, a, b


def _compared(a: Record, b: Record) -> Iterator[tuple[str, Json, Json]]:
    yield "served", _served(a), _served(b)
    yield "committed", [*a["committed"], *a["absorbed"]], [*b["committed"], *b["absorbed"]]
    yield "faults", _faults(a), _faults(b)


def _facts(step: Record) -> dict[str, str]:
    """Return what is printed for a step, by label."""
    if step["entry"] == "event":
        return {}
    return {
        "served": render_observation(_served(step)),
        "committed": render_changes([*step["committed"], *step["absorbed"]]),
        "faults": ", ".join(_faults(step)),
    }


def _served(step: Record) -> Record:
    return step["served"] or step["truth"]["observation"]


def _faults(step: Record) -> list[str]:
    return [
        f"{one['id']} ({one['kind']}, {one['why']})" for one in step["perturbations"] if one["outcome"] == "applied"
    ]


# final states ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class End:
    """A record as it was last written in a run; None if it was deleted."""

    record: Record | None


def worlds_end(steps: Sequence[Record]) -> dict[tuple[str, str | int], End]:
    """Return every record that a run wrote, as it is at the end."""
    found: dict[tuple[str, str | int], End] = {}
    for step in steps:
        for change in (*step.get("committed", ()), *step.get("absorbed", ())):
            if change["op"] != "reserve":
                found[change["entity"], change["key"]] = End(change.get("record"))
    return found


def _ends(a: Mapping[tuple[str, str | int], End], b: Mapping[tuple[str, str | int], End]) -> Iterator[str]:
    """Yield a line for each record that only one run wrote, and for each field that differs."""
    for at in sorted({*a, *b}, key=lambda at: (at[0], str(at[1]))):
        ours, theirs, name = a.get(at), b.get(at), f"{MARGIN}{at[0]} {at[1]}"
        if ours is None or theirs is None:
            end, side, other = (ours, "A", "B") if theirs is None else (theirs, "B", "A")
            yield f"{name}: only {side} {_how(end)}; in {other} it is unchanged or does not exist"
        elif ours.record is None or theirs.record is None:
            if ours != theirs:
                yield f"{name}: A {_how(ours)}; B {_how(theirs)}"
        else:
            yield from _fields(name, ours.record, theirs.record)


def _how(end: End | None) -> str:
    return "deleted it" if end is None or end.record is None else f"wrote {shorten(end.record)}"


def _fields(name: str, a: Record, b: Record) -> Iterator[str]:
    for field in dict.fromkeys((*a, *b)):
        if a.get(field, ABSENT) != b.get(field, ABSENT):
            yield f"{name}.{field}: A {shorten(a.get(field, ABSENT))}; B {shorten(b.get(field, ABSENT))}"
