"""Sentry: issues, their events, releases, projects, teams and DSNs, in the Markdown of Sentry's own server."""

import json
import re
from datetime import datetime
from urllib.parse import urlencode

from bikes import ORGANIZATION, add_issue, add_key, fill
from queries import holds, period, terms
from wording import (
    BASIC_FIELDS,
    DSN_NOTES,
    HINTS,
    ISSUE_EVENT_FIELDS,
    NEXT_STEPS,
    TABLE_HINT,
    ago,
    api_error,
    closing_note,
    dashboard,
    explored,
    ignored_until,
    iso,
    issue_url,
    listed,
    missing,
    plural,
    presentation,
    refusal,
    released,
    shown_event,
    shown_rows,
    shown_status,
    shown_value,
    slugged,
    status_changes,
    wrong_input,
)

from mcp_sim.programs import initial, invalid_arguments, tool
from mcp_sim.programs.helpers import stamp, zod_refused

# fmt: off
tables = {
    "organization": {"ids": 4509106732793856, "fields": {"slug": "", "name": "", "regionUrl": ""}},
    "user": {"ids": 3283001, "fields": {"name": "", "email": "", "username": ""}},
    "team": {"ids": 4509106740854784, "fields": {"slug": "", "name": ""}},
    "project": {"ids": 4509106749636608, "fields": {
        "slug": "", "name": "", "platform": None, "teams": [], "repository": None, "createdAt": "",
    }},
    "key": {"links": {"project": "project"}, "fields": {
        "id": {"type": "string", "pattern": "^[0-9a-f]{32}$"}, "project": 0, "name": "", "public": "",
    }},
    "release": {"key": "version", "natural": True, "links": {"project": "project"}, "fields": {
        "project": 0, "createdAt": "", "author": "", "commit": "", "message": "", "deployedAt": None,
    }},
    "issue": {
        "ids": 6507376925,
        "links": {"project": "project", "assignee": "user", "assignedTeam": "team"},
        "fields": {
            "shortId": "", "title": "", "type": "", "value": "", "culprit": "", "project": 0, "level": "error",
            "status": "unresolved", "substatus": None, "statusDetails": {}, "assignee": None, "assignedTeam": None,
            "frames": [],
        },
    },
    "comment": {"ids": 81001, "links": {"issue": "issue", "author": "user"}, "fields": {
        "issue": 0, "author": 0, "text": "", "createdAt": "",
    }},
    "event": {"links": {"issue": "issue"}, "fields": {
        "id": {"type": "string", "pattern": "^[0-9a-f]{32}$"}, "issue": 0, "timestamp": "", "level": "",
        "environment": "", "release": "", "user": "", "url": "", "browser": "", "os": "", "trace": "",
    }},
}
# fmt: on

UNKNOWN_URL = (
    "Could not determine resource type from URL. Supported URL patterns: issues, events, traces, AI conversations, "
    "profiles, replays, monitors, and releases."
)
PAGES = {
    "product/issues/states-triage": "Issues are unresolved, resolved or archived; an archived one may escalate.",
    "product/releases": "A release is a version of your code. Sentry shows which release introduced an issue.",
    "product/rate-limiting": "Rate limits of a project or key keep an error spike from using up your quota.",
    "platforms/python": "Install sentry-sdk and call sentry_sdk.init with the DSN of your project.",
    "platforms/javascript": "Install the SDK of your framework and call Sentry.init with the DSN of your project.",
    "concepts/search": "Search with pairs such as is:unresolved, level:error or release:1.2.3, and free text.",
}


@initial
def begin(given, world):
    issues = (given or {}).get("issues")
    fill(world, with_issues=issues is None)
    for issue in issues or ():
        kind, _, value = issue["title"].partition(": ")
        user = issue.get("assignee") and user_of(world, issue["assignee"])
        add_issue(
            world, issue.get("project", "web-shop"), kind, value, issue.get("culprit", ""), issue.get("level", "error"),
            issue.get("status", "unresolved"), int(issue.get("events", 1)), (),
            issue.get("environment", "production"), user and user["id"],
        )  # fmt: skip


# errors ---------------------------------------------------------------------------------------------------------------


@invalid_arguments
def refuse(world, tool, arguments, problems):
    return refusal(world, tool, arguments) or zod_refused(tool, problems)


# finding --------------------------------------------------------------------------------------------------------------


def checked_organization(world, slug):
    if not world.organization.find(slug=slug):
        raise missing()
    return slug


def is_id(text):
    return re.fullmatch(r"[0-9]{1,18}", text) is not None


def by_id(table, text):
    return table.get(int(text)) if is_id(text) else None


