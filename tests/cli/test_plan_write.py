"""`mcp-sim plan --write` puts what was inferred into the spec, and --strict refuses guesses."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from support.libraries import TEXT, TOOLS, library, tool
from support.vendors import PLANNED_SPECS
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.simulator.compile import check, load
from mcp_sim.spec import yaml12
from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.sources import shipped
from mcp_sim.spec.write_overrides import spec_files, spec_text
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import Envelope, Filter, Idempotency, Paging, Plan

VAGUE = [
    {"name": "frobnicate", "inputSchema": {"type": "object", "properties": {"widget": {"type": "string"}}}},
    {"name": "list_widgets", "inputSchema": {"type": "object", "properties": {"colour": {"type": "string"}}}},
    {
        "name": "get_widget",
        "inputSchema": {"type": "object", "properties": {"widget_id": {"type": "string"}}, "required": ["widget_id"]},
    },
    {"name": "resync_gadget", "inputSchema": {"type": "object", "properties": {"depth": {"type": "integer"}}}},
]

SPEC = """\
# My own words come first.
mcp_sim: 1
name: widgets   # shown to the client
tools: widgets.tools.json

sim:
  list_widgets: {verb: list, entity: widget}   # sure of that

errors:
  not_found: |
    There is no such widget.
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "widgets.tools.json").write_text(json.dumps({"tools": VAGUE}), encoding="utf-8")
    (tmp_path / "widgets.yaml").write_text(SPEC, encoding="utf-8")
    return tmp_path / "widgets.yaml"


def judged_apart(plan: Plan) -> Plan:
    """Return the plan without its confidence: declared plans are sure, and unknown ones become `none`."""
    ways = {value: judged_apart(one) for value, one in plan.choices.items()}
    verb = "none" if plan.verb == "unknown" else plan.verb
    return replace(plan, verb=verb, choices=ways, basis={})


def without_judgement(domain: Domain) -> dict[str, Plan]:
    return {name: judged_apart(plan) for name, plan in domain.plans.items()}


@pytest.mark.parametrize("name", PLANNED_SPECS)
def test_a_spec_with_what_was_inferred_means_the_same(name: str, tmp_path: Path) -> None:
    path = shipped("tool_specs")[name]
    for other in path.parent.glob("*.tools.json"):
        (tmp_path / other.name).write_bytes(other.read_bytes())
    before = load(name).domain
    (tmp_path / "x.yaml").write_text(spec_text(path.read_text(encoding="utf-8"), before, ""), encoding="utf-8")
    after = load(tmp_path / "x.yaml").domain
    assert without_judgement(after) == without_judgement(before)
    assert after.entities == before.entities


async def walked(path: Path) -> list[Any]:
    """Return the answers to random calls of a document's tools."""
    answered: list[Any] = []
    async with Simulator.load(path).open() as world:
        walker = Walker([*world.scenario.domain.tools.values()], 3, world)
        for _ in range(80):
            tool, arguments = walker.call()
            observation = await world.call(tool.id, arguments)
            walker.learn(tool, arguments, observation)
            answered.append((tool.name, arguments, observation.body))
    return answered


@pytest.mark.parametrize("name", PLANNED_SPECS)
async def test_the_tools_of_a_spec_that_says_what_was_inferred_answer_as_before(name: str, tmp_path: Path) -> None:
    path = shipped("tool_specs")[name]
    for other in path.parent.glob("*.tools.json"):
        (tmp_path / other.name).write_bytes(other.read_bytes())
    before = path.read_text(encoding="utf-8")
    (tmp_path / "x.yaml").write_text(spec_text(before, load(name).domain, ""), encoding="utf-8")
    assert await walked(tmp_path / "x.yaml") == await walked(path)


