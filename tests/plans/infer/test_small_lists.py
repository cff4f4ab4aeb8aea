"""Calls of small tool lists: what one tool writes, the others reach, show and remove."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.declared import STRING, tool
from support.given import refused, value

from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Observation

Json = Any


async def answers(folder: Path, tools: Sequence[Json], *calls: tuple[str, Json]) -> list[Observation]:
    """Return the answers to calls in a new world."""
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    async with Simulator.load(folder / "tools.json") as simulator, simulator.open(seed=1) as world:
        return [await world.call(name, arguments) for name, arguments in calls]


@pytest.mark.parametrize("noun", ["bucket", "branch", "topic"])
async def test_an_argument_named_like_the_record_is_its_key_if_a_create_sets_it(tmp_path: Path, noun: str) -> None:
    tools = [
        tool(f"create_{noun}", {noun: STRING, "region": STRING}, noun),
        tool(f"get_{noun}", {noun: STRING}, noun),
        tool(f"delete_{noun}", {noun: STRING}, noun),
    ]
    named = {noun: "alpha"}
    calls = ((f"create_{noun}", {**named, "region": "eu"}), (f"get_{noun}", named), (f"delete_{noun}", named))
    created, shown, deleted, gone = await answers(tmp_path, tools, *calls, (f"get_{noun}", named))
    assert value(shown) == value(created)
    assert (refused(deleted), refused(gone)) == (False, True)


async def test_a_tool_that_sets_a_value_of_a_known_record_updates_the_record(tmp_path: Path) -> None:
    tools = [
        tool("create_task", {"title": STRING}, "title"),
        tool("get_task", {"task_id": STRING}, "task_id"),
        tool("set_due_date", {"task_id": STRING, "due_date": STRING}, "task_id", "due_date"),
    ]
    due = {"task_id": "task_00021", "due_date": "2030-02-02"}
    named = {"task_id": "task_00021"}
    *_, shown = await answers(
        tmp_path, tools, ("create_task", {"title": "x"}), ("set_due_date", due), ("get_task", named)
    )
    assert value(shown)["due_date"] == "2030-02-02"


async def test_records_that_no_tool_changes_go_with_the_record_that_they_belong_to(tmp_path: Path) -> None:
    tools = [
        tool("create_task", {"title": STRING}, "title"),
        tool("get_task", {"task_id": STRING}, "task_id"),
        tool("delete_task", {"task_id": STRING}, "task_id"),
        tool("add_comment", {"task_id": STRING, "text": STRING}, "task_id", "text"),
        tool("list_comments", {}),
    ]
    removal = tool("delete_comment", {"comment_id": STRING}, "comment_id")
    named = {"task_id": "task_00021"}
    calls = [("create_task", {"title": "x"}), ("add_comment", {**named, "text": "hi"}), ("delete_task", named)]
    *_, deleted, listed = await answers(tmp_path, tools, *calls, ("list_comments", {}))
    assert not refused(deleted)
    assert "comment_00021" not in [one["id"] for one in value(listed)["comments"]]
    assert not refused((await answers(tmp_path, [*tools, removal], *calls))[-1])


async def test_a_tool_that_counts_records_agrees_with_the_list(tmp_path: Path) -> None:
    tools = [
        tool("create_project", {"name": STRING}, "name"),
        tool("list_projects", {"name": STRING}),
        tool("count_projects", {"name": STRING}),
    ]
    named: Json = {"name": "Zorble"}
    calls: list[tuple[str, Json]] = [
        ("create_project", named),
        ("count_projects", {}),
        ("count_projects", named),
        ("list_projects", {}),
    ]
    _, every, some, listed = await answers(tmp_path, tools, *calls)
    assert (value(every), value(some)) == ({"count": len(value(listed)["projects"])}, {"count": 1})


@pytest.mark.parametrize(("noun", "suffix"), [("habit", "id"), ("exercise", "name"), ("parcel", "number")])
async def test_the_history_of_a_record_is_that_of_one(tmp_path: Path, noun: str, suffix: str) -> None:
    key = f"{noun}_{suffix}"
    tools = [
        tool(f"create_{noun}", {key: STRING, "title": STRING}, key, "title"),
        tool(f"list_{noun}s", {}),
        tool(f"get_{noun}_history", {key: STRING, "days": {"type": "integer"}}, key),
    ]
    calls = ((f"create_{noun}", {key: "alpha", "title": "Blue"}), (f"get_{noun}_history", {key: "alpha", "days": 7}))
    _, shown, unknown = await answers(tmp_path, tools, *calls, (f"get_{noun}_history", {key: "beta"}))
    assert value(shown)["title"] == "Blue"
    assert refused(unknown)


async def test_the_id_of_a_record_is_not_the_key_of_another_that_is_read_by_it(tmp_path: Path) -> None:
    named = {"risk_id": STRING}
    tools = [
        tool("add_risk", {"name": STRING}, "name"),
        tool("create_mitigation_plan", named, "risk_id"),
        tool("get_mitigation_progress", named, "risk_id"),
        tool("update_risk_status", {**named, "status": STRING}, "risk_id"),
    ]
    closed = {"risk_id": "risk_00021", "status": "closed"}
    *_, changed = await answers(tmp_path, tools, ("add_risk", {"name": "hail"}), ("update_risk_status", closed))
    assert value(changed)["name"] == "hail"


@pytest.mark.parametrize("noun", ["checkpoint", "backup"])
async def test_a_tool_that_needs_no_argument_removes_all_records(tmp_path: Path, noun: str) -> None:
    optional = {"folder": STRING}
    tools = [
        tool(f"save_{noun}", {"plan": STRING, **optional}, "plan"),
        tool(f"get_{noun}", optional, description=f"Get the latest {noun}."),
        tool(f"list_{noun}s", optional),
        tool(f"clear_{noun}s", optional, description=f"Delete all {noun}s."),
    ]
    saved = [(f"save_{noun}", {"plan": plan}) for plan in ("first", "second")]
    *_, latest, cleared, listed = await answers(
        tmp_path, tools, *saved, (f"get_{noun}", {}), (f"clear_{noun}s", {}), (f"list_{noun}s", {})
    )
    assert value(latest)["plan"] == "second"
    assert not refused(cleared)
    assert value(listed)[f"{noun}s"] == []


@pytest.mark.parametrize(
    ("create", "key", "history", "about", "rows"),
    [("log_attempt", "problem_name", "get_problem_history", "Show all attempts at a problem.", "attempts"),
     ("post_message", "channel_id", "get_channel_history", "Get recent messages from a channel.", "messages"),
     ("record_payment", "invoice_id", "get_invoice_history", "List the payments of an invoice.", "payments")],
)  # fmt: skip
async def test_a_history_lists_what_a_create_makes_with_its_argument(
    tmp_path: Path, create: str, key: str, history: str, about: str, rows: str
) -> None:
    noun = key.partition("_")[0]
    tools = [
        tool(create, {key: STRING, "note": STRING}, key, "note"),
        {**tool(history, {key: STRING}, key), "description": about},
        tool(f"search_{noun}s", {"query": STRING}, "query"),
    ]
    calls = [(create, {key: "one", "note": "first"}), (create, {key: "two", "note": "second"}), (history, {key: "two"})]
    *_, listed = await answers(tmp_path, tools, *calls)
    assert [row["note"] for row in value(listed)[rows] if row[key] == "two"][-1] == "second"
    assert "first" not in [row["note"] for row in value(listed)[rows]]


@pytest.mark.parametrize(("noun", "id_name"), [("build", "run_id"), ("interview", "session_id"), ("import", "job_id")])
async def test_the_only_id_that_tools_ask_for_names_what_a_create_makes(
    tmp_path: Path, noun: str, id_name: str
) -> None:
    tools = [
        tool(f"{noun}_create", {"name": STRING}, "name"),
        tool(f"{noun}_get", {id_name: STRING}, id_name),
        tool(f"{noun}_update", {id_name: STRING, "note": STRING}, id_name),
        tool(f"{noun}_delete", {id_name: STRING}, id_name),
    ]
    [created] = await answers(tmp_path, tools, (f"{noun}_create", {"name": "x"}))
    named = {id_name: value(created)[id_name]}
    calls = (f"{noun}_update", {**named, "note": "late"}), (f"{noun}_get", named), (f"{noun}_delete", named)
    *_, shown, deleted, gone = await answers(
        tmp_path, tools, (f"{noun}_create", {"name": "x"}), *calls, (f"{noun}_get", named)
    )
    assert (value(shown)["name"], value(shown)["note"]) == ("x", "late")
    assert (refused(deleted), refused(gone)) == (False, True)


@pytest.mark.parametrize(("noun", "field"), [("habit", "name"), ("playlist", "name"), ("note", "title")])
async def test_a_name_under_a_longer_name_is_the_one_that_a_create_takes(tmp_path: Path, noun: str, field: str) -> None:
    key = f"{noun}_{field}"
    tools = [
        tool(f"create_{noun}", {field: STRING, "colour": STRING}, field),
        tool(f"get_{noun}", {key: STRING}, key),
        tool(f"delete_{noun}", {key: STRING}, key),
    ]
    later = [(f"{verb}_{noun}", {key: "Blue"}) for verb in ("get", "delete", "get")]
    created, shown, _, gone = await answers(tmp_path, tools, (f"create_{noun}", {field: "Blue"}), *later)
    assert value(created)[field] == value(shown)[field] == "Blue"
    assert key not in value(created)
    assert refused(gone)