def by_slug(table, slug):
    row = next(iter(table.find(slug=slug)), None)
    if row is None:
        raise missing()
    return row


def project_of(world, value):
    return by_id(world.project, str(value)) or by_slug(world.project, str(value))


def issue_of(world, organization, issue_id, issue_url=None):
    """Return the organization and the issue of an id, a short id or a URL."""
    if issue_url:
        match = re.match(r"https?://(?:([\w-]+)\.)?sentry\.io/(?:organizations/([\w-]+)/)?issues/([\w-]+)", issue_url)
        if match is None:
            raise wrong_input("Invalid Sentry issue URL. Path must contain '/issues/{issue_id}'")
        organization, issue_id = match[2] or match[1], match[3]
    if not issue_id:
        raise wrong_input("Either `issueId` or `issueUrl` must be provided")
    if not organization:
        raise wrong_input("`organizationSlug` is required when providing `issueId`")
    checked_organization(world, organization)
    key = re.sub(r"[^\w-]", "", str(issue_id))
    issue = by_id(world.issue, key) or next(iter(world.issue.find(shortId=key.upper())), None)
    if issue is None:
        raise missing()
    return organization, issue


def user_of(world, value):
    """Return the user of an id, a name, a user name or an address; None without."""
    text = str(value).removeprefix("user:").removeprefix("@")
    if text == "me":
        return next(iter(world.user))
    if is_id(text):
        return world.user.get(int(text))
    names = ("username", "email", "name")
    return next((row for row in world.user if text.lower() in (row[name].lower() for name in names)), None)


def events_of(world, issue):
    return sorted(world.event.find(issue=issue["id"]), key=lambda row: row["timestamp"], reverse=True)


def matching(rows, query, slug_field, name_field):
    if not query:
        return [*rows]
    return [row for row in rows if query.lower() in f"{row[slug_field]} {row[name_field]}".lower()]


# showing --------------------------------------------------------------------------------------------------------------


def assignee_of(world, issue):
    """Return the name of who an issue is assigned to, and whether that is a user or a team."""
    if issue["assignedTeam"] is not None:
        return world.team.get(issue["assignedTeam"])["slug"], "Team"
    if issue["assignee"] is not None:
        return world.user.get(issue["assignee"])["name"], "User"
    return None, ""


# people, teams, projects ----------------------------------------------------------------------------------------------


@tool(reads=True, verb="get", entity="user")
def whoami(world):
    me = next(iter(world.user))
    return f"You are authenticated as {me['name']} ({me['email']}).\n\nYour Sentry User ID is {me['id']}."


@tool(reads=True, verb="list", entity="organization")
def find_organizations(world, query=None):
    rows = matching(world.organization, query, "slug", "name")
    output = "# Organizations\n\n" + (f'**Search query:** "{query}"\n\n' if query else "")
    if not rows:
        return output + f'No organizations found matching "{query}".\n'
    output += "\n\n".join(
        f"## **{row['slug']}**\n\n**Web URL:** https://sentry.io/{row['slug']}\n**Region URL:** {row['regionUrl']}"
        for row in rows
    )
    return output + (
        "\n\n## Response Notes\n\n- The organization slug is used as `organizationSlug` in other tools.\n"
        "- The Region URL shown above is the `regionUrl` value for later tools that accept it. "
        "This keeps Sentry Cloud requests on the correct region.\n"
    )


@tool(reads=True, verb="list", entity="team")
def find_teams(world, organizationSlug, query=None):
    checked_organization(world, organizationSlug)
    rows = matching(world.team, query, "slug", "name")
    return listed(
        f"Teams in **{organizationSlug}**", "teams", query, rows, lambda row: f"- {row['slug']} (ID: {row['id']})\n"
    )


@tool(reads=True, verb="list", entity="project")
def find_projects(world, organizationSlug, query=None):
    checked_organization(world, organizationSlug)
    rows = matching(world.project, query, "slug", "name")
    return listed(f"Projects in **{organizationSlug}**", "projects", query, rows, lambda row: f"- **{row['slug']}**\n")


@tool(verb="create", entity="team")
def create_team(world, organizationSlug, name):
    checked_organization(world, organizationSlug)
    slug = slugged(name)
    if world.team.find(slug=slug):
        raise api_error(409, "A team with this slug already exists.")
    row = world.team.add(slug=slug, name=name)
    return (
        f"# New Team in **{organizationSlug}**\n\n**ID**: {row['id']}\n**Slug**: {slug}\n**Name**: {name}\n\n"
        "## Response Notes\n\n- Please tell the user the team slug.\n"
    )


