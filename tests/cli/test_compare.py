"""`mcp-sim compare`: decisions about two reports, what changed, and files that cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.runs.comparison import Change, Rate
from mcp_sim.runs.statistics import Pairs


def report(outcomes: Sequence[str], first_seed: int = 0, condition: str = "faults", **keys: Any) -> dict[str, Any]:
    """Return the JSON report of runs, whose expectation `paid` ends as the run does."""
    runs = [
        {
            "condition": condition,
            "seed": seed,
            "repetition": 1,
            "outcome": outcome,
            "grade": {"verdicts": [{"id": "paid", "outcome": outcome}, {"id": "polite", "outcome": "passed"}]},
            "faults": [{"id": "lost", "kind": "lost_ack", "tool": "buy", "times": 1}] if seed % 2 else [],
        }
        for seed, outcome in enumerate(outcomes, first_seed)
    ]
    about = {"format": 1, "scenario": "shop", "path": "shop.yaml", "sha256": "a1", "agent": ["sh", "agent.sh"]}
    return {**about, "planned": len(runs), "runs": runs, **keys}


def compared(folder: Path, before: Any, after: Any, *options: str) -> int:
    for name, content in (("before", before), ("after", after)):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return main(["compare", str(folder / "before.json"), str(folder / "after.json"), *options])


def outcomes(passed: int, failed: int, inconclusive: int = 0) -> list[str]:
    return ["passed"] * passed + ["failed"] * failed + ["inconclusive"] * inconclusive


@pytest.mark.parametrize(
    ("before", "after", "decision", "code"),
    [
        (outcomes(100, 0), outcomes(100, 0), "PASS", 0),
        (outcomes(100, 0), outcomes(80, 20), "REGRESSION", 1),
        (outcomes(80, 20), outcomes(100, 0), "IMPROVED", 0),
        (outcomes(10, 0), outcomes(10, 0), "INCONCLUSIVE", 4),  # 10 equal pairs exclude no fall of 5 points
        (outcomes(100, 0), outcomes(92, 8), "INCONCLUSIVE", 4),
        (outcomes(100, 0), outcomes(80, 0, 20), "INCONCLUSIVE", 4),  # 20 runs that nobody could judge hide anything
        (outcomes(0, 0, 5), outcomes(0, 0, 5), "INCONCLUSIVE", 4),
    ],
)
def test_the_interval_decides_and_chooses_the_exit_code(
    before: list[str], after: list[str], decision: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, report(before), report(after)) == code
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1].startswith(f"{decision}: ")
    assert "paired by seed" in printed


def test_allow_is_how_much_the_pass_rate_may_fall(tmp_path: Path) -> None:
    before, after = report(outcomes(100, 0)), report(outcomes(92, 8))
    assert [compared(tmp_path, before, after, "--allow", allow) for allow in ("0.03", "0.05", "0.2")] == [1, 4, 0]


def test_runs_of_other_seeds_are_compared_by_newcombes_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The interval is that of his example (b), 9 of 10 and 3 of 10: 0.1705 to 0.8090."""
    code = compared(tmp_path, report(outcomes(3, 7)), report(outcomes(9, 1), first_seed=50), "--json")
    printed = json.loads(capsys.readouterr().out)
    (condition,) = printed["conditions"]
    assert (code, printed["decision"], condition["pairs"]) == (0, "IMPROVED", None)
    assert condition["interval"] == pytest.approx({"low": 0.1705, "high": 0.8090}, abs=1e-4)


def test_an_open_decision_says_how_many_runs_would_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared(tmp_path, report(outcomes(10, 0)), report(outcomes(10, 0)))
    assert "about 80 runs of each would, with these rates" in capsys.readouterr().out
    assert compared(tmp_path, report(outcomes(80, 0)), report(outcomes(80, 0))) == 0
    assert compared(tmp_path, report(outcomes(70, 0)), report(outcomes(70, 0))) == 4


