"""Tests of files in commands that the interpreter decides otherwise: by the clock of the host, or by empty folders."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from mcp_sim.libraries.shell.commands.clock import parse_date
from mcp_sim.libraries.shell.commands.invocation import Failed

_FIND = re.compile(r"\bfind\b[^|;&\n]*")
_AGE = re.compile(r"-([acm])(time|min)\s+([+-]?)0*([0-9]{1,9})[0-9]*")
_NEWER = re.compile(r"(-newer[acm]t\s+)(\"[^\"]*\"|'[^']*'|[^\s()]+)")
_SIZE = re.compile(r"-size\s+([+-]?)([0-9]{1,9})([bcwkMG]?)(?![^\s)])")
_SIZES = {"c": 1, "w": 2, "": 512, "b": 512, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_FOLDER = 4096
"""The bytes of a directory, which has none in the interpreter."""
_TOUCH = re.compile(r"\btouch\b[^|;&\n]*")
_DATED = re.compile(r"(\s(?:-d\s*|--date[= ]))(\"[^\"]*\"|'[^']*'|[^\s()]+)")
_LONGEST = 36_500
"""Days; older files are as old as this."""


def in_world_time(command: str, now: datetime) -> str:
    """Return a command with ages (`find -mtime +7`) and relative dates (`touch -d yesterday`) as dates of the world.

    Sizes (`find -size 0`) are those of files and directories.
    """
    if "find" in command:
        command = _FIND.sub(lambda found: _NEWER.sub(lambda match: _absolute(match, now), found[0]), command)
        command = _FIND.sub(lambda found: _AGE.sub(lambda match: _age(match, now), found[0]), command)
        command = _FIND.sub(lambda found: _SIZE.sub(_size, found[0]), command)
    if "touch" in command:
        command = _TOUCH.sub(lambda run: _DATED.sub(lambda match: _absolute(match, now), run[0]), command)
    return command


def _absolute(match: re.Match[str], now: datetime) -> str:
    try:
        moment = parse_date(match[2].strip("\"'"), now)
    except Failed:
        return match[0]
    return f"{match[1]}'{moment:%Y-%m-%d %H:%M:%S}'"


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
        return f"-newermt '{now - number * unit:%Y-%m-%d %H:%M:%S}'"
    older = f"! -newermt '{now - (number + after) * unit:%Y-%m-%d %H:%M:%S}'"
    if match[3] == "+":
        return older
    young = f"-newermt '{now - (number + after) * unit:%Y-%m-%d %H:%M:%S}'"
    return f"{young} ! -newermt '{now - (number + after - 1) * unit:%Y-%m-%d %H:%M:%S}'"
