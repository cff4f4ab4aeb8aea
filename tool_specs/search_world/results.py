"""What the search tools share: which pages a query finds, and the page at an address."""

from datetime import timedelta
from urllib.parse import urlsplit

from mcp_sim.libraries.search import snippet

DATED = len("2029-03-01")
AGES = {"day": 1, "week": 7, "month": 31, "year": 366}
"""Days of each time range that a search may be limited to."""


def site_of(url):
    return urlsplit(url).netloc.removeprefix("www.")


def find(world, query, count, first=0, sites=(), without=(), since="", until="", phrase=""):
    """Return the pages that a query finds: of these sites, dated within these days, and with this phrase."""

    def accepts(page):
        site, date = site_of(page["url"]), page["date"][:DATED]
        return (
            page["status"] == 200
            and (not sites or any(site == name or site.endswith(f".{name}") for name in sites))
            and not any(site == name or site.endswith(f".{name}") for name in without)
            and (not since or (bool(date) and date >= since))
            and (not until or (bool(date) and date <= until))
            and phrase.casefold() in f"{page['title']}\n{page['text']}".casefold()
        )

    return world.search.find(query, first=first, count=count, accepts=accepts)


def since_range(world, name):
    """Return the first day of a time range that ends now; '' without one."""
    return (world.now - timedelta(days=AGES[name])).date().isoformat() if name in AGES else ""


def page_at(world, url):
    """Return the page at an address, also without the fragment or a closing slash; None if there is none."""
    plain = url.partition("#")[0]
    page = world.page.get(url) or world.page.get(plain) or world.page.get(plain.rstrip("/"))
    return page if page and page["status"] == 200 else None


def shown(page, query, length=300):
    return snippet(page, query, length)
