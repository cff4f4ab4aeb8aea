"""The world in which the repositories service begins: a company that plans berths in harbours."""

from datetime import timedelta

from git import add_comment, close, commit_to, merge, open_issue, open_pull

from mcp_sim.programs.helpers import stamp

ORGANIZATION, UPSTREAM = "quayside", "opentide"
PEOPLE = {
    "ada-vos": "Ada Vos",
    "mbekele": "Meron Bekele",
    "tlindqvist": "Tove Lindqvist",
    "rkaya": "Rüya Kaya",
    "jokafor": "Jide Okafor",
    "sfontaine": "Solène Fontaine",
}
REPOSITORIES = [
    ("berth-planner", "Assigns ships to berths by length, draught and tide.", "Python", ["planning", "harbour"]),
    ("gate-kiosk", "Check-in of trucks at the terminal gate.", "TypeScript", ["kiosk", "terminal"]),
    ("crane-telemetry", "Collects and stores what cranes report.", "Go", ["telemetry", "cranes"]),
    ("handbook", "How we work.", "Markdown", ["documentation"]),
    ("tariff-service", "Harbour dues and invoices.", "Python", ["billing", "harbour"]),
    ("yard-map", "A live map of containers in the yard.", "TypeScript", ["maps", "terminal"]),
]
SUFFIX = {"Python": "py", "TypeScript": "ts", "Go": "go", "Markdown": "md"}
PARTS = ["search", "import", "export", "login", "schedule", "report", "settings", "audit"]
LABELS = {
    "bug": ("d73a4a", "Something does not work"),
    "enhancement": ("a2eeef", "New feature or request"),
    "documentation": ("0075ca", "Additions to the documentation"),
    "good first issue": ("7057ff", "Good for newcomers"),
    "priority: high": ("b60205", "To be done this week"),
}
BUGS = [
    (
        "{Part} fails with an empty list",
        "The {part} raises an error when there is nothing to show. Expected: an empty page.",
    ),
    ("{Part} takes half a minute on Mondays", "After the weekend the first {part} of the day takes 30 seconds."),
    ("Wrong time zone in {part}", "Times in the {part} are in UTC. People on the quay expect local time."),
    ("{Part} loses the last row", "With exactly 100 rows, the {part} shows 99 of them."),
    ("{Part} shows names with umlauts wrongly", "`Rüya` becomes `RÃ¼ya` in the {part}."),
]
WISHES = [
    ("Let {part} remember the last filter", "Everyone sets the same filter every morning."),
    ("Add a keyboard shortcut for {part}", "The operators wear gloves and rarely use the mouse."),
    ("Document the limits of {part}", "How many rows does it take?"),
]
COMMENTS = [
    "I see this as well, on the second terminal.",
    "Happens since the last release. Rolling back helps.",
    "Could you add the log of the failing request?",
    "Log attached to the ticket of operations. It is the same cause as last month.",
    "I can take this one.",
    "Not urgent for us, there is a workaround.",
    "Reviewed with the shift lead: please keep the old behaviour as an option.",
    "Works on staging.",
]
LIMITS = "# Limits of the quay, in metres\nmax_length: 366\nmax_draught: 41.5\nmin_clearance: 0.6\n"


def module(language, component, revision):
    """Return the text of a source file after some revisions."""
    limit = 50 + 10 * revision
    if language == "Python":
        body = f"def {component}(rows):\n    return list(rows)[:LIMIT]\n"
        return f'"""The {component} of the service."""\n\nLIMIT = {limit}\n\n\n{body}'
    if language == "TypeScript":
        body = f"export function {component}Rows<T>(rows: T[]): T[] {{\n  return rows.slice(0, limit);\n}}\n"
        return f"export const limit = {limit};\n\n{body}"
    if language == "Go":
        body = "func Rows(all []string) []string {\n\treturn all[:min(limit, len(all))]\n}\n"
        return f"package {component}\n\nconst limit = {limit}\n\n{body}"
    return f"# {component.capitalize()}\n\nAsk before you change more than {limit} rows.\n"


def source_path(language, component):
    return f"{'docs' if language == 'Markdown' else 'src'}/{component}.{SUFFIX[language]}"


def fill(given, world):
    """Write the records of a world. `given` may have me, organization, repositories, events and comments."""
    me = given.get("me", "ada-vos")
    names = {**PEOPLE, me: PEOPLE.get(me, me)}
    for login, name in names.items():
        world.account.add(
            login=login, id=world.random.randrange(10**6, 10**8), name=name, email=f"{login}@quayside.example"
        )
    organization = given.get("organization", ORGANIZATION)
    for login, name in ((organization, organization.capitalize()), (UPSTREAM, "Open Tide")):
        world.account.add(login=login, id=world.random.randrange(10**6, 10**8), name=name, type="Organization")
    world.me["login"] = me
    for name, description, language, topics in REPOSITORIES[: given.get("repositories", 4)]:
        fill_repository(given, world, organization, name, description, language, topics)
    fill_repository(
        {**given, "events": 6}, world, UPSTREAM, "tide-tables", "Tide tables as a library.", "Python", ["tides"]
    )


