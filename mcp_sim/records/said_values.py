"""Which values do the words of a tool allow what it writes, though its schema allows any?"""

from __future__ import annotations

from mcp_sim.choices import demanded
from mcp_sim.docstrings import described
from mcp_sim.domain import Plan
from mcp_sim.extensions import Invent
from mcp_sim.records.arguments import argument
from mcp_sim.records.effects import Effect, Write
from mcp_sim.records.refusals import either, invalid
from mcp_sim.schemas import at, expanded
from mcp_sim.types import Observation, Tool, Turn


def as_said(tool: Tool, plan: Plan, write: Write) -> Write:
    """The write, refused where it is given a value that is none of those that the tool's words list."""
    schema = expanded(described(tool).input_schema)
    allowed = {path: choices for path in plan.sets if (choices := demanded(at(schema, path)))}
    if not allowed:
        return write
    tests = [
        (path, argument(path), choices, {str(one).lower() for one in choices}) for path, choices in allowed.items()
    ]

    def checked(turn: Turn, invent: Invent) -> Effect | Observation:
        for path, fetch, choices, known in tests:
            value = fetch(turn.call.arguments)
            if isinstance(value, str) and value and value.lower() not in known:
                return invalid(tool, path, value, f"Invalid {path}: {value!r} is not one of {either(choices)}")
        return write(turn, invent)

    return checked
