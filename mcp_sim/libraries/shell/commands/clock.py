"""The time of the world in commands: date, sleep, and the ages and dates that find and touch compare or write."""

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
    run.out.append(f"{_DIRECTIVE.sub(lambda match: _directive(match[1], match[2], moment), pattern)}\n")


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
    moment, rest, named = now, text, _WEEKDAY.search(text)
    if named is not None:
        ahead = (_WEEKDAYS.index(named[2][:3]) - now.weekday()) % 7
        ahead += 7 if named[1] == "next" and not ahead else -7 if named[1] == "last" else 0
        moment = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=ahead)
        rest = " ".join(_WEEKDAY.sub("", text).split())
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


def _later(moment: datetime, number: int, unit: str) -> datetime:
    try:
        if unit in ("month", "year"):
            months = moment.year * 12 + moment.month - 1 + number * (12 if unit == "year" else 1)
            first = moment.replace(year=months // 12, month=months % 12 + 1, day=1)
            return first + timedelta(days=moment.day - 1)
        return moment + timedelta(seconds=number * _SPANS[unit])
    except (OverflowError, ValueError):
        raise Failed("date: time out of range\n") from None


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


# dates in scripts -----------------------------------------------------------------------------------------------------


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
