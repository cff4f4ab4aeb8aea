"""`mcp-sim generate`: the records of a fictional world, as a file that any scenario can begin with."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import anyio

from mcp_sim.cli.files import kept, replace_file
from mcp_sim.cli.models import count, named_line, thinking
from mcp_sim.cli.progress import Progress
from mcp_sim.generate.generation import Draft
from mcp_sim.models.generated_worlds.flaws import flaws
from mcp_sim.models.generated_worlds.invention import Inventor, Tally, drafted
from mcp_sim.models.generated_worlds.shares import USUAL_TOTAL, shared
from mcp_sim.models.generated_worlds.unfinished import Unfinished
from mcp_sim.models.language_model.endpoint import Line, opened
from mcp_sim.simulator.compile import load
from mcp_sim.types import Key, Record
from mcp_sim.types.errors import Unanswered, UsageError
from mcp_sim.types.scenario import Scenario

MOST_TOLD = 20
"""So many flaws are told one by one."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario or tool spec: a file, or a shipped name")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, required=True, help="where the records go, as JSON"
    )
    parser.add_argument("--count", type=count, default=USUAL_TOTAL, help=f"of all tables; default {USUAL_TOTAL}")
    parser.add_argument("--by", metavar="MODEL", default="builtin", help="builtin (the default), or openai:MODEL@URL")
    parser.add_argument("--api-key-env", metavar="NAME", help="the variable with its key; else OPENAI_API_KEY")
    parser.add_argument("--seed", type=int, help="instead of the scenario's own")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was ended")
    parser.add_argument(
        "--thinking", metavar="off|on|N", type=thinking, help="does the model reason first, for N tokens?"
    )
    parser.add_argument("--max-tokens", metavar="N", type=count, default=8192, help="the longest answer; default 8192")


def run(args: argparse.Namespace) -> int:
    """Exit 0; 1 where the documents have errors or records have flaws; 4 where the model stops answering."""
    scenario = load(args.scenario)
    draft = _draft(scenario, args)
    wanted = sum(_counts(draft).values())
    progress = Progress(sys.stderr, wanted)
    try:
        tally = _made(draft, scenario, args, progress)
    except Unanswered as error:
        _say(f"mcp-sim: {error}")
        return 4
    finally:
        progress.clear()
    copy = kept(args.output)
    replace_file(args.output, _text(draft.tables))
    _unfinished_path(args).unlink(missing_ok=True)
    _say(_summary(draft, wanted, tally, args))
    if copy is not None:
        _say(f"What {args.output} held before is in {copy}.")
    return _told_flaws(draft, scenario)


def _draft(scenario: Scenario, args: argparse.Namespace) -> Draft:
    if not scenario.domain.entities:
        raise UsageError(f"{args.scenario}: its tools work on no records")
    seed = scenario.seed if args.seed is None else args.seed
    return Draft(scenario.domain, shared(scenario.domain, scenario.records, args.count), seed, namesakes=False)


def _made(draft: Draft, scenario: Scenario, args: argparse.Namespace, progress: Progress) -> Tally | None:
    """Make the tables of a draft; what came of it where a model was asked."""
    if args.by == "builtin":
        drafted(draft, progress.show)
        return None
    line = named_line(args.by, "--by", max_tokens=args.max_tokens, thinking=args.thinking, api_key_env=args.api_key_env)
    run = {"scenario": scenario.sha256, "by": line.model, "seed": draft.seed, "records": _counts(draft)}
    unfinished = Unfinished.opened(_unfinished_path(args), run, resume=args.resume)
    try:
        return anyio.run(_invented, draft, line, unfinished, progress)
    except (KeyboardInterrupt, Unanswered):
        progress.clear()
        _say(f"What there is so far is kept in {unfinished.path}; --resume goes on with it.")
        raise
    finally:
        unfinished.close()


async def _invented(draft: Draft, line: Line, unfinished: Unfinished, progress: Progress) -> Tally:
    async with opened(line) as endpoint:
        return await Inventor(draft, endpoint.complete, unfinished, progress.show).invent()


def _unfinished_path(args: argparse.Namespace) -> Path:
    return args.output.with_name(f"{args.output.name}.part")


def _counts(draft: Draft) -> dict[str, int]:
    return {name: len(draft.keys[name]) for name in draft.domain.entities}


def _text(tables: Mapping[str, Mapping[Key, Record]]) -> str:
    """The tables as JSON, a record per line."""
    parts = [f"{_json(name)}: [\n{_rows(table)}\n]" for name, table in tables.items() if table]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rows(table: Mapping[Key, Record]) -> str:
    return ",\n".join(f"  {_json(record)}" for record in table.values())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# what is told ---------------------------------------------------------------------------------------------------------


def _summary(draft: Draft, wanted: int, tally: Tally | None, args: argparse.Namespace) -> str:
    counts = {name: count for name, count in _counts(draft).items() if count}
    tables = ", ".join(f"{count} {name}" for name, count in counts.items())
    lines = [f"{args.output}: {sum(counts.values())} records ({tables}), seed {draft.seed}."]
    if tally is not None:
        lines += _about_the_model(tally)
    if wanted > sum(counts.values()):
        lines.append(f"{wanted - sum(counts.values())} that would have been there twice are left out.")
    return "\n".join([*lines, f"In a scenario: `world: {{records: {args.output.name}}}`."])


def _about_the_model(tally: Tally) -> Iterator[str]:
    """What it said, and what of that could not be used."""
    yield f"The model said {tally.invented} of them in {tally.asked} answers; {tally.filled} were made up without it."
    for problem, _ in tally.problems.most_common(1):
        yield f"What could not be used: {tally.refused} records, most often for: {problem}"


def _told_flaws(draft: Draft, scenario: Scenario) -> int:
    """Exit 1 where something is wrong with the records."""
    given = {name: len(one.rows) for name, one in scenario.records.items()}
    found = list(flaws(draft.domain, draft.tables, given))
    for flaw in islice(found, MOST_TOLD):
        _say(flaw)
    if len(found) > MOST_TOLD:
        _say(f"... and {len(found) - MOST_TOLD} more")
    return int(bool(found))


def _say(text: str) -> None:
    print(text, file=sys.stderr)
