"""Tools with an argument that selects one of several operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mcp_sim.plans.refusal import choices_text, invalid
from mcp_sim.types import Json, Tool, Transition, Turn
from mcp_sim.types.json_schema.shapes import properties, required
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.plans import Plan


def choice_answer(tool: Tool, plan: Plan, compiled: Callable[[Plan], Answer]) -> Answer:
    """Return the answer of a tool whose argument `plan.choice` selects one of `plan.choices`.

    Without the argument, the default of its schema is meant, or the first choice if the argument is optional.
    Transitions of a guessed choice are marked as guessed.
    """
    name = plan.choice or ""
    answers = {value: _marked(choice, compiled(_with_result(choice, plan))) for value, choice in plan.choices.items()}
    first = None if name in required(tool.input_schema) else next(iter(answers), None)
    usual: Json = properties(tool.input_schema).get(name, {}).get("default", first)

    def answer(turn: Turn, invent: Invent) -> Transition:
        asked = turn.call.arguments.get(name, usual)
        chosen = answers.get(asked) if isinstance(asked, str) else None
        if chosen is not None:
            return chosen(turn, invent)
        return Transition(invalid(tool, name, asked, f"{name} must be {choices_text(answers)}"))

    return answer


def _with_result(variant: Plan, plan: Plan) -> Plan:
    """Return the plan of a choice with the result templates of the tool, unless it has its own."""
    return variant if variant.result or not plan.result else replace(variant, result=plan.result)


def _marked(plan: Plan, answer: Answer) -> Answer:
    if not plan.guessed:
        return answer
    return lambda turn, invent: replace(answer(turn, invent), guessed=True)
