"""Match tools to operations on a repository with a working tree.

Evidence: words like `stage`, `commit`, `branch` in names of any style, arguments like `repo_path` and `branch_name`,
and all tools together, since a hosting service has no working tree. Tools that require the owner of a repository
(`owner`, `workspace`, `project_id`) never match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.git.entities import COMMIT
from mcp_sim.backends.matching.operations import OperationCall
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan, Verb

VERBS: Mapping[str, Verb] = {
    "status": "get", "stage": "update", "unstage": "update", "commit": "create", "log": "list", "show": "get",
    "diff": "get", "diff_staged": "get", "diff_unstaged": "get", "branches": "list", "branch": "create",
    "current_branch": "get", "create_branch": "create", "delete_branch": "delete", "rename_branch": "update",
    "checkout": "update", "reset": "update", "restore": "update", "init": "create", "merge": "update",
    "stash": "create", "stash_pop": "update", "stash_apply": "update", "stash_drop": "delete", "stash_list": "list",
    "push": "update", "pull": "update", "fetch": "update", "remote": "update", "remotes": "list",
    "add_remote": "create", "remove_remote": "delete", "rename_remote": "update",
    "place_remote": "update", "show_remote": "get", "tags": "list", "tag": "create", "create_tag": "create",
    "delete_tag": "delete", "blame": "get", "reflog": "list", "cherry_pick": "create", "revert": "create",
    "clean": "delete", "enter": "update", "leave": "update", "worktrees": "list", "add_worktree": "create",
    "remove_worktree": "delete",
}  # fmt: skip
"""Operation -> its verb in plans."""

_REPOSITORY = ("repo_path", "repository_path", "repo_dir", "repository", "repo", "working_dir", "working_directory",
               "work_dir", "project_path", "git_dir", "cwd")  # fmt: skip
_PLACES = ("path", "directory", "dir", "folder", "root")
_REVISIONS = ("revision", "commit", "rev", "ref", "commit_hash", "commit_sha", "commit_id", "sha", "hash", "object",
              "target", "treeish", "commitish", "branch", "branch_name")  # fmt: skip
_BASES = ("base_branch", "base", "from_branch", "start_point", "starting_point", "from", "from_ref", "source_branch",
          "source", "source_ref", "ref", "revision", "commit")  # fmt: skip
_BRANCHES = ("branch_name", "branch", "name", "branch_or_commit", "branch_or_path", "new_branch", "target_branch",
             "ref", "target")  # fmt: skip

_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "remote": (("remote", "remote_name", "name"), ("string",)),
    "url": (("url", "remote_url"), ("string",)),
    "files": (("files", "file_paths", "paths", "filenames", "pathspec", "pathspecs", "file", "file_path", "filepath",
               "filename", "path", "pattern"), ("string", "strings")),
    "all": (("all", "all_files", "stage_all", "add_all", "a"), ("boolean",)),
    "message": (("message", "commit_message", "msg", "description"), ("string",)),
    "grep": (("grep", "search", "message_filter", "message_contains", "search_term", "query"), ("string",)),
    "amend": (("amend",), ("boolean",)),
    "allow_empty": (("allow_empty",), ("boolean",)),
    "author": (("author", "author_name", "committer"), ("string", "object")),
    "email": (("author_email", "email"), ("string",)),
    "count": (("max_count", "limit", "count", "n", "max_commits", "num_commits", "number", "max_results"), ()),
    "skip": (("skip", "offset"), ()),
    "oneline": (("oneline", "one_line", "short", "compact", "brief"), ("boolean",)),
    "format": (("format", "pretty"), ("string",)),
    "since": (("start_timestamp", "since", "after", "start_date"), ("string",)),
    "until": (("end_timestamp", "until", "before", "end_date"), ("string",)),
    "revision": (_REVISIONS, ("string",)),
    "from": (("base", "from", "from_ref", "commit_1", "commit_a", "ref_1", "rev_1", "source", "target_1", "base_ref",
              "from_commit", "base_branch", "source_branch", "base_commit", "branch_1", "old"), ("string",)),
    "to": (("head", "to", "to_ref", "commit_2", "commit_b", "ref_2", "rev_2", "target_2", "compare", "head_ref",
            "to_commit", "head_branch", "compare_branch", "target_branch", "target_commit", "branch_2", "target",
            "new"), ("string",)),
    "staged": (("staged", "cached"), ("boolean",)),
    "branch": (_BRANCHES, ("string",)),
    "base": (_BASES, ("string",)),
    "merged": (("source_branch", "source", "from_branch", "branch_name", "branch", "name", "ref", "commit", "target"),
               ("string",)),
    "into": (("target_branch", "into", "to_branch", "target", "destination_branch"), ("string",)),
    "old_name": (("old_name", "old_branch", "old_branch_name", "from", "branch_name", "branch"), ("string",)),
    "new_name": (("new_name", "new_branch", "new_branch_name", "to"), ("string",)),
    "create": (("create", "create_branch", "create_new", "new_branch", "b", "create_if_missing"), ("boolean",)),
    "new": (("new_branch", "new_branch_name", "create_branch"), ("string",)),
    "checkout": (("checkout", "switch"), ("boolean",)),
    "delete": (("delete",), ("boolean",)),
    "force": (("force",), ("boolean",)),
    "kind": (("branch_type", "type", "scope"), ("string",)),
    "mode": (("mode", "reset_type", "type", "reset_mode"), ("string",)),
    "hard": (("hard",), ("boolean",)),
    "soft": (("soft",), ("boolean",)),
    "tag": (("tag_name", "tag", "name"), ("string",)),
    "names": (("name_only", "names_only"), ("boolean",)),
    "file": (("file_path", "filepath", "file", "file_name", "filename", "path"), ("string",)),
    "first": (("start_line", "line_start", "from_line", "start"), ()),
    "last": (("end_line", "line_end", "to_line", "end"), ()),
    "commits": (("commits", "commit_hashes", "commit", "commit_hash", "commit_sha", "commit_id", "hash", "sha", "ref",
                 "revision"), ("string", "strings")),
    "dry": (("dry_run", "preview"), ("boolean",)),
    "worktree": (("worktree_path", "path", "directory", "location"), ("string",)),
    "index": (("stash_index", "index", "stash_ref", "stash_id", "stash", "ref"), ()),
}  # fmt: skip
"""Role -> the names of arguments that have it, and their types."""

_NEEDS: Mapping[str, str] = {
    "status": "", "stage": "files all", "unstage": "files all", "restore": "files staged all",
    "commit": "message files all amend allow_empty author email", "init": "",
    "log": "count skip oneline format since until files author grep revision", "show": "revision",
    "blame": "file first last revision", "reflog": "count revision", "cherry_pick": "commits", "revert": "commits",
    "clean": "dry force", "enter": "", "leave": "", "worktrees": "", "add_worktree": "worktree branch revision",
    "remove_worktree": "worktree force", "diff": "from to staged files revision names",
    "diff_staged": "files", "diff_unstaged": "files", "branches": "kind",
    "branch": "branch base delete kind force", "current_branch": "", "create_branch": "branch base checkout force",
    "delete_branch": "branch force", "rename_branch": "new_name old_name", "checkout": "branch create new base force",
    "merge": "merged into message", "reset": "files mode hard soft revision", "stash": "message", "stash_list": "",
    "stash_pop": "index", "stash_apply": "index", "stash_drop": "index", "tags": "",
    "create_tag": "tag revision message", "tag": "tag message revision delete", "delete_tag": "tag",
    "push": "remote branch force", "pull": "remote branch", "fetch": "remote", "remote": "remote url", "remotes": "",
    "add_remote": "remote url", "remove_remote": "remote", "rename_remote": "new_name remote",
    "place_remote": "remote url", "show_remote": "remote",
}  # fmt: skip
_MUST: Mapping[str, str] = {
    "commit": "message", "show": "revision", "create_branch": "branch", "delete_branch": "branch",
    "rename_branch": "new_name", "checkout": "branch", "merge": "merged", "create_tag": "tag", "delete_tag": "tag",
    "blame": "file", "cherry_pick": "commits", "revert": "commits", "add_worktree": "worktree",
    "remove_worktree": "worktree", "restore": "files", "add_remote": "remote url", "remove_remote": "remote",
    "rename_remote": "remote new_name", "place_remote": "remote url",
}  # fmt: skip
_ABOUT: Mapping[str, str] = {
    "stage": "files", "unstage": "files", "restore": "files", "blame": "file", "add_worktree": "worktree",
    "remove_worktree": "worktree",
}  # fmt: skip
"""Operations on something with a path of its own, and the argument for it."""

_OWNERS = vocabulary(
    "owner org organization organisation workspace workspace_slug repo_slug repository_slug project_id project_key "
    "repo_id repository_id repo_name namespace account username group_id repo_full_name"
)
_FILLERS = vocabulary("git repo repository the current working tree directory local file change view run all my from")
_IGNORED = vocabulary("context_lines context timeout reason explanation verbose contains not_contains encoding")

_RULES: tuple[tuple[str, str, str], ...] = (
    ("status", "status", "get show check view"),
    ("diff_unstaged", "diff unstaged", "in get show view"),
    ("diff_staged", "diff staged|cached", "in get show view"),
    ("diff", "diff|difference|compare", "commit branch revision ref between get show view"),
    ("stash_pop", "stash pop", ""), ("stash_apply", "stash apply", ""), ("stash_drop", "stash drop|delete|clear", ""),
    ("stash_list", "stash list|show", ""), ("stash", "stash", "push save create"),
    ("unstage", "unstage", ""),
    ("reset", "reset", "head staged staging area hard soft mixed index commit to branch"),
    ("restore", "restore|discard", "unstaged"),
    ("delete_tag", "tag delete|remove", ""), ("create_tag", "tag create|add|new", ""),
    ("tags", "tag list|get|show", ""),
    ("tag", "tag", ""),
    ("rename_branch", "branch rename", ""), ("delete_branch", "branch delete|remove", ""),
    ("create_branch", "branch create|new|make|add", ""),
    ("checkout", "checkout|switch|change branch|checkout|switch", "to"),
    ("merge", "merge", "branch into"),
    ("current_branch", "branch current|active", "get show name"), ("branches", "branch list|get|show|view", ""),
    ("branch", "branch", ""),
    ("push", "push", "commit branch change remote to origin upstream"),
    ("pull", "pull", "latest change remote origin upstream"), ("fetch", "fetch", "remote origin upstream"),
    ("add_remote", "remote add", "new"), ("remove_remote", "remote remove|delete", ""),
    ("rename_remote", "remote rename", ""), ("place_remote", "remote set|update|change url", ""),
    ("show_remote", "remote get|show url", ""),
    ("remotes", "remote list|get|show", ""), ("remote", "remote", ""),
    ("blame", "blame|annotate", "line"), ("reflog", "reflog", "get show view"),
    ("cherry_pick", "cherry pick", "commit"), ("revert", "revert", "commit change to"),
    ("clean", "clean", "untracked"),
    ("add_worktree", "worktree add|create|new", ""), ("remove_worktree", "worktree remove|delete", ""),
    ("worktrees", "worktree list|get|show", ""),
    ("leave", "clear|unset working|work dir|directory", "session"),
    ("enter", "set|change|use working|work dir|directory", "session default"),
    ("log", "log|history", "commit get show list view recent"),
    ("log", "commit list|recent", "get"),
    ("show", "commit show|get|view|inspect|detail", "info detail content"),
    ("log", "commit get|show|view", ""),
    ("show", "show", "revision object"),
    ("stage", "stage|add", "stage staging area index to"),
    ("commit", "commit", "create make new record staged"),
    ("init", "init|initialize|initialise", "new"),
)  # fmt: skip
"""Operation, the words that must occur (one of each group), and the words that may occur besides."""


def plans_of(listed: Sequence[ToolProfile]) -> list[Plan]:
    """Return the plans of one server's tools that work on a repository; none if the evidence is too weak."""
    found = [(profile, way) for profile in listed for way in matched_operations(profile)]
    operations = {operation for _, (operation, _) in found}
    records, prepares = "commit" in operations, operations & _WORKING_TREE
    mentions = sum(_mentions_git(profile) for profile, _ in found)
    if len(operations) < 3 or not prepares or not (records or "stage" in operations) or mentions * 2 < len(found):
        return []
    plans: dict[str, Plan] = {}
    for profile, (operation, arguments) in found:
        plans.setdefault(profile.tool.id, _plan(profile, operation, arguments, len(operations)))
    return list(plans.values())


