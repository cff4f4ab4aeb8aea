"""Measure what the search over fictional worlds finds, what it leaks, and how long it takes.

    python benchmarks/libraries search [THEME...] [--seeds 5] [--queries 1000]

For each theme and seed, `hit@10` is the share of the theme's questions about one row for which a page with the answer
is among the first ten; `leaks` counts withheld facts of a page's rows in the address, title, date or snippet that a
search shows, over unrelated queries and over queries about other rows. Times are milliseconds of processor time a
search, at about 2,000 and 20,000 pages, and as multiples of a plain scan of all texts for the words in the same run.
"""

from __future__ import annotations

import random
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from support.library_stores import new_store

from mcp_sim.generate.fiction.theme import read_theme, shipped_themes
from mcp_sim.generate.fiction.world import Fiction, invent, questions
from mcp_sim.libraries.search import Search, snippet, words_of
from mcp_sim.libraries.search.pages import shown_values

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


def main(parser: ArgumentParser, arguments: Sequence[str]) -> int:
    parser.add_argument("themes", nargs="*", default=shipped_themes())
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=1000)
    options = parser.parse_args(arguments)
    measure_search(options.themes, options.seeds, options.queries)
    return 0
