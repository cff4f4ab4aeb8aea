"""`mcp-sim diff`: compare two runs by answers, changes, faults and final state; or recordings with the live server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from mcp_sim.cli.terminal import Palette, json_option, print_json
from mcp_sim.cli.traces import WorldTrace, only_world, read_header, read_worlds
from mcp_sim.server.call_log import render_changes, render_event, render_observation, shorten
from mcp_sim.spec.yaml12 import dotted
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical, paired_leaves
from mcp_sim.types.readable import printable
from mcp_sim.world.trace import FORMAT, changes_of, observation_of, step_from_json

MARGIN = "    "
ABSENT = "(absent)"
MOST_PARTS = 3  # the most differences shown for two answers whose shortened texts are equal


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "mcp-sim diff A B [OPTIONS], or mcp-sim diff --against SERVER RECORDINGS [OPTIONS]"
    parser.add_argument("a", metavar="A", type=Path, help="a file that --trace wrote; with --against, recordings")
    parser.add_argument(
        "b", metavar="B", nargs="?", type=Path, help="another one; or the same, with --world and --world-b"
    )
    parser.add_argument("--world", metavar="NAME", help="the world to compare, if there are several")
    parser.add_argument("--world-b", metavar="NAME", help="the world of B, if it has another name")
    json_option(parser, "the differences")
    live = parser.add_argument_group("a live server")
    live.add_argument("--against", metavar="SERVER", help="compare the recordings A with a server: a command, or a URL")
    live.add_argument(
        "--tools",
        metavar="GLOB",
        action="append",
        default=[],
        help="also call these tools, which may write, and repeat sessions in their order",
    )
    live.add_argument("--sessions", metavar="GLOB", action="append", help="only sessions that match; may be repeated")
    live.add_argument(
        "--ignore",
        metavar="KIND",
        action="append",
        default=[],
        choices=["tools", "additive", "cosmetic", "outcome", "form", "values"],
        help="differences to leave out: tools (or only additive, cosmetic), outcome, form, values; may be repeated",
    )
    live.add_argument(
        "--header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="an HTTP header; ${NAME} is taken from the environment",
    )
    live.add_argument("--timeout", metavar="SECONDS", type=float, default=60.0, help="for each call; default 60")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 if nothing differs, 1 if something does, 2 for invalid files, 4 if a server does not answer."""
    if args.against is not None:
        from mcp_sim.cli import drift  # noqa: PLC0415 (loads the client of a server)

        if args.b is not None:
            args.parser.error("--against compares one recording; leave out B")
        return drift.run(args)
    if args.b is None:
        args.parser.error("name two traces, or a server with --against")
    return _compare_traces(args)


def _compare_traces(args: argparse.Namespace) -> int:
    a = only_world(read_worlds(args.a), args.world, args.a)
    b = only_world(read_worlds(args.b), args.world_b or args.world, args.b)
    palette = Palette.of(sys.stdout)
    try:
        pairs = list(_pairs(a.since_opening(), b.since_opening()))
        lines = [*_crashes("A", a), *_crashes("B", b), *_paired(pairs, palette)]
        unlike = list(_unlike(worlds_end(a.since_opening()), worlds_end(b.since_opening())))
        ends = [line for entity, key, ours, theirs in unlike for line in _ends(f"{MARGIN}{entity} {key}", ours, theirs)]
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"not a trace of format {FORMAT}: {error!r}") from None
    if args.json:
        print_json(
            {
                "a": _about(args.a, a),
                "b": _about(args.b, b),
                "equal": not (lines or ends),
                "crashes": {"a": [*a.crashes], "b": [*b.crashes]},
                "steps": list(_unlike_steps(pairs)),
                "state": [
                    {"entity": entity, "key": key, "a": _end_json(ours), "b": _end_json(theirs)}
                    for entity, key, ours, theirs in unlike
                ],
            }
        )
        return int(bool(lines or ends))
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
    return printable(f"{path}: {scenario}, world {world_trace.world}, seed {opening.get('seed')}, {calls} calls")


def _crashes(side: str, world_trace: WorldTrace) -> Iterator[str]:
    for crash in world_trace.crashes:
        yield printable(f"only {side}  CRASH {crash['tool']} {shorten(crash['arguments'])}: {crash['error']}")


# step by step ---------------------------------------------------------------------------------------------------------


