"""Given states of any form and the tools on them: tables, nested records, singletons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.given import STRING, service, value

from mcp_sim.plans.infer.given_state import Nouns, read_given_state
from mcp_sim.types import Observation, ToolResult

Json = Any


def tool(name: str, arguments: Json = None, *required: str, output: Json = None, about: str = "") -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": arguments or {}, "required": list(required)}
    more = {"outputSchema": {"type": "object", "properties": output}} if output else {}
    return {"name": name, "description": about, "inputSchema": schema, **more}


def refusal(observation: Observation) -> str:
    body = observation.body
    assert isinstance(body, ToolResult)
    assert body.is_error
    return str(body.value)


# what a state holds ---------------------------------------------------------------------------------------------------


def test_a_mapping_is_a_table_with_inner_or_outer_keys() -> None:
    found = read_given_state({
        "books": {"b1": {"book_id": "b1", "title": "Dune"}, "b2": {"book_id": "b2", "title": "Emma"}},
        "loans_db": {"7": {"title": "Dune"}, "8": {"title": "Emma"}},
    }, Nouns(frozenset({"book", "loan"}), frozenset({"loan_id"}), frozenset({"loan_id"})))  # fmt: skip
    assert (found.entities["book"].key, found.entities["book"].fields["book_id"].hidden) == ("book_id", False)
    assert (found.entities["loan"].key, found.entities["loan"].fields["loan_id"].hidden) == ("loan_id", False)
    assert [row["loan_id"] for row in found.records["loan"]] == [7, 8]


def test_nested_records_are_an_entity_if_tools_mention_them() -> None:
    shelf = {
        "shelf_id": "s1",
        "copies": {"c1": {"copy_id": "c1", "worn": False}, "c2": {"copy_id": "c2", "worn": True}},
    }
    entities = read_given_state({"shelves": {"s1": shelf}}, Nouns(frozenset({"shelf", "copy"}))).entities
    inside = entities["copy"].inside
    assert inside is not None
    assert (inside.entity, inside.field, entities["copy"].key) == ("shelf", "copies", "copy_id")
    assert "copy" not in read_given_state({"shelves": {"s1": shelf}}, Nouns(frozenset({"shelf"}))).entities


# how tools work on it -------------------------------------------------------------------------------------------------


async def test_nested_records_are_read(tmp_path: Path) -> None:
    copies = {"c1": {"copy_id": "c1", "price": 3}, "c2": {"copy_id": "c2", "price": 4}}
    sim = service(
        tmp_path, {"books": {"b1": {"book_id": "b1", "copies": copies}}},
        tool("get_copy", {"copy_id": STRING}, "copy_id"), tool("get_book", {"book_id": STRING}, "book_id"),
    )  # fmt: skip
    async with sim, sim.open() as world:
        assert value(await world.call("get_copy", {"copy_id": "c2"})) == {"copy_id": "c2", "price": 4}
        assert "c9" in refusal(await world.call("get_copy", {"copy_id": "c9"}))


async def test_a_counter_continues_the_format_of_given_ids(tmp_path: Path) -> None:
    state = {"cases": {"T7": {"case_id": "T7", "title": "Old"}}, "case_counter": 8}
    create = tool("create_case", {"title": STRING}, "title")
    async with service(tmp_path, state, create, tool("get_case", {"case_id": STRING}, "case_id")) as sim:
        world = sim.world("one")
        made = [value(await world.call("create_case", {"title": "New"}))["case_id"] for _ in range(2)]
        assert made == ["T8", "T9"]
        assert value(await world.call("get_case", {"case_id": "T9"}))["title"] == "New"


async def test_tables_of_rows_with_named_columns_are_read(tmp_path: Path) -> None:
    for rows in (
        {"columns": ["id", "title"], "rows": [["b1", "Dune"], ["b2", "Emma"]]},
        {"columns": [{"name": "id"}, {"name": "title"}], "rows": [["b1", "Dune"], ["b2", "Emma"]], "total": 2},
        {"rows": [{"id": "b1", "title": "Dune"}, {"id": "b2", "title": "Emma"}]},
        {"items": {"b1": {"title": "Dune"}, "b2": {"title": "Emma"}}},
    ):
        tools = tool("get_book", {"id": STRING}, "id"), tool("list_books")
        for state in ({"books": rows}, {"library": {"tables": {"books": rows}}}):
            async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
                assert value(await world.call("get_book", {"id": "b2"}))["title"] == "Emma"
