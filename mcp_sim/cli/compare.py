"""`mcp-sim compare`: show whether a later version of an agent is worse than an earlier one, from two reports."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import share
from mcp_sim.cli.terminal import Palette, json_option, print_json
from mcp_sim.runs.comparison import Decision, compare, read_report
from mcp_sim.runs.reports.comparison import comparison_lines, comparison_markdown

EXIT_CODES: dict[Decision, int] = {"PASS": 0, "IMPROVED": 0, "REGRESSION": 1, "INCONCLUSIVE": 4}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=Path, metavar="BEFORE", help="the JSON report of the earlier version")
    parser.add_argument("after", type=Path, metavar="AFTER", help="the JSON report of the later version")
    parser.add_argument(
        "--allow", type=share, default=0.05, metavar="0..1", help="how much the pass rate may fall (default 0.05)"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a report for a pull request")
    json_option(parser, "the comparison")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 for PASS and IMPROVED, 1 for REGRESSION, 2 for files that cannot be compared, 4 for INCONCLUSIVE."""

    comparison = compare(read_report(args.before), read_report(args.after), args.allow)
    if args.json:
        print_json(comparison.to_json())
    else:
        palette = Palette.of(sys.stdout)
        colours = {0: palette.green, 1: palette.red, 4: palette.yellow}
        *lines, conclusion = comparison_lines(comparison)
        print("\n".join([*lines, colours[EXIT_CODES[comparison.decision]](conclusion)]))
    if args.markdown is not None:
        replace_file(args.markdown, comparison_markdown(comparison))
    return EXIT_CODES[comparison.decision]
