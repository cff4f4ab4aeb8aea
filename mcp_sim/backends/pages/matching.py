"""Match tools that search pages or read them by address, and read the pages of a state.

Evidence: a query beside words for the web, documentation or articles; an address to read. If a server creates what its
tools search, these are records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import singular, snake, vocabulary
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
_EXCLUDED = vocabulary("browser navigate tab click screenshot element selector")


@dataclass(frozen=True, slots=True)
class MatchedTool:
    """A tool for pages: whether it searches or reads, and role -> argument."""

    profile: ToolProfile
    operation: str
    arguments: Mapping[str, str]


def match_tools(listed: Sequence[ToolProfile]) -> list[MatchedTool]:
    """Return the tools that search or read pages; none if they search records."""
    made = {noun for one in listed if _MAKES.intersection(one.words) for noun in one.nouns}
    found = [one for profile in listed if (one := _match_tool(profile, made)) is not None]
    reads = [one for one in found if one.operation == "read"]
    searches = [one for one in found if one.operation == "search"]
    by_url = [one for one in reads if snake(one.arguments["place"]).endswith(("url", "urls", "uri", "link"))]
    return [*searches, *reads] if searches else by_url


def plan_for(one: MatchedTool) -> Plan:
    """Return the plan of a matched tool."""
    argument = one.arguments.get("query") or one.arguments["place"]
    reasons = (
        f"'{argument}' is looked for among pages" if one.operation == "search" else f"reads the page at '{argument}'",
    )
    verb = "search" if one.operation == "search" else "get"
    return operation_plan(one.profile, one.operation, "pages", one.arguments, 0.7, reasons, verb=verb, entity=PAGE)


def entity(key: str) -> Entity:
    """Return the entity of pages with this key field."""
    text: Record = {"type": ["string", "null"]}
    fields = {name: Field(name, text) for name in ("url", "id", "title", "text", "published_at")}
    return Entity(
        PAGE, key, None, {**fields, key: Field(key, {"type": ["string", "integer"]}, required=True)}, natural=True
    )


def read_given_pages(state: Json) -> tuple[str, list[Record], Json]:
    """Return the key field of the pages of a state, the pages, and the rest of the state."""
    body = as_object(state)
    for name, value in body.items():
        rows = [as_object(one) for one in as_list(value)]
        key = next((key for key in ("url", "id", "title") if rows and all(row.get(key) for row in rows)), None)
        texts = [next((text for text in _CONTENTS if isinstance(row.get(text), str)), None) for row in rows]
        if snake(name) in _STATES and key is not None and all(texts):
            rest = {other: kept for other, kept in body.items() if other != name}
            pages = [{**row, "text": row[text or ""]} for row, text in zip(rows, texts, strict=True)]
            return key, pages, rest or None
    return "url", [], state


def _match_tool(profile: ToolProfile, made: set[str]) -> MatchedTool | None:
    query, place = profile.argument(_QUERIES, ("string",)), profile.argument(_PLACES, ("string", "strings"))
    number_roles = {"limit": _LIMITS, "offset": _OFFSETS, "length": _LENGTHS}
    numbers = {role: profile.argument(names, ("integer", "number")) for role, names in number_roles.items()}
    more = {role: name for role, name in numbers.items() if name is not None}
    if query is not None and profile.needed <= {query} and _searches_pages(profile, made):
        return MatchedTool(profile, "search", {"query": query, **more})
    if place is not None and profile.needed <= {place} and _reads_pages(profile, place):
        return MatchedTool(profile, "read", {"place": place, **more})
    return None


def _searches_pages(profile: ToolProfile, made: set[str]) -> bool:
    named = {*profile.words, *profile.nouns}
    if not named & _SEARCHES or named & _EXCLUDED:
        return False
    nouns = {singular(noun) for noun in profile.nouns - _SEARCHES}
    if named & _WEB:
        return not nouns & made
    about_texts = nouns & (_TEXTS - {"content", "text", "url"})
    is_bare = not nouns and any(
        f"{word} " in f"{profile.description} " for word in ("web", "internet", "documentation", "articles")
    )
    return (bool(about_texts) or is_bare) and not nouns & made


def _reads_pages(profile: ToolProfile, place: str) -> bool:
    named = {*profile.words, *profile.nouns}
    by_url = snake(place).endswith(("url", "urls", "uri", "link"))
    if not named & _READS or named & _EXCLUDED or named & _MAKES:
        return False
    return (by_url and (bool(named & _TEXTS) or len(profile.words) == 1)) or (
        len(profile.words) == 1 and "fetch" in named
    )
