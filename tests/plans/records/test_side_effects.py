"""What a description says beyond its first clause, and what a guessed write may have changed, is marked as guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, refused, simulator, tool

from mcp_sim.world.world import World

Json = Any
COUNT: Json = {"type": "integer"}


def thing(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def rows_of(noun: str, row: Json) -> Json:
    return thing(**{noun: {"type": "array", "items": row}})


async def is_guessed(world: World, called: str, **arguments: Json) -> bool:
    observation = await world.call(called, arguments)
    assert observation.ok, observation
    return world.ledger.steps[-1]["guessed"]


def stocked(noun: str, act: str, about: str, *, typed: bool) -> list[Json]:
    """Return tools that order things by name; `noun` is the thing, `act` what makes the order."""
    key: Json = {f"{noun}_id": TEXT}
    row, order = thing(id=TEXT, title=TEXT, reserved=COUNT), thing(id=TEXT, buyer=TEXT, **key)
    return [
        tool(f"get_{noun}", f"Get a {noun}.", output=row if typed else None, **key),
        tool(f"list_{noun}s", f"List {noun}s.", output=rows_of(f"{noun}s", row) if typed else None),
        tool(act, about, output=order if typed else None, buyer=TEXT, **key),
        tool("get_order", "Get an order.", output=order if typed else None, order_id=TEXT),
    ]


def goods(noun: str) -> Json:
    things = [{"id": key, "title": key.lower(), "reserved": 0} for key in ("AA", "BB")]
    return {f"{noun}s": things, "orders": [{"id": "O1", "buyer": "Ada", f"{noun}_id": "AA"}]}


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    ("noun", "about"),
    [
        ("lamp", "Create an order. Holds the lamp until it is paid."),
        ("boat", "Create an order; the boat is blocked."),
        ("bed", "Create an order. One more is then reserved."),
        ("crate", "Create an order and take the crate from the store."),
    ],
)
async def test_an_effect_that_only_the_description_mentions_leaves_its_records_in_doubt(
    noun: str, about: str, typed: bool, tmp_path: Path
) -> None:
    tools = stocked(noun, "create_order", about, typed=typed)
    async with simulator(tmp_path, tools, state=goods(noun)).open() as world:
        assert not await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "AA"})
        assert await is_guessed(world, "create_order", buyer="Bo", **{f"{noun}_id": "AA"})
        assert await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "AA"})
        assert not await is_guessed(world, f"get_{noun}", **{f"{noun}_id": "BB"})
        assert await is_guessed(world, f"list_{noun}s")


async def test_an_effect_may_mention_one_of_what_a_field_counts(tmp_path: Path) -> None:
    tools = [
        tool("get_book", "Get a book.", isbn=TEXT),
        tool("create_loan", "Create a loan. One copy fewer is left.", isbn=TEXT, member=TEXT),
        tool("get_loan", "Get a loan.", loan_id=TEXT),
    ]
    books = [{"isbn": isbn, "copies": 2} for isbn in ("AA", "BB")]
    async with simulator(tmp_path, tools, state={"books": books}).open() as world:
        assert await is_guessed(world, "create_loan", isbn="AA", member="Bo")
        assert await is_guessed(world, "get_book", isbn="AA")
        assert not await is_guessed(world, "get_book", isbn="BB")


@pytest.mark.parametrize(
    "about",
    [
        "Create an order.",
        "Create an order for a lamp.",
        "Create an order. Returns the order with its lamp.",
        "Create an order. The lamp must exist.",
        "Create an order. Use get_lamp to see the lamp.",
        "Create an order.\n\nArgs:\n    lamp_id: the lamp; fails if it is held\n",
        "Create an order. Fails if the lamp does not exist.",
        "Create an order. It stays with the lamp.",
        "Create an order. It does not change the lamp.",
        "Create an order. Get the lamp first.",
    ],
)
async def test_a_description_of_arguments_results_and_use_promises_no_effect(about: str, tmp_path: Path) -> None:
    async with simulator(
        tmp_path, stocked("lamp", "create_order", about, typed=True), state=goods("lamp")
    ).open() as world:
        assert not await is_guessed(world, "create_order", buyer="Bo", lamp_id="AA")
        assert not await is_guessed(world, "get_lamp", lamp_id="AA")


@pytest.mark.parametrize("typed", [True, False])
async def test_a_guessed_write_leaves_what_it_names_or_mentions_in_doubt(tmp_path: Path, *, typed: bool) -> None:
    tools = [
        *stocked("lamp", "create_order", "Create an order.", typed=typed),
        tool("polish", "Polish a lamp.", lamp=TEXT),
        tool("sweep", "Sweep all lamps."),
        tool("worth", "Total worth of the lamps."),
    ]
    async with simulator(tmp_path, tools, state=goods("lamp")).open() as world:
        await world.call("worth", {})
        assert not await is_guessed(world, "list_lamps")
        await world.call("polish", {"lamp": "AA"})
        assert await is_guessed(world, "get_lamp", lamp_id="AA")
        assert not await is_guessed(world, "get_lamp", lamp_id="BB")
        await world.call("sweep", {})
        assert await is_guessed(world, "get_lamp", lamp_id="BB")
        assert not await is_guessed(world, "get_order", order_id="O1")


@pytest.mark.parametrize(
    "about",
    [
        "Create an order. Fails if the lamp is held.",
        "Create an order, unless the lamp is held.",
        "Create an order for a lamp that has no buyer.",
    ],
)
async def test_a_success_under_a_condition_that_is_not_checked_is_a_guess(about: str, tmp_path: Path) -> None:
    async with simulator(
        tmp_path, stocked("lamp", "create_order", about, typed=True), state=goods("lamp")
    ).open() as world:
        assert await is_guessed(world, "create_order", buyer="Bo", lamp_id="AA")
        key = [key for key, _ in world.view.rows("order")][-1]
        assert await is_guessed(world, "get_order", order_id=key)
        assert not await is_guessed(world, "get_order", order_id="O1")
        assert not await is_guessed(world, "get_lamp", lamp_id="AA")


async def test_a_declared_plan_is_taken_to_be_complete(tmp_path: Path) -> None:
    about = "Create an order. Holds the lamp, unless it is broken."
    declared = {"sim": {"create_order": {"verb": "create", "entity": "order"}}}
    tools = stocked("lamp", "create_order", about, typed=True)
    async with simulator(tmp_path, tools, state=goods("lamp"), spec=declared).open() as world:
        assert not await is_guessed(world, "create_order", buyer="Bo", lamp_id="AA")
        assert not await is_guessed(world, "get_lamp", lamp_id="AA")


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(("act", "field"), [("move", "place"), ("assess", "verdict"), ("set", "tier")])
async def test_an_update_of_a_field_that_no_record_has_and_no_other_tool_knows_is_a_guess(
    act: str, field: str, typed: bool, tmp_path: Path
) -> None:
    tools = stocked("lamp", "create_order", "Create an order.", typed=typed)
    result = thing(id=TEXT, **{field: TEXT}) if typed else None
    title = tool("rename_lamp", "Rename a lamp.", lamp_id=TEXT, title=TEXT)
    new: Json = {field: TEXT}
    tools += [tool(f"{act}_lamp_{field}", f"Set the {field} of a lamp.", output=result, lamp_id=TEXT, **new), title]
    async with simulator(tmp_path, tools, state=goods("lamp")).open() as world:
        assert not await is_guessed(world, "rename_lamp", lamp_id="AA", title="Arc")
        assert not await is_guessed(world, "get_lamp", lamp_id="AA")
        assert await is_guessed(world, f"{act}_lamp_{field}", lamp_id="AA", **{field: "upstairs"})
        assert await is_guessed(world, "get_lamp", lamp_id="AA")
        assert not await is_guessed(world, "get_lamp", lamp_id="BB")


async def test_an_update_of_a_field_that_a_read_declares_or_a_create_takes_is_no_guess(tmp_path: Path) -> None:
    row = {"type": "object", "properties": {"id": TEXT, "title": TEXT, "place": TEXT}, "required": ["id"]}
    tools = [
        tool("get_lamp", "Get a lamp.", output=row, lamp_id=TEXT),
        tool("create_lamp", "Create a lamp.", needed="title", title=TEXT, tier=TEXT),
        tool("set_lamp_place", "Set the place of a lamp.", lamp_id=TEXT, place=TEXT),
        tool("set_lamp_tier", "Set the tier of a lamp.", lamp_id=TEXT, tier=TEXT),
    ]
    async with simulator(tmp_path, tools, state={"lamps": [{"id": "AA", "title": "Arc"}]}).open() as world:
        assert not await is_guessed(world, "set_lamp_place", lamp_id="AA", place="upstairs")
        assert not await is_guessed(world, "set_lamp_tier", lamp_id="AA", tier="low")


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ("List lamps.", "The shelf containing the lamps"),
        ("List lamps.", "Shelf that contains your lamps."),
        ("List lamps. Returns a dictionary containing their titles.", ""),
    ],
)
async def test_what_contains_records_is_no_part_of_a_text(about: str, said: str, tmp_path: Path) -> None:
    tools = [tool("list_lamps", about, shelf={**TEXT, "description": said})]
    state = {"lamps": [{"id": "AA", "shelf": "top left"}, {"id": "BB", "shelf": "top"}]}
    async with simulator(tmp_path, tools, state=state).open() as world:
        assert [row["id"] for row in await answered(world, "list_lamps", shelf="top")] == ["BB"]


@pytest.mark.parametrize("said", ["Text that the shelf contains", "Only shelves containing this text"])
async def test_an_argument_may_be_a_text_that_values_contain(said: str, tmp_path: Path) -> None:
    tools = [tool("list_lamps", "List lamps.", shelf={**TEXT, "description": said})]
    state = {"lamps": [{"id": "AA", "shelf": "top left"}, {"id": "BB", "shelf": "top"}]}
    async with simulator(tmp_path, tools, state=state).open() as world:
        assert len(await answered(world, "list_lamps", shelf="top")) == 2


@pytest.mark.parametrize(
    ("table", "act", "key"),
    [("stock", "restock", "ingredient"), ("stock", "refill", "drink"), ("stock", "replenish", "reagent")],
)
async def test_adding_to_an_amount_under_a_new_name_is_refused_as_a_guess(
    table: str, act: str, key: str, tmp_path: Path
) -> None:
    name: Json = {key: TEXT}
    tools = [
        tool(act, f"Add an amount to the {table} of a {key}.", amount=COUNT, **name),
        tool(f"check_{table}", f"Get the {table} of a {key}.", **name),
        tool(f"list_{table}", f"List the {table}."),
    ]
    async with simulator(tmp_path, tools, state={table: {"aa": 3, "bb": 5}}).open() as world:
        assert not await is_guessed(world, act, amount=2, **{key: "aa"})
        assert not await is_guessed(world, f"list_{table}")
        await refused(world, f"check_{table}", **{key: "cc"})
        assert not world.ledger.steps[-1]["guessed"]
        await refused(world, act, amount=2, **{key: "cc"})
        assert world.ledger.steps[-1]["guessed"]
        assert await is_guessed(world, f"list_{table}")
        assert not await is_guessed(world, f"check_{table}", **{key: "aa"})


@pytest.mark.parametrize("noun", ["lamp", "boat"])
async def test_what_a_guess_about_a_named_record_may_have_changed_is_in_doubt(noun: str, tmp_path: Path) -> None:
    key: Json = {f"{noun}_id": TEXT}
    other: Json = {noun: TEXT}
    tools = [
        *stocked(noun, "create_order", "Create an order.", typed=False),
        tool(f"change_{noun}", "Change to another one.", order=TEXT, **other),
        tool("add_parcel", "Add pieces to an order.", order_id=TEXT, pieces=COUNT),
    ]
    state = goods(noun)
    state["orders"].append({**state["orders"][0], "id": "O2"})
    async with simulator(tmp_path, tools, state=state).open() as world:
        assert not await is_guessed(world, "get_order", order_id="O1")
        assert await is_guessed(world, "add_parcel", order_id="O1", pieces=2)
        assert await is_guessed(world, "get_order", order_id="O1")
        assert not await is_guessed(world, "get_order", order_id="O2")
        assert await is_guessed(world, f"change_{noun}", order="O2", **{noun: "BB"})
        assert await is_guessed(world, "get_order", order_id="O2")
        assert not await is_guessed(world, f"get_{noun}", **dict.fromkeys(key, "AA"))


async def test_what_a_vague_verb_does_to_a_record_that_exists_is_a_guess(tmp_path: Path) -> None:
    row = thing(id=TEXT, title=TEXT, parts={"type": "array", "items": TEXT})
    tools = [
        tool("get_frame", "Get a frame.", output=row, frame_id=TEXT),
        tool("place_part", "Place a part in a frame.", output=row, frame_id=TEXT, title=TEXT),
    ]
    frame: Json = {"title": "Arc", "parts": []}
    async with simulator(tmp_path, tools, state={"frames": {"F1": frame, "F2": frame}}).open() as world:
        assert await is_guessed(world, "place_part", frame_id="F1", title="Bow")
        assert await is_guessed(world, "get_frame", frame_id="F1")
        assert not await is_guessed(world, "get_frame", frame_id="F2")


@pytest.mark.parametrize(
    ("noun", "about", "asked", "count", "guessed"),
    [
        ("lamp", "Find lamps by title.", "lantern", 0, False),
        ("boat", "Find boats by title.", "arc", 0, True),
        ("boat", "Find boats by title.", "Arc lamp", 1, False),
        ("bed", "Find beds whose title contains the text.", "arc", 1, False),
        ("bed", "Find beds with titles containing a text.", "lantern", 0, False),
    ],
)
async def test_a_search_that_finds_nothing_is_a_guess_where_part_of_a_text_would_match(
    noun: str, about: str, asked: str, count: int, guessed: bool, tmp_path: Path
) -> None:
    rows = rows_of(f"{noun}s", thing(id=TEXT, title=TEXT))
    tools = [tool(f"find_{noun}s", about, output=rows, title=TEXT)]
    state = {f"{noun}s": [{"id": "AA", "title": "Arc lamp"}, {"id": "BB", "title": "Bow"}]}
    async with simulator(tmp_path, tools, state=state).open() as world:
        assert len((await answered(world, f"find_{noun}s", title=asked))[f"{noun}s"]) == count
        assert world.ledger.steps[-1]["guessed"] is guessed
