"""`mcp-sim expand`: concrete tasks with records of their seed, kept only if they can be passed and can be failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.runs.expanding import is_test

TEMPLATE = """mcp_sim: 1
name: notes
tools: crm
pick:
  buyer: {entity: contact}
task: Create the deal "Spring order" (4000 EUR) for {{buyer.name}} ({{buyer.id}}).
world: {now: 2029-03-01T09:00:00Z, records: {company: 3, contact: 20, deal: 5, activity: 0}}
perturbations:
  - {error: {status: 503}, id: busy, tools: create_deal, when: {nth: 1}}
expect:
  - state: {entity: deal, where: {title: Spring order, contact_id: "{{buyer.id}}"}, count: 1}
    id: one-deal
"""

SCRIPT = """task: ""
steps:
  - call: create_deal
    arguments: {title: Spring order, amount: 4000, currency: EUR, contact_id: "{{buyer.id}}"}
    keep: {deal: id}
    check:
      call: list_deals
      arguments: {contact_id: "{{buyer.id}}", limit: 100}
      rows: deals
      where: {title: Spring order}
      keep: {deal: id}
answer: The deal is {deal}.
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    (tmp_path / "script.yaml").write_text(SCRIPT)
    path = tmp_path / "notes.yaml"
    path.write_text(TEMPLATE)
    return path


def test_tasks_name_records_of_their_seed_and_have_a_measured_difficulty(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tasks"
    assert main(["expand", str(template), "--seeds", "0..3", "-o", str(out), "--test", "0.5"]) == 0
    assert "4 tasks" in capsys.readouterr().err
    rows = [json.loads(line) for line in (out / "tasks.jsonl").read_text().splitlines()]
    assert [row["seed"] for row in rows] == [0, 1, 2, 3]
    assert len({row["task"] for row in rows}) == 4
    for row in rows:
        scenario = Simulator.load(out / row["scenario"]).scenario
        assert scenario.task == row["task"]
        assert row["split"] == ("test" if is_test(row["key"], 0.5) else "train")
        assert yaml.safe_load((out / row["script"]).read_text())["task"] == row["task"]
        # Of the four graded agents, the one that gives up and the one that writes twice fail.
        assert row["difficulty"] == 0.5
    assert not list(out.glob(".*"))


def test_a_task_that_every_agent_passes_is_left_out(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template.write_text(TEMPLATE.replace("tools: create_deal", "tools: update_deal"))
    assert main(["expand", str(template), "--seeds", "0", "-o", str(tmp_path / "tasks")]) == 1
    assert "1 left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{{buyer.id}}).", "{{buyer.colour}}).", "no such name or field"),
        ("entity: contact}", "entity: contact, where: {stage: nowhere}}", "has no contact with"),
        (
            "pick:\n  buyer: {",
            "pick:\n  buyer: {entiti: x, ",
            "pick.buyer.entiti: unknown key; did you mean 'entity'",
        ),
    ],
)
def test_a_template_that_cannot_be_bound_is_refused(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, problem: str
) -> None:
    template.write_text(TEMPLATE.replace(old, new, 1))
    assert main(["expand", str(template), "--seeds", "0", "-o", str(tmp_path / "tasks")]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("steps:", "step:", "step: unknown key; did you mean 'steps'?"),
        ("call: create_deal", "call: create_dael", "calls 'create_dael', which the server does not have; did you mean"),
    ],
)
def test_a_wrong_script_is_explained_and_leaves_earlier_tasks_alone(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    (tmp_path / "tasks.jsonl").write_text("earlier")
    template.with_name("script.yaml").write_text(SCRIPT.replace(old, new, 1))
    assert main(["expand", str(template), "--seeds", "0", "-o", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
    assert main(["expand", str(template), "--seeds", "0-9", "-o", str(tmp_path)]) == 2
    assert (tmp_path / "tasks.jsonl").read_text() == "earlier"


def test_the_verdict_that_the_golden_agent_fails_is_shown(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template.with_name("script.yaml").write_text(SCRIPT.replace("title: Spring order", "title: Autumn order"))
    assert main(["expand", str(template), "--seeds", "4..5", "-o", str(tmp_path / "tasks")]) == 1
    message = capsys.readouterr().err
    assert "2 left out: the agent golden fails (seed 4: " in message
    assert "Spring order" in message


def test_problems_are_those_of_the_template(template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template.write_text(TEMPLATE.replace("contact: 20", "contakt: 20"))
    assert main(["expand", str(template), "-o", str(tmp_path / "tasks")]) == 1
    assert capsys.readouterr().err.startswith(f"{template}: world.records.contakt: unknown entity")
    assert main(["check", str(template)]) == 1
    assert "pick: makes this a template; write its tasks with `mcp-sim expand`" in capsys.readouterr().out
