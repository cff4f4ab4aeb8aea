"""The report for a pull request, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_sim.runs.reports.report import TABLES, Report, group_title, groups, reasons, sentences

MOST_SHOWN = 10


def markdown(report: Report) -> str:
    """Return the report as a Markdown document."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"### mcp-sim: {escaped(report.scenario.name)}"
    yield ""
    yield f"**{escaped(report.conclusion[0].upper() + report.conclusion[1:])}**"
    yield ""
    (_, conditions), *others = TABLES.items()
    yield from markdown_table(conditions(report.summary))
    for sentence in sentences(report.summary):
        yield from (escaped(sentence), "")
    for title, table in others:
        yield from _folded(title, markdown_table(table(report.summary)))
    yield from _folded("Runs that did not pass", _troubled(report), is_open=True)


def markdown_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table, and an empty line; nothing for no rows."""
    for at, row in enumerate(rows):
        yield f"| {' | '.join(map(escaped, row))} |"
        if at == 0:
            yield f"| --- |{' ---: |' * (len(row) - 1)}"
    if rows:
        yield ""


def _folded(title: str, lines: Iterator[str], *, is_open: bool = False) -> Iterator[str]:
    """Yield lines below a title that opens them; nothing for no lines."""
    body = list(lines)
    if body:
        yield from (f"<details{' open' if is_open else ''}><summary>{title}</summary>", "", *body, "</details>", "")


def _troubled(report: Report) -> Iterator[str]:
    troubled = groups(report.troubled("crashed", "failed", "inconclusive"))
    for group in troubled[:MOST_SHOWN]:
        yield f"- {escaped(group_title(group))}"
        yield from (f"  - {escaped(reason)}" for reason in reasons(group[0]))
        yield f"  - repeat: `{report.repeat(group[0])}`"
    if len(troubled) > MOST_SHOWN:
        yield f"- {sum(map(len, troubled[MOST_SHOWN:]))} more runs"
    if troubled:
        yield ""


def escaped(text: str) -> str:
    """Escape what Markdown or HTML would read as its own."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    for sign in "\\`*_|[]":
        plain = plain.replace(sign, f"\\{sign}")
    return plain
