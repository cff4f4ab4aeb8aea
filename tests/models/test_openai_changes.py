"""Calls whose effect no plan shows: the model is asked what they changed, and its answer is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.responses import Response
from support.desk import Desk, desk_in, measured, said, ticket, value
from support.endpoint import Asked, Engine, Respond, completion, serving

from mcp_sim.world.world import World

Json = Any
ROWS = [ticket(1, title="Bell"), ticket(2, title="Lamp")]
QUESTION = "**Answer:** what this call has changed"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path, {"records": {"ticket": {"count": 2, "rows": ROWS}, "customer": 1}})


def asks_for_changes(asked: Asked) -> bool:
    return asked.question.endswith(QUESTION)


def answering(answer: Json, changes: Json) -> Respond:
    """Return a responder with an answer to the call, and one to the question what it changed."""

    async def respond(asked: Asked) -> Response:
        reply = changes if asks_for_changes(asked) else answer
        return completion(reply if isinstance(reply, str) else json.dumps(reply))

    return respond


async def tidied(engine: Engine, world: World, changes: Json, **arguments: Json) -> Json:
    """Return the answer to a call of unknown effect, after which the model says this of its changes."""
    engine.respond = answering("Done.", changes)
    return value(await world.call("tidy_up", arguments))


def committed(world: World) -> Json:
    step = world.ledger.newest["step"]
    return {(one["op"], one["key"]): one.get("record") for one in step["committed"]}


async def test_the_changes_that_the_model_says_are_written_and_hold_from_then_on(desk: Desk) -> None:
    changes = [
        {"op": "update", "entity": "ticket", "id": "ticket_00001", "fields": {"effort": 8, "mood": "calm"}},
        {"op": "delete", "entity": "ticket", "id": "ticket_00002"},
        {"op": "create", "entity": "ticket", "id": "T-9", "fields": ticket(title="Horn")},
    ]
    async with serving() as engine, desk(engine.url).open() as world:
        assert await tidied(engine, world, {"changes": changes}, what="shelf") == "Done."
        assert len(engine.asked) == 2
        assert measured(world)["changes"] == 3
        first, third = {**ROWS[0], "effort": 8, "mood": "calm"}, {**ticket(title="Horn"), "id": "T-9"}
        assert committed(world) == {
            ("put", "ticket_00001"): first,
            ("remove", "ticket_00002"): None,
            ("put", "T-9"): third,
        }
        for record in (first, third):
            shown = await said(engine, world, {**record, "effort": 2}, "get_ticket", {"ticket_id": record["id"]})
            assert value(shown) == record
        assert not (await said(engine, world, ROWS[1], "get_ticket", {"ticket_id": "ticket_00002"})).ok


async def test_the_question_follows_the_answer_under_a_schema_of_its_own(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        await tidied(engine, world, {"changes": "none"}, what="shelf")
        call, question = engine.asked
        assert question.body["messages"][:2] == call.body["messages"]
        assert question.body["messages"][2]["content"].endswith("Done.")
        assert question.schema is not None
        schema = Draft202012Validator(question.schema)
        good: Json = {"op": "delete", "entity": "ticket", "id": 7}
        for changes in ("none", "unknown", [good]):
            assert schema.is_valid({"changes": changes})  # pyright: ignore[reportUnknownMemberType] (jsonschema has no types for it)
        for changes in ("some", [], [{**good, "op": "lose"}], [{**good, "entity": "ferry"}]):
            assert not schema.is_valid({"changes": changes})  # pyright: ignore[reportUnknownMemberType] (jsonschema has no types for it)
        await said(engine, world, ROWS[0], "get_ticket", {"ticket_id": "ticket_00001"})
        assert [message["role"] for message in engine.asked[-1].body["messages"]] == [
            "system", "user", "assistant", "user",
        ]  # fmt: skip


async def test_a_call_that_changed_nothing_is_a_read_and_its_answer_holds(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        engine.respond = answering("Round.", {"changes": "none"})
        assert value(await world.call("tidy_up", {"what": "wheels"})) == "Round."
        assert (len(engine.asked), measured(world)["changes"], committed(world)) == (2, "none", {})
        engine.respond = answering("Square.", {"changes": "none"})
        assert value(await world.call("tidy_up", {"what": "wheels"})) == "Round."
        assert len(engine.asked) == 2
        assert value(await world.call("tidy_up", {"what": "rims"})) == "Square."
        assert len(engine.asked) == 3  # such calls are known to read
        wrong = await said(engine, world, {"ticket": {**ROWS[0], "effort": 9}}, "tidy_up", {"what": "the bell"})
        assert value(wrong) == {"ticket": ROWS[0]}


@pytest.mark.parametrize(
    "changes",
    [
        {"changes": "unknown"},
        "I would say that it was tidied.",
        {"changes": [{"op": "lose", "entity": "ticket", "id": "ticket_00001"}]},
        {"changes": [{"op": "update", "entity": "ticket", "id": "ticket_00001", "fields": {"effort": 8}}, 5]},
    ],
)
async def test_what_stays_unknown_unsettles_all_that_it_may_have_changed(changes: Json, desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        assert await tidied(engine, world, changes) == "Done."
        assert (measured(world)["changes"], committed(world)) == ("unknown", {})
        moved = {**ROWS[0], "effort": 8}
        get = ("get_ticket", {"ticket_id": "ticket_00001"})
        assert value(await said(engine, world, moved, *get)) == moved
        assert value(await said(engine, world, ROWS[0], *get)) == moved


async def test_changes_that_contradict_the_world_are_not_written(desk: Desk) -> None:
    changes = [
        {"op": "update", "entity": "ticket", "id": "ticket_00099", "fields": {"effort": 8}},
        {"op": "update", "entity": "ticket", "id": "ticket_00001", "fields": {"customer_id": "C-9", "id": "T-1"}},
        {"op": "delete", "entity": "ticket", "id": "ticket_00098"},
    ]
    async with serving() as engine, desk(engine.url).open() as world:
        assert await tidied(engine, world, {"changes": changes}, what="shelf") == "Done."
        assert [*committed(world).values()] == [ROWS[0]]
        assert world.view.count("ticket") == 2


async def test_the_id_of_a_new_record_has_the_type_of_the_ids_of_its_kind(desk: Desk) -> None:
    changes = [{"op": "create", "entity": "ticket", "id": 9, "fields": ticket(title="Horn")}]
    async with serving() as engine, desk(engine.url).open() as world:
        assert await tidied(engine, world, {"changes": changes}, what="shelf") == "Done."
        horn = {**ticket(title="Horn"), "id": "9"}
        assert committed(world) == {("put", "9"): horn}
        assert value(await said(engine, world, horn, "get_ticket", {"ticket_id": "9"})) == horn


@pytest.mark.parametrize("name", ["get_ticket", "list_tickets", "delete_ticket"])
async def test_a_call_whose_plan_is_sure_is_asked_about_once(name: str, desk: Desk) -> None:
    arguments = {} if name == "list_tickets" else {"ticket_id": "ticket_00001"}
    reply = {"tickets": ROWS, "total": 2} if name == "list_tickets" else ROWS[0]
    async with serving() as engine, desk(engine.url).open() as world:
        assert (await said(engine, world, reply, name, arguments)).ok
        assert not any(map(asks_for_changes, engine.asked))
        assert len(engine.asked) == 1


async def test_a_refused_call_changes_nothing_and_is_asked_about_once(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        assert not (await said(engine, world, {"isError": True, "text": "Busy."}, "tidy_up", {})).ok
        assert len(engine.asked) == 1
