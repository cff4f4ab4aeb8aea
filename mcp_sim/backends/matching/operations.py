"""Match tools to operations, and their arguments to the roles of an operation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from math import prod
from typing import Any, TypeAlias

from mcp_sim.backends.compute.operation import Operation, Role, compact
from mcp_sim.backends.matching.tool_profiles import (
    ToolProfile,
    argument_types,
    last_segment,
    listed_values,
    profiles_of_tool,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Record, Tool
from mcp_sim.types.lexicon.english import snake, vocabulary, words
from mcp_sim.types.plans import Plan

_NOISE = vocabulary(
    "calculate compute calc calculator get find math maths arithmetic perform do tool number numbers num nums value "
    "values two list of the a an function operation matrix matrices vector vectors text string str "
    "si metric imperial"
)
_NO_QUANTITY = (
    "id",
    "ids",
    "key",
    "index",
    "page",
    "limit",
    "offset",
    "cursor",
    "token",
    "path",
    "file",
    "filename",
    "uri",
)
_SYMBOLS = {"+": "add", "-": "subtract", "*": "multiply", "×": "multiply", "x": "multiply", "/": "divide",
            "÷": "divide", "^": "power", "**": "power", "%": "modulo"}  # fmt: skip
_SELECTOR_NAMES = vocabulary("operation operator op operation_type action function method type mode")


def match_operation(profile: ToolProfile, operations: Sequence[Operation], backend: str) -> Plan | None:
    """Return the plan of a tool whose name means one of these operations, and whose required arguments have a role."""
    for phrase in _phrases(profile.words):
        called = compact(phrase)
        for operation in operations:
            if called not in operation.phrases or not _is_mentioned(profile, operation):
                continue
            arguments = match_roles(operation.roles, profile.arguments, profile.needed)
            if arguments is not None:
                sure = all(compact(name) in _names(operation, role) for role, name in arguments.items())
                reasons = (f"'{phrase.replace('_', ' ')}' means {operation.name}", _roles_as_text(arguments))
                return operation_plan(profile, operation.name, backend, arguments, 0.9 if sure else 0.75, reasons)
    return None


def match_selector(profile: ToolProfile, operations: Sequence[Operation], backend: str) -> Plan | None:
    """Return the plan of a tool with one argument, or two together, that selects one of these operations."""
    for names in _selectors(profile):
        if prod(len(listed_values(profile.arguments[name])) for name in names) > _MAX_CHOICES:
            continue
        values = combined_choices([profile.arguments[name] for name in names])
        known = [value for value in values if operations_selected(value, profile.tool, operations)]
        if len(known) < 2 or 2 * len(known) < len(values):
            continue
        rest = {other: part for other, part in profile.arguments.items() if other not in names}
        chosen = [one for value in known for one in operations_selected(value, profile.tool, operations)]
        roles = [role for one in chosen for role in one.roles]
        others = {other for other in rest if snake(other) in _SELECTOR_NAMES and len(listed_values(rest[other])) > 1}
        if not others & profile.needed and any(_takes_quantity(part, other, roles) for other, part in rest.items()):
            reasons = (f"'{join_choices(*names)}' chooses among {', '.join(known)}",)
            arguments: dict[str, str] = dict(zip(_SELECTOR_ROLES, names, strict=False))
            return operation_plan(profile, "chosen", backend, arguments, 0.85, reasons)
    return None


_SELECTOR_ROLES = ("operation", "variant")
_MAX_CHOICES = 300
"""Arguments with more choices do not select operations."""


def _selectors(profile: ToolProfile) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that may select an operation: each alone, then pairs of required ones."""
    named = [name for name in profile.arguments if snake(name) in _SELECTOR_NAMES]
    yield from ((name,) for name in named)
    yield from permutations([name for name in named if name in profile.needed], 2)


