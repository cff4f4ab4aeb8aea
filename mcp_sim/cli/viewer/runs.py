"""The page of the runs of `mcp-sim run`."""

from __future__ import annotations

from pathlib import Path

from mcp_sim.cli.viewer.document import Collector, Judged
from mcp_sim.cli.viewer.page import page
from mcp_sim.runs.reports.report import Report

MOST_RUNS = 100
"""The most runs that a page has. Those that did not pass come first."""


def runs_page(report: Report, traces: Path, *, is_kept: bool) -> str:
    """Return the page of the runs of a report; `traces` is the folder of their traces, and whether it is kept."""
    chosen = sorted(report.results, key=lambda result: result.has_passed)[:MOST_RUNS]
    collector = Collector(report.reference, report.scenario)
    for result in chosen:
        judged = Judged({**result.grade.to_json(), "because": result.because}, report.repeat(result))
        collector.add(traces / f"{result.plan.name}.jsonl", {result.plan.name: judged}, is_kept=is_kept)
    left_out = len(report.results) - len(chosen)
    return page(collector.document(f"{left_out} more runs are not in this file." if left_out else ""))
