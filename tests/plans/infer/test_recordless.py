"""Tools that touch no records, and how a spec declares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service, value

from mcp_sim.cli import main
from mcp_sim.simulator.compile import load

Json = Any
TEXT = {"type": "string"}


def tool(name: str, about: str, *needed: str, **more: Json) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(needed, TEXT), "required": [*needed]}
    return {"name": name, "description": about, "inputSchema": schema, **more}


def listed(folder: Path, *tools: Json) -> Path:
    path = folder / "rig.tools.json"
    path.write_text(json.dumps({"tools": [*tools]}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "about", "needed"),
    [
        ("press_button", "Presses a button of the panel.", ["label"]),
        ("camera_snapshot", "Captures what the camera sees.", []),
        ("transpose", "Computes the transpose of what is given.", ["rows"]),
        ("navigateTo", "Use this tool to navigate to a place.", ["place"]),
        ("ping", "", []),
        ("determinant", "Computes the determinant.", ["rows"]),
    ],
)
def test_a_verb_without_records_touches_none(name: str, about: str, needed: list[str], tmp_path: Path) -> None:
    path = listed(tmp_path, tool(name, about, *needed), tool("list_cables", "Lists the cables."))
    plan = load(path).domain.plans[name]
    assert (plan.verb, plan.entity, plan.guessed) == ("none", None, False)


@pytest.mark.parametrize(
    ("name", "about", "needed"),
    [
        ("reload_cables", "", "cable_id"),
        ("take_from_cable", "Takes metres from a cable.", "metres"),
        ("connect_to_cable", "Connects to a cable.", "label"),
        ("turn_cable", "Turns a cable round.", "label"),
    ],
)
def test_a_recordless_plan_is_a_guess_if_other_tools_have_its_noun(
    name: str, about: str, needed: str, tmp_path: Path
) -> None:
    path = listed(tmp_path, tool(name, about, needed), tool("get_cable", "Gets a cable.", "cable_id"))
    plan = load(path).domain.plans[name]
    assert (plan.verb, plan.guessed) == ("none", True)
    assert "other tools work on something it mentions" in plan.reasons


def test_strict_accepts_a_recordless_plan_that_a_spec_declares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed(tmp_path, tool("frobnicate", "", "widget"), tool("ring_bell", "", "bell"))
    spec = tmp_path / "rig.yaml"
    spec.write_text("mcp_sim: 1\nname: rig\ntools: rig.tools.json\n", encoding="utf-8")
    assert main(["check", str(spec), "--strict"]) == 1
    assert "`frobnicate: {verb: none}`" in capsys.readouterr().out
    assert main(["plan", str(spec)]) == 0
    assert "  frobnicate: {verb: none}" in capsys.readouterr().out
    spec.write_text(f"{spec.read_text(encoding='utf-8')}sim: {{frobnicate: {{verb: none}}}}\n", encoding="utf-8")
    assert main(["check", str(spec), "--strict"]) == 1
    spec.write_text(spec.read_text(encoding="utf-8").replace("none}}", "none}, ring_bell: {verb: none}}"))
    assert main(["check", str(spec), "--strict"]) == 0
    assert main(["plan", str(spec), "--strict"]) == 0


def test_plan_write_adds_recordless_plans_and_marks_guesses(tmp_path: Path) -> None:
    listed(tmp_path, tool("press_button", "Presses a button.", "label"), tool("frobnicate", "", "widget"))
    spec = tmp_path / "rig.yaml"
    spec.write_text("mcp_sim: 1\nname: rig\ntools: rig.tools.json\n", encoding="utf-8")
    assert main(["plan", str(spec), "--write"]) == 0
    _, _, written = spec.read_text(encoding="utf-8").partition("sim:\n  press_button: {verb: none}\n")
    guess, _, line = written.strip().rpartition("\n")
    assert (guess.split(":")[0], line) == ("# a guess (0.45)", "  frobnicate: {verb: none}")


async def test_a_recordless_call_changes_nothing_and_generated_values_are_marked(tmp_path: Path) -> None:
    shape = {"type": "object", "properties": {"width": {"type": "integer"}}, "required": ["width"]}
    tools = json.dumps([tool("press_button", "", "label"), tool("scan", "", outputSchema=shape)])
    spec = f"tools: {tools}\nsim: {{press_button: {{verb: none}}, scan: {{verb: none}}}}"
    async with service(tmp_path, spec, "records: {}") as sim, sim.open() as world:
        pressed = value(await world.call("press_button", {"label": "Go"}))
        assert pressed == {"success": True, "message": "Button pressed successfully", "label": "Go"}
        assert world.ledger.newest["step"]["guessed"] is False
        assert isinstance(value(await world.call("scan", {}))["width"], int)
        assert world.ledger.newest["step"]["guessed"] is True
        assert world.ledger.newest["step"]["committed"] == []
