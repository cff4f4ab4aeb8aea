"""Generated pages.

A page follows from the world's seed and its address alone, so that a search and a later read agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import unquote, urlsplit

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.generate.values import chance_of
from mcp_sim.types import Record
from mcp_sim.types.clock import iso_seconds

MAX_RESULTS = 50
"""Maximum number of pages about a query."""

_LONGEST_SLUG = 80  # a long query must not become an address of several lines
_OLDEST = 900  # in days: a few years, so that sorting by date shows different years


def pages_about(query: str, seed: int, now: datetime) -> Iterator[Record]:
    """Yield pages about a query, best match first; the same query yields the same pages."""
    topic = " ".join(re.findall(r"[^\W_]+", query))
    chance = chance_of(seed, "pages", topic.lower())
    titles = sorted(word_list("pages", "titles"), key=lambda _title: chance.unit())
    for at in range(MAX_RESULTS):
        suffix = f" (part {at // len(titles) + 1})" if at >= len(titles) else ""
        slug = _slug(titles[at % len(titles)].format(topic) + suffix)
        yield {
            **page_at(f"https://{chance.choice(word_list('pages', 'sites'))}/{slug}", seed, now),
            "score": round(0.98 / (1 + at / 8), 2),
        }


def page_at(place: str, seed: int, now: datetime) -> Record:
    """Return the page at an address, or by the short name at its end. Raises `ValueError` if the address is invalid."""
    parts = urlsplit(place if "://" in place else f"https://{word_list('pages', 'sites')[0]}/{place.strip('/')}")
    slug = _slug(unquote(parts.path.rstrip("/").rpartition("/")[2].rsplit(".", 1)[0])) or _slug(parts.netloc)
    chance = chance_of(seed, "page", parts.netloc, parts.path)
    title = slug.replace("-", " ").capitalize()
    published = now - timedelta(days=int(chance.unit() * _OLDEST))
    text = _text(title, chance)
    return {"url": parts.geturl(), "id": slug, "title": title, "snippet": text.split("\n")[2], "text": text,
            "site": parts.netloc, "published_at": iso_seconds(published)}  # fmt: skip


def _text(title: str, chance: Chance) -> str:
    shuffled = sorted(word_list("pages", "sentences"), key=lambda _sentence: chance.unit())
    sentences = [sentence.format(title) for sentence in shuffled]
    return "\n\n".join((f"# {title}", *(" ".join(sentences[first:last]) for first, last in ((0, 3), (3, 7), (7, 10)))))


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[^\W_]+", text.lower()))[:_LONGEST_SLUG].strip("-")
