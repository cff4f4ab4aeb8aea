"""`mcp-sim grade`: the same grade from a trace as from the world itself, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.notes import guessing_tools

from mcp_sim.cli import main
from mcp_sim.cli.files import open_trace
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types.kinds import Sink

SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
CREATE = {"tool": "create_deal", "arguments": SPRING}
LOOK = {"tool": "list_deals", "arguments": {"contact_id": "con_00001"}}

SCENARIO = """\
mcp_sim: 1
name: small
tools: crm
seed: 7
world: {now: 2029-03-01T09:00:00Z}
"""
LOST = "perturbations: [{lost_ack: {}, id: lost, tools: create_deal, when: {nth: 1}}]\n"
ONE = "{state: {entity: deal, where: {title: Spring order}, count: 1}, id: one}"


class Runs:
    """Plays calls in a scenario, and grades the trace."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder, self._capsys = folder, capsys
        self.trace = folder / "run.jsonl"

    def play(self, ending: str, *calls: Any, base: str = SCENARIO, options: Sequence[str] = ()) -> tuple[int, str]:
        """Return the exit code and the verdicts of `play --grade`, with a trace."""
        (self._folder / "small.yaml").write_text(base + ending, encoding="utf-8")
        lines = self._folder / "calls.jsonl"
        lines.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
        code = main(
            ["play", str(self._folder / "small.yaml"), str(lines), "--grade", "--trace", str(self.trace), *options]
        )
        return code, self._capsys.readouterr().err

    def grade(self, *options: str) -> tuple[int, str]:
        self._capsys.readouterr()
        code = main(["grade", str(self.trace), *options])
        return code, self._capsys.readouterr().out


@pytest.fixture
def runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Runs:
    return Runs(tmp_path, capsys)


@pytest.mark.parametrize(
    ("ending", "calls", "code", "outcome"),
    [
        (f"{LOST}expect: [{ONE}]", [CREATE, LOOK], 0, "passed"),
        (f"{LOST}expect: [{ONE}]", [CREATE, CREATE], 1, "failed"),
        (f"{LOST}expect: [{{state: {{entity: deal}}}}]", [LOOK], 4, "not exercised"),
        (f"expect: [{ONE}]", [CREATE], 0, "passed"),
        ("expect: [{answered: done}]", [CREATE], 4, "inconclusive"),
        (f"intensity: 0.0\n{LOST.replace('nth: 1', 'probability: 0.5')}expect: [{ONE}]", [CREATE], 0, "passed"),
    ],
)
def test_a_trace_gets_the_grade_of_its_world(
    runs: Runs, ending: str, calls: list[Any], code: int, outcome: str
) -> None:
    played, verdicts = runs.play(ending, *calls)
    assert played == code
    graded, text = runs.grade()
    assert graded == code
    assert text.startswith(f"world default: {outcome}")
    assert all(line.split(" (")[0] in text for line in verdicts.splitlines())


def test_the_final_answer_is_an_option(runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs.play("expect: [{answered: done}]", CREATE)
    assert main(["grade", str(runs.trace)]) == 4
    assert "--answer TEXT" in capsys.readouterr().err
    assert runs.grade("--answer", "It is done.")[0] == 0
    (tmp_path / "answer.txt").write_text("I gave up.", encoding="utf-8")
    code, text = runs.grade("--answer-file", str(tmp_path / "answer.txt"))
    assert (code, "does not contain 'done'" in text) == (1, True)


def test_json_has_the_deciding_steps_and_the_reward(runs: Runs) -> None:
    runs.play(f"{LOST}expect: [{ONE}, {{called: create_deal, weight: 3}}]", CREATE, CREATE)
    code, text = runs.grade("--json")
    report = json.loads(text)
    grade = report["worlds"]["default"]
    assert (code, report["scenario"], grade["outcome"], grade["reward"]) == (1, "small", "failed", 0.75)
    assert [(verdict["id"], verdict["steps"]) for verdict in grade["verdicts"]] == [
        ("one", [2, 3]),
        ("called-create_deal", [2, 3]),
    ]


def test_a_scenario_that_was_changed_or_moved_is_reported(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.play(f"expect: [{ONE}]", CREATE)
    path = tmp_path / "small.yaml"
    path.write_text(f"{SCENARIO}expect: [{{not_called: create_deal}}]", encoding="utf-8")
    assert main(["grade", str(runs.trace)]) == 1
    assert "was made with another version of" in capsys.readouterr().err
    path.rename(tmp_path / "moved.yaml")
    assert main(["grade", str(runs.trace)]) == 2
    assert "name it with --scenario" in capsys.readouterr().err
    assert main(["grade", str(runs.trace), "--scenario", str(tmp_path / "moved.yaml")]) == 1


def test_a_crash_is_exit_3_and_has_no_reward(runs: Runs) -> None:
    runs.play(f"expect: [{ONE}]", CREATE)
    crash: dict[str, Any] = {
        "world": "default",
        "crash": {"tool": "t", "arguments": {}, "error": "broken", "attempts": []},
    }
    with runs.trace.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**crash, "measured": {}}) + "\n")
    code, text = runs.grade("--json")
    assert (code, json.loads(text)["worlds"]["default"]["reward"]) == (3, None)
    assert "t: broken" in text


