"""Match tools to operations, and their arguments to the roles of an operation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from math import prod
from typing import Any, TypeAlias

from mcp_sim.backends.matching.tool_profiles import Purpose, kinds_of, last_segment, listed_values, purposes_of
from mcp_sim.backends.operation import Operation, Role, compact
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Record, Tool
from mcp_sim.types.lexicon.words import snake, vocabulary, words
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
_CHOOSING = vocabulary("operation operator op operation_type action function method type mode")


def recognised(purpose: Purpose, operations: Sequence[Operation], backend: str) -> Plan | None:
    """Return the plan of a tool whose name means one of these operations, and whose required arguments have a role."""
    for phrase in _phrases(purpose.words):
        called = compact(phrase)
        for operation in operations:
            if called not in operation.phrases or not _is_told(purpose, operation):
                continue
            arguments = matched(operation.roles, purpose.arguments, purpose.needed)
            if arguments is not None:
                sure = all(compact(name) in _names(operation, role) for role, name in arguments.items())
                reasons = (f"'{phrase.replace('_', ' ')}' means {operation.name}", _told_arguments(arguments))
                return plan_of(purpose, operation.name, backend, arguments, 0.9 if sure else 0.75, reasons)
    return None


def chosen_among(purpose: Purpose, operations: Sequence[Operation], backend: str) -> Plan | None:
    """Return the plan of a tool with one argument, or two together, that selects one of these operations."""
    for names in _choosers(purpose):
        if prod(len(listed_values(purpose.arguments[name])) for name in names) > _MOST_CHOICES:
            continue
        values = choices_together([purpose.arguments[name] for name in names])
        known = [value for value in values if operations_chosen(value, purpose.tool, operations)]
        if len(known) < 2 or 2 * len(known) < len(values):
            continue
        rest = {other: part for other, part in purpose.arguments.items() if other not in names}
        chosen = [one for value in known for one in operations_chosen(value, purpose.tool, operations)]
        roles = [role for one in chosen for role in one.roles]
        others = {other for other in rest if snake(other) in _CHOOSING and len(listed_values(rest[other])) > 1}
        if not others & purpose.needed and any(_taking(part, other, roles) for other, part in rest.items()):
            reasons = (f"'{together(*names)}' chooses among {', '.join(known)}",)
            arguments: dict[str, str] = dict(zip(_CHOOSERS, names, strict=False))
            return plan_of(purpose, "chosen", backend, arguments, 0.85, reasons)
    return None


_CHOOSERS = ("operation", "variant")
_MOST_CHOICES = 300
"""Arguments with more choices do not select operations."""


def _choosers(purpose: Purpose) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that may select an operation: each alone, then pairs of required ones."""
    named = [name for name in purpose.arguments if snake(name) in _CHOOSING]
    yield from ((name,) for name in named)
    yield from permutations([name for name in named if name in purpose.needed], 2)


def chooser_names(arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of a plan that select an operation."""
    return tuple(arguments[role] for role in _CHOOSERS if role in arguments)


def choices_together(schemas: Sequence[Record]) -> list[str]:
    """Return the combinations of the choices of several arguments, each as one word."""
    return [together(*map(str, values)) for values in product(*map(listed_values, schemas))]


def together(*said: str) -> str:
    return "_".join(word for word in said if word)


def plan_of(
    purpose: Purpose,
    operation: str,
    backend: str,
    arguments: Mapping[str, str],
    confidence: float,
    reasons: tuple[str, ...],
    **more: Any,
) -> Plan:
    """Return a plan of a backend for an operation. Its verb is `compute` unless `more` has another one."""
    said: dict[str, Any] = {"verb": "compute", **more}
    return Plan(
        purpose.tool.id,
        backend=backend,
        operation=operation,
        arguments=dict(arguments),
        confidence=confidence,
        reasons=tuple(reason for reason in reasons if reason),
        **said,
    )


def matched(roles: Sequence[Role], arguments: Mapping[str, Record], needed: frozenset[str]) -> dict[str, str] | None:
    """Return the argument of each role; None if a role has no argument, or a required argument has no role."""
    found: dict[str, str] = {}
    for role in roles:
        name = next((n for n, s in arguments.items() if compact(n) in role.names and _open(n, s, role, found)), None)
        if name is not None:
            found[role.name] = name
    for role in roles:
        if role.name in found or role.optional or not role.positional:
            continue
        ordered = sorted(arguments, key=lambda name: name not in needed)
        name = next((n for n in ordered if _open(n, arguments[n], role, found) and _is_quantity(n)), None)
        if name is None:
            return None
        found[role.name] = name
    lacking = [role for role in roles if not role.optional and role.name not in found]
    return None if lacking or needed - set(found.values()) else found


def operations_called(word: str, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations with this name, phrase or sign; those with this name come first."""
    name = _SYMBOLS.get(word.strip()) or snake(word)
    phrase = compact(name)
    called = [one for one in operations if one.name == name or phrase in one.phrases]
    return sorted(called, key=lambda one: one.name != name)


def operations_chosen(word: str, tool: Tool, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations that a value of an argument names, alone or combined with the tool's name."""
    about = "_".join(words(last_segment(tool.name)))
    said = (word, f"{about}_{snake(word)}", f"{snake(word)}_{about}")
    named = (operations_called(one, operations) for one in said)
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


def _is_told(purpose: Purpose, operation: Operation) -> bool:
    if operation.against and purpose.says(*operation.against):
        return False
    return not operation.telling or purpose.says(*operation.telling)


def _names(operation: Operation, role: str) -> frozenset[str]:
    return next(one.names for one in operation.roles if one.name == role)


def _told_arguments(arguments: Mapping[str, str]) -> str:
    return ", ".join(f"{name} is the {role}" for role, name in arguments.items() if snake(name) != role)


def _open(name: str, schema: Record, role: Role, taken: Mapping[str, str]) -> bool:
    return name not in taken.values() and bool(kinds_of(schema) & role.types)


def _is_quantity(name: str) -> bool:
    return (words(name) or ("",))[-1] not in _NO_QUANTITY


def _taking(schema: Record, name: str, roles: Sequence[Role]) -> bool:
    return _is_quantity(name) and any(kinds_of(schema) & role.types for role in roles)


Way: TypeAlias = tuple[str, Mapping[str, str]]
"""The name of an operation, and a mapping from its roles to arguments."""


def way_chooser(
    tool: Tool, plan: Plan, known: Collection[str], judged: Callable[[Purpose], Iterable[Way]]
) -> Callable[[Record], Way]:
    """Return a function that chooses the operation of a call by its arguments. `known` are the backend's operations.

    `judged` matches a tool profile to operations, for tools with an argument that selects one. Raises `ValueError` if
    a plan, which a spec may override, names no known operation.
    """
    if plan.operation:
        if plan.operation not in known:
            raise ValueError(f"{tool.id}: {plan.backend} has no operation {plan.operation!r}")
        only = (plan.operation, plan.arguments)
        return lambda _given: only
    chosen = {purpose.choice: list(judged(purpose)) for purpose in purposes_of(tool)}
    ways = {choice: way for choice, found in chosen.items() for way in found}
    if not ways:
        raise ValueError(f"{tool.id}: set `operation` under `sim:`")
    selector, first = plan.arguments.get("operation", ""), next(iter(ways.values()))

    def choose(given: Record) -> Way:
        said = given.get(selector)
        if said is not None and said not in chosen:
            raise Refused("invalid", f"Unknown {selector}: {said!r}; choose {' or '.join(chosen)}")
        return ways.get(str(said), first)

    return choose
