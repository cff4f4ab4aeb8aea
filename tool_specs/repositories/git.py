"""What the tools of the repositories service share: failures, Git, and how records are shown.

Commits hold whole trees (path -> blob), and repositories and their forks share commits and blobs, as in Git.
"""

import re
from hashlib import sha1

from mcp_sim.libraries.line_changes import unified
from mcp_sim.programs import Refused
from mcp_sim.programs.helpers import stamp

API, WEB = "https://api.github.com", "https://github.com"
CLOSES = re.compile(r"\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?) #(\d+)", re.IGNORECASE)
QUERY = re.compile(r'(?:(-?[\w-]+):)?(?:"([^"]*)"|(\S+))')

# failures -------------------------------------------------------------------------------------------------------------


def refused(what, method, path, status):
    return Refused(f"failed to {what}: {method} {API}/{path}: {status}")


def invalid(what, path, resource, field, message):
    errors = f"[{{Resource:{resource} Field:{field} Code:custom Message:{message}}}]"
    return refused(what, "POST", path, f"422 Validation Failed {errors}")


def known_repository(world, owner, repo, what, path="", method="GET"):
    repository = world.repository.get(f"{owner}/{repo}")
    if repository is None:
        raise refused(what, method, f"repos/{owner}/{repo}{path}", "404 Not Found []")
    return repository


def numbered(world, table, owner, repo, number, what, path, method="GET"):
    at = f"/{path}/{int(number)}"
    repository = known_repository(world, owner, repo, what, at, method)
    rows = table.find(repository=repository["full_name"], number=int(number))
    if not rows:
        raise refused(what, method, f"repos/{owner}/{repo}{at}", "404 Not Found []")
    return rows[0]


def check_assignees(world, assignees, what, path):
    for login in assignees or []:
        if login not in world.account:
            errors = f"[{{Resource:Issue Field:assignees Code:invalid Message:{login}}}]"
            raise refused(what, "POST", path, f"422 Validation Failed {errors}")


def known_branch(world, repository, name, what, path, method="GET", status="404 Not Found []"):
    branch = world.branch.get(f"{repository['full_name']}:{name}")
    if branch is None:
        raise refused(what, method, f"repos/{repository['full_name']}/{path}", status)
    return branch


# Git ------------------------------------------------------------------------------------------------------------------


def add_blob(world, content):
    data = content.encode()
    sha = sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    if sha not in world.blob:
        world.blob.add(sha=sha, content=content)
    return sha


def add_commit(world, message, tree, parents, author=None, moment=None):
    return world.commit.add(
        sha=f"{world.random.getrandbits(160):040x}",
        message=message,
        author=author or world.me["login"],
        date=stamp(moment or world.now),
        parents=parents,
        tree=dict(sorted(tree.items())),
    )


def commit_to(world, branch, message, changes, author=None, moment=None):
    """Commit files (path -> content, None to remove) on a branch."""
    tree = dict(world.commit.get(branch["sha"])["tree"]) if branch["sha"] else {}
    for path, content in changes.items():
        if content is None:
            tree.pop(path)
        else:
            tree[path] = add_blob(world, content)
    commit = add_commit(world, message, tree, [branch["sha"]] if branch["sha"] else [], author, moment)
    branch["sha"] = commit["sha"]
    world.repository.get(branch["repository"])["updated_at"] = commit["date"]
    return commit


def history(world, sha):
    """Return a commit and its ancestors, the newest first."""
    commits, waiting = {}, [sha]
    while waiting:
        commit = world.commit.get(waiting.pop(0))
        if commit is not None and commit["sha"] not in commits:
            commits[commit["sha"]] = commit
            waiting += commit["parents"]
    return sorted(commits.values(), key=lambda commit: commit["date"], reverse=True)


def tree_before(world, commit):
    return world.commit.get(commit["parents"][0])["tree"] if commit["parents"] else {}


def common_ancestor(world, sha, other):
    known = {commit["sha"] for commit in history(world, sha)}
    return next((commit for commit in history(world, other) if commit["sha"] in known), None)


def merged_tree(world, base, head):
    """Return the tree of a merge; None if both sides have changed a file."""
    ancestor = common_ancestor(world, base, head)
    start = {} if ancestor is None else ancestor["tree"]
    ours, theirs = world.commit.get(base)["tree"], world.commit.get(head)["tree"]
    changed = [path for path in sorted({*start, *theirs}) if start.get(path) != theirs.get(path)]
    if any(ours.get(path) not in (start.get(path), theirs.get(path)) for path in changed):
        return None
    kept = {path: sha for path, sha in ours.items() if path not in changed}
    return kept | {path: theirs[path] for path in changed if path in theirs}


