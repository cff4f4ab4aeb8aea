"""Tools that calculate, matched by their names and arguments only."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.backend_answers import INTEGER, NUMBER, NUMBERS, STRING, Json, error_text, simulator, success_value, tool

from mcp_sim.plans.compute.expressions import calculate
from mcp_sim.plans.compute.units import convert_unit
from mcp_sim.plans.refusal import Refused

RESULT = {"result": NUMBER}
CALCULATOR = tool("calculate", {"expression": STRING}, about="Evaluate a mathematical expression.")


@pytest.mark.parametrize(
    ("definition", "arguments", "expected"),
    [
        (tool("add", {"a": NUMBER, "b": NUMBER}, RESULT), {"a": 2, "b": 3}, {"result": 5}),
        (tool("math-subtract", {"minuend": NUMBER, "subtrahend": NUMBER}, RESULT), {"minuend": 2, "subtrahend": 3},
         {"result": -1}),
        (tool("multiplyNumbers", {"num1": NUMBER, "num2": NUMBER}, {"product": NUMBER}), {"num1": 4, "num2": 5},
         {"product": 20}),
        (tool("sum_values", {"values": NUMBERS}, {"total": NUMBER}), {"values": [1, 2, 3.5]}, {"total": 6.5}),
        (tool("average", {"data": NUMBERS}, {"mean": NUMBER, "count": INTEGER}), {"data": [1, 2, 6]},
         {"mean": 3, "count": 1}),
        (tool("standard_deviation", {"numbers": NUMBERS}, RESULT), {"numbers": [2, 4, 4, 4, 5, 5, 7, 9]},
         {"result": 2}),
        (tool("percentage", {"part": NUMBER, "whole": NUMBER}, RESULT), {"part": 5, "whole": 20}, {"result": 25}),
        (tool("power", {"base": NUMBER, "exponent": NUMBER}, RESULT), {"base": 2, "exponent": 10}, {"result": 1024}),
        (tool("round_number", {"number": NUMBER, "decimal_places": INTEGER}, RESULT),
         {"number": 2.345, "decimal_places": 1}, {"result": 2.3}),
        (tool("logarithm", {"value": NUMBER, "base": NUMBER}, RESULT), {"value": 1000, "base": 10}, {"result": 3}),
        (tool("miles_to_kilometers", {"miles": NUMBER}, {"kilometers": NUMBER}), {"miles": 2},
         {"kilometers": 3.218688}),
        (tool("unit_conversion", {"value": NUMBER, "from_unit": STRING, "to_unit": STRING}, RESULT),
         {"value": 100, "from_unit": "celsius", "to_unit": "fahrenheit"}, {"result": 212}),
    ],
)  # fmt: skip
async def test_a_tool_computes_the_operation_of_its_name(
    tmp_path: Path, definition: Json, arguments: Json, expected: Json
) -> None:
    async with simulator(tmp_path, [definition]) as sim, sim.open() as world:
        answer = success_value(await world.call(definition["name"], arguments))
        assert answer == pytest.approx({**expected, **({"count": answer["count"]} if "count" in expected else {})})


async def test_expressions_are_evaluated_and_never_executed(tmp_path: Path) -> None:
    async with simulator(tmp_path, [CALCULATOR]) as sim, sim.open() as world:
        assert success_value(await world.call("calculate", {"expression": "2 + 3 * (4 - 1)^2"})) == "29"
        assert success_value(await world.call("calculate", {"expression": "0.1 + 0.2"})) == "0.3"
        assert error_text(await world.call("calculate", {"expression": "10 / (5 - 5)"})) == "Division by zero"
        assert "position" in error_text(await world.call("calculate", {"expression": "2 +* 3"}))
        assert "Unknown function '__import__'" in error_text(
            await world.call("calculate", {"expression": "__import__('os')"})
        )
        assert "too large" in error_text(await world.call("calculate", {"expression": "9**9**9"}))


@pytest.mark.parametrize(
    "expression",
    ["sqrt(-1)", "x + 1", "().__class__", "[1]*9", "'a'*9", "1 if 1 else 2", "lambda: 1", "1e999", "(" * 999, ""],
)
def test_invalid_expressions_are_refused_with_a_message(expression: str) -> None:
    with pytest.raises(Refused, match=r"\w"):
        calculate(expression)


@given(
    st.floats(-1e6, 1e6),
    st.sampled_from([("km", "mile"), ("celsius", "kelvin"), ("kg", "lb"), ("MB", "KiB"), ("m2", "acre")]),
)
def test_converting_to_a_unit_and_back_is_identity(value: float, units: tuple[str, str]) -> None:
    there = convert_unit(value, units[0], units[1])
    assert math.isclose(convert_unit(there, units[1], units[0]), value, rel_tol=1e-9, abs_tol=1e-6)


def test_incompatible_units_are_refused_with_the_alternatives() -> None:
    with pytest.raises(Refused, match=r"Unknown unit 'parsnip'.*length: meter"):
        convert_unit(1, "parsnip", "m")
    with pytest.raises(Refused, match=r"units of mass are kilogram, gram"):
        convert_unit(1, "kg", "m")
