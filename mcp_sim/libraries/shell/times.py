"""Tests of files in commands that the interpreter decides otherwise: by the clock of the host, or by empty folders."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from mcp_sim.libraries.shell.commands.clock import parse_date
from mcp_sim.libraries.shell.commands.invocation import Failed

_INNER = r"\$\((?:[^()]|\([^()]*+\))*+\)"
_QUOTED = rf"""'[^']*'|"(?:[^"\\$]|\\.|{_INNER}|\$)*+\""""
_DATE = rf"""(?:{_QUOTED}|[^\s()'"\\;|&]+)"""
_AGE = re.compile(r"-([acm])(time|min)\s+([+-]?)0*([0-9]{1,9})[0-9]*")
_NEWER = re.compile(rf"(-newer[acm]t\s+)({_DATE})", re.DOTALL)
_SIZE = re.compile(r"-size\s+([+-]?)([0-9]{1,9})([bcwkMG]?)(?![^\s)|;&`])")
_SIZES = {"c": 1, "w": 2, "": 512, "b": 512, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_FOLDER = 4096
"""The bytes of a directory, which has none in the interpreter."""
_DATED = re.compile(rf"(\s(?:-d\s*|--date[= ]))({_DATE})", re.DOTALL)
_LONGEST = 36_500
"""Days; older files are as old as this."""
_TOKEN = re.compile(
    rf"""
    (?P<end>[|;&\n])
    |(?P<kept>(?<![^\s;|&()])\#[^\n]*|\\.|\$'(?:[^'\\]|\\.)*+')
    |(?P<document>(?<!<)<<-?[ \t]*(?P<quote>['"\\]?)(?P<mark>[A-Za-z_][\w.-]*)['"]?(?P<line>[^\n]*)
        (?P<body>(?:\n(?!\t*(?P=mark)$)[^\n]*)*+))
    |(?P<command>\b(?:find|touch)\b)
    |(?P<find>{_AGE.pattern}|{_NEWER.pattern}|{_SIZE.pattern})
    |(?P<touch>{_DATED.pattern})
    |(?P<quoted>{_QUOTED})
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""What decides which parts of a script are rewritten. `kept` are comments and characters without a meaning."""
_SUBSTITUTION = re.compile(rf"{_INNER}|`[^`]*+`")
_SHELL = re.compile(r"(?<![\w.-])(?:eval|(?:ba|da)?sh(?:\s+[\w+-]+)*)\s*$")
_DEEPEST = 8
"""How many scripts are rewritten within each other, since each one takes a level of the stack."""
_BEFORE = 40
"""How many characters before a quoted text show whether a shell runs it: more than `bash -euo pipefail -c` has."""


def in_world_time(command: str, now: datetime) -> str:
    """Return a command with ages (`find -mtime +7`) and relative dates (`touch -d yesterday`) as dates of the world.

    Sizes (`find -size 0`) are those of files and directories. Comments, quoted texts and here-documents are kept as
    they are, except for what a shell runs of them.
    """
    return _Rewriting(now).script(command)


class _Rewriting:
    """Returns the tokens of a script as the interpreter gets them. It is called with one after the other."""

    def __init__(self, now: datetime, depth: int = 0) -> None:
        self._now, self._depth = now, depth
        self._commands: set[str] = set()
        """Which of `find` and `touch` the simple command at hand names before the token."""

    def script(self, text: str) -> str:
        """Return a script with its tokens rewritten."""
        return _TOKEN.sub(self, text) if "find" in text or "touch" in text else text

    def _inner(self, text: str) -> str:
        return text if self._depth == _DEEPEST else _Rewriting(self._now, self._depth + 1).script(text)

    def __call__(self, token: re.Match[str]) -> str:
        kind, text = token.lastgroup, token[0]
        if kind == "end":
            self._commands.clear()
        elif kind == "command":
            self._commands.add(text)
        elif kind == "quoted":
            return text[0] + self._text(token, text[1:-1], is_literal=text[0] == "'") + text[-1]
        elif kind == "document":
            line, body = self._inner(token["line"]), token["body"]
            header = text[: len(text) - len(token["line"]) - len(body)]
            return f"{header}{line}{self._text(token, body, is_literal=bool(token['quote']))}"
        elif kind in ("find", "touch"):
            # An option of another command may have a value with commands.
            if kind not in self._commands:
                return text[0] + _TOKEN.sub(self, text[1:])
            if kind == "touch":
                return _DATED.sub(self._absolute, text)
            return _NEWER.sub(self._absolute, _AGE.sub(lambda match: _age(match, self._now), _SIZE.sub(_size, text)))
        return text

    def _text(self, token: re.Match[str], text: str, *, is_literal: bool) -> str:
        """Return the text of a token: a script if a shell gets it, else one that may hold command substitutions."""
        if _SHELL.search(token.string[max(0, token.start() - _BEFORE) : token.start()]):
            return self._inner(text)
        if is_literal:
            return text
        return _SUBSTITUTION.sub(lambda match: self._inner(match[0]), text)

    def _absolute(self, match: re.Match[str]) -> str:
        """Return an option with its date as one that needs no quotes."""
        try:
            moment = parse_date(match[2].strip("\"'"), self._now)
        except Failed:
            return match[0]
        return f"{match[1]}{moment:%Y-%m-%dT%H:%M:%S}"


def _size(match: re.Match[str]) -> str:
    """Return the test of a size with an exception for directories, where the interpreter decides wrongly."""
    number, unit = int(match[2]), _SIZES[match[3]]
    in_interpreter, wanted = (
        count < number if match[1] == "-" else count > number if match[1] else count == number
        for count in (0, -(-_FOLDER // unit))
    )
    if in_interpreter == wanted:
        return match[0]
    return rf"\( -type d -o {match[0]} \)" if wanted else rf"\( ! -type d {match[0]} \)"


def _age(match: re.Match[str], now: datetime) -> str:
    """Return the test of an age as one of dates: a file of N days is at least N and less than N + 1 days old."""
    unit = timedelta(days=1) if match[2] == "time" else timedelta(minutes=1)
    number = min(int(match[4]), _LONGEST if match[2] == "time" else _LONGEST * 1440)
    after = 1 if match[2] == "time" else 0  # minutes are rounded up, days are cut
    if match[3] == "-":
        return f"-newermt {now - number * unit:%Y-%m-%dT%H:%M:%S}"
    older = f"! -newermt {now - (number + after) * unit:%Y-%m-%dT%H:%M:%S}"
    if match[3] == "+":
        return older
    young = f"-newermt {now - (number + after) * unit:%Y-%m-%dT%H:%M:%S}"
    return f"{young} ! -newermt {now - (number + after - 1) * unit:%Y-%m-%dT%H:%M:%S}"
