"""`mcp-sim view` and `run --html`: the file that they write. What it shows is in `test_viewer_in_browser.py`."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support.places import SUPPORT
from support.viewer_traces import busy_trace, hostile_trace, steered_trace
from support.warm import PYTHON

from mcp_sim.cli import main

MOST_BYTES = 400_000
DATA = '<script type="application/json" id="data">'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def busy(folder: Path) -> Path:
    return asyncio.run(busy_trace(folder))


def viewed(*arguments: str | Path) -> int:
    return main(["view", *map(str, arguments)])


def data_of(html: str) -> dict[str, Any]:
    """Return the document of a page."""
    _, _, rest = html.partition(DATA)
    return json.loads(rest.partition("</script>")[0])


def test_the_file_is_named_after_the_trace_and_has_its_worlds(busy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert viewed(busy) == 0
    html = busy.with_suffix(".html")
    assert capsys.readouterr().out == f"{html}\n"
    document = data_of(html.read_text(encoding="utf-8"))
    worlds = {world["name"]: world for world in document["worlds"]}
    assert [*worlds] == ["main", "careful", "hasty", "careful-later"]
    assert worlds["careful-later"]["fork"] == {"world": 1, "n": 11}
    assert worlds["main"]["grade"]["outcome"] == "failed"
    assert worlds["hasty"]["grade"]["outcome"] == "crashed"
    assert worlds["main"]["answer"].startswith("The deal")
    assert document["scenarios"][0]["task"].startswith("Win the spring order")


def test_a_fault_that_could_have_fired_and_did_not_has_its_reason(busy: Path, folder: Path) -> None:
    assert viewed(busy, "-o", folder / "page.html") == 0
    world = data_of((folder / "page.html").read_text(encoding="utf-8"))["worlds"][0]
    (lost,) = [one for one in world["findings"]["steps"]["4"] if one["id"] == "lost-deal"]
    condition, found, held = lost["why"][0]
    assert (world["findings"]["conditions"][condition], found, held) == ("nth 1", "number 2", 0)
    assert not lost["decided"]


def test_the_policy_of_the_page_allows_its_own_script_and_style_only(busy: Path, folder: Path) -> None:
    assert viewed(busy, "-o", folder / "page.html") == 0
    html = (folder / "page.html").read_text(encoding="utf-8")
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)[0]
    script, style = (
        re.findall(r"<script>(.*?)</script>", html, re.DOTALL)[0],
        re.findall(r"<style>(.*?)</style>", html, re.DOTALL)[0],
    )
    assert policy.startswith(f"default-src 'none'; script-src '{hashed(script)}'; style-src '{hashed(style)}';")
    assert "http" not in policy
    assert "unsafe" not in policy
    assert len(html) - len(html.partition(DATA)[2].partition("</script>")[0]) < MOST_BYTES


def hashed(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def test_no_text_of_a_trace_ends_the_element_that_holds_it(folder: Path) -> None:
    assert viewed(hostile_trace(folder), "-o", folder / "hostile.html") == 0
    html = (folder / "hostile.html").read_text(encoding="utf-8")
    assert html.count("<script") == html.count("</script>") == 2
    assert "<img" not in html
    assert "alert(1)" in json.dumps(data_of(html))


def test_without_its_scenario_a_trace_is_shown_with_a_note(busy: Path, folder: Path) -> None:
    other = folder / "other.jsonl"
    other.write_bytes(busy.read_bytes().replace(b'"sha256":"', b'"sha256":"0', 1))
    assert viewed(other) == 0
    document = data_of(other.with_suffix(".html").read_text(encoding="utf-8"))
    assert "has changed since the run" in document["scenarios"][0]["note"]
    assert "grade" not in document["worlds"][0]
    other.write_bytes(re.sub(rb'"path":"[^"]*"', b'"path":"gone.yaml"', busy.read_bytes(), count=1))
    assert viewed(other) == 0
    document = data_of(other.with_suffix(".html").read_text(encoding="utf-8"))
    assert "was not found" in document["scenarios"][0]["note"]
    assert viewed(other, "--scenario", folder / "busy.yaml") == 0
    document = data_of(other.with_suffix(".html").read_text(encoding="utf-8"))
    assert document["worlds"][0]["grade"]["outcome"] == "failed"


def test_undone_steps_are_a_branch_and_keep_their_forks(folder: Path) -> None:
    trace = asyncio.run(steered_trace(folder))
    assert viewed(trace) == 0
    worlds = data_of(trace.with_suffix(".html").read_text(encoding="utf-8"))["worlds"]
    main_world, twin, undone = worlds
    assert [world["name"] for world in worlds] == ["main", "twin", "main (undone)"]
    assert [entry["step"]["n"] for entry in main_world["entries"]] == [1, 2, 3]
    assert [entry["step"]["n"] for entry in undone["entries"]] == [3, 4]
    assert undone["fork"] == {"world": 0, "n": 2}
    assert twin["fork"] == {"world": 2, "n": 4}
    assert undone["entries"][0]["step"]["steered"]["inject"]["id"] == "down"
    assert [fault["id"] for fault in twin["added"]] == ["down"]


def test_records_that_no_step_wrote_are_bounded_and_counted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, busy: Path
) -> None:
    monkeypatch.setattr("mcp_sim.cli.viewer.document.MOST_BYTES", 1000)
    assert viewed(busy, "-o", folder / "page.html") == 0
    deals = data_of((folder / "page.html").read_text(encoding="utf-8"))["scenarios"][0]["bases"]["7"]["deal"]
    assert deals["count"] == 40
    assert "deal_0003" in {key for key, _ in deals["records"]}
    assert len(deals["records"]) < 6


def test_several_traces_are_shown_in_one_file(busy: Path, folder: Path) -> None:
    second = folder / "second.jsonl"
    second.write_bytes(busy.read_bytes())
    assert viewed(busy, second, "-o", folder / "both.html") == 0
    document = data_of((folder / "both.html").read_text(encoding="utf-8"))
    assert [Path(trace["file"]).name for trace in document["traces"]] == ["busy.jsonl", "second.jsonl"]
    assert [world["trace"] for world in document["worlds"]] == [0] * 4 + [1] * 4
    assert document["worlds"][5]["fork"]["world"] == 4
    assert len(document["scenarios"]) == 1


def test_numbers_that_a_browser_would_round_are_announced(busy: Path, folder: Path) -> None:
    large = folder / "large.jsonl"
    large.write_bytes(busy.read_bytes().replace(b'"amount":4000', b'"amount":12345678901234567890'))
    assert viewed(large) == 0
    text = large.with_suffix(".html").read_text(encoding="utf-8")
    assert "12345678901234567890" in text
    assert data_of(text)["exact"] is True
    assert viewed(busy) == 0
    assert "exact" not in data_of(busy.with_suffix(".html").read_text(encoding="utf-8"))


def test_what_is_no_trace_is_refused(folder: Path, busy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "text.jsonl").write_text("no trace\n")
    assert viewed(folder / "text.jsonl") == 2
    assert "not a line of a trace" in capfd.readouterr().err
    assert viewed(".") == 2
    assert ". is a folder" in capfd.readouterr().err
    assert viewed(busy, "-o", busy) == 2
    assert "this is a trace, which the page would replace" in capfd.readouterr().err


PROGRAM = """\
from pathlib import Path

