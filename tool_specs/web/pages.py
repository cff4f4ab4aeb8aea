"""The pages of a simulated web: for every question some exist, and each can be fetched.

A page that no one described is computed from its address, so that it is the same in every world and for all servers,
and is then stored. A page of `world.records` or of the state of the scenario goes before it.
"""

import re
from hashlib import sha256
from random import Random

from mcp_sim.libraries.search import page

SITES = (
    "fieldnotes.example", "openhandbook.example", "thedailyledger.example", "askthedesk.example", "northreview.example",
    "wikibase.example", "practical.example", "longread.example", "numbersfirst.example", "community.example",
)  # fmt: skip
FORMS = (
    "{topic}: what you need to know", "A short guide to {topic}", "{topic} explained", "{topic} - overview and history",
    "Ten questions about {topic}", "How {topic} works", "{topic}: figures and sources", "Common mistakes with {topic}",
    "What changed for {topic} this year", "{topic} compared", "Notes on {topic}", "{topic} for beginners",
)  # fmt: skip
LINES = (
    "Most of what is written about {topic} repeats the same three points.",
    "People who work with {topic} every day put it more simply.",
    "A survey of {n} people found that {p} percent had looked for {topic} in the last month.",
    "The first mention of {topic} in our archive is {age} years old.",
    "It helps to separate what is known about {topic} from what is assumed.",
    "Costs vary: between {n} and {m} is usual, and the difference is rarely explained.",
    "There is no single answer, but three cases cover nearly everything.",
    "Where the sources disagree, we give both figures.",
    "Readers asked for a list, so here is one: start small, write down what you see, and check it after {p} days.",
    "The rules differ from place to place; ask before you rely on them.",
    "In short: {topic} is easier to understand from an example than from a definition.",
)
MOST = 0.5001
"""A described page answers a question with more than half of its words; for another question others are computed."""


def chance_of(text):
    return Random(sha256(text.encode()).digest())  # noqa: S311 (the same page in every world)


def found_pages(world, query, first, count):
    """Return some of the pages that a question finds: described ones with most of its words, then computed ones."""
    hits = world.search.find(query, count=first + count, least=MOST, accepts=is_there)
    topic = " ".join(all_words(query))
    chance = chance_of(f"search {topic}")
    forms, sites = chance.sample(FORMS, len(FORMS)), [chance.choice(SITES) for _ in FORMS]
    urls = [hit["url"] for hit in hits]
    urls += [address(site, form.format(topic=topic)) for site, form in zip(sites, forms, strict=True)]
    return [page_at(world.page, url) for url in urls[first : first + count]]


def is_there(row):
    return not row["computed"] and row["status"] == 200


def all_words(text):
    return re.findall(r"[^\W_]+", str(text).casefold())


def page_at(pages, url):
    """Return the page at an address, also if the address has a fragment, or a query that no page is described for."""
    without = url.partition("#")[0]
    plain = without.partition("?")[0]
    near = (pages.get(form) for form in (without.rstrip("/"), plain, plain.rstrip("/")))
    kept = (page for page in near if page and not page["computed"])
    return pages.get(url) or pages.get(without) or next(kept, None) or pages.add(page_of(without))


def address(site, title):
    return f"https://{site}/{'-'.join(all_words(title))}"


def page_of(url):
    """Return the page at an address that no one described."""
    path = re.sub(r"^\w+://[^/]*", "", url).split("?")[0].rstrip("/").rpartition("/")[2]
    title = " ".join(all_words(path)).capitalize() or re.sub(r"^\w+://", "", url).split("/")[0]
    chance = chance_of(f"page {url}")
    topic = topic_of(all_words(path)) or title
    lines = [line.format(topic=topic, **figures(chance)) for line in chance.sample(LINES, 9)]
    parts = [" ".join(lines[at : at + 3]) for at in (0, 3, 6)]
    heads = chance.sample(("Background", "In practice", "Figures", "What to watch for", "Sources"), 2)
    text = f"# {title}\n\n{parts[0]}\n\n## {heads[0]}\n\n{parts[1]}\n\n## {heads[1]}\n\n{parts[2]}\n"
    return page(url, title=title, description=lines[0], text=text, computed=True)


def topic_of(words):
    """Return what a page with these words in its address is about."""
    for form in FORMS:
        first, last = (all_words(side) for side in form.split("{topic}"))
        end = len(words) - len(last)
        if len(first) < end and words[: len(first)] == first and words[end:] == last:
            return " ".join(words[len(first) : end])
    return " ".join(words)


def figures(chance):
    n = chance.randrange(20, 900)
    return {"n": n, "m": n * chance.randrange(2, 6), "p": chance.randrange(11, 89), "age": chance.randrange(4, 60)}
