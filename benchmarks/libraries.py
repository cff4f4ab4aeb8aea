"""Compare the shell with bash, and measure the search: the libraries of programs.

    python benchmarks/libraries.py shell REFERENCE... [--verbose] [--runs N]
    python benchmarks/libraries.py search [THEME...] [--seeds 5] [--queries 1000]

`shell`: the shell of simulated terminals and a real bash, command by command. A reference is a JSON file that was
recorded from a real bash: `cwd`, `tree` (rows with path, kind, mode, mtime, target, and the content in base64), and
`results` (cmd, stdout, stderr, code). Each command runs in a world of its own, as it did there. Compared are stdout and
the exit code. With `--runs N`, all commands also run N times one after another, with the same seed, and what differs
between runs is counted.

`search`: for each theme and seed of fictional worlds, `hit@10` is the share of the theme's questions about one row for
which a page with the answer is among the first ten; `leaks` counts withheld facts of a page's rows in the address,
title, date or snippet that a search shows, over unrelated queries and over queries about other rows. Times are
milliseconds of processor time a search, at about 2,000 and 20,000 pages, and as multiples of a plain scan of all texts
for the words in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.library_stores import new_store

from mcp_sim import Simulator
from mcp_sim.generate.fiction import Fiction, invent, questions, read_theme, shipped_themes
from mcp_sim.libraries.search import Search, snippet, words_of
from mcp_sim.libraries.search.withheld import shown_values
from mcp_sim.types import ToolResult

Json = Any

# shell ----------------------------------------------------------------------------------------------------------------

KINDS = {"d": "directory", "l": "symlink", "f": "file"}


def given_files(reference: Json) -> Json:
    """Return the files of a reference as rows of a given state."""
    return [
        {
            "path": row["path"],
            "kind": KINDS[row["kind"]],
            "mode": row["mode"],
            "mtime": datetime.fromtimestamp(row["mtime"], UTC).isoformat(),
            **(
                {"base64": row["content"]}
                if row["content"] and not decoded(row["content"])
                else {"text": decoded(row["content"])}
            ),
            "target": row["target"],
        }
        for row in reference["tree"]
    ]


def decoded(content: str | None) -> str:
    try:
        return b64decode(content or "").decode()
    except UnicodeDecodeError:
        return ""


async def compare_commands(reference: Json, path: Path, *, verbose: bool) -> tuple[int, int]:
    """Return how many commands agree exactly, and how many but for the order of lines."""
    exact = unordered = 0
    async with Simulator.load(path).open(seed=1) as start:
        for known in reference["results"]:
            answer = await start.fork().call("run_command", {"command": known["cmd"], "workdir": reference["cwd"]})
            assert isinstance(answer.body, ToolResult)
            served: Mapping[str, Any] = answer.body.value
            has_code = served["exit_code"] == known["code"]
            is_exact = has_code and served["stdout"] == known["stdout"]
            exact += is_exact
            unordered += has_code and sorted(served["stdout"].splitlines()) == sorted(known["stdout"].splitlines())
            if verbose and not is_exact:
                print(f"$ {known['cmd']}")
                print(f"  expected {known['code']} {known['stdout'][:400]!r} {known['stderr'][:200]!r}")
                print(f"  got      {served['exit_code']} {served['stdout'][:400]!r} {served['stderr'][:200]!r}")
    return exact, unordered


async def count_differences(commands: Sequence[str], path: Path, runs: int) -> int:
    """Return how many answers differ from those of the first run. Each run is a world of its own."""
    first: list[str] = []
    count = 0
    for number in range(runs):
        async with Simulator.load(path).open(seed=7) as world:
            answers = [str((await world.call("run_command", {"command": text})).body) for text in commands]
        first = first or answers
        differing = [text for text, before, after in zip(commands, first, answers, strict=True) if before != after]
        count += len(differing)
        for text in differing[:5]:
            print(f"run {number} differs: {text}")
    return count


def terminal_of(reference: Json) -> Json:
    newest = max(row["mtime"] for row in reference["tree"])
    now = datetime.fromtimestamp(newest + 60, UTC).isoformat()
    world = {"now": now, "state": {"files": given_files(reference)}}
    return {"mcp_sim": 1, "name": "terminal-reference", "tools": "terminal", "world": world}


def compare_shells(references: Sequence[Path], runs: int, *, verbose: bool) -> None:
    """Print the shares of commands that agree, by reference."""
    for source in references:
        reference = json.loads(source.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scenario.yaml")
            path.write_text(json.dumps(terminal_of(reference)), encoding="utf-8")
            exact, unordered = asyncio.run(compare_commands(reference, path, verbose=verbose))
            if runs:
                commands = [known["cmd"] for known in reference["results"]]
                differing = asyncio.run(count_differences(commands, path, runs))
                print(f"{source.stem}: {runs} runs of {len(commands)} commands, {differing} answers differ")
        count = len(reference["results"])
        shares = f"exact {exact / count:.1%}, but for the order of lines {unordered / count:.1%}"
        print(f"{source.stem}: {count} commands, {shares}")


# search ---------------------------------------------------------------------------------------------------------------

GENERIC = [
    "weather", "recipe", "football", "history", "prices", "council", "church", "market", "letters", "travel",
    "guide", "opinion", "parking", "museum", "winter", "built", "tall", "height", "year", "length", "number",
    "goals", "seats", "price", "minutes", "staff", "width", "finished", "fee", "members", "capacity",
]  # fmt: skip
SIDEWAYS = ("history of", "news about", "travel to", "photos of", "near", "how old is", "figures for")


def loaded_search(world: Fiction) -> Search:
    """Return the search over a world."""
    search = Search(new_store())
    search.load(world.state())
    return search


def secrets_of(world: Fiction) -> dict[str, list[Any]]:
    """Return what must be withheld of each row, by its name."""
    return {
        row["name"]: [row[path.partition(".")[2]] for path in world.theme.withhold if path.startswith(f"{table}.")]
        for table, rows in world.rows.items()
        for row in rows
        if "name" in row
    }


def hits(world: Fiction, search: Search) -> tuple[int, int]:
    """Return how many of the questions about one row find a page with the answer, and how many there are."""
    direct = [question for question in questions(world) if question.pages == 1]
    answered = sum(
        any(shown_values(page["text"], [question.answer]) for page in search.find(question.ask)) for question in direct
    )
    return answered, len(direct)


def leaks(world: Fiction, search: Search, queries: int, seed: int) -> int:
    """Return how many withheld facts unrelated queries, and queries about other rows, show."""
    draw, secrets, count = random.Random(seed), secrets_of(world), 0
    for number in range(queries):
        name = draw.choice([*secrets])
        words = " ".join(draw.sample(GENERIC, draw.randint(1, 4)))
        query = words if number % 2 else f"{draw.choice(SIDEWAYS)} {name}"
        for page in search.find(query):
            shown = "\n".join([page["url"], page["title"], page["date"], snippet(page, query)])
            about = [values for name, values in secrets.items() if name in page["text"]]
            count += sum(len(shown_values(shown, values)) for values in about)
    return count


def times(rows: int) -> tuple[int, float, float]:
    """Return the pages of a world, and milliseconds of processor time per search and per plain scan."""
    world = invent(read_theme("coast"), rows=rows, seed=1)
    search = loaded_search(world)
    queries = [question.ask for question in questions(world)][:200]
    search.find("once")
    spent = list[float]()
    for query in queries:
        start = time.process_time()
        search.find(query)
        spent.append(time.process_time() - start)
    pages = search.find("the is of in a", count=10**9)
    start = time.process_time()
    for query in queries[:3]:
        words = words_of(query)
        sorted(pages, key=lambda page: -sum(word in page["text"].casefold() for word in words))
    return len(pages), statistics.median(spent) * 1000, (time.process_time() - start) / 3 * 1000


def measure_search(themes: Sequence[str], seeds: int, queries: int) -> None:
    """Print a line per theme and seed, and one per size."""
    for theme in themes:
        for seed in range(seeds):
            world = invent(read_theme(theme), rows=400, seed=seed)
            search = loaded_search(world)
            answered, asked = hits(world, search)
            leaked = leaks(world, search, queries, seed)
            print(f"{theme} seed {seed}: hit@10 {answered / asked:.3f} ({answered} of {asked}), {leaked} leaks")
    for rows in (1400, 13_000):
        count, search_ms, scan_ms = times(rows)
        print(
            f"{count} pages: {search_ms:.2f} ms of processor time a search, {search_ms / scan_ms:.3f} of a plain scan"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    shell = parts.add_parser("shell")
    shell.add_argument("references", nargs="+", type=Path)
    shell.add_argument("--runs", type=int, default=0, help="compare so many runs with one seed")
    shell.add_argument("--verbose", action="store_true", help="print what differs")
    searching = parts.add_parser("search")
    searching.add_argument("themes", nargs="*", default=shipped_themes())
    searching.add_argument("--seeds", type=int, default=5)
    searching.add_argument("--queries", type=int, default=1000)
    options = parser.parse_args()
    if options.part == "shell":
        compare_shells(options.references, options.runs, verbose=options.verbose)
    else:
        measure_search(options.themes, options.seeds, options.queries)
