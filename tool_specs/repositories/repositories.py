"""A simulated service for repositories, issues and pull requests."""

from git import (
    API,
    WEB,
    add_comment,
    add_labels,
    changed_files,
    check_assignees,
    close,
    comment_view,
    comments_of,
    commit_to,
    commit_view,
    contains,
    created,
    folder_view,
    found,
    history,
    invalid,
    issue_view,
    known_branch,
    known_repository,
    label_view,
    lean,
    merge,
    numbered,
    open_issue,
    open_pull,
    paged,
    parsed,
    pull_commits,
    pull_files,
    pull_view,
    refused,
    release_view,
    repository_view,
    resolve,
    review_view,
    search_subjects,
    short_commit,
    tips,
    tree_before,
    user_view,
)
from seed import fill

from mcp_sim.programs import Refused, Result, initial, tool
from mcp_sim.programs.helpers import stamp

# fmt: off
tables = {
    "me": {"singleton": True, "fields": {"login": ""}, "links": {"login": "account"}},
    "account": {"key": "login", "natural": True, "fields": {"id": 0, "name": "", "email": "", "type": "User"}},
    "repository": {
        "key": "full_name", "natural": True, "links": {"owner": "account", "parent": "repository"},
        "fields": {
            "id": 0, "owner": "", "name": "", "description": "", "language": "", "topics": [], "private": False,
            "fork": False, "parent": None, "archived": False, "default_branch": "main", "stargazers_count": 0,
            "created_at": "", "updated_at": "", "last_number": 0,
        },
    },
    "branch": {
        "key": "ref", "natural": True, "links": {"repository": "repository", "sha": "commit"},
        "fields": {"repository": "", "name": "", "sha": "", "protected": False},
    },
    "tag": {
        "key": "ref", "natural": True, "links": {"repository": "repository", "sha": "commit"},
        "fields": {"repository": "", "name": "", "sha": ""},
    },
    "release": {
        "ids": 181000001, "links": {"repository": "repository", "author": "account"},
        "fields": {"repository": "", "tag_name": "", "name": "", "body": "", "author": "", "published_at": ""},
    },
    "commit": {
        "key": "sha", "natural": True, "links": {"author": "account"},
        "fields": {"message": "", "author": "", "date": "", "parents": [], "tree": {}},
    },
    "blob": {"key": "sha", "natural": True, "fields": {"content": ""}},
    "label": {
        "ids": 7100000001, "links": {"repository": "repository"},
        "fields": {"repository": "", "name": "", "color": "ededed", "description": ""},
    },
    "issue": {
        "ids": 2400000001, "links": {"repository": "repository", "user": "account", "closed_by": "account"},
        "fields": {
            "repository": "", "number": 0, "title": "", "body": "", "state": "open", "state_reason": None,
            "user": "", "labels": [], "assignees": [], "milestone": None, "created_at": "", "updated_at": "",
            "closed_at": None, "closed_by": None,
        },
    },
    "pull_request": {
        "ids": 1900000001, "links": {
            "repository": "repository", "head_repository": "repository", "user": "account", "merged_by": "account",
        },
        "fields": {
            "repository": "", "number": 0, "title": "", "body": "", "state": "open", "draft": False, "user": "",
            "labels": [], "assignees": [], "requested_reviewers": [], "head_repository": "", "head": "", "base": "",
            "head_sha": "", "base_sha": "", "merged": False, "merged_by": None, "merge_commit_sha": None,
            "created_at": "", "updated_at": "", "closed_at": None, "merged_at": None,
        },
    },
    "comment": {
        "ids": 2600000001, "links": {"repository": "repository", "user": "account"},
        "fields": {"repository": "", "number": 0, "user": "", "body": "", "created_at": "", "updated_at": ""},
    },
    "review": {
        "ids": 2800000001, "links": {"pull_request": "pull_request", "user": "account"},
        "fields": {
            "pull_request": {"type": "integer"}, "user": "", "state": "PENDING", "body": "", "commit_id": "",
            "submitted_at": None,
        },
    },
}
# fmt: on

STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}

