"""The tools of a public search server, Exa, over the pages of a world."""

from results import find, page_at, shown

from mcp_sim.programs import Refused, initial, tool

BETWEEN = "\n\n---\n\n"


@tool(verb="search", entity="page")
def web_search_exa(world, query, numResults=10):
    pages = find(world, query, int(numResults))
    if not pages:
        return "No search results found. Please try a different query."
    return BETWEEN.join(f"{head(page)}\nHighlights:\n{shown(page, query, 500)}" for page in pages)


@tool(verb="get", entity="page", key="urls")
def web_fetch_exa(world, urls, maxCharacters=3000):
    pages = [(url, page_at(world, url)) for url in urls]
    if all(page is None for _, page in pages):
        raise Refused("\n".join(f"Error fetching {url}: CRAWL_NOT_FOUND" for url in urls))
    return BETWEEN.join(read(url, page, int(maxCharacters)) for url, page in pages)


def read(url, page, characters):
    return f"Error fetching {url}: CRAWL_NOT_FOUND" if page is None else f"{head(page)}\n\n{page['text'][:characters]}"


def head(page):
    return f"Title: {page['title']}\nURL: {page['url']}\nPublished: {page['date'] or 'N/A'}\nAuthor: N/A"


@initial
def begin(given, world):
    """Fill the world with the rows and pages of `world.state`."""
    world.search.load(given)
