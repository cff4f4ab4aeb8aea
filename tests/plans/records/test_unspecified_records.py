"""Records that nothing gives, counts or declares: what calls ask for is generated, unless earlier calls rule it out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from support.given import INTEGER, STRING, refused, tool, value

from mcp_sim import Simulator
from mcp_sim.server.call_log import step_lines
from mcp_sim.world.commits import replayed
from mcp_sim.world.trace import step_from_json
from mcp_sim.world.world import World

STATE = {"type": "string", "enum": ["open", "closed"]}
LABELS = {"type": "array", "items": STRING}
REPOSITORY = ("owner", "repo")
TRACKER = [
    tool("list_issues", *REPOSITORY, state=STATE, labels=LABELS, about="List the issues of a repository"),
    tool("get_issue", *REPOSITORY, "issue_number", issue_number=INTEGER, about="Get an issue"),
    tool("create_issue", *REPOSITORY, "title", body=STRING, labels=LABELS, about="Create an issue"),
    tool("update_issue", *REPOSITORY, "issue_number", issue_number=INTEGER, state=STATE, about="Update an issue"),
    tool("delete_issue", *REPOSITORY, "issue_number", issue_number=INTEGER, about="Delete an issue"),
    tool("search_issues", "query", about="Search issues"),
    tool("add_issue_comment", *REPOSITORY, "issue_number", "body", issue_number=INTEGER, about="Comment on an issue"),
    tool("list_issue_comments", *REPOSITORY, "issue_number", issue_number=INTEGER, about="List comments"),
]
PLANNER = [
    tool("list_projects", about="List all projects"),
    tool("get_project", "project_id", about="Get a project"),
    tool("create_project", "name", about="Create a project"),
    tool("list_tasks", "project_id", status=STRING, tags=LABELS, about="List the tasks of a project"),
    tool("search_tasks", "query", about="Search tasks"),
    tool("create_task", "project_id", "title", status=STRING, tags=LABELS, about="Create a task"),
    tool("delete_task", "task_id", about="Delete a task"),
]
HERE = {"owner": "acme", "repo": "app"}


def service(folder: Path, tools: list[dict[str, Any]], world: dict[str, Any] | None = None) -> Simulator:
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    scenario = {"mcp_sim": 1, "tools": "tools.json", "world": world or {}}
    (folder / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    return Simulator.load(folder / "scenario.yaml")


async def rows(world: World, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    shown = value(await world.call(tool, arguments))
    parts: list[Any] = [shown] if isinstance(shown, list) else [*shown.values()]
    return next(cast("list[dict[str, Any]]", part) for part in parts if isinstance(part, list))


async def test_a_container_that_a_call_names_has_records_that_stay_the_same(tmp_path: Path) -> None:
    async with service(tmp_path, TRACKER).open() as world:
        issues = await rows(world, "list_issues", **HERE)
        assert len(issues) > 1
        assert {(issue["owner"], issue["repo"]) for issue in issues} == {("acme", "app")}
        assert await rows(world, "list_issues", **HERE) == issues
        for issue in issues:
            assert value(await world.call("get_issue", {**HERE, "issue_number": issue["issue_number"]})) == issue
        assert [issue["created_at"] for issue in issues] == sorted(issue["created_at"] for issue in issues)
        elsewhere = await rows(world, "list_issues", owner="zen", repo="lib")
        assert {(issue["owner"], issue["repo"]) for issue in elsewhere} == {("zen", "lib")}
        assert await rows(world, "list_issues", **HERE) == issues


async def test_a_get_in_a_new_container_shows_what_was_asked_among_others(tmp_path: Path) -> None:
    async with service(tmp_path, TRACKER).open() as world:
        asked = {**HERE, "issue_number": 42}
        issue = value(await world.call("get_issue", asked))
        assert issue.items() >= asked.items()
        assert value(await world.call("get_issue", asked)) == issue
        issues = await rows(world, "list_issues", **HERE)
        assert issue in issues
        assert len(issues) > 1
        made = value(await world.call("create_issue", {**HERE, "title": "Crash"}))
        assert made["issue_number"] not in {one["issue_number"] for one in issues}


async def test_a_number_that_was_not_issued_yet_does_not_exist_in_a_known_container(tmp_path: Path) -> None:
    async with service(tmp_path, TRACKER).open() as world:
        numbers = [one["issue_number"] for one in await rows(world, "list_issues", **HERE)]
        assert refused(await world.call("get_issue", {**HERE, "issue_number": max(numbers) + 1}))
        made = value(await world.call("create_issue", {**HERE, "title": "Crash"}))
        assert value(await world.call("get_issue", {**HERE, "issue_number": made["issue_number"]})) == made


async def test_lists_agree_with_the_writes_of_the_agent(tmp_path: Path) -> None:
    async with service(tmp_path, TRACKER).open() as world:
        made = value(await world.call("create_issue", {**HERE, "title": "Crash", "labels": ["zebra"]}))
        assert await rows(world, "list_issues", **HERE, labels=["zebra"]) == [made]
        assert await rows(world, "list_issues", **HERE, labels=["okapi"]) == []
        for issue in await rows(world, "list_issues", **HERE, state="open"):
            value(await world.call("update_issue", {**HERE, "issue_number": issue["issue_number"], "state": "closed"}))
        assert await rows(world, "list_issues", **HERE, state="open") == []
        value(await world.call("delete_issue", {**HERE, "issue_number": made["issue_number"]}))
        assert await rows(world, "list_issues", **HERE, labels=["zebra"]) == []
        assert await rows(world, "search_issues", query="Crash") == []
        assert refused(await world.call("get_issue", {**HERE, "issue_number": made["issue_number"]}))
        assert await rows(world, "list_issues", owner="zen", repo="lib")


async def test_a_new_record_contains_no_generated_ones(tmp_path: Path) -> None:
    async with service(tmp_path, TRACKER).open() as world:
        made = value(await world.call("create_issue", {**HERE, "title": "Crash"}))
        assert await rows(world, "list_issue_comments", **HERE, issue_number=made["issue_number"]) == []
        assert await rows(world, "list_issue_comments", **HERE, issue_number=made["issue_number"] + 1)
    async with service(tmp_path, PLANNER).open() as world:
        project = value(await world.call("create_project", {"name": "Move"}))
        assert await rows(world, "list_tasks", project_id=project["id"]) == []
        assert await rows(world, "list_tasks", project_id="project_00001")


async def test_a_search_finds_matches_that_later_calls_agree_with(tmp_path: Path) -> None:
    async with service(tmp_path, [*PLANNER[:2], *PLANNER[3:5]]).open() as world:
        found = await rows(world, "search_tasks", query="unicorn parade")
        assert found
        assert all("unicorn parade" in json.dumps(task).lower() for task in found)
        assert await rows(world, "search_tasks", query="unicorn parade") == found
        for task in found:
            assert task in await rows(world, "list_tasks", project_id=task["project_id"])


REFERENCES = ["customer_reference", "email", "title", "slug", "external_id", "serial_number", "iban"]


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("tool_name", ["list_orders", "search_orders", "get_orders", "find_order"])
@pytest.mark.parametrize("is_required", [False, True])
async def test_a_filter_invents_no_record_that_tools_create(
    tmp_path: Path, reference: str, tool_name: str, is_required: bool
) -> None:
    asks = tool(tool_name, *([reference] if is_required else []))
    asks["inputSchema"]["properties"][reference] = STRING
    tools = [tool("create_order", reference, "total"), tool("get_order", "order_id"), asks]
    async with service(tmp_path, tools).open() as world:
        before = world.view.count("order")
        answer = await world.call(tool_name, {reference: "PO-2030-0147"})
        assert refused(answer) or "PO-2030-0147" not in json.dumps(value(answer))
        assert world.view.count("order") == before
        value(await world.call("create_order", {reference: "PO-2030-0147", "total": "7"}))
        assert "PO-2030-0147" in json.dumps(value(await world.call(tool_name, {reference: "PO-2030-0147"})))


@pytest.mark.parametrize(("parent", "record"), [("owner", "dog"), ("customer", "invoice"), ("site", "alarm")])
@pytest.mark.parametrize("is_required", [False, True])
async def test_an_unknown_parent_has_no_records_that_tools_create(
    tmp_path: Path, parent: str, record: str, is_required: bool
) -> None:
    key = f"{parent}_id"
    arguments: Any = {key: STRING}
    asks = tool(f"list_{record}s", *([key] if is_required else []), **arguments)
    tools = [tool(f"create_{record}", key, "name"), tool(f"get_{parent}", key), tool(f"get_{record}", f"{record}_id")]
    async with service(tmp_path, [*tools, asks]).open() as world:
        assert await rows(world, f"list_{record}s", **{key: "zz-99"}) == []
        created = value(await world.call(f"create_{record}", {key: "zz-99", "name": "Rex"}))
        assert [row["name"] for row in await rows(world, f"list_{record}s", **{key: "zz-99"})] == [created["name"]]


async def test_worlds_of_one_seed_generate_the_same(tmp_path: Path) -> None:
    async with service(tmp_path, TRACKER) as simulator:
        found = [
            await rows(simulator.world(str(at), seed=seed), "list_issues", **HERE) for at, seed in enumerate((1, 1, 2))
        ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    "world",
    [{"records": {"issue": 4}}, {"records": {"issue": 0}}, {"state": {"issues": []}},
     {"state": {"issues": [{"issue_number": 1, "owner": "acme", "repo": "app", "title": "Crash"}]}}],
)  # fmt: skip
async def test_records_that_are_given_or_counted_are_all_there_are(tmp_path: Path, world: dict[str, Any]) -> None:
    async with service(tmp_path, TRACKER, world).open() as opened:
        before = opened.view.count("issue")
        assert await rows(opened, "list_issues", owner="zen", repo="lib") == []
        assert await rows(opened, "search_issues", query="unicorn parade") == []
        assert refused(await opened.call("get_issue", {**HERE, "issue_number": 4711}))
        assert opened.view.count("issue") == before


async def test_a_list_of_an_unknown_container_is_refused_as_its_get_is(tmp_path: Path) -> None:
    async with service(tmp_path, PLANNER).open() as world:
        assert refused(await world.call("get_project", {"project_id": "project_99999"}))
        assert refused(await world.call("list_tasks", {"project_id": "project_99999"}))
        assert not refused(await world.call("list_tasks", {"project_id": "project_00002"}))


async def test_a_caller_may_name_a_record_of_its_own(tmp_path: Path) -> None:
    tools = [
        tool("list_calendars", about="List all calendars"),
        tool("list_events", "calendar_id", about="List the events of a calendar"),
        tool("create_event", "calendar_id", "title", about="Create an event"),
    ]
    async with service(tmp_path, tools).open() as world:
        made = value(await world.call("create_event", {"calendar_id": "primary", "title": "Lunch"}))
        assert made in await rows(world, "list_events", calendar_id="primary")
        assert "primary" in [calendar["id"] for calendar in await rows(world, "list_calendars")]


async def test_counted_parents_are_closed_to_creates_and_deletes(tmp_path: Path) -> None:
    tools = [*PLANNER, tool("delete_project", "project_id", about="Delete a project")]
    tools.append(tool("update_task", "task_id", title=STRING, about="Update a task"))
    async with service(tmp_path, tools, {"records": {"project": 2, "task": 9}}).open() as world:
        _, task = next(iter(world.view.rows("task")))
        assert refused(await world.call("create_task", {"project_id": "unknown", "title": "Mow"}))
        assert refused(await world.call("delete_project", {"project_id": task["project_id"]}))
        assert world.view.count("project") == 2


async def test_what_only_a_name_links_to_a_record_goes_with_it(tmp_path: Path) -> None:
    tools = [*PLANNER, tool("delete_project", "project_id", about="Delete a project")]
    async with service(tmp_path, tools).open() as world:
        project = value(await world.call("create_project", {"name": "Garden"}))["id"]
        task = value(await world.call("create_task", {"project_id": project, "title": "Mow"}))["id"]
        value(await world.call("delete_project", {"project_id": project}))
        assert world.view.get("task", task) is None


async def test_a_parent_that_a_create_names_exists_afterwards_where_no_tool_creates_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    removal = tool("delete_project", "project_id", about="Delete a project")
    tools = [removal, *(tool for tool in PLANNER if tool["name"] != "create_project")]
    async with service(tmp_path, tools).open() as world:
        value(await world.call("create_task", {"project_id": "proj_777", "title": "Mow"}))
        assert value(await world.call("get_project", {"project_id": "proj_777"}))["id"] == "proj_777"
        assert "R5" not in caplog.text
        value(await world.call("delete_project", {"project_id": "proj_777"}))
        assert refused(await world.call("create_task", {"project_id": "proj_777", "title": "Mow"}))
    async with service(tmp_path, PLANNER).open() as world:
        assert refused(await world.call("create_task", {"project_id": "proj_777", "title": "Mow"}))


SITES = [
    tool("get_site", "site_id", about="Get a site"),
    tool("list_site_servers", "site_id", about="List the servers of a site"),
]


async def test_what_another_actor_asks_for_is_not_new(tmp_path: Path) -> None:
    acme: dict[str, Any] = {"site_id": "acme"}
    async with service(tmp_path, SITES).open() as world, service(tmp_path, SITES).open() as other:
        shown = await world.act("get_site", acme, "ops")
        event = world.ledger.steps[-1]
        assert (event["committed"], [change["key"] for change in event["absorbed"]]) == ([], ["acme"])
        assert step_lines(step_from_json(event)) == ["ops changed nothing"]
        assert (await world.call("get_site", acme)).body == shown.body
        assert world.ledger.steps[-1]["absorbed"] == []
        assert replayed(world.origin.first.state, world.ledger.steps).get("site", "acme") is not None
        assert await rows(world, "list_site_servers", **acme) == await rows(other, "list_site_servers", **acme) != []


@pytest.mark.parametrize("asked", ["2029-03-04", "2029-03", "2029"])
@pytest.mark.parametrize(("noun", "time"), [("event", "start"), ("race", "starts_at"), ("lecture", "start_time")])
async def test_records_of_a_day_or_month_are_generated_in_it(tmp_path: Path, noun: str, time: str, asked: str) -> None:
    moment = {"type": "string", "format": "date-time"}
    row = {"type": "object", "properties": {"id": STRING, "title": STRING, time: moment}, "required": ["id", time]}
    shown = {"type": "object", "properties": {f"{noun}s": {"type": "array", "items": row}}, "required": [f"{noun}s"]}
    listed = {**tool(f"list_{noun}s", "date"), "outputSchema": shown}
    async with service(tmp_path, [listed]) as sim, sim.open() as world:
        held = value(await world.call(f"list_{noun}s", {"date": asked}))[f"{noun}s"]
        assert held
        assert all(record[time].startswith(asked) for record in held)
