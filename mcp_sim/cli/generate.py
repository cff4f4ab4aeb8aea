"""`mcp-sim generate`: generate records, with or without a language model, or a fictional world, into a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import anyio

from mcp_sim.cli.files import back_up, replace_file
from mcp_sim.cli.models import model_options, named_line
from mcp_sim.cli.parsing import count, trust_option, writable_file
from mcp_sim.cli.terminal import Progress, note
from mcp_sim.generate.fiction.theme import read_theme, shipped_themes
from mcp_sim.generate.fiction.world import Fiction, fiction_scenario, invent, questions, tables
from mcp_sim.generate.records import Draft
from mcp_sim.libraries.search.pages import read_given_pages
from mcp_sim.models.generated_worlds.checks import find_problems
from mcp_sim.models.generated_worlds.invention import Inventor, Tally, generate_tables
from mcp_sim.models.generated_worlds.page_texts import write_texts
from mcp_sim.models.generated_worlds.run_file import RunFile
from mcp_sim.models.generated_worlds.tables import DEFAULT_TOTAL, divide_total
from mcp_sim.models.language_model.endpoint import EndpointSettings, open_endpoint
from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.types import Key, Record
from mcp_sim.types.errors import Unanswered, UsageError
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.scenario import Scenario

MOST_SHOWN = 20  # the most flaws that are listed


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", nargs="?", help="a scenario or tool spec: a file, or a shipped name")
    add("-o", "--output", metavar="FILE", type=Path, required=True, help="the file for the records, as JSON")
    fiction_options(parser)
    add("--count", metavar="N", type=count, help=f"total number of records in all tables; default {DEFAULT_TOTAL}")
    trust_option(parser)
    add("--by", metavar="MODEL", help="builtin (the default), or openai:MODEL@URL")
    model_options(parser, 8_192)
    add("--seed", type=int, metavar="N", help="replace the scenario's seed")
    add("--resume", action="store_true", help="continue a run that was interrupted")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if documents have errors or records have flaws, 4 if the model stops answering."""
    if (args.scenario is None) == (args.fiction is None):
        raise UsageError("give either a scenario or --fiction THEME")
    idle = ("rows", "shift_years") if args.fiction is None else ("count", "resume")
    given = next((name for name in idle if getattr(args, name) not in (None, False)), None)
    if given is not None:
        reason = "is only for --fiction" if args.fiction is None else "is only for a scenario, not for --fiction"
        raise UsageError(f"--{given.replace('_', '-')} {reason}")
    writable_file("--output", args.output)
    if args.fiction is not None:
        return write_fiction(args)
    scenario = load(args.scenario, trust=args.trust)
    if not scenario.domain.entities:
        raise UsageError(f"{args.scenario}: its tools use no records")
    seed = scenario.seed if args.seed is None else args.seed
    counts = divide_total(scenario.domain, scenario.records, args.count or DEFAULT_TOTAL)
    draft = Draft(scenario.domain, counts, seed, namesakes=False)
    wanted = sum(_counts(draft).values())
    progress = Progress(sys.stderr, wanted)
    try:
        tally = _made(draft, scenario, args, progress)
    except Unanswered as error:
        note(f"mcp-sim: {error}")
        return 4
    finally:
        progress.clear()
    copy = back_up(args.output)
    parts = [f"{_json(name)}: [\n{_rows(table)}\n]" for name, table in draft.tables.items() if table]
    replace_file(args.output, "{\n" + ",\n".join(parts) + "\n}\n")
    _unfinished_path(args).unlink(missing_ok=True)
    note(_summary(draft, wanted, tally, args))
    if copy is not None:
        note(f"The previous content of {args.output} is in {copy}.")
    return _print_flaws(draft, scenario)


def _made(draft: Draft, scenario: Scenario, args: argparse.Namespace, progress: Progress) -> Tally | None:
    """Fill the tables of a draft. Return statistics if a model was asked."""
    if args.by in (None, "builtin"):
        generate_tables(draft, progress.show)
        return None
    line = named_line(args.by, "--by", max_tokens=args.max_tokens, thinking=args.thinking, api_key_env=args.api_key_env)
    run = {"scenario": scenario.sha256, "by": line.model, "seed": draft.seed, "records": _counts(draft)}
    unfinished = RunFile.open(_unfinished_path(args), run, resume=args.resume)
    try:
        return anyio.run(_invented, draft, line, unfinished, progress)
    except (KeyboardInterrupt, Unanswered):
        progress.clear()
        if unfinished.kept:
            note(f"Records so far are kept in {unfinished.path}; continue with --resume.")
        raise
    finally:
        unfinished.close()


async def _invented(draft: Draft, line: EndpointSettings, unfinished: RunFile, progress: Progress) -> Tally:
    async with open_endpoint(line) as endpoint:
        return await Inventor(draft, endpoint.complete, unfinished, progress.show).invent()


def _unfinished_path(args: argparse.Namespace) -> Path:
    return args.output.with_name(f"{args.output.name}.part")


