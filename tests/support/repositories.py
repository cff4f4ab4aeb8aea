"""Tools that work on a repository, with the names of vendors, and the repository of their world."""

from __future__ import annotations

import re

from support.matched_tools import TEXT, Json, tool

TEXTS: Json = {"type": "array", "items": TEXT}
NUMBER: Json = {"type": "integer"}
FLAG: Json = {"type": "boolean"}
REPO: Json = {"repo_path": TEXT}
GIT = [
    tool("git_status", "Shows the working tree status", **REPO),
    tool("git_diff_unstaged", "Shows changes that are not staged", **REPO),
    tool("git_diff_staged", "Shows changes that are staged", **REPO),
    tool("git_diff", "Shows differences between branches or commits", **REPO, target=TEXT),
    tool("git_add", "Adds file contents to the staging area", **REPO, files=TEXTS),
    tool("git_reset", "Unstages all staged changes", **REPO),
    tool("git_commit", "Records changes to the repository", **REPO, message=TEXT),
    tool("git_log", "Shows the commit logs", needed="repo_path", **REPO, max_count=NUMBER, oneline=FLAG),
    tool("git_show", "Shows the contents of a commit", **REPO, revision=TEXT),
    tool("git_create_branch", "Creates a branch", needed="branch_name", **REPO, branch_name=TEXT, base_branch=TEXT),
    tool("git_checkout", "Switches branches", **REPO, branch_name=TEXT),
    tool("git_branch", "List branches", **REPO, branch_type=TEXT),
    tool("git_merge", "Merges a branch", **REPO, branch=TEXT),
    tool("git_delete_branch", "Deletes a branch", needed="repo_path branch", **REPO, branch=TEXT, force=FLAG),
    tool("git_init", "Makes a repository", **REPO),
]  # fmt: skip
FILES = [
    tool("read_file", "Reads a file", path=TEXT),
    tool("write_file", "Writes a file", path=TEXT, content=TEXT),
    tool("list_directory", "Lists a directory", path=TEXT),
]
FIRST, SECOND = "1" * 40, "2" * 40
ANN = {"author": "Ann Vos <ann@example.com>"}
STATE: Json = {
    "files": {"/repo/a.txt": "one\ntwo\n", "/repo/src/b.py": "b = 1\n"},
    "branches": {"main": SECOND, "old": FIRST},
    "commits": [
        {"sha": SECOND, "message": "Second", **ANN, "date": "2029-05-02T10:00:00Z"},
        {"sha": FIRST, "message": "Initial commit", **ANN, "date": "2029-05-01T10:00:00Z"},
    ],
}  # fmt: skip
HERE: Json = {"repo_path": "/repo"}


def hash_of(text: str) -> str:
    match = re.search(r"\b[0-9a-f]{40}\b", text)
    assert match is not None, text
    return match[0]


def shown(**parts: Json) -> Json:
    return {"type": "object", "properties": parts, "required": list(parts)}


CAMEL = [
    tool("getStatus", "The state of the git repository", needed="",
         output=shown(currentBranch=TEXT, staged=TEXTS, modified=TEXTS, clean=FLAG)),
    tool("stageFiles", "Stages files", paths=TEXTS),
    tool("unstageFiles", "Unstages files", paths=TEXTS),
    tool("commitChanges", "Commits what is staged", message=TEXT,
         output=shown(commitHash=TEXT, branch=TEXT)),
    tool("getCommitHistory", "The commits of the git repository", needed="", limit=NUMBER,
         output=shown(commits={"type": "array", "items": shown(sha=TEXT, message=TEXT, author=TEXT)})),
    tool("listBranches", "The branches", needed="",
         output=shown(branches=TEXTS, current=TEXT)),
    tool("switchBranch", "Another branch", needed="branchName", branchName=TEXT, create=FLAG),
    tool("stash", "Puts changes of the working tree aside", needed="action", action={"enum": ["push", "pop", "list"]}),
    tool("gitTag", "Tags of the repository", needed="mode", mode={"enum": ["create", "list", "delete"]}, tagName=TEXT),
    tool("checkout", "Another branch", needed="branchOrPath", branchOrPath=TEXT, newBranch=TEXT),
    tool("gitReset", "Resets the current branch", needed="mode", mode={"enum": ["soft", "mixed", "hard"]}, commit=TEXT),
]  # fmt: skip
