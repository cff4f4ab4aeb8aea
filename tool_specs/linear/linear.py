"""Issues, projects, cycles and documents with the tools of Linear's public server."""

import re
from datetime import date, timedelta

from agency import fill, stamp

from mcp_sim.programs import Refused, initial, tool

# fmt: off
tables = {
    "user": {"fields": {
        "id": {"type": "string", "format": "uuid"}, "name": "", "displayName": "", "email": "", "isAdmin": False,
        "isActive": True,
    }},
    "team": {"fields": {
        "id": {"type": "string", "format": "uuid"}, "name": "", "key": "", "createdAt": "", "issueCount": 0,
    }},
    "status": {"links": {"team": "team"}, "fields": {
        "id": {"type": "string", "format": "uuid"}, "name": "", "type": "", "team": "", "position": 0,
    }},
    "label": {"links": {"team": "team"}, "fields": {
        "id": {"type": "string", "format": "uuid"}, "name": "", "color": "", "description": None, "team": None,
    }},
    "cycle": {"links": {"team": "team"}, "fields": {
        "id": {"type": "string", "format": "uuid"}, "number": 1, "team": "", "startsAt": "", "endsAt": "",
    }},
    "project": {"links": {"team": "team", "lead": "user"}, "fields": {
        "id": {"type": "string", "format": "uuid"}, "name": "", "summary": "", "description": "", "state": "backlog",
        "team": "", "lead": None, "startDate": None, "targetDate": None, "labels": [], "priority": 0,
        "createdAt": "", "updatedAt": "",
    }},
    "issue": {
        "links": {
            "status": "status", "team": "team", "assignee": "user", "creator": "user", "project": "project",
            "cycle": "cycle", "parent": "issue",
        },
        "fields": {
            "id": {"type": "string", "format": "uuid"}, "identifier": "", "title": "", "description": "", "priority": 0,
            "status": "", "team": "", "assignee": None, "creator": None, "labels": [], "project": None, "cycle": None,
            "parent": None, "dueDate": None, "estimate": None, "createdAt": "", "updatedAt": "", "completedAt": None,
        },
    },
    "comment": {"links": {"issue": "issue", "author": "user", "parent": "comment"}, "fields": {
        "id": {"type": "string", "format": "uuid"}, "issue": "", "body": "", "author": "", "parent": None,
        "createdAt": "", "updatedAt": "",
    }},
    "document": {"links": {"project": "project", "creator": "user"}, "fields": {
        "id": {"type": "string", "format": "uuid"}, "title": "", "content": "", "project": None, "creator": None,
        "createdAt": "",
    }},
}
# fmt: on

PRIORITIES = ("No priority", "Urgent", "High", "Normal", "Low")
PAGES = (
    ("Cycles", "cycles", "Cycles are periods in which a team plans its work. Unfinished issues move to the next one."),
    ("Issue status", "issue-status", "Each team has its own workflow of statuses: backlog, unstarted, started, done."),
    ("Labels", "labels", "Labels group issues. They belong to the workspace or to a team."),
    ("Projects", "projects", "Projects have a lead, a target date and updates about their health."),
    ("Triage", "triage", "Triage is an inbox for issues that others create in a team."),
)


@initial
def begin(given, world):
    issues = (given or {}).get("issues")
    fill(world, with_issues=issues is None)
    for issue in issues or ():
        added_issue(world, **issue)


# finding --------------------------------------------------------------------------------------------------------------


def missing(kind):
    return Refused(f"Entity not found: {kind} - Could not find referenced {kind}.")


def me(world):
    return next(iter(world.user))


def named(table, value, *fields):
    """Return the row with this id, or whose field has this value in any case; None without."""
    row = table.get(value)
    if row is not None:
        return row
    text = str(value).lower()
    return next((row for row in table if any(str(row[field]).lower() == text for field in fields)), None)


def user_of(world, value):
    user = me(world) if value == "me" else named(world.user, value, "name", "email", "displayName")
    if user is None:
        raise missing("User")
    return user


def team_of(world, value):
    team = named(world.team, value, "name", "key")
    if team is None:
        raise missing("Team")
    return team


