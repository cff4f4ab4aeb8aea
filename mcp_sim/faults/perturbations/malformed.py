"""Results in a broken form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

from pydantic import Field

from mcp_sim.faults.results import ResultShape, change_results, with_body
from mcp_sim.types import Json, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_values import encode, get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations

PAGE = """\
<!DOCTYPE html>
<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>nginx</center>
</body>
</html>
"""

Form: TypeAlias = Callable[[Turn, ToolResult, ResultShape], ToolResult | None]


@perturbations.register("malformed")
class Malformed(Perturbation):
    """Return a successful result in a broken form. The effect of the call is committed.

    `cut_json` ends in the middle of the JSON. `html` is the error page of a gateway. `wrong_type` has a list instead of
    an object, or the reverse. `double_encoded` is JSON within a JSON string. `disagree` has other values in text than
    in structuredContent; it needs both.
    """

    stage = Stage.ANSWER

    how: Literal["cut_json", "html", "wrong_type", "double_encoded", "disagree"] = Field(
        default="cut_json", description="The broken form.", examples=["cut_json"]
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        shape, form = ResultShape.of(tool, domain), HOW[self.how]

        def bend(turn: Turn, transition: Transition, _value: Json) -> Transition:
            broken = form(turn, cast("ToolResult", transition.observation.body), shape)
            return turn.no_effect(transition) if broken is None else with_body(transition, broken)

        return change_results(bend)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return False


def _cut_json(turn: Turn, body: ToolResult, _anatomy: ResultShape) -> ToolResult:
    text = body.encoded.decode()
    most = max(1, len(text) - 1)
    return ToolResult(text[: max(1, int(most * (0.3 + 0.6 * turn.chance("cut"))))], form="text")


def _wrong_type(_turn: Turn, body: ToolResult, shape: ResultShape) -> ToolResult | None:
    rows = shape.rows(body.value)
    if rows is None:
        return body.with_value([body.value])
    listed = cast("list[Json]", get_part(body.value, rows))
    return body.with_value(replace_part(body.value, rows, {str(at): row for at, row in enumerate(listed)}))


def _disagree(_turn: Turn, body: ToolResult, shape: ResultShape) -> ToolResult | None:
    other = _otherwise(body.value, shape) if body.form == "structured" else body.value
    return None if other == body.value else replace(body, text=encode(other).decode())


def _otherwise(value: Json, shape: ResultShape) -> Json:
    """Return a different value: a list without its last row, a record with other texts and numbers."""
    rows = shape.rows(value)
    if rows is not None:
        return replace_part(value, rows, cast("list[Json]", get_part(value, rows))[:-1])
    if not isinstance(value, dict):
        return value
    return {name: _other(name, inner, shape) for name, inner in cast("Record", value).items()}


def _other(name: str, value: Json, shape: ResultShape) -> Json:
    if shape.is_text(name, value):
        return " ".join(reversed(value.split())) if " " in value else value[::-1]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and not shape.is_key(name)
    return value + 1 if is_number else value


HOW: Mapping[Any, Form] = {
    "cut_json": _cut_json,
    "html": lambda _turn, _body, _anatomy: ToolResult(PAGE, form="text"),
    "wrong_type": _wrong_type,
    "double_encoded": lambda _turn, body, _anatomy: ToolResult(body.encoded.decode(), form="json"),
    "disagree": _disagree,
}
