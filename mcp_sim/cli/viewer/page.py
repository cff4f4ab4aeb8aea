"""Put a document, or the runs of `mcp-sim run`, into the HTML page of the viewer.

The page is one file that loads nothing. Its Content-Security-Policy allows its own script and style, by their hashes,
and no other. All text of traces is data, which the script shows as text.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from mcp_sim.cli.viewer.document import Collector, Judged
from mcp_sim.runs.reports.report import TABLES, Report, reasons, sentences
from mcp_sim.runs.results import RunResult
from mcp_sim.runs.summary import FAILED, PASSED
from mcp_sim.types import Record
from mcp_sim.types.json_values import encode

PARTS = Path(__file__).parent / "page"
SCRIPTS = ("elements", "model", "search", "steps", "values", "step", "state", "faults", "worlds", "runs", "app")
"""The parts of the script, in their order. They share one scope."""

FROM_DATA, LIVE = ("start",), ("steer", "live")
"""The last parts: they begin with the data of the page, or with those of a server."""

_EXACT = 2**53  # larger integers lose digits in JavaScript
_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*+"|(?<![\w.])-?\d{16,}(?![\d.eE])')


_MOST_RUNS = 100
"""The most runs whose steps a page has. Those that did not pass come first. The page is one file, which a browser must
open at once."""


def page(document: Record, *, is_live: bool = False) -> str:
    """Return the HTML of a document. A live page may make requests of the server that it comes from."""
    style = _part("viewer.css")
    names = (*SCRIPTS, *(LIVE if is_live else FROM_DATA))
    script = f'"use strict";\n(() => {{\n{"".join(_part(f"{name}.js") for name in names)}}})();\n'
    connect = "connect-src 'self'; " if is_live else ""
    # The document as JSON that cannot end its element. It says if it has numbers that JavaScript rounds.
    text = encode(document)
    numbers = (match[0] for match in _NUMBER.finditer(text) if not match[0].startswith(b'"'))
    if any(abs(int(number)) > _EXACT for number in numbers):
        text = encode({**document, "exact": True})
    values = {
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        f"{connect}base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "data": text.decode().replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _part("viewer.html"))


def _part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def runs_page(report: Report, traces: Path, *, is_kept: bool) -> str:
    """Return the page of the runs of a report; `traces` is the folder of their traces, and whether it is kept."""
    results = sorted(report.results, key=lambda result: result.has_passed)
    collector = Collector(report.reference, report.scenario)
    for result in results[:_MOST_RUNS]:
        name = result.plan.name
        grade = {**result.grade.to_json(), "because": result.because}
        errors = traces / f"{name}.stderr.txt"
        stderr = errors.read_text(encoding="utf-8").rstrip() if errors.exists() else ""
        judged = Judged(grade, report.repeat(result), stderr)
        collector.add(traces / f"{name}.jsonl", {name: judged}, is_kept=is_kept)
    left_out = len(results) - _MOST_RUNS
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