def project_of(world, value):
    project = named(world.project, value, "name")
    if project is None:
        raise missing("Project")
    return project


def issue_of(world, value):
    issue = named(world.issue, value, "identifier")
    if issue is None:
        raise missing("Issue")
    return issue


def status_of(world, team, value):
    for row in world.status.find(team=team["id"]):
        if str(value).lower() in (row["id"], row["name"].lower(), row["type"]):
            return row
    raise missing("WorkflowState")


def cycle_of(world, team, value):
    for row in world.cycle.find(team=team["id"]):
        if str(value).lower() in (row["id"], str(row["number"]), f"cycle {row['number']}"):
            return row
    raise missing("Cycle")


def label_of(world, value):
    label = named(world.label, value, "name")
    if label is None:
        raise missing("IssueLabel")
    return label["name"]


def page(rows, name, limit=50, after=None, before=None):
    """Return a page of rows. Cursors are the ids of the last and the first one."""
    ids = [row["id"] for row in rows]
    end = ids.index(before) if before in ids else len(rows)
    start = ids.index(after) + 1 if after in ids else 0
    chosen = rows[start:end][: int(limit)]
    more = start + len(chosen) < end
    return {name: chosen, "hasNextPage": more, **({"cursor": chosen[-1]["id"]} if more else {})}


def since(world, value):
    """Return the moment that a date or a period before now means."""
    period = re.fullmatch(r"-P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?)?", value)
    if period is None:
        return value
    weeks, days, hours = (int(number or 0) for number in period.groups())
    return stamp(world.now - timedelta(weeks=weeks, days=days, hours=hours))


def recent(world, rows, createdAt=None, updatedAt=None, orderBy="updatedAt"):
    """Return the rows from these moments on, the newest first."""
    for field, value in (("createdAt", createdAt), ("updatedAt", updatedAt)):
        if value is not None:
            rows = [row for row in rows if row.get(field, row["createdAt"]) >= since(world, value)]
    return sorted(rows, key=lambda row: row.get(orderBy, row["createdAt"]), reverse=True)


def checked_priority(value):
    if value not in range(len(PRIORITIES)):
        raise Refused(f"Argument Validation Error - priority must be between 0 and 4: {value}")
    return int(value)


def checked_date(value):
    try:
        date.fromisoformat(value)
    except ValueError:
        raise Refused(f"Argument Validation Error - must be a valid date: {value}") from None
    return value


# showing --------------------------------------------------------------------------------------------------------------


def slug(text):
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))[:60]


def shown_issue(world, issue):
    status, team = world.status.get(issue["status"]), world.team.get(issue["team"])
    creator = world.user.get(issue["creator"])
    answer = {
        "id": issue["id"],
        "identifier": issue["identifier"],
        "title": issue["title"],
        "description": issue["description"],
        "priority": {"value": issue["priority"], "name": PRIORITIES[int(issue["priority"])]},
        "url": f"https://linear.app/wanderbird/issue/{issue['identifier']}/{slug(issue['title'])}",
        "gitBranchName": f"{me(world)['displayName']}/{issue['identifier'].lower()}-{slug(issue['title'])}",
        "createdAt": issue["createdAt"],
        "updatedAt": issue["updatedAt"],
        "status": status["name"],
        "labels": [*issue["labels"]],
        "createdBy": creator and creator["name"],
        "createdById": issue["creator"],
        "team": team["name"],
        "teamId": team["id"],
    }
    for field in ("completedAt", "dueDate", "estimate"):
        if issue[field] is not None:
            answer[field] = issue[field]
    for field, table in (("assignee", world.user), ("project", world.project)):
        if issue[field] is not None:
            answer |= {field: table.get(issue[field])["name"], f"{field}Id": issue[field]}
    if issue["cycle"] is not None:
        answer["cycleId"] = issue["cycle"]
    if issue["parent"] is not None:
        answer["parentId"] = issue["parent"]
    return answer