@tool(verb="create", entity="project")
def create_project(world, organizationSlug, teamSlug, name, platform=None, repository=None):
    checked_organization(world, organizationSlug)
    team, slug = by_slug(world.team, teamSlug), slugged(name)
    if world.project.find(slug=slug):
        raise api_error(409, "A project with this slug already exists.")
    row = world.project.add(
        slug=slug, name=name, platform=platform, teams=[team["id"]], repository=repository, createdAt=stamp(world.now)
    )
    key = add_key(world, row, "Default")
    output = f"# New Project in **{organizationSlug}**\n\n**ID**: {row['id']}\n**Slug**: {slug}\n**Name**: {name}\n"
    output += f"**SENTRY_DSN**: {key['public']}\n"
    if repository:
        output += f"**Repository**: {repository} (linked)\n"
    return output + (
        "\n## Response Notes\n\n- Please tell the user the project slug and **SENTRY_DSN**.\n"
        "- The **SENTRY_DSN** value is used to initialize Sentry SDKs.\n"
    )


@tool(verb="update", entity="project")
def update_project(world, organizationSlug, projectSlug, name=None, slug=None, platform=None, teamSlug=None):
    checked_organization(world, organizationSlug)
    row, updates = by_slug(world.project, projectSlug), []
    if slug and slug != projectSlug and world.project.find(slug=slug):
        raise api_error(409, "A project with this slug already exists.")
    for field, value in (("name", name), ("slug", slug), ("platform", platform)):
        if value:
            row[field] = value
            updates.append(f'- Updated {field} to "{value}"\n')
    if teamSlug:
        team = by_slug(world.team, teamSlug)["id"]
        row["teams"] = [*row["teams"], *([] if team in row["teams"] else [team])]
        updates.append(f'- Updated team assignment to "{teamSlug}"\n')
    output = f"# Updated Project in **{organizationSlug}**\n\n**ID**: {row['id']}\n**Slug**: {row['slug']}\n"
    output += f"**Name**: {row['name']}\n" + (f"**Platform**: {row['platform']}\n" if row["platform"] else "")
    if updates:
        output += "\n## Updates Applied\n" + "".join(updates)
    output += f"\n## Response Notes\n\n- Project slug for later requests: `{row['slug']}`\n"
    return output + (f"- Team assignment: `{teamSlug}`\n" if teamSlug else "")


@tool(verb="create", entity="key")
def create_dsn(world, organizationSlug, projectSlug, name):
    checked_organization(world, organizationSlug)
    key = add_key(world, by_slug(world.project, projectSlug), name)
    head = f"# New DSN in **{organizationSlug}/{projectSlug}**\n\n"
    return f"{head}**DSN**: {key['public']}\n**Name**: {key['name']}\n\n{DSN_NOTES}"


@tool(reads=True, verb="list", entity="key")
def find_dsns(world, organizationSlug, projectSlug):
    checked_organization(world, organizationSlug)
    rows = world.key.find(project=by_slug(world.project, projectSlug)["id"])
    output = f"# DSNs in **{organizationSlug}/{projectSlug}**\n\n"
    for row in rows:
        output += f"## {row['name']}\n**ID**: {row['id']}\n**DSN**: {row['public']}\n\n"
    return output + DSN_NOTES


@tool(reads=True, verb="list", entity="release")
def find_releases(world, organizationSlug, projectSlug=None, query=None):
    checked_organization(world, organizationSlug)
    rows = world.release.find(project=by_slug(world.project, projectSlug)["id"]) if projectSlug else [*world.release]
    rows = sorted((row for row in rows if not query or query in row["version"]), key=lambda row: row["createdAt"])[::-1]
    output = f"# Releases in **{organizationSlug}{f'/{projectSlug}' if projectSlug else ''}**\n\n"
    if not rows:
        return output + "No releases found.\n"
    output += "\n\n".join(shown_release(world, row) for row in rows)
    return output + (
        "\n\n## Response Notes\n\n- Release versions can be referenced in commit messages or documentation.\n"
        f"- Release filter syntax for issue searches: `release:{rows[0]['version']}`.\n"
    )


def shown_release(world, row):
    events = world.event.find(release=row["version"])
    times = sorted(event["timestamp"] for event in events)
    issues = [world.issue.get(key) for key in {event["issue"] for event in events}]
    new = sum(events_of(world, issue)[-1]["release"] == row["version"] for issue in issues)
    lines = [f"## {row['version']}", "", f"**Created**: {iso(row['createdAt'])}"]
    if times:
        lines += [f"**First Event**: {iso(times[0])}", f"**Last Event**: {iso(times[-1])}"]
    lines += [f"**New Issues**: {new}", f"**Projects**: {world.project.get(row['project'])['name']}", ""]
    lines += ["### Last Commit", "", f"**Commit ID**: {row['commit']}", f"**Commit Message**: {row['message']}"]
    lines += [f"**Commit Author**: {row['author']}", f"**Commit Date**: {iso(row['createdAt'])}"]
    if row["deployedAt"]:
        lines += ["", "### Last Deploy", "", f"**Deploy ID**: {int(row['commit'][:6], 16)}"]
        lines += ["**Environment**: production", f"**Deploy Finished**: {iso(row['deployedAt'])}"]
    return "\n".join(lines)