from mcp_sim.programs import initial, tool

Path(__file__).with_name("ran").touch()
tables = {"book": {"key": "id", "fields": {"title": ""}}}


@initial
def start(given, world):
    return None


@tool
def list_books(world):
    return []
"""


def test_no_command_runs_a_program_without_trust_to_look_at_a_trace(tmp_path: Path) -> None:
    (tmp_path / "books.py").write_text(PROGRAM)
    (tmp_path / "tools.json").write_text('{"tools": [{"name": "list_books", "inputSchema": {"type": "object"}}]}')
    (tmp_path / "books.yaml").write_text("{mcp_sim: 1, name: books, tools: tools.json, program: books.py}")
    expected = "expect: [{state: {entity: book, count: 0}}]"
    (tmp_path / "scenario.yaml").write_text(f"mcp_sim: 1\nname: library\ntools: books.yaml\n{expected}\n")
    (tmp_path / "calls.jsonl").write_text('{"tool": "list_books"}')
    trace, scenario, calls = (str(tmp_path / name) for name in ("run.jsonl", "scenario.yaml", "calls.jsonl"))
    assert main(["play", "--trust", str(tmp_path), scenario, calls, "--trace", trace]) == 0
    (tmp_path / "ran").unlink()
    assert viewed(trace) == 0
    assert main(["show", trace]) == 0
    assert main(["grade", trace]) == 1
    assert main(["explain", trace, "--scenario", scenario]) == 0
    assert not (tmp_path / "ran").exists()
    assert "needs your trust" in data_of((tmp_path / "run.html").read_text(encoding="utf-8"))["scenarios"][0]["note"]
    assert viewed("--trust", tmp_path, trace) == 0
    assert (tmp_path / "ran").exists()


def test_a_run_writes_a_page_with_its_verdicts_and_the_commands_that_repeat_them(tmp_path: Path) -> None:
    call = json.dumps({"title": "Spring order", "amount": 4000, "contact_id": "con_00001"})
    agent = [PYTHON, str(SUPPORT / "plain_agent.py"), "create_deal", call, "create_deal", call]
    options = ["--clock", "virtual", "--seeds", "7,8", "--baseline", "--html", str(tmp_path / "runs.html")]
    assert main(["run", "flaky_crm", *options, "--json", str(tmp_path / "report.json"), "--", *agent]) == 1
    document = data_of((tmp_path / "runs.html").read_text(encoding="utf-8"))
    worlds = {world["name"]: world for world in document["worlds"]}
    assert {*worlds} == {"faults-seed7", "faults-seed8", "clean-seed7", "clean-seed8"}
    assert worlds["faults-seed8"]["repeat"].startswith("mcp-sim run flaky_crm --seeds 8 --clock virtual -- ")
    assert "--no-faults" in worlds["clean-seed7"]["repeat"]
    assert {world["grade"]["outcome"] for world in worlds.values()} == {"failed"}
    assert {trace["file"] for trace in document["traces"]} == {""}
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {one["trace"] for one in report["runs"]} == {None}
