"""Full-text search over tables, and pages that are made from rows."""

from __future__ import annotations

from typing import Any

import pytest
from support.library_stores import Written, new_store

from mcp_sim.libraries.search import PageError, Search, snippet
from mcp_sim.types import Change

STATE: Any = {
    "rows": {
        "town": [{"id": "t1", "name": "Ravenmoor", "founded": 1290}, {"id": "t2", "name": "Sele"}],
        "lighthouse": [
            {"id": "l1", "name": "Ravenmoor Head", "town": "t1", "built": 1871, "architect": "Ada Kern"},
            {"id": "l2", "name": "Old Rock", "town": "t1", "built": 1290, "architect": "Ib Moe"},
        ],
    },
    "links": {"lighthouse.town": "town"},
    "withhold": {"snippet": ["lighthouse.built", "lighthouse.architect"]},
    "templates": [
        {
            "about": "town",
            "url": "https://encyclo.example/{name:slug}",
            "title": "{name}",
            "text": ["{name} was founded in {founded}.", "Lights of {name}: {lighthouse.name}."],
        },
        {
            "about": "lighthouse",
            "url": "https://lights.example/{name:slug}",
            "title": "{name} lighthouse",
            "date": "2028-04-05",
            "text": ["The light at {name} is near {town.name}. It was built in {built} by {architect}."],
        },
    ],
}
HEAD = "https://lights.example/ravenmoor-head"


def loaded(state: Any = STATE) -> Search:
    search = Search(new_store())
    search.load(state)
    return search


def urls(search: Search, query: str, **options: Any) -> list[str]:
    return [page["url"] for page in search.find(query, **options)]


def test_pages_are_found_by_their_words_and_inflections() -> None:
    search = loaded()
    assert HEAD in urls(search, "Which lights does Ravenmoor have?")
    assert urls(search, "founding") == ["https://encyclo.example/ravenmoor"], "a sentence without its value is left out"
    assert urls(search, "") == urls(search, "?!") == urls(search, "zithers") == []
    assert urls(search, "light", first=1, count=1) != urls(search, "light", count=1)
    assert urls(search, 'zither" OR * NOT(') == [], "a query is words, not FTS5 syntax"


def test_the_index_follows_writes_and_each_view() -> None:
    store = new_store()
    search = Search(store)
    search.load(STATE)
    writer = store.writer
    assert isinstance(writer, Written)
    before = writer.view
    page: Any = store.get("page", HEAD)
    store.put("page", HEAD, {**page, "title": "Closed", "text": "A museum of zithers."})
    assert urls(search, "zithers") == [HEAD]
    store.remove("page", HEAD)
    assert urls(search, "zithers") == []
    writer.view = before.after([Change("put", "page", "https://x.example", {**page, "url": "https://x.example"})])
    assert urls(search, "ada kern") == [HEAD, "https://x.example"]


def test_withheld_facts_are_in_the_page_alone() -> None:
    search = loaded()
    page = next(page for page in search.find("Ravenmoor Head") if page["url"] == HEAD)
    assert "1871 by Ada Kern" in page["text"]
    for query in ("when was Ravenmoor Head built", "1871", "Ada Kern", "architect"):
        shown = [snippet(page, query) for page in search.find(query)]
        assert not any("1871" in text or "Kern" in text for text in shown)
    town = search.find("Ravenmoor founded")[0]
    assert "1290" not in snippet(town, "founded"), "the year of a light that the page mentions"


LEAKS = {
    "url": "https://lights.example/{built}/{name:slug}",
    "title": "{name}, by {architect:upper}",
    "date": "{built}-04-05",
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_page_that_shows_withheld_facts_in_its_head_is_refused_with_its_place(name: str) -> None:
    templates = [STATE["templates"][0], {**STATE["templates"][1], name: LEAKS[name]}]
    with pytest.raises(PageError, match=rf"world\.state\.templates\[1\]\.{name}: shows .* of lighthouse l1"):
        loaded({**STATE, "templates": templates})


ODD: list[tuple[dict[str, Any], str]] = [
    ({"rows": {"town": [{"name": "Sele"}]}}, r"rows\.town: expected a list of objects with an `id`"),
    ({"links": {"lighthouse.town": "city"}}, r"links\.lighthouse\.town: expected a table of rows, got 'city'"),
    ({"withhold": {"snippet": ["height"]}}, r"withhold\.snippet: expected TABLE\.FIELD of `rows`, got 'height'"),
    ({"withhold": {"snipet": []}}, r"withhold: unknown key 'snipet'; expected 'snippet'"),
    ({"withhold": {"snippet": ["town.height"]}}, r"withhold\.snippet: no row of town has a field 'height'"),
    ({"links": {"lighthouse.twn": "town"}}, r"links\.lighthouse\.twn: no row of lighthouse has a field 'twn'"),
    (
        {"rows": {**STATE["rows"], "town": [{"id": "t3", "name": "Ebb", "founded": 1}]}},
        r"rows\.lighthouse: l1\.town: no row of town has id 't1'",
    ),
    ({"templates": [{"about": "town", "url": "u/{id}", "text": "{lighthouse.heigt}"}]}, r"\[0\]\.text: .* 'heigt'"),
    ({"templates": [{"about": "town", "url": "u/{id}", "text": "{lights.name}"}]}, r"'lights' is not a link of town"),
    ({"templates": [{"about": "town", "titel": "{name}"}]}, r"\[0\]: unknown key 'titel'; did you mean 'title'"),
    ({"texts": {"https://none.example": "x"}}, r"texts: no template makes a page https://none\.example"),
    ({"templates": [{"about": "ship"}]}, r"templates\[0\]\.about: expected a table of rows, got 'ship'"),
    ({"templates": [{"about": "town"}]}, r"templates\[0\]: expected `url` and `text`"),
    ({"pages": {"https://x.example": {"status": "gone"}}}, r"pages: expected a number as the status of https://x"),
]


@pytest.mark.parametrize(("odd", "message"), ODD)
def test_an_odd_state_is_refused_with_its_place(odd: dict[str, Any], message: str) -> None:
    with pytest.raises(PageError, match=message):
        loaded({**STATE, **odd})
