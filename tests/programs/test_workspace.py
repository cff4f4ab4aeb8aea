"""The workspace: pages, blocks, databases, queries, Markdown, the trash, and what is refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from support.services import value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
TASKS, SUPPLIERS = "85ff057d-07af-a724-8d5c-ab11391434b3", "5afa3539-85d2-1f08-d7da-9b7ee0b329ac"
DATABASE = "a948a15a-f90b-75da-c0a7-d24223e9cd4a"
HOME, MINUTES = "9ce5a64d-374a-9dd4-b29a-9c17e598d3b3", "97aa2048-6006-a511-15d0-6c2083ce39c9"
DESCALE, TRASHED = "c23ad7b4-75f6-761a-d6c1-1de26381027e", "aa788019-5056-20db-4010-f0156edac031"
INES, UNKNOWN = "2fe568c5-e34c-456e-da67-c5d895b58b2e", "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_workspace")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(f"API-{tool}", arguments))


def text(content: str) -> Json:
    return [{"type": "text", "text": {"content": content}}]


def block(kind: str, content: str, **more: Json) -> Json:
    return {"type": kind, kind: {"rich_text": text(content), **more}}


async def names(world: World, source: str, **query: Json) -> list[str]:
    rows = (await ask(world, "query-data-source", data_source_id=source, **query))["results"]
    return [row["properties"]["Name"]["title"][0]["plain_text"] for row in rows]


async def lines(world: World, page: str) -> list[str]:
    return (await ask(world, "retrieve-page-markdown", page_id=page))["markdown"].split("\n")


async def test_a_session_searches_reads_creates_changes_and_queries(world: World) -> None:
    found = await ask(world, "post-search", query="tasks", filter={"property": "object", "value": "data_source"})
    (source,) = found["results"]
    database = await ask(world, "retrieve-a-database", database_id=source["parent"]["database_id"])
    assert database["data_sources"] == [{"id": source["id"], "name": "Tasks"}]
    person = next(one for one in (await ask(world, "get-users"))["results"] if one["name"] == "Ines Prado")
    properties: Json = {
        "Name": {"title": text("Taste the new blend")},
        "Status": {"status": {"name": "In progress"}},
        "Assignee": {"people": [{"id": person["id"]}]},
        "Due": {"date": {"start": "2029-03-09"}},
        "Tags": {"multi_select": [{"name": "coffee"}, {"name": "tasting"}]},
        "Hours": {"number": 1.5},
    }
    parent: Json = {"database_id": database["id"]}
    made = await ask(world, "post-page", parent=parent, properties=properties, children=[block("paragraph", "At ten.")])
    assert UUID(made["id"]).version == 4
    assert made["parent"] == {"type": "data_source_id", "data_source_id": TASKS, "database_id": DATABASE}
    assert made["properties"]["ID"]["unique_id"] == {"prefix": "OSP", "number": 12}
    assert made["properties"]["Assignee"]["people"] == [person]
    (own,) = (await ask(world, "get-block-children", block_id=made["id"]))["results"]
    assert own["paragraph"]["rich_text"][0]["plain_text"] == "At ten."
    change: Json = {"Status": {"status": {"name": "Done"}}, "Due": {"date": None}}
    await ask(world, "patch-page", page_id=made["id"].replace("-", ""), properties=change)
    shown = await ask(world, "retrieve-a-page", page_id=made["id"])
    assert (shown["properties"]["Status"]["status"]["name"], shown["properties"]["Due"]["date"]) == ("Done", None)
    assert shown["properties"]["Tags"]["multi_select"][1]["name"] == "tasting"
    tagged: Json = {"property": "Tags", "multi_select": {"contains": "tasting"}}
    assert await names(world, TASKS, filter=tagged) == ["Taste the new blend"]
    options = (await ask(world, "retrieve-a-data-source", data_source_id=TASKS))["properties"]["Tags"]["multi_select"]
    assert options["options"][-1]["name"] == "tasting"


async def test_blocks_are_appended_in_order_changed_and_deleted(world: World) -> None:
    before = await ask(world, "get-block-children", block_id=MINUTES)
    first = before["results"][0]["id"]
    children = [block("to_do", "Call Bagfolk", children=[block("paragraph", "Before noon")]), block("quote", "Noted.")]
    added = await ask(world, "patch-block-children", block_id=MINUTES, children=children, after=first)
    task, quote = (one["id"] for one in added["results"])
    after = [one["id"] for one in (await ask(world, "get-block-children", block_id=MINUTES))["results"]]
    assert after[:3] == [first, task, quote]
    assert after[3:] == [one["id"] for one in before["results"][1:]]
    assert added["results"][0]["has_children"]
    checked = await ask(world, "update-a-block", block_id=task, type={"to_do": {"checked": True}})
    assert (checked["to_do"]["checked"], checked["to_do"]["rich_text"][0]["plain_text"]) == (True, "Call Bagfolk")
    await ask(world, "update-a-block", block_id=quote, quote={"rich_text": text("Decided.")})
    assert (await lines(world, MINUTES))[1:4] == ["- [x] Call Bagfolk", "\tBefore noon", "> Decided."]
    assert (await ask(world, "delete-a-block", block_id=task))["in_trash"]
    assert task not in str(await ask(world, "get-block-children", block_id=MINUTES))
    assert (await ask(world, "retrieve-a-page", page_id=MINUTES))["last_edited_time"].startswith("2029-03-01T09:00")


async def test_a_page_in_the_trash_is_found_no_more_and_comes_back(world: World) -> None:
    await ask(world, "patch-page", page_id=DESCALE, in_trash=True)
    assert "Descale the espresso machine" not in await names(world, TASKS)
    assert await names(world, TASKS, in_trash=True) == ["Descale the espresso machine"]
    assert (await ask(world, "post-search", query="descale"))["results"] == []
    assert (await ask(world, "retrieve-a-page", page_id=DESCALE))["archived"]
    refused = await ask(world, "patch-page", page_id=DESCALE, properties={"Hours": {"number": 4}})
    assert refused["message"].startswith("Can't edit block that is archived.")
    await ask(world, "patch-page", page_id=DESCALE, in_trash=False)
    assert "Descale the espresso machine" in await names(world, TASKS)


@pytest.mark.parametrize(
    ("source", "condition", "found"),
    [
        (TASKS, {"property": "Status", "status": {"equals": "In progress"}}, 3),
        (TASKS, {"property": "d07c", "status": {"does_not_equal": "Done"}}, 8),
        (TASKS, {"property": "Name", "title": {"contains": "FAIR"}}, 1),
        (TASKS, {"property": "Notes", "rich_text": {"is_not_empty": True}}, 5),
        (TASKS, {"property": "Hours", "number": {"greater_than_or_equal_to": 4}}, 4),
        (TASKS, {"property": "Due", "date": {"before": "2029-03-01"}}, 3),
        (TASKS, {"property": "Due", "date": {"next_week": {}}}, 3),
        (TASKS, {"property": "Due", "date": {"is_empty": True}}, 1),
        (TASKS, {"property": "Assignee", "people": {"contains": INES}}, 3),
        (TASKS, {"property": "Tags", "multi_select": {"does_not_contain": "machines"}}, 7),
        (TASKS, {"property": "ID", "unique_id": {"less_than": 3}}, 2),
        (TASKS, {"timestamp": "last_edited_time", "last_edited_time": {"on_or_after": "2029-02-26"}}, 3),
        (SUPPLIERS, {"property": "Certified", "checkbox": {"equals": False}}, 3),
        (SUPPLIERS, {"property": "Website", "url": {"ends_with": ".example"}}, 3),
        (SUPPLIERS, {"property": "Country", "select": {"is_empty": True}}, 0),
    ],
)
async def test_filters_select_rows(source: str, condition: Json, found: int, world: World) -> None:
    assert len(await names(world, source, filter=condition)) == found


async def test_filters_combine_and_sorts_put_empty_values_last(world: World) -> None:
    high: Json = {"property": "Priority", "select": {"equals": "High"}}
    soon: Json = {"property": "Due", "date": {"on_or_before": "2029-03-10"}}
    done: Json = {"property": "Status", "status": {"equals": "Done"}}
    sorts = [{"property": "Due", "direction": "descending"}]
    found = await names(world, TASKS, filter={"or": [{"and": [high, soon]}, done]}, sorts=sorts)
    assert found[0] == "Poster for the spring fair"
    assert found[-1] == "Repair the grinder of the shop"
    assert len(found) == 6
    assert (await names(world, TASKS, sorts=sorts))[-1] == "Photos for the web shop"
    by_priority = [{"property": "Priority", "direction": "ascending"}, {"property": "Name", "direction": "ascending"}]
    assert (await names(world, TASKS, sorts=by_priority))[0] == "Contract with Sidamo Union"


async def test_pages_are_edited_as_markdown_and_keep_the_pages_that_they_contain(world: World) -> None:
    before = await lines(world, HOME)
    assert any(line.startswith('<page url="https://www.notion.so/Handbook-') for line in before)
    change: Json = {
        "content_updates": [{"old_str": "## Start here", "new_str": "## Start **here**\n1. Read\n\t- [x] all"}]
    }
    await ask(world, "update-page-markdown", page_id=HOME, type="update_content", update_content=change)
    after = await lines(world, HOME)
    assert after[2:5] == ["## Start **here**", "1. Read", "\t- [x] all"]
    assert after[5:] == before[3:]
    wipe: Json = {"new_str": "Empty."}
    refused = await ask(world, "update-page-markdown", page_id=HOME, type="replace_content", replace_content=wipe)
    assert refused["status"] == 400
    insert: Json = {"content": "## Next\n```python\nprint(1)\n```", "after": "## Present...Salma."}
    await ask(world, "update-page-markdown", page_id=MINUTES, type="insert_content", insert_content=insert)
    assert (await lines(world, MINUTES))[2:6] == ["## Next", "```python", "print(1)", "```"]


@pytest.mark.parametrize(
    ("line", "label", "address"),
    [
        ("[see [1]](http://x.example/)", "see [1]", "http://x.example/"),
        ("[a](http://x.example/[1])", "a", "http://x.example/[1]"),
        ("[a](http://x.example/b_(c))", "a", "http://x.example/b_(c)"),
        ("[![i](p.png)](http://x.example/)", "![i](p.png)", "http://x.example/"),
    ],
)
async def test_links_may_have_brackets(line: str, label: str, address: str, world: World) -> None:
    change: Json = {"new_str": line, "allow_deleting_content": True}
    await ask(world, "update-page-markdown", page_id=MINUTES, type="replace_content", replace_content=change)
    [paragraph] = (await ask(world, "get-block-children", block_id=MINUTES))["results"]
    [piece] = paragraph["paragraph"]["rich_text"]
    assert (piece["plain_text"], piece["href"]) == (label, address)
    assert line in await lines(world, MINUTES)


@pytest.mark.time_limit(60)
async def test_lines_with_many_beginnings_of_links_are_read_once(world: World) -> None:
    for beginning in ("[", "[[", "[a](", "[a](x", "[a](x(", "[a[b]"):
        change: Json = {"new_str": beginning * 200_000}
        refused = await ask(
            world, "update-page-markdown", page_id=MINUTES, type="replace_content", replace_content=change
        )
        assert refused["status"] == 400, "the text is longer than that of a block may be"


async def test_a_page_moves_with_what_it_contains_but_not_into_itself(world: World) -> None:
    found = (await ask(world, "post-search", query="meetings"))["results"][0]
    refused = await ask(world, "move-page", page_id=found["id"], parent={"page_id": MINUTES})
    assert refused["status"] == 400
    above = {str(key): row["parent"] for kind in ("database", "data_source") for key, row in world.view.rows(kind)}
    source = next(key for key, parent in above.items() if parent in above)
    page = above[above[source]]
    refused = await ask(world, "move-page", page_id=page, parent={"data_source_id": source})
    assert refused["message"] == "A page cannot be moved into itself, or into a page that it contains."
    roasting = (await ask(world, "post-search", query="roasting"))["results"][0]
    moved = await ask(world, "move-page", page_id=found["id"], parent={"page_id": roasting["id"]})
    assert moved["parent"] == {"type": "page_id", "page_id": roasting["id"]}
    assert (await ask(world, "get-block-children", block_id=roasting["id"]))["results"][-1]["id"] == found["id"]


async def test_properties_of_a_data_source_are_added_renamed_and_removed(world: World) -> None:
    change: Json = {"Hours": {"name": "Effort"}, "Notes": None, "Budget": {"number": {"format": "euro"}}}
    shown = await ask(world, "update-a-data-source", data_source_id=TASKS, title=text("To do"), properties=change)
    assert {"Effort", "Budget"} <= shown["properties"].keys()
    assert not {"Hours", "Notes"} & shown["properties"].keys()
    page = await ask(world, "retrieve-a-page", page_id=DESCALE)
    assert (page["properties"]["Effort"]["number"], page["properties"]["Budget"]["number"]) == (2, None)
    schema: Json = {"Item": {"title": {}}, "Kind": {"select": {"options": [{"name": "Bag"}]}}}
    made = await ask(
        world, "create-a-data-source", parent={"database_id": DATABASE}, title=text("Stock"), properties=schema
    )
    assert made["properties"]["Kind"]["select"]["options"][0]["name"] == "Bag"
    row = await ask(
        world, "post-page", parent={"data_source_id": made["id"]}, properties={"Item": {"title": text("Jute")}}
    )
    assert row["properties"]["Kind"]["select"] is None


def edit(kind: str, **given: Json) -> Json:
    """Return the arguments of an edit whose parts are JSON in a text, which no schema checks."""
    return {"page_id": MINUTES, "type": kind, kind: json.dumps(given)}


TITLE: Json = {"Name": {"title": text("x")}}
MENTION: Json = {"mention": {}, "plain_text": 5}
IN_TASKS: Json = {"data_source_id": TASKS}


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("retrieve-a-page", {"page_id": UNKNOWN}, f"Could not find page with ID: {UNKNOWN}."),
        ("retrieve-a-page", {"page_id": "home"}, 'path.page_id should be a valid uuid, instead was `"home"`.'),
        ("retrieve-a-page", {"page_id": TASKS}, "Could not find page"),
        ("retrieve-a-database", {"database_id": TASKS}, "Could not find database"),
        ("query-data-source", {"data_source_id": DATABASE}, "Could not find data_source"),
        ("query-data-source", {**IN_TASKS, "page_size": 200}, "page_size should be ≤ `100`, instead was `200`."),
        ("query-data-source", {**IN_TASKS, "filter": {"property": "Cost", "number": {"equals": 1}}},
         "Could not find property"),
        ("query-data-source", {**IN_TASKS, "filter": {"property": "Status", "select": {"equals": "Done"}}},
         "database property status does not match filter select"),
        ("query-data-source", {**IN_TASKS, "filter": {"property": "Hours", "number": {"contains": 1}}},
         "body.filter.number.equals should be defined"),
        ("post-page", {"parent": {"page_id": UNKNOWN}, "properties": {}}, "Could not find page"),
        ("post-page", {"parent": {"page_id": TRASHED}, "properties": {}}, "archived"),
        ("post-page", {"parent": {}, "properties": {}}, "body.parent.page_id should be defined"),
        ("post-page", {"parent": IN_TASKS, "properties": {"Cost": {"number": 1}}},
         "Cost is not a property that exists."),
        ("post-page", {"parent": IN_TASKS, "properties": {"Hours": {"rich_text": []}}},
         "Hours is expected to be number."),
        ("post-page", {"parent": IN_TASKS, "properties": {**TITLE, "Status": {"status": {"name": "Lost"}}}},
         "Invalid status option."),
        ("post-page", {"parent": IN_TASKS, "properties": TITLE, "children": [{"type": "poem"}]},
         "body.children[0].paragraph should be defined"),
        ("post-page", {"parent": IN_TASKS}, "'properties' is a required property"),
        ("patch-page", {"page_id": DESCALE, "properties": {"Tags": {"multi_select": [{"name": "a, b"}]}}},
         "commas not allowed"),
        ("patch-page", {"page_id": DESCALE, "properties": {"Assignee": {"people": [{"id": UNKNOWN}]}}},
         "Could not find user"),
        ("patch-block-children", {"block_id": MINUTES, "children": 101 * [block("quote", "x")]},
         "≤ `100`, instead was `101`."),
        ("patch-block-children", {"block_id": MINUTES, "children": [block("quote", 2001 * "x")]},
         "≤ `2000`, instead was `2001`."),
        ("patch-block-children", {"block_id": MINUTES, "children": [], "after": UNKNOWN}, "Could not find block"),
        ("create-a-comment", {"parent": {"page_id": TRASHED}, "rich_text": text("x")}, "archived"),
        ("create-a-data-source", {"parent": {"page_id": HOME}, "properties": {"A": {"title": {}}}},
         "body.parent.database_id should be"),
        ("update-a-data-source", {**IN_TASKS, "properties": {"Name": None}}, "title property"),
        ("update-a-data-source", {**IN_TASKS, "properties": {"Notes": {"title": {}}}}, "title property"),
        ("update-a-data-source", {**IN_TASKS, "properties": {"Notes": {"name": "Due"}}}, "with the name Due"),
        ("update-a-block", {"block_id": HOME, "type": {"child_page": {"title": "x"}}}, "cannot be updated"),
        ("update-a-block", {"block_id": MINUTES, "archived": "no"}, "'no' is not of type 'boolean'"),
        ("query-data-source", {**IN_TASKS, "filter": {"property": "Name", "title": {"contains": 5}}},
         "contains should be a string"),
        ("get-user", {"user_id": UNKNOWN}, "Could not find user"),
        ("post-page", {"parent": IN_TASKS, "properties": {"Name": {"title": [MENTION]}}},
         "plain_text should be a string, instead was `5`."),
        ("update-page-markdown",
         edit("update_content", content_updates=[{"old_str": "", "new_str": "x", "replace_all_matches": True}]),
         "old_str.length should be ≥ `1`, instead was `0`."),
        ("update-page-markdown", edit("update_content", content_updates="x"), "content_updates should be an array"),
        ("update-page-markdown", edit("insert_content", content="x", after=5), "insert_content should be a string"),
        ("update-page-markdown", edit("insert_content", content="x", position="end"), "position should be an object"),
    ],
)  # fmt: skip
async def test_what_is_refused_is_an_ordinary_result_and_writes_nothing(
    tool: str, arguments: Json, error: str, world: World
) -> None:
    before = {entity: [*world.view.rows(entity)] for entity in world.view.entities()}
    answer = await ask(world, tool, **arguments)
    assert (answer["object"], answer["code"]) in {("error", "validation_error"), ("error", "object_not_found")}
    assert answer["status"] == (404 if answer["code"] == "object_not_found" else 400)
    assert error in answer["message"]
    assert {entity: [*world.view.rows(entity)] for entity in world.view.entities()} == before


async def test_a_lost_acknowledgement_leaves_a_page_that_a_query_finds() -> None:
    async with Simulator(compiled("flaky_workspace")).open() as world:
        assert not (await world.call("API-post-page", {"parent": IN_TASKS, "properties": TITLE})).ok
        assert "x" in await names(world, TASKS)


async def test_a_stale_read_does_not_know_the_newest_row_and_changes_nothing_else(tmp_path: Path) -> None:
    document = tmp_path / "stale.yaml"
    fault: Json = {"stale_read": {}, "tools": ["API-query-data-source", "API-get-users"]}
    spec: Json = {"mcp_sim": 1, "name": "stale", "tools": "workspace", "perturbations": [fault]}
    document.write_text(json.dumps(spec), encoding="utf-8")
    async with Simulator.load(document).open() as world:
        await ask(world, "post-page", parent=IN_TASKS, properties=TITLE)
        assert "x" not in await names(world, TASKS)
        await ask(world, "get-users")
        applied = [one["outcome"] for step in world.ledger.steps for one in step.get("perturbations", ())]
        assert applied == ["applied", "no_effect"]