other_versions = {
    "arguments": {"q": "query", "per_page": "perPage", "pull_number": "pullNumber", "commit_id": "commitID"},
    "tools": {
        "get_issue": {"as": "issue_read", "with": {"method": "get"}},
        "get_issue_comments": {"as": "issue_read", "with": {"method": "get_comments"}},
        "create_issue": {"as": "issue_write", "with": {"method": "create"}, "verb": "create"},
        "update_issue": {"as": "issue_write", "with": {"method": "update"}, "verb": "update"},
        "get_pull_request": {"as": "pull_request_read", "with": {"method": "get"}},
        "get_pull_request_diff": {"as": "pull_request_read", "with": {"method": "get_diff"}},
        "get_pull_request_files": {"as": "pull_request_read", "with": {"method": "get_files"}},
        "get_pull_request_status": {"as": "pull_request_read", "with": {"method": "get_status"}},
        "get_pull_request_reviews": {"as": "pull_request_read", "with": {"method": "get_reviews"}},
        "get_pull_request_comments": {"as": "pull_request_read", "with": {"method": "get_comments"}},
        "create_pull_request_review": {"as": "pull_request_review_write", "with": {"method": "create"}},
        "create_pending_pull_request_review": {"as": "pull_request_review_write", "with": {"method": "create"}},
        "create_and_submit_pull_request_review": {"as": "pull_request_review_write", "with": {"method": "create"}},
        "submit_pending_pull_request_review": {"as": "pull_request_review_write", "with": {"method": "submit_pending"}},
        "delete_pending_pull_request_review": {"as": "pull_request_review_write", "with": {"method": "delete_pending"}},
    },
}


@initial
def begin(given, world):
    fill(given or {}, world)


# who, and repositories ------------------------------------------------------------------------------------------------


@tool
def get_me(world):
    login = world.me["login"]
    account = world.account.get(login)
    repositories = world.repository.find(owner=login)
    public = sum(not row["private"] for row in repositories)
    details = {"name": account["name"], "email": account["email"], "public_repos": public}
    return {**user_view(world, login), "details": details | {"total_private_repos": len(repositories) - public}}


@tool
def search_repositories(world, query, page=1, perPage=30, order="desc", sort=None, minimal_output=True):
    words, wanted = parsed(query)
    fields = ("name", "description", "topics", "full_name")
    rows = [
        row
        for row in world.repository
        if contains(row, words, fields)
        and wanted.get("user", wanted.get("org", row["owner"])) == row["owner"]
        and wanted.get("repo", row["full_name"]) == row["full_name"]
        and wanted.get("language", row["language"]).lower() == row["language"].lower()
        and wanted.get("topic", "") in ("", *row["topics"])
        and wanted.get("archived", str(row["archived"]).lower()) == str(row["archived"]).lower()
    ]
    views = [repository_view(world, row) for row in rows]
    by = {"stars": "stargazers_count", "forks": "forks_count", "updated": "updated_at"}.get(sort, "stargazers_count")
    views.sort(key=lambda view: view[by], reverse=order != "asc")
    if not minimal_output:
        owners = {view["full_name"]: user_view(world, view["full_name"].partition("/")[0]) for view in views}
        views = [view | {"owner": owners[view["full_name"]], "clone_url": f"{view['html_url']}.git"} for view in views]
    return found(views, page, perPage)


@tool
def create_repository(world, name, description="", private=True, autoInit=False, organization=None):
    owner = organization or world.me["login"]
    path = f"orgs/{organization}/repos" if organization else "user/repos"
    if owner not in world.account:
        raise refused("create repository", "POST", path, "404 Not Found []")
    if f"{owner}/{name}" in world.repository:
        message = "[{Resource:Repository Field:name Code:custom Message:name already exists on this account}]"
        raise refused("create repository", "POST", path, f"422 Repository creation failed. {message}")
    row = new_repository(world, owner, name, description=description, private=private)
    if autoInit:
        branch = new_branch(world, row, "main", "")
        commit_to(world, branch, "Initial commit", {"README.md": f"# {name}\n{description}".rstrip() + "\n"})
    return created(row, row["full_name"])


