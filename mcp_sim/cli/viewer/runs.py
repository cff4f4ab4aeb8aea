"""The page of the runs of `mcp-sim run`."""

from __future__ import annotations

from pathlib import Path

from mcp_sim.cli.viewer.document import Collector, Judged
from mcp_sim.cli.viewer.page import page
from mcp_sim.runs.reports.report import TABLES, Report, reasons, sentences
from mcp_sim.runs.results import RunResult
from mcp_sim.runs.summary import FAILED, PASSED
from mcp_sim.types import Record

MOST_RUNS = 100
"""The most runs whose steps a page has. Those that did not pass come first. The page is one file, which a browser must
open at once."""


def runs_page(report: Report, traces: Path, *, is_kept: bool) -> str:
    """Return the page of the runs of a report; `traces` is the folder of their traces, and whether it is kept."""
    results = sorted(report.results, key=lambda result: result.has_passed)
    collector = Collector(report.reference, report.scenario)
    for result in results[:MOST_RUNS]:
        name = result.plan.name
        grade = {**result.grade.to_json(), "because": result.because}
        judged = Judged(grade, report.repeat(result), _stderr(traces / f"{name}.stderr.txt"))
        collector.add(traces / f"{name}.jsonl", {name: judged}, is_kept=is_kept)
    left_out = len(results) - MOST_RUNS
    note = f"The steps of {left_out} more runs are not in this file." if left_out > 0 else ""
    return page(collector.document(note, _overview(report, results)))


def _overview(report: Report, results: list[RunResult]) -> Record:
    """Return what the page shows of all runs together."""
    rows = {title: table(report.summary) for title, table in TABLES.items()}
    return {
        "conclusion": report.conclusion[0].upper() + report.conclusion[1:],
        "outcome": {PASSED: "passed", FAILED: "failed"}.get(report.exit_code, "inconclusive"),
        "agent": " ".join(report.agent),
        "tables": [{"title": title, "rows": table} for title, table in rows.items() if table],
        "sentences": sentences(report.summary),
        "runs": [_run(result) for result in results],
    }


def _run(result: RunResult) -> Record:
    return {
        "name": result.plan.name,
        "outcome": result.outcome,
        "calls": result.calls,
        "faults": list(dict.fromkeys(fault.id for fault in result.faults)),
        "reasons": [] if result.has_passed else reasons(result),
    }


def _stderr(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip() if path.exists() else ""