def shown_project(world, project):
    lead, team = world.user.get(project["lead"]), world.team.get(project["team"])
    kept = ("id", "name", "summary", "description", "startDate", "targetDate", "createdAt", "updatedAt")
    return {
        **{field: project[field] for field in kept},
        "url": f"https://linear.app/wanderbird/project/{slug(project['name'])}",
        "status": {"name": project["state"].capitalize(), "type": project["state"]},
        "priority": {"value": project["priority"], "name": PRIORITIES[int(project["priority"])]},
        "labels": [*project["labels"]],
        "lead": lead and {"id": lead["id"], "name": lead["name"]},
        "teams": [{"id": team["id"], "name": team["name"], "key": team["key"]}],
    }


def shown_comment(world, comment):
    author = world.user.get(comment["author"])
    return {
        "id": comment["id"],
        "body": comment["body"],
        "createdAt": comment["createdAt"],
        "updatedAt": comment["updatedAt"],
        "author": {"id": author["id"], "name": author["name"]},
        **({"parentId": comment["parent"]} if comment["parent"] else {}),
    }


def shown_team(team):
    return {field: team[field] for field in ("id", "name", "key", "createdAt")}


def shown_user(world, user):
    return {**world.user.public(user), "isMe": user["id"] == me(world)["id"]}


# issues ---------------------------------------------------------------------------------------------------------------


@tool
def get_issue(world, id):
    return shown_issue(world, issue_of(world, id))


@tool(reads=True, verb="list", entity="issue", rows="issues")
def list_issues(
    world, limit=50, before=None, after=None, orderBy="updatedAt", query=None, team=None, state=None, cycle=None,
    label=None, assignee=None, project=None, parentId=None, priority=None, createdAt=None, updatedAt=None,
):  # fmt: skip
    wanted = {}
    if team is not None:
        wanted["team"] = team_of(world, team)["id"]
    if assignee is not None:
        wanted["assignee"] = user_of(world, assignee)["id"]
    if project is not None:
        wanted["project"] = project_of(world, project)["id"]
    if parentId is not None:
        wanted["parent"] = issue_of(world, parentId)["id"]
    if priority is not None:
        wanted["priority"] = int(priority)
    rows = world.issue.find(**wanted)
    if query is not None:
        rows = [row for row in rows if query.lower() in f"{row['title']}\n{row['description']}".lower()]
    if state is not None:
        statuses = [row for row in world.status if state.lower() in (row["id"], row["name"].lower(), row["type"])]
        rows = [row for row in rows if row["status"] in [status["id"] for status in statuses]]
    if label is not None:
        rows = [row for row in rows if label_of(world, label) in row["labels"]]
    if cycle is not None:
        cycles = [row["id"] for row in world.cycle if str(cycle) in (row["id"], str(row["number"]))]
        rows = [row for row in rows if row["cycle"] in cycles]
    rows = recent(world, rows, createdAt, updatedAt, orderBy)
    return page([shown_issue(world, row) for row in rows], "issues", limit, after, before)


@tool(verb="create", entity="issue")
def create_issue(world, title, team, **fields):
    return shown_issue(world, added_issue(world, title, team, **fields))


def added_issue(world, title, team, **fields):
    of = team_of(world, team)
    status = status_of(world, of, fields.pop("state", "Backlog"))
    changes = changed(world, of, fields)
    of["issueCount"] += 1
    now = stamp(world.now)
    return world.issue.add(
        identifier=f"{of['key']}-{of['issueCount']}", title=title, team=of["id"], status=status["id"],
        creator=me(world)["id"], createdAt=now, updatedAt=now, completedAt=completed(status, now), **changes,
    )  # fmt: skip


@tool(verb="update", entity="issue", key="id")
def update_issue(world, id, title=None, team=None, state=None, **fields):
    issue = issue_of(world, id)
    of = world.team.get(issue["team"]) if team is None else team_of(world, team)
    now = stamp(world.now)
    changes = changed(world, of, fields)
    if of["id"] != issue["team"]:
        of["issueCount"] += 1
        old = world.status.get(issue["status"])
        changes |= {"team": of["id"], "identifier": f"{of['key']}-{of['issueCount']}"}
        state = old["name"] if state is None else state
    if title is not None:
        changes["title"] = title
    if state is not None:
        status = status_of(world, of, state)
        changes |= {"status": status["id"], "completedAt": completed(status, now)}
    issue.update({**changes, "updatedAt": now})
    return shown_issue(world, issue)


