"""How the server words its answers: errors, lists, links, states, and the rows that a search shows."""

import re
from datetime import datetime
from urllib.parse import urlencode

from mcp_sim.programs import Refused
from mcp_sim.programs.helpers import javascript_type, stamp, zod_problems, zod_refused
from mcp_sim.types.json_schema.expansion import expanded

LIST_LIMIT = 25  # the server's own limit for organizations, teams and projects
AGAIN = "You may be able to resolve the issue by addressing the concern and trying again."
DSN_NOTES = (
    "## Response Notes\n\n- Please tell the user the DSN.\n"
    "- The `SENTRY_DSN` value is a URL used to initialize Sentry SDKs.\n"
)
BASIC_FIELDS = ("issue", "title", "project", "timestamp", "level", "message", "error.type", "culprit")
ISSUE_EVENT_FIELDS = (
    "id", "timestamp", "title", "message", "level", "environment", "release", "user.display", "trace", "url",
)  # fmt: skip
FIRST_FIELDS = (
    "title", "issue", "project", "level", "error.type", "message", "culprit", "timestamp", "last_seen()", "count()",
)  # fmt: skip
TABLE_HINT = "A compact table works well for these aggregate results."
HINTS = {
    "errors": "Useful details to surface include severity, event IDs, and links.",
    "logs": "Console-style formatting works well for these logs, with timestamps preserved.",
    "spans": "A timeline works well for these traces, with durations and parent-child span relationships visible.",
    "profiles": "Concise summaries work well for these profiles, highlighting profile ID, transaction, duration, "
    "release, and trace context.",
    "metrics": "Concise summaries work well for these metric samples, highlighting metric name, type, value, "
    "and trace context.",
    "replays": "Cards work well for these replays, with links visible.",
}
NEXT_STEPS = (
    "## Next Steps\n\n- Get more details about a specific error: Use the Issue ID\n"
    "- View error groups: Navigate to the Issues page in Sentry\n"
    "- Set up alerts: Configure alert rules for these error patterns\n"
)


def wrong_input(problem):
    return Refused(
        f"**Input Error**\n\nIt looks like there was a problem with the input you provided.\n\n{problem}\n\n{AGAIN}"
    )


def api_error(status, message):
    """Return the failure of a call of Sentry's API, as the server words it."""
    problem = f"API error ({status}): {message}"
    if status == 404:
        is_generic = "requested resource" in message
        problem += (
            ". Please verify that the organization, project, or resource ID is correct and that you have access to it."
            if is_generic else ". Please verify the parameters are correct."
        )  # fmt: skip
    text = f"There was an HTTP {status} error with your request to the Sentry API."
    return Refused(f"**Input Error**\n\n{text}\n\n{problem}\n\n{AGAIN}")


def refusal(world, tool, arguments):
    """Word wrong arguments as zod 3 does, which the server uses; None if nothing is wrong for zod."""
    problems = zod_problems(expanded(world.input_schema), arguments)
    lines = [f"{zod3(problem, path, arguments)} at {path}" for path, problem in problems]
    return zod_refused(tool, lines) if lines else None


def zod3(problem, path, arguments):
    """Return what zod 3 says where zod 4 says `problem`."""
    expected = re.search(r"expected (?:one of )?([^,]*)", problem)
    if path not in arguments:
        return "Required"
    if "one of" in problem:
        choices = expected[1].replace('"', "'").replace("|", " | ")
        return f"Invalid enum value. Expected {choices}, received '{arguments[path]}'"
    return f"Expected {expected[1]}, received {javascript_type(arguments[path])}" if expected else problem


def missing():
    return api_error(404, "The requested resource does not exist")


def iso(text):
    return stamp(datetime.fromisoformat(text), "milliseconds")


def issue_url(organization, short_id):
    return f"https://{organization}.sentry.io/issues/{short_id}"


def limited(lines, count, noun):
    if count < LIST_LIMIT:
        return lines
    return lines + (
        f"\n---\n\n**Note:** Showing {LIST_LIMIT} results (maximum). There may be more {noun} available. "
        f"Use the `query` parameter to search for specific {noun}."
    )


def listed(title, noun, query, rows, line):
    output = f"# {title}\n\n" + (f'**Search query:** "{query}"\n\n' if query else "")
    if not rows:
        return output + (f'No {noun} found matching "{query}".\n' if query else f"No {noun} found.\n")
    return limited(output + "".join(map(line, rows[:LIST_LIMIT])), len(rows), noun)


