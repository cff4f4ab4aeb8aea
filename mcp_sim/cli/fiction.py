"""`mcp-sim generate --fiction THEME`: a fictional world to search, with a task and questions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from mcp_sim.cli.files import back_up, replace_file
from mcp_sim.generate.fiction import Fiction, invent, questions, read_theme, shipped_themes, tables
from mcp_sim.spec import yaml12
from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import plural

_ROWS = 400
"""Rows of a world by default: about 600 pages, too many to read all of them."""
_YEAR = 2028
"""The year in which worlds take place, unless it is shifted: after every date of the themes that ship."""


def fiction_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of fictional worlds."""
    group = parser.add_argument_group(
        "a fictional world to search", "writes a scenario, and FILE.questions.jsonl beside it"
    )
    themes = ", ".join(shipped_themes())
    group.add_argument("--fiction", metavar="THEME", help=f"{themes}, or a YAML file of the same form")
    group.add_argument("--rows", metavar="N", type=int, help=f"number of rows; default {_ROWS}")
    group.add_argument("--shift-years", metavar="N", type=int, help="move all years, so that none is known")


def write_fiction(args: argparse.Namespace) -> int:
    """Write a scenario with a fictional world, and its questions. Exit with 0."""
    seed, shift_years = args.seed or 0, args.shift_years or 0
    rows = _ROWS if args.rows is None else args.rows
    fiction = invent(read_theme(args.fiction), rows=rows, seed=seed, shift_years=shift_years)
    name = Path(args.fiction).stem
    lines = [json.dumps(line, ensure_ascii=False) for line in _questions(fiction)]
    beside = args.output.with_name(f"{args.output.name}.questions.jsonl")
    copies = {path: back_up(path) for path in (args.output, beside)}
    replace_file(args.output, yaml12.dump(_scenario(fiction, name, seed, shift_years), blocks=4) + "\n")
    replace_file(beside, "\n".join(lines) + "\n")
    counts = ", ".join(f"{len(rows)} {plural(table)}" for table, rows in fiction.rows.items())
    _say(f"{args.output}: a world of {sum(map(len, fiction.rows.values()))} rows ({counts}), seed {seed}.")
    _say(f"{beside}: {len(lines)} questions with their answers.")
    for path, copy in copies.items():
        if copy is not None:
            _say(f"The previous content of {path} is in {copy}.")
    _say(f"Serve it with `mcp-sim serve {args.output}`.")
    return 0


def _scenario(fiction: Fiction, name: str, seed: int, shift_years: int) -> Record:
    table = next(tables(fiction))
    return {
        "mcp_sim": 1,
        "name": f"{name}-{seed}",
        "task": table.ask,
        "tools": {"search": "search_world"},
        "seed": seed,
        "world": {
            "description": f"{fiction.theme.title}.",
            "now": f"{_YEAR + shift_years}-06-01T09:00:00Z",
            "state": fiction.state(),
        },
        "expect": [{"table": table.expectation, "id": "table"}],
    }


def _questions(fiction: Fiction) -> Iterator[Record]:
    for question in questions(fiction):
        yield {"question": question.ask, "answer": question.answer, "pages": question.pages}
    for table in tables(fiction):
        yield {"question": table.ask, "answer": table.rows, "pages": len(table.rows)}


def _say(text: str) -> None:
    print(text, file=sys.stderr)
