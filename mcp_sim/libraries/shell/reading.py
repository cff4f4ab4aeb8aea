"""Which files a command may write, as far as its syntax shows: no others need a look after it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bashkit import Bash, ScriptAnalysis

_READING = frozenset(
    "[ [[ : base64 basename bc cat cmp column comm cut date df diff dirname du echo egrep expand export expr false "  # noqa: SIM905 (names of commands)
    "fgrep file fold free grep head hexdump hostname id join jq let local ls md5sum nl od paste printf ps pwd read "
    "readlink realpath return rev seq sha1sum sha256sum sha512sum shift sleep stat strings tac tail test tr true type "
    "uname unset uptime wc which whoami xzcat zcat".split()
)
"""What writes no files with any option."""
_WRITES_WITH = {
    "awk": re.compile(r"[>|]|system|^-(?![Fv])"),
    "find": re.compile(r"^-(?:delete|fls|fprint|ok)"),
    "sort": re.compile(r"^-[a-zA-Z]*o|^--o|^--compress|^-T"),
    "tree": re.compile(r"^-o"),
}
"""What arguments have with which commands that else only read write files: also some with which they do not."""
_ONE_FILE = frozenset({"uniq", "xxd"})
"""What writes its second file."""
_OPTIONS_WITH_VALUES = {
    "xargs": frozenset({"-I", "-n", "-P", "-d", "-L", "-s", "-a", "-E"}),
    "env": frozenset({"-u", "-C"}),
    "timeout": frozenset({"-s", "-k"}),
}
"""What runs another command, and its options with values."""
_WRITING = frozenset({"chmod", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "sed", "tee", "touch", "truncate"})
"""What writes files at and below its arguments only."""
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
    if not _is_known(analysis):
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


def _is_known(analysis: ScriptAnalysis) -> bool:
    """Whether all commands are known, and write only what their arguments name."""
    names = {step.name for step in analysis.commands}
    if analysis.is_opaque or analysis.functions or not names.issuperset(analysis.command_names):
        return False
    plain = {None, "cd", *_WRITING}
    return all(step.name in plain or _only_reads(str(step.name), step.args) for step in analysis.commands)


def _only_reads(name: str, arguments: Sequence[str | None]) -> bool:
    """Whether a command writes no files. An argument that is not known may be any."""
    if name in _READING:
        return True
    known = [argument for argument in arguments if argument is not None]
    if len(known) < len(arguments):
        return False
    if name in _ONE_FILE:
        return sum(argument == "-" or not argument.startswith("-") for argument in known) < 2
    if name in _OPTIONS_WITH_VALUES:
        # Commands that run another one only read if that one does.
        words = [*known]
        while words and (words[0].startswith("-") or "=" in words[0]):
            del words[: 2 if words[0] in _OPTIONS_WITH_VALUES[name] else 1]
        inner = words[1:] if name == "timeout" else words
        if inner and name == "xargs":  # the arguments that it adds may be the options and files that a command writes
            return inner[0] in _READING
        return not inner or _only_reads(inner[0], inner[1:])
    if name not in _WRITES_WITH or any(_WRITES_WITH[name].search(argument) for argument in known):
        return False
    runs = [known[at + 1 :] for at, argument in enumerate(known) if argument in ("-exec", "-execdir")]
    return name != "find" or all(bool(run) and _only_reads(run[0], run[1:]) for run in runs)


def _places(folders: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """Yield the absolute paths of words; of a pattern, the directory before it."""
    for word in words:
        special = _SPECIAL.search(word)
        plain = (
            word if special is None else word[: special.start()].rpartition("/")[0] or ("/" if word[:1] == "/" else ".")
        )
        for folder in folders:
            yield posixpath.normpath(posixpath.join(folder, plain))
