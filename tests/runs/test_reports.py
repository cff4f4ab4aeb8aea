"""Reports of runs: what they show of texts that agents and tools may hold anything in."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from support.runs_reports import report, result

from mcp_sim.runs.reports.ci import github_annotations, junit
from mcp_sim.runs.reports.markdown import markdown
from mcp_sim.runs.reports.text import report_lines


def test_junit_is_xml_whatever_an_agent_prints() -> None:
    found = ET.fromstring(junit(report(result("failed", 1, errors="\x1b[31mred\x00 & <b>"), result("crashed", 2))))
    (suite,) = found
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    assert "& <b>" in (suite[0].findtext("system-err") or "")
    assert "repeat: mcp-sim run flaky_crm --seeds 1 -- 'my agent' '{url}'" in (suite[0].findtext("failure") or "")


def test_markdown_shows_texts_as_they_are() -> None:
    assert "2 records \\| &lt;b&gt;fit&lt;/b&gt;, \\`expected\\` 1" in markdown(
        report(result("failed", 1), result("passed", 2))
    )


def test_runs_that_fail_alike_are_shown_once() -> None:
    lines = list(report_lines(report(*(result("failed", seed) for seed in range(20)), result("failed", 20, "other"))))
    titles = [line for line in lines if line.startswith("failed (")]
    assert titles == [
        "failed (faults, 20 runs, seeds 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...): one-deal failed",
        "failed (faults, seed 20): other",
    ]


def test_the_headline_has_the_share_of_guessed_answers() -> None:
    results = [result("passed", 1, calls=8, guessed=1), result("passed", 2, calls=8, guessed=3)]
    assert [*report_lines(report(*results))][-1].endswith(" 4 of 16 answers (25 %) are guessed.")
    assert "guessed" not in report(result("passed", 1, calls=8)).conclusion


GUESS = "no expectation failed; one-deal rests on a guess"


def test_reports_of_outcomes_that_rest_on_guesses_say_so() -> None:
    unsure = [result("passed", seed, GUESS, guessed=1, rests_on_guess=True) for seed in (1, 2)]
    one, several = report(unsure[0]), report(*unsure, result("passed", 3))
    assert f"Passed: {GUESS}. 1 of 1 answers (100 %) is guessed." in [*report_lines(one)][-1]
    assert " 2 of these outcomes rest on a guess. 2 of 3 answers (67 %) are guessed." in several.conclusion
    assert "expected\\` 1 (guessed) |" in markdown(one)
    (suite,) = ET.fromstring(junit(several))
    (properties, *cases) = suite
    assert [each.get("value") for each in properties] == [several.conclusion.partition(" required. ")[2]]
    assert [case.findtext("system-out") for case in cases] == [GUESS, GUESS, None]
    (notice,) = github_annotations(several)
    assert notice.startswith("::warning ")
    assert GUESS in notice
    assert not [*github_annotations(report(result("passed", 1)))]


def test_the_report_says_how_to_connect_if_an_agent_calls_no_tool() -> None:
    lines = list(report_lines(report(result("passed", 1, calls=0), result("passed", 2, calls=0))))
    assert any("called no tool in any run" in line and "$MCP_SIM_URL" in line for line in lines)


def test_an_agent_that_dies_before_it_calls_a_tool_gets_no_advice_on_connecting() -> None:
    assert "$MCP_SIM_URL" not in "".join(report_lines(report(result("failed", 1, calls=0))))


def test_a_report_without_any_run_is_undecided() -> None:
    empty = report(planned=5)
    assert empty.exit_code == 4
    assert list(report_lines(empty)) == ["Undecided: no run has finished. Stopped after 0 of 5 runs."]
    assert markdown(empty)
    assert len(ET.fromstring(junit(empty))) == 0
