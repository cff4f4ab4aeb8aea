"""Which files a command may write, as far as its syntax shows: no others need a look after it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bashkit import Bash

_READING = frozenset(
    "[ [[ : basename cat column comm cut date df diff dirname du echo egrep env export expr false fgrep "  # noqa: SIM905 (names of commands)
    "file fold free grep head hexdump hostname id join jq ls md5sum nl od paste printf ps pwd readlink "
    "realpath return rev seq sha1sum sha256sum sleep stat tac tail test tr tree true type uname unset "
    "uptime wc which whoami xxd".split()
)
"""What writes no files with any option. Not here: sort (-o), uniq (a second file), find, sed, awk, xargs, tee."""
_WRITING = frozenset({"chmod", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "sed", "tee", "touch", "truncate"})
"""What writes files at and below its arguments only."""
_KNOWN = _READING | _WRITING | {"cd"}
_PLAIN = re.compile(r"[^-*?\[{~$][^*?\[{$]*")
"""A directory that is named as it is."""
_NOWHERE = "/dev/null"
_SPECIAL = re.compile(r"[*?\[{~]")
_BACKUP = re.compile(r"^-[a-zA-Z]*b|^--b")
_WRITES_ELSEWHERE = {"sed": re.compile(r"[wWe]\s"), **dict.fromkeys(("cp", "ln", "mv"), _BACKUP)}
"""What arguments have that write other files than those that they name: commands of sed, and options for backups."""


def written_paths(bash: Bash, command: str, state: str, directory: str) -> Sequence[str] | None:
    """Return the paths at and below which a command may write files; None if that cannot be known.

    `state` is the script of the session, whose functions and aliases may hide any name.
    """
    if " () \n" in state or "alias " in state:
        return None
    try:
        analysis = bash.analyze(command)
    except Exception:  # noqa: BLE001 (the interpreter does not say which errors it raises for what it cannot parse)
        return None
    if analysis.is_opaque or analysis.functions or not _KNOWN.issuperset(analysis.command_names):
        return None
    redirects = [redirect.path for redirect in analysis.redirects if redirect.is_write and redirect.path != _NOWHERE]
    folders, words = [directory], [*redirects]
    for step in analysis.commands:
        if step.name == "cd":
            folders += [posixpath.join(folder, str(step.args[0])) for folder in folders] if step.args else []
        if step.name in _WRITING or step.name == "cd":
            words += step.args
        pattern = _WRITES_ELSEWHERE.get(step.name or "")
        if pattern is not None and any(argument and pattern.search(argument) for argument in step.args):
            return None
        if step.name == "cd" and (len(step.args) != 1 or not _PLAIN.fullmatch(str(step.args[0]))):
            return None
    plain = [word for word in words if word is not None]
    if len(plain) < len(words) or any(word.startswith("-") and ("/" in word or "=" in word) for word in plain):
        return None
    changes = any(name in _WRITING for name in analysis.command_names)
    return [*_places(folders, plain if changes else [word for word in redirects if word is not None])]


def _places(folders: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """Yield the absolute paths of words; of a pattern, the directory before it."""
    for word in words:
        special = _SPECIAL.search(word)
        plain = (
            word if special is None else word[: special.start()].rpartition("/")[0] or ("/" if word[:1] == "/" else ".")
        )
        for folder in folders:
            yield posixpath.normpath(posixpath.join(folder, plain))
