"""Results that report a failure without `isError`: verdicts, and later calls, take them for failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service

from mcp_sim.types import Observation, ToolResult
from mcp_sim.world.trace import observation_bytes, observation_of

TEXT = {"type": "string"}
RETURNED = {"type": "object", "properties": {"result": TEXT}, "required": ["result"]}
DICT_OR_TEXT = {
    "type": "object",
    "properties": {"result": {"anyOf": [{"type": "object", "additionalProperties": True}, TEXT]}},
    "required": ["result"],
}
SOFT = "{not_found: {json: {ok: false, error: 'no boat {id}'}, soft: true}}"


def tools(output: dict[str, Any] | None) -> str:
    arguments = {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}
    described = {} if output is None else {"outputSchema": output}
    return json.dumps([{"name": "get_boat", "description": "Get a boat.", "inputSchema": arguments, **described}])


@pytest.mark.parametrize("output", [RETURNED, DICT_OR_TEXT, None])
async def test_a_failure_in_a_result_is_no_call_with_success(tmp_path: Path, output: dict[str, Any] | None) -> None:
    spec = f"tools: {tools(output)}\n" + ("" if output else f"errors: {SOFT}")
    given, ending = "state: {boats: [{id: b1, name: Ada}]}", "expect: [{called: get_boat}]"
    async with service(tmp_path, spec, given, ending=ending) as sim, sim.open() as world:
        missing = await world.call("get_boat", {"id": "b9"})
        assert isinstance(missing.body, ToolResult)
        assert (missing.ok, missing.is_error, missing.body.is_error) == (False, False, False)
        assert world.grade().verdicts[0].outcome == "failed"
        assert (await world.call("get_boat", {"id": "b1"})).ok
        assert world.grade().verdicts[0].outcome == "passed"


def test_a_trace_keeps_that_a_result_reports_a_failure() -> None:
    observation = Observation(ToolResult({"result": "No boat b9"}, is_failure=True))
    assert observation_of(json.loads(observation_bytes(observation))) == observation
