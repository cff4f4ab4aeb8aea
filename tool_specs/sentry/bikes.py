"""The organization of a bicycle rental: its people, teams, projects and releases, and what went wrong lately."""

from datetime import timedelta

ORGANIZATION = "lumen-bikes"
PEOPLE = (
    ("Ines Carvalho", "ines"), ("Jonas Weber", "jonas"), ("Amara Diallo", "amara"), ("Sven Aalto", "sven"),
    ("Priya Nair", "priya"),
)  # fmt: skip
TEAMS = ("checkout", "platform", "mobile")
PROJECTS = (
    ("web-shop", "javascript-nextjs", "checkout", "2.18.{}"),
    ("booking-api", "python-fastapi", "platform", "booking-api@5.4.{}"),
    ("rider-app", "react-native", "mobile", "com.lumen.rider@3.9.{}+41"),
)
ISSUES = (  # their project, type, value, culprit, level, status, number of events, and frames
    ("web-shop", "TypeError", "Cannot read properties of undefined (reading 'currency')", "formatPrice(src/lib/money)",
     "error", "unresolved", 14, (("src/lib/money.ts", 31, "formatPrice"), ("src/components/Cart.tsx", 88, "CartRow"))),
    ("web-shop", "Error", "Payment intent was confirmed twice", "POST /api/checkout", "error", "unresolved", 6,
     (("src/pages/api/checkout.ts", 57, "confirm"), ("src/lib/payments.ts", 19, "confirmIntent"))),
    ("web-shop", "ChunkLoadError", "Loading chunk 412 failed", "/bikes/[id]", "error", "ignored", 9,
     (("webpack/runtime/jsonp.js", 27, "requireEnsure"),)),
    ("web-shop", "RangeError", "Invalid time value", "DatePicker(src/components/DatePicker)", "error", "resolved", 4,
     (("src/components/DatePicker.tsx", 112, "toLocal"),)),
    ("web-shop", "Error", "Hydration failed because the server HTML did not match", "/", "warning", "unresolved", 11,
     (("node_modules/react-dom/client.js", 4019, "throwOnHydrationMismatch"),)),
    ("web-shop", "AxiosError", "Request failed with status code 503", "GET /api/stations", "error", "unresolved", 7,
     (("src/lib/api.ts", 44, "get"), ("src/pages/stations.tsx", 23, "getServerSideProps"))),
    ("booking-api", "IntegrityError", 'duplicate key value violates unique constraint "uq_booking_slot"',
     "app.bookings.create_booking", "error", "unresolved", 12,
     (("app/bookings.py", 74, "create_booking"), ("app/db.py", 39, "commit"))),
    ("booking-api", "TimeoutError", "QueuePool limit of size 5 overflow 10 reached", "app.db.session", "fatal",
     "unresolved", 8, (("app/db.py", 22, "session"), ("app/reports.py", 61, "daily_report"))),
    ("booking-api", "ValidationError", "1 validation error for BookingRequest: until", "app.bookings.create_booking",
     "error", "resolved", 5, (("app/bookings.py", 52, "create_booking"),)),
    ("booking-api", "KeyError", "'station_id'", "app.webhooks.on_return", "error", "unresolved", 3,
     (("app/webhooks.py", 47, "on_return"),)),
    ("booking-api", "ConnectionError", "Error 111 connecting to redis:6379. Connection refused.", "app.cache.get",
     "error", "resolved", 6, (("app/cache.py", 18, "get"),)),
    ("booking-api", "DeprecationWarning", "invoice v1 is called by an old client", "app.invoices.legacy", "warning",
     "ignored", 10, (("app/invoices.py", 140, "legacy"),)),
    ("booking-api", "ZeroDivisionError", "division by zero", "app.reports.utilisation", "error", "unresolved", 2,
     (("app/reports.py", 97, "utilisation"),)),
    ("rider-app", "Error", "Bluetooth device was disconnected", "unlockBike", "error", "unresolved", 13,
     (("src/lock/ble.ts", 66, "write"), ("src/lock/unlock.ts", 28, "unlockBike"))),
    ("rider-app", "TypeError", "undefined is not an object (evaluating 'ride.route.length')", "RideSummary", "error",
     "unresolved", 5, (("src/screens/RideSummary.tsx", 49, "RideSummary"),)),
    ("rider-app", "ApplicationNotResponding", "ANR: Input dispatching timed out", "MapScreen", "fatal", "unresolved", 4,
     (("src/screens/MapScreen.tsx", 133, "onRegionChange"),)),
    ("rider-app", "Error", "Location permission was revoked", "useLocation", "warning", "resolved", 7,
     (("src/hooks/useLocation.ts", 35, "watch"),)),
)  # fmt: skip
URLS = {
    "web-shop": [
        f"https://lumen-bikes.example{path}" for path in ("/", "/cart", "/checkout", "/bikes/city-7", "/stations")
    ],
    "booking-api": [
        f"https://api.lumen-bikes.example/v2/{path}" for path in ("bookings", "webhooks", "reports", "invoices")
    ],
}
BROWSERS = ("Chrome 131", "Safari 18.1", "Firefox 133", "Mobile Safari 18.1")
SYSTEMS = ("Windows 11", "macOS 15.1", "iOS 18.1", "Android 15")
RIDERS = ("maja", "tomas", "eun", "farid", "lucia", "noor", "pavel", "zoe", "hugo", "aiko", "bram", "sofia")
MESSAGES = (
    "Round prices before they are compared", "Retry the webhook of the payment provider", "Cache the list of stations",
    "Show the deposit in the cart", "Ask for Bluetooth permission later", "Drop the old invoice endpoint",
)  # fmt: skip


