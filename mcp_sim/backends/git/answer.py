"""Answer the tools that work on a repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcp_sim.backends.git import branching, history, inspection, remotes, staging, worktrees
from mcp_sim.backends.git.entities import COMMIT
from mcp_sim.backends.git.matching import matched_operations
from mcp_sim.backends.git.repository import Repository
from mcp_sim.backends.git.request import Request
from mcp_sim.backends.matching.operations import operation_chooser
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NAMES: Names = {
    "hash": ("head", "commit_hash", "sha", "commit_sha", "commit_id", "hexsha", "oid", "id", "commit"),
    "short_hash": ("short_sha", "abbreviated_hash", "abbrev", "short"),
    "branch": ("current_branch", "branch_name", "name", "current", "active_branch"),
    "current": ("is_current", "active", "is_active", "current_branch"),
    "staged": ("staged_files", "staged_changes", "index", "changes_to_be_committed"),
    "unstaged": ("unstaged_files", "modified", "modified_files", "unstaged_changes", "changed", "not_staged"),
    "untracked": ("untracked_files",),
    "is_clean": ("clean", "working_tree_clean"),
    "branches": ("local_branches", "results", "items"),
    "author": ("author_name", "committer"),
    "email": ("author_email", "committer_email"),
    "date": ("timestamp", "authored_date", "committed_at", "commit_date", "time", "created_at", "author_date"),
    "message": ("commit_message", "subject", "title"),
    "parents": ("parent_hashes", "parent_shas"),
    "diff": ("patch", "changes", "output", "differences", "diff_text"),
    "count": ("total_files", "total", "total_count", "file_count", "total_lines", "total_entries", "total_commits"),
    "insertions": ("lines_added", "additions"),
    "deletions": ("lines_deleted", "lines_removed"),
    "pushed": ("pushed_refs", "pushed_branches"),
    "files": ("staged_files", "committed_files", "changed_files", "unstaged_files", "file_paths", "paths",
              "files_changed"),
    "files_changed": ("file_count", "changed_files", "files_count", "num_files"),
    "has_changes": ("is_different", "changed"),
    "line": ("line_number", "lineno", "line_no"),
    "ref": ("ref_name", "selector", "reference", "name"),
    "branch_name": ("branch",),
    "files_removed": ("removed_files", "removed", "files_deleted"),
    "commits": ("history", "log", "entries", "results", "items", "picked_commits", "reverted_commits"),
    "path": ("repo_path", "repository_path", "repository"),
}  # fmt: skip


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool."""
    entity = plan.entity or COMMIT
    choose_operation = operation_chooser(tool, plan, OPERATIONS, matched_operations)

    def operate(turn: Turn) -> Outcome:
        given = turn.call.arguments
        operation, roles = choose_operation(given)
        path = str(given.get(roles.get("repository", ""), ""))
        repository = Repository.of(turn, entity, path, is_new=operation == "init")
        return OPERATIONS[operation](Request(given, roles, repository))

    return compile_answer(tool, domain, operate, _NAMES)


OPERATIONS: Mapping[str, Callable[[Request], Outcome]] = {
    "status": inspection.status, "stage": staging.stage, "unstage": staging.unstage, "commit": staging.commit,
    "log": history.log, "show": history.show, "diff": inspection.diff, "diff_staged": inspection.diff_staged,
    "diff_unstaged": inspection.diff_unstaged, "branches": inspection.branches, "branch": branching.branch,
    "current_branch": inspection.current_branch, "create_branch": branching.create_branch,
    "delete_branch": branching.delete_branch, "rename_branch": branching.rename_branch,
    "checkout": branching.checkout, "reset": branching.reset, "restore": staging.restore, "init": staging.init,
    "merge": branching.merge, "stash": staging.stash, "stash_pop": staging.stash_pop,
    "stash_apply": staging.stash_apply, "stash_drop": staging.stash_drop, "stash_list": staging.stash_list,
    "push": remotes.push, "pull": remotes.pull, "fetch": remotes.fetch, "remote": remotes.remote,
    "remotes": remotes.remotes, "add_remote": remotes.add_remote, "remove_remote": remotes.remove_remote,
    "rename_remote": remotes.rename_remote, "place_remote": remotes.place_remote, "show_remote": remotes.show_remote,
    "tags": inspection.tags, "tag": branching.tag, "create_tag": branching.create_tag,
    "delete_tag": branching.delete_tag, "blame": history.blame, "reflog": history.reflog,
    "cherry_pick": branching.cherry_pick, "revert": branching.revert, "clean": worktrees.clean,
    "enter": worktrees.enter, "leave": worktrees.leave, "worktrees": worktrees.worktrees,
    "add_worktree": worktrees.add_worktree, "remove_worktree": worktrees.remove_worktree,
}  # fmt: skip
