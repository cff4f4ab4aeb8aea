"""Annotations of GitHub Actions for runs that did not pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_sim.runs.reports.report import Report, group_title, groups, reasons
from mcp_sim.runs.results import Outcome
from mcp_sim.types.readable import readable

MOST_ANNOTATIONS = 10
"""GitHub shows ten of a step."""
LONGEST = 1_000
"""Characters of a message. The summary of the job has the rest."""

_ORDER: Sequence[Outcome] = ("crashed", "failed", "inconclusive", "not exercised")
_LEVELS = {"failed": "error", "crashed": "error"}


def github_annotations(report: Report) -> Iterator[str]:
    """Yield a command of GitHub for each group of runs that did not pass for the same reason, the gravest first."""
    troubled = [group for outcome in _ORDER for group in groups(report.troubled(outcome))]
    for group in troubled[:MOST_ANNOTATIONS]:
        level = _LEVELS.get(group[0].outcome, "warning")
        text = "\n".join([*reasons(group[0]), f"repeat: {report.repeat(group[0])}"])
        title = _property(f"{report.scenario.name}: {group_title(group)}")
        yield f"::{level} file={_property(report.scenario.path)},line=1,title={title}::{_message(text)}"


def _message(text: str) -> str:
    cut = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    return readable(cut).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
