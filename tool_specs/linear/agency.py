"""The workspace of a small travel agency: its people, teams, projects and what they work on."""

from datetime import timedelta

PEOPLE = (
    ("Nadia Rahimi", "nadia", True), ("Oskar Lindgren", "oskar", False), ("Beatriz Alves", "beatriz", False),
    ("Kofi Mensah", "kofi", False), ("Hana Sato", "hana", False), ("Liam Byrne", "liam", True),
)  # fmt: skip
TEAMS = (("Engineering", "ENG"), ("Operations", "OPS"))
STATUSES = (
    ("Backlog", "backlog"), ("Todo", "unstarted"), ("In Progress", "started"), ("In Review", "started"),
    ("Done", "completed"), ("Canceled", "canceled"), ("Duplicate", "canceled"),
)  # fmt: skip
LABELS = (("Bug", "#EB5757"), ("Feature", "#BB87FC"), ("Improvement", "#4EA7FC"), ("Customer", "#F2C94C"))
PROJECTS = (
    ("Group bookings", "Book trips for up to forty people at once.", "started", "Engineering"),
    ("Faster search", "Results of a search within a second.", "started", "Engineering"),
    ("New call centre", "Move the phones to the new provider.", "planned", "Operations"),
)
ISSUES = {
    "Engineering": (
        ("Prices of children are counted twice", "Bug", "Group bookings"),
        ("Group leader can invite travellers by mail", "Feature", "Group bookings"),
        ("Split a payment between travellers", "Feature", "Group bookings"),
        ("Seat map is empty on small phones", "Bug", "Group bookings"),
        ("Cache the timetables of ferries", "Improvement", "Faster search"),
        ("Search hangs when a date is missing", "Bug", "Faster search"),
        ("Show the cheapest day in the calendar", "Feature", "Faster search"),
        ("Remove the old search page", "Improvement", "Faster search"),
        ("Vouchers expire one day too early", "Bug", None),
        ("Rotate the keys of the payment provider", "Improvement", None),
        ("Confirmation mail has the wrong time zone", "Bug", None),
        ("Export bookings as CSV", "Feature", None),
    ),
    "Operations": (
        ("Order headsets for the new desks", "Improvement", "New call centre"),
        ("Write the script for missed flights", "Improvement", "New call centre"),
        ("Train the evening shift", "Improvement", "New call centre"),
        ("Refund of the Lisbon group is overdue", "Customer", None),
        ("Hotel in Bergen changed its check-in", "Customer", None),
        ("Renew the insurance certificate", "Improvement", None),
    ),
}
REMARKS = (
    "I can reproduce this.", "Blocked until we hear from the provider.", "A customer asked again today.",
    "Half of it is done, the rest next week.", "Can you take a look?",
)  # fmt: skip
DOCUMENTS = (
    ("How we handle incidents", "Page the person on duty, open an issue with the label Bug, and write down the time."),
    ("Plan for group bookings", "First prices, then invitations, then payments. The launch is in May."),
)


def fill(world, with_issues):
    """Add the workspace."""
    random, begun = world.random, world.now - timedelta(days=90)
    people = [
        world.user.add(name=name, displayName=short, email=f"{short}@wanderbird.example", isAdmin=admin)["id"]
        for name, short, admin in PEOPLE
    ]
    for label, color in LABELS:
        world.label.add(name=label, color=color)
    for team_name, key in TEAMS:
        team = world.team.add(name=team_name, key=key, createdAt=stamp(begun))
        for position, (status, kind) in enumerate(STATUSES):
            world.status.add(name=status, type=kind, team=team["id"], position=position)
        for number in range(1, 4):
            starts = world.now - timedelta(days=14 * (2 - number) + 4)
            world.cycle.add(number=number, team=team["id"], startsAt=stamp(starts),
                            endsAt=stamp(starts + timedelta(days=14)))  # fmt: skip
    for name, summary, state, team_name in PROJECTS:
        world.project.add(
            name=name, summary=summary, state=state, team=team_id(world, team_name), lead=random.choice(people),
            createdAt=stamp(begun), updatedAt=stamp(begun),
        )  # fmt: skip
    for team_name, issues in ISSUES.items() if with_issues else ():
        for title, label, project in issues:
            add_issue(world, team_name, title, label, project, people)
    for title, content in DOCUMENTS:
        world.document.add(title=title, content=content, creator=random.choice(people), createdAt=stamp(begun))


def add_issue(world, team_name, title, label, project, people):
    random, team = world.random, world.team.get(team_id(world, team_name))
    status, kind = random.choices(STATUSES[:5], weights=(3, 3, 3, 2, 3))[0]
    created = world.now - timedelta(days=random.randrange(3, 80), minutes=random.randrange(600))
    updated = created + timedelta(hours=random.randrange(2, 60))
    team["issueCount"] += 1
    issue = world.issue.add(
        identifier=f"{team['key']}-{team['issueCount']}",
        title=title,
        description=f"{title}. Seen by {random.choice(PEOPLE)[0]}.",
        priority=random.choice((0, 1, 2, 3, 3, 4)),
        status=next(row["id"] for row in world.status.find(team=team["id"], name=status)),
        team=team["id"],
        assignee=None if kind == "backlog" else random.choice(people),
        creator=random.choice(people),
        labels=[label],
        project=next((row["id"] for row in world.project.find(name=project)), None) if project else None,
        createdAt=stamp(created),
        updatedAt=stamp(updated),
        completedAt=stamp(updated) if kind == "completed" else None,
    )
    for _ in range(random.choice((0, 0, 1, 2))):
        at = stamp(created + timedelta(hours=random.randrange(1, 40)))
        world.comment.add(issue=issue["id"], body=random.choice(REMARKS), author=random.choice(people), createdAt=at,
                          updatedAt=at)  # fmt: skip


def team_id(world, name):
    return next(row["id"] for row in world.team.find(name=name))


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
