"""Match tools to operations by words and arguments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from mcp_sim.plans.matching.tool_profiles import ToolProfile, argument_types
from mcp_sim.plans.operation import Operation, Role, Test
from mcp_sim.types import Json
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import vocabulary, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan, Source

_FITTING = 0.85
"""How sure the arguments of an operation are that a spec declares."""


@frozen
class MatchedTool:
    """A tool, or one choice of a tool, and the operation that it means."""

    profile: ToolProfile
    operation: Operation
    arguments: Mapping[str, str]
    """Role -> argument."""
    entity: str = ""
    """The entity that it works on; empty: that of the operation."""
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Any])
    """Role, or name of a setting -> the value that the tool itself implies."""
    confidence: float = 0.85
    reasons: tuple[str, ...] = ()
    source: Source = "inferred"
    """Where the operation comes from."""

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.operation.name


def match_tool(
    profile: ToolProfile, operations: Iterable[Operation], idle: Collection[str] = (), confidence: float = 0.85
) -> Iterator[MatchedTool]:
    """Yield the operations that a tool may mean, in their order.

    Every required role needs an argument, and every required argument a role, unless its name is among `idle` or the
    operation is open.
    """
    for operation in operations:
        if operation.means is None or not operation.means(profile):
            continue
        arguments = assign_roles(operation.roles, profile)
        is_whole = operation.is_open or not unassigned(profile, (arguments or {}).values(), idle)
        if arguments is not None and is_whole:
            reasons = (f"'{' '.join(profile.words)}' means {operation.name}",)
            yield MatchedTool(profile, operation, arguments, confidence=confidence, reasons=reasons)


def unassigned(profile: ToolProfile, used: Collection[str], idle: Collection[str] = ()) -> list[str]:
    """Return the required arguments that have no role."""
    return [name for name in profile.needed if name not in used and not {name, *words(name)} & set(idle)]


def assign_roles(roles: Sequence[Role], profile: ToolProfile, taken: Collection[str] = ()) -> dict[str, str] | None:
    """Return role -> argument; None if a required role stays empty. Each argument has one role."""
    possible = possible_roles(roles, profile, taken)
    return possible if all(role.optional or role.name in possible for role in roles) else None


def possible_roles(roles: Sequence[Role], profile: ToolProfile, taken: Collection[str] = ()) -> dict[str, str]:
    """Return role -> argument, as far as the arguments go: by whole names, by their last words, then by position."""
    possible: dict[str, str] = {}
    used = set(taken)
    for choose in (_named, _similar, _positioned):
        for role in roles:
            name = choose(role, profile, used) if role.name not in possible else None
            if name is not None:
                possible[role.name] = name
                used.add(name)
    return possible


def _named(role: Role, profile: ToolProfile, used: Collection[str]) -> str | None:
    known = (profile.short_names[name] for name in role.names if name in profile.short_names)
    return next((name for name in known if _may_have(role, profile, name, used)), None)


def _similar(role: Role, profile: ToolProfile, used: Collection[str]) -> str | None:
    if not role.similar:
        return None
    alike = (name for name, endings in profile.endings.items() if not endings.isdisjoint(role.names))
    return next((name for name in alike if _may_have(role, profile, name, used)), None)


def _may_have(role: Role, profile: ToolProfile, name: str, used: Collection[str]) -> bool:
    if name in used or name == profile.selector:
        return False
    return not role.types or bool(argument_types(profile.arguments[name]) & role.types)


def _positioned(role: Role, profile: ToolProfile, used: Collection[str]) -> str | None:
    if role.optional or not role.positional:
        return None
    ordered = sorted(profile.arguments, key=lambda name: name not in profile.needed)
    free = (name for name in ordered if _may_have(role, profile, name, used) and is_quantity(name))
    return next(free, None)


_NO_QUANTITY = terms("arguments.no_quantity")


def is_quantity(name: str) -> bool:
    """Return whether an argument may be what an operation works on: no key, page or path."""
    return (words(name) or ("",))[-1] not in _NO_QUANTITY


def named(must: str, may: str | None = None, *, ignoring: str = "") -> Test:
    """Return a test of the words of a tool's name, in the singular.

    `must` are groups such as `add|create remote`: one word of each group occurs. If `may` is given, no words occur
    besides these, those of `may` and those to ignore.
    """
    groups = [frozenset(group.split("|")) for group in must.split()]
    known = None if may is None else frozenset[str]().union(vocabulary(may), vocabulary(ignoring), *groups)

    def test(profile: ToolProfile) -> bool:
        nouns = profile.nouns
        return all(not group.isdisjoint(nouns) for group in groups) and (known is None or nouns <= known)

    return test


def unnamed(nouns: str) -> Test:
    """Return a test whether a tool's name has none of these words, in the singular."""
    known = vocabulary(nouns)
    return lambda profile: profile.nouns.isdisjoint(known)


def takes(*roles: Role) -> Test:
    """Return a test whether a tool has an argument for each of these roles."""
    return lambda profile: all(_has_argument(role, profile) for role in roles)


def lacks(*roles: Role) -> Test:
    """Return a test whether a tool has an argument for none of these roles."""
    return lambda profile: not any(_has_argument(role, profile) for role in roles)


def _has_argument(role: Role, profile: ToolProfile) -> bool:
    return _named(role, profile, ()) is not None or _similar(role, profile, ()) is not None


def either(*tests: Test) -> Test:
    """Return a test whether one of several tests holds."""
    return lambda profile: any(test(profile) for test in tests)


def both(*tests: Test) -> Test:
    """Return a test whether several tests hold."""
    return lambda profile: all(test(profile) for test in tests)


def plans_of(matched: Sequence[MatchedTool], backend: str, entity: str | None) -> list[Plan]:
    """Return one plan per tool, on `entity` if the match names none.

    A tool with an argument that selects what it does has one plan for each choice."""
    by_tool: dict[str, list[MatchedTool]] = {}
    for tool in matched:
        by_tool.setdefault(tool.profile.tool.id, []).append(tool)
    return [_plan_of_tool(of_tool, backend, entity) for of_tool in by_tool.values()]


def _plan_of_tool(matched: Sequence[MatchedTool], backend: str, entity: str | None) -> Plan:
    first = matched[0]
    if first.profile.selector is None:
        return plan_of(first, backend, entity)
    choices: dict[str, Plan] = {}
    for tool in matched:
        choices.setdefault(tool.profile.choice, plan_of(tool, backend, entity))
    known = list(choices.values())
    main = next((plan for plan in known if plan.verb in {"create", "update", "delete"}), known[0])
    reasons = (f"'{first.profile.selector}' selects {', '.join(choices)}", *main.reasons)
    verb = "update" if main.verb in {"create", "delete"} else main.verb
    return Plan(
        main.tool, verb, main.entity, backend, choice=first.profile.selector, choices=choices
    ).with_basis(max(plan.confidence for plan in known), *reasons)  # fmt: skip


def plan_of(tool: MatchedTool, backend: str, entity: str | None) -> Plan:
    """Return the plan of one matched tool or choice."""
    known = Plan(
        tool.profile.tool.id, tool.operation.verb, tool.entity or tool.operation.entity or entity, backend,
        tool.operation.name, fixed=tool.fixed,
    ).with_basis(tool.confidence, *tool.reasons, source=tool.source)  # fmt: skip
    plan = replace(known, arguments=dict(tool.arguments))
    return plan.with_basis(min(tool.confidence, _FITTING), "the arguments fit its roles")