def changed_files(world, before, after):
    files = []
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            old, new = (
                world.blob.get(tree[path])["content"].splitlines() if path in tree else [] for tree in (before, after)
            )
            lines = [*unified(old, new)]
            added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
            status = "added" if path not in before else "removed" if path not in after else "modified"
            counts = {"additions": added, "deletions": removed, "changes": added + removed}
            files.append({"filename": path, "status": status, **counts, "patch": "\n".join(lines)})
    return files


def resolve(world, repository, ref):
    """Return the commit that a branch, a tag, a pull request or a SHA names; None if nothing does."""
    name, full = (ref or repository["default_branch"]).removeprefix("refs/"), repository["full_name"]
    if pull := re.fullmatch(r"pull/(\d+)/head", name):
        pulls = world.pull_request.find(repository=full, number=int(pull[1]))
        return world.commit.get(pulls[0]["head_sha"]) if pulls else None
    row = world.branch.get(f"{full}:{name.removeprefix('heads/')}") or world.tag.get(
        f"{full}:{name.removeprefix('tags/')}"
    )
    return world.commit.get(row["sha"] if row else name)


# views ----------------------------------------------------------------------------------------------------------------


def lean(**values):
    """Leave out what is empty, as the service does for optional fields."""
    return {name: value for name, value in values.items() if value not in (None, "", [], 0, False)}


def user_view(world, login):
    return {"login": login, "id": world.account.get(login)["id"], "profile_url": f"{WEB}/{login}"}


def repository_view(world, row):
    full = row["full_name"]
    subjects = (
        *world.issue.find(repository=full, state="open"),
        *world.pull_request.find(repository=full, state="open"),
    )
    optional = lean(**{name: row[name] for name in ("description", "language", "topics")})
    view = {name: row[name] for name in ("id", "name", "full_name")} | {"html_url": f"{WEB}/{full}"} | optional
    names = ("stargazers_count", "private", "fork", "archived", "default_branch", "created_at", "updated_at")
    counts = {"forks_count": len(world.repository.find(parent=full)), "open_issues_count": len(subjects)}
    return view | counts | {name: row[name] for name in names}


def comments_of(world, row):
    return world.comment.find(repository=row["repository"], number=row["number"])


def html_url(row, kind):
    return f"{WEB}/{row['repository']}/{kind}/{row['number']}"


def issue_view(world, row):
    closing = row["closed_by"] if "closed_by" in row else row["merged_by"]
    names = ("body", "state_reason", "labels", "milestone", "created_at", "updated_at", "closed_at")
    return {
        **{name: row[name] for name in ("number", "title", "state", "assignees")},
        "html_url": html_url(row, "issues" if "closed_by" in row else "pull"),
        "user": user_view(world, row["user"]),
        **lean(**{name: row.get(name) for name in names}, closed_by=closing, comments=len(comments_of(world, row))),
    }


