"""`mcp-sim show`: print a trace as a table, or one step of it in full."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mcp_sim.cli.judging import grade_lines, not_judged
from mcp_sim.cli.terminal import Palette, json_option, print_json
from mcp_sim.cli.traces import ModelUsage, read_entries, read_header, worlds_of
from mcp_sim.server.call_log import render_changes, render_event, render_observation, shorten
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError, McpSimError, UsageError
from mcp_sim.types.grades import Grade
from mcp_sim.types.readable import printable
from mcp_sim.world.trace import FORMAT, changes_of, observation_of, step_from_json

SHARES = {"call": 0.34, "served": 0.24, "true": 0.2, "committed": 0.22}
"""Share of each long column in the remaining width."""

NARROWEST = 100  # narrower columns cut off every value
INDENT = "                 "


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "trace", metavar="TRACE[:STEP]", help="a file that --trace wrote; with :STEP, that step in full"
    )
    parser.add_argument("--world", metavar="NAME", help="only this world")
    json_option(parser, "the steps and verdicts, or the step,")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or 2 if the file is not a trace or has no such step."""
    path, n = _parts(args.trace)
    every = list(read_entries(path))
    try:
        entries = [entry for entry in every if args.world in (None, entry["world"])]
        if n is not None:
            steps = [entry for entry in entries if entry.get("step", {}).get("n") == n]
            if not steps:
                raise UsageError(f"{path} has no step {n}")
            if len(steps) > 1:
                worlds = ", ".join(dict.fromkeys(entry["world"] for entry in steps))
                raise UsageError(f"{path} has a step {n} in several worlds ({worlds}); choose one with --world")
            _show_step(steps[0], as_json=args.json)
        elif args.json:
            # The entries of each world as the trace has them, and its grade (None without expectations).
            names = [name for name in dict.fromkeys(entry["world"] for entry in every) if args.world in (None, name)]
            grades = {name: grade and grade.to_json() for name, grade in _grades(path, every, args.world).items()}
            worlds = {
                name: {"entries": [entry for entry in every if entry["world"] == name], "grade": grades.get(name)}
                for name in names
            }
            print_json({"worlds": worlds})
        else:
            _table(entries)
            _print_verdicts(path, every, args.world)
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a trace of format {FORMAT}: {error!r}") from None
    return 0


def _parts(asked: str) -> tuple[Path, int | None]:
    """Return the file, and the number of the requested step."""
    name, colon, number = asked.rpartition(":")
    if colon and number.isdecimal() and not Path(asked).exists():
        return Path(name), int(number)
    return Path(asked), None


# the table -----------------------------------------------------------------------------------------------------------


def _table(entries: Iterable[Record]) -> None:
    """Print a row for each entry, with its perturbations below, and a heading for each world."""
    paint, world = Palette.of(sys.stdout), None
    width = max(shutil.get_terminal_size((140, 24)).columns, NARROWEST) - len(INDENT) - 2 * len(SHARES)
    widths = [int(width * share) for share in SHARES.values()]
    usage = ModelUsage()
    for entry in entries:
        if entry["world"] != world:
            world = entry["world"]
            print(paint.bold(f"world {printable(world)}"))
            print(paint.dim(_row("n", "time", list(SHARES), widths)))
        for line in _lines(entry, widths, paint):
            print(line)
        usage.note(entry)
    for sentence in usage.lines():
        print(paint.dim(sentence))


def _print_verdicts(path: Path, entries: Sequence[Record], only: str | None) -> None:
    palette = Palette.of(sys.stdout)
    grades = _grades(path, entries, only)
    if grades:
        print()
    for name, grade in grades.items():
        steps = [entry["step"] for entry in entries if entry["world"] == name and "step" in entry]
        for line in [not_judged(name)] if grade is None else grade_lines(name, grade, steps, palette):
            print(line)


def _grades(path: Path, entries: Iterable[Record], only: str | None) -> dict[str, Grade | None]:
    """Return the grades of the worlds of a trace, if its scenario is found as it was, and expects something.

    A world in which nothing happened has None.
    """
    if not path.is_file():
        return {}  # a pipe has been read
    # Imported late, since most traces are shown without verdicts.
    from mcp_sim.cli.grade import grades_of, reference_of  # noqa: PLC0415 (loads the simulator)
    from mcp_sim.simulator.compile import load  # noqa: PLC0415 (loads the simulator)

    header = read_header(path)
    reference = reference_of(header)
    try:
        scenario = None if reference is None else load(reference)
    except McpSimError:
        return {}
    if scenario is None or scenario.sha256 != header.get("sha256") or not scenario.expectations:
        return {}
    worlds = {name: world for name, world in worlds_of(entries).items() if only in (None, name)}
    try:
        touched = {name: world for name, world in worlds.items() if not world.is_untouched}
        return dict.fromkeys(worlds) | dict(grades_of(touched, scenario, path, None, strict=False))
    except DocumentError:
        return {}  # its programs are not trusted


