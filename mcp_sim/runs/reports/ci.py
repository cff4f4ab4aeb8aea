"""Reports for CI: JUnit XML, a suite per condition and a case per run, and annotations of GitHub Actions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcp_sim.runs.reports.report import Report, group_title, groups, guesses, reasons
from mcp_sim.runs.results import Outcome
from mcp_sim.types.readable import readable

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


_MOST_ANNOTATIONS = 10
"""GitHub shows ten of a step."""
_LONGEST = 1_000
"""Characters of a message. The summary of the job has the rest."""

_ORDER: Sequence[Outcome] = ("crashed", "failed", "inconclusive", "not exercised")
_LEVELS = {"failed": "error", "crashed": "error"}


def junit(report: Report) -> bytes:
    root = Element("testsuites", name="mcp-sim")
    for summary in report.summary.conditions:
        results = [result for result in report.results if result.plan.condition == summary.condition]
        suite = SubElement(
            root,
            "testsuite",
            name=_plain(f"{report.scenario.name} ({summary.condition.name})"),
            tests=str(len(results)),
            failures=str(summary.counts["failed"]),
            errors=str(summary.counts["crashed"]),
            skipped=str(summary.counts["not exercised"] + summary.counts["inconclusive"]),
            time=f"{sum(result.seconds for result in results):.3f}",
        )
        guessed = " ".join(guesses(results))
        if guessed:
            SubElement(SubElement(suite, "properties"), "property", name="guessed", value=guessed)
        for result in results:
            case = SubElement(
                suite,
                "testcase",
                classname=_plain(f"mcp-sim.{report.scenario.name}"),
                name=_plain(result.plan.name),
                time=f"{result.seconds:.3f}",
            )
            tag = {"failed": "failure", "crashed": "error", "passed": ""}.get(result.outcome, "skipped")
            if tag:
                because = SubElement(case, tag, message=_plain(result.because))
                because.text = _plain("\n".join([*reasons(result), f"repeat: {report.repeat(result)}"]))
            elif result.grade.guessed:
                SubElement(case, "system-out").text = _plain(result.because)
            if result.errors:
                SubElement(case, "system-err").text = _plain(result.errors)
    indent(root)
    return tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _plain(text: str) -> str:
    """Escape what controls a terminal, and replace what XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", readable(text))


def github_annotations(report: Report) -> Iterator[str]:
    """Yield a command of GitHub for each group of runs with the same reason, the gravest first.

    Only runs that passed without a guess are left out.
    """
    passed = [result for result in report.troubled("passed") if result.grade.guessed]
    shown = [group for outcome in _ORDER for group in groups(report.troubled(outcome))] + groups(passed)
    for group in shown[:_MOST_ANNOTATIONS]:
        level = _LEVELS.get(group[0].outcome, "warning")
        text = "\n".join([*reasons(group[0]), f"repeat: {report.repeat(group[0])}"])
        title = _property(f"{report.scenario.name}: {group_title(group)}")
        yield f"::{level} file={_property(report.scenario.path)},line=1,title={title}::{_message(text)}"


def _message(text: str) -> str:
    cut = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return readable(cut).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