def _counts(draft: Draft) -> dict[str, int]:
    return {name: len(draft.keys[name]) for name in draft.domain.entities}


def _rows(table: Mapping[Key, Record]) -> str:
    return ",\n".join(f"  {_json(record)}" for record in table.values())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# report ---------------------------------------------------------------------------------------------------------------


def _summary(draft: Draft, wanted: int, tally: Tally | None, args: argparse.Namespace) -> str:
    counts = {name: count for name, count in _counts(draft).items() if count}
    tables = ", ".join(f"{count} {name}" for name, count in counts.items())
    lines = [f"{args.output}: {sum(counts.values())} records ({tables}), seed {draft.seed}."]
    if tally is not None:
        lines += _about_the_model(tally)
    if wanted > sum(counts.values()):
        lines.append(f"{wanted - sum(counts.values())} duplicates are left out.")
    return "\n".join([*lines, f"In a scenario: `world: {{records: {args.output.name}}}`."])


def _about_the_model(tally: Tally) -> Iterator[str]:
    """Yield what the model contributed, and why some of its records were rejected."""
    yield f"The model wrote {tally.invented} in {tally.asked} answers; {tally.filled} were generated without it."
    for problem, _ in tally.problems.most_common(1):
        yield f"{tally.refused} records of the model were rejected, most often because: {problem}"


def _print_flaws(draft: Draft, scenario: Scenario) -> int:
    """Print what is wrong with the records. Return the exit code: 1 if there is anything."""
    given = {name: len(record.rows) for name, record in scenario.records.items()}
    flaws = list(find_problems(draft.domain, draft.tables, given))
    for flaw in islice(flaws, MOST_SHOWN):
        note(flaw)
    if len(flaws) > MOST_SHOWN:
        note(f"... and {len(flaws) - MOST_SHOWN} more")
    return int(bool(flaws))


_ROWS = 400  # rows of a world by default: about 600 pages, too many to read all of them


def fiction_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "a fictional world to search", "writes a scenario, and FILE.questions.jsonl beside it"
    )
    themes = ", ".join(shipped_themes())
    group.add_argument("--fiction", metavar="THEME", help=f"{themes}, or a YAML file of the same form")
    group.add_argument("--rows", metavar="N", type=int, help=f"number of rows; default {_ROWS}")
    group.add_argument("--shift-years", metavar="N", type=int, help="move all years, so that none is known")


def write_fiction(args: argparse.Namespace) -> int:
    """Write a scenario with a fictional world, and its questions. Exit with 0, or 4 if the model stops answering."""
    seed, shift_years = args.seed or 0, args.shift_years or 0
    rows = _ROWS if args.rows is None else args.rows
    fiction = invent(read_theme(args.fiction), rows=rows, seed=seed, shift_years=shift_years)
    name = Path(args.fiction).stem
    asked: list[Record] = [
        {"question": question.ask, "answer": question.answer, "pages": question.pages}
        for question in questions(fiction)
    ]
    asked += [{"question": table.ask, "answer": table.rows, "pages": len(table.rows)} for table in tables(fiction)]
    lines = [json.dumps(line, ensure_ascii=False) for line in asked]
    beside = args.output.with_name(f"{args.output.name}.questions.jsonl")
    document = fiction_scenario(fiction, name, seed, shift_years)
    if args.by not in (None, "builtin"):
        try:
            document["world"]["state"]["texts"] = _page_texts(fiction, seed, args)
        except Unanswered as error:
            note(f"mcp-sim: {error}")
            return 4
    copies = {path: back_up(path) for path in (args.output, beside)}
    replace_file(args.output, yaml12.dump(document, blocks=4) + "\n")
    replace_file(beside, "\n".join(lines) + "\n")
    counts = ", ".join(f"{len(rows)} {plural(table)}" for table, rows in fiction.rows.items())
    note(f"{args.output}: a world of {sum(map(len, fiction.rows.values()))} rows ({counts}), seed {seed}.")
    note(f"{beside}: {len(lines)} questions with their answers.")
    for path, copy in copies.items():
        if copy is not None:
            note(f"The previous content of {path} is in {copy}.")
    note(f"Serve it with `mcp-sim serve {args.output}`.")
    return 0


def _page_texts(fiction: Fiction, seed: int, args: argparse.Namespace) -> Record:
    """Return the texts of pages that the model of `--by` writes, by address. Raises `Unanswered`."""
    line = named_line(args.by, "--by", max_tokens=args.max_tokens, thinking=args.thinking, api_key_env=args.api_key_env)
    pages = read_given_pages(fiction.state())
    names = {str(row["name"]) for rows in fiction.rows.values() for row in rows if "name" in row}
    progress = Progress(sys.stderr, len(pages))

    async def written() -> Record:
        async with open_endpoint(line) as endpoint:
            return await write_texts(pages, names, endpoint.complete, seed, progress.show)

    try:
        texts = anyio.run(written)
    finally:
        progress.clear()
    note(f"The model wrote {len(texts)} of {len(pages)} pages; the others would have added or lost a name or a number.")
    return texts
