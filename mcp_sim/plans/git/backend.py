"""Backend for tools that work on a repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from mcp_sim.plans.files.paths import FILE
from mcp_sim.plans.git.entities import COMMIT, ENTITIES
from mcp_sim.plans.git.operations import NAMES, OPERATIONS
from mcp_sim.plans.given import Given
from mcp_sim.plans.matching.matched_tools import MatchedTool
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import Names, read_names
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity
from mcp_sim.types.kinds import Tables, backends
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan

_WORDS = read_names(__name__)
_OWNERS = _WORDS.terms("owner")
"""Arguments that locate a repository at a hosting service."""
_WORKING_TREE = frozenset({"status", "stage", "unstage", "diff_staged", "diff_unstaged", "checkout"})
_MENTIONS = _WORDS.terms("mention")
_FILTERED = frozenset({"diff", "diff_staged", "diff_unstaged", "log", "commit", "reset"})
"""Operations on a repository that files only restrict: `path` alone is the path of the repository."""


@backends.register("git")
class Git(OperationsBackend):
    """Files, staged changes, commits, branches and tags: one repository with a working tree.

    Its files are the entity `file`, which tools for files share. What a state does not specify is generated: who
    commits, and a history if nothing is given. Tools of hosting services, which have no working tree, do not match.
    """

    order = 160
    confidence = 0.95
    operations = OPERATIONS
    lengthy = frozenset(operation.name for operation in OPERATIONS)
    entities = ENTITIES
    request = "request:GitRequest"
    idle = vocabulary("timeout reason explanation verbose encoding")
    names: ClassVar[Names] = NAMES

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool on a repository. A selecting argument of `reset` is its mode."""
        if any(snake(name) in _OWNERS for name in profile.arguments):
            return
        for tool in super().match_tool(profile):
            fixed = {"mode": profile.choice} if tool.name == "reset" and profile.choice else {}
            yield replace(tool, arguments=_located(tool), fixed=fixed)

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept three kinds of tools or more that prepare and record commits, if half of them mention git."""
        kinds = {tool.name for tool in tools}
        is_local = bool(kinds & _WORKING_TREE) and not kinds.isdisjoint({"commit", "stage"})
        mentions = sum(not _MENTIONS.isdisjoint(_words(tool.profile)) for tool in tools)
        return tools if len(kinds) >= 3 and is_local and mentions * 2 >= len(tools) else ()

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the repository and the files of a state."""
        from mcp_sim.plans.git.given import given_records

        return given_records(state)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Complete the given repository of each server, or generate one."""
        from mcp_sim.plans.files.backend import Files
        from mcp_sim.plans.git.initial import initialize_tables

        for prefix, plan in {(plan.entity or COMMIT).removesuffix(COMMIT): plan for plan in plans}.items():
            tables = Files().initial(tables, [replace(plan, entity=prefix + FILE)], seed)
            tables = initialize_tables(tables, prefix, seed)
        return tables


def _located(tool: MatchedTool) -> Mapping[str, str]:
    """Return the arguments by role. In operations that files only restrict, `path` alone locates the repository."""
    arguments = tool.arguments
    if tool.name in _FILTERED and "repository" not in arguments and arguments.get("files") == "path":
        return {**{role: name for role, name in arguments.items() if role != "files"}, "repository": "path"}
    return arguments


def _words(profile: ToolProfile) -> set[str]:
    names = (profile.tool.name, *profile.arguments)
    return {*profile.description_words, *(word for name in names for word in snake(name).split("_"))}