HARD: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "a guess that nothing is touched": [
        ("create_task", {"title": {"type": "string"}}),
        ("get_task", {"task_id": {"type": "string"}}),
        ("expand_task", {"task_id": {"type": "string"}}),
        ("rename_gadget", {"old_name": {"type": "string"}, "new_name": {"type": "string"}}),
    ],
    "fields that arguments name": [
        ("create_oven", {"room": {"type": "string"}, "degrees": {"type": "integer"}}),
        ("get_oven", {"oven_id": {"type": "string"}}),
        ("update_oven", {"oven_id": {"type": "string"}, "field": {"type": "string"}, "value": {"type": "string"}}),
    ],
    "fields that are looked up": [
        ("get_course", {"course_id": {"type": "string"}}),
        ("list_lessons", {"course_id": {"type": "string"}}),
        ("get_lesson_by_name", {"course_name": {"type": "string"}, "course_id": {"type": "string"}}),
    ],
    "containers of records": [
        ("create_issue", {"owner": {"type": "string"}, "repo": {"type": "string"}, "title": {"type": "string"}}),
        ("get_issue", {"owner": {"type": "string"}, "repo": {"type": "string"}, "issue_number": {"type": "integer"}}),
        ("list_issues", {"owner": {"type": "string"}, "repo": {"type": "string"}}),
    ],
    "records that others list": [
        ("create_trip", {"stops": {"type": "array", "items": {"properties": {"place": {"type": "string"}}}}}),
        ("list_trips", {}),
        ("add_stop", {"trip_id": {"type": "string"}, "place": {"type": "string"}}),
        ("delete_stop", {"stop_id": {"type": "string"}}),
    ],
    "records that others need": [
        ("create_project", {"name": {"type": "string"}}),
        ("delete_project", {"project_id": {"type": "string"}}),
        ("create_task", {"project_id": {"type": "string"}, "title": {"type": "string"}}),
        ("list_tasks", {"project_id": {"type": "string"}}),
        ("delete_task", {"task_id": {"type": "string"}}),
    ],
}


@pytest.mark.parametrize("case", HARD)
async def test_a_written_list_means_the_same_however_little_it_declares(case: str, tmp_path: Path) -> None:
    listed = [
        {"name": name, "inputSchema": {"type": "object", "properties": parts, "required": [*parts]}}
        for name, parts in HARD[case]
    ]
    path = tmp_path / "yard.tools.json"
    path.write_text(json.dumps({"tools": listed}), encoding="utf-8")
    assert main(["plan", str(path), "--write"]) == 0
    before, after = load(path).domain, load(tmp_path / "yard.yaml").domain
    assert without_judgement(after) == without_judgement(before)
    assert (after.entities, after.unspecified) == (before.entities, before.unspecified)
    assert await walked(tmp_path / "yard.yaml") == await walked(path)


LINES = {"type": "array", "items": {"type": "object", "properties": {"note": TEXT}}}
SETTLE = {
    "order_id": TEXT, "lines": LINES, "buyer": TEXT, "q": TEXT, "by": TEXT, "dir": TEXT, "limit": {"type": "integer"},
    "cart": TEXT, "token": TEXT,
}  # fmt: skip
WHOLE = Plan(
    "settle_order",
    "update",
    "order",
    key="order_id",
    sets={"lines.note": "note"},
    fixed={"status": "settled"},
    how={"note": "append"},
    each="lines",
    if_exists="keep",
    copies="lines",
    holder="cart",
    filters={"q": Filter("note", "contains"), "buyer": Filter("stall_id"), "by": Filter("status", only="open")},
    query="q",
    idempotency=Idempotency("token", 60.0),
    paging=Paging(limit="limit", size=5, most=9, sort="by", order="dir"),
    envelope=Envelope(record="order", rows="orders", echoes={"asked": "q"}, shows={"order": "id"}),
)


def plans_read(plan: Plan, folder: Path) -> dict[str, Plan]:
    """Return the plans of a spec that declares one of them."""
    schema = {"type": "object", "properties": SETTLE}
    tools = [{"name": "settle_order", "inputSchema": schema}]
    text = f"mcp_sim: 1\nname: market\ntools: {json.dumps(tools)}\nentities: {{order: }}\n"
    (folder / "market.yaml").write_text(text, encoding="utf-8")
    domain = load(folder / "market.yaml").domain
    (folder / "said.yaml").write_text(spec_text(text, replace(domain, plans={plan.tool: plan}), ""), encoding="utf-8")
    return without_judgement(load(folder / "said.yaml").domain)


def test_whatever_a_plan_has_is_written_and_means_the_same(tmp_path: Path) -> None:
    usual = Plan("", "unknown")
    declarable = {part.name for part in fields(Plan)} & SimPart.model_fields.keys()
    left = {name for name in declarable if getattr(WHOLE, name) == getattr(usual, name)}
    assert left == {"backend", "choice", "choices", "result"}
    assert plans_read(WHOLE, tmp_path) == {"settle_order": WHOLE}


def test_plans_and_entities_are_written_and_every_line_of_the_author_stays(spec: Path) -> None:
    assert main(["plan", str(spec), "--write"]) == 0
    text = spec.read_text(encoding="utf-8")
    lines = iter(text.splitlines())
    assert all(line in lines for line in SPEC.splitlines() if "list_widgets" not in line)
    assert "  list_widgets: {verb: list, entity: widget, filters: {colour: colour}, envelope: {" in text
    assert "}   # sure of that\n" in text
    assert "  get_widget: {verb: get, entity: widget, key: widget_id" in text
    assert "entities:\n  widget:" in text or "entities: {widget:" in text
    assert spec.with_name("widgets.yaml.bak").read_text(encoding="utf-8") == SPEC
    assert not [problem for problem in check([spec]) if problem.severity == "error"]


