"""Which tools search pages that are not records, or read one by its address, and which pages does a state hold?

What is looked at: a query beside words for the web, for documentation, for articles; an address to be read. A server
that makes what its tools search has records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.backends.matching.operations import plan_of
from mcp_sim.backends.matching.tool_profiles import Purpose
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.words import singular, snake, vocabulary
from mcp_sim.types.plans import Plan

PAGE = "page"
_QUERIES = ("query", "q", "search_query", "question", "keywords", "keyword", "search_term", "search", "topic", "text")
_PLACES = ("url", "uri", "link", "urls", "page_url", "document_id", "page_id", "id", "doc_id")
_LIMITS = ("count", "limit", "max_results", "num_results", "top_k", "n", "k", "size", "per_page", "page_size")
_OFFSETS = ("offset", "start", "skip", "start_index")
_LENGTHS = ("max_length", "max_chars", "max_characters", "length", "context_length")
_SEARCHES = vocabulary("search query find lookup google browse research ask")
_READS = vocabulary("fetch scrape crawl read extract open get visit load retrieve browse")
_WEB = vocabulary("web internet google bing brave duckduckgo tavily exa serp online wikipedia wiki news website site "
                  "arxiv pubmed scholar perplexity kagi searxng")  # fmt: skip
_TEXTS = vocabulary("page webpage website url web html markdown article content doc document documentation paper "
                    "knowledge text link")  # fmt: skip
_MAKES = vocabulary("create add insert update delete remove edit save write upload download set")
_STATES = vocabulary("documents pages articles docs knowledge corpus papers knowledge_base web websites library")
_CONTENTS = ("text", "content", "body", "markdown", "abstract")
_UNSAID = vocabulary("browser navigate tab click screenshot element selector")


@dataclass(frozen=True, slots=True)
class Found:
    """A tool of a corpus: whether it searches or reads, and the arguments that matter."""

    purpose: Purpose
    operation: str
    arguments: Mapping[str, str]


def recognised(listed: Sequence[Purpose]) -> list[Found]:
    """The tools of servers that search or read pages; none where it is records that are searched."""
    made = {noun for one in listed if _MAKES.intersection(one.words) for noun in one.nouns}
    found = [one for purpose in listed if (one := _recognised(purpose, made)) is not None]
    reads = [one for one in found if one.operation == "read"]
    searches = [one for one in found if one.operation == "search"]
    by_url = [one for one in reads if snake(one.arguments["place"]).endswith(("url", "urls", "uri", "link"))]
    return [*searches, *reads] if searches else by_url


def plan_for(one: Found) -> Plan:
    """The plan of a recognised tool."""
    asked = one.arguments.get("query") or one.arguments["place"]
    reasons = (f"'{asked}' is looked for among pages" if one.operation == "search" else f"reads the page at '{asked}'",)
    verb = "search" if one.operation == "search" else "get"
    return plan_of(one.purpose, one.operation, "pages", one.arguments, 0.7, reasons, verb=verb, entity=PAGE)


def entity(key: str) -> Entity:
    """A page, by the field that names it."""
    text: Record = {"type": ["string", "null"]}
    fields = {name: Field(name, text) for name in ("url", "id", "title", "text", "published_at")}
    return Entity(
        PAGE, key, None, {**fields, key: Field(key, {"type": ["string", "integer"]}, required=True)}, natural=True
    )


def given_pages(state: Json) -> tuple[str, list[Record], Json]:
    """The field that names the pages of a state, the pages, and what is left of the state for others."""
    body = as_object(state)
    for name, value in body.items():
        rows = [as_object(one) for one in as_list(value)]
        key = next((key for key in ("url", "id", "title") if rows and all(row.get(key) for row in rows)), None)
        texts = [next((text for text in _CONTENTS if isinstance(row.get(text), str)), None) for row in rows]
        if snake(name) in _STATES and key is not None and all(texts):
            rest = {other: kept for other, kept in body.items() if other != name}
            told = [{**row, "text": row[text or ""]} for row, text in zip(rows, texts, strict=True)]
            return key, told, rest or None
    return "url", [], state


def _recognised(purpose: Purpose, made: set[str]) -> Found | None:
    query, place = purpose.argument(_QUERIES, ("string",)), purpose.argument(_PLACES, ("string", "strings"))
    beside = {"limit": _LIMITS, "offset": _OFFSETS, "length": _LENGTHS}
    numbers = {role: purpose.argument(names, ("integer", "number")) for role, names in beside.items()}
    more = {role: name for role, name in numbers.items() if name is not None}
    if query is not None and purpose.needed <= {query} and _searches_pages(purpose, made):
        return Found(purpose, "search", {"query": query, **more})
    if place is not None and purpose.needed <= {place} and _reads_pages(purpose, place):
        return Found(purpose, "read", {"place": place, **more})
    return None


def _searches_pages(purpose: Purpose, made: set[str]) -> bool:
    named = {*purpose.words, *purpose.nouns}
    if not named & _SEARCHES or named & _UNSAID:
        return False
    nouns = {singular(noun) for noun in purpose.nouns - _SEARCHES}
    if named & _WEB:
        return not nouns & made
    about_texts = nouns & (_TEXTS - {"content", "text", "url"})
    is_bare = not nouns and any(
        f"{word} " in f"{purpose.said} " for word in ("web", "internet", "documentation", "articles")
    )
    return (bool(about_texts) or is_bare) and not nouns & made


def _reads_pages(purpose: Purpose, place: str) -> bool:
    named = {*purpose.words, *purpose.nouns}
    by_url = snake(place).endswith(("url", "urls", "uri", "link"))
    if not named & _READS or named & _UNSAID or named & _MAKES:
        return False
    return (by_url and (bool(named & _TEXTS) or len(purpose.words) == 1)) or (
        len(purpose.words) == 1 and "fetch" in named
    )
