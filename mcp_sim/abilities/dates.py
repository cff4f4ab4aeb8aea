"""Which operations tell the time, and work with dates and time zones?"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, tzinfo

from mcp_sim.abilities.moments import LENGTHS, moment, pattern_of, shifted, written_like, zone, zoned
from mcp_sim.abilities.operation import ANY, NUMBER, TEXT, Circumstances, Given, Operation, Role, phrases, role
from mcp_sim.abilities.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.words import singular, vocabulary

_ZONES = "tz, time_zone, timezone_name, zone, location, tz_name"
_DATES = "date_string, date_str, start_date, base_date, datetime, timestamp, day, start, from_date, input_date, time"
_SECOND_DATES = "end, to_date, date2, second_date, to, until, datetime2, end_datetime, later"


def _now(given: Given, around: Circumstances) -> Json:
    here = around.now.astimezone(zone(given.get("timezone")))
    layout = given.get("format")
    if layout:
        pattern = pattern_of(str(layout))
        if pattern is None:
            raise Refused("invalid", f"Unknown format {layout!r}: expected a layout such as YYYY-MM-DD HH:mm:ss")
        return here.strftime(pattern)
    return {
        "timezone": given.get("timezone") or "UTC",
        "datetime": here.isoformat(timespec="seconds"),
        "day_of_week": here.strftime("%A"),
        "is_dst": bool(here.dst()),
        "date": here.strftime("%Y-%m-%d"),
        "time": here.strftime("%H:%M:%S"),
        "timestamp": int(here.timestamp()),
    }


def _converted(given: Given, around: Circumstances) -> Json:
    source, target = zone(given.get("source")), zone(given.get("target"))
    clock = str(given["time"])
    if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", clock):
        hour, minute = (int(part) for part in clock.split(":")[:2])
        if hour > 23 or minute > 59:
            raise Refused("invalid", "Invalid time format. Expected HH:MM [24-hour format]")
        begun = around.now.astimezone(source).replace(hour=hour, minute=minute, second=0, microsecond=0)
    else:
        begun = moment(given["time"], around.now)
        begun = begun.replace(tzinfo=source) if begun.tzinfo is None else _elsewhere(begun, source)
    ended = _elsewhere(begun, target)
    hours = ((ended.utcoffset() or timedelta()) - (begun.utcoffset() or timedelta())).total_seconds() / 3600
    return {
        "source": _there(begun, given.get("source")),
        "target": _there(ended, given.get("target")),
        "time_difference": f"{hours:+.1f}h" if hours * 10 == int(hours * 10) else f"{hours:+.2f}h",
    }


def _elsewhere(here: datetime, there: tzinfo) -> datetime:
    try:
        return here.astimezone(there)
    except OverflowError:
        raise Refused("invalid", f"The time {here.isoformat()} is out of range in that timezone") from None


def _there(here: datetime, name: Json) -> Json:
    return {
        "timezone": name or "UTC",
        "datetime": here.isoformat(timespec="seconds"),
        "day_of_week": here.strftime("%A"),
        "is_dst": bool(here.dst()),
    }


def _added(sign: int) -> Callable[[Given, Circumstances], Json]:
    def added(given: Given, around: Circumstances) -> Json:
        start = moment(given.get("date", "now"), around.now)
        parts = [(given["amount"], str(given.get("unit") or "days"))] if "amount" in given else []
        parts += [
            (given[unit], unit) for unit in ("years", "months", "weeks", "days", "hours", "minutes") if unit in given
        ]
        if not parts:
            raise Refused("invalid", "Nothing to add: give days, or an amount and a unit")
        found = start
        for amount, unit in parts:
            found = shifted(found, sign * amount, unit)
        return written_like(found, given.get("date"))

    return added


def _between(given: Given, around: Circumstances) -> Json:
    first, second = (zoned(moment(given[name], around.now)) for name in ("first", "second"))
    seconds = (second - first).total_seconds()
    unit = given.get("unit")
    if unit is None:
        return int(seconds // 86400) if seconds >= 0 else -int(-seconds // 86400)
    name = singular(str(unit).strip().lower())
    if name in {"month", "year"}:
        months = (second.year - first.year) * 12 + second.month - first.month - (second.day < first.day)
        return months if name == "month" else int(months / 12)
    if name not in LENGTHS:
        raise Refused(
            "invalid",
            f"Unknown unit {unit!r}. Supported units: {', '.join(f'{one}s' for one in LENGTHS)}, months, years",
        )
    found = seconds / LENGTHS[name]
    return int(found) if found == int(found) else found


def _formatted(given: Given, around: Circumstances) -> Json:
    pattern = pattern_of(str(given["format"]))
    if pattern is None:
        raise Refused("invalid", f"Unknown format {given['format']!r}: expected a layout such as YYYY-MM-DD HH:mm:ss")
    found = moment(given.get("date", "now"), around.now)
    return (_elsewhere(found, zone(given["timezone"])) if given.get("timezone") else found).strftime(pattern)


def _day(pattern: str) -> Callable[[Given, Circumstances], Json]:
    return lambda given, around: moment(given.get("date", "now"), around.now).strftime(pattern)


def _age(given: Given, around: Circumstances) -> Json:
    born = moment(given["date"], around.now).date()
    today = around.now.date()
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def _zones(given: Given, _around: Circumstances) -> Json:
    from zoneinfo import available_timezones  # noqa: PLC0415 (slow to import, and seldom needed)

    wanted = str(given.get("filter") or "").lower()
    return sorted(name for name in available_timezones() if wanted in name.lower())


def _year(given: Given) -> int:
    year = int(given["year"])
    if not 1 <= year <= 9999:
        raise Refused("invalid", f"Invalid year {year}: must be between 1 and 9999")
    return year


def _days_in_month(given: Given, _around: Circumstances) -> Json:
    month = int(given["month"])
    if not 1 <= month <= 12:
        raise Refused("invalid", f"Invalid month {month}: must be between 1 and 12")
    return calendar.monthrange(_year(given), month)[1]


def _is_weekend(given: Given, around: Circumstances) -> Json:
    found: date = moment(given["date"], around.now)
    return found.weekday() >= 5


_DATE = role("date", TEXT, _DATES)
_DATE_OR_NOW = role("date", TEXT, _DATES, optional=True)
_ZONE = role("timezone", TEXT, _ZONES, optional=True)
_AMOUNTS: tuple[Role, ...] = (
    role("amount", NUMBER, "value, quantity, n, number, count, offset, duration", optional=True),
    role("unit", TEXT, "units, period, time_unit", optional=True),
    *(role(unit, NUMBER, optional=True) for unit in ("years", "months", "weeks", "days", "hours", "minutes")),
)
_ABOUT_TIME = vocabulary("date dates day days time calendar datetime")


def _operation(
    name: str,
    known_as: str,
    roles: Sequence[Role],
    compute: Callable[[Given, Circumstances], Json],
    *places: str,
    telling: frozenset[str] = frozenset(),
) -> Operation:
    return Operation(name, phrases(known_as), roles, compute, (*places, "result", "value"), telling)


OPERATIONS: tuple[Operation, ...] = (
    _operation(
        "now",
        "get_current_time, current_time, get_time, now, time, get_current_date, current_date, get_date, today, "
        "get_current_datetime, current_datetime, get_datetime, get_now, get_current_date_time, get_today, "
        "get_current_date_and_time, "
        "what_time_is_it, get_current_timestamp, current_timestamp, get_timestamp, get_system_time, server_time, "
        "get_local_time, local_time, get_time_in_timezone, current_time_in_timezone, "
        "get_current_time_in_timezone, get_todays_date",
        (_ZONE, role("format", TEXT, "date_format, time_format, output_format, layout", optional=True)),
        _now,
        "current_time",
        "time",
        "datetime",
        "current_date",
        "date",
        "now",
    ),
    _operation(
        "convert_time",
        "convert_time, time_conversion, convert_timezone, convert_time_zone, timezone_convert, convert_datetime, "
        "convert_between_timezones, timezone_conversion, convert_time_between_timezones, translate_time",
        (
            role("time", TEXT, "datetime, time_string, timestamp, date_time, source_time"),
            role("source", TEXT, "source_timezone, from_timezone, from_tz, source_tz, from, timezone_from, from_zone"),
            role("target", TEXT, "target_timezone, to_timezone, to_tz, target_tz, to, timezone_to, to_zone"),
        ),
        _converted,
        "converted_time",
        "target_time",
    ),
    _operation(
        "add_to_date",
        "add_days, date_add, add_to_date, add_time, add_date, add_duration, add_days_to_date, date_offset, "
        "add_months, "
        "add_weeks, add_hours, calculate_date, shift_date, add_business_time, offset_date",
        (_DATE_OR_NOW, *_AMOUNTS),
        _added(1),
        "date",
        "new_date",
        "result_date",
    ),
    _operation(
        "subtract_from_date",
        "subtract_days, date_subtract, subtract_from_date, subtract_time, subtract_date, subtract_duration",
        (_DATE_OR_NOW, *_AMOUNTS),
        _added(-1),
        "date",
        "new_date",
        "result_date",
    ),
    _operation(
        "difference",
        "date_diff, days_between, date_difference, diff_dates, time_difference, time_between, datediff, "
        "difference_between_dates, days_between_dates, get_date_difference, dates_difference, duration_between, "
        "calculate_date_difference, calculate_days_between, time_diff, calculate_duration",
        (
            role(
                "first",
                TEXT,
                "date, start_date, start, date1, from_date, from, first_date, datetime1, start_datetime, earlier, "
                "start_time",
            ),
            role("second", TEXT, f"{_SECOND_DATES}, end_date, end_time"),
            role("unit", TEXT, "units, in_unit", optional=True),
        ),
        _between,
        "days",
        "difference",
        "days_between",
        telling=_ABOUT_TIME,
    ),
    _operation(
        "format_date",
        "format_date, format_datetime, format_time, reformat_date, date_format, convert_date_format",
        (_DATE, role("format", TEXT, "output_format, layout, pattern, target_format, to_format, format_string"), _ZONE),
        _formatted,
        "formatted",
        "formatted_date",
    ),
    _operation(
        "day_of_week",
        "day_of_week, get_day_of_week, weekday, get_weekday, which_day",
        (_DATE,),
        _day("%A"),
        "day",
        "weekday",
        "day_of_week",
    ),
    _operation(
        "week_number",
        "week_number, get_week_number, iso_week, week_of_year, get_week_year",
        (_DATE,),
        lambda g, a: moment(g["date"], a.now).isocalendar().week,
        "week",
        "week_number",
    ),
    _operation("is_weekend", "is_weekend", (_DATE,), _is_weekend, "is_weekend"),
    _operation(
        "to_timestamp",
        "to_timestamp, date_to_timestamp, datetime_to_timestamp, to_unix, to_epoch, parse_to_timestamp, "
        "convert_to_timestamp, get_timestamp",
        (_DATE,),
        lambda g, a: int(zoned(moment(g["date"], a.now)).timestamp()),
        "timestamp",
    ),
    _operation(
        "from_timestamp",
        "timestamp, from_timestamp, timestamp_to_date, timestamp_to_datetime, unix_to_date, epoch_to_date, from_unix, "
        "convert_timestamp",
        (role("timestamp", ANY, "ts, unix, epoch, unix_timestamp"), _ZONE),
        lambda g, a: moment(g["timestamp"], a.now).astimezone(zone(g.get("timezone"))).isoformat(),
        "date",
        "datetime",
    ),
    _operation(
        "age",
        "calculate_age, age, get_age",
        (role("date", TEXT, "birth_date, birthdate, date_of_birth, dob, birthday"),),
        _age,
        "age",
    ),
    _operation(
        "is_leap_year",
        "is_leap_year, leap_year, check_leap_year",
        (role("year", NUMBER),),
        lambda g, _a: calendar.isleap(_year(g)),
        "is_leap_year",
        "leap",
    ),
    _operation(
        "days_in_month",
        "days_in_month, get_days_in_month",
        (role("year", NUMBER), role("month", NUMBER)),
        _days_in_month,
        "days",
    ),
    _operation(
        "days_in_month_of",
        "days_in_month, get_days_in_month, month_days",
        (_DATE_OR_NOW,),
        lambda g, a: calendar.monthrange(*moment(g.get("date", "now"), a.now).timetuple()[:2])[1],
        "days",
    ),
    _operation(
        "zones",
        "list_timezones, get_timezones, list_time_zones, available_timezones, get_available_timezones, "
        "search_timezones",
        (role("filter", TEXT, "query, region, search, continent, area", optional=True),),
        _zones,
        "timezones",
    ),
)
