"""A simulated calendar service: calendars, events, invitations, free and busy times.

Times are kept in the time zone of their calendar. An event that repeats is listed once, at its first time.
"""

from datetime import date, datetime, timedelta
from difflib import SequenceMatcher
from zoneinfo import ZoneInfo

from mcp_sim.programs import Refused, fail, initial, tool
from mcp_sim.programs.helpers import stamp

tables = {
    "calendar": {
        "natural": True,
        "fields": {"id": "", "summary": "", "description": None, "timeZone": "Europe/Amsterdam", "colorId": "1",
                   "accessRole": "owner", "primary": False},
    },
    "event": {
        "ids": "4k2v9m1q7s0dfe83h6u5b2c1a0",
        "links": {"calendarId": "calendar"},
        "fields": {
            "calendarId": "", "summary": "", "description": None, "location": None, "start": {"type": "object"},
            "end": {"type": "object"}, "status": "confirmed", "created": "", "updated": "", "colorId": None,
            "creator": {"type": "object"}, "organizer": {"type": "object"}, "attendees": {"type": "array"},
            "recurrence": None, "reminders": {"type": "object", "default": {"useDefault": True}}, "transparency": None,
            "visibility": None, "eventType": "default",
        },
    },
}  # fmt: skip

ME, HOME = "noor.visser@tidewater.example", "Europe/Amsterdam"
PEOPLE = ["marit", "deniz", "oluchi", "pavel", "ines", "ravi", "lotte", "haruka"]
CALENDARS = [
    (ME, "Noor Visser", {"primary": True, "colorId": "14"}),
    ("team@tidewater.example", "Team", {"description": "Absences and meetings of the team.", "accessRole": "writer"}),
    ("holidays@tidewater.example", "Public holidays", {"accessRole": "reader", "colorId": "8"}),
]
USUAL = [
    ("Stand-up", 9, 15, 3, None), ("One-on-one with {one}", 10, 30, 1, None), ("Design review", 14, 60, 3, "Room Eb"),
    ("Lunch with {one}", 12, 60, 1, "Canteen"), ("Planning", 13, 90, 4, "Room Vloed"), ("Focus time", 15, 120, 0, None),
    ("Call with the harbour of Hoek", 11, 45, 2, None), ("Interview", 16, 60, 1, "Room Eb"),
]  # fmt: skip
SHADES = ["#a4bdfc", "#7ae7bf", "#dbadff", "#ff887c", "#fbd75b", "#ffb878", "#46d6db", "#e1e1e1", "#5484ed"]
COLORS = {str(number): {"background": color, "foreground": "#1d1d1d"} for number, color in enumerate(SHADES, 1)}
COMPARED = 200  # characters of a title; SequenceMatcher is quadratic
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
GIVEN = ("summary", "description", "location", "colorId", "recurrence", "reminders", "transparency", "visibility")


# times ----------------------------------------------------------------------------------------------------------------


def zone(name):
    try:
        return ZoneInfo(name or HOME)
    except (KeyError, ValueError, OSError):
        raise Refused(f"Invalid time zone: {name}") from None