def fill(world, with_issues):
    """Add the organization; with issues, what went wrong in the last days as well."""
    begun = world.now - timedelta(days=400)
    world.organization.add(slug=ORGANIZATION, name="Lumen Bikes", regionUrl="https://us.sentry.io")
    for name, short in PEOPLE:
        world.user.add(name=name, email=f"{short}@lumen-bikes.example", username=short)
    for slug in TEAMS:
        world.team.add(slug=slug, name=slug.capitalize())
    for slug, platform, team, version in PROJECTS:
        owner = next(iter(world.team.find(slug=team)))["id"]
        project = world.project.add(slug=slug, name=slug, platform=platform, teams=[owner], createdAt=begun.isoformat())
        add_key(world, project, "Default")
        for number in range(3):
            add_release(world, project, version.format(number), 24 - 9 * number)
    for row in ISSUES if with_issues else ():
        add_issue(world, *row)


def add_key(world, project, name):
    public = f"{world.random.getrandbits(128):032x}"
    host = f"o{next(iter(world.organization))['id']}.ingest.us.sentry.io"
    return world.key.add(id=public, project=project["id"], name=name, public=f"https://{public}@{host}/{project['id']}")


def add_release(world, project, version, days):
    author = world.random.choice(PEOPLE)
    created = world.now - timedelta(days=days, minutes=world.random.randrange(900))
    world.release.add(
        version=version, project=project["id"], createdAt=created.isoformat(), author=author[0],
        commit=f"{world.random.getrandbits(160):040x}", message=world.random.choice(MESSAGES),
        deployedAt=(created + timedelta(minutes=23)).isoformat(),
    )  # fmt: skip


def add_issue(
    world, slug, kind, value, culprit, level, status, events, frames, environment="production", assignee=None
):
    """Add an issue with its events, the newest within the last three days."""
    random, project = world.random, next(iter(world.project.find(slug=slug)))
    number = len(world.issue.find(project=project["id"])) + 11
    if assignee is None and random.random() < 0.5:
        assignee = random.choice([*world.user])["id"]
    issue = world.issue.add(
        shortId=f"{slug.upper()}-{base36(number)}", title=f"{kind}: {value}" if value else kind, type=kind, value=value,
        culprit=culprit, project=project["id"], level=level, status=status,
        substatus={"unresolved": "ongoing", "ignored": "archived_until_escalating"}.get(status),
        assignee=assignee, frames=[list(frame) for frame in frames],
    )  # fmt: skip
    releases = world.release.find(project=project["id"])
    last = world.now - timedelta(minutes=random.randrange(8, 4000))
    for number in range(events):
        rider = random.choice(RIDERS)
        world.event.add(
            id=f"{random.getrandbits(128):032x}", issue=issue["id"], trace=f"{random.getrandbits(128):032x}",
            timestamp=(last - timedelta(minutes=number * random.randrange(20, 1100))).isoformat(timespec="seconds"),
            level=level, environment=random.choice((environment, environment, environment, "staging")),
            release=random.choice(releases)["version"] if releases else "", user=f"{rider}@riders.example",
            url=random.choice(URLS.get(slug, [""])), browser=random.choice(BROWSERS),
            os=random.choice(SYSTEMS),
        )  # fmt: skip
    return issue


def base36(number):
    """Return a number as short ids show it."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return digits[number] if number < 36 else base36(number // 36) + digits[number % 36]
