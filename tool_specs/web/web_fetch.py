"""A simulated web to fetch from: every address has a page, unless the scenario says otherwise."""

import re
from urllib.parse import urljoin, urlsplit

from pages import page_at

from mcp_sim.programs import Refused, initial, invalid_arguments, tool
from mcp_sim.programs.helpers import pydantic_line, pydantic_refused

TYPES = {
    "url": (str, "URL input should be a string or URL", "url_type"),
    "max_length": (int, "Input should be a valid integer", "int_type"),
    "start_index": (int, "Input should be a valid integer", "int_type"),
    "raw": (bool, "Input should be a valid boolean", "bool_type"),
}
ADDRESS = re.compile(r"(\w+):/*([^/?#]+)([^?#]*)(.*)", re.DOTALL)
BOUNDS = {"max_length": (1, 999_999), "start_index": (0, None)}


@tool(verb="get", entity="page", key="url")
def fetch(world, url, max_length=5000, start_index=0, raw=False):
    check({"url": url, "max_length": max_length, "start_index": start_index, "raw": raw})
    scheme, host, path, rest = ADDRESS.match(url).groups()
    site = re.sub(r"^(http://.*):80$|^(https://.*):443$", r"\1\2", f"{scheme}://{host}".lower())
    if scheme.lower() not in {"http", "https"}:
        raise failure(f"Failed to fetch robots.txt {site}/robots.txt due to a connection issue")
    address = urljoin(site, f"/.{path or '/'}{rest}")  # without dots
    page = page_at(world.page, address)
    if page["status"] >= 400:
        raise failure(f"Failed to fetch {address} - status code {page['status']}")
    is_shown_as_it_is = raw or not page["type"].startswith("text/html")
    note = f"Content type {page['type']} cannot be simplified to markdown, but here is the raw content:\n"
    text = source(page) if is_shown_as_it_is else page["text"]
    return f"{note if is_shown_as_it_is else ''}Contents of {address}:\n{part(text, start_index, max_length)}"


def part(text, start, length):
    """Return a part of a text, with a note if it is not the last one."""
    end = start + length
    if start >= len(text):
        return "<error>No more content available.</error>"
    more = f"Content truncated. Call the fetch tool with a start_index of {end} to get more content."
    return text[start:end] + (f"\n\n<error>{more}</error>" if end < len(text) else "")


def source(page):
    """Return a page as its server sends it."""
    if page["html"] or not page["type"].startswith("text/html"):
        return page["html"] or page["text"]
    blocks = [block for block in page["text"].split("\n\n") if block.strip()]
    body = "\n".join(
        f"<h2>{block.lstrip('# ')}</h2>" if block.startswith("#") else f"<p>{block}</p>" for block in blocks
    )
    return f"<!doctype html>\n<html><head><title>{page['title']}</title></head>\n<body>\n{body}\n</body></html>\n"


def failure(text):
    return Refused(f"Error executing tool fetch: {text}")


@invalid_arguments
def refuse(_world, _tool, arguments, problems):
    check(arguments)
    return failure("; ".join(problems))


def check(arguments):
    """Refuse arguments that the server does not take, in the words of pydantic."""
    lines = []
    for name in TYPES:
        if name in arguments or name == "url":
            lines += complaint(name, arguments)
    if lines:
        raise pydantic_refused("fetch", lines)


def complaint(name, arguments):
    """Return why an argument is refused: no text, or one."""
    if name not in arguments:
        return [pydantic_line(name, "Field required", "missing", dict(arguments))]
    value, (expected, text, kind) = arguments[name], TYPES[name]
    least, most = BOUNDS.get(name, (None, None))
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        return [pydantic_line(name, text, kind, value)]
    if least is not None and value < least:
        return [pydantic_line(name, f"Input should be greater than or equal to {least}", "greater_than_equal", value)]
    if most is not None and value > most:
        return [pydantic_line(name, f"Input should be less than or equal to {most}", "less_than_equal", value)]
    why = flaw(value) if name == "url" else ""
    return [pydantic_line(name, f"Input should be a valid URL, {why}", "url_parsing", value)] if why else []


def flaw(url):
    """Return why a text is not an address; an empty text for an address."""
    match = ADDRESS.match(url)
    if not match:
        return "empty host" if re.match(r"\w+:", url) else "relative URL without a base" if url else "input is empty"
    host = match[2].rpartition("@")[2]
    try:
        urlsplit(f"//{host}")
    except ValueError:
        return "invalid IPv6 address" if host.startswith("[") else "invalid international domain name"
    return ""


@initial
def begin(given, world):
    """Fill the world with the pages of `world.state`: `pages` maps addresses to texts."""
    world.search.load(given)
