"""Which tools work something out of their arguments, and how do they answer?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.abilities.operation import Circumstances, Given, Operation, Refused, Role, compact
from mcp_sim.claiming.tellings import plain, telling
from mcp_sim.claiming.traits import Traits, choices_of, kinds_of
from mcp_sim.domain import Domain, Plan
from mcp_sim.draws import Draws
from mcp_sim.extensions import Answer, Invent
from mcp_sim.schemas import properties
from mcp_sim.types import Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.words import snake, vocabulary, words

_NOISE = vocabulary(
    "calculate compute calc calculator get find math maths arithmetic perform do tool number numbers num nums value "
    "values two list of the a an function operation matrix matrices vector vectors text string str"
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
_NO_CHANCE = Draws(0, "", "", 0)
_CHOOSING = vocabulary("operation operator op operation_type action function method type mode")


def recognised(traits: Traits, operations: Sequence[Operation], behaviour: str) -> Plan | None:
    """The plan of a tool that does one of these operations, by its name and by all that it requires."""
    for phrase in _phrases(traits.words):
        for operation in operations:
            if compact(phrase) not in operation.phrases or not _is_told(traits, operation):
                continue
            arguments = matched(operation.roles, traits.arguments, traits.required)
            if arguments is not None:
                sure = all(compact(traits_name) in _names(operation, role) for role, traits_name in arguments.items())
                reasons = (f"'{phrase.replace('_', ' ')}' means {operation.name}", _told_arguments(arguments))
                return plan_of(traits, operation.name, behaviour, arguments, 0.9 if sure else 0.75, reasons)
    return None


def chosen_among(traits: Traits, operations: Sequence[Operation], behaviour: str) -> Plan | None:
    """The plan of a tool with an argument that says which of the operations it does."""
    for name, schema in traits.arguments.items():
        values = choices_of(schema)
        known = [value for value in values if operation_called(str(value), operations) is not None]
        if snake(name) not in _CHOOSING or len(known) < 2 or 2 * len(known) < len(values):
            continue
        rest = {other: part for other, part in traits.arguments.items() if other != name}
        roles = [role for value in known for role in _of(value, operations).roles]
        if any(_taking(part, other, roles) for other, part in rest.items()):
            reasons = (f"'{name}' chooses among {', '.join(str(value) for value in known)}",)
            return plan_of(traits, "chosen", behaviour, {"operation": name}, 0.85, reasons)
    return None


def plan_of(
    traits: Traits,
    operation: str,
    behaviour: str,
    arguments: Mapping[str, str],
    confidence: float,
    reasons: tuple[str, ...],
    **more: Any,
) -> Plan:
    """A plan of a behaviour that changes nothing, unless `more` says otherwise."""
    said: dict[str, Any] = {"verb": "compute", **more}
    return Plan(
        traits.id,
        behaviour=behaviour,
        operation=operation,
        arguments=dict(arguments),
        confidence=confidence,
        reasons=tuple(reason for reason in reasons if reason),
        **said,
    )


def matched(roles: Sequence[Role], arguments: Mapping[str, Record], needed: frozenset[str]) -> dict[str, str] | None:
    """Which argument plays which role; None where a role has none, or a required argument has no role."""
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


def operation_called(word: str, operations: Sequence[Operation]) -> Operation | None:
    """The operation of this name, phrase or sign."""
    name = _SYMBOLS.get(word.strip()) or snake(word)
    exact = (one for one in operations if one.name == name)
    return next(exact, None) or next((one for one in operations if compact(name) in one.phrases), None)


def computing(tool: Tool, plan: Plan, domain: Domain, operations: Sequence[Operation]) -> Answer:
    """The closure that works out the value of a call, and tells it."""
    if plan.operation == "chosen":
        return _choosing(tool, plan, domain, operations)
    operation = _of(plan.operation, operations)
    return _computing(tool, plan, domain, operation, plan.arguments)


def _computing(tool: Tool, plan: Plan, domain: Domain, operation: Operation, arguments: Mapping[str, str]) -> Answer:
    target = str(plan.fixed.get("target", ""))
    tell = telling(tool, domain, (*operation.places, operation.name, target))
    shown = _template(tool, domain, operation, plan.fixed, arguments)
    declared = properties(tool.input_schema)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        given = _given(plan.fixed, arguments, turn.call.arguments, declared)
        try:
            _check(operation, given, arguments)
            value = operation.compute(given, Circumstances(turn.now, turn.draws))
        except Refused as refused:
            return Transition(tool.failure("invalid", str(refused), **turn.call.arguments))
        if shown is not None:
            return Transition(Observation(ToolResult(shown(turn.call.arguments, value), form="text")))
        return Transition(tell(turn, value, {}))

    return answer


def _choosing(tool: Tool, plan: Plan, domain: Domain, operations: Sequence[Operation]) -> Answer:
    chooser = plan.arguments["operation"]
    schema = properties(tool.input_schema)
    rest = {name: part for name, part in schema.items() if name != chooser}

    def answer(turn: Turn, invent: Invent) -> Transition:
        word = str(turn.call.arguments.get(chooser, schema.get(chooser, {}).get("default", "")))
        given = {name: part for name, part in rest.items() if name in turn.call.arguments or "default" in part}
        operation = next((one for one in _called(word, operations) if _fits(one, given)), None)
        if operation is None:
            sentence = _not_chosen(word, operations, choices_of(schema[chooser]))
            return Transition(tool.failure("invalid", sentence, **turn.call.arguments))
        return _computing(tool, plan, domain, operation, matched(operation.roles, given, frozenset()) or {})(
            turn, invent
        )

    return answer


def _not_chosen(word: str, operations: Sequence[Operation], choices: Sequence[Json]) -> str:
    known = operation_called(word, operations)
    if known is None:
        return f"Unknown operation {word!r}. Supported: {', '.join(str(one) for one in choices)}"
    return f"Operation {word!r} needs {' and '.join(role.name for role in known.roles if not role.optional)}"


def _called(word: str, operations: Sequence[Operation]) -> Iterator[Operation]:
    name = _SYMBOLS.get(word.strip()) or snake(word)
    yield from (one for one in operations if one.name == name or compact(name) in one.phrases)


def _fits(operation: Operation, given: Mapping[str, Record]) -> bool:
    return matched(operation.roles, given, frozenset()) is not None


def _of(name: str, operations: Sequence[Operation]) -> Operation:
    found = operation_called(str(name), operations)
    if found is None:
        raise ValueError(f"there is no operation {name!r}")
    return found


def _phrases(named: Sequence[str]) -> Iterator[str]:
    """The name as it is, then without the words that say nothing."""
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


def _is_told(traits: Traits, operation: Operation) -> bool:
    if operation.against and traits.says(*operation.against):
        return False
    return not operation.telling or traits.says(*operation.telling)


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


def _given(
    fixed: Mapping[str, Json], arguments: Mapping[str, str], called: Record, declared: Mapping[str, Record]
) -> Given:
    given: Record = dict(fixed)
    for role, name in arguments.items():
        value = called.get(name, declared.get(name, {}).get("default"))
        if value is not None:
            given[role] = value
    return given


def _check(operation: Operation, given: Given, arguments: Mapping[str, str]) -> None:
    for one in operation.roles:
        if not one.optional and one.name not in given:
            raise Refused(f"Missing required argument: {arguments.get(one.name, one.name)}")


def _template(
    tool: Tool, domain: Domain, operation: Operation, fixed: Mapping[str, Json], arguments: Mapping[str, str]
) -> Callable[[Record, Json], str] | None:
    """How an example words the value, where it is a text that holds it; None where there is none."""
    if tool.output_schema is not None:
        return None
    texts = [one for one in domain.examples if one.tool in {tool.id, tool.name} and isinstance(one.result, str)]
    declared = properties(tool.input_schema)
    for example in texts:
        given = _given(fixed, arguments, example.arguments, declared)
        try:
            value = plain(operation.compute(given, Circumstances(domain.now, _NO_CHANCE)))
        except (Refused, KeyError):
            continue
        if value and value in example.result:
            return _worded(example.result, example.arguments, value)
    return None


def _worded(text: str, example: Record, value: str) -> Callable[[Record, Json], str]:
    head, _, tail = text.rpartition(value)
    slots = sorted(example.items(), key=lambda item: -len(plain(item[1])))

    def fill(part: str, called: Record) -> str:
        for name, shown in slots:
            if len(plain(shown)) and name in called:
                part = part.replace(plain(shown), plain(called[name]))
        return part

    def worded(called: Record, found: Json) -> str:
        return fill(head, called) + plain(found) + fill(tail, called)

    return worded
