"""Results that are a pair of a success flag and a value, as Python functions return them: `tuple[bool, float]`."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.types.calls import Transition
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, main_type, properties
from mcp_sim.types.json_values import Json, Record
from mcp_sim.types.tools import WRAPPER, Tool, ToolResult


@frozen
class FlaggedResult:
    """The form of a result with a flag before its value."""

    tool: Tool
    """The tool as if it returned the value alone."""
    is_wrapped: bool
    """Whether the value of this tool is in a wrapper, where frameworks put lists and plain values."""

    def flagged(self, transition: Transition, served: Tool) -> Transition:
        """Return a successful transition as the tool that is served shows it."""
        body = transition.observation.body
        if not transition.observation.ok or not isinstance(body, ToolResult) or body.form != "structured":
            return transition
        value: Json = as_object(body.value).get(WRAPPER) if self.is_wrapped else body.value
        shown = served.shown(ToolResult({WRAPPER: [True, value]}))
        return replace(transition, observation=replace(transition.observation, body=shown))


def flagged_result(tool: Tool) -> FlaggedResult | None:
    """Return the form of a tool's result if it has a flag before its value, also if it may be the flag alone."""
    if not isinstance(tool.output_schema, dict) or "prefixItems" not in str(tool.output_schema):
        return None
    whole = expanded(tool.output_schema)
    result = as_object(whole.get("properties")).get(WRAPPER) if [*properties(whole)] == [WRAPPER] else None
    forms = [as_object(form) for form in as_list(as_object(result).get("anyOf"))] or [as_object(result)]
    pairs = [as_list(form.get("prefixItems")) for form in forms if main_type(form) == "array"]
    others = [form for form in forms if main_type(form) not in {"array", "boolean", "null"}]
    if len(pairs) != 1 or len(pairs[0]) != 2 or others:
        return None
    flag, value = map(as_object, pairs[0])
    if main_type(flag) != "boolean" or main_type(value) == "boolean":
        return None
    is_wrapped = main_type(value) != "object"
    schema: Record = {"type": "object", "properties": {WRAPPER: value}, "required": [WRAPPER]} if is_wrapped else value
    return FlaggedResult(replace(tool, definition={**tool.definition, "outputSchema": schema}), is_wrapped)
