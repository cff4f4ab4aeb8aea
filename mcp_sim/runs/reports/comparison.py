"""The comparison of two reports, for terminals and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.runs.comparison import Change, Comparison, ConditionChange, Rate
from mcp_sim.runs.reports.markdown import escaped, markdown_table
from mcp_sim.runs.statistics import Interval
from mcp_sim.types.readable import percent, table_lines

MOST_CELLS = 20  # the most cells that are shown; the JSON has all of them


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the comparison as lines, the decision last."""
    yield f"{comparison.before.scenario}: {_how(comparison)}"
    yield ""
    yield from table_lines(condition_rows(comparison), range(1, 6))
    yield ""
    if comparison.cells:
        yield from table_lines(cell_rows(comparison), range(1, 6))
        yield ""
    yield from notes(comparison)
    yield conclusion(comparison)


def comparison_markdown(comparison: Comparison) -> str:
    """Return the comparison as a Markdown document, the decision first."""
    lines = [f"### mcp-sim: {escaped(comparison.before.scenario)}", "", f"**{escaped(conclusion(comparison))}**", ""]
    lines += [escaped(_how(comparison)), "", *markdown_table(condition_rows(comparison))]
    if comparison.cells:
        cells = markdown_table(cell_rows(comparison))
        lines += ["<details open><summary>What changed</summary>", "", *cells, "</details>", ""]
    lines += [line for note in notes(comparison) for line in (escaped(note), "")]
    return "\n".join(lines)


def _how(comparison: Comparison) -> str:
    before, after = comparison.before, comparison.after
    how = "paired by seed" if comparison.is_paired else "not paired, since the seeds differ"
    return f"{len(before.runs)} runs before ({before.path}), {len(after.runs)} after ({after.path}), {how}"


def condition_rows(comparison: Comparison) -> list[list[str]]:
    head = ["condition", "before", "after", "change", "95 % interval", "decision"]
    rows = [
        [
            condition.condition,
            _rate(condition.judged.before),
            _rate(condition.judged.after),
            *_change(condition.judged),
            condition.decision(comparison.allow),
        ]
        for condition in comparison.conditions
    ]
    return [head, *rows]


def cell_rows(comparison: Comparison) -> list[list[str]]:
    rows = [
        [
            cell.expectation,
            cell.fault or "(none)",
            _rate(cell.change.before),
            _rate(cell.change.after),
            *_change(cell.change),
        ]
        for cell in comparison.cells[:MOST_CELLS]
    ]
    return [["expectation", "where met", "before", "after", "change", "95 % interval"], *rows]


def _change(change: Change) -> list[str]:
    if change.before.share is None or change.after.share is None:
        return ["-", "-"]
    return [f"{points(change.difference)} points", interval_text(change.interval)]


def _rate(rate: Rate) -> str:
    return (
        f"{rate.passed}/{rate.judged}" if rate.share is None else f"{rate.passed}/{rate.judged} {percent(rate.share)}"
    )


def points(share: float) -> str:
    """Render a difference of shares in percentage points, with its sign."""
    return f"{100 * share:+.0f}" if round(100 * share) else "0"


def interval_text(interval: Interval) -> str:
    """Render an interval of differences, in percentage points."""
    return f"{points(interval.low)} to {points(interval.high)}"


def notes(comparison: Comparison) -> Iterator[str]:
    """Yield what a reader must know beside the tables."""
    more = len(comparison.cells) - MOST_CELLS
    if more > 0:
        yield f"{more} more expectations changed (--json lists them)."
    for report in (comparison.before, comparison.after):
        if len(report.runs) < report.planned:
            yield f"{report.path} was stopped after {len(report.runs)} of {report.planned} runs."
    for condition in comparison.conditions:
        if condition.left_out:
            yield f"{condition.condition}: {condition.left_out} runs without a verdict on both sides are left out."
    missing = {*comparison.before.counting} ^ {*comparison.after.counting}
    if missing and comparison.conditions:
        yield f"Only one of the reports has the conditions {', '.join(sorted(missing))}."


def conclusion(comparison: Comparison) -> str:
    decision, allowed = comparison.decision, f"{100 * comparison.allow:g} points"
    deciding = [condition for condition in comparison.conditions if condition.decision(comparison.allow) == decision]
    if not deciding:
        return f"{decision}: no run can be compared."
    where = f" ({deciding[0].condition})" if len(comparison.conditions) > 1 else ""
    changed = f"the pass rate changed by {points(deciding[0].judged.difference)} points{where}"
    match decision:
        case "REGRESSION":
            return f"{decision}: {changed}; the whole interval is below -{allowed}."
        case "IMPROVED":
            return f"{decision}: {changed}; the whole interval is above 0."
        case "PASS":
            return f"{decision}: {changed}; it fell by less than {allowed}, as the whole interval shows."
        case "INCONCLUSIVE":
            return f"{decision}: {changed}; {_why_open(deciding[0], comparison.allow, allowed)}."


def _why_open(condition: ConditionChange, allow: float, allowed: str) -> str:
    if not condition.judged.before.judged or not condition.judged.after.judged:
        return "no run was judged on both sides"
    if condition.judged.decision(allow) != "INCONCLUSIVE":
        return "it depends on how the inconclusive runs would have ended"
    interval = interval_text(condition.judged.interval)
    needed = condition.judged.runs_needed(allow)
    more = f"; about {needed} runs of each would, with these rates" if needed is not None else ""
    return f"an interval of {interval} does not show whether it fell by more than {allowed}{more}"
