"""Answer the tools that search pages or read one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from mcp_sim.backends.pages.generated import MAX_RESULTS, page_at, pages_about
from mcp_sim.backends.pages.matching import PAGE
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NAMES: Names = {
    "results": (
        "data",
        "items",
        "web",
        "matches",
        "documents",
        "hits",
        "organic",
        "articles",
        "pages",
        "papers",
        "value",
    ),
    "title": ("name", "heading"),
    "url": ("link", "href", "uri", "source_url", "source"),
    "id": ("document_id", "page_id", "doc_id"),
    "snippet": ("description", "summary", "excerpt", "abstract", "preview", "highlight"),
    "text": ("content", "body", "markdown", "page_content", "html", "raw_content", "contents", "result"),
    "published_at": ("date", "published_date", "published", "page_age", "updated_at", "publishedAt"),
    "site": ("domain", "hostname", "publisher", "source"),
    "rank": ("position", "index"),
    "score": ("relevance", "similarity", "relevance_score"),
    "count": ("total", "total_results", "num_results", "result_count"),
}
_DEFAULT_LIMIT = 5


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool, from known or generated pages."""
    operate = _OPERATIONS[plan.operation]
    return compile_answer(tool, domain, lambda turn: operate(turn, plan), _NAMES)


def _search(turn: Turn, plan: Plan) -> Outcome:
    """Search the known pages; without any, generate pages about the query."""
    query = str(turn.call.arguments.get(plan.arguments["query"]) or "").strip()
    if not query:
        raise Refused("invalid", "The query must not be empty")
    is_known, start = turn.view.count(_entity(plan)) > 0, _number(turn, plan, "offset", 0)
    most = min(_number(turn, plan, "limit", _DEFAULT_LIMIT), MAX_RESULTS)
    ranked = _search_known(turn, plan, query) if is_known else _generated(turn, query)
    rows = [{**row, "rank": at} for at, row in enumerate(islice(ranked, start, start + most), start + 1)]
    text = "\n\n".join(f"Title: {row['title']}\nURL: {row.get('url')}\nDescription: {row['snippet']}" for row in rows)
    facts: Record = {"results": rows, "query": query, "count": len(rows)}
    return Outcome(text or f"No results found for '{query}'", facts, "results", guessed=not is_known)


def _read(turn: Turn, plan: Plan) -> Outcome:
    """Return one or more pages by address."""
    given: Json = turn.call.arguments.get(plan.arguments["place"])
    places = [str(one) for one in as_list(given)] if isinstance(given, list) else [str(given or "")]
    if not all(place.strip() for place in places):
        raise Refused("invalid", "An address is needed")
    is_known = turn.view.count(_entity(plan)) > 0
    pages = [_page(turn, plan, place, is_known=is_known) for place in places]
    text = "\n\n".join(_part(turn, plan, str(page["text"])) for page in pages)
    facts: Record = {**pages[0], "results": pages, "text": text, "length": len(text)}
    return Outcome(text, facts, "text", guessed=not is_known)


_OPERATIONS: Mapping[str, Callable[[Turn, Plan], Outcome]] = {"search": _search, "read": _read}


def _page(turn: Turn, plan: Plan, place: str, *, is_known: bool) -> Record:
    if not is_known:
        return page_at(place, turn.draws.seed, turn.start).facts()
    rows = turn.view.rows(_entity(plan))
    found = next(
        (row for key, row in rows if place in {str(key), row.get("url"), row.get("id"), row.get("title")}), None
    )
    if found is None:
        raise Refused("not_found", f"Page not found: {place}", key=place, entity=PAGE)
    return _page_facts(found)


def _generated(turn: Turn, query: str) -> Iterator[Record]:
    for at, page in enumerate(pages_about(query, turn.draws.seed, turn.start)):
        yield {**page.facts(), "score": round(0.98 / (1 + at / 8), 2)}


def _search_known(turn: Turn, plan: Plan, query: str) -> Iterator[Record]:
    """Yield the known pages that contain words of the query, best matches first."""
    wanted = set(re.findall(r"\w+", query.lower()))
    rated: list[tuple[float, Record]] = []
    for _, row in turn.view.rows(_entity(plan)):
        title, text = (set(re.findall(r"\w+", str(row.get(name) or "").lower())) for name in ("title", "text"))
        share = (2 * len(wanted & title) + len(wanted & text)) / (3 * max(len(wanted), 1))
        rated += [(share, row)] if share else []
    for share, row in sorted(rated, key=lambda one: -one[0]):
        yield {**_page_facts(row), "score": round(share, 2)}


def _page_facts(row: Record) -> Record:
    text = str(row.get("text") or "")
    return {"title": row.get("title") or text[:60], "snippet": text[:200], **row}


def _part(turn: Turn, plan: Plan, text: str) -> str:
    """Return the requested part of a text."""
    start, length = _number(turn, plan, "offset", 0), _number(turn, plan, "length", len(text))
    return text[start : start + length]


def _number(turn: Turn, plan: Plan, role: str, otherwise: int) -> int:
    value = turn.call.arguments.get(plan.arguments.get(role, ""))
    return max(0, int(value)) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _entity(plan: Plan) -> str:
    return plan.entity or PAGE
