"""Operations on a repository, with the words of tools that mean them, and the roles of their arguments."""

from __future__ import annotations

from mcp_sim.backends.git.entities import COMMIT
from mcp_sim.backends.matching.matched_tools import either, named
from mcp_sim.backends.operation import FLAG, TEXT, TEXTS, Operation, Test, pick, role, roles
from mcp_sim.types.plans import Verb

_OBJECT = frozenset({"object"})
_REVISION = "revision commit rev ref commit_hash commit_sha commit_id sha hash"
_NAME = "branch_name branch name"

ROLES = roles(
    role("repository", "repo_path repository_path repo_dir repository repo working_dir working_directory work_dir "
         "project_path git_dir cwd path directory dir folder root", TEXT),
    role("remote", "remote remote_name name", TEXT),
    role("url", "url remote_url", TEXT),
    role("files", "files file_paths paths filenames pathspec pathspecs file file_path filepath filename pattern path",
         TEXT | TEXTS),
    role("all", "all all_files stage_all add_all a", FLAG),
    role("message", "message commit_message msg description", TEXT),
    role("grep", "grep search message_filter message_contains search_term query", TEXT),
    role("amend", types=FLAG),
    role("allow_empty", types=FLAG),
    role("author", "author author_name committer", TEXT | _OBJECT),
    role("email", "author_email email", TEXT),
    role("limit", "max_count limit count n max_commits num_commits number max_results"),
    role("skip", "skip offset"),
    role("oneline", "oneline one_line short compact brief", FLAG),
    role("format", "format pretty", TEXT),
    role("since", "start_timestamp since after start_date", TEXT),
    role("until", "end_timestamp until before end_date", TEXT),
    role("revision", f"{_REVISION} object target treeish commitish branch branch_name", TEXT),
    role("old", "base from from_ref commit_1 commit_a ref_1 rev_1 source target_1 base_ref from_commit base_branch "
         "source_branch base_commit branch_1 old", TEXT),
    role("new", "head to to_ref commit_2 commit_b ref_2 rev_2 target_2 compare head_ref to_commit head_branch "
         "compare_branch target_branch target_commit branch_2 target new", TEXT),
    role("staged", "staged cached", FLAG),
    role("branch", f"{_NAME} branch_or_commit branch_or_path new_branch target_branch ref target", TEXT),
    role("base", "base_branch base from_branch start_point starting_point from from_ref source_branch source "
         "source_ref ref revision commit", TEXT),
    role("source", f"source_branch source from_branch {_NAME} ref commit target", TEXT),
    role("into", "target_branch into to_branch target destination_branch", TEXT),
    role("old_name", "old_name old_branch old_branch_name from branch_name branch", TEXT),
    role("new_name", "new_name new_branch new_branch_name to", TEXT),
    role("create", "create create_branch create_new new_branch b create_if_missing", FLAG),
    role("new_branch", "new_branch new_branch_name create_branch", TEXT),
    role("checkout", "checkout switch", FLAG),
    role("delete", types=FLAG),
    role("force", types=FLAG),
    role("kind", "branch_type type scope", TEXT),
    role("mode", "mode reset_type type reset_mode", TEXT),
    role("hard", types=FLAG),
    role("soft", types=FLAG),
    role("tag", "tag_name tag name", TEXT),
    role("name_only", "name_only names_only", FLAG),
    role("file", "file_path filepath file file_name filename path", TEXT),
    role("first", "start_line line_start from_line start"),
    role("last", "end_line line_end to_line end"),
    role("commits", f"commits commit_hashes commit {_REVISION}", TEXT | TEXTS),
    role("dry_run", "dry_run preview", FLAG),
    role("path", "worktree_path path directory location", TEXT),
    role("index", "stash_index index stash_ref stash_id stash ref"),
)  # fmt: skip

_FILLERS = "git repo repository the current working tree directory local file change view run all my from"
"""Words without a meaning of their own in the names of tools."""


def _words(must: str, may: str = "") -> Test:
    return named(must, may, ignoring=_FILLERS)


def _operation(name: str, run: str, verb: Verb, takes: str, means: Test) -> Operation:
    """Return an operation that also takes the path of the repository."""
    return Operation(name, run, verb, pick(f"{takes} repository?", ROLES), means=means, entity=COMMIT)


_LOG = ("log", "history:log", "list",
        "limit? skip? oneline? format? since? until? files? author? grep? revision?")  # fmt: skip