def selector_arguments(arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of a plan that select an operation."""
    return tuple(arguments[role] for role in _SELECTOR_ROLES if role in arguments)


def combined_choices(schemas: Sequence[Record]) -> list[str]:
    """Return the combinations of the choices of several arguments, each as one word."""
    return [join_choices(*map(str, values)) for values in product(*map(listed_values, schemas))]


def join_choices(*choices: str) -> str:
    return "_".join(word for word in choices if word)


def operation_plan(
    profile: ToolProfile,
    operation: str,
    backend: str,
    arguments: Mapping[str, str],
    confidence: float,
    reasons: tuple[str, ...],
    **more: Any,
) -> Plan:
    """Return a plan of a backend for an operation. Its verb is `compute` unless `more` has another one."""
    fields: dict[str, Any] = {"verb": "compute", **more}
    return Plan(
        profile.tool.id,
        backend=backend,
        operation=operation,
        arguments=dict(arguments),
        confidence=confidence,
        reasons=tuple(reason for reason in reasons if reason),
        **fields,
    )


def match_roles(
    roles: Sequence[Role], arguments: Mapping[str, Record], needed: frozenset[str]
) -> dict[str, str] | None:
    """Return the argument of each role; None if a role has no argument, or a required argument has no role."""
    found: dict[str, str] = {}
    for role in roles:
        name = next(
            (n for n, s in arguments.items() if compact(n) in role.names and _is_possible(n, s, role, found)), None
        )
        if name is not None:
            found[role.name] = name
    for role in roles:
        if role.name in found or role.optional or not role.positional:
            continue
        ordered = sorted(arguments, key=lambda name: name not in needed)
        name = next((n for n in ordered if _is_possible(n, arguments[n], role, found) and _is_quantity(n)), None)
        if name is None:
            return None
        found[role.name] = name
    lacking = [role for role in roles if not role.optional and role.name not in found]
    return None if lacking or needed - set(found.values()) else found


def operations_named(word: str, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations with this name, phrase or sign; those with this name come first."""
    name = _SYMBOLS.get(word.strip()) or snake(word)
    phrase = compact(name)
    called = [one for one in operations if one.name == name or phrase in one.phrases]
    return sorted(called, key=lambda one: one.name != name)


def operations_selected(word: str, tool: Tool, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations that a value of an argument names, alone or combined with the tool's name."""
    about = "_".join(words(last_segment(tool.name)))
    names = (word, f"{about}_{snake(word)}", f"{snake(word)}_{about}")
    named = (operations_named(one, operations) for one in names)
    return next((found for found in named if found), list[Operation]())


def _phrases(named: Sequence[str]) -> Iterator[str]:
    """Yield the name as it is, then without words that carry no meaning."""
    yield "_".join(named)
    inner = [*named]
    while len(inner) > 1 and inner[0] in _NOISE:
        inner = inner[1:]
        yield "_".join(inner)
    while len(inner) > 1 and inner[-1] in _NOISE:
        inner = inner[:-1]
        yield "_".join(inner)
    kept = [word for word in named if word not in _NOISE]
    if kept:
        yield "_".join(kept)


def _is_mentioned(profile: ToolProfile, operation: Operation) -> bool:
    if operation.excludes and profile.mentions(*operation.excludes):
        return False
    return not operation.hints or profile.mentions(*operation.hints)


def _names(operation: Operation, role: str) -> frozenset[str]:
    return next(one.names for one in operation.roles if one.name == role)


def _roles_as_text(arguments: Mapping[str, str]) -> str:
    return ", ".join(f"{name} is the {role}" for role, name in arguments.items() if snake(name) != role)


def _is_possible(name: str, schema: Record, role: Role, taken: Mapping[str, str]) -> bool:
    return name not in taken.values() and bool(argument_types(schema) & role.types)


def _is_quantity(name: str) -> bool:
    return (words(name) or ("",))[-1] not in _NO_QUANTITY


def _takes_quantity(schema: Record, name: str, roles: Sequence[Role]) -> bool:
    return _is_quantity(name) and any(argument_types(schema) & role.types for role in roles)


OperationCall: TypeAlias = tuple[str, Mapping[str, str]]
"""The name of an operation, and a mapping from its roles to arguments."""


def operation_chooser(
    tool: Tool, plan: Plan, known: Collection[str], match: Callable[[ToolProfile], Iterable[OperationCall]]
) -> Callable[[Record], OperationCall]:
    """Return a function that chooses the operation of a call by its arguments. `known` are the backend's operations.

    `match` matches a tool profile to operations, for tools with an argument that selects one. Raises `ValueError` if
    a plan, which a spec may override, names no known operation.
    """
    if plan.operation:
        if plan.operation not in known:
            raise ValueError(f"{tool.id}: {plan.backend} has no operation {plan.operation!r}")
        only = (plan.operation, plan.arguments)
        return lambda _given: only
    chosen = {profile.choice: list(match(profile)) for profile in profiles_of_tool(tool)}
    calls = {choice: way for choice, found in chosen.items() for way in found}
    if not calls:
        raise ValueError(f"{tool.id}: set `operation` under `sim:`")
    selector, first = plan.arguments.get("operation", ""), next(iter(calls.values()))

    def choose(given: Record) -> OperationCall:
        choice = given.get(selector)
        if choice is not None and choice not in chosen:
            raise Refused("invalid", f"Unknown {selector}: {choice!r}; choose {' or '.join(chosen)}")
        return calls.get(str(choice), first)

    return choose
