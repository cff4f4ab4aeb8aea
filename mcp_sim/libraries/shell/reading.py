"""Commands that write no files, so that no file needs a look after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bashkit import Bash

_READING = frozenset(
    [
        "[",
        "[[",
        ":",
        "basename",
        "cat",
        "cd",
        "column",
        "comm",
        "cut",
        "date",
        "df",
        "diff",
        "dirname",
        "du",
        "echo",
        "egrep",
        "env",
        "export",
        "expr",
        "false",
        "fgrep",
        "file",
        "fold",
        "free",
        "grep",
        "head",
        "hexdump",
        "hostname",
        "id",
        "join",
        "jq",
        "ls",
        "md5sum",
        "nl",
        "od",
        "paste",
        "printf",
        "ps",
        "pwd",
        "readlink",
        "realpath",
        "return",
        "rev",
        "seq",
        "sha1sum",
        "sha256sum",
        "sleep",
        "stat",
        "tac",
        "tail",
        "test",
        "tr",
        "tree",
        "true",
        "type",
        "uname",
        "unset",
        "uptime",
        "wc",
        "which",
        "whoami",
        "xxd",
    ]
)
"""What writes no files with any option. Not here: sort (-o), uniq (a second file), find, sed, awk, xargs, tee."""
_NOWHERE = "/dev/null"


def only_reads(bash: Bash, command: str, state: str) -> bool:
    """Return whether a command certainly writes no files, by its syntax: false where it cannot be known.

    `state` is the script of the session, whose functions and aliases may hide any name.
    """
    if " () \n" in state or "alias " in state:
        return False
    try:
        analysis = bash.analyze(command)
    except Exception:  # noqa: BLE001 (the interpreter does not say which errors it raises for what it cannot parse)
        return False
    if analysis.is_opaque or analysis.functions or not _READING.issuperset(analysis.command_names):
        return False
    return all(redirect.path == _NOWHERE for redirect in analysis.redirects if redirect.is_write)
