"""The search and extract tools of a public search server, Tavily, over the pages of a world."""

import re

from results import find, page_at, shown, since_range

from mcp_sim.programs import Refused, initial, tool

QUOTED = re.compile(r'"([^"]+)"')


@tool(verb="search", entity="page")
def tavily_search(
    world, query, max_results=5, time_range="", start_date="", end_date="", include_domains=(), exclude_domains=(),
    include_raw_content=False, exact_match=False,
):  # fmt: skip
    phrases = QUOTED.findall(query) if exact_match else []
    pages = find(
        world, query, int(max_results), sites=include_domains, without=exclude_domains,
        since=max(start_date, since_range(world, time_range)), until=end_date, phrase=phrases[0] if phrases else "",
    )  # fmt: skip
    return results(pages, query, include_raw_content)


@tool(verb="get", entity="page", key="urls")
def tavily_extract(world, urls, query=""):
    pages = [page for url in urls if (page := page_at(world, url))]
    if not pages:
        raise Refused(f"Failed to fetch url: {', '.join(urls)}")
    return results(pages, query, raw=True)


def results(pages, query, raw):
    lines = ["Detailed Results:"]
    for page in pages:
        lines += [f"\nTitle: {page['title']}", f"URL: {page['url']}", f"Content: {shown(page, query, 500)}"]
        if raw:
            lines.append(f"Raw Content: {page['text']}")
    return "\n".join(lines)


@initial
def begin(given, world):
    """Fill the world with the rows and pages of `world.state`."""
    world.search.load(given)