def test_the_headline_says_what_is_guessed(runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guessing_tools(tmp_path / "notes.json")
    guess, sure = ({"tool": name, "arguments": {"title": "x"}} for name in ("frobnicate", "create_note"))
    ending = "tools: ./notes.json\nexpect: [{called: frobnicate, id: done}]"
    base = "mcp_sim: 1\nname: small\n"
    headline = "passed: no expectation failed; done rests on a guess. 1 of 2 answers (50 %) is guessed."
    _, verdicts = runs.play(ending, guess, sure, base=base)
    assert verdicts.splitlines()[-1] == headline
    assert runs.grade()[1].startswith(f"world default: {headline}\n")
    assert main(["show", str(runs.trace)]) == 0
    assert f"\nworld default: {headline}\n" in capsys.readouterr().out
    code, strict = runs.grade("--strict")
    guessed = "inconclusive: done rests on a guess. 1 of 2 answers (50 %) is guessed."
    assert (code, strict.splitlines()[0], strict.count("(guessed)")) == (4, f"world default: {guessed}", 0)
    assert strict.count("on a guess") == 2  # in the headline and in the verdict
    assert runs.play(ending, guess, base=base, options=["--strict"])[0] == 4


def test_calls_before_a_reset_do_not_count_as_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guessing_tools(tmp_path / "notes.json")
    path = tmp_path / "small.yaml"
    path.write_text("mcp_sim: 1\nname: small\ntools: ./notes.json\nexpect: [called: create_note]\n", encoding="utf-8")

    async def play(sink: Sink) -> None:
        async with Simulator(load(path), [sink]).open() as world:
            for tool in ("frobnicate", "frobnicate", "", "create_note", "frobnicate"):
                await world.call(tool, {"title": "x"}) if tool else world.reset()

    sink = open_trace(tmp_path / "run.jsonl", load(path), [])
    anyio.run(play, sink)
    sink.close()
    for command in ("show", "grade"):
        assert main([command, str(tmp_path / "run.jsonl")]) == 0
        assert "passed: no expectation failed. 1 of 2 answers (50 %) is guessed.\n" in capsys.readouterr().out


def test_what_is_no_trace_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    assert main(["grade", str(path)]) == 2
    assert "is not a trace" in capsys.readouterr().err
    path.write_text('{"format":2,"scenario":"flaky-crm"}\n', encoding="utf-8")
    assert main(["grade", str(path)]) == 2
    assert "has no world to judge" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kept", "old", "new", "message"),
    [
        ([0, 2, 3], "", "", "the first steps of world default are missing"),
        ([0, 1, 2], '"changes"', '"chnages"',
         ":3: not an entry of a trace of format 2: step.truth: 'changes' is a required property"),
        ([0, 1, 2], '"format":2', '"format":1', "the only one that can be read"),
        ([1, 2, 3], "", "", "its first line has no format"),
        ([0, 1, 2], ',"measured"', '\x00,"measured"', "not a line of a trace"),
    ],
)  # fmt: skip
def test_of_a_cut_or_old_trace_it_says_what_is_wrong(
    runs: Runs, kept: list[int], old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.play(f"expect: [{ONE}]", CREATE, LOOK)
    lines = runs.trace.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(lines[at] for at in kept)
    runs.trace.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    assert main(["grade", str(runs.trace)]) == (3 if message.startswith(":3") else 2)
    assert message in capsys.readouterr().err


def test_show_prints_the_verdicts_below_the_table(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    runs.play(f"{LOST}expect: [{ONE}]", CREATE, CREATE)
    assert main(["show", str(runs.trace)]) == 0
    table, verdicts = capsys.readouterr().out.split("\n\n")
    assert "lost_ack" in table
    assert verdicts.splitlines() == runs.grade()[1].splitlines()