@tool
def fork_repository(world, owner, repo, organization=None):
    parent = known_repository(world, owner, repo, "fork repository", "/forks", "POST")
    target = organization or world.me["login"]
    known = world.repository.get(f"{target}/{repo}")
    if known is not None:
        return created(known, known["full_name"])
    names = ("description", "language", "topics", "default_branch")
    row = new_repository(world, target, repo, fork=True, parent=parent["full_name"], **{n: parent[n] for n in names})
    for branch in world.branch.find(repository=parent["full_name"]):
        new_branch(world, row, branch["name"], branch["sha"])
    return created(row, row["full_name"])


def new_repository(world, owner, name, **fields):
    date = stamp(world.now)
    ident = world.random.randrange(10**8, 10**9)
    named = {"full_name": f"{owner}/{name}", "id": ident, "owner": owner, "name": name}
    return world.repository.add(fields, **named, created_at=date, updated_at=date)


def new_branch(world, repository, name, sha):
    full = repository["full_name"]
    return world.branch.add(ref=f"{full}:{name}", repository=full, name=name, sha=sha)


@tool
def list_branches(world, owner, repo, page=1, perPage=30):
    repository = known_repository(world, owner, repo, "list branches", "/branches")
    rows = paged(world.branch, world.branch.find(repository=repository["full_name"]), page, perPage, sort="name")
    return [{name: row[name] for name in ("name", "sha", "protected")} for row in rows]


@tool
def create_branch(world, owner, repo, branch, from_branch=None):
    repository = known_repository(world, owner, repo, "get repository")
    start = from_branch or repository["default_branch"]
    source = known_branch(world, repository, start, "get reference", f"git/ref/heads/{start}")
    if f"{owner}/{repo}:{branch}" in world.branch:
        path = f"repos/{owner}/{repo}/git/refs"
        raise refused("create branch", "POST", path, "422 Reference already exists []")
    row = new_branch(world, repository, branch, source["sha"])
    url = f"{API}/repos/{owner}/{repo}/git"
    target = {"type": "commit", "sha": row["sha"], "url": f"{url}/commits/{row['sha']}"}
    return {"ref": f"refs/heads/{branch}", "url": f"{url}/refs/heads/{branch}", "object": target}


@tool
def list_tags(world, owner, repo, page=1, perPage=30):
    repository = known_repository(world, owner, repo, "list tags", "/tags")
    rows = paged(world.tag, world.tag.find(repository=repository["full_name"])[::-1], page, perPage)
    return [{"name": row["name"], "sha": row["sha"]} for row in rows]


@tool
def list_releases(world, owner, repo, page=1, perPage=30):
    repository = known_repository(world, owner, repo, "list releases", "/releases")
    rows = world.release.find(repository=repository["full_name"])[::-1]
    return [release_view(world, row) for row in paged(world.release, rows, page, perPage)]


@tool
def get_latest_release(world, owner, repo):
    repository = known_repository(world, owner, repo, "get latest release", "/releases/latest")
    rows = world.release.find(repository=repository["full_name"])
    if not rows:
        raise refused("get latest release", "GET", f"repos/{owner}/{repo}/releases/latest", "404 Not Found []")
    return release_view(world, rows[-1])


# files and commits ----------------------------------------------------------------------------------------------------


@tool
def get_file_contents(world, owner, repo, path="/", ref=None, sha=None):
    repository = known_repository(world, owner, repo, "resolve git reference")
    commit = resolve(world, repository, sha or ref)
    if commit is None:
        raise Refused(f"failed to resolve git reference: could not resolve ref {(sha or ref)!r} as a branch or a tag")
    path = path.strip("/")
    if path not in commit["tree"]:
        return folder_view(world, repository, commit, path)
    blob = world.blob.get(commit["tree"][path])
    at = f"sha/{sha}/" if sha else f"refs/heads/{(ref or repository['default_branch']).removeprefix('refs/heads/')}/"
    resource = {"uri": f"repo://{owner}/{repo}/{at}contents/{path}", "mimeType": "text/plain; charset=utf-8"}
    text = f"successfully downloaded text file (SHA: {blob['sha']})"
    contents = {"type": "resource", "resource": resource | {"text": blob["content"]}}
    return Result(blocks=[{"type": "text", "text": text}, contents])


