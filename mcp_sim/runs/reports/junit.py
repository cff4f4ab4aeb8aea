"""The report as JUnit XML: a suite per condition, a case per run."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcp_sim.runs.reports.report import Report, reasons
from mcp_sim.runs.results import RunResult
from mcp_sim.types.readable import readable

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> bytes:
    """Return the report as an XML document."""
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
        for result in results:
            _add_case(suite, report, result)
    indent(root)
    return tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _add_case(suite: Element, report: Report, result: RunResult) -> None:
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
    if result.errors:
        SubElement(case, "system-err").text = _plain(result.errors)


def _plain(text: str) -> str:
    """Escape what controls a terminal, and replace what XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", readable(text))
