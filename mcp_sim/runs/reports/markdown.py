"""The report for a pull request, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_sim.runs.reports.report import TABLES, Report, group_title, groups, notes, reasons, sentences
from mcp_sim.types.grades import failed_first
from mcp_sim.types.readable import readable

_AUTOMATIC = re.compile(r"(?<=@)(?=\w)|(?<=\w)(?=@)|(?<=:)(?=//)|(?i:(?<=www)(?=\.))|(?<=#)(?=\d)|(?i:(?<=GH)(?=-\d))")
"""Mentions, addresses, links and issues that GitHub would find. Markdown cannot escape them."""
_BREAK = "\N{ZERO WIDTH SPACE}"
_BLOCK = re.compile(r"^[-+=](?=\s|[-+=]|$)|(?<=^\d)[.)]|(?<=^\d\d)[.)]")
"""What begins a list, a heading or a rule at the beginning of a line."""
_BACKTICKS = re.compile("`+")
MOST_SHOWN = 10  # a comment of a pull request is cut at 65,536 characters


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"### mcp-sim: {escaped(report.scenario.name)}"
    yield ""
    yield f"**{escaped(report.conclusion[0].upper() + report.conclusion[1:])}**"
    yield ""
    if len(report.results) == 1:
        # The verdicts of the only run, its faults, and the command that repeats it.
        (result,) = report.results
        verdicts = failed_first(result.grade.verdicts)
        rows = [[verdict.outcome, verdict.id, verdict.because + notes(verdict)] for verdict in verdicts]
        yield from _rows([["verdict", "expectation", "because"], *rows] if rows else [], "---")
        faults = [f"{fault.id} ({fault.kind}{f' on {fault.tool}' if fault.tool else ''})" for fault in result.faults]
        if faults:
            yield from (f"Faults: {escaped(', '.join(faults))}", "")
        yield from (f"repeat: {code(report.repeat(result))}", "")
        return
    (_, conditions), *others = TABLES.items()
    yield from markdown_table(conditions(report.summary))
    for sentence in sentences(report.summary):
        yield from (escaped(sentence), "")
    for title, table in others:
        yield from _folded(title, markdown_table(table(report.summary)))
    yield from _folded("Runs that did not pass", _troubled(report), is_open=True)


def markdown_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table of numbers, and an empty line; nothing for no rows."""
    return _rows(rows, "---:")


def _rows(rows: Sequence[Sequence[str]], alignment: str) -> Iterator[str]:
    """Yield a table whose columns after the first have an alignment."""
    for at, row in enumerate(rows):
        yield f"| {' | '.join(map(escaped, row))} |"
        if at == 0:
            yield f"| --- |{f' {alignment} |' * (len(row) - 1)}"
    if rows:
        yield ""


def _folded(title: str, lines: Iterator[str], *, is_open: bool = False) -> Iterator[str]:
    """Yield lines below a title that opens them; nothing for no lines."""
    body = list(lines)
    if body:
        yield from (f"<details{' open' if is_open else ''}><summary>{title}</summary>", "", *body, "</details>", "")


def _troubled(report: Report) -> Iterator[str]:
    alike = groups(report.troubled("crashed", "failed", "inconclusive"))
    for group in alike[:MOST_SHOWN]:
        yield f"- {escaped(group_title(group))}"
        yield from (f"  - {escaped(reason)}" for reason in reasons(group[0]))
        yield f"  - repeat: {code(report.repeat(group[0]))}"
    if len(alike) > MOST_SHOWN:
        yield f"- {sum(map(len, alike[MOST_SHOWN:]))} more runs"
    if alike:
        yield ""


def escaped(text: str) -> str:
    """Escape what Markdown or HTML would read as its own."""
    plain = _AUTOMATIC.sub(_BREAK, readable(" ".join(text.split())))
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in "\\`*_|[]~$#!":
        plain = plain.replace(sign, f"\\{sign}")
    return _BLOCK.sub(r"\\\g<0>", plain)


def code(text: str) -> str:
    """Return a text as code in a line, also one with backticks."""
    plain = readable(" ".join(text.split()))
    fence = "`" * (max(map(len, _BACKTICKS.findall(plain)), default=0) + 1)
    return f"{fence}{plain}{fence}" if len(fence) == 1 else f"{fence} {plain} {fence}"