@tool(verb="update", entity="branch")
def create_or_update_file(world, owner, repo, path, content, message, branch, sha=None):
    repository = known_repository(world, owner, repo, "create/update file", f"/contents/{path}", "PUT")
    at, status = f"contents/{path}", f"404 Branch {branch} not found []"
    row = known_branch(world, repository, branch, "create/update file", at, "PUT", status)
    known = world.commit.get(row["sha"])["tree"].get(path) if row["sha"] else None
    if known != sha:
        why = (
            '422 Invalid request.\n\n"sha" wasn\'t supplied. []'
            if sha is None
            else f"409 {path} does not match {sha} []"
        )
        raise refused("create/update file", "PUT", f"repos/{owner}/{repo}/{at}", why)
    commit = commit_to(world, row, message, {path: content})
    new = {"name": path.rpartition("/")[2], "path": path, "sha": commit["tree"][path], "size": len(content.encode())}
    url = f"{WEB}/{owner}/{repo}/blob/{branch}/{path}"
    return {"content": new | {"html_url": url}, "commit": short_commit(world, repository, commit)}


@tool(verb="update", entity="branch")
def delete_file(world, owner, repo, path, message, branch):
    repository = known_repository(world, owner, repo, "get branch reference", f"/git/ref/heads/{branch}")
    row = known_branch(world, repository, branch, "get branch reference", f"git/ref/heads/{branch}")
    if path not in world.commit.get(row["sha"])["tree"]:
        raise refused("create tree", "POST", f"repos/{owner}/{repo}/git/trees", "422 GitRPC::BadObjectState []")
    return {"commit": short_commit(world, repository, commit_to(world, row, message, {path: None})), "content": None}


@tool(verb="update", entity="branch")
def push_files(world, owner, repo, branch, files, message):
    repository = known_repository(world, owner, repo, "get branch reference", f"/git/ref/heads/{branch}")
    row = known_branch(world, repository, branch, "get branch reference", f"git/ref/heads/{branch}")
    commit = commit_to(world, row, message, {file["path"]: file["content"] for file in files})
    url = f"{API}/repos/{owner}/{repo}/git"
    target = {"type": "commit", "sha": commit["sha"], "url": f"{url}/commits/{commit['sha']}"}
    return {"ref": f"refs/heads/{branch}", "url": f"{url}/refs/heads/{branch}", "object": target}


@tool
def list_commits(world, owner, repo, sha=None, author=None, path=None, since="", until="", page=1, perPage=30):
    repository = known_repository(world, owner, repo, "list commits", "/commits")
    start = resolve(world, repository, sha)
    if start is None:
        raise refused("list commits", "GET", f"repos/{owner}/{repo}/commits", "404 Not Found []")
    rows = [
        row
        for row in history(world, start["sha"])
        if author in (None, row["author"], world.account.get(row["author"])["email"])
        and (path is None or row["tree"].get(path) != tree_before(world, row).get(path))
        and row["date"] >= since
        and row["date"] <= (until or row["date"])
    ]
    return [commit_view(world, repository, row) for row in paged(world.commit, rows, page, perPage)]


@tool
def get_commit(world, owner, repo, sha, detail="stats", page=1, perPage=30):
    repository = known_repository(world, owner, repo, "get commit", f"/commits/{sha}")
    commit = resolve(world, repository, sha)
    if commit is None:
        raise refused(
            "get commit", "GET", f"repos/{owner}/{repo}/commits/{sha}", f"422 No commit found for SHA: {sha} []"
        )
    view = commit_view(world, repository, commit)
    if detail == "none":
        return view
    files = changed_files(world, tree_before(world, commit), commit["tree"])
    stats = {name: sum(file[name] for file in files) for name in ("additions", "deletions")}
    if detail != "full_patch":
        files = [{name: value for name, value in file.items() if name != "patch"} for file in files]
    start = (int(page) - 1) * int(perPage)
    return view | {"stats": stats | {"total": sum(stats.values())}, "files": files[start : start + int(perPage)]}


