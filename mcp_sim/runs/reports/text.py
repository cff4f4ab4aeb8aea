"""The report for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.runs.reports.report import TABLES, Report, group_title, groups, notes, reasons, sentences
from mcp_sim.runs.results import RunResult, count_retries, retry_sentence
from mcp_sim.types.grades import failed_first
from mcp_sim.types.readable import printable, table_lines

MOST_SHOWN = 5  # the most groups of similar runs that are shown
MOST_ERROR_LINES = 5  # the end of a traceback: the message and where it was raised

NO_CALLS = (
    "The agent called no tool in {count}: its MCP client must connect to {{url}} (or $MCP_SIM_URL), "
    "or read {{mcp_config}} (or $MCP_SIM_CONFIG)."
)

NO_EXPECTATIONS = (
    "{path} has no `expect:`, so nothing can be judged: `mcp-sim list expectations` shows what it may have."
)


def report_lines(report: Report) -> Iterator[str]:
    """Yield the report: of one run its verdicts, of more runs tables and the first runs that did not pass."""
    return map(printable, _lines(report))


def _lines(report: Report) -> Iterator[str]:
    if len(report.results) == 1:
        yield from _verdicts(report.results[0])
    elif report.results:
        for table in TABLES.values():
            rows = table(report.summary)
            if rows:
                yield from table_lines(rows, range(1, len(rows[0])))
                yield ""
        if lines := sentences(report.summary):
            yield from (*lines, "")
    yield from _troubled(report)
    silent = [result for result in report.results if not result.calls and result.exit_code == 0]
    if silent:
        count = "any run" if len(silent) == len(report.results) else f"{len(silent)} runs"
        yield NO_CALLS.format(count=count)
    if not report.scenario.expectations:
        yield NO_EXPECTATIONS.format(path=report.scenario.path)
    yield report.conclusion[0].upper() + report.conclusion[1:]


def _verdicts(result: RunResult) -> Iterator[str]:
    """Yield the verdicts of a run, and its faults."""
    calls = "1 call" if result.calls == 1 else f"{result.calls} calls"
    yield f"seed {result.plan.seed}: {calls} in {result.seconds:.1f} s"
    for fault in result.faults:
        times = "once" if fault.times == 1 else f"{fault.times} times"
        place = "" if fault.tool is None else f" on {fault.tool}, {times}"
        yield f"  fault    {fault.id} ({fault.kind}){place}"
    for fault in dict.fromkeys(retry.fault for retry in result.retries):
        yield f"  retries  {retry_sentence(fault, count_retries(result.retries, fault))}"
    width = max((len(verdict.outcome) for verdict in result.grade.verdicts), default=0)
    for verdict in failed_first(result.grade.verdicts):
        yield f"  {verdict.outcome:{max(width, 8)}} {verdict.id}: {verdict.because}{notes(verdict)}"
    yield ""


def _troubled(report: Report) -> Iterator[str]:
    """Yield the first runs that did not pass, why, and the commands that repeat them."""
    troubled = [
        *report.troubled("crashed", "failed"),
        *report.troubled("inconclusive"),
        *(report.troubled("not exercised") if len(report.results) == 1 else []),
    ]
    alike = groups(troubled)
    for group in alike[:MOST_SHOWN]:
        result = group[0]
        if len(report.results) > 1:
            yield group_title(group)
            yield from (f"  {reason}" for reason in reasons(result) if reason != result.because)
        if result.exit_code != 0 and result.errors:
            yield from (f"  stderr: {line}" for line in result.errors.splitlines()[-MOST_ERROR_LINES:])
        if result.trace is not None:
            yield f"  trace:  {result.trace}"
        if result.errors_file is not None:
            yield f"  stderr: {result.errors_file}"
        yield f"  repeat: {report.repeat(result)}"
        yield ""
    if len(alike) > MOST_SHOWN:
        yield f"{sum(map(len, alike[MOST_SHOWN:]))} more runs did not pass (--json FILE lists them)"
        yield ""