def completed(status, now):
    return now if status["type"] == "completed" else None


def changed(world, team, fields):
    """Return the fields of an issue that arguments set."""
    resolvers = {
        "description": str,
        "estimate": int,
        "priority": checked_priority,
        "dueDate": checked_date,
        "assignee": lambda value: user_of(world, value)["id"],
        "project": lambda value: project_of(world, value)["id"],
        "cycle": lambda value: cycle_of(world, team, value)["id"],
        "parent": lambda value: issue_of(world, value)["id"],
        "labels": lambda value: [label_of(world, label) for label in value],
    }
    given = {"parent" if name == "parentId" else name: value for name, value in fields.items()}
    return {name: given[name] and resolve(given[name]) for name, resolve in resolvers.items() if name in given}


@tool(reads=True, verb="list", entity="comment")
def list_comments(world, issueId):
    issue = issue_of(world, issueId)
    rows = sorted(world.comment.find(issue=issue["id"]), key=lambda row: row["createdAt"], reverse=True)
    return [shown_comment(world, row) for row in rows]


@tool(verb="create", entity="comment")
def create_comment(world, issueId, body, parentId=None):
    issue, now = issue_of(world, issueId), stamp(world.now)
    if parentId is not None and parentId not in world.comment:
        raise missing("Comment")
    comment = world.comment.add(
        issue=issue["id"], body=body, author=me(world)["id"], parent=parentId, createdAt=now, updatedAt=now
    )
    return shown_comment(world, comment)


@tool
def list_issue_statuses(world, team):
    rows = world.status.find(team=team_of(world, team)["id"])
    return [{"id": row["id"], "type": row["type"], "name": row["name"]} for row in rows]


@tool
def get_issue_status(world, id, name, team):
    row = status_of(world, team_of(world, team), id or name)
    return {"id": row["id"], "type": row["type"], "name": row["name"]}


@tool(reads=True, verb="list", entity="label")
def list_issue_labels(world, limit=50, before=None, after=None, name=None, team=None):
    of = None if team is None else team_of(world, team)["id"]
    rows = [row for row in world.label if name is None or row["name"].lower() == name.lower()]
    rows = [row for row in rows if of is None or row["team"] in (None, of)]
    shown = [{field: row[field] for field in ("id", "name", "color", "description")} for row in rows]
    return page(shown, "labels", limit, after, before)


@tool(verb="create", entity="label")
def create_issue_label(world, name, description=None, color="#bec2c8", teamId=None):
    if named(world.label, name, "name") is not None:
        raise Refused("Duplicate label name - A label with this name already exists.")
    team = teamId and team_of(world, teamId)["id"]
    row = world.label.add(name=name, description=description, color=color, team=team)
    return {field: row[field] for field in ("id", "name", "color", "description")}


# projects, cycles, documents ------------------------------------------------------------------------------------------


@tool(reads=True, verb="list", entity="project", rows="projects")
def list_projects(
    world, limit=50, before=None, after=None, orderBy="updatedAt", query=None, state=None, team=None, member=None,
    createdAt=None, updatedAt=None,
):  # fmt: skip
    rows = [*world.project]
    if team is not None:
        rows = [row for row in rows if row["team"] == team_of(world, team)["id"]]
    if member is not None:
        rows = [row for row in rows if row["lead"] == user_of(world, member)["id"]]
    if state is not None:
        rows = [row for row in rows if row["state"] == state.lower()]
    if query is not None:
        rows = [row for row in rows if query.lower() in f"{row['name']}\n{row['summary']}".lower()]
    rows = recent(world, rows, createdAt, updatedAt, orderBy)
    return page([shown_project(world, row) for row in rows], "projects", limit, after, before)


@tool(reads=True, verb="get", entity="project")
def get_project(world, query):
    return shown_project(world, project_of(world, query))


