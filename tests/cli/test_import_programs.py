"""`mcp-sim import` of servers whose tools a shipped program answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.places import ROOT
from support.services import value as value_of
from support.specs_made import has_no_errors, value
from support.vendors import PLANNED_SPECS, PROGRAM_SPECS, compiled

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.simulator.compile import check, checked, load
from mcp_sim.types import Observation, Record
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Scenario

MAPS: list[dict[str, Any]] = json.loads((ROOT / "tool_specs/maps/maps.tools.json").read_text(encoding="utf-8"))["tools"]
EXTRA = {
    "name": "list_trips",
    "description": "Lists the saved trips.",
    "inputSchema": {"type": "object", "properties": {"limit": {"type": "integer"}}},
}


def vendors_list() -> list[dict[str, Any]]:
    """Return a list of a vendor: without one tool of the program, with one of its own, in its own words."""
    kept = [tool for tool in MAPS if tool["name"] != "maps_elevation"]
    return [{**tool, "description": f"The vendor's words about {tool['name']}."} for tool in kept] + [EXTRA]


def imported(here: Path, tools: list[dict[str, Any]], *options: str) -> Path:
    (here / "atlas.json").write_text(json.dumps(tools), encoding="utf-8")
    assert main(["import", "tools", *options, "atlas.json"]) == 0
    return here / "atlas.yaml"


async def answers(scenario: Scenario, calls: list[tuple[str, Record]]) -> list[Observation]:
    async with Simulator(scenario).open() as world:
        return [await world.call(tool, arguments) for tool, arguments in calls]


def test_a_recognised_server_has_its_own_list_and_the_answers_of_the_shipped_program(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = imported(here, vendors_list())
    assert "  the shipped program maps answers 6 of them" in capsys.readouterr().out
    assert value(spec)["program"] == "maps"
    assert has_no_errors(spec)
    scenario = load(spec)
    assert [tool.definition for tool in scenario.domain.tools.values()] == vendors_list()
    assert {name for name, plan in scenario.domain.plans.items() if plan.backend == "program"} == {
        tool["name"] for tool in vendors_list()
    } - {"list_trips"}
    way = ("maps_directions", {"origin": "Paris", "destination": "Lyon"})
    calls: list[tuple[str, Record]] = [way, way, ("list_trips", {"limit": 3}), ("maps_elevation", {"locations": []})]
    once, twice, trips, unknown = anyio.run(answers, scenario, calls)
    assert once.body == twice.body
    assert "steps" in str(once.body)
    assert trips.ok
    assert not unknown.ok


def test_a_tool_with_other_arguments_keeps_its_plan(here: Path) -> None:
    tools = vendors_list()
    tools[0] = {
        "name": "maps_geocode",
        "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    }
    spec = imported(here, tools)
    assert load(spec).domain.plans["maps_geocode"].backend != "program"
    messages = [problem.message for problem in check([spec])]
    assert "maps_geocode keeps its plan: the program of maps needs 'address'" in messages
    assert "maps_geocode keeps its plan: the program of maps does not take 'q'" in messages


def test_without_a_program_if_asked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "program" not in value(imported(here, vendors_list(), "--no-program"))
    assert "program" not in capsys.readouterr().out


def test_a_later_import_keeps_the_decision_of_the_user(here: Path) -> None:
    spec = imported(here, vendors_list())
    spec.write_text(spec.read_text(encoding="utf-8").replace("program: maps\n", ""), encoding="utf-8")
    assert "program" not in value(imported(here, vendors_list()))


@pytest.mark.parametrize("name", ["maps", "web_search"])
def test_a_larger_server_with_all_tools_of_a_program_is_recognised(name: str, here: Path) -> None:
    others = [{**EXTRA, "name": f"list_trips_{number}"} for number in range(30)]
    tools = [tool.definition for tool in load(name).domain.tools.values()]
    assert value(imported(here, [*tools, *others]))["program"] == name


OLDER: dict[str, list[str]] = {
    "get_issue": ["owner", "repo", "issue_number"],
    "create_issue": ["owner", "repo", "title"],
    "update_issue": ["owner", "repo", "issue_number"],
    "search_issues": ["q"],
    "list_issues": ["owner", "repo"],
    "get_pull_request_files": ["owner", "repo", "pull_number"],
    "merge_pull_request": ["owner", "repo", "pull_number"],
    "update_pull_request_branch": ["owner", "repo", "pull_number"],
}
"""Tools of an older version of the server that the program `repositories` simulates, and what they require."""


def test_an_older_version_of_a_server_is_recognised_and_its_tools_answered_under_their_names(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number = {"type": "number"}
    schemas = {tool: {name: number if "number" in name else {} for name in names} for tool, names in OLDER.items()}
    schemas["update_issue"]["state"] = {"type": "string"}
    tools = [
        {"name": tool, "inputSchema": {"type": "object", "properties": schemas[tool], "required": names}}
        for tool, names in OLDER.items()
    ]
    spec = imported(here, tools)
    printed = capsys.readouterr().out
    assert "the shipped program repositories answers 7 of them" in printed
    assert "by their plans answer: update_pull_request_branch" in printed
    scenario = load(spec)
    assert scenario.domain.plans["create_issue"].verb == "create"
    assert scenario.domain.plans["update_issue"].verb == "update"
    repo = {"owner": "fernleaf-labs", "repo": "no-such"}
    calls: list[tuple[str, Record]] = [("search_issues", {"q": "is:open"}), ("create_issue", {**repo, "title": "Leak"})]
    found, refused = anyio.run(answers, scenario, calls)
    assert value_of(found)["total_count"] > 0
    assert not refused.ok
    owner, name = value_of(found)["items"][0]["repository_url"].split("/")[-2:]
    at = {"owner": owner, "repo": name}
    made, closed, shown = anyio.run(
        answers,
        scenario,
        [
            ("create_issue", {**at, "title": "Leak"}),
            ("update_issue", {**at, "issue_number": value_of(found)["items"][0]["number"], "state": "closed"}),
            ("get_issue", {**at, "issue_number": value_of(found)["items"][0]["number"]}),
        ],
    )
    assert made.ok
    assert closed.ok
    assert value_of(shown)["state"] == "closed"


START = "https://wheelhouse.example/"

OLDER_BROWSER: dict[str, list[str]] = {
    "browser_navigate": ["url"],
    "browser_snapshot": [],
    "browser_click": ["element", "ref"],
    "browser_drag": ["startElement", "startRef", "endElement", "endRef"],
    "browser_type": ["element", "ref", "text"],
    "browser_tab_list": [],
    "browser_tab_select": ["index"],
    "browser_wait": ["time"],
}
"""Tools of an older version of the browser that the program `web_shop` simulates, and what they require."""


def test_an_element_is_named_by_the_argument_of_an_older_version(here: Path) -> None:
    schemas: dict[str, Record] = {tool: dict.fromkeys(names, True) for tool, names in OLDER_BROWSER.items()}
    tools: list[Record] = [
        {"name": tool, "inputSchema": {"type": "object", "properties": schemas[tool], "required": names}}
        for tool, names in OLDER_BROWSER.items()
    ]
    scenario = load(imported(here, tools))
    assert programmed(scenario.domain.plans) == {*OLDER_BROWSER}
    first: list[tuple[str, Record]] = [("browser_navigate", {"url": START}), ("browser_snapshot", {})]
    _, shown = anyio.run(answers, scenario, first)
    box = re.search(r'searchbox "[^"]*" \[ref=(\w+)\]', str(value_of(shown)))
    assert box is not None
    typed = {"element": "the search", "ref": box[1], "text": "chain"}
    calls: list[tuple[str, Record]] = [*first, ("browser_type", typed), ("browser_tab_list", {})]
    written, tabs = anyio.run(answers, scenario, calls)[2:]
    assert "fill('chain')" in str(value_of(written))
    assert START in str(value_of(tabs))


@pytest.mark.parametrize("name", PLANNED_SPECS)
def test_servers_of_other_vendors_are_not_recognised(name: str, here: Path) -> None:
    tools = [tool.definition for tool in load(name).domain.tools.values()]
    assert "program" not in value(imported(here, tools))


@pytest.mark.parametrize("name", PROGRAM_SPECS)
def test_each_shipped_program_is_recognised_by_its_own_tools(name: str, here: Path) -> None:
    shipped = compiled(name).domain
    spec = imported(here, [tool.definition for tool in shipped.tools.values()])
    assert value(spec)["program"] == name
    [(_, problems, scenario)] = checked(spec)
    assert scenario is not None
    assert programmed(scenario.domain.plans) == programmed(shipped.plans)
    assert [problem for problem in problems if problem.severity == "error" or "is a guess" in problem.message] == []


def programmed(plans: Mapping[str, Plan]) -> set[str]:
    return {tool for tool, plan in plans.items() if plan.backend == "program"}


def test_an_unknown_program_is_an_error_that_suggests_a_name(here: Path) -> None:
    spec = imported(here, vendors_list())
    spec.write_text(spec.read_text(encoding="utf-8").replace("program: maps", "program: mapz"), encoding="utf-8")
    assert next(problem.message for problem in check([spec])).startswith("unknown program 'mapz'; did you mean 'maps'")
