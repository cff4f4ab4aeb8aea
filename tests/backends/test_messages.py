"""Tools that pass messages between users, the shapes of given messages, and operations called from Python."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support import matched_tools
from support.backend_answers import STRING, error_text, simulator, success_value, tool

from mcp_sim.backends.library import Library
from mcp_sim.backends.messages.backend import Messages
from mcp_sim.backends.refusal import Refused

NOW = datetime(2030, 1, 1, tzinfo=UTC)
BOOLEAN = {"type": "boolean"}
OBJECT: dict[str, Any] = {"type": "object"}
LIST: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
TOOLS = [
    tool("message_login", {"user_id": STRING}, {"login_status": BOOLEAN}),
    tool(
        "send_message",
        {"receiver_id": STRING, "message": STRING},
        {"sent_status": BOOLEAN, "message_id": {"type": "integer"}, "message": STRING},
    ),
    tool("view_messages_sent", {}, {"messages": OBJECT}),
    tool("search_messages", {"keyword": STRING}, {"results": LIST}),
    tool("delete_message", {"receiver_id": STRING}, {"deleted_status": BOOLEAN, "message": STRING}),
    tool("get_user_id", {"user": STRING}, {"user_id": STRING}),
    tool("list_users", {}, {"user_list": {"type": "array", "items": STRING}}),
    tool("add_contact", {"user_name": STRING}, {"added_status": BOOLEAN, "user_id": STRING}),
]
STATE: dict[str, Any] = {
    "user_map": {"Ada": "USR001", "Bo": "USR002"},
    "user_count": 2,
    "inbox": [{"USR002": "Hello Bo"}],
    "current_user": "USR001",
}


async def test_a_sent_message_is_listed_found_and_deleted(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, state=STATE) as sim, sim.open() as world:
        sent = success_value(await world.call("send_message", {"receiver_id": "USR002", "message": "See you"}))
        assert sent == {"sent_status": True, "message_id": 2, "message": "Message sent to 'USR002' successfully."}
        assert success_value(await world.call("view_messages_sent", {})) == {
            "messages": {"USR002": ["Hello Bo", "See you"]}
        }
        assert success_value(await world.call("search_messages", {"keyword": "SEE"}))["results"] == [
            {"receiver_id": "USR002", "message": "See you"}
        ]
        assert success_value(await world.call("delete_message", {"receiver_id": "USR002"}))["deleted_status"] is True
        assert success_value(await world.call("view_messages_sent", {})) == {"messages": {"USR002": ["Hello Bo"]}}


async def test_users_are_found_by_name_and_new_users_get_the_next_id(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, state=STATE) as sim, sim.open() as world:
        assert success_value(await world.call("get_user_id", {"user": "Bo"})) == {"user_id": "USR002"}
        assert success_value(await world.call("add_contact", {"user_name": "Cy"}))["user_id"] == "USR003"
        assert success_value(await world.call("list_users", {})) == {"user_list": ["Ada", "Bo", "Cy"]}
        assert "already exists" in error_text(await world.call("add_contact", {"user_name": "Cy"}))
        assert "'Dee' not found" in error_text(await world.call("get_user_id", {"user": "Dee"}))
        assert "'USR009' not found" in error_text(
            await world.call("send_message", {"receiver_id": "USR009", "message": "Hi"})
        )


async def test_the_sender_is_who_is_logged_in(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, state={**STATE, "current_user": None}) as sim, sim.open() as world:
        assert "No user" in error_text(await world.call("send_message", {"receiver_id": "USR002", "message": "Hi"}))
        success_value(await world.call("message_login", {"user_id": "USR002"}))
        success_value(await world.call("send_message", {"receiver_id": "USR001", "message": "Hi"}))
        assert success_value(await world.call("view_messages_sent", {}))["messages"]["USR001"] == ["Hi"]


async def test_messages_with_ids_of_their_own_stay_records(tmp_path: Path) -> None:
    tools = [*TOOLS[1:3], tool("get_message", {"message_id": STRING})]
    async with simulator(tmp_path, tools) as sim:
        assert {plan.backend for plan in sim.scenario.domain.plans.values()} & {"messages"} == set()


async def test_a_draft_is_kept_and_not_sent(tmp_path: Path) -> None:
    text = {"receiver_id": STRING, "message": STRING, "draft": BOOLEAN}
    tools = [
        tool("send_message", text, optional=["draft"]), *TOOLS[3:5],
        tool("list_sent_messages", {}), tool("list_draft_messages", {}),
    ]  # fmt: skip
    async with simulator(tmp_path, tools, state=STATE) as sim, sim.open() as world:
        message = {"receiver_id": "USR002", "message": "Not yet"}
        kept = success_value(await world.call("send_message", {**message, "draft": True}))
        assert "Draft" in str(kept)
        before = success_value(await world.call("list_sent_messages", {}))
        assert [row["text"] for row in before] == ["Hello Bo"]
        assert success_value(await world.call("search_messages", {"keyword": "yet"}))["results"] == []
        (draft,) = success_value(await world.call("list_draft_messages", {}))
        assert (draft["text"], draft.get("sent_at")) == ("Not yet", None)
        success_value(await world.call("send_message", {**message, "draft": False}))
        *others, sent = success_value(await world.call("list_sent_messages", {}))
        assert (others, sent["text"]) == (before, "Not yet")
        assert sent["sent_at"] is not None


EMAIL = {
    "id": STRING, "from": STRING, "to": STRING, "subject": STRING, "body": STRING, "thread_id": STRING,
    "is_read": {"type": "boolean"},
}  # fmt: skip
MAIL = [
    tool("send_email", {"to": STRING, "subject": STRING, "body": STRING}),
    tool("get_email", {"email_id": STRING}, EMAIL),
    tool("list_emails", {}, {"emails": {"type": "array", "items": {"type": "object", "properties": EMAIL}}}),
    tool("reply_to_email", {"email_id": STRING, "body": STRING, "save_as_draft": BOOLEAN}, optional=["save_as_draft"]),
    tool("get_email_thread", {"thread_id": STRING}),
    tool("mark_email_as_unread", {"email_id": STRING}),
]
INBOX = [
    {"id": "m1", "from": "ada@vos.example", "to": "me@here.example", "subject": "Bikes", "body": "Two?",
     "thread_id": "t1", "is_read": True},
]  # fmt: skip


async def test_a_reply_goes_to_the_sender_and_stays_in_the_thread(tmp_path: Path) -> None:
    async with simulator(tmp_path, MAIL, {"emails": INBOX}) as sim, sim.open() as world:
        success_value(await world.call("reply_to_email", {"email_id": "m1", "body": "Three."}))
        reply = success_value(await world.call("list_emails", {}))["emails"][-1]
        assert (reply["from"], reply["to"]) == ("me@here.example", "ada@vos.example")
        assert (reply["subject"], reply["body"], reply["thread_id"]) == ("Re: Bikes", "Three.", "t1")
        thread = success_value(await world.call("get_email_thread", {"thread_id": "t1"}))
        assert [row["body"] for row in thread] == ["Two?", "Three."]
        success_value(await world.call("mark_email_as_unread", {"email_id": "m1"}))
        assert success_value(await world.call("get_email", {"email_id": "m1"}))["is_read"] is False
        assert "m9" in error_text(await world.call("reply_to_email", {"email_id": "m9", "body": "?"}))
        draft = await world.call("reply_to_email", {"email_id": "m1", "body": "Four?", "save_as_draft": True})
        assert "draft" in str(success_value(draft))
        ((_, kept),) = world.view.find("email", "body", "Four?")
        assert kept["draft"] is True


INBOX_TOOLS = [
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
        async with simulator(tmp_path, INBOX_TOOLS, state) as sim, sim.open() as world:
            rows = success_value(await world.call("list_received_messages", {}))
            assert [(row["id"], row["sender"], row["text"]) for row in rows] == [(1, "Ada", "Hi"), (2, "Bo", "Two?")]


@pytest.mark.parametrize(
    "users", [{"Ada": "U1", "Bo": "U2"}, [{"id": "U1", "name": "Ada"}, {"user_id": "U2", "username": "Bo"}],
              {"columns": ["id", "name"], "rows": [["U1", "Ada"], ["U2", "Bo"]]}]
)  # fmt: skip
async def test_users_may_be_a_map_or_a_table(tmp_path: Path, users: Any) -> None:
    state: dict[str, Any] = {"work": {"contacts": users, "messages": []}}
    async with simulator(tmp_path, INBOX_TOOLS, state) as sim, sim.open() as world:
        known = success_value(await world.call("list_contacts", {}))
        assert known == [{"id": "U1", "name": "Ada"}, {"id": "U2", "name": "Bo"}]
        assert "'U9' not found" in error_text(await world.call("send_message", {"to": "U9", "text": "Hi"}))


async def test_every_operation_runs_without_a_tool(tmp_path: Path) -> None:
    async with simulator(tmp_path, INBOX_TOOLS, {"inbox": ROWS, "contacts": {"Ada": "U1"}}) as sim, sim.open() as world:
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
    async with matched_tools.simulator(tmp_path, tools, state, spec) as sim, sim.open() as world:
        await matched_tools.answered(world, "whisper", to="Bo", text="Psst")
        assert [row["text"] for row in await matched_tools.answered(world, "told")] == ["Hi", "Psst"]
