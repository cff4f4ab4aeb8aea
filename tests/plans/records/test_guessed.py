"""Answers that hold what nothing determines are marked as guessed, and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.given import NUMBER, STRING, tool

from mcp_sim import Simulator
from mcp_sim.simulator.compile import checked
from mcp_sim.types import Change
from mcp_sim.world.world import World

TOOLS = [
    tool("list_lamps", status=STRING),
    tool("get_lamp", "lamp_id"),
    tool("create_lamp", "name", price=NUMBER),
    tool("rename_lamp", "lamp_id", "name"),
]
DECLARED = {
    "type": "object",
    "properties": {"balance": NUMBER, "currency": STRING},
    "required": ["balance", "currency"],
}
LAMPS = {"lamps": [{"lamp_id": "L1", "name": "Arc", "price": 30}]}


def service(folder: Path, tools: list[dict[str, Any]], **document: Any) -> Path:
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    (folder / "scenario.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "tools.json", **document}))
    return folder / "scenario.yaml"


async def is_guessed(world: World, called: str, **arguments: Any) -> bool:
    observation = await world.call(called, arguments)
    assert observation.ok
    return world.ledger.steps[-1]["guessed"]


async def test_a_record_that_nothing_specifies_is_guessed_until_a_call_writes_it(tmp_path: Path) -> None:
    async with Simulator.load(service(tmp_path, TOOLS)).open() as world:
        assert await is_guessed(world, "list_lamps")
        assert await is_guessed(world, "get_lamp", lamp_id="lamp_00001")


@pytest.mark.parametrize(
    "world", [{"state": LAMPS}, {"records": {"lamp": 3}}, {"records": {"lamp": {"rows": LAMPS["lamps"]}}}]
)
async def test_given_and_counted_records_are_not_guessed(tmp_path: Path, world: Any) -> None:
    async with Simulator.load(service(tmp_path, TOOLS, world=world)).open() as opened:
        assert not await is_guessed(opened, "list_lamps")
        key = next(key for key, _ in opened.view.rows("lamp"))
        assert not await is_guessed(opened, "get_lamp", lamp_id=key)
        assert not await is_guessed(opened, "rename_lamp", lamp_id=key, name="Bow")


@pytest.mark.parametrize(("lamp", "expected"), [({}, False), ({"watts": 40}, True)])
async def test_a_value_of_a_new_record_that_no_argument_can_give_is_guessed(
    tmp_path: Path, lamp: Any, *, expected: bool
) -> None:
    state = {"lamps": [{**LAMPS["lamps"][0], **lamp}]}
    async with Simulator.load(service(tmp_path, TOOLS, world={"state": state})).open() as world:
        assert await is_guessed(world, "create_lamp", name="Bow", price=8) is expected
        assert await is_guessed(world, "create_lamp", name="Bow") is expected


@pytest.mark.parametrize(
    ("made", "lines", "expected"),
    [({"id": STRING}, [{"product_id": "A"}], False), ({"price": NUMBER}, [{"product_id": "A"}], True),
     ({"kind": {"const": "sale"}}, [{"product_id": "A"}], False),
     ({"price": NUMBER}, [{"product_id": "A", "price": 3}], False),
     ({"price": NUMBER}, [{"product_id": "known"}], False), ({"email": STRING}, [], False)],
)  # fmt: skip
async def test_what_completes_the_lines_of_a_new_record_is_guessed(
    tmp_path: Path, made: Any, lines: Any, expected: bool
) -> None:
    given, shown = {"product_id": STRING, "price": NUMBER}, {"product_id": STRING, **made}
    line = {"type": "object", "properties": shown, "required": [*shown]}
    order = {"id": STRING, "lines": {"type": "array", "items": line}}
    tools = [
        tool("create_order", lines={"type": "array", "items": {"type": "object", "properties": given}}),
        tool("get_order", "id"),
        tool("get_product", "product_id"),
    ]
    for some in tools[:2]:
        some["outputSchema"] = {"type": "object", "properties": order, "required": [*order]}
    state = {"orders": [], "products": [{"id": "known", "price": 4}]}
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        assert await is_guessed(world, "create_order", lines=lines) is expected


async def test_a_part_of_a_result_that_the_state_lacks_is_guessed(tmp_path: Path) -> None:
    tools = [{**tool("get_account_balance"), "outputSchema": DECLARED}, tool("get_balance")]
    async with Simulator.load(
        service(tmp_path, tools, world={"state": {"account": {"balance": 1810}}})
    ).open() as world:
        assert not await is_guessed(world, "get_balance")
        assert await is_guessed(world, "get_account_balance")


@pytest.mark.parametrize(("world", "count"), [({}, 1), ({"records": {"lamp": 0}}, 0), ({"state": LAMPS}, 0)])
def test_an_expectation_on_records_that_nothing_specifies_is_reported(tmp_path: Path, world: Any, count: int) -> None:
    path = service(tmp_path, TOOLS, world=world, expect=[{"state": {"entity": "lamp", "count": 1}}])
    [(_, problems, _)] = checked(path)
    assert len([problem for problem in problems if "nothing specifies the records of lamp" in problem.message]) == count


@pytest.mark.parametrize(
    ("shown", "good", "lost"),
    [
        ({"type": "string", "enum": ["home", "away"]}, "away", "on a walk"),
        ({"type": "string", "maxLength": 5}, "short", "much too long"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "ABC", "abc"),
    ],
)
async def test_an_answer_without_a_given_value_that_its_schema_rules_out_is_guessed(
    tmp_path: Path, shown: Any, good: str, lost: str
) -> None:
    tools = [
        tool("create_dog", "name", mood=STRING),
        tool("get_dog", "dog_id"),
        tool("update_dog", "dog_id", "mood"),
        tool("set_dog_mood", "dog_id", "mood"),
    ]
    for some in tools:
        parts = {"id": STRING, "name": STRING, "mood": shown}
        some["outputSchema"] = {"type": "object", "properties": parts, "required": ["id", "name"]}
    state = {"dogs": [{"id": "D1", "name": "Rex", "mood": good}]}
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        assert not await is_guessed(world, "create_dog", name="Bo", mood=good)
        assert await is_guessed(world, "create_dog", name="Bo", mood=lost)
        for change in ("update_dog", "set_dog_mood"):
            assert not await is_guessed(world, change, dog_id="D1", mood=good)
            assert await is_guessed(world, change, dog_id="D1", mood=lost)
        assert (world.view.get("dog", "D1") or {}).get("mood") == good


@pytest.mark.parametrize("lost", ["set_dog_mood", "groom_dog"])
async def test_a_record_that_a_guessed_call_may_have_changed_is_in_doubt_until_a_call_settles_it(
    tmp_path: Path, lost: str
) -> None:
    mood = {"type": "string", "enum": ["home", "away"]}
    tools = [
        tool("get_dog", "dog_id"),
        {**tool("get_dog_name", "dog_id"), "outputSchema": {"type": "object", "properties": {"name": STRING}}},
        tool("list_dogs", mood=STRING),
        tool("rename_dog", "dog_id", "name"),
        tool("set_dog_mood", "dog_id", "mood"),
        tool("groom_dog", "dog_id"),
        tool("create_dog", "dog_id", "name", "mood"),
        tool("delete_dog", "dog_id"),
    ]
    parts = {"dog_id": STRING, "name": STRING, "mood": mood}
    tools[0]["outputSchema"] = {"type": "object", "properties": parts, "required": ["dog_id", "name"]}
    state = {"dogs": [{"dog_id": key, "name": key, "mood": "home"} for key in ("D1", "D2")]}
    arguments = {"dog_id": "D1"} | ({"mood": "on a walk"} if lost == "set_dog_mood" else {})
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        assert not await is_guessed(world, "get_dog", dog_id="D1")
        assert await is_guessed(world, lost, **arguments)
        assert await is_guessed(world, "get_dog", dog_id="D1")
        assert await is_guessed(world, "list_dogs")
        assert await is_guessed(world, "list_dogs", mood="away")
        assert await is_guessed(world.fork(), "get_dog", dog_id="D1")
        assert not await is_guessed(world, "get_dog", dog_id="D2")
        assert await is_guessed(world, "get_dog_name", dog_id="D1") is (lost == "groom_dog")
        await world.call("rename_dog", {"dog_id": "D1", "name": "Rex"})
        assert await is_guessed(world, "get_dog", dog_id="D1")
        await world.call("set_dog_mood", {"dog_id": "D1", "mood": "away"})
        assert await is_guessed(world, "get_dog", dog_id="D1") is (lost == "groom_dog")
        await world.call("delete_dog", {"dog_id": "D1"})
        assert not await is_guessed(world, "list_dogs", mood="home")
        assert not await is_guessed(world, "create_dog", dog_id="D1", name="Bo", mood="home")
        assert not await is_guessed(world, "get_dog", dog_id="D1")


async def test_a_generated_value_is_in_doubt_until_a_call_writes_it(tmp_path: Path) -> None:
    tools = [*TOOLS[:2], tool("create_lamp", "name"), tool("set_lamp_price", "lamp_id", price=NUMBER)]
    async with Simulator.load(service(tmp_path, tools, world={"state": LAMPS})).open() as world:
        assert await is_guessed(world, "create_lamp", name="Bow")
        key = [key for key, _ in world.view.rows("lamp")][-1]
        assert await is_guessed(world, "get_lamp", lamp_id=key)
        assert not await is_guessed(world, "get_lamp", lamp_id="L1")
        assert not await is_guessed(world, "set_lamp_price", lamp_id=key, price=3)
        assert not await is_guessed(world, "get_lamp", lamp_id=key)


async def test_a_batch_that_loses_a_value_is_guessed(tmp_path: Path) -> None:
    mood = {"type": "string", "enum": ["home", "away"]}
    many = {"type": "array", "items": {"type": "object", "properties": {"dog_id": STRING, "mood": STRING}}}
    parts = {"dog_id": STRING, "mood": mood}
    tools = [{**tool("get_dog", "dog_id"), "outputSchema": {"type": "object", "properties": parts}},
             tool("update_dogs", dogs=many)]  # fmt: skip
    state = {"dogs": [{"dog_id": "D1", "mood": "home"}, {"dog_id": "D2", "mood": "home"}]}
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        assert not await is_guessed(world, "update_dogs", dogs=[{"dog_id": "D1", "mood": "away"}])
        items = [{"dog_id": "D1", "mood": "home"}, {"dog_id": "D2", "mood": "on a walk"}]
        assert await is_guessed(world, "update_dogs", dogs=items)
        assert not await is_guessed(world, "get_dog", dog_id="D1")
        assert await is_guessed(world, "get_dog", dog_id="D2")


@pytest.mark.parametrize(("key", "old", "new"), [("lamp_id", "L1", "L7"), ("name", "Arc", "Bow")])
async def test_a_renamed_record_keeps_its_doubts(tmp_path: Path, key: str, old: str, new: str) -> None:
    rename = tool("rename_lamp", key, f"new_{key}")
    tools = [tool("get_lamp", key), tool("polish_lamp", key), rename, tool("list_lamps")]
    state = {"lamps": [{key: old, "price": 30}, {key: "other", "price": 20}]}
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        await world.call("polish_lamp", {key: old})
        assert await is_guessed(world, "get_lamp", **{key: old})
        await world.call("rename_lamp", {key: old, f"new_{key}": new})
        assert await is_guessed(world, "get_lamp", **{key: new})
        assert not await is_guessed(world, "get_lamp", **{key: "other"})


@pytest.mark.parametrize("name", ["drop_lamp", "unlink_lamp"])
async def test_what_a_guessed_deletion_removed_is_not_surely_missing(tmp_path: Path, name: str) -> None:
    removal = {**tool(name, "lamp_id"), "annotations": {"readOnlyHint": True}}  # which makes the verb a guess
    state = {"lamps": [{"lamp_id": f"L{number}", "name": "Arc"} for number in (1, 2)]}
    tools = [tool("get_lamp", "lamp_id"), tool("rename_lamp", "lamp_id", "name"), removal]
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        assert await is_guessed(world, name, lamp_id="L1")
        for key, expected in [("L1", True), ("L9", False)]:
            assert not (await world.call("get_lamp", {"lamp_id": key})).ok
            assert world.ledger.steps[-1].get("guessed", False) is expected
            assert not (await world.call("rename_lamp", {"lamp_id": key, "name": "Bow"})).ok
            assert world.ledger.steps[-1].get("guessed", False) is expected


def kennel(noun: str, field: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the tools on records of a noun, one of which does what nobody knows to one, another to all."""
    key = f"{noun}_id"
    value = {"type": "object", "properties": {field: STRING}}
    tools = [
        tool(f"get_{noun}", key),
        {**tool(f"get_{noun}_{field}", key), "outputSchema": value},
        tool(f"list_{noun}s"),
        tool(f"set_{noun}_{field}", key, field),
        tool(f"create_{noun}", key, field),
        tool(f"delete_{noun}", key),
        tool(f"groom_{noun}", key),
        tool("run_season", about=f"Run the season of every {noun}."),
    ]
    return tools, {f"{noun}s": [{key: name, field: "plain"} for name in ("N1", "N2", "N3")]}


