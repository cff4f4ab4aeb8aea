"""A simulated web to fetch from: every address has a page, unless the scenario says otherwise."""

from web_pages import described, page_of

from mcp_sim.programs import Refused, initial, tool

tables = {
    "page": {
        "key": "url", "natural": True,
        "fields": {"url": "", "title": "", "description": "", "text": "", "status": 200},
    },
}  # fmt: skip


@tool(verb="get", entity="page", key="url")
def fetch(world, url, max_length=5000, start_index=0, raw=False):
    page = world.page.get(url) or world.page.get(url.rstrip("/")) or page_of(url)
    if page["status"] >= 400:
        raise Refused(f"Failed to fetch {url} - status code {page['status']}")
    text = source(page) if raw else page["text"]
    start, length = int(start_index), int(max_length)
    part = text[start : start + length]
    if not part:
        return f"Contents of {url}:\n<error>No more content available.</error>"
    end = start + len(part)
    more = f"Content truncated. Call the fetch tool with a start_index of {end} to get more content."
    prefix = (
        "Content type text/html; charset=utf-8 cannot be simplified to markdown, but here is the raw content:\n"
        if raw
        else ""
    )
    return f"{prefix}Contents of {url}:\n{part}" + (f"\n\n<error>{more}</error>" if end < len(text) else "")


def source(page):
    """Return a page as HTML."""
    blocks = [block for block in page["text"].split("\n\n") if block.strip()]
    body = "\n".join(f"<h2>{one.lstrip('# ')}</h2>" if one.startswith("#") else f"<p>{one}</p>" for one in blocks)
    return f"<!doctype html>\n<html><head><title>{page['title']}</title></head>\n<body>\n{body}\n</body></html>\n"


@initial
def begin(given, world):
    """Fill the world with the pages of `world.state`: `pages` maps addresses to texts."""
    for page in described(given):
        world.page.add(page)