# issues ---------------------------------------------------------------------------------------------------------------


def event_fields(world, issue, event):
    """Return what a query may ask of an event."""
    return {
        "id": event["id"],
        "issue": [issue["shortId"], str(issue["id"])],
        "title": issue["title"],
        "message": issue["title"],
        "text": f"{issue['title']} {issue['culprit']}",
        "error.type": issue["type"],
        "error.value": issue["value"],
        "culprit": issue["culprit"],
        "project": world.project.get(issue["project"])["slug"],
        "level": event["level"],
        "environment": event["environment"],
        "release": event["release"],
        "timestamp": datetime.fromisoformat(event["timestamp"]),
        "user": event["user"],
        "user.email": event["user"],
        "user.display": event["user"],
        "url": event["url"],
        "transaction": event["url"] or issue["culprit"],
        "browser": event["browser"],
        "browser.name": event["browser"].rsplit(" ", 1)[0],
        "os": event["os"],
        "os.name": event["os"].rsplit(" ", 1)[0],
        "trace": event["trace"],
    }


def issue_fields(world, issue, events):
    """Return what a query may ask of an issue: what it is, and what one of its events has."""
    user = world.user.get(issue["assignee"]) if issue["assignee"] is not None else None
    team = world.team.get(issue["assignedTeam"]) if issue["assignedTeam"] is not None else None
    mine = user is not None and user["id"] == next(iter(world.user))["id"]
    states = [issue["status"], "unassigned" if user is team is None else "assigned"]
    states += ["archived"] if issue["status"] == "ignored" else []
    per_event = [event_fields(world, issue, event) for event in events]
    merged = {key: [fields[key] for fields in per_event] for key in (per_event[0] if per_event else ())}
    times = [datetime.fromisoformat(event["timestamp"]) for event in events] or [world.now]
    return merged | {
        "text": f"{issue['title']} {issue['culprit']} {issue['shortId']}",
        "is": states,
        "issue": issue["shortId"],
        "title": issue["title"],
        "level": issue["level"],
        "project": world.project.get(issue["project"])["slug"],
        "assigned": [*(["me"] if mine else []), *([user["email"], user["username"]] if user else []),
                     *([f"#{team['slug']}"] if team else []), *([] if user or team else ["none"])],
        "firstSeen": min(times),
        "lastSeen": max(times),
        "age": min(times),
        "timesSeen": len(events),
        "times_seen": len(events),
    }  # fmt: skip


SORTS = {
    "date": lambda row: row["lastSeen"],
    "new": lambda row: row["firstSeen"],
    "freq": lambda row: row["timesSeen"],
    "user": lambda row: row["users"],
}


@tool(reads=True, verb="search", entity="issue")
def search_issues(world, organizationSlug, query="is:unresolved", sort="date", projectSlugOrId=None, limit=10):
    checked_organization(world, organizationSlug)
    wanted = terms(query)
    if any(key is None and value in ("OR", "AND") for _, key, value in wanted):
        raise api_error(400, 'Boolean statements containing "OR" or "AND" are not supported in this search')
    rows = world.issue.find(project=project_of(world, projectSlugOrId)["id"]) if projectSlugOrId else world.issue
    hits = []
    for issue in rows:
        events = events_of(world, issue)
        fields = issue_fields(world, issue, events)
        if all(holds(term, fields, world.now) for term in wanted):
            hits.append({**fields, "row": issue, "users": len({event["user"] for event in events})})
    hits = sorted(hits, key=SORTS[sort], reverse=True)[: int(limit)]
    output = f'# Search Results for "{query}"\n\n' if query else f"# Issues in **{organizationSlug}**\n\n"
    output += presentation("Cards work well for these issues, with status, assignee, and issue ID links visible.")
    if not hits:
        return output + (
            "No issues found matching your search criteria.\n\nTry adjusting your search criteria or time range."
        )
    values = {**({"project": projectSlugOrId} if projectSlugOrId else {}), **({"query": query} if query else {})}
    output += dashboard(f"https://{organizationSlug}.sentry.io/issues/" + (f"?{urlencode(values)}" if values else ""))
    output += f"Found **{len(hits)}** issue{'' if len(hits) == 1 else 's'}:\n\n"
    for number, hit in enumerate(hits, 1):
        output += shown_hit(world, organizationSlug, number, hit)
    return output + (
        "## Next Steps\n\n"
        "- Get more details about a specific issue: Use get_sentry_resource with the issue ID or issue URL\n"
        "- Update issue status: Use update_issue to resolve or assign issues\n"
        "- View event counts: Use search_events for aggregated statistics\n"
    )