KINDS = [("dog", "mood"), ("ticket", "owner"), ("boiler", "mode")]


@pytest.mark.parametrize(("noun", "field"), KINDS)
@pytest.mark.parametrize("by", ["write", "call", "removal"])
async def test_what_somebody_else_sets_is_not_in_doubt(tmp_path: Path, noun: str, field: str, by: str) -> None:
    tools, state = kennel(noun, field)
    key = f"{noun}_id"
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        await world.call(f"groom_{noun}", {key: "N1"})
        await world.call(f"groom_{noun}", {key: "N2"})
        assert await is_guessed(world, f"get_{noun}", **{key: "N1"})
        if by == "call":
            assert (await world.act(f"delete_{noun}", {key: "N1"})).ok
            assert (await world.act(f"create_{noun}", {key: "N1", field: "new"})).ok
        else:
            await world.change([Change("remove", noun, "N1")], "operator")
        if by == "write":
            await world.change([Change("put", noun, "N1", {key: "N1", field: "new"})], "operator")
        if by != "removal":
            assert not await is_guessed(world, f"get_{noun}", **{key: "N1"})
            assert not await is_guessed(world.fork(), f"get_{noun}", **{key: "N1"})
        assert await is_guessed(world, f"get_{noun}", **{key: "N2"})
        await world.change([Change("remove", noun, "N2")], "operator")
        assert not await is_guessed(world, f"list_{noun}s")