def moment(text, time_zone=None):
    """Return the time of a text; one without an offset is in the time zone."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        time = None
    if time is None or not 1900 < time.year < 2200:
        raise Refused(f"Invalid time: {text}. Use ISO 8601, such as 2025-01-01T10:00:00")
    return time if time.tzinfo else time.replace(tzinfo=zone(time_zone))


def stored(text, time_zone):
    """Return an end of an event: a day, or a time in a time zone."""
    if len(str(text)) == 10:
        moment(text)
        return {"date": text}
    name = time_zone or HOME
    return {"dateTime": moment(text, name).astimezone(zone(name)).isoformat(timespec="seconds"), "timeZone": name}


def at(end):
    return moment(end.get("dateTime") or end["date"], end.get("timeZone"))


def within(rows, low, high, time_zone):
    """Return the events that overlap a time, in the order of their beginnings."""
    after = moment(low, time_zone) if low else None
    before = moment(high, time_zone) if high else None
    rows = [row for row in rows if (not after or at(row["end"]) > after) and (not before or at(row["start"]) < before)]
    return sorted(rows, key=lambda row: (at(row["start"]), row["created"], row["id"]))


# views ----------------------------------------------------------------------------------------------------------------


def view(row):
    days = {f"{end}DayOfWeek": DAYS[at(row[end]).weekday()] for end in ("start", "end")}
    link = f"https://calendar.example/event?eid={row['id']}"
    return {name: value for name, value in row.items() if value not in (None, [])} | {**days, "htmlLink": link}


def calendars(world, asked):
    """Return the calendars that an argument names: by id, by name, or `primary`; also several, or as JSON text."""
    names = asked if isinstance(asked, list) else asked.strip("[]").replace('"', "").split(",")
    rows = []
    for name in (text.strip() for text in names):
        match = [row for row in world.calendar if is_named(row, name)]
        if not match:
            there = ", ".join(row["summary"] for row in world.calendar)
            raise Refused(f'Calendar(s) not found: "{name}". Available calendars: {there}')
        rows += match
    return rows


def is_named(calendar, name):
    return name in (calendar["id"], calendar["summary"]) or (name == "primary" and calendar["primary"])


def writable(world, asked):
    row = calendars(world, asked)[0]
    if row["accessRole"] == "reader":
        raise Refused("Access denied: you need to have writer access to this calendar.")
    return row


def known(world, calendar, event_id):
    row = world.event.get(event_id)
    if row is None or row["calendarId"] != calendar["id"]:
        raise Refused(f"Event with ID '{event_id}' not found in calendar '{calendar['id']}'.")
    return row


def guests(attendees, before=()):
    """Return attendees with their answers; those invited before keep theirs."""
    answers = {guest["email"]: guest for guest in before}
    return [
        {"responseStatus": "needsAction", **answers.get(attendee["email"], {}), **attendee} for attendee in attendees
    ]


def busy(world, calendar, start, end):
    """Return the events of a calendar that leave no time between two moments."""
    rows = world.event.find(calendarId=calendar["id"])
    rows = [row for row in rows if row["transparency"] != "transparent" and "dateTime" in row["start"]]
    return [row for row in within(rows, None, None, None) if at(row["start"]) < end and at(row["end"]) > start]


def collisions(world, row, others):
    """Return the warnings of an answer: events at the same time."""
    start, end = at(row["start"]), at(row["end"])
    conflicts = [
        {"event": {"id": event["id"], "title": event["summary"], **times(event)}, "calendar": calendar["id"]}
        for calendar in others
        for event in busy(world, calendar, start, end)
        if event["id"] != row["id"]
    ]
    return {"conflicts": conflicts, "warnings": [f"Found {len(conflicts)} scheduling conflict(s)"]} if conflicts else {}


def times(row):
    return {"start": row["start"]["dateTime"], "end": row["end"]["dateTime"]}


def made(world, calendar, given, start, end, time_zone, event_id=None):
    name = time_zone or calendar["timeZone"]
    ends = {"start": stored(start, name), "end": stored(end, name)}
    if at(ends["end"]) <= at(ends["start"]):
        raise Refused("Invalid request: The specified time range is empty.")
    now = stamp(world.now)
    owner = {"email": calendar["id"], "self": True} if calendar["primary"] else {"email": calendar["id"]}
    fields = {name: given[name] for name in GIVEN if given.get(name) is not None}
    fields |= {"id": event_id} if event_id else {}
    return world.event.add(
        {**fields, **ends}, calendarId=calendar["id"], created=now, updated=now, creator={"email": ME, "self": True},
        organizer=owner, attendees=guests(given.get("attendees") or []), eventType=given.get("eventType") or "default",
    )  # fmt: skip


# tools ----------------------------------------------------------------------------------------------------------------


@tool("list-calendars")
def list_calendars(world):
    rows = [{name: value for name, value in row.items() if value not in (None, False)} for row in world.calendar]
    return {"calendars": rows, "totalCount": len(rows)}


@tool("list-events", verb="list", entity="event", rows="events")
def list_events(world, calendarId, timeMin=None, timeMax=None, timeZone=None):
    asked = calendars(world, calendarId)
    rows = [row for calendar in asked for row in world.event.find(calendarId=calendar["id"])]
    rows = within(rows, timeMin, timeMax, timeZone)
    names = {"calendars": [calendar["id"] for calendar in asked]} if len(asked) > 1 else {}
    return {"events": [view(row) for row in rows], "totalCount": len(rows), **names}


@tool("search-events", verb="search", entity="event", rows="events")
def search_events(world, calendarId, query, timeMin, timeMax, timeZone=None):
    asked = calendars(world, calendarId)
    words = query.casefold().split()
    rows = [row for calendar in asked for row in world.event.find(calendarId=calendar["id"]) if has(row, words)]
    rows = within(rows, timeMin, timeMax, timeZone)
    names = {"calendarId": asked[0]["id"]} if len(asked) == 1 else {"calendars": [calendar["id"] for calendar in asked]}
    return {"events": [view(row) for row in rows], "totalCount": len(rows), "query": query, **names}


def has(row, words):
    text = f"{row['summary']} {row['description']} {row['location']} {row['attendees']}".casefold()
    return all(word in text for word in words)


@tool("get-event", verb="get", entity="event", key="eventId")
def get_event(world, calendarId, eventId):
    return {"event": view(known(world, calendars(world, calendarId)[0], eventId))}


@tool("list-colors", verb="compute")
def list_colors(_world):
    return {"event": COLORS, "calendar": COLORS}


@tool("create-event", verb="create", entity="event")
def create_event(
    world, calendarId, summary, start, end, timeZone=None, eventId=None, calendarsToCheck=None, allowDuplicates=False,
    duplicateSimilarityThreshold=0.7, **given,
):  # fmt: skip
    calendar = writable(world, calendarId)
    if eventId and eventId in world.event:
        raise Refused(f"Event ID '{eventId}' already exists. Please use a different ID.")
    row = made(world, calendar, {**given, "summary": summary}, start, end, timeZone, eventId)
    alike = [(share, event) for share, event in likeness(world, row) if share >= duplicateSimilarityThreshold]
    exact = next((event for share, event in alike if share >= 0.95), None)
    if exact and not allowDuplicates:
        why = f'Event "{exact["summary"]}" already exists. To create anyway, set allowDuplicates to true.'
        raise Refused(f"Duplicate event detected (100% similar). {why}")
    same = [
        {"event": {"id": event["id"], "title": event["summary"], "similarity": share}, "calendarId": calendar["id"]}
        for share, event in alike
    ]
    others = calendars(world, calendarsToCheck) if calendarsToCheck else [calendar]
    return {"event": view(row), **collisions(world, row, others), **({"duplicates": same} if same else {})}


def likeness(world, row):
    """Return the other events at the same time, with how alike their titles are, 0 to 1."""
    rows = world.event.find(calendarId=row["calendarId"])
    rows = [
        event
        for event in rows
        if event["id"] != row["id"] and (event["start"], event["end"]) == (row["start"], row["end"])
    ]
    title = row["summary"][:COMPARED].casefold()
    others = [event["summary"][:COMPARED].casefold() for event in rows]
    return [(round(SequenceMatcher(None, other, title).ratio(), 2), event)
            for other, event in zip(others, rows, strict=True)]  # fmt: skip


@tool("create-events", verb="create", entity="event")
def create_events(world, events, calendarId="primary", timeZone=None):
    created, failed = [], []
    for index, event in enumerate(world.each(events)):
        try:
            calendar = writable(world, event.get("calendarId") or calendarId)
            row = made(world, calendar, event, event["start"], event["end"], event.get("timeZone") or timeZone)
            created.append(view(row))
        except Refused as problem:
            failed.append({"index": index, "summary": event["summary"], "error": str(problem)})
    counts = {"totalRequested": len(events), "totalCreated": len(created), "totalFailed": len(failed)}
    answer = {**counts, "created": created, **({"failed": failed} if failed else {})}
    return answer if created else fail(answer)


@tool("update-event", verb="update", entity="event", key="eventId")
def update_event(
    world, calendarId, eventId, start=None, end=None, timeZone=None, attendees=None, checkConflicts=True,
    calendarsToCheck=None, **given,
):  # fmt: skip
    calendar = writable(world, calendarId)
    row = known(world, calendar, eventId)
    for name, text in (("start", start), ("end", end)):
        if text is not None:
            row[name] = stored(text, timeZone or calendar["timeZone"])
    if at(row["end"]) <= at(row["start"]):
        raise Refused("Invalid request: The specified time range is empty.")
    row.update({name: given[name] for name in GIVEN if given.get(name) is not None})
    if attendees is not None:
        row["attendees"] = guests(attendees, row["attendees"])
    row["updated"] = stamp(world.now)
    others = calendars(world, calendarsToCheck) if calendarsToCheck else [calendar]
    return {"event": view(row), **(collisions(world, row, others) if checkConflicts and (start or end) else {})}


@tool("delete-event", verb="delete", entity="event", key="eventId")
def delete_event(world, calendarId, eventId):
    calendar = writable(world, calendarId)
    world.event.delete(known(world, calendar, eventId))
    return {"success": True, "eventId": eventId, "calendarId": calendar["id"], "message": "Event deleted successfully"}


@tool("get-freebusy", reads=True, entity="event")
def get_freebusy(world, calendars, timeMin, timeMax, timeZone=None):
    start, end = moment(timeMin, timeZone), moment(timeMax, timeZone)
    shown = {}
    for asked in calendars:
        row = next((calendar for calendar in world.calendar if is_named(calendar, asked["id"])), None)
        taken = merged(times(event) for event in busy(world, row, start, end)) if row else []
        missing = {} if row else {"errors": [{"domain": "global", "reason": "notFound"}]}
        shown[asked["id"]] = {"busy": taken, **missing}
    return {"timeMin": timeMin, "timeMax": timeMax, "calendars": shown}


def merged(spans):
    """Return spans of time, in their order, with those that overlap joined."""
    joined = []
    for span in spans:
        if joined and moment(span["start"]) <= moment(joined[-1]["end"]):
            joined[-1]["end"] = max(joined[-1]["end"], span["end"], key=moment)
        else:
            joined.append(span)
    return joined


@tool("get-current-time", verb="compute")
def get_current_time(world, timeZone=None):
    now = world.now.astimezone(zone(timeZone))
    text = now.isoformat(timespec="seconds")
    return {
        "currentTime": text, "timezone": timeZone or HOME, "offset": text[-6:], "isDST": bool(now.dst()),
        "dayOfWeek": DAYS[now.weekday()],
    }  # fmt: skip


@tool("respond-to-event", verb="update", entity="event", key="eventId")
def respond_to_event(world, calendarId, eventId, response, comment=None, sendUpdates="all"):
    row = known(world, calendars(world, calendarId)[0], eventId)
    mine = next((attendee for attendee in row["attendees"] if attendee["email"] == ME), None)
    if mine is None:
        raise Refused("You are not listed as an attendee of this event")
    if row["organizer"]["email"] == ME:
        raise Refused("Cannot respond to your own event: you are the organizer of this event")
    mine.update({"responseStatus": response}, **({"comment": comment} if comment else {}))
    row["updated"] = stamp(world.now)
    done = f'Your response has been set to "{response}"' + (f' with note: "{comment}"' if comment else "")
    return {"event": view(row), "responseStatus": response, "sendUpdates": sendUpdates, "message": done}


@tool("manage-accounts", reads=True)
def manage_accounts(_world, action, account_id="normal"):
    if action != "list":
        return {"status": "already_authenticated" if action == "add" else "error", "account_id": account_id,
                "message": "Accounts cannot be changed here."}  # fmt: skip
    account = {"account_id": "normal", "status": "active", "email": ME}
    return {"accounts": [account], "total_accounts": 1, "message": "Found 1 authenticated account(s)"}


@initial
def begin(given, world):
    """Fill the world; `world.state` of a scenario may say for how many `weeks` from the last on (default 3)."""
    for calendar_id, summary, marks in CALENDARS:
        world.calendar.add(marks, id=calendar_id, summary=summary)
    monday = world.now.date() - timedelta(days=world.now.weekday() + 7)
    for day in range(7 * int((given or {}).get("weeks", 3))):
        if day % 7 < 5:
            for usual in world.random.sample(USUAL, 3):
                meeting(world, monday + timedelta(days=day), *usual)
    for name, month, number in (("King's Day", 4, 27), ("Liberation Day", 5, 5)):
        day = date(world.now.year, month, number)
        given = {"summary": name, "transparency": "transparent"}
        made(world, world.calendar.get(CALENDARS[2][0]), given, day.isoformat(), str(day + timedelta(days=1)), None)


def meeting(world, day, summary, hour, minutes, people, room):
    names = world.random.sample(PEOPLE, people)
    start = datetime(day.year, day.month, day.day, hour, tzinfo=zone(HOME))
    emails = [{"email": f"{name}@tidewater.example", "responseStatus": "accepted"} for name in names]
    mine = [{"email": ME, "self": True, "responseStatus": "accepted"}] if names else []
    given = {"summary": summary.format(one=(names or [""])[0].title()), "location": room, "attendees": emails + mine}
    end = start + timedelta(minutes=minutes)
    row = made(world, world.calendar.get(ME), given, start.isoformat(), end.isoformat(), HOME)
    if names:
        row["organizer"] = row["creator"] = {"email": emails[0]["email"]}
    row["created"] = row["updated"] = f"{min(day, world.now.date()) - timedelta(days=9)}T08:12:40Z"
