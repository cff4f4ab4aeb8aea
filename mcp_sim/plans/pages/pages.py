"""Operations on pages.

Where no pages are known, the pages about a query or at an address are generated, and the outcome is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from mcp_sim.generate.pages import MAX_RESULTS, page_at, pages_about
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list

_DEFAULT_LIMIT = 5  # usual for search tools; more would fill the context of a model
_MOST = 10**9  # far beyond the length of any page


def search(request: Request) -> Outcome:
    """Return `limit` pages about a query (default 5) from `offset`, the best first. Raises `Refused` if it is empty."""
    query = request.text("query").strip()
    if not query:
        raise Refused("invalid", "The query must not be empty")
    is_known, start = request.view.count(request.entity) > 0, _number(request, "offset", 0)
    most = min(_number(request, "limit", _DEFAULT_LIMIT), MAX_RESULTS)
    ranked = _known_about(request, query) if is_known else pages_about(query, request.draws.seed, _start(request))
    rows = [{**row, "rank": at} for at, row in enumerate(islice(ranked, start, start + most), start + 1)]
    text = "\n\n".join(f"Title: {row['title']}\nURL: {row.get('url')}\nDescription: {row['snippet']}" for row in rows)
    facts: Record = {"results": rows, "query": query, "count": len(rows)}
    return Outcome(text or f"No results found for '{query}'", facts, "results", guessed=not is_known)


def read(request: Request) -> Outcome:
    """Return the text of pages, or `length` characters of each from `offset` on. Raises `Refused` if one is missing."""
    given: Json = request.get("place")
    places = [str(item) for item in as_list(given)] if isinstance(given, list) else [request.text("place")]
    if not places or not all(place.strip() for place in places):
        raise Refused("invalid", "An address is needed")
    is_known, start = request.view.count(request.entity) > 0, _number(request, "offset", 0)
    pages = [_known_at(request, place) if is_known else _generated_at(request, place) for place in places]
    texts = [str(page["text"])[start:] for page in pages]
    text = "\n\n".join(page[: _number(request, "length", len(page))] for page in texts)
    facts: Record = {**pages[0], "results": pages, "text": text, "length": len(text)}
    return Outcome(text, facts, "text", guessed=not is_known)


def _generated_at(request: Request, place: str) -> Record:
    try:
        return page_at(place, request.draws.seed, _start(request))
    except ValueError:
        raise Refused("invalid", f"Invalid address: {place}") from None


def _start(request: Request) -> datetime:
    """Return the time before which all generated pages were published: the start of the world."""
    return request.now if request.turn is None else request.turn.start


def _number(request: Request, role: str, default: int) -> int:
    number = request.number(role)
    return default if number is None else min(max(0, number), _MOST)


def _known_at(request: Request, place: str) -> Record:
    for row in request.rows():
        if place in {str(row.get(name)) for name in ("url", "id", "title")}:
            return _facts(row)
    raise Refused("not_found", f"Page not found: {place}", key=place, entity=request.entity)


def _known_about(request: Request, query: str) -> Iterator[Record]:
    """Yield the known pages that contain words of the query, best matches first."""
    wanted = set(re.findall(r"\w+", query.lower()))
    rated: list[tuple[float, Record]] = []
    for row in request.rows():
        title, text = (set(re.findall(r"\w+", str(row.get(name) or "").lower())) for name in ("title", "text"))
        share = (2 * len(wanted & title) + len(wanted & text)) / (3 * max(len(wanted), 1))
        rated += [(share, row)] if share else []
    for share, row in sorted(rated, key=lambda pair: -pair[0]):
        yield {**_facts(row), "score": round(share, 2)}


def _facts(row: Record) -> Record:
    """Return a page as results show it. An id or a title that serves as its address is not shown as one."""
    text, is_url = str(row.get("text") or ""), row.get("url") not in (row.get("id"), row.get("title"))
    shown = {name: value for name, value in row.items() if name != "url" or is_url}
    return {"title": row.get("title") or text[:60], "snippet": text[:200], **shown}