@tool(verb="create", entity="project")
def create_project(world, name, team, lead=None, **fields):
    now = stamp(world.now)
    leader, changes = None if lead is None else user_of(world, lead)["id"], project_changes(fields)
    row = world.project.add(
        name=name, team=team_of(world, team)["id"], lead=leader, createdAt=now, updatedAt=now, **changes
    )
    return shown_project(world, row)


def project_changes(fields):
    """Return the fields of a project that arguments set."""
    checks = {"priority": checked_priority, "startDate": checked_date, "targetDate": checked_date}
    known = [name for name in tables["project"]["fields"] if name in fields]
    return {name: checks.get(name, lambda value: value)(fields[name]) for name in known}


@tool(verb="update", entity="project", key="id")
def update_project(world, id, lead=None, **fields):
    row = project_of(world, id)
    row.update(project_changes(fields))
    if lead is not None:
        row["lead"] = user_of(world, lead)["id"]
    row["updatedAt"] = stamp(world.now)
    return shown_project(world, row)


@tool(reads=True)
def list_project_labels(world):
    names = sorted({label for row in world.project for label in row["labels"]})
    return {"labels": [{"name": name} for name in names], "hasNextPage": False}


@tool(reads=True, verb="list", entity="cycle")
def list_cycles(world, teamId, type=None):
    now, answer = stamp(world.now), []
    for row in world.cycle.find(team=team_of(world, teamId)["id"]):
        kind = "previous" if row["endsAt"] <= now else "next" if row["startsAt"] > now else "current"
        if type in (None, kind):
            issues = world.issue.find(cycle=row["id"])
            done = sum(issue["completedAt"] is not None for issue in issues)
            answer.append({
                "id": row["id"],
                "number": row["number"],
                "startsAt": row["startsAt"],
                "endsAt": row["endsAt"],
                "isCurrent": kind == "current",
                "issueCount": len(issues),
                "completedIssueCount": done,
            })  # fmt: skip
    return answer


@tool(reads=True, verb="get", entity="document")
def get_document(world, id):
    row = world.document.get(id) or next((row for row in world.document if slug(row["title"]) == id), None)
    if row is None:
        raise missing("Document")
    return shown_document(world, row) | {"content": row["content"]}


def shown_document(world, row):
    creator = world.user.get(row["creator"])
    return {
        "id": row["id"],
        "title": row["title"],
        "slugId": slug(row["title"]),
        "url": f"https://linear.app/wanderbird/document/{slug(row['title'])}",
        "createdAt": row["createdAt"],
        "creator": creator and {"id": creator["id"], "name": creator["name"]},
    }


@tool(reads=True, verb="list", entity="document", rows="documents")
def list_documents(world, query=None, limit=50, before=None, after=None, projectId=None, creatorId=None):
    rows = [row for row in world.document if query is None or query.lower() in row["title"].lower()]
    rows = [row for row in rows if projectId in (None, row["project"]) and creatorId in (None, row["creator"])]
    return page([shown_document(world, row) for row in rows], "documents", limit, after, before)


# people, teams, help --------------------------------------------------------------------------------------------------


@tool(reads=True, verb="list", entity="team", rows="teams")
def list_teams(world, limit=50, before=None, after=None, query=None):
    rows = [row for row in world.team if query is None or query.lower() in row["name"].lower()]
    return page([shown_team(row) for row in rows], "teams", limit, after, before)


@tool(reads=True, verb="get", entity="team")
def get_team(world, query):
    return shown_team(team_of(world, query))


@tool(reads=True, verb="list", entity="user")
def list_users(world, query=None):
    rows = [row for row in world.user if query is None or query.lower() in f"{row['name']} {row['email']}".lower()]
    return [shown_user(world, row) for row in rows]


@tool(reads=True, verb="get", entity="user")
def get_user(world, query):
    return shown_user(world, user_of(world, query))


@tool(reads=True)
def search_documentation(_world, query, page=0):
    words = re.findall(r"\w+", query.lower())
    hits = [row for row in PAGES if any(word.rstrip("s") in " ".join(row).lower() for word in words)]
    results = [{"title": title, "url": f"https://linear.app/docs/{name}", "text": text} for title, name, text in hits]
    return {"results": results if page < 1 else [], "hasNextPage": False}