@pytest.mark.parametrize(("noun", "field"), KINDS)
async def test_a_field_that_the_state_lost_is_known_once_somebody_sets_it(
    tmp_path: Path, noun: str, field: str
) -> None:
    tools, state = kennel(noun, field)
    key = f"{noun}_id"
    value = {"type": "string", "enum": ["plain", "new"]}
    tools[0]["outputSchema"] = {"type": "object", "properties": {key: STRING, field: value}}
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        await world.call(f"set_{noun}_{field}", {key: "N1", field: "another"})  # which the schema rules out
        assert await is_guessed(world, f"get_{noun}", **{key: "N1"})
        await world.change([Change("put", noun, "N1", {key: "N1", field: "new"})], "operator")
        assert not await is_guessed(world, f"get_{noun}", **{key: "N1"})


@pytest.mark.parametrize(("noun", "field"), KINDS)
async def test_what_a_call_of_somebody_else_leaves_is_in_doubt(tmp_path: Path, noun: str, field: str) -> None:
    tools, state = kennel(noun, field)
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        assert (await world.act(f"groom_{noun}", {f"{noun}_id": "N1"})).ok
        assert await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "N1"})
        assert not await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "N2"})


@pytest.mark.parametrize(("noun", "field"), KINDS)
async def test_a_doubt_about_all_records_ends_for_those_that_are_made_anew(
    tmp_path: Path, noun: str, field: str
) -> None:
    tools, state = kennel(noun, field)
    key = f"{noun}_id"
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        await world.call("run_season", {})
        for name in ("N1", "N2", "N3"):
            assert await is_guessed(world, f"get_{noun}", **{key: name})
        await world.call(f"create_{noun}", {key: "N4", field: "new"})
        await world.call(f"delete_{noun}", {key: "N2"})
        await world.call(f"create_{noun}", {key: "N2", field: "new"})
        await world.change([Change("put", noun, "N3", {key: "N3", field: "new"})], "operator")
        for name, expected in {"N1": True, "N2": False, "N4": False}.items():
            assert await is_guessed(world, f"get_{noun}", **{key: name}) is expected
        assert await is_guessed(world, f"list_{noun}s")
        await world.call("run_season", {})
        for name in ("N1", "N2", "N3", "N4"):
            assert await is_guessed(world, f"get_{noun}", **{key: name})


