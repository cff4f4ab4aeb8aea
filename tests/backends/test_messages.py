"""Tools that pass messages between users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.backend_answers import STRING, error_text, simulator, success_value, tool

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


EMAIL = {
    "id": STRING, "from": STRING, "to": STRING, "subject": STRING, "body": STRING, "thread_id": STRING,
    "is_read": {"type": "boolean"},
}  # fmt: skip
MAIL = [
    tool("send_email", {"to": STRING, "subject": STRING, "body": STRING}),
    tool("get_email", {"email_id": STRING}, EMAIL),
    tool("list_emails", {}, {"emails": {"type": "array", "items": {"type": "object", "properties": EMAIL}}}),
    tool("reply_to_email", {"email_id": STRING, "body": STRING}),
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
