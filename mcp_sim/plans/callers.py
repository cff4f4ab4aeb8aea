"""Answer calls with the token of an account as if they named the account."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.types import Tool, Transition, Turn
from mcp_sim.types.callers import Caller
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.kinds import Answer, Invent


def with_caller(answer: Answer, caller: Caller, tool: Tool, domain: Domain) -> Answer:
    """Return the answer to calls with tokens. An unknown one is refused unless an earlier call may have issued it."""
    token_name, name = caller.argument, caller.name
    accounts = [entity for entity in sorted(domain.given) if token_name in domain.entities[entity].fields]
    issuing = {id_ for id_, other in domain.tools.items() if token_name not in properties(other.input_schema)}

    def answer_of_caller(turn: Turn, invent: Invent) -> Transition:
        token = turn.call.arguments.get(token_name)
        rows = [row for entity in accounts for _, row in turn.view.find(entity, token_name, token)]
        known = next((row[name] for row in rows if token is not None and name in row), None)
        if known is not None:
            named = {at: value for at, value in turn.call.arguments.items() if at != token_name}
            return answer(replace(turn, call=replace(turn.call, arguments={**named, name: known})), invent)
        if token is None or any(past.tool in issuing for past in turn.history):
            return answer(turn, invent).marked(f"nothing says whose {token_name} it is")
        return Transition(tool.failure("invalid", f"Invalid {token_name}"))

    return answer_of_caller