@tool(reads=True, entity="commit")
def search_code(world, query, page=1, perPage=30):
    words, wanted = parsed(query)
    items = []
    for repository in world.repository:
        full, head = repository["full_name"], resolve(world, repository, None)
        if (
            wanted.get("repo", full) != full
            or wanted.get("org", wanted.get("user", full.partition("/")[0])) != full.partition("/")[0]
        ):
            continue
        for path, sha in (head["tree"] if head else {}).items():
            content, name = world.blob.get(sha)["content"], path.rpartition("/")[2]
            if (
                all(word in f"{path}\n{content}".lower() for word in words)
                and path.startswith(wanted.get("path", ""))
                and name == wanted.get("filename", name)
                and path.endswith(wanted.get("extension", ""))
                and wanted.get("language", repository["language"]).lower() == repository["language"].lower()
            ):
                items.append({"name": name, "path": path, "sha": sha, "repository": full})
    return found(items, page, perPage)


# issues ---------------------------------------------------------------------------------------------------------------


@tool
def list_issues(
    world, owner, repo, state=None, labels=(), orderBy="CREATED_AT", direction="DESC", since="", after=None, perPage=30
):
    full = known_repository(world, owner, repo, "list issues")["full_name"]
    rows = [
        row
        for row in world.issue.find(repository=full)
        if row["state"] == (state or row["state"]).lower()
        and (not labels or {*labels} & {*row["labels"]})
        and row["updated_at"] >= since
    ]
    orders = {"COMMENTS": lambda row: len(comments_of(world, row)), "UPDATED_AT": lambda row: row["updated_at"]}
    order = orders.get(orderBy, lambda row: row["number"])
    page = world.issue.page(rows, limit=int(perPage), cursor=after, sort=order, descending=direction == "DESC")
    more = {"hasNextPage": page.more, "hasPreviousPage": page.offset > 0}
    issues = [issue_view(world, row) | {"state": row["state"].upper()} for row in page.rows]
    return {"issues": issues, "totalCount": page.total, "pageInfo": more | lean(endCursor=page.cursor)}


@tool
def issue_read(world, method, owner, repo, issue_number, page=1, perPage=30):
    row = numbered(world, world.issue, owner, repo, issue_number, "get issue", "issues")
    if method == "get":
        return issue_view(world, row)
    if method == "get_comments":
        return [
            comment_view(world, comment) for comment in paged(world.comment, comments_of(world, row), page, perPage)
        ]
    if method == "get_labels":
        labels = [label for label in world.label.find(repository=row["repository"]) if label["name"] in row["labels"]]
        return {"labels": [label_view(label) for label in labels], "totalCount": len(labels)}
    return []


@tool(verb="create", entity="issue")
def issue_write(
    world,
    method,
    owner,
    repo,
    issue_number=None,
    title=None,
    body=None,
    labels=None,
    assignees=None,
    milestone=None,
    state=None,
    state_reason=None,
):
    given = {"title": title, "body": body, "labels": labels, "assignees": assignees, "milestone": milestone}
    given = {name: value for name, value in given.items() if value is not None}
    if method == "create":
        if not title:
            raise Refused("missing required parameter: title")
        repository = known_repository(world, owner, repo, "create issue", "/issues", "POST")
        check_assignees(world, assignees, "create issue", f"repos/{owner}/{repo}/issues")
        row = open_issue(world, repository, title, body or "", world.me["login"], world.now)
    else:
        if issue_number is None:
            raise Refused("missing required parameter: issue_number")
        row = numbered(world, world.issue, owner, repo, issue_number, "update issue", "issues", "PATCH")
        check_assignees(world, assignees, "update issue", f"repos/{owner}/{repo}/issues/{row['number']}")
        row["updated_at"] = stamp(world.now)
        if state == "closed" and row["state"] == "open":
            close(row, world.me["login"], stamp(world.now), state_reason or "completed")
        elif state == "open" and row["state"] == "closed":
            row.update(state="open", state_reason="reopened", closed_at=None, closed_by=None)
    row.update(given)
    add_labels(world, world.repository.get(row["repository"]), labels)
    return created(row, f"{owner}/{repo}/issues/{row['number']}")


@tool
def add_issue_comment(world, owner, repo, issue_number, body=None):
    if not body:
        raise Refused("missing required parameter: body")
    full = known_repository(world, owner, repo, "create comment", f"/issues/{int(issue_number)}/comments", "POST")[
        "full_name"
    ]
    rows = [
        *world.issue.find(repository=full, number=int(issue_number)),
        *world.pull_request.find(repository=full, number=int(issue_number)),
    ]
    if not rows:
        raise refused("create comment", "POST", f"repos/{full}/issues/{int(issue_number)}/comments", "404 Not Found []")
    comment = add_comment(world, rows[0], world.me["login"], body, world.now)
    return {"id": str(comment["id"]), "url": comment_view(world, comment)["html_url"]}


