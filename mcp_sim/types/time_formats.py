"""Formats of times: recognise the format of a value, and read and write times in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from math import nan

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import Json, Record

_TEXT = re.compile(
    r"(?P<date>\d{4}([-/.])\d\d?\2\d\d?|\d{8}|\d\d?([-/.])\d\d?\3\d{4}"
    r"|(?:[A-Z][a-z]+,? )?(?:[A-Z][a-z]+ \d\d?, \d{4}|\d\d?[ -][A-Z][a-z]+[ -]\d{4}))"
    r"(?:(?P<between>T|,? at |, | )(?P<time>\d\d?:\d\d(?::\d\d)?|\d{6}|\d{4}(?=Z))"
    r"(?:(?P<point>[.,])(?P<fraction>\d{1,9}))?(?P<half> ?[AaPp][Mm])?(?P<zone> ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"
)
_DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%a, %b %d, %Y", "%A, %B %d, %Y", "%a, %d %b %Y",
    "%A, %d %B %Y", "%A %d %B %Y",
)  # fmt: skip
"""Dates as `strptime` reads them. Of two that fit all values, the first one is meant: 03/04/2030 is in April."""
_UNPADDED = re.compile(r"(?<!\d)\d(?!\d)")
_ZEROS = re.compile(r"(?<!\d)0(?=\d(?!\d))")
_EPOCHS = ((10**8, 10**11, 1), (10**11, 10**14, 1000), (10**14, 10**17, 10**6))
"""From, below: numbers that are times since 1970; how many there are in a second."""
_START = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 64  # no notation of a time is as long: long texts are not matched against the expression


@frozen
class TimeFormat:
    """The format of times in one field."""

    date: str = ""
    """For `strptime`; empty: a number since 1970."""
    between: str = ""
    time: str = ""
    """For `strptime`; empty: only a date."""
    point: str = ""
    digits: int = 0
    """The number of digits after the point."""
    half: str = ""
    """How `AM` and `PM` are written, if they are."""
    zone: str = ""
    """The text of the time zone."""
    is_padded: bool = True
    """Whether numbers of one digit begin with a zero."""
    per_second: int = 1
    is_text: bool = True
    is_whole: bool = True
    """Whether a number has no fraction."""

    @property
    def is_date(self) -> bool:
        """Whether it has no time of day."""
        return bool(self.date) and not self.time

    @property
    def is_sortable(self) -> bool:
        """Whether values in text order are in the order of time."""
        return not self.date or (self.date.startswith("%Y") and self.is_padded)

    def write(self, moment: datetime) -> Json:
        """Return a time in this format."""
        if not self.date:
            number = (moment - _START) / timedelta(seconds=1) * self.per_second
            plain = int(number) if self.is_whole else number
            return str(plain) if self.is_text else plain
        local = moment.astimezone(_offset(self.zone))
        clock = local.strftime(self.time)
        date = local.strftime(self.date)
        if not self.is_padded:
            date, clock = _ZEROS.sub("", date), re.sub(r"^0", "", clock)
        fraction = f"{self.point}{local.microsecond:06d}000"[: self.digits + 1] if self.digits else ""
        half = local.strftime("%p") if self.half else ""
        half = self.half[:-2] + (half.lower() if self.half.islower() else half)
        return f"{date}{self.between}{clock}{fraction}{half}{self.zone}"

    def read(self, value: Json) -> datetime | None:
        """Return the time of a value in this format; None if it has another one."""
        if not self.date:
            return _since_1970(value)
        match = _TEXT.fullmatch(value) if isinstance(value, str) and len(value) < _LONGEST else None
        if match is None or bool(match["time"]) != bool(self.time):
            return None
        half = (match["half"] or "").strip()
        text, pattern = (
            f"{match['date']} {match['time'] or ''} {half}",
            f"{self.date} {self.time} {'%p' if half else ''}",
        )
        try:
            moment = datetime.strptime(text.strip(), pattern.strip()).replace(tzinfo=_offset(match["zone"] or ""))
        except (ValueError, OverflowError):
            return None
        return moment.replace(microsecond=int(f"{match['fraction'] or ''}000000"[:6]))


def time_format(value: Json) -> TimeFormat | None:
    """Return the format of a time; None if the value is not a time.

    Known are ISO 8601 with any precision and time zone, dates with numbers in the usual orders or with names of months,
    each with a time of day or without, and (milli)seconds since 1970 as numbers or digits.
    """
    if isinstance(value, str):
        return _format_of_text(value) if len(value) < _LONGEST else None
    return _format_of_number(value) if isinstance(value, int | float) else None


def parse_time(value: Json, example: Json = None) -> datetime | None:
    """Return the time that a value is, in the format of the example or any other; None if it is not a time.

    A time without a zone is in UTC, a date is its midnight.
    """
    if isinstance(value, str):
        if value[:4].isdigit() and (moment := _iso(value)) is not None:
            return moment
        known = (time_format(example), time_format(value)) if example is not None else (time_format(value),)
        return next(
            (
                moment
                for known_format in known
                if known_format is not None and (moment := known_format.read(value)) is not None
            ),
            None,
        )
    return _since_1970(value)


def time_example(values: Iterable[Json]) -> Json:
    """Return the newest of some values, the last one, as an example of the format of all; None if one is not a time.

    If the order of day and month is open in it, one that settles it is returned.
    """
    known = [value for value in values if value is not None]
    if not known or any(time_format(value) is None for value in known):
        return None
    swapped = [value for value in known if _has_month_first(value)]
    return (swapped or known)[-1]


def example_of(schema: Record) -> Json:
    """Return the first example in the schema of a field, whose format its times have, or None."""
    return next(
        (example for example in as_list(schema.get("examples")) if isinstance(example, str | int | float)), None
    )


def seconds_of(schema: Record) -> Callable[[Json], float]:
    """Return the function that converts times of a field to seconds since 1970, and other values to not-a-number.

    It is the same function for all fields of one format.
    """
    return _measure(example_of(schema))


@lru_cache(maxsize=256)
def _measure(example: str | float | None) -> Callable[[Json], float]:
    def seconds(value: Json) -> float:
        moment = parse_time(value, example)
        return nan if moment is None else moment.timestamp()

    return seconds


def _has_month_first(value: Json) -> bool:
    known = time_format(value)
    return known is not None and known.date in {"%m/%d/%Y", "%m-%d-%Y"}


@lru_cache(maxsize=1024)
def _format_of_text(text: str) -> TimeFormat | None:
    if text.isdecimal() and len(text) in {10, 13}:
        number = _format_of_number(int(text))
        return None if number is None else TimeFormat(per_second=number.per_second)
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    between, time, point, fraction, half, zone = (
        match[name] or "" for name in ("between", "time", "point", "fraction", "half", "zone")
    )
    clock = _clock_pattern(time, is_half=bool(half))
    is_padded = _UNPADDED.search(f"{match['date']} {time}") is None
    tries = (TimeFormat(date, between, clock, point, len(fraction), half, zone, is_padded) for date in _DATES)
    return next((candidate for candidate in tries if candidate.read(text) is not None), None)


def _clock_pattern(time: str, *, is_half: bool) -> str:
    """Return the pattern of a time of day, without fraction and half of the day."""
    if not time:
        return ""
    parts = [("%I" if is_half else "%H"), "%M", "%S"]
    if ":" in time:
        return ":".join(parts[: time.count(":") + 1])
    return "".join(parts[: len(time) // 2])


def _format_of_number(value: float) -> TimeFormat | None:
    if isinstance(value, bool):
        return None
    per_second = next((per_second for start, end, per_second in _EPOCHS if start <= value < end), None)
    whole = isinstance(value, int) or value.is_integer()
    return None if per_second is None else TimeFormat(per_second=per_second, is_text=False, is_whole=whole)


def _since_1970(value: Json) -> datetime | None:
    """Return the time of a number since 1970. Small numbers are seconds."""
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 18 else value
    if not isinstance(number, int | float) or isinstance(number, bool) or not 0 <= number < 10**17:
        return None
    per_second = next((per_second for start, end, per_second in _EPOCHS if start <= number < end), 1)
    return _START + timedelta(seconds=number / per_second)


def _iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@lru_cache(maxsize=256)
def _offset(zone: str) -> timezone:
    """Return the time zone of its text; UTC if it is missing."""
    digits = zone.strip().replace(":", "")
    if digits[:1] not in {"+", "-"}:
        return UTC
    minutes = int(digits[1:3]) * 60 + int(digits[3:5])
    return timezone(timedelta(minutes=min(minutes, 1439) * (1 if digits[0] == "+" else -1)))