def fill_repository(given, world, owner, name, description, language, topics):
    events = given.get("events", 30)
    chance, people = world.random, [*PEOPLE]
    begun = world.now - timedelta(days=events * 9, hours=chance.randrange(1, 24))
    full = f"{owner}/{name}"
    repository = world.repository.add(
        full_name=full,
        id=chance.randrange(10**8, 10**9),
        owner=owner,
        name=name,
        description=description,
        language=language,
        topics=topics,
        stargazers_count=chance.randrange(3, 900),
        created_at=stamp(begun),
        updated_at=stamp(begun),
    )
    for label, (color, about) in LABELS.items():
        world.label.add(repository=full, name=label, color=color, description=about)
    main = world.branch.add(ref=f"{full}:main", repository=full, name="main", protected=True)
    files = {
        "README.md": f"# {name}\n\n{description}\n",
        "LICENSE": "All rights reserved.\n",
        "config/limits.yaml": LIMITS,
    }
    files |= {source_path(language, component): module(language, component, 0) for component in PARTS[:4]}
    commit_to(world, main, "Initial commit", files, people[0], begun)
    for at in range(events):
        moment = begun + timedelta(days=9 * at + 1, minutes=chance.randrange(1, 1400))
        subject, who = PARTS[at % len(PARTS)], chance.choice(people)
        if at % 3 == 0:
            fill_change(world, repository, main, language, subject, at, who, moment)
        elif at % 3 == 1:
            fill_issue(world, repository, subject, who, moment, at > events * 2 // 3)
        else:
            fill_pull(world, repository, main, subject, at, who, moment, at > events - 4)


def fill_change(world, repository, main, language, component, at, who, moment):
    change = {source_path(language, component): module(language, component, at + 1)}
    commit_to(world, main, f"Raise the limit of {component} to {60 + 10 * at} rows", change, who, moment)
    if at % 9 == 0:
        version, full = f"v1.{at // 9}.0", repository["full_name"]
        world.tag.add(ref=f"{full}:{version}", repository=full, name=version, sha=main["sha"])
        body = f"- The limit of {component} is {60 + 10 * at} rows."
        world.release.add(
            repository=full, tag_name=version, name=version, body=body, author=who, published_at=stamp(moment)
        )


def fill_issue(world, repository, component, who, moment, is_open):
    is_bug = world.random.random() < 0.7
    title, body = world.random.choice(BUGS if is_bug else WISHES)
    labels = ["bug" if is_bug else "enhancement", *(["priority: high"] if world.random.random() < 0.2 else [])]
    texts = [text.format(part=component, Part=component.capitalize()) for text in (title, body)]
    assignees = [world.random.choice([*PEOPLE])] if world.random.random() < 0.6 else []
    issue = open_issue(world, repository, *texts, who, moment, labels=labels, assignees=assignees)
    last = fill_comments(world, issue, moment)
    if not is_open:
        who, reason = world.random.choice([*PEOPLE]), world.random.choice(["completed", "completed", "not_planned"])
        close(issue, who, stamp(last + timedelta(hours=5)), reason)


def fill_comments(world, row, moment):
    for body in world.random.sample(COMMENTS, world.random.randrange(4)):
        moment += timedelta(hours=world.random.randrange(1, 20))
        add_comment(world, row, world.random.choice([*PEOPLE]), body, moment)
    return moment


def fill_pull(world, repository, main, component, at, who, moment, is_open):
    full, name = repository["full_name"], f"{component}-{at}"
    branch = world.branch.add(ref=f"{full}:{name}", repository=full, name=name, sha=main["sha"])
    path, text = (
        f"docs/{component}.md",
        f"# {component.capitalize()}\n\nHow the {component} works, as of change {at}.\n",
    )
    commit_to(world, branch, f"Describe {component}", {path: text}, who, moment)
    body = f"Adds a page about the {component}."
    pull = open_pull(world, repository, repository, branch, main, f"Describe {component}", body, False, who, moment)
    reviewer = world.random.choice([person for person in PEOPLE if person != who])
    last = fill_comments(world, pull, moment) + timedelta(hours=2)
    if is_open:
        pull["requested_reviewers"] = [reviewer]
        return
    approval = {"state": "APPROVED", "body": "Thanks!", "submitted_at": stamp(last)}
    world.review.add(approval, pull_request=pull["id"], user=reviewer, commit_id=branch["sha"])
    merge(world, pull, who=reviewer, moment=last + timedelta(hours=1))
    world.branch.delete(branch)
