"""Tools that add a record to a list of another one or remove it, and numbers that such tools take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, refused, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
PAIRS = [("student", "course", "enroll_student", "drop_student"), ("guest", "event", "invite_guest", "unlink_guest"),
         ("file", "case", "attach_file", "detach_file"),
         ("nurse", "shift", "assign_nurse", "unassign_nurse")]  # fmt: skip


@pytest.mark.parametrize(("member", "owner", "joining", "leaving"), PAIRS)
async def test_who_joins_or_leaves_is_in_the_list_of_the_record(
    tmp_path: Path, member: str, owner: str, joining: str, leaving: str
) -> None:
    listed, member_id, owner_id = f"{member}_ids", f"{member}_id", f"{owner}_id"
    empty: Json = []
    state: Json = {
        f"{member}s": [{"id": "m1", "name": "Ada"}, {"id": "m2", "name": "Bo"}],
        f"{owner}s": [{"id": "o1", "title": "First", listed: ["m1"]}, {"id": "o2", "title": "Second", listed: empty}],
        "badges": [{"id": "b1", member_id: "m1"}],
    }
    tools = [
        tool(joining, **{member_id: TEXT, owner_id: TEXT}),
        tool(leaving, **{member_id: TEXT, owner_id: TEXT}),
        tool(f"get_{member}", **{member_id: TEXT}),
        tool(f"{owner}_roster", **{owner_id: TEXT}),
        tool("list_badges", **{member_id: TEXT}),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        at = {owner_id: "o1"}
        await answered(world, joining, **at, **{member_id: "m2"})
        assert (await answered(world, f"{owner}_roster", **at))[listed] == ["m1", "m2"]
        await answered(world, leaving, **at, **{member_id: "m1"})
        assert (await answered(world, f"{owner}_roster", **at))[listed] == ["m2"]
        assert not any(step.get("guessed") for step in world.ledger.steps)
        assert await answered(world, f"get_{member}", **{member_id: "m1"}) == {"id": "m1", "name": "Ada"}
        assert "none" in await refused(world, joining, **at, **{member_id: "none"})


@pytest.mark.parametrize(
    ("role", "member", "owner", "joining", "leaving"),
    [("member", "worker", "team", "add_member_to_team", "remove_member_from_team"),
     ("watcher", "user", "issue", "add_watcher", "remove_watcher"),
     ("guest", "contact", "event", "invite_guest", "remove_guest_from_event"),
     ("entry", "film", "festival", "add_entry", "remove_entry")],
)  # fmt: skip
async def test_who_joins_in_a_role_is_in_the_list_of_that_role(
    tmp_path: Path, role: str, member: str, owner: str, joining: str, leaving: str
) -> None:
    listed = "entries" if role == "entry" else f"{role}s"
    state: Json = {f"{member}s": [{"id": "m1"}, {"id": "m2"}], f"{owner}s": [{"id": "o1", listed: ["m1"]}]}
    owner_id, member_id = f"{owner}_id", f"{member}_id"
    tools = [
        tool(joining, **{owner_id: TEXT, member_id: TEXT}),
        tool(leaving, **{owner_id: TEXT, member_id: TEXT}),
        tool(f"get_{owner}", **{owner_id: TEXT}),
        tool(f"list_{member}s"),
    ]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, joining, **{owner_id: "o1", member_id: "m2"})
        await answered(world, leaving, **{owner_id: "o1", member_id: "m1"})
        assert await answered(world, f"get_{owner}", **{owner_id: "o1"}) == {"id": "o1", listed: ["m2"]}
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize(("member", "place"), [("gardener", "bed"), ("guard", "gate"), ("nurse", "ward")])
async def test_an_update_that_changes_nothing_is_reported_as_a_guess(tmp_path: Path, member: str, place: str) -> None:
    state: Json = {f"{member}s": [{"id": "m1", "name": "Ada"}], f"{place}s": [{"id": "p1", "size": 4}]}
    assign = tool(f"assign_{member}", **{f"{member}_id": TEXT, f"{place}_id": TEXT})
    sim = simulator(tmp_path, [assign, tool(f"list_{member}s"), tool(f"list_{place}s")], state)
    async with sim.open() as world:
        await answered(world, f"assign_{member}", **{f"{member}_id": "m1", f"{place}_id": "p1"})
        assert world.ledger.steps[-1]["guessed"]
        assert [plan.tool for plan in sim.scenario.guesses] == [f"assign_{member}"]


@pytest.mark.parametrize("name", ["give_raise", "grant_bonus_to_employee", "give_day_off"])
async def test_what_a_record_is_given_neither_creates_it_nor_is_sure(tmp_path: Path, name: str) -> None:
    number = {"type": "number"}
    fields: Json = {"employee_id": TEXT, "name": TEXT, "salary": number}
    shown = {"type": "object", "properties": fields, "required": [*fields]}
    tools = [
        tool("hire_employee", name=TEXT, salary=number, output=shown),
        tool("get_employee", employee_id=TEXT, output=shown),
        tool(name, employee_id=TEXT, percent=number, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, "hire_employee", name="Ada", salary=100)
        assert await answered(world, name, employee_id=created["employee_id"], percent=5) == created
        assert world.ledger.steps[-1]["guessed"]
        await refused(world, name, employee_id="none", percent=5)


@pytest.mark.parametrize(("act", "number"), [("pay", "amount"), ("complete", "hours"), ("assess", "points")])
async def test_a_number_that_no_given_record_has_is_a_guess(tmp_path: Path, act: str, number: str) -> None:
    amount: Json = {"type": "number"}
    tools = [
        tool(f"{act}_fine", **{"member_id": TEXT, number: amount}),
        tool("get_fine", member_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {"fines": {"m1": 2.5, "m2": 1.0}}).open() as world:
        await answered(world, f"{act}_fine", member_id="m1", **{number: 1.5})
        assert world.ledger.steps[-1]["guessed"]
