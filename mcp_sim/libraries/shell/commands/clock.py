"""Commands that tell the time, or wait: in the time of the world."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST_SLEEP = 600.0
"""Seconds that one call waits at most in the world; clients give up long before."""
_LONGEST_DATE = 200  # characters
_AMOUNT = re.compile(
    r"(?:([+-]?\s?[0-9]+|\b(?:an?|next|last))\s*|\b)(second|sec|minute|min|hour|day|week|fortnight|month|year)s?\b(\s+ago)?"
)
_SPANS = {
    "second": 1,
    "sec": 1,
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "fortnight": 1209600,
}
_DAYS = {"now": 0, "today": 0, "tomorrow": 1, "yesterday": -1}
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(r"(?:\b(next|last|this)\s+)?\b(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d")
_ZONE = re.compile(r"\s*(?:utc|gmt|z)$")
_FORMATS = (
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d %b %Y", "%b %d %Y", "%d %B %Y",
    "%B %d %Y", "%b %d, %Y", "%B %d, %Y", "%Y%m%d", "%a %b %d %H:%M:%S UTC %Y", "%d %b %Y %H:%M:%S", "%H:%M:%S",
    "%H:%M",
)  # fmt: skip
_USUAL = "%a %b %e %H:%M:%S %Z %Y"
_FIXED = {"n": "\n", "t": "\t", "%": "%", "Z": "UTC", "z": "+0000", ":z": "+00:00"}
_SHORT = {"D": "%m/%d/%y", "h": "%b", "r": "%I:%M:%S %p", "R": "%H:%M"}
_DIRECTIVE = re.compile(r"%([-_0^#]?)(:{0,3}[A-Za-z%])")


def sleep(run: Invocation) -> None:
    if not run.arguments:
        raise Failed("sleep: missing operand\nTry 'sleep --help' for more information.\n")
    for text in run.arguments:
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+|infinity|inf)([smhd]?)", text)
        if match is None:
            raise Failed(f"sleep: invalid time interval '{text}'\nTry 'sleep --help' for more information.\n")
        seconds = min(float(match[1]) * _UNITS.get(match[2], 1), _LONGEST_SLEEP)
        run.machine.slept = min(run.machine.slept + seconds, _LONGEST_SLEEP)


def date(run: Invocation) -> None:
    options, rest = run.options(
        "d:r:uRI::s:", "date:d reference:r utc:u universal:u iso-8601:I rfc-3339= rfc-email:R set:s"
    )
    moment = run.now
    text = options.get("d")
    source = options.get("r")
    if text is not None:
        moment = parse_date(text, run.now)
    elif source is not None:
        node = run.look(source, follow=True)
        if node is None:
            raise Failed(f"date: '{source}': No such file or directory\n")
        moment = node.modified
    pattern = next((argument[1:] for argument in rest if argument.startswith("+")), None)
    if pattern is None:
        precision = options.get("I", options.get("rfc-3339"))
        if precision is not None:
            sign = " " if "rfc-3339" in options else "T"
            full = {"s": f"%Y-%m-%d{sign}%H:%M:%S%:z", "m": f"%Y-%m-%d{sign}%H:%M%:z", "h": f"%Y-%m-%d{sign}%H%:z"}
            pattern = full.get(precision[:1], "%Y-%m-%d")
        else:
            pattern = "%a, %d %b %Y %H:%M:%S %z" if "R" in options else _USUAL
    run.out.append(f"{format_date(pattern, moment)}\n")


def parse_date(text: str, now: datetime) -> datetime:
    """Return the time of a text as `date -d` reads it."""
    try:
        if len(text) <= _LONGEST_DATE:
            return _read_date(text.strip().strip('"'), now)
    except (ValueError, OverflowError, OSError):
        pass
    raise Failed(f"date: invalid date '{text}'\n")


def _read_date(plain: str, now: datetime) -> datetime:
    """Return the time of a text. Raises `ValueError`, or what times that are too large raise."""
    if re.fullmatch(r"@-?[0-9]+(\.[0-9]+)?", plain):
        return datetime.fromtimestamp(float(plain[1:]), UTC)
    try:
        moment = datetime.fromisoformat(plain.replace(" UTC", "+00:00").replace(" GMT", "+00:00"))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except ValueError:
        pass
    lower = plain.lower()
    moment = _base(" ".join(_AMOUNT.sub(" ", lower).split()), now)
    for amount in _AMOUNT.finditer(lower):
        sign = {None: 1, "a": 1, "an": 1, "next": 1, "last": -1}.get(amount[1])
        number = (int(amount[1].replace(" ", "")) if sign is None else sign) * (-1 if amount[3] else 1)
        moment = _later(moment, number, amount[2])
    return moment


def _base(text: str, now: datetime) -> datetime:
    """Return the time of a text without amounts such as `+2 days`; the time now if it is empty."""
    moment, rest = _on_weekday(now, text)
    for word, days in _DAYS.items():
        if re.search(rf"\b{word}\b", rest):
            moment, rest = moment + timedelta(days=days), re.sub(rf"\b{word}\b", "", rest).strip()
    rest = _ZONE.sub("", rest).replace("t", " ") if _STAMP.match(rest) else rest
    if not rest:
        return moment
    for pattern in _FORMATS:
        try:
            read = datetime.strptime(rest, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
        if "%d" not in pattern:
            return moment.replace(hour=read.hour, minute=read.minute, second=read.second, microsecond=0)
        return read
    raise ValueError


def _on_weekday(moment: datetime, text: str) -> tuple[datetime, str]:
    """Return the day that a text names by its weekday, and the rest of the text."""
    named = _WEEKDAY.search(text)
    if named is None:
        return moment, text
    days = (_WEEKDAYS.index(named[2][:3]) - moment.weekday()) % 7
    days += 7 if named[1] == "next" and not days else -7 if named[1] == "last" else 0
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=days), " ".join(_WEEKDAY.sub("", text).split())


def _later(moment: datetime, number: int, unit: str) -> datetime:
    try:
        if unit in ("month", "year"):
            months = moment.year * 12 + moment.month - 1 + number * (12 if unit == "year" else 1)
            first = moment.replace(year=months // 12, month=months % 12 + 1, day=1)
            return first + timedelta(days=moment.day - 1)
        return moment + timedelta(seconds=number * _SPANS[unit])
    except (OverflowError, ValueError):
        raise Failed("date: time out of range\n") from None


def format_date(pattern: str, moment: datetime) -> str:
    """Return a time in a format of GNU date."""
    return _DIRECTIVE.sub(lambda match: _directive(match[1], match[2], moment), pattern)


def _directive(flag: str, letter: str, moment: datetime) -> str:
    special = {
        **_FIXED,
        "s": str(int(moment.timestamp())),
        "N": f"{moment.microsecond * 1000:09d}",
        "e": f"{moment.day:2d}",
        "k": f"{moment.hour:2d}",
        "l": f"{moment.hour % 12 or 12:2d}",
        "P": moment.strftime("%p").lower(),
        "q": str((moment.month + 2) // 3),
        "c": f"{moment:%a %b} {moment.day:2d} {moment:%H:%M:%S %Y}",
    }
    for short, pattern in _SHORT.items():
        special[short] = moment.strftime(pattern)
    text = special[letter] if letter in special else moment.strftime(f"%{letter[-1]}")
    if flag == "-":
        return text.lstrip("0 ") or "0"
    if flag == "_":
        stripped = text.lstrip("0") or "0"
        return stripped.rjust(len(text))
    return text.upper() if flag == "^" else text


BODIES: Mapping[str, Body] = {"sleep": sleep, "date": date}
