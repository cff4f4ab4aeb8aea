"""Tools that work on a repository: files, what is staged of them, commits, branches."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.backends.git.entities import COMMIT, entities
from mcp_sim.backends.git.recognition import plans_of
from mcp_sim.backends.matching.purposes import server_purposes
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, Survey, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("git")
class Git(Backend):
    """Files, the changes of them that are staged, commits, branches and tags: one repository with a working tree.

    Its files are the entity `file`, so tools for files see the same. A singleton `repository` says what is checked
    out. What a state leaves open is made up: who commits, and where nothing is given, a history.
    """

    order = 160

    def match(self, survey: Survey) -> Match | None:
        plans = [plan for listed in survey.once(server_purposes) for plan in plans_of(listed)]
        if not plans:
            return None
        from mcp_sim.backends.files.entities import DIRECTORY, FILE
        from mcp_sim.backends.files.given import given_files
        from mcp_sim.backends.git.beginnings import noted
        from mcp_sim.backends.git.given import given_repository

        given, rest = given_repository(survey.state)
        files, rest = given_files(rest, given.root)
        found = noted(given, is_told=survey.state is not None)
        rows: dict[str, list[Record]] = {FILE: [*files.files.values()], DIRECTORY: [*files.directories.values()]}
        return Match(plans, entities(), found if files.is_empty else {**found, **rows}, rest)

    def completed(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        from mcp_sim.backends.git.beginnings import begun

        for prefix in {(plan.entity or COMMIT).removesuffix(COMMIT): None for plan in plans}:
            tables = begun(tables, prefix, seed)
        return tables

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.git.answers import answer

        return answer(tool, plan, domain)
