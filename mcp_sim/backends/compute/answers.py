"""Compile the answers of tools that compute their result from the arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from mcp_sim.backends.matching.operations import (
    choices_together,
    chooser_names,
    matched,
    operations_called,
    operations_chosen,
    together,
)
from mcp_sim.backends.operation import Circumstances, Given, Operation
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, answering, plain
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NO_CHANCE = Draws(0, "", "", 0)
_ANSWER = "answer"

Worded: TypeAlias = Callable[[Record, Json], str]
"""Renders the arguments of a call and the computed value as a sentence."""


def computing(tool: Tool, plan: Plan, domain: Domain, operations: Sequence[Operation]) -> Answer:
    """Return the answer that computes and renders the result of a call. Raises `ValueError` for unknown operations."""
    if plan.operation == "chosen":
        return _choosing(tool, plan, domain, operations)
    found = operations_called(plan.operation, operations)
    if not found:
        raise ValueError(f"{tool.id}: there is no operation {plan.operation!r}")
    operation = found[0]
    places = (*operation.places, operation.name, str(plan.fixed.get("target", "")))
    worded = _template(tool, domain, operation, plan)
    declared = properties(tool.input_schema)

    def operate(turn: Turn) -> Outcome:
        given = _given(plan.fixed, plan.arguments, turn.call.arguments, declared)
        return _worked_out(turn, operation, given, plan.arguments, worded)

    return answering(tool, domain, operate, {_ANSWER: places})


def _choosing(tool: Tool, plan: Plan, domain: Domain, operations: Sequence[Operation]) -> Answer:
    choosers = chooser_names(plan.arguments)
    declared = properties(tool.input_schema)
    choices = choices_together([declared[name] for name in choosers])
    chosen = {choice: operations_chosen(choice, tool, operations) for choice in choices}
    places = dict.fromkeys(place for found in chosen.values() for one in found for place in (*one.places, one.name))

    def operate(turn: Turn) -> Outcome:
        said = (turn.call.arguments.get(name, declared[name].get("default", "")) for name in choosers)
        word = together(*(str(one) for one in said))
        here = {
            name: part
            for name, part in declared.items()
            if name not in choosers and (name in turn.call.arguments or "default" in part)
        }
        any_of_them = [one for found in chosen.values() for one in found] if not word else []
        known = chosen.get(word) or operations_chosen(word, tool, operations) or any_of_them
        fitting = [(one, roles) for one in known if (roles := matched(one.roles, here, frozenset())) is not None]
        if not known and word in choices:
            return Outcome(f"{tool.name}: done", guessed=True)
        if not fitting:
            raise Refused("invalid", _not_chosen(word, known, choices))
        operation, arguments = fitting[0]
        given = _given({}, arguments, turn.call.arguments, declared)
        return _worked_out(turn, operation, given, arguments, None)

    return answering(tool, domain, operate, {_ANSWER: tuple(places)})


def _worked_out(
    turn: Turn, operation: Operation, given: Given, arguments: Mapping[str, str], worded: Worded | None
) -> Outcome:
    for one in operation.roles:
        if not one.optional and one.name not in given:
            raise Refused("invalid", f"Missing required argument: {arguments.get(one.name, one.name)}")
    value = operation.compute(given, Circumstances(turn.now, turn.draws))
    text = plain(value) if worded is None else worded(turn.call.arguments, value)
    is_json = worded is None and isinstance(value, dict | list)
    return Outcome(text, {_ANSWER: value}, _ANSWER, is_json=is_json, guessed=operation.guesses)


def _not_chosen(word: str, known: Sequence[Operation], choices: Sequence[Json]) -> str:
    if not known:
        return f"Unknown operation {word!r}. Supported: {', '.join(str(one) for one in choices)}"
    return f"Operation {word!r} needs {' and '.join(role.name for role in known[0].roles if not role.optional)}"


def _given(
    fixed: Mapping[str, Json], arguments: Mapping[str, str], called: Record, declared: Mapping[str, Record]
) -> Given:
    given: Record = dict(fixed)
    for role, name in arguments.items():
        value = called.get(name, declared.get(name, {}).get("default"))
        if value is not None:
            given[role] = value
    return given


def _template(tool: Tool, domain: Domain, operation: Operation, plan: Plan) -> Worded | None:
    """Return the sentence of an example as a template; None if no example is a text that contains its value."""
    if tool.output_schema is not None:
        return None
    texts = [one for one in domain.examples if one.tool in {tool.id, tool.name} and isinstance(one.result, str)]
    declared = properties(tool.input_schema)
    for example in texts:
        given = _given(plan.fixed, plan.arguments, example.arguments, declared)
        try:
            value = plain(operation.compute(given, Circumstances(domain.now, _NO_CHANCE)))
        except (Refused, KeyError):
            continue
        if value and value in example.result:
            return _worded(example.result, example.arguments, value)
    return None


def _worded(text: str, example: Record, value: str) -> Worded:
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