OPERATIONS = (
    _operation("status", "inspection:status", "get", "", _words("status", "get show check view")),
    _operation("diff_unstaged", "inspection:diff_unstaged", "get", "files?",
               _words("diff unstaged", "in get show view")),
    _operation("diff_staged", "inspection:diff_staged", "get", "files?",
               _words("diff staged|cached", "in get show view")),
    _operation("diff", "inspection:diff", "get", "old? new? staged? files? revision? name_only?",
               _words("diff|difference|compare", "commit branch revision ref between get show view")),
    _operation("stash_pop", "stashes:pop", "update", "index?", _words("stash pop")),
    _operation("stash_apply", "stashes:apply", "update", "index?", _words("stash apply")),
    _operation("stash_drop", "stashes:drop", "delete", "index?", _words("stash drop|delete|clear")),
    _operation("stash_list", "stashes:stash_list", "list", "", _words("stash list|show")),
    _operation("stash", "stashes:stash", "create", "message?", _words("stash", "push save create")),
    _operation("unstage", "staging:unstage", "update", "files? all?", _words("unstage")),
    _operation("reset", "branching:reset", "update", "revision? mode? hard? soft? files?",
               _words("reset", "head staged staging area hard soft mixed index commit to branch")),
    _operation("restore", "staging:restore", "update", "files staged? all?", _words("restore|discard", "unstaged")),
    _operation("delete_tag", "tags:delete_tag", "delete", "tag", _words("tag delete|remove")),
    _operation("create_tag", "tags:create_tag", "create", "tag revision? message?", _words("tag create|add|new")),
    _operation("tags", "tags:tags", "list", "", _words("tag list|get|show")),
    _operation("tag", "tags:tag", "create", "tag? message? revision? delete?", _words("tag")),
    _operation("rename_branch", "branching:rename_branch", "update", "old_name? new_name", _words("branch rename")),
    _operation("delete_branch", "branching:delete_branch", "delete", "branch force?", _words("branch delete|remove")),
    _operation("create_branch", "branching:create_branch", "create", "branch base? checkout? force?",
               _words("branch create|new|make|add")),
    _operation("checkout", "branching:checkout", "update", "branch create? new_branch? base? force?",
               _words("checkout|switch|change branch|checkout|switch", "to")),
    _operation("merge", "merging:merge", "update", "source into? message?", _words("merge", "branch into")),
    _operation("current_branch", "inspection:current_branch", "get", "",
               _words("branch current|active", "get show name")),
    _operation("branches", "inspection:branches", "list", "kind?", _words("branch list|get|show|view")),
    _operation("branch", "branching:branch", "create", "branch? base? delete? kind? force?", _words("branch")),
    _operation("push", "remotes:push", "update", "remote? branch? force?",
               _words("push", "commit branch change remote to origin upstream")),
    _operation("pull", "remotes:pull", "update", "remote? branch?",
               _words("pull", "latest change remote origin upstream")),
    _operation("fetch", "remotes:fetch", "update", "remote?", _words("fetch", "remote origin upstream")),
    _operation("add_remote", "remotes:add_remote", "create", "remote url", _words("remote add", "new")),
    _operation("remove_remote", "remotes:remove_remote", "delete", "remote", _words("remote remove|delete")),
    _operation("rename_remote", "remotes:rename_remote", "update", "remote new_name", _words("remote rename")),
    _operation("set_remote_url", "remotes:set_remote_url", "update", "remote url",
               _words("remote set|update|change url")),
    _operation("remote_url", "remotes:remote_url", "get", "remote?", _words("remote get|show url")),
    _operation("remotes", "remotes:remotes", "list", "", _words("remote list|get|show")),
    _operation("remote", "remotes:remote", "update", "remote? url?", _words("remote")),
    _operation("blame", "history:blame", "get", "file first? last? revision?", _words("blame|annotate", "line")),
    _operation("reflog", "history:reflog", "list", "limit? revision?", _words("reflog", "get show view")),
    _operation("cherry_pick", "merging:cherry_pick", "create", "commits", _words("cherry pick", "commit")),
    _operation("revert", "merging:revert", "create", "commits", _words("revert", "commit change to")),
    _operation("clean", "worktrees:clean", "delete", "dry_run? force?", _words("clean", "untracked")),
    _operation("add_worktree", "worktrees:add_worktree", "create", "path branch? revision?",
               _words("worktree add|create|new")),
    _operation("remove_worktree", "worktrees:remove_worktree", "delete", "path force?",
               _words("worktree remove|delete")),
    _operation("worktrees", "worktrees:worktrees", "list", "", _words("worktree list|get|show")),
    _operation("clear_working_directory", "worktrees:clear_working_directory", "update", "",
               _words("clear|unset working|work dir|directory", "session")),
    _operation("set_working_directory", "worktrees:set_working_directory", "update", "",
               _words("set|change|use working|work dir|directory", "session default")),
    _operation(*_LOG, either(_words("log|history", "commit get show list view recent"),
                             _words("commit list|recent", "get"))),
    _operation("show", "history:show", "get", "revision",
               either(_words("commit show|get|view|inspect|detail", "info detail content"),
                      _words("show", "revision object"))),
    _operation(*_LOG, _words("commit get|show|view")),
    _operation("stage", "staging:stage", "update", "files? all?", _words("stage|add", "stage staging area index to")),
    _operation("commit", "staging:commit", "create", "message files? all? amend? allow_empty? author? email?",
               _words("commit", "create make new record staged")),
    _operation("init", "staging:init", "create", "", _words("init|initialize|initialise", "new")),
)  # fmt: skip
"""In the order in which the words of a tool are compared with them."""
