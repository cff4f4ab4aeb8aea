"""The team chat: threads, reactions and pages from end to end, and what it refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
RELEASES, GENERAL, FINANCE, LEADS, ESTUARY = "C0EAMVKQO4L", "C0B7VOC3KVG", "finance", "leads", "project-estuary"
ASKED = "1867047600.001229"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_team_chat")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(f"slack_{tool}", arguments))


def id_of(world: World, name: str) -> str:
    return next(str(key) for key, row in world.view.rows("channel") if row["name"] == name)


async def test_an_answer_is_in_its_thread_and_counts_there_but_is_no_message_of_the_channel(world: World) -> None:
    before = await ask(world, "get_channel_history", channel_id=RELEASES, limit=100)
    sent = await ask(world, "reply_to_thread", channel_id=RELEASES, thread_ts=ASKED, text="At four.")
    assert (sent["ok"], sent["message"]["thread_ts"]) == (True, ASKED)
    after = await ask(world, "get_channel_history", channel_id=RELEASES, limit=100)
    assert [one["ts"] for one in after["messages"]] == [one["ts"] for one in before["messages"]]
    first = after["messages"][0]
    assert (first["reply_count"], first["latest_reply"]) == (1, sent["ts"])
    for ts in (ASKED, sent["ts"], ASKED.replace(".", "")):
        thread = await ask(world, "get_thread_replies", channel_id=RELEASES, thread_ts=ts)
        assert [one["text"] for one in thread["messages"]] == [first["text"], "At four."]


async def test_a_reaction_is_counted_once_for_each_person(world: World) -> None:
    about: Json = {"channel_id": RELEASES, "timestamp": ASKED, "reaction": "eyes"}
    assert await ask(world, "add_reaction", **about) == {"ok": True}
    assert await ask(world, "add_reaction", **about) == {"ok": False, "error": "already_reacted"}
    first = (await ask(world, "get_channel_history", channel_id=RELEASES))["messages"][0]
    assert [(one["name"], one["count"]) for one in first["reactions"]] == [("eyes", 1)]


@pytest.mark.parametrize(
    ("tool", "changed", "error"),
    [
        ("post_message", {"channel_id": "C0"}, "channel_not_found"),
        ("post_message", {"channel_id": FINANCE}, "not_in_channel"),
        ("post_message", {"channel_id": LEADS}, "channel_not_found"),
        ("post_message", {"channel_id": ESTUARY}, "is_archived"),
        ("post_message", {"text": " "}, "no_text"),
        ("reply_to_thread", {"thread_ts": "yesterday"}, "invalid_thread_ts"),
        ("reply_to_thread", {"thread_ts": "1867047600.999999"}, "thread_not_found"),
        ("add_reaction", {"timestamp": "1.2"}, "message_not_found"),
        ("add_reaction", {"reaction": "no such thing"}, "invalid_name"),
        ("get_channel_history", {"channel_id": FINANCE}, "not_in_channel"),
        ("get_thread_replies", {"thread_ts": "1.2"}, "thread_not_found"),
        ("get_user_profile", {}, "user_not_found"),
        ("get_users", {"cursor": "nowhere"}, "invalid_cursor"),
    ],
)
async def test_what_is_refused_is_a_result_that_is_not_ok_and_writes_nothing(
    tool: str, changed: Json, error: str, world: World
) -> None:
    usual: Json = {"channel_id": RELEASES, "text": "Hello", "thread_ts": ASKED, "timestamp": ASKED, "reaction": "eyes"}
    arguments: Json = {"user_id": "U0", **usual, **changed}
    if arguments["channel_id"] in (FINANCE, LEADS, ESTUARY):
        arguments["channel_id"] = id_of(world, arguments["channel_id"])
    takes = world.scenario.domain.tools[f"slack_{tool}"].input_schema["properties"]
    counts = {entity: world.view.count(entity) for entity in world.view.entities()}
    answer = await ask(world, tool, **{name: part for name, part in arguments.items() if name in takes})
    assert answer == {"ok": False, "error": error}
    assert counts == {entity: world.view.count(entity) for entity in world.view.entities()}


async def test_channels_and_people_are_listed_page_by_page(world: World) -> None:
    for tool, rows, fewest in (("list_channels", "channels", 7), ("get_users", "members", 11)):
        whole = (await ask(world, tool))[rows]
        found, cursor = list[Json](), ""
        for _ in range(4):
            page = await ask(world, tool, limit=3, **({"cursor": cursor} if cursor else {}))
            found += page[rows]
            cursor = page["response_metadata"]["next_cursor"]
            if not cursor:
                break
        assert found == whole
        assert len(whole) == fewest
    names = {one["name"] for one in (await ask(world, "list_channels"))["channels"]}
    assert not names & {LEADS, ESTUARY}


async def test_the_world_is_alive_and_people_of_messages_exist(world: World) -> None:
    members = {one["id"] for one in (await ask(world, "get_users"))["members"]}
    texts = set[str]()
    for channel in (await ask(world, "list_channels"))["channels"]:
        history = await ask(world, "get_channel_history", channel_id=channel["id"], limit=50)
        times = [float(one["ts"]) for one in history.get("messages", ())]
        assert times == sorted(times, reverse=True)
        assert {one["user"] for one in history.get("messages", ())} <= members
        texts |= {one["text"] for one in history.get("messages", ())}
    assert len(texts) >= 8