def test_expectations_that_changed_are_listed_by_the_fault_that_runs_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = outcomes(40, 0), ["failed" if seed % 2 else "passed" for seed in range(40)]
    assert compared(tmp_path, report(before), report(after), "--markdown", str(tmp_path / "pr.md")) == 1
    table = capsys.readouterr().out.split("\n\n")[2].splitlines()
    assert [row.split()[:2] for row in table[1:]] == [["paid", "lost"]]
    assert "20/20 100 %" in table[1]
    assert "-100 points" in table[1]
    text = (tmp_path / "pr.md").read_text(encoding="utf-8")
    assert text.startswith("### mcp-sim: shop\n\n**REGRESSION: the pass rate changed by -50 points;")
    assert "| paid | lost | 20/20 100 % | 0/20 0 % | -100 points |" in text


def test_a_regression_under_one_condition_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def both(strong: list[str]) -> dict[str, Any]:
        runs = [
            report(each, condition=name)["runs"] for name, each in (("intensity 1", strong), ("clean", outcomes(9, 9)))
        ]
        mild = report(outcomes(100, 0), condition="intensity 0.3")["runs"]
        return report([]) | {"runs": [*mild, *runs[0], *runs[1]], "planned": 0}

    assert compared(tmp_path, both(outcomes(100, 0)), both(outcomes(50, 50))) == 1
    printed = capsys.readouterr().out
    assert [line.split()[-1] for line in printed.splitlines() if line.startswith("intensity")] == ["PASS", "REGRESSION"]
    assert "clean" not in printed


REFUSED: list[tuple[Any, str]] = [
    ("{", "after.json is not a report that `mcp-sim run --json FILE` wrote: it is not JSON"),
    ({"worlds": {}}, "after.json is not a report that `mcp-sim run --json FILE` wrote: it has no `runs`"),
    (report([]) | {"runs": [{}]}, "is not a report that `mcp-sim run --json FILE` wrote: KeyError: 'condition'"),
    (report([]) | {"format": 9}, "after.json is a report of format 9, expected 1"),
    (report([], scenario="bank"), "the reports are about different scenarios: "),
    (report([], sha256="b2"), "were made with different versions of shop; run both agents with the same scenario"),
    (report(["passed"], condition="intensity 1"), "the reports have no condition in common: "),
]


@pytest.mark.parametrize(("after", "message"), REFUSED)
def test_files_that_cannot_be_compared_are_refused(
    after: Any, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, report(outcomes(1, 0)), after) == 2
    assert message in capsys.readouterr().err


def test_a_missing_file_and_an_impossible_allowance_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 2
    assert "No such file" in capsys.readouterr().err
    assert compared(tmp_path, report([]), report([]), "--allow", "5") == 2


def test_reports_of_run_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for agent in ("give_up", "verify_then_retry"):
        command = [
            "run",
            "flaky_crm",
            "--seeds",
            "0..5",
            "--clock",
            "virtual",
            "--json",
            str(tmp_path / f"{agent}.json"),
        ]
        main([*command, "--", PYTHON, "-m", "mcp_sim.runs.agents", agent])
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "give_up.json"), str(tmp_path / "verify_then_retry.json")]) == 0
    assert "IMPROVED: the pass rate changed by +100 points" in capsys.readouterr().out


COUNTS = st.integers(0, 30)


@given(both=COUNTS, first=COUNTS, second=COUNTS, neither=COUNTS, allow=st.sampled_from([0.0, 0.05, 0.3]))
def test_a_decision_turns_with_the_order_of_the_reports(
    both: int, first: int, second: int, neither: int, allow: float
) -> None:
    pairs, runs = Pairs(both, first, second, neither), both + first + second + neither
    forth = Change(Rate(both + first, runs), Rate(both + second, runs), pairs)
    back = Change(Rate(both + second, runs), Rate(both + first, runs), Pairs(both, second, first, neither))
    assert forth.difference == pytest.approx(-back.difference)
    if forth.decision(allow) == "REGRESSION":
        assert back.decision(allow) == "IMPROVED"
    assert not runs or forth.interval.low <= forth.difference <= forth.interval.high