def shown_hit(world, organization, number, hit):
    issue, (name, _) = hit["row"], assignee_of(world, hit["row"])
    lines = [
        f"## {number}. [{issue['shortId']}]({issue_url(organization, issue['shortId'])})",
        "", f"**{issue['title']}**", "", f"- **Status**: {issue['status']}",
        f"- **Users**: {hit['users']}", f"- **Events**: {hit['timesSeen']}",
        *([f"- **Assigned to**: {name}"] if name else []), f"- **First seen**: {ago(world, hit['firstSeen'])}",
        f"- **Last seen**: {ago(world, hit['lastSeen'])}",
        *([f"- **Culprit**: `{issue['culprit']}`"] if issue["culprit"] else []),
    ]  # fmt: skip
    return "\n".join(lines) + "\n\n"


def shown_issue(world, organization, issue, event):
    """Return an issue with one event, as get_sentry_resource shows it."""
    events, project, short = events_of(world, issue), world.project.get(issue["project"]), issue["shortId"]
    name, kind = assignee_of(world, issue)
    lines = [f"# Issue {short} in **{organization}**", "", f"**Description**: {issue['title']}"]
    if issue["culprit"]:
        lines.append(f"**Culprit**: {issue['culprit']}")
    if events:
        lines += [f"**First Seen**: {iso(events[-1]['timestamp'])}", f"**Last Seen**: {iso(events[0]['timestamp'])}"]
    lines += [f"**Occurrences**: {len(events)}", f"**Users Impacted**: {len({row['user'] for row in events})}"]
    lines.append(f"**Status**: {issue['status']}")
    lines += [f"**Substatus**: {issue['substatus']}"] if issue["substatus"] else []
    lines += [f"**Assigned To**: {name} ({kind})"] if name else []
    lines += ["**Issue Type**: error", "**Issue Category**: error"]
    lines += [f"**Platform**: {(project['platform'] or '').split('-')[0]}", f"**Project**: {project['name']}"]
    lines += [f"**URL**: {issue_url(organization, short)}", "", "## Event Details", ""]
    lines += shown_event(issue, event, project) if event else []
    called = f"organizationSlug='{organization}', "
    lines += [
        "## Response Notes", "",
        f"- Commit message issue reference: `Fixes {short}` automatically closes the issue when the commit is merged.",
        "- The stacktrace includes first-party application code and third-party code. First-party frames are usually "
        "the best starting point for triage.",
        "- Issue event search: Use the Sentry tool "
        f"`search_issue_events({called}issueId='{short}', query='your query')`", "",
    ]  # fmt: skip
    return "\n".join(lines)


@tool(reads=True, verb="get", entity="issue", key="resourceId")
def get_sentry_resource(world, url=None, resourceType=None, resourceId=None, organizationSlug=None):
    if url:
        match = re.match(r"https?://(?:([\w-]+)\.)?sentry\.io/(?:organizations/([\w-]+)/)?(\w+)/([^?#]*)", url)
        if match is None or match[3] not in ("issues", "releases", "explore", "replays", "performance"):
            raise wrong_input(UNKNOWN_URL)
        if match[3] == "releases":
            return released(match[2] or match[1], match[4].rstrip("/"))
        if match[3] != "issues":
            raise missing()
        parts = match[4].strip("/").split("/")
        event_id = parts[2] if len(parts) >= 3 and parts[1] == "events" else ""
        return shown_resource(world, match[2] or match[1], resourceType or "issue", parts[0], event_id)
    if not resourceType or not resourceId or not organizationSlug:
        absent = "organizationSlug" if not organizationSlug else "resourceId" if not resourceId else "resourceType"
        raise wrong_input(f"`{absent}` is required when not using a URL.")
    if resourceType not in ("issue", "event", "breadcrumbs"):
        checked_organization(world, organizationSlug)
        raise missing()
    issue_id, _, event_id = resourceId.partition(":")
    return shown_resource(world, organizationSlug, resourceType, issue_id, event_id)


def shown_resource(world, organization, kind, issue_id, event_id):
    """Return an issue with its latest or the named event, or its breadcrumbs."""
    organization, issue = issue_of(world, organization, issue_id)
    if kind == "breadcrumbs":
        head = f"# Breadcrumbs for {issue['shortId']} in **{organization}**"
        return f"{head}\n\nNo breadcrumbs found in the latest event."
    events = events_of(world, issue)
    event = next((row for row in events if row["id"] == event_id), None) if event_id else next(iter(events), None)
    if event_id and event is None:
        raise missing()
    return shown_issue(world, organization, issue, event)