def _pairs(a: Sequence[Record], b: Sequence[Record]) -> Iterator[tuple[Record | None, Record | None]]:
    """Pair calls by tool and arguments, and events by their changes. A step without a counterpart is alone."""
    ours, theirs = ([step for step in steps if step["entry"] != "reset"] for steps in (a, b))
    matcher = SequenceMatcher(None, [_identity(entry) for entry in ours], [_identity(entry) for entry in theirs], False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(ours[a_from:a_to], theirs[b_from:b_to], strict=True)
            continue
        yield from ((step, None) for step in ours[a_from:a_to])
        yield from ((None, step) for step in theirs[b_from:b_to])


def _paired(pairs: Iterable[tuple[Record | None, Record | None]], palette: Palette) -> Iterator[str]:
    """Yield the differences of paired steps, and the steps without a counterpart, as lines."""
    for first, other in pairs:
        if first is not None and other is not None:
            yield from _differences(first, other, palette)
            continue
        for side, step in (("A", first), ("B", other)):
            if step is not None:
                yield palette.yellow(f"only {side}  {_headline(step)}")
                yield from (f"{MARGIN}{text}" for text in _facts(step).values() if text)


def _unlike_steps(pairs: Iterable[tuple[Record | None, Record | None]]) -> Iterator[Record]:
    """Yield the pairs that differ, as JSON: the steps, and what differs between them."""
    for first, other in pairs:
        if first is None or other is None:
            yield {"a": first, "b": other, "differ": []}
        elif first["entry"] == "call":
            differ = [name for name, ours, theirs in _compared(first, other) if ours != theirs]
            if differ:
                yield {"a": first, "b": other, "differ": differ}


def _identity(step: Record) -> str:
    if step["entry"] == "event":
        return canonical([step["actor"], step["committed"], step.get("absorbed"), step.get("steered")])
    return canonical([step["tool"], step["arguments"]])


def _headline(step: Record) -> str:
    if step["entry"] == "event":
        return printable(f"({step['actor']}) {render_event(step_from_json(step))}")
    return printable(f"#{step['n']} {step['tool']} {shorten(step['arguments'])}")


def _differences(a: Record, b: Record, palette: Palette) -> Iterator[str]:
    if a["entry"] == "event":
        return
    exact = {name: (left, right) for name, left, right in _compared(a, b) if left != right}
    if not exact:
        return
    yield f"both    {_headline(a)}" + (f"  (#{b['n']} in B)" if a["n"] != b["n"] else "")
    ours, theirs = _facts(a), _facts(b)
    for name, (left, right) in exact.items():
        if ours[name] != theirs[name]:
            yield from _both(name, ours[name] or "-", theirs[name] or "-", palette)
            continue
        apart = (leaf for leaf in paired_leaves(left, right, ABSENT) if leaf[1] != leaf[2])
        for path, first, other in islice(apart, MOST_PARTS):
            place = dotted(path)
            yield from _both(name, f"{place}: {shorten(first)}", f"{place}: {shorten(other)}", palette)


def _both(name: str, ours: str, theirs: str, palette: Palette) -> Iterator[str]:
    yield f"{MARGIN}{name:9}  A  {palette.yellow(ours)}"
    yield f"{MARGIN}{'':9}  B  {palette.yellow(theirs)}"


def _compared(a: Record, b: Record) -> Iterator[tuple[str, Json, Json]]:
    yield "served", _served(a), _served(b)
    yield "committed", [*a["committed"], *a["absorbed"]], [*b["committed"], *b["absorbed"]]
    yield "faults", _faults(a), _faults(b)


def _facts(step: Record) -> dict[str, str]:
    """Return what is printed for a step, by label."""
    if step["entry"] == "event":
        return {}
    return {
        "served": render_observation(observation_of(_served(step))),
        "committed": render_changes(changes_of([*step["committed"], *step["absorbed"]])),
        "faults": ", ".join(_faults(step)),
    }


def _served(step: Record) -> Record:
    return step["served"] or step["truth"]["observation"]


def _faults(step: Record) -> list[str]:
    return [
        f"{perturbation['id']} ({perturbation['kind']}, {perturbation['why']})"
        for perturbation in step["perturbations"]
        if perturbation["outcome"] == "applied"
    ]


# final states ---------------------------------------------------------------------------------------------------------


@frozen
class End:
    """A record as it was last written in a run; None if it was deleted."""

    record: Record | None


def worlds_end(steps: Sequence[Record]) -> dict[tuple[str, str | int], End]:
    """Return every record that a run wrote, as it is at the end."""
    result: dict[tuple[str, str | int], End] = {}
    for step in steps:
        for change in (*step.get("committed", ()), *step.get("absorbed", ())):
            if change["op"] != "reserve":
                result[change["entity"], change["key"]] = End(change.get("record"))
    return result


def _unlike(
    a: Mapping[tuple[str, str | int], End], b: Mapping[tuple[str, str | int], End]
) -> Iterator[tuple[str, str | int, End | None, End | None]]:
    """Yield entity, key and both ends of each record that does not end alike. None: the run did not write it."""
    for entity, key in sorted({*a, *b}, key=lambda at: (at[0], str(at[1]))):
        ours, theirs = a.get((entity, key)), b.get((entity, key))
        if ours != theirs:
            yield entity, key, ours, theirs


def _ends(name: str, ours: End | None, theirs: End | None) -> Iterator[str]:
    """Yield a line for a record that only one run wrote, or for each field that differs."""
    if ours is None or theirs is None:
        end, side, other = (ours, "A", "B") if theirs is None else (theirs, "B", "A")
        yield f"{name}: only {side} {_how(end)}; in {other} it is unchanged or does not exist"
    elif ours.record is None or theirs.record is None:
        yield f"{name}: A {_how(ours)}; B {_how(theirs)}"
    else:
        for field in dict.fromkeys((*ours.record, *theirs.record)):
            a, b = (record.get(field, ABSENT) for record in (ours.record, theirs.record))
            if a != b:
                yield f"{name}.{field}: A {shorten(a)}; B {shorten(b)}"


def _end_json(end: End | None) -> Record:
    """Return what a run did to a record, and the record."""
    if end is None:
        return {"did": "nothing"}
    return {"did": "delete"} if end.record is None else {"did": "write", "record": end.record}


def _how(end: End | None) -> str:
    return "deleted it" if end is None or end.record is None else f"wrote {shorten(end.record)}"