_WORKING_TREE = frozenset({"status", "stage", "unstage", "diff_staged", "diff_unstaged", "checkout"})
_MENTIONS = vocabulary("git repo repository branch branches commit commits staged staging revision")


def _mentions_git(profile: ToolProfile) -> bool:
    words = {word for name in profile.arguments for word in snake(name).split("_")}
    named = {*snake(profile.tool.name).split("_"), *profile.description_words, *words}
    return bool(named & _MENTIONS)


def _plan(profile: ToolProfile, operation: str, arguments: Mapping[str, str], kinds: int) -> Plan:
    reasons = (
        f"'{' '.join(profile.words)}' means {operation} of a repository",
        f"{kinds} kinds of tools work on a repository",
    )
    verb = VERBS[operation]
    if profile.selector is not None:
        verb, operation, arguments = "update", "", {"operation": profile.selector}
    return Plan(profile.tool.id, verb, COMMIT, "git", operation, dict(arguments), confidence=0.95, reasons=reasons)


def matched_operations(profile: ToolProfile) -> Iterator[OperationCall]:
    """Yield the operation of a tool on a repository, if it has one."""
    if not any(snake(name) in _OWNERS for name in profile.arguments):
        candidates = ((one, _arguments(profile, one)) for one in _possible(profile))
        yield from [way for way in candidates if _understands(profile, *way)][:1]


