"""`mcp-sim plan`: every plan with its reason, and the lines that correct a guess."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from support.declared import INTEGER, STRING, Json, obj, tool

from mcp_sim.cli import main
from mcp_sim.simulator.compile import load


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A tools/list result with one sure tool and one guess."""
    path = tmp_path / "service.json"
    output = obj(id=STRING, title=STRING)
    tools = [
        tool("create_task", {"title": STRING}, "title", output=output),
        tool("get_task", {"task_id": STRING}, "task_id", output=output),
        tool("frobnicate", {"task_id": STRING, "how": STRING}, "task_id"),
    ]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return path


def test_plan_shows_every_tool_in_100_columns_and_the_lines_that_correct_a_guess(
    listed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(listed)]) == 0
    captured = capsys.readouterr().out
    assert all(len(line) <= 100 for line in captured.splitlines())
    assert "1 of 3 plans is a guess" in captured
    lines: Mapping[str, Json] = yaml.safe_load(captured[captured.index("sim:") :])
    assert lines["sim"]["frobnicate"] == {"verb": "none"}


def test_a_guess_that_nothing_is_touched_shows_what_else_it_may_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ferry.json"
    tools = [
        tool("get_booking", {"booking_reference": STRING}, "booking_reference"),
        tool("rebook", {"booking_reference": STRING, "day": STRING}, "booking_reference", "day"),
        tool("sound_horn", {"seconds": INTEGER}, "seconds"),
    ]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    assert main(["plan", str(path)]) == 0
    captured = capsys.readouterr().out
    assert "rebook: {verb: none}   # or {verb: update, entity: booking, key: booking_reference}\n" in captured
    assert "sound_horn: {verb: none}\n" in captured


@pytest.mark.parametrize(
    ("sim", "warning"),
    [
        ({}, "with `update_copy: {verb: update, entity: copy, key: copy_id}`"),
        ({"verb": "update", "entity": "copy", "key": "copy_id"}, "the copies are nested in other records"),
        ({"verb": "delete", "entity": "loan"}, "no argument names a loan"),
    ],
)
def test_check_says_which_declared_plan_cannot_be_carried_out_and_suggests_the_verb_of_the_name(
    sim: Json, warning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = [
        tool("get_book", {"book_id": STRING}, "book_id"),
        tool("update_copy", {"copy_id": STRING, "price": INTEGER}, "copy_id"),
    ]
    spec = {"mcp_sim": 1, "name": "shelf", "tools": tools, "sim": {"update_copy": sim} if sim else {}}
    (tmp_path / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    state = {"books": [{"id": "b1", "copies": [{"id": "c1", "price": 5}]}]}
    scenario = {"mcp_sim": 1, "name": "shelf", "tools": "spec.yaml", "world": {"state": state}}
    (tmp_path / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    assert main(["check", str(tmp_path / "scenario.yaml")]) == 0
    captured = capsys.readouterr()
    assert warning in captured.out + captured.err


def test_plan_writes_json_for_the_tools_that_were_asked_for(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(listed), "--json", "--tool", "get_*"]) == 0
    captured = json.loads(capsys.readouterr().out)
    assert list(captured["tools"]) == ["get_task"]
    assert captured["tools"]["get_task"]["verb"] == "get"
    assert captured["tools"]["get_task"]["guessed"] is False
    assert captured["entities"]["task"]["key"] == "id"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A spec that declares the effect of one of two tools, and what the choices of the other are is inferred."""
    jobs = {"type": "string", "enum": ["add", "read"]}
    tools = [
        tool("look_around", {"book_id": STRING}),
        tool("manage_book", {"action": jobs, "book_id": STRING, "title": STRING}, "action"),
    ]
    text = json.dumps({"mcp_sim": 1, "tools": tools, "sim": {"look_around": {"verb": "get", "entity": "book"}}})
    path = tmp_path / "shelf.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_plan_shows_where_the_value_of_each_field_comes_from(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(shelf)]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = ["look_around", "get", "book", "1.00", "declared"]
    at = next(n for n, line in enumerate(lines) if line.split()[:5] == row)
    assert lines[at + 1 : at + 4] == [
        "    key       inferred 1.00  book_id",
        "    envelope  inferred 0.40  the record itself",
        "    because   declared in the spec; an id names the record",
    ]


def test_a_chosen_tool_is_shown_with_the_reasons_for_each_field_and_with_its_choices(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(shelf), "--tool", "*"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    at = lines.index("    key       inferred 1.00  book_id")
    assert lines[at + 1] == f"{'':<29}because an id names the record"
    assert any(line.startswith("manage_book action=read  ") for line in lines)


def test_the_json_of_a_plan_has_the_basis_of_its_fields(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(shelf), "--json"]) == 0
    plans = json.loads(capsys.readouterr().out)["tools"]
    declared = {"source": "declared", "confidence": 1.0, "reasons": ["declared in the spec"]}
    assert plans["look_around"]["basis"]["entity"] == declared
    assert plans["look_around"]["reasons"] == ["declared in the spec", "an id names the record", "the usual form"]
    assert plans["manage_book"]["choices"]["read"].keys() >= {"basis", "confidence", "reasons", "guessed"}


def test_plan_refuses_a_glob_that_matches_nothing(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(listed), "--tool", "get_tusk"]) == 2
    assert "'get_task'" in capsys.readouterr().err


def test_the_lines_that_correct_a_guess_are_taken(tmp_path: Path, listed: Path) -> None:
    spec = tmp_path / "service.yaml"
    spec.write_text(
        f"mcp_sim: 1\nname: service\ntools: {listed.name}\nentities: {{task: {{key_like: T-1}}}}\n"
        "sim:\n  frobnicate: {verb: update, entity: task, key: task_id, sets: {how: title}}\n",
        encoding="utf-8",
    )
    plan = load(spec).domain.plans["frobnicate"]
    assert (plan.verb, plan.sets, plan.guessed) == ("update", {"how": "title"}, False)


def test_plan_and_check_suggest_the_same_line_for_a_guess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "desk.json"
    tools = [
        tool("list_devices", {"kind": STRING}),
        tool("lend_device", {"device_id": STRING, "borrower": STRING}, "device_id"),
        tool("return_device", {"loan_id": STRING}, "loan_id"),
        tool("frobnicate: all", {"how": STRING}),
    ]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    assert main(["plan", str(path)]) == 0
    planned = capsys.readouterr().out.partition("\nsim:\n")[2].splitlines()
    assert main(["check", str(path)]) == 0
    warnings = capsys.readouterr().out.splitlines()
    suggested = [line.partition("under sim: with `")[2].removesuffix("`") for line in warnings if "a guess" in line]
    assert len(suggested) == 3
    assert suggested == [line.partition("   # or ")[0].strip() for line in planned]
    assert yaml.safe_load("\n".join(suggested)).keys() == {"lend_device", "return_device", "frobnicate: all"}
