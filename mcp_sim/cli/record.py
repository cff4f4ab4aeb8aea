"""`mcp-sim record`: record what passes between a client and a real server, as sessions."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from mcp_sim.cli.parsing import server_url, trust_option, writable_folder
from mcp_sim.cli.terminal import MOST_NAMED, note
from mcp_sim.recordings.relays.backlog import Backlog, warn
from mcp_sim.recordings.relays.stdio import Relay, end_like
from mcp_sim.types.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    parser.usage = (
        "mcp-sim record -o DIR [OPTIONS] -- COMMAND..., mcp-sim record -o DIR --url URL --http PORT, "
        "or mcp-sim record -o DIR --from FILE..."
    )
    add("command", metavar="COMMAND", nargs="*", help="the command that starts the server on stdio")
    add("-o", "--output", type=Path, required=True, metavar="DIR", help="the folder of the recorded server")
    add("--session", metavar="NAME", help="name of the session (default: the time when it starts)")
    add("--url", metavar="URL", type=server_url, help="a server over HTTP, instead of a command")
    add("--http", metavar="[HOST:]PORT", help="where clients reach it; port 0: any free one")
    add("--timeout", metavar="DURATION", help="over HTTP: how long the server may be silent (default 10m)")
    add("--allow-host", action="append", default=[], metavar="NAME", help="a further name in Host and Origin")
    add(
        "--approve",
        metavar="ask|FILE",
        help="pass a call on only if its tool is annotated as reading, or you approve it, at the terminal or in FILE",
    )
    add(
        "--from",
        dest="files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="convert traces of mcp-sim, HAR files, or lines of JSON-RPC",
    )
    trust_option(parser)
    secrets = parser.add_argument_group("secrets and personal data")
    secrets.add_argument(
        "--redact", nargs="+", action="extend", default=[], metavar="KEY", help="further keys with secret values"
    )
    secrets.add_argument(
        "--redact-pattern", action="append", default=[], metavar="RE", help="a further pattern of secrets; "
        "its first group is the secret, or all of it"
    )  # fmt: skip
    secrets.add_argument("--no-redact", action="store_true", help="record secrets as they are")
    secrets.add_argument(
        "--pseudonyms",
        action="store_true",
        help="replace personal data by stand-ins, which are the same in all sessions of DIR",
    )


def run(args: argparse.Namespace) -> int:
    """Exit like the server's command; over HTTP with 130 after Ctrl-C, 143 after SIGTERM; 2 for invalid usage."""
    if sum(map(bool, (args.command, args.url, args.files))) != 1:
        raise UsageError("record: name one source: -- COMMAND..., --url URL, or --from FILE...")
    if bool(args.url) != bool(args.http):
        raise UsageError("record: --url and --http belong together: --url URL --http PORT")
    if args.timeout is not None and not args.url:
        raise UsageError("record: --timeout belongs to --url")
    if args.approve and args.files:
        raise UsageError("record: --approve belongs to a server: -- COMMAND..., or --url URL")
    if args.session is not None and (args.session in {"", "tools"} or "/" in args.session or args.session[:1] == "."):
        raise UsageError(f"record: --session {args.session!r} is not a name for a file")
    writable_folder("--output", args.output)
    if args.command:
        return _over_stdio(args)
    if args.url:
        from mcp_sim.cli.record_http import over_http  # noqa: PLC0415 (loads an HTTP server)

        return over_http(args)
    from mcp_sim.cli.record_files import from_files  # noqa: PLC0415 (loads the reader of traces)

    return from_files(args)


def _over_stdio(args: argparse.Namespace) -> int:
    if args.redact_pattern or args.pseudonyms:
        Recording(args)  # reports an invalid pattern or key before the server starts
    relay = Relay(args.command, approval_of(args))
    state = dict[str, Any]()
    backlog = Backlog(partial(_recorder, args, state))
    code = relay.run(lambda side, data: backlog.put(side, 0, data))
    backlog.put("exit", 0, code)
    is_complete = backlog.finish()
    if "recording" in state:
        state["recording"].finish(is_complete=is_complete)
    return end_like(code)


def _recorder(args: argparse.Namespace, state: dict[str, Any]) -> Any:
    """Open the recorder, in the thread that records: the client does not wait for its imports."""
    from mcp_sim.recordings.capture.conversation import StdioRecorder  # noqa: PLC0415 (a client need not wait)

    recording = state["recording"] = Recording(args)
    command = args.command
    if recording.redactor is not None:
        recording.redactor.learn_environment(os.environ)
        command = recording.redactor.redact_command(command)
    return StdioRecorder(recording.folder, command)


class Recording:
    """The folder of a recording, what redacts secrets (None with --no-redact), and what finds personal data.

    Raises `UsageError` for an invalid pattern.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        from mcp_sim.recordings.capture.folder import Folder  # noqa: PLC0415 (the client of a recorded server does not wait for it)
        from mcp_sim.recordings.capture.redaction import Redactor  # noqa: PLC0415 (the client of a recorded server does not wait for it)

        self.redactor = None if args.no_redact else Redactor(args.redact, args.redact_pattern)
        self._pseudonyms = _pseudonyms(args) if args.pseudonyms else None
        cleaners = [cleaner for cleaner in (self.redactor, self._pseudonyms) if cleaner is not None]
        self.folder = Folder(args.output, cleaners, args.session)

    def finish(self, *, is_complete: bool = True) -> None:
        """Replace the names that were learnt after they were written, and report on stderr what was written.

        If `is_complete` is false, a thread still writes the sessions, and they stay as they are.
        """
        if self._pseudonyms is not None and is_complete:
            self.folder.rewrite(self._pseudonyms.replace_known)
        elif self._pseudonyms is not None:
            warn("the recording may still have personal data: what was learnt late is not replaced in earlier lines")
        for path in self.folder.sessions:
            warn(f"recorded {path}")
        if not self.folder.sessions:
            warn("nothing was recorded")
        if self.redactor is not None:
            _list("secrets were redacted:", self.redactor.report())
        if self._pseudonyms is not None:
            _list("personal data was replaced by stand-ins:", self._pseudonyms.report())
        _list("warning: the server may instruct the agent:", self.folder.warnings.lines)


def _list(heading: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        warn(heading)
    for line in lines[:MOST_NAMED]:
        note(f"  {line}")
    if len(lines) > MOST_NAMED:
        note(f"  {len(lines) - MOST_NAMED} more")


def _pseudonyms(args: argparse.Namespace) -> Any:
    from mcp_sim.recordings.capture.pseudonyms import Pseudonyms, pseudonym_key  # noqa: PLC0415 (with --pseudonyms)

    try:
        return Pseudonyms(pseudonym_key(args.output))
    except (OSError, ValueError) as error:
        raise UsageError(f"record --pseudonyms: cannot use the key in {args.output}: {error}") from None


def approval_of(args: argparse.Namespace) -> Any:
    """Return what judges calls before they reach the server; None without --approve. Raises `UsageError`."""
    if not args.approve:
        return None
    from mcp_sim.recordings.relays.approval import approval  # noqa: PLC0415 (rarely used)

    return approval(args.approve)
