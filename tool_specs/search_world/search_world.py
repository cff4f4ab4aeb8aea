"""A search engine over the pages of a world, and a reader of these pages. There is no other web."""

from results import find, page_at, shown

from mcp_sim.programs import Refused, initial, tool


@tool(verb="search", entity="page")
def web_search(world, query, count=10, offset=0):
    pages = find(world, query, count, offset)
    if not pages:
        return f"No results for {query!r}. Try other words."
    return "\n\n".join(f"[{number}] {result(page, query)}" for number, page in enumerate(pages, offset + 1))


def result(page, query):
    return f"{page['url']}\nTitle: {page['title']}\nSnippet: {shown(page, query)}\nDate: {page['date'] or 'N/A'}"


@tool(verb="get", entity="page", key="url")
def web_extractor(world, url):
    page = page_at(world, url)
    if page is None:
        raise Refused(f"Failed to extract {url}: 404 Not Found")
    return page["text"]


@initial
def begin(given, world):
    """Fill the world with the rows and pages of `world.state`."""
    world.search.load(given)
