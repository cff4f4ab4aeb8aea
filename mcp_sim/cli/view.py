"""`mcp-sim view`: write traces as one HTML file that shows them in a browser."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import trust_option
from mcp_sim.cli.viewer.document import Collector
from mcp_sim.cli.viewer.page import page
from mcp_sim.types.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("traces", type=Path, metavar="TRACE", nargs="+", help="files that --trace wrote")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the HTML file (default: that of the first trace, as .html)"
    )
    parser.add_argument("--open", action="store_true", help="show the file in the browser")
    parser.add_argument("--scenario", metavar="SCENARIO", help="the scenario; needed if its file was moved")
    trust_option(parser)


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or 2 if a file is not a trace."""
    output: Path = args.output or args.traces[0].with_suffix(".html")
    if any(output.exists() and output.samefile(trace) for trace in args.traces if trace.exists()):
        raise UsageError(f"--output {output}: this is a trace, which the page would replace")
    collector = Collector(args.scenario or "", trust=args.trust)
    for trace in args.traces:
        collector.add(trace)
    replace_file(output, page(collector.document()))
    print(output)
    if args.open:
        webbrowser.open(output.absolute().as_uri())
    return 0
