"""Backend for tools that work on a repository."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.backends.git.entities import COMMIT, entities
from mcp_sim.backends.git.matching import plans_of
from mcp_sim.backends.matching.tool_profiles import profiles_by_server
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("git")
class Git(Backend):
    """Files, staged changes, commits, branches and tags: one repository with a working tree.

    Its files are the entity `file`, which tools for files share. A singleton `repository` stores what is checked out.
    What a state does not specify is generated: who commits, and a history if nothing is given.
    """

    order = 160

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for listed in evidence.once(profiles_by_server) for plan in plans_of(listed)]
        if not plans:
            return None
        from mcp_sim.backends.files.entities import DIRECTORY, FILE
        from mcp_sim.backends.files.given import read_given_files
        from mcp_sim.backends.git.given import read_given_repository
        from mcp_sim.backends.git.initial import initial_records

        given, rest = read_given_repository(evidence.state)
        files, rest = read_given_files(rest, given.root)
        found = initial_records(given, has_state=evidence.state is not None)
        rows: dict[str, list[Record]] = {FILE: [*files.files.values()], DIRECTORY: [*files.directories.values()]}
        return Match(plans, entities(), found if files.is_empty else {**found, **rows}, rest)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        from mcp_sim.backends.git.initial import initialize_tables

        for prefix in {(plan.entity or COMMIT).removesuffix(COMMIT): None for plan in plans}:
            tables = initialize_tables(tables, prefix, seed)
        return tables

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.git.answer import answer

        return answer(tool, plan, domain)