def _lines(entry: Record, widths: Sequence[int], paint: Palette) -> Iterator[str]:
    if "crash" in entry:
        crash = entry["crash"]
        yield paint.red(f"{'CRASH':>5}  {shorten(crash['tool'])} {shorten(crash['arguments'])}: {crash['error']}")
        return
    if "fork" in entry:
        parent, n = entry["fork"]["of"], entry["fork"]["n"]
        text = f"taken back to step {n}" if parent == entry["world"] else f"forked from {printable(parent)} at step {n}"
        yield paint.dim(f"       {text}")
        return
    if "answer" in entry:
        yield paint.dim(f"       final answer: {shorten(entry['answer'])}")
        return
    step = entry["step"]
    yield _row(str(step["n"]), step["at"].partition("T")[2][:8], _cells(step), widths)
    decisions = step.get("perturbations", ())
    for decided in decisions:
        if decided["outcome"] == "no_effect":
            continue
        line = f"{INDENT}{decided['outcome'].replace('_', ' ')}: {decided['id']} ({decided['kind']}, {decided['why']})"
        yield (paint.yellow if decided["outcome"] == "applied" else paint.dim)(printable(line))
    idle = [decided["id"] for decided in decisions if decided["outcome"] == "no_effect"]
    if idle:
        yield paint.dim(printable(f"{INDENT}no effect: {', '.join(idle)}"))


def _cells(step: Record) -> list[str]:
    """Return call, served, true, committed. `true` is empty unless something else was served."""
    match step["entry"]:
        case "call":
            truth = step["truth"] and render_observation(observation_of(step["truth"]["observation"]))
            served = render_observation(observation_of(step["served"])) if step["served"] else truth
            true = "" if not step["served"] else truth or "never asked"
            source = f"{step['source']}: " if step.get("source") else ""
            return [
                f"{shorten(step['tool'])} {shorten(step['arguments'])}",
                f"{source}{served}",
                true,
                render_changes(changes_of(step["committed"])),
            ]
        case "event" if "steered" in step:
            return [f"({step['actor']}) {render_event(step_from_json(step))}", "", "", ""]
        case "event":
            return [f"({step['actor']})", "", "", render_changes(changes_of(step["committed"]))]
        case _:
            return [f"(start: seed {step['seed']}, {step['clock']['mode']} clock)", "", "", ""]


def _row(n: str, time: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = "  ".join(f"{_cut(cell, width):{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{n:>5}  {time:8}  {padded}".rstrip()


def _cut(cell: str, width: int) -> str:
    return printable(cell if len(cell) <= width else cell[: width - 3] + "...")


# one step ------------------------------------------------------------------------------------------------------------


def _show_step(entry: Record, *, as_json: bool) -> None:
    """Print everything that the ledger has of one step."""
    if as_json:
        print_json(entry)
        return
    paint, step = Palette.of(sys.stdout), entry["step"]
    world = printable(entry["world"])
    print(paint.bold(f"step {step['n']} of world {world}: {step['entry']} at {step['at']}"))
    for name, value in _sections(step):
        print(paint.bold(printable(name)))
        print(textwrap.indent(value, "  "))
    if entry["measured"]:
        print(paint.bold("measured"))
        print(textwrap.indent(_json(entry["measured"]), "  "))


def _sections(step: Record) -> Iterator[tuple[str, str]]:
    if step["entry"] != "call":
        yield "what", _json({name: value for name, value in step.items() if name not in ("n", "entry", "at")})
        return
    notes = [f"guessed: {'; '.join(step.get('guesses', ['a guess']))}"] if step["guessed"] else []
    notes += ["stub"] if step.get("stub") else []
    notes += [f"answered by {step['source']}"] if step.get("source") else []
    marks = f" ({', '.join(notes)})" if notes else ""
    yield "call", f"{step['tool']}{marks}\n{_json(step['arguments'])}"
    yield "true", _json(step["truth"]) if step["truth"] else "the world was not asked"
    yield "served", _json(step["served"]) if step["served"] else "the truth"
    yield "committed", _json(step["committed"]) if step["committed"] else "nothing"
    if step["absorbed"]:
        yield "pinned", _json(step["absorbed"])
    for decided in step["perturbations"]:
        yield f"{decided['id']} ({decided['kind']})", f"{decided['outcome'].replace('_', ' ')}: {decided['why']}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
