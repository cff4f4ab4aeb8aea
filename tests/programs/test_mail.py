"""The mailbox: searches, threads, labels and filters, and what is refused."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
ME = "nora@spokeandbell.example"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_mail")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> str:
    return value(await world.call(tool, arguments))


async def ids(world: World, query: str) -> list[str]:
    return re.findall(r"^ID: (.*)$", await ask(world, "search_emails", query=query, maxResults=50), re.MULTILINE)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("from:amina", 3),
        ("from:amina is:unread", 1),
        ('to:amina OR subject:"air compressor"', 3),
        ("label:invoices has:attachment", 2),
        ("label:Invoices -has:attachment", 1),
        ("{subject:fair subject:lots} newer_than:7d", 1),
        ("wheel", 0),
        ("wheel in:anywhere", 1),
        ("in:spam", 1),
        ("after:2029/02/20 before:2029/02/25 in:inbox", 4),
        ("larger:100k", 1),
        ("filename:pdf older_than:2d", 3),
        ("subject:(invoice reminder)", 1),
        ("is:read in:inbox -label:workshop", 5),
    ],
)
async def test_searches_mean_what_they_mean_in_gmail(query: str, found: int, world: World) -> None:
    assert len(await ids(world, query)) == found


async def test_an_answer_is_in_its_thread_and_a_message_to_oneself_arrives_and_is_filtered(world: World) -> None:
    (first,) = await ids(world, "from:pia is:starred")
    thread = (await ask(world, "read_email", messageId=first)).split("\n")[0].removeprefix("Thread ID: ")
    sent = await ask(world, "send_email", to=["pia@x.example"], subject="Re: Repair day", body="Yes", threadId=thread)
    assert (await ask(world, "read_email", messageId=sent.rpartition(" ")[2])).startswith(f"Thread ID: {thread}\n")
    action = {"addLabelIds": ["Label_15"], "removeLabelIds": ["INBOX"]}
    made = await ask(world, "create_filter", criteria={"subject": "trip"}, action=action)
    assert "Criteria: subject: trip\nActions: addLabelIds: Label_15, removeLabelIds: INBOX" in made
    await ask(world, "send_email", to=[ME], subject="My trip", body="Pack.", cc=["Jonas <jonas@x.example>"])
    assert len(await ids(world, "label:travel subject:trip -in:inbox is:unread")) == 1
    assert await ids(world, "in:drafts") == []
    await ask(world, "draft_email", to=[ME], subject="My trip", body="Later.")
    assert len(await ids(world, "in:drafts")) == 1


async def test_labels_are_put_on_many_messages_and_go_with_their_deletion(world: World) -> None:
    made = await ask(world, "create_label", name="School")
    label = made.split("\n")[1].removeprefix("ID: ")
    assert label in await ask(world, "get_or_create_label", name="School")
    messages = await ids(world, "from:pia")
    done = await ask(world, "batch_modify_emails", messageIds=[*messages, "18e0"], addLabelIds=[label])
    assert done.startswith(
        "Batch label modification complete.\nSuccessfully processed: 2 messages\nFailed to process: 1"
    )
    assert await ids(world, "label:school") == messages
    await ask(world, "update_label", id=label, name="Repair day")
    assert await ids(world, "label:repair-day") == messages
    assert await ask(world, "delete_label", id=label) == 'Label "Repair day" deleted successfully.'
    assert await ids(world, "label:repair-day") == []
    await ask(world, "batch_delete_emails", messageIds=messages)
    assert await ids(world, "from:pia in:anywhere") == []


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("read_email", {"messageId": "18e0"}, "not found"),
        ("send_email", {"to": ["nobody"], "subject": "x", "body": "y"}, "address is invalid: nobody"),
        ("send_email", {"to": [ME], "subject": "x", "body": "y", "threadId": "18e0"}, "not found"),
        ("modify_email", {"messageId": "18e0", "addLabelIds": ["INBOX"]}, "not found"),
        ("delete_email", {"messageId": "18e0"}, "not found"),
        ("create_label", {"name": "invoices"}, "already exists"),
        ("update_label", {"id": "Label_14", "name": "Travel"}, "exists or conflicts"),
        ("delete_label", {"id": "INBOX"}, "Cannot delete system label"),
        ("create_filter", {"criteria": {}, "action": {"addLabelIds": ["INBOX"]}}, "Invalid filter criteria"),
        ("create_filter", {"criteria": {"from": "a"}, "action": {"addLabelIds": ["X"]}}, "Invalid label: X"),
        ("create_filter_from_template", {"template": "withSubject", "parameters": {}}, "subjectText is required"),
        ("get_filter", {"filterId": "ANe"}, "not found"),
        ("delete_filter", {"filterId": "ANe"}, "not found"),
        ("download_attachment", {"messageId": "18e0", "attachmentId": "x"}, "Failed to download"),
    ],
)
async def test_what_is_refused_is_an_ordinary_result_and_writes_nothing(
    tool: str, arguments: Json, error: str, world: World
) -> None:
    before = {entity: [*world.view.rows(entity)] for entity in world.view.entities()}
    answer = await world.call(tool, arguments)
    assert answer.ok
    assert error in str(value(answer))
    assert {entity: [*world.view.rows(entity)] for entity in world.view.entities()} == before