def ago(world, moment):
    minutes = int((world.now - moment).total_seconds() // 60)
    for size, noun, most in ((1, "minute", 60), (60, "hour", 24), (1440, "day", 30)):
        if minutes // size < most:
            return f"{minutes // size} {noun}{'' if minutes // size == 1 else 's'} ago"
    return moment.date().isoformat()


def slugged(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def presentation(hint):
    return f"**Suggested presentation:** {hint}\n\n"


def dashboard(url):
    return (
        f"**View these results in Sentry**:\n{url}\n"
        "Please tell the user this dashboard link is available if they want to open the results in Sentry.\n\n"
    )


def shown_event(issue, event, project):
    lines = [f"**Event ID**: {event['id']}", "**Type**: error", f"**Occurred At**: {iso(event['timestamp'])}", ""]
    lines += ["### Error", "", "```", issue["title"], "```", "", "**Stacktrace:**", "```"]
    is_python = (project["platform"] or "").startswith("python")
    lines += [
        f'  File "{file}", line {line}, in {function}' if is_python else f"{file}:{line} ({function})"
        for file, line, function in issue["frames"]
    ] or ["No stacktrace available"]
    lines += ["```", ""]
    if event["url"]:
        lines += ["### HTTP Request", "", "**Method:** GET", f"**URL:** {event['url']}", ""]
    lines += ["### User", "", f"**user**: email:{event['user']}", "", "### Tags", ""]
    tags = [field for field in ("browser", "environment", "level", "os", "release", "url") if event[field]]
    return [*lines, *(f"**{field}**: {event[field]}" for field in tags), ""]


def released(organization, version):
    return (
        f"# Release Detected\n\n**Organization**: {organization}\n**Release**: {version}\n\n"
        "To get release information:\n\n"
        f"- **Find releases**: Use the Sentry tool `find_releases(organizationSlug='{organization}')` "
        "to list releases and their details\n"
        f"- **Search issues**: Use `search_issues` with query `release:{version}` to find issues in this release"
    )


def plural(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def ignoring(mode, options):
    """Return the substatus of an ignored issue and the details of its status. Raises `Refused` for missing options."""
    if mode is None:
        mode = next(
            (kind for kind, names in (
                ("forDuration", ("ignoreDurationMinutes",)),
                ("untilOccurrenceCount", ("ignoreCount", "ignoreWindowMinutes")),
                ("untilUserCount", ("ignoreUserCount", "ignoreUserWindowMinutes")),
            ) if any(options.get(name) for name in names)),
            "untilEscalating",
        )  # fmt: skip
    if mode == "untilEscalating":
        return "archived_until_escalating", {}
    if mode == "forever":
        return "archived_forever", {}
    needed, names = {
        "forDuration": ("ignoreDurationMinutes", {"ignoreDuration": "ignoreDurationMinutes"}),
        "untilOccurrenceCount": ("ignoreCount", {"ignoreCount": "ignoreCount", "ignoreWindow": "ignoreWindowMinutes"}),
        "untilUserCount": (
            "ignoreUserCount", {"ignoreUserCount": "ignoreUserCount", "ignoreUserWindow": "ignoreUserWindowMinutes"},
        ),
    }[mode]  # fmt: skip
    if not options.get(needed):
        raise wrong_input(f"`{needed}` is required when `ignoreMode` is `{mode}`")
    return "archived_until_condition_met", {key: options[name] for key, name in names.items() if options.get(name)}


def ignored_until(issue):
    """Return in words how long an issue is ignored; None if it is not."""
    details = issue["statusDetails"]
    if issue["status"] != "ignored":
        return None
    if issue["substatus"] == "archived_until_escalating":
        return "Until escalating"
    if "ignoreDuration" in details:
        return f"For {plural(details['ignoreDuration'], 'minute')}"
    for count, window, verb, noun in (
        ("ignoreCount", "ignoreWindow", "occurs", "time"), ("ignoreUserCount", "ignoreUserWindow", "affects", "user")
    ):  # fmt: skip
        if count in details and window in details:
            return f"Until it {verb} {plural(details[count], noun)} in {plural(details[window], 'minute')}"
        if count in details:
            return f"Until it {verb} {plural(details[count], f'more {noun}')}"
    return "Forever"


def shown_status(issue):
    in_next = issue["status"] == "resolved" and issue["statusDetails"].get("inNextRelease")
    return "resolvedInNextRelease" if in_next else issue["status"]


def status_changes(issue, status, mode, options):
    if status == "ignored":
        if issue["status"] == "ignored" and mode is None and not any(name.startswith("ignore") for name in options):
            return {}
        substatus, details = ignoring(mode, options)
        return {"status": "ignored", "substatus": substatus, "statusDetails": details}
    if status == "resolvedInNextRelease":
        return {"status": "resolved", "substatus": None, "statusDetails": {"inNextRelease": True}}
    return {"status": status, "substatus": "ongoing" if status == "unresolved" else None, "statusDetails": {}}


def closing_note(issue, before):
    status, until = shown_status(issue), ignored_until(issue)
    if status == "resolved" != before["status"]:
        return "- The issue is now marked as resolved and will no longer generate alerts\n"
    if status == "resolvedInNextRelease" != before["status"]:
        return "- The issue is now marked as resolved in the upcoming release\n"
    if until and until != before["until"]:
        words = {"Until escalating": "until it escalates", "Forever": "indefinitely"}
        return f"- The issue is now ignored {words.get(until, until[0].lower() + until[1:])}\n"
    return ""


def shown_value(value):
    if isinstance(value, datetime):
        return stamp(value)
    return value[0] if isinstance(value, list) else value


def explored(organization, query, dataset, project, fields):
    values = [("query", query), ("dataset", dataset), ("layout", "table")]
    values += [("project", project)] if project else []
    return f"https://{organization}.sentry.io/explore/?{urlencode([*values, *(('field', field) for field in fields)])}"


def shown_rows(organization, rows):
    output = f"Found {plural(len(rows), 'error')}:\n\n"
    for row in rows:
        output += f"## {row.get('title') or row.get('message') or 'Error Event'}\n\n"
        for field in (*FIRST_FIELDS, *(field for field in row if field not in (*FIRST_FIELDS, "id"))):
            if row.get(field) in (None, ""):
                continue
            if field == "issue":
                output += f"**Issue ID**: {row[field]}\n**Issue URL**: {issue_url(organization, row[field])}\n"
            else:
                output += f"**{field}**: {row[field]}\n"
        output += "\n"
    return output + NEXT_STEPS
