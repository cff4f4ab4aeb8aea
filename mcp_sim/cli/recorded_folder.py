"""The folder that a recording is written to, and the report of what was written."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mcp_sim.recordings.relays.backlog import warn


def new_folder(args: argparse.Namespace) -> tuple[Any, Any]:
    """Return the folder of the recording, and what redacts secrets; None with --no-redact.

    Raises `UsageError` for an invalid pattern.
    """
    from mcp_sim.recordings.capture.folder import Folder  # noqa: PLC0415 (the client of a recorded server does not wait for it)
    from mcp_sim.recordings.capture.redaction import Redactor  # noqa: PLC0415 (the client of a recorded server does not wait for it)

    redactor = None if args.no_redact else Redactor(args.redact, args.redact_pattern)
    return Folder(args.output, redactor, args.session), redactor


def approval_of(args: argparse.Namespace) -> Any:
    """Return what judges calls before they reach the server; None without --approve. Raises `UsageError`."""
    if not args.approve:
        return None
    from mcp_sim.recordings.relays.approval import approval  # noqa: PLC0415 (rarely used)

    return approval(args.approve)


def report(folder: Any, redactor: Any) -> None:
    """Report on stderr which sessions were written, and what was redacted."""
    for path in folder.sessions:
        warn(f"recorded {path}")
    if not folder.sessions:
        warn("nothing was recorded")
    lines = [] if redactor is None else list(redactor.report())
    if lines:
        warn("secrets were redacted:")
    for line in lines:
        print(f"  {line}", file=sys.stderr)
