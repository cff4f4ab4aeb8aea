"""Operations on messages, called from Python, and the shapes in which a state gives messages."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.backend_answers import STRING, error_text, simulator, success_value, tool
from support.matched_tools import answered
from support.matched_tools import simulator as declared_simulator

from mcp_sim.backends.library import Library
from mcp_sim.backends.messages.backend import Messages
from mcp_sim.backends.refusal import Refused

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TOOLS = [
    tool("send_message", {"to": STRING, "text": STRING}),
    tool("list_received_messages", {}),
    tool("list_contacts", {}),
]
ROWS = [{"sender": "Ada", "receiver": "me", "text": "Hi"}, {"sender": "Bo", "receiver": "me", "text": "Two?"}]
INBOXES: list[Any] = [
    ROWS,
    {"m1": ROWS[0], "m2": ROWS[1]},
    {"columns": ["sender", "receiver", "text"], "rows": [[*row.values()] for row in ROWS]},
    {"rows": [{"From": row["sender"], "To": row["receiver"], "Body": row["text"]} for row in ROWS]},
    {"Ada": "Hi", "Bo": "Two?"},
    {"Ada": ["Hi"], "Bo": ["Two?"]},
    [{"Ada": "Hi"}, {"Bo": "Two?"}],
]


@pytest.mark.parametrize("inbox", INBOXES)
async def test_an_inbox_is_found_in_every_shape_and_under_wrappers(tmp_path: Path, inbox: Any) -> None:
    for state in ({"inbox": inbox}, {"server": {"mail": {"inbox": inbox, "current_user": "me"}}}):
        async with simulator(tmp_path, TOOLS, state) as sim, sim.open() as world:
            rows = success_value(await world.call("list_received_messages", {}))
            assert [(row["id"], row["sender"], row["text"]) for row in rows] == [(1, "Ada", "Hi"), (2, "Bo", "Two?")]


@pytest.mark.parametrize(
    "users", [{"Ada": "U1", "Bo": "U2"}, [{"id": "U1", "name": "Ada"}, {"user_id": "U2", "username": "Bo"}],
              {"columns": ["id", "name"], "rows": [["U1", "Ada"], ["U2", "Bo"]]}]
)  # fmt: skip
async def test_users_may_be_a_map_or_a_table(tmp_path: Path, users: Any) -> None:
    state: dict[str, Any] = {"work": {"contacts": users, "messages": []}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open() as world:
        known = success_value(await world.call("list_contacts", {}))
        assert known == [{"id": "U1", "name": "Ada"}, {"id": "U2", "name": "Bo"}]
        assert "'U9' not found" in error_text(await world.call("send_message", {"to": "U9", "text": "Hi"}))


async def test_every_operation_runs_without_a_tool(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, {"inbox": ROWS, "contacts": {"Ada": "U1"}}) as sim, sim.open() as world:
        messages = Library("messages", world.view, NOW)
        texts = {
            "add_user": messages.add_user("Bo"),
            "find_user": messages.find_user("Bo"),
            "list_users": messages.list_users(),
            "send": messages.send("U2", "See you"),
            "list_messages": messages.list_messages(),
            "search": messages.search("SEE"),
            "count": messages.count(),
            "mark_all": messages.mark_all("Ada"),
            "mark": messages.mark(3, False),
            "reply": messages.reply(1, "Back"),
            "thread": messages.thread(1),
            "unsend": messages.unsend("U2"),
        }
        assert texts.keys() == Messages().known.keys()
        assert texts["find_user"].text == "U2"
        assert texts["list_users"].text == "Ada (U1)\nBo (U2)"
        assert texts["list_messages"].text.splitlines() == ["Ada to me: Hi", "Bo to me: Two?", "me to U2: See you"]
        assert texts["search"].text == "U2: See you"
        assert texts["count"].text == "3 messages sent, 0 received"
        assert texts["mark_all"].text == "1 messages marked as read"
        assert [row["text"] for row in texts["thread"].facts["messages"]] == ["Hi", "Back"]
        with pytest.raises(Refused, match="No messages found"):
            messages.unsend("U2")


async def test_a_tool_may_be_declared_as_an_operation(tmp_path: Path) -> None:
    tools = [tool("whisper", {"to": STRING, "text": STRING}), tool("told", {})]
    spec = {"sim": {"whisper": {"backend": "messages", "operation": "send"},
                    "told": {"backend": "messages", "operation": "list_messages"}}}  # fmt: skip
    state = {"mail": {"sent": [{"to": "Ada", "text": "Hi"}]}}
    async with declared_simulator(tmp_path, tools, state, spec) as sim, sim.open() as world:
        await answered(world, "whisper", to="Bo", text="Psst")
        assert [row["text"] for row in await answered(world, "told")] == ["Hi", "Psst"]
