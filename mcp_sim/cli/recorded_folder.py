"""The folder that a recording is written to, and the report of what was written."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from mcp_sim.cli.terminal import MOST_NAMED, note
from mcp_sim.recordings.relays.backlog import warn
from mcp_sim.types.errors import UsageError


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
    from mcp_sim.recordings.capture.pseudonyms import Pseudonyms  # noqa: PLC0415 (only with --pseudonyms)
    from mcp_sim.recordings.capture.stand_ins import pseudonym_key  # noqa: PLC0415 (only with --pseudonyms)

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
