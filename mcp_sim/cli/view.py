"""`mcp-sim view`: write traces as one HTML file that shows them in a browser, or show a running server."""

from __future__ import annotations

import argparse
import os
import webbrowser
from pathlib import Path

from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import server_url, trust_option
from mcp_sim.server.control.tokens import CONTROL_VARIABLE
from mcp_sim.types.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "mcp-sim view TRACE... [OPTIONS], or mcp-sim view --live URL [OPTIONS]"
    parser.add_argument("traces", type=Path, metavar="TRACE", nargs="*", help="files that --trace wrote")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the HTML file (default: that of the first trace, as .html)"
    )
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    parser.add_argument("--scenario", metavar="SCENARIO", help="the scenario; needed if its file was moved")
    trust_option(parser)
    live = parser.add_argument_group("a running server")
    live.add_argument(
        "--live", metavar="[HOST:]PORT", type=server_url, help="show the server with this control plane, and steer it"
    )
    live.add_argument(
        "--control-token-file",
        type=Path,
        metavar="FILE",
        help="a file with the token of the control plane (default: $MCP_SIM_CONTROL_TOKEN)",
    )
    live.add_argument("--port", type=int, default=0, metavar="N", help="port of the page (default: any free one)")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or 2 if a file is not a trace or there is no control plane; 130 and 143 end a live page."""
    if args.live is not None:
        from mcp_sim.cli.viewer.live import show_live  # noqa: PLC0415 (loads a server and a client)

        if args.traces or args.output:
            args.parser.error("--live takes no traces and writes no file")
        return show_live(args.live, _token(args.control_token_file), args.port, opens=args.open)
    if not args.traces:
        args.parser.error("name a trace, or a control plane with --live")
    from mcp_sim.cli.viewer.document import Collector  # noqa: PLC0415 (loads the simulator)
    from mcp_sim.cli.viewer.page import page  # noqa: PLC0415 (reads the files of the page)

    collector = Collector(args.scenario or "", trust=args.trust)
    for trace in args.traces:
        collector.add(trace)
    output: Path = args.output or args.traces[0].with_suffix(".html")
    if any(output.exists() and output.samefile(trace) for trace in args.traces):
        raise UsageError(f"--output {output}: this is a trace, which the page would replace")
    replace_file(output, page(collector.document()))
    print(output)
    if args.open:
        webbrowser.open(output.absolute().as_uri())
    return 0


def _token(file: Path | None) -> str:
    """Return the token of the control plane. Raises `UsageError` if it does not exist."""
    if file is None:
        token = os.environ.get(CONTROL_VARIABLE)
        if not token:
            raise UsageError(
                f"name the token of the control plane with --control-token-file FILE, or in {CONTROL_VARIABLE}"
            )
        return token
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the token in {file}: {getattr(error, 'strerror', None) or error}") from None