@tool(reads=True, verb="get", entity="issue", key="issueId")
def get_issue_tag_values(world, tagKey, organizationSlug=None, issueId=None, issueUrl=None):
    _, issue = issue_of(world, organizationSlug, issueId, issueUrl)
    if tagKey not in ("url", "browser", "environment", "release", "os", "user", "level"):
        raise missing()
    counts = {}
    for event in events_of(world, issue):
        if event[tagKey]:
            counts.setdefault(event[tagKey], []).append(event["timestamp"][:10])
    output = f"# Tag Distribution: {tagKey.capitalize()}\n\n**Issue**: {issueId or issue['shortId']}\n"
    output += f"**Tag Key**: `{tagKey}`\n**Total Unique Values**: {len(counts)}\n\n"
    if not counts:
        return output + "No values found for this tag.\n"
    output += "## Top Values\n\n| Value | Count | First Seen | Last Seen |\n|-------|-------|------------|----------|\n"
    top = sorted(counts.items(), key=lambda item: -len(item[1]))[:10]
    for value, days in top:
        output += f"| `{value}` | {len(days)} | {min(days)} | {max(days)} |\n"
    output += f"\n*Showing top {len(top)} of {len(counts)} unique values*\n\n## Response Notes\n\n"
    slug = organizationSlug or ORGANIZATION
    called = f"resourceType='issue', organizationSlug='{slug}', resourceId='{issue['shortId']}'"
    output += f"- Full issue details: `get_sentry_resource({called})`\n"
    return output + "- Other common tag keys: url, browser, environment, release, os, device, user\n"


# changing issues ------------------------------------------------------------------------------------------------------


def assigned(world, value):
    """Return the fields of an issue that is assigned to a user or a team."""
    if value.startswith(("team:", "#")):
        text = value.removeprefix("team:").removeprefix("#")
        team = by_id(world.team, text) or next(iter(world.team.find(slug=text)), None)
        if team is not None:
            return {"assignee": None, "assignedTeam": team["id"]}
    elif user := user_of(world, value):
        return {"assignee": user["id"], "assignedTeam": None}
    raise api_error(400, '{"assignedTo":["Unknown actor input"]}')


@tool(verb="update", entity="issue", key="issueId")
def update_issue(
    world, organizationSlug=None, issueId=None, issueUrl=None, status=None, assignedTo=None, ignoreMode=None,
    reason=None, **options,
):  # fmt: skip
    if not issueUrl and not issueId:
        raise wrong_input("Either `issueId` or `issueUrl` must be provided")
    if not status and not assignedTo:
        raise wrong_input("At least one of `status` or `assignedTo` must be provided to update the issue")
    organization, issue = issue_of(world, organizationSlug, issueId, issueUrl)
    before = {"status": shown_status(issue), "until": ignored_until(issue), "name": assignee_of(world, issue)[0]}
    changes = assigned(world, assignedTo) if assignedTo else {}
    if status:
        changes |= status_changes(issue, status, ignoreMode, options)
    if all(issue[field] == value for field, value in changes.items()):
        head = f"# Issue {issue['shortId']} Already Matches Requested State in **{organization}**\n\n"
        made, note = "No changes were needed.\n", "The issue already matched the requested state."
        closing = ""
    else:
        issue.update(changes)
        head = f"# Issue {issue['shortId']} Updated in **{organization}**\n\n"
        made, closing = changes_made(world, issue, before, assignedTo), closing_note(issue, before)
        note = "The issue has been updated in Sentry."
    if reason:
        me = next(iter(world.user))
        world.comment.add(issue=issue["id"], author=me["id"], text=reason, createdAt=stamp(world.now))
        closing += f'- **Comment posted**: "{reason}"\n'
    until = ignored_until(issue)
    called = f'resourceType="issue", organizationSlug="{organization}", resourceId="{issue["shortId"]}"'
    return (
        f"{head}**Issue**: {issue['title']}\n**URL**: {issue_url(organization, issue['shortId'])}\n\n"
        f"## Changes Made\n\n{made}\n## Current Status\n\n**Status**: {shown_status(issue)}\n"
        + (f"**Ignore Behavior**: {until}\n" if until else "")
        + f"**Assigned To**: {assignee_of(world, issue)[0] or 'Unassigned'}\n\n## Response Notes\n\n- {note}\n"
        f"- Full issue details: `get_sentry_resource({called})`\n{closing}"
    )


