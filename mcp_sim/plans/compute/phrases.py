"""Match tools to operations by their whole names, without words that carry no meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from mcp_sim.plans.matching.matched_tools import MatchedTool, match_tool
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import Operation, compact, read_names
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import snake

_WORDS = read_names(__name__)
_NOISE = _WORDS.terms("noise")


@frozen
class Called:
    """A test whether a tool's name is one of some phrases.

    If phrases are ambiguous, the tool's name or description must contain one of `hints`, and none of `excludes`.
    """

    phrases: frozenset[str]
    hints: frozenset[str] = frozenset()
    excludes: frozenset[str] = frozenset()

    def __call__(self, profile: ToolProfile) -> bool:
        """Return whether a tool is called so."""
        if profile.mentions(*self.excludes) or (self.hints and not profile.mentions(*self.hints)):
            return False
        return any(phrase in self.phrases for phrase in phrases_of(profile.words))


def phrases_of(named: Sequence[str]) -> Iterator[str]:
    """Yield the words of a name without separators: all of them, then without those that carry no meaning."""
    yield "".join(named)
    inner = [*named]
    while len(inner) > 1 and inner[0] in _NOISE:
        inner = inner[1:]
        yield "".join(inner)
    while len(inner) > 1 and inner[-1] in _NOISE:
        inner = inner[:-1]
        yield "".join(inner)
    yield "".join(word for word in named if word not in _NOISE)


class Phrasebook:
    """Operations by the phrases that mean them."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    @cached_property
    def _meant(self) -> Mapping[str, Sequence[Operation]]:
        meant: dict[str, list[Operation]] = {}
        for operation in self.operations:
            for phrase in operation.means.phrases if isinstance(operation.means, Called) else ():
                meant.setdefault(phrase, []).append(operation)
        return meant

    def match(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations that a tool may mean: those of its whole name first."""
        for phrase in phrases_of(profile.words):
            for tool in match_tool(profile, self._meant.get(phrase, ())):
                named = {role.name: role.names for role in tool.operation.roles}
                sure = all(compact(name) in named[role] for role, name in tool.arguments.items())
                other = [f"{name} is the {role}" for role, name in tool.arguments.items() if snake(name) != role]
                reasons = (*tool.reasons, ", ".join(other)) if other else tool.reasons
                yield replace(tool, confidence=0.9 if sure else 0.75, reasons=reasons)