@tool
def search_issues(world, query, owner=None, repo=None, sort=None, order="desc", page=1, perPage=30):
    return search_subjects(world, world.issue, query, owner, repo, sort, order, page, perPage)


@tool(key="name")
def get_label(world, owner, repo, name):
    full = known_repository(world, owner, repo, "get label")["full_name"]
    rows = world.label.find(repository=full, name=name)
    if not rows:
        raise Refused(f"label '{name}' not found in {owner}/{repo}")
    return label_view(rows[0])


# pull requests --------------------------------------------------------------------------------------------------------


@tool
def create_pull_request(world, owner, repo, title, head, base, body="", draft=False, reviewers=()):
    repository = known_repository(world, owner, repo, "create pull request", "/pulls", "POST")
    path = f"repos/{owner}/{repo}/pulls"
    login, _, name = head.rpartition(":")
    source = world.repository.get(f"{login}/{repo}") if login else repository
    branch = world.branch.get(f"{source['full_name']}:{name}") if source else None
    target = world.branch.get(f"{owner}/{repo}:{base}")
    for field, row in (("head", branch), ("base", target)):
        if row is None:
            errors = f"[{{Resource:PullRequest Field:{field} Code:invalid Message:}}]"
            raise refused("create pull request", "POST", path, f"422 Validation Failed {errors}")
    full = repository["full_name"]
    if world.pull_request.find(
        repository=full, head=name, head_repository=source["full_name"], base=base, state="open"
    ):
        message = f"A pull request already exists for {source['owner']}:{name}."
        raise invalid("create pull request", path, "PullRequest", "", message)
    if branch["sha"] in {commit["sha"] for commit in history(world, target["sha"])}:
        raise invalid("create pull request", path, "PullRequest", "", f"No commits between {base} and {name}")
    row = open_pull(world, repository, source, branch, target, title, body, draft, world.me["login"], world.now)
    row["requested_reviewers"] = [*reviewers]
    return created(row, f"{full}/pull/{row['number']}")


@tool
def list_pull_requests(
    world, owner, repo, state="open", head=None, base=None, sort="created", direction="desc", page=1, perPage=30
):
    full = known_repository(world, owner, repo, "list pull requests", "/pulls")["full_name"]
    rows = [
        row
        for row in world.pull_request.find(repository=full)
        if state in ("all", row["state"])
        and base in (None, row["base"])
        and head in (None, row["head"], f"{row['head_repository'].partition('/')[0]}:{row['head']}")
    ]
    order = "updated_at" if sort == "updated" else "number"
    shown = paged(world.pull_request, rows, page, perPage, sort=order, descending=direction == "desc")
    return [pull_view(world, row) for row in shown]


@tool(reads=True, key="pullNumber")
def pull_request_read(world, method, owner, repo, pullNumber, page=1, perPage=30):
    row = numbered(world, world.pull_request, owner, repo, pullNumber, "get pull request", "pulls")
    view = pull_view(world, row)
    start = (int(page) - 1) * int(perPage)
    shown = slice(start, start + int(perPage))
    if method == "get":
        return view
    if method == "get_files":
        return pull_files(world, row)[shown]
    if method == "get_diff":
        parts = (
            "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n{1}\n".format(f["filename"], f["patch"])
            for f in pull_files(world, row)
        )
        return "".join(parts)
    if method == "get_commits":
        repository = world.repository.get(row["head_repository"])
        return [short_commit(world, repository, commit) for commit in pull_commits(world, row)[shown]]
    if method == "get_reviews":
        rows = world.review.find(pull_request=row["id"])
        return [review_view(world, row, review) for review in rows if review["state"] != "PENDING"][shown]
    if method == "get_comments":
        return [comment_view(world, comment) for comment in comments_of(world, row)[shown]]
    if method == "get_status":
        return {"state": "pending", "sha": row["head_sha"], "total_count": 0, "statuses": []}
    if method == "get_check_runs":
        return {"total_count": 0, "check_runs": []}
    more = {"hasNextPage": False, "hasPreviousPage": False}
    return {"review_threads": [], "totalCount": 0, "pageInfo": more}


