"""Times in commands that the interpreter would compare with the clock of the host, written as times of the world."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from mcp_sim.libraries.shell.commands.clock import parse_date
from mcp_sim.libraries.shell.commands.invocation import Failed

_FIND = re.compile(r"\bfind\b[^|;&\n]*")
_AGE = re.compile(r"-([acm])(time|min)\s+([+-]?)0*([0-9]{1,9})[0-9]*")
_NEWER = re.compile(r"(-newer[acm]t\s+)(\"[^\"]*\"|'[^']*'|[^\s()]+)")
_TOUCH = re.compile(r"\btouch\b[^|;&\n]*")
_DATED = re.compile(r"(\s(?:-d\s*|--date[= ]))(\"[^\"]*\"|'[^']*'|[^\s()]+)")
_LONGEST = 36_500
"""Days; older files are as old as this."""


def in_world_time(command: str, now: datetime) -> str:
    """Return a command with ages (`find -mtime +7`) and relative dates (`touch -d yesterday`) as dates of the world."""
    if "find" in command:
        command = _FIND.sub(lambda found: _NEWER.sub(lambda match: _absolute(match, now), found[0]), command)
        command = _FIND.sub(lambda found: _AGE.sub(lambda match: _age(match, now), found[0]), command)
    if "touch" in command:
        command = _TOUCH.sub(lambda run: _DATED.sub(lambda match: _absolute(match, now), run[0]), command)
    return command


def _absolute(match: re.Match[str], now: datetime) -> str:
    try:
        moment = parse_date(match[2].strip("\"'"), now)
    except Failed:
        return match[0]
    return f"{match[1]}'{moment:%Y-%m-%d %H:%M:%S}'"


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
