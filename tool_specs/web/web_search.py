"""A simulated search engine of an open web: every question finds pages, and the same question the same ones."""

import re

from pages import all_words, chance_of, found_pages

from mcp_sim.programs import Refused, initial, tool

tables = {
    "business": {
        "natural": True,
        "fields": {"id": "", "name": "", "address": "", "phone": "", "rating": 4.0, "reviews": 0, "price": "",
                   "hours": [], "description": "", "computed": False},
    },
}  # fmt: skip

OWNERS = ("Old Town", "Corner", "Riverside", "Central", "Green Door", "Harbour", "Little", "Station", "Garden", "Royal")
STREETS = ("Station Street", "Mill Lane", "Harbour Road", "Market Square", "Linden Avenue", "Bridge Street")
DAYS = "Monday - Friday"
MOST_WORDS, MOST_CHARACTERS = 50, 400


def check(query):
    if len(query) > MOST_CHARACTERS or len(query.split()) > MOST_WORDS or not all_words(query):
        raise Refused(
            'Error: Brave API error: 422 Unprocessable Content\n{"error":{"code":"VALIDATION",'
            '"detail":"Unable to validate request parameter(s)","status":422},"type":"ErrorResponse"}'
        )


@tool(verb="search", entity="page")
def brave_web_search(world, query, count=10, offset=0):
    check(query)
    count = max(1, min(int(count), 20))
    first = count * max(0, min(int(offset), 9))
    pages = found_pages(world, query, first, count)
    return "\n\n".join(
        f"Title: {page['title']}\nDescription: {page['description']}\nURL: {page['url']}" for page in pages
    )


@tool(verb="search", entity="business")
def brave_local_search(world, query, count=5):
    check(query)
    count = max(1, min(int(count), 20))
    rows = [row for row in world.business.find(computed=False) if {*all_words(row["name"])} & {*all_words(query)}]
    rows += [business(world.business, query, number) for number in range(count - len(rows))]
    return "\n---\n".join(map(shown, rows[:count]))


def business(businesses, query, number):
    """Return the business that a question finds at a place of the list."""
    key = f"{'-'.join(all_words(query))}-{number}"
    return businesses.get(key) or businesses.add(new_business(query, number), id=key, computed=True)


def new_business(query, number):
    what, _, where = query.partition(" near ") if " near " in query else query.partition(" in ")
    chance = chance_of(f"local {' '.join(all_words(query))} {number}")
    kind = re.sub(r"^(best|good|cheap|nearest)\s+", "", what.strip(), flags=re.IGNORECASE)
    opens, closes = chance.randrange(7, 11), chance.randrange(17, 23)
    street = f"{chance.randrange(1, 200)} {chance.choice(STREETS)}"
    return {
        "name": f"{OWNERS[(number + chance.randrange(3) * 3) % len(OWNERS)]} {kind}".title(),
        "address": f"{street}, {where.strip().title()}" if where.strip() else street,
        "phone": f"({chance.randrange(200, 999)}) 555-01{chance.randrange(100):02d}",
        "rating": round(3.2 + 1.7 * chance.random(), 1),
        "reviews": chance.randrange(8, 900),
        "price": chance.choice(("$", "$$", "$$$")),
        "hours": [f"{DAYS} {opens:02d}:00 - {closes:02d}:00"],
        "description": chance.choice(("Family-run, with friendly staff.", "Popular with locals.", "Busy on weekends.")),
    }


def shown(row):
    return (
        f"Name: {row['name']}\nAddress: {row['address'] or 'N/A'}\nPhone: {row['phone'] or 'N/A'}\n"
        f"Rating: {row['rating']} ({row['reviews']} reviews)\nPrice Range: {row['price'] or 'N/A'}\n"
        f"Hours: {', '.join(row['hours']) or 'N/A'}\n"
        f"Description: {row['description'] or 'No description available'}\n"
    )


@initial
def begin(given, world):
    """Fill the world with the pages of `world.state`: `pages` maps addresses to texts."""
    world.search.load(given)
