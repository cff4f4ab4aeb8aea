"""Tools that work on a repository: files, what is staged of them, commits, branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_sim.claiming.fitting import Names
from mcp_sim.claiming.outcomes import Outcome, answering
from mcp_sim.claiming.purposes import Purpose, by_server
from mcp_sim.claiming.ways import Way, way_chooser
from mcp_sim.domain import Domain, Plan
from mcp_sim.extensions import Answer, Behaviour, Claims, Survey, Tables, behaviours
from mcp_sim.file_trees.given import given_files
from mcp_sim.file_trees.tree import DIRECTORY, FILE
from mcp_sim.types import Record, Tool, Turn
from mcp_sim.version_control.asking import Asked
from mcp_sim.version_control.branching import OPERATIONS
from mcp_sim.version_control.given import given_repository
from mcp_sim.version_control.recognition import judged, plans_of
from mcp_sim.version_control.repository import COMMIT, Repository, entities

_NAMES: Names = {
    "hash": ("commit_hash", "sha", "commit_sha", "commit_id", "hexsha", "oid", "id", "commit"),
    "short_hash": ("short_sha", "abbreviated_hash", "abbrev", "short"),
    "branch": ("current_branch", "branch_name", "name", "current", "active_branch"),
    "current": ("is_current", "active", "is_active", "current_branch"),
    "staged": ("staged_files", "staged_changes", "index", "changes_to_be_committed"),
    "unstaged": ("unstaged_files", "modified", "modified_files", "unstaged_changes", "changed", "not_staged"),
    "untracked": ("untracked_files",),
    "is_clean": ("clean", "working_tree_clean"),
    "commits": ("history", "log", "entries", "results", "items"),
    "branches": ("local_branches", "results", "items"),
    "author": ("author_name", "committer"),
    "email": ("author_email", "committer_email"),
    "date": ("timestamp", "authored_date", "committed_at", "commit_date", "time", "created_at", "author_date"),
    "message": ("commit_message", "subject", "title"),
    "parents": ("parent_hashes", "parent_shas"),
    "diff": ("patch", "changes", "output", "differences", "diff_text"),
    "files": ("staged_files", "changed_files", "unstaged_files", "file_paths", "paths", "files_changed"),
    "files_changed": ("file_count", "changed_files", "files_count", "num_files"),
    "has_changes": ("is_different", "changed"),
    "path": ("repo_path", "repository_path", "repository"),
}  # fmt: skip


@behaviours.register("version_control")
class VersionControl(Behaviour):
    """Files, the changes of them that are staged, commits, branches and tags: one repository with a working tree.

    Its files are the entity `file`, so tools for files see the same. A singleton `repository` says what is checked
    out. What a state leaves open is made up: who commits, and where nothing is given, a history.
    """

    def claims(self, survey: Survey) -> Claims | None:
        plans = [plan for tools in by_server(survey.tools) for plan in plans_of(tools)]
        if not plans:
            return None
        from mcp_sim.version_control.beginnings import noted  # noqa: PLC0415 (loads much, for who has a repository)

        given, rest = given_repository(survey.state)
        files, rest = given_files(rest)
        found = noted(given, is_told=survey.state is not None)
        rows: dict[str, list[Record]] = {FILE: [*files.files.values()], DIRECTORY: [*files.directories.values()]}
        return Claims(plans, entities(), found if files.is_empty else {**found, **rows}, rest)

    def completed(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        from mcp_sim.version_control.beginnings import begun  # noqa: PLC0415 (as above)

        for prefix in {(plan.entity or COMMIT).removesuffix(COMMIT): None for plan in plans}:
            tables = begun(tables, prefix, seed)
        return tables

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        entity = plan.entity or COMMIT
        way = way_chooser(tool, plan, OPERATIONS, _ways)

        def operate(turn: Turn) -> Outcome:
            given = turn.call.arguments
            operation, roles = way(given)
            place = str(given.get(roles.get("repository", ""), ""))
            repository = Repository.of(turn, entity, place, is_new=operation == "init")
            return OPERATIONS[operation](Asked(given, roles, repository))

        return answering(tool, domain, operate, _NAMES)


def _ways(purpose: Purpose) -> Iterator[Way]:
    yield from judged(purpose)