@tool(verb="update", entity="pull_request", key="pullNumber")
def update_pull_request(
    world, owner, repo, pullNumber, title=None, body=None, state=None, draft=None, base=None, reviewers=None
):
    what, at = "update pull request", f"repos/{owner}/{repo}/pulls/{int(pullNumber)}"
    row = numbered(world, world.pull_request, owner, repo, pullNumber, what, "pulls", "PATCH")
    if base is not None and f"{owner}/{repo}:{base}" not in world.branch:
        raise refused(
            what, "PATCH", at, "422 Validation Failed [{Resource:PullRequest Field:base Code:invalid Message:}]"
        )
    if row["merged"] and state == "open":
        raise refused(
            what, "PATCH", at, "422 Validation Failed [{Resource:PullRequest Field:state Code:invalid Message:}]"
        )
    given = {
        "title": title,
        "body": body,
        "state": state,
        "draft": draft,
        "base": base,
        "requested_reviewers": reviewers,
    }
    if state == "closed":
        row["base_sha"], row["head_sha"] = tips(world, row)
    row.update({name: value for name, value in given.items() if value is not None}, updated_at=stamp(world.now))
    if state is not None and not row["merged"]:
        row["closed_at"] = stamp(world.now) if state == "closed" else None
    return created(row, f"{owner}/{repo}/pull/{row['number']}")


@tool(verb="update", entity="pull_request", key="pullNumber")
def merge_pull_request(world, owner, repo, pullNumber, merge_method="merge", commit_title=None, commit_message=None):
    what, at = "merge pull request", f"repos/{owner}/{repo}/pulls/{int(pullNumber)}/merge"
    row = numbered(world, world.pull_request, owner, repo, pullNumber, what, "pulls", "PUT")
    commit = None
    if row["state"] == "open" and not row["draft"]:
        commit = merge(world, row, merge_method, commit_title, commit_message)
    if commit is None:
        why = "Pull Request is still a draft" if row["draft"] else "Pull Request is not mergeable"
        raise refused(what, "PUT", at, f"405 {why} []")
    return {"sha": commit["sha"], "merged": True, "message": "Pull Request successfully merged"}


@tool
def pull_request_review_write(world, method, owner, repo, pullNumber, body="", event=None, commitID=None):
    row = numbered(world, world.pull_request, owner, repo, pullNumber, "get pull request", "pulls")
    me = world.me["login"]
    pending = [review for review in world.review.find(pull_request=row["id"], user=me) if review["state"] == "PENDING"]
    if method == "create":
        if event == "APPROVE" and row["user"] == me:
            raise Refused("Review Can not approve your own pull request")
        fields = {"state": STATES[event], "submitted_at": stamp(world.now)} if event else {}
        head = tips(world, row)[1]
        world.review.add(fields, pull_request=row["id"], user=me, body=body, commit_id=commitID or head)
        return "pull request review submitted successfully" if event else "pending pull request created"
    if method in ("resolve_thread", "unresolve_thread"):
        raise Refused("threadId is required for resolve_thread and unresolve_thread methods")
    if not pending:
        raise Refused("No pending review found for the viewer")
    if method == "delete_pending":
        world.review.delete(pending[0])
        return "pending pull request review successfully deleted"
    pending[0].update(state=STATES[event or "COMMENT"], submitted_at=stamp(world.now), body=body or pending[0]["body"])
    return "pending pull request review successfully submitted"


@tool
def search_pull_requests(world, query, owner=None, repo=None, sort=None, order="desc", page=1, perPage=30):
    return search_subjects(world, world.pull_request, query, owner, repo, sort, order, page, perPage)


@tool
def search_users(world, query, page=1, perPage=30):
    words, wanted = parsed(query)
    kind = {"org": "Organization"}.get(wanted.get("type"), "User")
    rows = [row for row in world.account if row["type"] == kind and contains(row, words, ("login", "name", "email"))]
    return found([user_view(world, row["login"]) for row in rows], page, perPage)
