"""What a tool asks before it acts: the user, the model, the roots; seen by clients of both protocol eras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CreateMessageResult,
    ListRootsResult,
    Root,
    TextContent,
)
from support.help_desk import Desk, User, eras, scenario, text
from support.stdio_process import MODERN_META, serving

from mcp_sim import Simulator
from mcp_sim.server.testing import connected


@eras
async def test_the_user_is_asked_and_the_answer_is_in_the_ledger(desk: Desk, mode: str) -> None:
    agrees = User(why="done")
    async with desk() as world, connected(world, mode=mode, elicitation_callback=agrees) as client:
        result = await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert not result.is_error
        assert agrees.asked == ["Delete T-1?"]
        assert world.view.get("ticket", "T-1") is None
        steps = world.ledger.steps
        assert [step["entry"] for step in steps] == ["reset", "call"]
        assert steps[1]["answers"]["sure"]["action"] == "accept"
        assert steps[1]["answers"]["sure"]["content"] == {"why": "done"}


@eras
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_what_the_user_does_not_want_is_not_done(desk: Desk, mode: str, action: Any) -> None:
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User(action)) as client:
        result = await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert (result.is_error, text(result)) == (True, "Declined by the user")
        assert world.view.get("ticket", "T-1") is not None
        assert world.ledger.newest["step"]["answers"]["sure"]["action"] == action


@eras
@pytest.mark.parametrize(
    ("content", "is_closed"), [({"now": True}, True), ({"now": False}, False), ({"mail": True}, False), ({}, False)]
)
async def test_the_field_that_confirms_must_be_true(tmp_path: Path, mode: str, content: Any, is_closed: bool) -> None:
    simulator = Simulator.load(asking(tmp_path, ["now", "mail"], confirm="now"))
    async with (
        simulator.open() as world,
        connected(world, mode=mode, elicitation_callback=User(**content)) as client,
    ):
        result = await client.call_tool("drop_all", {})
    assert result.is_error is not is_closed
    assert is_closed or text(result) == "Declined by the user"


def asking(folder: Path, fields: list[str], **options: Any) -> Path:
    """Write a server whose tool asks with a form of booleans, and return its file."""
    form = {"type": "object", "properties": {field: {"type": "boolean"} for field in fields}}
    tool = {"name": "drop_all", "inputSchema": {"type": "object"}}
    sim = {"drop_all": {"ask": {"sure": {"message": "Drop?", "schema": form, **options}}}}
    path = folder / "drop.json"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "drop", "tools": [tool], "sim": sim}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("fields", "answer", "is_declined"),
    [
        (["sure"], {"sure": False}, True),
        (["sure"], {"sure": True}, False),
        (["sure"], {}, False),
        (["a", "b"], {"a": False, "b": False}, False),
    ],
)
async def test_false_in_the_only_boolean_field_declines(
    tmp_path: Path, fields: list[str], answer: Any, is_declined: bool
) -> None:
    async with Simulator.load(asking(tmp_path, fields)).open() as world:
        answers = {"sure": {"action": "accept", "content": answer}}
        assert (await world.call("drop_all", {}, answers=answers)).ok is not is_declined


@eras
async def test_a_client_that_cannot_ask_is_refused_with_what_it_lacks(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert (raised.value.code, raised.value.data) == (-32021, {"requiredCapabilities": {"elicitation": {}}})
        assert world.view.get("ticket", "T-1") is not None
        assert world.ledger.newest["step"]["served"] is None


@eras
async def test_an_invalid_call_raises_no_questions(desk: Desk, mode: str) -> None:
    agrees = User(why="done")
    async with desk() as world, connected(world, mode=mode, elicitation_callback=agrees) as client:
        assert (await client.call_tool("delete_ticket", {"ticket_id": 1})).is_error
        assert agrees.asked == []


@eras
async def test_an_answer_that_does_not_fit_the_form_is_an_error(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User(why=5)) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert raised.value.code == -32602
        assert len(world.ledger.steps) == 1


@eras
@pytest.mark.parametrize("has_roots", [True, False])
async def test_questions_come_in_rounds_to_user_model_and_roots(desk: Desk, mode: str, has_roots: bool) -> None:
    prompts = list[str]()

    async def model(_ctx: Any, params: Any) -> CreateMessageResult:
        prompts.append(params.messages[0].content.text)
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="All quiet"), model="m")

    async def roots(_ctx: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///home")])  # pyright: ignore[reportArgumentType] (parsed)

    options: dict[str, Any] = {"sampling_callback": model, "elicitation_callback": User(style="haiku")}
    if has_roots:
        options["list_roots_callback"] = roots
    async with desk() as world, connected(world, mode=mode, **options) as client:
        answer = text(await client.call_tool("summarize_inbox", {}))
        assert prompts == ["Summarize as a haiku."]
        shown = '[{"uri":"file:///home"}]' if has_roots else "{places.roots}"
        assert answer == f"All quiet / haiku / {shown}"
        assert world.ledger.newest["step"]["arguments"] == {"style": "haiku"}


async def test_from_python_no_questions_are_asked_and_answers_can_be_passed(desk: Desk) -> None:
    async with desk() as world:
        refused = await world.call("delete_ticket", {"ticket_id": "T-1"}, answers={"sure": {"action": "decline"}})
        assert not refused.ok
        assert (await world.call("delete_ticket", {"ticket_id": "T-1"}, answers={"sure": {}})).ok
        assert (await world.call("delete_ticket", {"ticket_id": "T-2"})).ok
        assert "answers" not in world.ledger.newest["step"]


def test_state_that_was_tampered_with_or_is_of_another_call_is_refused(tmp_path: Path) -> None:
    meta: dict[str, Any] = {
        **MODERN_META,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}},
    }
    with serving(str(scenario(tmp_path)), handshake=False) as raw:

        def call(number: int, tool: str, **more: Any) -> dict[str, Any]:
            raw.call(number, tool, {"ticket_id": "T-1"} if tool == "delete_ticket" else {}, _meta=meta, **more)
            return raw.answer()

        first = call(1, "summarize_inbox")["result"]
        assert first["resultType"] == "input_required"
        assert list(first["inputRequests"]) == ["taste"]
        taste = {"taste": {"action": "accept", "content": {"style": "haiku"}}}
        second = call(2, "summarize_inbox", inputResponses=taste, requestState=first["requestState"])["result"]
        assert list(second["inputRequests"]) == ["summary"]
        state = second["requestState"]
        summary = {"summary": {"role": "assistant", "content": {"type": "text", "text": "Quiet"}, "model": "m"}}
        for wrong in (state + "A", state[:-4], "x" + state[1:], "", state.swapcase()):
            assert call(3, "summarize_inbox", inputResponses=summary, requestState=wrong)["error"]["code"] == -32602
        sure = {"sure": {"action": "accept", "content": {"why": "x"}}}
        assert call(4, "delete_ticket", inputResponses=sure, requestState=state)["error"]["code"] == -32602
        done = call(5, "summarize_inbox", inputResponses=summary, requestState=state)["result"]
        assert done["content"] == [{"type": "text", "text": "Quiet / haiku / {places.roots}"}]


def test_a_request_for_answers_is_no_step_until_they_come(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    meta: dict[str, Any] = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    with serving(str(scenario(tmp_path)), "--trace", str(trace), handshake=False) as raw:
        raw.call(1, "delete_ticket", {"ticket_id": "T-1"}, _meta=meta)
        assert raw.answer()["result"]["resultType"] == "input_required"
        raw.leave()
    assert [json.loads(line).get("step", {}).get("entry") for line in trace.read_text().splitlines()] == [None, "reset"]
