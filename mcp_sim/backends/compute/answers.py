"""Compile the answers of tools that compute their result from the arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from mcp_sim.backends.compute.operation import Arguments, ComputeContext, Operation
from mcp_sim.backends.matching.operations import (
    combined_choices,
    join_choices,
    match_roles,
    operations_named,
    operations_selected,
    selector_arguments,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, as_text, compile_answer
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NO_CHANCE = Draws(0, "", "", 0)
_ANSWER = "answer"

RenderSentence: TypeAlias = Callable[[Record, Json], str]
"""Renders the arguments of a call and the computed value as a sentence."""


def compile_operation(tool: Tool, plan: Plan, domain: Domain, operations: Sequence[Operation]) -> Answer:
    """Return the answer that computes and renders the result of a call. Raises `ValueError` for unknown operations."""
    if plan.operation == "chosen":
        return _compile_choice(tool, plan, domain, operations)
    found = operations_named(plan.operation, operations)
    if not found:
        raise ValueError(f"{tool.id}: there is no operation {plan.operation!r}")
    operation = found[0]
    places = (*operation.places, operation.name, str(plan.fixed.get("target", "")))
    worded = _template(tool, domain, operation, plan)
    declared = properties(tool.input_schema)

    def operate(turn: Turn) -> Outcome:
        values_by_role = _role_values(plan.fixed, plan.arguments, turn.call.arguments, declared)
        return _outcome(turn, operation, values_by_role, plan.arguments, worded)

    return compile_answer(tool, domain, operate, {_ANSWER: places})


def _compile_choice(tool: Tool, plan: Plan, domain: Domain, operations: Sequence[Operation]) -> Answer:
    choosers = selector_arguments(plan.arguments)
    declared = properties(tool.input_schema)
    choices = combined_choices([declared[name] for name in choosers])
    chosen = {choice: operations_selected(choice, tool, operations) for choice in choices}
    places = dict.fromkeys(place for found in chosen.values() for one in found for place in (*one.places, one.name))

    def operate(turn: Turn) -> Outcome:
        values = (turn.call.arguments.get(name, declared[name].get("default", "")) for name in choosers)
        word = join_choices(*(str(one) for one in values))
        here = {
            name: part
            for name, part in declared.items()
            if name not in choosers and (name in turn.call.arguments or "default" in part)
        }
        any_of_them = [one for found in chosen.values() for one in found] if not word else []
        known = chosen.get(word) or operations_selected(word, tool, operations) or any_of_them
        fitting = [(one, roles) for one in known if (roles := match_roles(one.roles, here, frozenset())) is not None]
        if not known and word in choices:
            return Outcome(f"{tool.name}: done", guessed=True)
        if not fitting:
            raise Refused("invalid", _no_operation_message(word, known, choices))
        operation, arguments = fitting[0]
        values_by_role = _role_values({}, arguments, turn.call.arguments, declared)
        return _outcome(turn, operation, values_by_role, arguments, None)

    return compile_answer(tool, domain, operate, {_ANSWER: tuple(places)})


def _outcome(
    turn: Turn, operation: Operation, given: Arguments, arguments: Mapping[str, str], worded: RenderSentence | None
) -> Outcome:
    for one in operation.roles:
        if not one.optional and one.name not in given:
            raise Refused("invalid", f"Missing required argument: {arguments.get(one.name, one.name)}")
    value = operation.compute(given, ComputeContext(turn.now, turn.draws))
    text = as_text(value) if worded is None else worded(turn.call.arguments, value)
    is_json = worded is None and isinstance(value, dict | list)
    return Outcome(text, {_ANSWER: value}, _ANSWER, is_json=is_json, guessed=operation.guesses)


def _no_operation_message(word: str, known: Sequence[Operation], choices: Sequence[Json]) -> str:
    if not known:
        return f"Unknown operation {word!r}. Supported: {', '.join(str(one) for one in choices)}"
    return f"Operation {word!r} needs {' and '.join(role.name for role in known[0].roles if not role.optional)}"


def _role_values(
    fixed: Mapping[str, Json], arguments: Mapping[str, str], called: Record, declared: Mapping[str, Record]
) -> Arguments:
    given: Record = dict(fixed)
    for role, name in arguments.items():
        value = called.get(name, declared.get(name, {}).get("default"))
        if value is not None:
            given[role] = value
    return given


def _template(tool: Tool, domain: Domain, operation: Operation, plan: Plan) -> RenderSentence | None:
    """Return the sentence of an example as a template; None if no example is a text that contains its value."""
    if tool.output_schema is not None:
        return None
    texts = [one for one in domain.examples if one.tool in {tool.id, tool.name} and isinstance(one.result, str)]
    declared = properties(tool.input_schema)
    for example in texts:
        given = _role_values(plan.fixed, plan.arguments, example.arguments, declared)
        try:
            value = as_text(operation.compute(given, ComputeContext(domain.now, _NO_CHANCE)))
        except (Refused, KeyError):
            continue
        if value and value in example.result:
            return _sentence_like(example.result, example.arguments, value)
    return None


def _sentence_like(text: str, example: Record, value: str) -> RenderSentence:
    head, _, tail = text.rpartition(value)
    slots = sorted(example.items(), key=lambda item: -len(as_text(item[1])))

    def fill(part: str, called: Record) -> str:
        for name, shown in slots:
            if len(as_text(shown)) and name in called:
                part = part.replace(as_text(shown), as_text(called[name]))
        return part

    def worded(called: Record, found: Json) -> str:
        return fill(head, called) + as_text(found) + fill(tail, called)

    return worded