def pull_view(world, row):
    base, head = tips(world, row)
    files, merges = pull_files(world, row), merged_tree(world, base, head) is not None
    state = "unknown" if row["state"] == "closed" else "clean" if merges else "dirty"
    names = ("body", "labels", "assignees", "requested_reviewers", "merged_by", "closed_at", "merged_at")
    sides = {"head": (head, row["head_repository"]), "base": (base, row["repository"])}
    return {
        **{name: row[name] for name in ("number", "title", "state", "draft", "merged")},
        "mergeable_state": state,
        "html_url": html_url(row, "pull"),
        "user": user_view(world, row["user"]),
        **{side: {"ref": row[side], "sha": sha, "repo": {"full_name": full}} for side, (sha, full) in sides.items()},
        **lean(**{name: row[name] for name in names}, comments=len(comments_of(world, row)), changed_files=len(files)),
        **lean(**{name: sum(file[name] for file in files) for name in ("additions", "deletions")}),
        "commits": len(pull_commits(world, row)),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def comment_view(world, row):
    path = f"{WEB}/{row['repository']}/issues/{row['number']}#issuecomment-{row['id']}"
    names = ("id", "body", "created_at", "updated_at")
    return {**{name: row[name] for name in names}, "html_url": path, "user": user_view(world, row["user"])}


def signature(world, commit):
    account = world.account.get(commit["author"])
    return {"name": account["name"], "email": account["email"], "date": commit["date"]}


def commit_view(world, repository, row):
    author = signature(world, row)
    who = user_view(world, row["author"])
    return {
        "sha": row["sha"],
        "html_url": f"{WEB}/{repository['full_name']}/commit/{row['sha']}",
        "commit": {"message": row["message"], "author": author, "committer": author},
        "author": who,
        "committer": who,
    }


def short_commit(world, repository, row):
    url = f"{WEB}/{repository['full_name']}/commit/{row['sha']}"
    return {"sha": row["sha"], "message": row["message"], "html_url": url, "author": signature(world, row)}


def folder_view(world, repository, commit, path):
    """Show what is in a folder. Raises `Refused` if there is no such path."""
    start = f"{path}/" if path else ""
    inside = [file.removeprefix(start) for file in commit["tree"] if file.startswith(start)]
    if not inside:
        raise Refused(
            "Failed to get file contents. The path does not point to a file or directory, "
            "or the file does not exist in the repository."
        )
    entries = []
    for name in sorted({file.partition("/")[0] for file in inside}):
        full, sha = f"{start}{name}", commit["tree"].get(f"{start}{name}")
        kind = "dir" if sha is None else "file"
        size = 0 if sha is None else len(world.blob.get(sha)["content"].encode())
        sha = sha or sha1(f"{commit['sha']}:{full}".encode(), usedforsecurity=False).hexdigest()
        web = f"{WEB}/{repository['full_name']}/{'tree' if kind == 'dir' else 'blob'}/{commit['sha']}/{full}"
        entries.append({"type": kind, "size": size, "name": name, "path": full, "sha": sha, "html_url": web})
    return entries


def release_view(world, row):
    names = ("id", "tag_name", "name", "body", "published_at")
    url = f"{WEB}/{row['repository']}/releases/tag/{row['tag_name']}"
    more = {"html_url": url, "prerelease": False, "draft": False, "author": user_view(world, row["author"])}
    return {name: row[name] for name in names} | more


def label_view(row):
    return {name: row[name] for name in ("id", "name", "color", "description")}


def review_view(world, pull, row):
    url = f"{html_url(pull, 'pull')}#pullrequestreview-{row['id']}"
    view = {name: row[name] for name in ("id", "state", "body", "commit_id", "submitted_at")}
    return view | {"html_url": url, "user": user_view(world, row["user"])}


def created(row, path):
    return {"id": str(row["id"]), "url": f"{WEB}/{path}"}


def paged(table, rows, page, per_page, **order):
    return table.page(rows, page=int(page or 1), limit=int(per_page or 30), **order).rows


# pull requests --------------------------------------------------------------------------------------------------------


def tips(world, row):
    """Return the commits of the base and of the head: those of the branches while a pull request is open."""
    sides = (("base", row["repository"]), ("head", row["head_repository"]))
    stored = [row["base_sha"], row["head_sha"]]
    if row["state"] == "closed":
        return stored
    branches = [world.branch.get(f"{full}:{row[side]}") for side, full in sides]
    return [sha if branch is None else branch["sha"] for branch, sha in zip(branches, stored, strict=True)]


def pull_files(world, row):
    base, head = tips(world, row)
    ancestor = common_ancestor(world, base, head)
    return changed_files(world, ancestor["tree"] if ancestor else {}, world.commit.get(head)["tree"])


def pull_commits(world, row):
    base, head = tips(world, row)
    known = {commit["sha"] for commit in history(world, base)}
    return [commit for commit in reversed(history(world, head)) if commit["sha"] not in known]


def merge(world, row, method="merge", title=None, text=None, who=None, moment=None):
    """Merge a pull request, and close the issues that it names. Returns the commit; None if there is a conflict."""
    base, head = tips(world, row)
    tree = merged_tree(world, base, head)
    if tree is None:
        return None
    branch = world.branch.get(f"{row['repository']}:{row['base']}")
    squashed = f"{row['title']} (#{row['number']})"
    usual = f"Merge pull request #{row['number']} from {row['head_repository'].partition('/')[0]}/{row['head']}"
    title, text = (
        title or (usual if method == "merge" else squashed),
        text or (row["title"] if method == "merge" else ""),
    )
    parents = [base, head] if method == "merge" else [base]
    commit = add_commit(world, f"{title}\n\n{text}".strip(), tree, parents, who, moment)
    branch["sha"], date = commit["sha"], commit["date"]
    row.update(
        base_sha=base,
        head_sha=head,
        state="closed",
        merged=True,
        merged_by=commit["author"],
        merge_commit_sha=commit["sha"],
    )
    row.update(closed_at=date, merged_at=date, updated_at=date)
    repository = world.repository.get(row["repository"])
    repository["updated_at"] = date
    if row["base"] == repository["default_branch"]:
        for number in CLOSES.findall(f"{row['title']}\n{row['body']}"):
            for issue in world.issue.find(repository=row["repository"], number=int(number), state="open"):
                close(issue, commit["author"], date)
    return commit


def close(issue, who, date, reason="completed"):
    issue.update(state="closed", state_reason=reason, closed_at=date, closed_by=who, updated_at=date)


def open_pull(world, repository, head, branch, base, title, body, draft, who, moment):
    date = stamp(moment)
    repository["last_number"] += 1
    return world.pull_request.add(
        repository=repository["full_name"],
        number=repository["last_number"],
        title=title,
        body=body,
        draft=draft,
        user=who,
        head_repository=head["full_name"],
        head=branch["name"],
        head_sha=branch["sha"],
        base=base["name"],
        base_sha=base["sha"],
        created_at=date,
        updated_at=date,
    )


def open_issue(world, repository, title, body, who, moment, **fields):
    date = stamp(moment)
    repository["last_number"] += 1
    full = repository["full_name"]
    return world.issue.add(
        fields,
        repository=full,
        number=repository["last_number"],
        title=title,
        body=body,
        user=who,
        created_at=date,
        updated_at=date,
    )


def add_comment(world, row, who, body, moment):
    date = stamp(moment)
    row["updated_at"] = date
    full, number = row["repository"], row["number"]
    return world.comment.add(repository=full, number=number, user=who, body=body, created_at=date, updated_at=date)


def add_labels(world, repository, names):
    """Create the labels that a repository does not have."""
    for name in names or []:
        if not world.label.find(repository=repository["full_name"], name=name):
            world.label.add(repository=repository["full_name"], name=name)


# searches -------------------------------------------------------------------------------------------------------------


def parsed(query):
    """Return the words of a search in lower case, and its qualifiers (`label:bug`), the last one of each name."""
    words, wanted = [], {}
    for name, quoted, plain in QUERY.findall(query):
        if name:
            wanted[f"is:{plain}" if name == "is" else name] = quoted or plain
        else:
            words.append((quoted or plain).lower())
    return words, wanted


def contains(row, words, fields):
    text = " ".join(str(row[field]) for field in fields).lower()
    return all(word in text for word in words)


def found(items, page, per_page):
    start = (int(page or 1) - 1) * int(per_page or 30)
    shown = items[start : start + int(per_page or 30)]
    return {"total_count": len(items), "incomplete_results": False, "items": shown}


def search_subjects(world, table, query, owner, repo, sort, order, page, per_page):
    """Search issues or pull requests."""
    words, wanted = parsed(query)
    wanted |= {"repo": f"{owner}/{repo}"} if owner and repo else {"user": owner} if owner else {}
    rows = [row for row in table if contains(row, words, ("title", "body")) and is_wanted(row, wanted)]
    keys = {"created": "created_at", "updated": "updated_at"}
    by = (lambda row: len(comments_of(world, row))) if sort == "comments" else keys.get(sort, "created_at")
    rows = table.page(rows, limit=None, sort=by, descending=order != "asc").rows
    views = [issue_view(world, row) | {"repository_url": f"{API}/repos/{row['repository']}"} for row in rows]
    return found(views, page, per_page)


def is_wanted(row, wanted):
    """Whether an issue or a pull request has what the qualifiers of a search say."""
    owner = row["repository"].partition("/")[0]
    states = {name.removeprefix("is:") for name in wanted if name in ("is:open", "is:closed")}
    return (
        wanted.get("repo", row["repository"]) == row["repository"]
        and wanted.get("user", wanted.get("org", owner)) == owner
        and wanted.get("state", row["state"]) == row["state"]
        and row["state"] in (states or {row["state"]})
        and ("is:merged" not in wanted or row.get("merged", False))
        and wanted.get("author", row["user"]) == row["user"]
        and wanted.get("assignee", "") in ("", *row["assignees"])
        and wanted.get("label", "") in ("", *row["labels"])
        and wanted.get("-label") not in row["labels"]
        and wanted.get("base", row.get("base")) == row.get("base")
        and wanted.get("head", row.get("head")) == row.get("head")
    )