def _understands(profile: ToolProfile, operation: str, arguments: Mapping[str, str]) -> bool:
    """Return whether all required roles have arguments and all required arguments have roles."""
    unassigned = [name for name in profile.needed if name not in arguments.values() and snake(name) not in _IGNORED]
    return not unassigned and all(role in arguments for role in _MUST.get(operation, "").split())


def _possible(profile: ToolProfile) -> Iterator[str]:
    """Yield possible operations by the tool's words, likeliest first."""
    return (name for name, must, may in _RULES if _fits(profile.nouns - {"git"}, must.split(), may))


def _fits(whole: frozenset[str], must: Sequence[str], may: str) -> bool:
    groups = [frozenset(one.split("|")) for one in must]
    known = _FILLERS.union(vocabulary(may), *groups)
    return all(group & whole for group in groups) and whole <= known


def _arguments(profile: ToolProfile, operation: str) -> dict[str, str]:
    """Return role -> argument. Each argument has one role."""
    found: dict[str, str] = {"mode": profile.selector} if operation == "reset" and profile.selector else {}
    places = _REPOSITORY if _is_of_files(profile, operation) else (*_REPOSITORY, *_PLACES)
    place = profile.argument(places, ("string",))
    found |= {"repository": place} if place is not None else {}
    for role in _NEEDS[operation].split():
        names, types = _ARGUMENTS[role]
        free = (profile.argument((name,), types) for name in names)
        argument = next((name for name in free if name is not None and name not in found.values()), None)
        if argument is not None:
            found.setdefault(role, argument)
    return found


def _is_of_files(profile: ToolProfile, operation: str) -> bool:
    """Return whether `path` is what the operation works on, since no other argument is."""
    role = _ABOUT.get(operation)
    others = [name for name in _ARGUMENTS[role][0] if name not in _PLACES] if role is not None else []
    return role is not None and profile.argument(others) is None