def test_what_was_a_guess_is_marked_as_one(spec: Path) -> None:
    domain = load(spec).domain
    doubtful = domain.plans["get_widget"].with_effect(0.4, "one thing", "and another")
    text = spec_text(SPEC, replace(domain, plans={**domain.plans, "get_widget": doubtful}), "")
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("  get_widget:"))
    assert lines[at - 1].startswith("  # a guess (0.40): one thing; and another")


def test_a_tool_of_which_too_little_is_known_is_said_to_touch_nothing_and_named(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["plan", str(spec), "--write"])
    assert "\n  resync_gadget: {verb: none}\n" in spec.read_text(encoding="utf-8")
    assert (
        "Could not infer what these tools do: frobnicate, resync_gadget; written as `verb: none`"
        in capsys.readouterr().err
    )


def test_a_plain_list_gets_a_spec_beside_it_and_stays_as_it_is(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.unlink()
    tools = spec.with_name("widgets.tools.json")
    before = tools.read_bytes()
    assert main(["plan", str(tools), "--write"]) == 0
    assert tools.read_bytes() == before
    assert "sim:\n" in spec.read_text(encoding="utf-8")
    assert "use it instead of widgets.tools.json" in capsys.readouterr().err
    assert main(["plan", str(tools), "--write"]) == 2
    assert "widgets.yaml already exists" in capsys.readouterr().err


def test_each_server_of_a_scenario_gets_its_own_plans(spec: Path) -> None:
    scenario = spec.with_name("two.yaml")
    other = spec.with_name("other.yaml")
    other.write_text(f"mcp_sim: 1\nname: other\ntools: {json.dumps(VAGUE[1:2])}\n", encoding="utf-8")
    scenario.write_text("mcp_sim: 1\ntools: {one: widgets.yaml, two: other.yaml}\nseed: 1\n", encoding="utf-8")
    assert [(file.server, file.path.name) for file in spec_files(scenario)] == [
        ("one", "widgets.yaml"),
        ("two", "other.yaml"),
    ]
    assert main(["plan", str(scenario), "--write"]) == 0
    assert "get_widget" in spec.read_text(encoding="utf-8")
    assert "get_widget" not in other.read_text(encoding="utf-8")
    assert "  list_widgets:\n    verb: list\n" in other.read_text(encoding="utf-8")
    assert not [problem for problem in check([scenario]) if problem.severity == "error"]


def test_what_ships_is_not_written_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "flaky_crm", "--write"]) == 2
    assert "crm ships with mcp-sim and cannot be changed" in capsys.readouterr().err


def test_strict_refuses_guesses_and_writes_nothing(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(spec), "--strict", "--write"]) == 1
    assert spec.read_text(encoding="utf-8") == SPEC
    assert main(["plan", str(spec), "--strict", "--tool", "list_widgets"]) == 0
    assert main(["check", str(spec), "--strict"]) == 1
    assert main(["check", str(spec)]) == 0
    capsys.readouterr()
    assert main(["serve", str(spec), "--strict"]) == 2
    assert "resync_gadget" in capsys.readouterr().err


def test_strict_lets_through_what_is_sure() -> None:
    assert main(["plan", "crm", "--strict"]) == 0
    assert main(["check", "flaky_crm", "--strict"]) == 0


def test_a_spec_that_cannot_be_written_is_left_as_it_is(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "mcp_sim: 1\nname: x\ntools: widgets.tools.json\nentities: {a: &a {key: id}}\nsim: {}\n"
    spec.write_text(text.replace("sim: {}", "sim: *a"), encoding="utf-8")
    assert main(["plan", str(spec), "--write"]) in {1, 2}
    assert "sim: *a" in spec.read_text(encoding="utf-8")
    assert not spec.with_name("widgets.yaml.bak").exists()
    assert capsys.readouterr().err


def test_tools_and_tables_of_a_program_are_not_written_into_the_spec(tmp_path: Path) -> None:
    library(tmp_path, tools=[*TOOLS, tool("archive_book", "isbn", isbn=TEXT)])
    spec = tmp_path / "library.yaml"
    assert main(["plan", str(spec), "--write", "--trust", str(tmp_path)]) == 0
    written = yaml12.load(spec.read_bytes(), "library.yaml").value
    assert [*written["sim"]] == ["archive_book"]
    assert "book" not in written.get("entities", {})
    assert main(["check", str(spec), "--trust", str(tmp_path)]) == 0
