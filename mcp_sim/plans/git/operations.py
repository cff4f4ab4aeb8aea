"""Operations on a repository, with the words of tools that mean them, and the roles of their arguments."""

from __future__ import annotations

from mcp_sim.plans.git.entities import COMMIT
from mcp_sim.plans.matching.matched_tools import either, named
from mcp_sim.plans.operation import Operation, pick, read_names
from mcp_sim.types.plans import Verb

_WORDS = read_names(__name__)
_ROLES, NAMES = _WORDS.roles, _WORDS.facts

_FILLERS = "git repo repository the current working tree directory local file change view run all my from"
"""Words without a meaning of their own in the names of tools."""
_LOG = "limit? skip? oneline? format? since? until? files? author? grep? revision?"


def _operation(
    name: str, module: str, verb: Verb, takes: str, must: str, may: str = "", *others: tuple[str, str],
    place: str = "repository?",
) -> Operation:  # fmt: skip
    """Return an operation by the words that must occur and may occur, or other such pairs."""
    means = either(*(named(words, more, ignoring=_FILLERS) for words, more in ((must, may), *others)))
    return Operation(name, f"{module}:{name}", verb, pick(f"{takes} {place}", _ROLES), means, COMMIT)


OPERATIONS = (
    _operation("status", "inspection", "get", "", "status", "get show check view"),
    _operation("diff_unstaged", "inspection", "get", "files? context?", "diff unstaged", "in get show view"),
    _operation("diff_staged", "inspection", "get", "files? context?", "diff staged|cached", "in get show view"),
    _operation("diff", "inspection", "get", "old? new? staged? files? revision? name_only? context?",
               "diff|difference|compare", _WORDS.line("diff_with")),
    _operation("stash_pop", "merging", "update", "index?", "stash pop"),
    _operation("stash_apply", "merging", "update", "index?", "stash apply"),
    _operation("stash_drop", "merging", "delete", "index?", "stash drop|delete|clear"),
    _operation("stash_list", "merging", "list", "", "stash list|show"),
    _operation("stash", "merging", "create", "message?", "stash", "push save create"),
    _operation("unstage", "staging", "update", "files? all?", "unstage"),
    _operation("reset", "branching", "update", "revision? mode? hard? soft? files?",
               "reset", _WORDS.line("reset_with")),
    _operation("restore", "staging", "update", "files staged? all?", "restore|discard", "unstaged"),
    _operation("delete_tag", "branching", "delete", "tag", "tag delete|remove"),
    _operation("create_tag", "branching", "create", "tag revision? message?", "tag create|add|new"),
    _operation("tags", "branching", "list", "", "tag list|get|show"),
    _operation("tag", "branching", "create", "tag? message? revision? delete?", "tag"),
    _operation("rename_branch", "branching", "update", "old_name? new_name", "branch rename"),
    _operation("delete_branch", "branching", "delete", "branch force?", "branch delete|remove"),
    _operation("create_branch", "branching", "create", "branch base? checkout? force?", "branch create|new|make|add"),
    _operation("checkout", "branching", "update", "branch create? new_branch? base? force?",
               "checkout|switch|change branch|checkout|switch", "to"),
    _operation("merge", "merging", "update", "source into? message?", "merge", "branch into"),
    _operation("current_branch", "inspection", "get", "", "branch current|active", "get show name"),
    _operation("branches", "inspection", "list", "kind? contains? not_contains?", "branch list|get|show|view"),
    _operation("branch", "branching", "create", "branch? base? delete? kind? force? contains? not_contains?", "branch"),
    _operation("push", "remotes", "update", "remote? branch? force?",
               "push", "commit branch change remote to origin upstream"),
    _operation("pull", "remotes", "update", "remote? branch?", "pull", "latest change remote origin upstream"),
    _operation("fetch", "remotes", "update", "remote?", "fetch", "remote origin upstream"),
    _operation("add_remote", "remotes", "create", "remote url", "remote add", "new"),
    _operation("remove_remote", "remotes", "delete", "remote", "remote remove|delete"),
    _operation("rename_remote", "remotes", "update", "remote new_name", "remote rename"),
    _operation("set_remote_url", "remotes", "update", "remote url", "remote set|update|change url"),
    _operation("remote_url", "remotes", "get", "remote?", "remote get|show url"),
    _operation("remotes", "remotes", "list", "", "remote list|get|show"),
    _operation("remote", "remotes", "update", "remote? url?", "remote"),
    _operation("blame", "history", "get", "file first? last? revision?", "blame|annotate", "line"),
    _operation("reflog", "history", "list", "limit? revision?", "reflog", "get show view"),
    _operation("cherry_pick", "merging", "create", "commits", "cherry pick", "commit"),
    _operation("revert", "merging", "create", "commits", "revert", "commit change to"),
    _operation("clean", "staging", "delete", "dry_run? force?", "clean", "untracked"),
    _operation("add_worktree", "branching", "create", "path branch? revision?", "worktree add|create|new"),
    _operation("remove_worktree", "branching", "delete", "path force?", "worktree remove|delete"),
    _operation("worktrees", "branching", "list", "", "worktree list|get|show"),
    _operation("clear_working_directory", "staging", "update", "",
               "clear|unset working|work dir|directory", "session"),
    _operation("set_working_directory", "staging", "update", "",
               "set|change|use working|work dir|directory", "session default"),
    _operation("log", "history", "list", _LOG,
               "log|history", "commit get show list view recent", ("commit list|recent", "get")),
    _operation("show", "history", "get", "revision",
               "commit show|get|view|inspect|detail", "info detail content", ("show", "revision object")),
    _operation("log", "history", "list", _LOG, "commit get|show|view"),
    _operation("stage", "staging", "update", "files? all?", "stage|add", "stage staging area index to"),
    _operation("commit", "staging", "create", "message files? all? amend? allow_empty? author? email?",
               "commit", "create make new record staged"),
    _operation("init", "staging", "create", "", "init|initialize|initialise", "new", place="directory?"),
)  # fmt: skip
"""In the order in which the words of a tool are compared with them."""
