"""A simulated clock: the time in a zone, and times of today converted between zones."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from mcp_sim.programs import Refused, invalid_arguments, tool
from mcp_sim.programs.helpers import pydantic_refusal

tables = {}


def refused(name, why):
    return Refused(f"Error executing tool {name}: {why}")


def zone(tool_name, argument, name):
    if not name:
        raise refused(tool_name, f"Missing required argument: {argument}")
    try:
        return ZoneInfo(name)
    except OSError:  # the name of a folder of zones, such as America
        folder = f"/usr/local/lib/python3.11/site-packages/tzdata/zoneinfo/{name}"
        raise refused(tool_name, f"Invalid timezone: [Errno 21] Is a directory: {folder!r}") from None
    except (KeyError, ValueError) as error:
        raise refused(tool_name, f"Invalid timezone: {error}") from None


def described(moment, name):
    return {"timezone": name, "datetime": moment.isoformat(timespec="seconds"),
            "day_of_week": moment.strftime("%A"), "is_dst": bool(moment.dst())}  # fmt: skip


@tool(verb="compute")
def get_current_time(world, timezone):
    return described(world.now.astimezone(zone("get_current_time", "timezone", timezone)), timezone)


@tool(verb="compute")
def convert_time(world, source_timezone, time, target_timezone):
    me = "convert_time"
    for name, value in (("source_timezone", source_timezone), ("target_timezone", target_timezone)):
        if not value:
            raise refused(me, f"Missing required argument: {name}")
    source, target = zone(me, "source_timezone", source_timezone), zone(me, "target_timezone", target_timezone)
    try:
        at = datetime.strptime(time, "%H:%M").time()  # noqa: DTZ007 (the zone follows)
    except ValueError:
        raise refused(me, "Invalid time format. Expected HH:MM [24-hour format]") from None
    begin = datetime.combine(world.now.astimezone(source).date(), at, tzinfo=source)
    if begin.astimezone(UTC).astimezone(source).time() != at:
        day = begin.date().isoformat()
        why = f"Invalid time: {time} does not exist in {source_timezone} on {day} (skipped by a clock change)"
        raise refused(me, why)
    end = begin.astimezone(target)
    hours = (end.utcoffset() - begin.utcoffset()).total_seconds() / 3600
    difference = f"{hours:+.1f}" if hours.is_integer() else f"{hours:+.2f}".rstrip("0")
    return {
        "source": described(begin, source_timezone),
        "target": described(end, target_timezone),
        "time_difference": f"{difference}h",
    }


@invalid_arguments
def refuse(world, tool, arguments, problems):
    return pydantic_refusal(world, tool, arguments, problems)