@pytest.mark.parametrize(
    ("act", "parent", "linked", "other"),
    [("run_payroll", "employee", "payslip", "benefit"), ("close_day", "patient", "invoice", "room"),
     ("settle_month", "tenant", "bill", "poster")],
)  # fmt: skip
async def test_an_act_of_unknown_effect_may_have_made_records_that_refer_to_others(
    tmp_path: Path, act: str, parent: str, linked: str, other: str
) -> None:
    tools = [tool(f"get_{noun}", f"{noun}_id") for noun in (parent, linked, other)]
    tools += [tool(f"list_{noun}s") for noun in (parent, linked, other)]
    tools += [tool(act, "date"), tool("pause"), tool(f"count_{linked}s", about=f"Count the {linked}s.")]
    state = {f"{noun}s": [{f"{noun}_id": f"{noun[0]}1", "note": "x"}] for noun in (parent, other)}
    state[f"{linked}s"] = [{f"{linked}_id": "n1", f"{parent}_id": f"{parent[0]}1"}]
    async with Simulator.load(service(tmp_path, tools, world={"state": state})).open() as world:
        await world.call("pause", {})
        assert not await is_guessed(world, f"list_{linked}s")
        await world.call(act, {"date": "2030-01-31"})
        assert await is_guessed(world, f"list_{linked}s")
        assert await is_guessed(world, f"count_{linked}s")
        assert not await is_guessed(world, f"get_{linked}", **{f"{linked}_id": "n1"})
        assert not await is_guessed(world, f"list_{other}s")
        assert not await is_guessed(world, f"list_{parent}s")
