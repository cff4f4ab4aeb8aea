"""The tools of a public search server, Brave, over the pages of a world, which are texts only."""

import json

from results import find, shown, since_range, site_of

from mcp_sim.programs import Refused, Result, initial, tool

PAST = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
NO_PLACE = "No location data was returned. "
NO_PLAN = "User's plan does not support local search, or the query may be unclear."
FALLING_BACK = (
    "Either the user's plan does not support local search, or the API was unable to find locations for the provided "
    "query. Falling back to general web search."
)
NO_SUMMARY = "Unable to retrieve a Summarizer summary."
SUMMARIZED = 5
"""How many pages a summary rests on."""


@tool(verb="search", entity="page")
def brave_web_search(world, query, count=10, offset=0, freshness="", extra_snippets=False, summary=False):
    pages = search(world, query, count, offset, freshness)
    if not pages:
        raise Refused("No web results found")
    first = [f"Summarizer key: {json.dumps({'query': query})}"] if summary else []
    return blocks([*first, *(entry(page, query, extra_snippets) for page in pages)])


@tool(verb="search", entity="page")
def brave_local_search(world, query, count=10, offset=0, freshness="", extra_snippets=False):
    pages = search(world, query, count, offset, freshness)
    if not pages:
        return NO_PLACE + NO_PLAN
    return blocks([NO_PLACE + FALLING_BACK, *(entry(page, query, extra_snippets) for page in pages)])


@tool(reads=True)
def brave_video_search(world, query):  # noqa: ARG001 (no page is a video)
    return Result(blocks=[])


@tool(reads=True)
def brave_image_search(world, query):  # noqa: ARG001 (no page is an image)
    return {"type": "object", "items": [], "count": 0, "might_be_offensive": False}


@tool(verb="search", entity="page")
def brave_news_search(world, query, count=20, offset=0, freshness="", extra_snippets=False):
    pages = search(world, query, count, offset, freshness, since="0001-01-01")
    return blocks(
        {
            "url": page["url"],
            "title": page["title"],
            "age": page["date"],
            "page_age": page["date"],
            "breaking": False,
            **entry(page, query, extra_snippets),
        }
        for page in pages
    )


@tool(reads=True)
def brave_summarizer(world, key, inline_references=False):
    query = query_of(key)
    pages = search(world, query, SUMMARIZED) if query else []
    if not pages:
        raise Refused(NO_SUMMARY)
    references = [f" ({page['url']})" if inline_references else "" for page in pages]
    return " ".join(f"{shown(page, query)}{reference}" for page, reference in zip(pages, references, strict=True))


@tool(verb="search", entity="page")
def brave_llm_context(world, query, count=20, maximum_number_of_urls=20, freshness="", enable_source_metadata=False):
    pages = search(world, query, min(count, maximum_number_of_urls), 0, freshness)
    generic = [{"url": page["url"], "title": page["title"], "snippets": [shown(page, query, 500)]} for page in pages]
    sources = {page["url"]: source(page, named=enable_source_metadata) for page in pages}
    return {"grounding": {"generic": generic, "map": []}, "sources": sources}


@tool(reads=True)
def brave_place_search(world, query=""):  # noqa: ARG001 (no page is a place)
    return {"type": "locations", "query": {"original": query}, "results": []}


def search(world, query, count, offset=0, freshness="", since=""):
    """Return the pages of one page of results. `freshness` is a time that has passed, or a range of days."""
    first, _, last = freshness.partition("to")
    since = since_range(world, PAST[freshness]) if freshness in PAST else first or since
    return find(world, query, int(count), int(offset) * int(count), since=since, until=last)


def entry(page, query, extra):
    more = {"extra_snippets": [shown(page, query, 500)]} if extra else {}
    return {"url": page["url"], "title": page["title"], "description": shown(page, query), **more}


def source(page, named):
    site = site_of(page["url"])
    about = {"title": page["title"], "hostname": site, "age": [page["date"]] if page["date"] else []}
    return {**about, "site_name": site} if named else about


def query_of(key):
    """Return the query in a key of a summary; '' for anything else."""
    try:
        value = json.loads(key)
    except ValueError:
        return ""
    return str(value.get("query", "")) if isinstance(value, dict) else ""


def blocks(entries):
    """Return each entry as a block of text: JSON, unless it is a text."""
    texts = [
        entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        for entry in entries
    ]
    return Result(blocks=[{"type": "text", "text": text} for text in texts])


@initial
def begin(given, world):
    """Fill the world with the rows and pages of `world.state`."""
    world.search.load(given)