def changes_made(world, issue, before, assigned_to):
    output, until, name = "", ignored_until(issue), assignee_of(world, issue)[0]
    if before["status"] != shown_status(issue):
        output += f"**Status**: {before['status']} → **{shown_status(issue)}**\n"
    if until and until != before["until"]:
        output += f"**Ignore Behavior**: {before['until'] + ' → ' if before['until'] else ''}**{until}**\n"
    if assigned_to and name != before["name"]:
        output += f"**Assigned To**: {before['name'] or 'Unassigned'} → **{'You' if assigned_to == 'me' else name}**\n"
    return output


# events ---------------------------------------------------------------------------------------------------------------


def found_events(world, wanted, since, project=None, issue=None):
    """Return the fields of all events for which the terms hold, the newest first."""
    issues = [issue] if issue else [row for row in world.issue if project in (None, row["project"])]
    hits = [event_fields(world, row, event) for row in issues for event in world.event.find(issue=row["id"])]
    hits = [hit for hit in hits if hit["timestamp"] >= since and all(holds(term, hit, world.now) for term in wanted)]
    return sorted(hits, key=lambda hit: hit["timestamp"], reverse=True)


def selected(hits, fields):
    return [{field: shown_value(hit.get(field)) for field in fields} for hit in hits]


def aggregate(hits, function):
    name, _, field = function.rstrip(")").partition("(")
    values = [shown_value(hit.get(field)) for hit in hits] if field else []
    match name:
        case "count":
            return len(hits)
        case "count_unique":
            return len({value for value in values if value})
        case "last_seen":
            return max(stamp(hit["timestamp"]) for hit in hits)
        case "min" | "max" if field == "timestamp":
            return min(values) if name == "min" else max(values)
        case _:
            raise api_error(400, f"Invalid query. Error: {name} is not a valid function")


def grouped(hits, fields):
    groups = {}
    plain = [field for field in fields if "(" not in field]
    for hit in hits:
        groups.setdefault(tuple(shown_value(hit.get(field)) for field in plain), []).append(hit)
    answer = []
    for key, rows in groups.items():
        values = dict(zip(plain, key, strict=True))
        answer.append({field: aggregate(rows, field) if "(" in field else values[field] for field in fields})
    return answer


def ordered(rows, sort):
    field = sort.removeprefix("-")
    return sorted(rows, key=lambda row: (row.get(field) is not None, row.get(field)), reverse=sort.startswith("-"))


def period_of(text):
    time = period(text)
    if time is None:
        raise api_error(400, f"Invalid statsPeriod: '{text}'")
    return time


@tool(reads=True, verb="search", entity="event")
def search_events(
    world, organizationSlug, dataset="errors", query="", fields=None, sort=None, projectSlug=None, environment=None,
    statsPeriod="14d", limit=10,
):  # fmt: skip
    checked_organization(world, organizationSlug)
    if environment and dataset == "errors":
        raise wrong_input(
            "The `environment` parameter is only supported for dataset='replays'. For other datasets, include "
            "environment filtering in the query string instead."
        )
    project = by_slug(world.project, projectSlug)["id"] if projectSlug else None
    fields, sort = [*(fields or BASIC_FIELDS)], sort or "-timestamp"
    is_aggregate = any("(" in field for field in fields)
    if sort.removeprefix("-") not in fields and ("(" in sort or not is_aggregate):
        fields.append(sort.removeprefix("-"))
    hits = []
    if dataset == "errors":
        hits = found_events(world, terms(query), world.now - period_of(statsPeriod), project)
    rows = grouped(hits, fields) if is_aggregate else selected(hits, fields)
    rows = ordered(rows, sort)[: int(limit)]
    output = f'# Search Results for "{query or f"{dataset} events"}"\n\n'
    output += presentation(TABLE_HINT if is_aggregate else HINTS[dataset])
    output += (
        f"## Executed Search\n- Dataset: `{dataset}`\n- Query: `{query or '(empty)'}`\n- Fields: "
        f"{', '.join(f'`{field}`' for field in fields)}\n- Sort: `{sort}`\n- Time range: Last {statsPeriod}\n\n"
    )
    output += dashboard(explored(organizationSlug, query, dataset, project, fields))
    if not rows:
        return output + "No results found.\n\nTry being more specific or using different terms in your search.\n"
    if is_aggregate:
        output += f"Found {plural(len(rows), 'aggregate result')}:\n\n```json\n"
        return output + f"{json.dumps(rows, indent=2, ensure_ascii=False)}\n```\n\n{NEXT_STEPS}"
    return output + shown_rows(organizationSlug, rows)


