"""Operations on times, dates and time zones."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence

from mcp_sim.backends.compute.operation import (
    ANY,
    NUMBER,
    TEXT,
    Arguments,
    ComputeContext,
    Operation,
    Role,
    phrases,
    role,
)
from mcp_sim.backends.dates.calculations import (
    age,
    convert_time,
    current_time,
    days_in_month,
    difference,
    format_date,
    is_weekend,
    list_zones,
    part_of_day,
    shift_date,
    valid_year,
)
from mcp_sim.backends.dates.moments import parse_moment, parse_zone, with_zone
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import vocabulary

_ZONES = "tz, time_zone, timezone_name, zone, location, tz_name"
_DATES = "date_string, date_str, start_date, base_date, datetime, timestamp, day, start, from_date, input_date, time"
_SECOND_DATES = "end, to_date, date2, second_date, to, until, datetime2, end_datetime, later"

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
    compute: Callable[[Arguments, ComputeContext], Json],
    *places: str,
    hints: frozenset[str] = frozenset(),
) -> Operation:
    return Operation(name, phrases(known_as), roles, compute, (*places, "result", "value"), hints)


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
        current_time,
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
        convert_time,
        "converted_time",
        "target_time",
    ),
    _operation(
        "add_to_date",
        "add_days, date_add, add_to_date, add_time, add_date, add_duration, add_days_to_date, date_offset, "
        "add_months, "
        "add_weeks, add_hours, calculate_date, shift_date, add_business_time, offset_date",
        (_DATE_OR_NOW, *_AMOUNTS),
        shift_date(1),
        "date",
        "new_date",
        "result_date",
    ),
    _operation(
        "subtract_from_date",
        "subtract_days, date_subtract, subtract_from_date, subtract_time, subtract_date, subtract_duration",
        (_DATE_OR_NOW, *_AMOUNTS),
        shift_date(-1),
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
        difference,
        "days",
        "difference",
        "days_between",
        hints=_ABOUT_TIME,
    ),
    _operation(
        "format_date",
        "format_date, format_datetime, format_time, reformat_date, date_format, convert_date_format",
        (_DATE, role("format", TEXT, "output_format, layout, pattern, target_format, to_format, format_string"), _ZONE),
        format_date,
        "formatted",
        "formatted_date",
    ),
    _operation(
        "day_of_week",
        "day_of_week, get_day_of_week, weekday, get_weekday, which_day",
        (_DATE,),
        part_of_day("%A"),
        "day",
        "weekday",
        "day_of_week",
    ),
    _operation(
        "week_number",
        "week_number, get_week_number, iso_week, week_of_year, get_week_year",
        (_DATE,),
        lambda g, a: parse_moment(g["date"], a.now).isocalendar().week,
        "week",
        "week_number",
    ),
    _operation("is_weekend", "is_weekend", (_DATE,), is_weekend, "is_weekend"),
    _operation(
        "to_timestamp",
        "to_timestamp, date_to_timestamp, datetime_to_timestamp, to_unix, to_epoch, parse_to_timestamp, "
        "convert_to_timestamp, get_timestamp",
        (_DATE,),
        lambda g, a: int(with_zone(parse_moment(g["date"], a.now)).timestamp()),
        "timestamp",
    ),
    _operation(
        "from_timestamp",
        "timestamp, from_timestamp, timestamp_to_date, timestamp_to_datetime, unix_to_date, epoch_to_date, from_unix, "
        "convert_timestamp",
        (role("timestamp", ANY, "ts, unix, epoch, unix_timestamp"), _ZONE),
        lambda g, a: parse_moment(g["timestamp"], a.now).astimezone(parse_zone(g.get("timezone"))).isoformat(),
        "date",
        "datetime",
    ),
    _operation(
        "age",
        "calculate_age, age, get_age",
        (role("date", TEXT, "birth_date, birthdate, date_of_birth, dob, birthday"),),
        age,
        "age",
    ),
    _operation(
        "is_leap_year",
        "is_leap_year, leap_year, check_leap_year",
        (role("year", NUMBER),),
        lambda g, _a: calendar.isleap(valid_year(g)),
        "is_leap_year",
        "leap",
    ),
    _operation(
        "days_in_month",
        "days_in_month, get_days_in_month",
        (role("year", NUMBER), role("month", NUMBER)),
        days_in_month,
        "days",
    ),
    _operation(
        "days_in_month_of",
        "days_in_month, get_days_in_month, month_days",
        (_DATE_OR_NOW,),
        lambda g, a: calendar.monthrange(*parse_moment(g.get("date", "now"), a.now).timetuple()[:2])[1],
        "days",
    ),
    _operation(
        "zones",
        "list_timezones, get_timezones, list_time_zones, available_timezones, get_available_timezones, "
        "search_timezones",
        (role("filter", TEXT, "query, region, search, continent, area", optional=True),),
        list_zones,
        "timezones",
    ),
)