@tool(reads=True, verb="search", entity="event")
def search_issue_events(
    world, organizationSlug=None, issueId=None, issueUrl=None, query="", sort="-timestamp", statsPeriod="14d", limit=50
):
    if issueId and not issueUrl and not organizationSlug:
        raise wrong_input(
            "When using issueId parameter, organizationSlug is required. Alternatively, provide issueUrl which "
            "includes both organization and issue ID."
        )
    organization, issue = issue_of(world, organizationSlug, issueId, issueUrl)
    hits = found_events(world, terms(query), world.now - period_of(statsPeriod), issue=issue)
    rows = ordered(selected(hits, ISSUE_EVENT_FIELDS), sort)[: int(limit)]
    name = issueId or issue["shortId"]
    output = f'# Search Results for "Events in issue {name}{f": {query}" if query else ""}"\n\n'
    output += presentation(HINTS["errors"])
    asked = f"issue:{name} {query}".strip()
    output += dashboard(explored(organization, asked, "errors", None, ISSUE_EVENT_FIELDS))
    if not rows:
        return output + "No results found.\n\nTry being more specific or using different terms in your search.\n"
    return output + shown_rows(organization, rows)


# what there is none of ------------------------------------------------------------------------------------------------


@tool(reads=True)
def get_event_attachment(world, organizationSlug, projectSlug, eventId, attachmentId=None):
    checked_organization(world, organizationSlug)
    by_slug(world.project, projectSlug)
    if eventId not in world.event or attachmentId:
        raise missing()
    head = f"# Event Attachments\n\n**Event ID:** {eventId}\n**Project:** {projectSlug}\n\n"
    return f"{head}No attachments found for this event.\n"


@tool(reads=True)
def get_replay_details(_world, replayUrl=None, organizationSlug=None, replayId=None):
    if not replayUrl and not (organizationSlug and replayId):
        raise wrong_input("Provide either `replayUrl` or both `organizationSlug` and `replayId`.")
    raise missing()


@tool(reads=True)
def get_profile_details(_world, profileUrl=None, organizationSlug=None, projectSlugOrId=None):
    if not profileUrl and not (organizationSlug and projectSlugOrId):
        raise wrong_input("Provide either `profileUrl` or both `organizationSlug` and `projectSlugOrId`.")
    raise missing()


@tool(reads=True, verb="get", entity="issue", key="issueId")
def analyze_issue_with_seer(world, organizationSlug=None, issueId=None, issueUrl=None):
    _, issue = issue_of(world, organizationSlug, issueId, issueUrl)
    file, line, function = (issue["frames"] or [("the culprit", 1, issue["culprit"])])[0]
    return (
        f"# Seer Analysis for Issue {issue['shortId']}\n\nFound existing analysis (Run ID: {issue['id'] % 100000})\n\n"
        f'## Analysis Complete\n\n<seer_analysis run_id="{issue["id"] % 100000}" step="root_cause_analysis">\n'
        f"{issue['title']} is raised in `{function}` ({file}, line {line}).\n</seer_analysis>\n"
    )


# documentation --------------------------------------------------------------------------------------------------------


@tool(reads=True)
def search_docs(_world, query, maxResults=3, guide=None):
    words = [word for word in re.findall(r"\w+", query.lower()) if len(word) > 2]
    ranked = [(sum(word in f"{path} {text}".lower() for word in words), path, text) for path, text in PAGES.items()]
    hits = sorted((hit for hit in ranked if hit[0]), reverse=True)[: int(maxResults)]
    output = f'# Documentation Search Results\n\n**Query**: "{query}"\n'
    output += f"**Guide**: {guide}\n\n" if guide else "\n"
    if not hits:
        return output + "No documentation found matching your query.\n\n"
    output += f"Found {len(hits)} match{'' if len(hits) == 1 else 'es'}\n\n"
    output += "These are just snippets. Use the Sentry tool `get_doc(path='...')` to fetch the full content.\n\n"
    for number, (count, path, text) in enumerate(hits, 1):
        share = 100 * count / len(words)
        output += f"## {number}. https://docs.sentry.io/{path}\n\n**Path**: {path}.md\n**Relevance**: {share:.1f}%\n\n"
        output += f"**Matching Context**\n> {text}\n\n"
    return output


@tool(reads=True)
def get_doc(_world, path):
    if not path.endswith(".md"):
        raise wrong_input("Invalid documentation path. Path must end with .md extension.")
    name = path.strip("/").removesuffix(".md")
    if name not in PAGES:
        raise wrong_input(f"Documentation not found at path: {path}. Use `search_docs` to find it.")
    title = name.rsplit("/", 1)[-1].replace("-", " ").capitalize()
    return f"# Documentation Content\n\n**Path**: {path}\n\n---\n\n# {title}\n\n{PAGES[name]}\n"
