"""Queries over records: filters, searched text, order, pages."""

from __future__ import annotations

from typing import Any

import pytest
from rpds import HashTrieMap
from support.strategies import NOW

from mcp_sim.plans.records.selection import Page, selector
from mcp_sim.types import Call, Key, Memories, Record, Tool, Turn
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.plans import Filter, Paging, Plan
from mcp_sim.world.state import State

Json = Any
STRING: dict[str, Json] = {"type": "string"}
FIELDS = {
    "id": Field("id", {"type": "integer"}),
    "name": Field("name", STRING),
    "size": Field("size", {"type": "number"}),
    "tags": Field("tags", {"type": "array", "items": STRING}),
    "created_at": Field("created_at", {"type": "string", "format": "date-time"}),
}
BOXES: list[tuple[str, float | None, list[str], str]] = [
    ("Red box", 3, ["a"], "2030-01-01T10:00:00Z"),
    ("blue Box", 1, ["a", "b"], "2030-01-02T10:00:00Z"),
    ("Green crate", None, [], "2030-01-02T23:59:59+00:00"),
    ("Reddish box", 2, ["b"], "2030-01-03T00:00:00Z"),
]


def asked(plan: Plan, **arguments: Json) -> list[Json]:
    """Return the ids of the page that a call gets, or the text of the failure."""
    names = ("name", "size", "tags", "created_at")
    rows: dict[Key, Record] = {at: {"id": at, **dict(zip(names, box, strict=True))} for at, box in enumerate(BOXES, 1)}
    tool = Tool("list_boxes", "s", {"name": "list_boxes", "inputSchema": {"type": "object"}})
    entity = Entity("box", "id", 1, FIELDS)
    draws = Draws(1, "", "", 1)
    turn = Turn(
        Call("list_boxes", arguments), 1, tool, State.of({"box": rows}), NOW, NOW, draws, [], Memories(HashTrieMap())
    )
    page = selector(tool, plan, entity)(turn)
    return [key for key, _ in page.rows] if isinstance(page, Page) else [page]


@pytest.mark.parametrize(
    ("rule", "value", "ids"),
    [
        (Filter("name"), "Red box", [1]),
        (Filter("size", "gt"), 1, [1, 4]),
        (Filter("size", "lte"), 2, [2, 4]),
        (Filter("tags", "contains"), "b", [2, 4]),
        (Filter("tags", "contains"), ["a", "b"], [2]),
        (Filter("name", "contains"), "BOX", [1, 2, 4]),
        (Filter("id", "in"), [4, 1, 99], [1, 4]),
        (Filter("created_at", "lte"), "2030-01-02", [1, 2, 3]),
        (Filter("created_at", "gt"), "2030-01-02", [4]),
        (Filter("created_at", "gte"), "2030-01-02T11:00:00+01:00", [2, 3, 4]),
        (Filter("created_at", "lt"), "2030-01-02T10:00:00Z", [1]),
        (Filter("size", "gt"), None, [1, 2, 3, 4]),
    ],
)
def test_a_filter_keeps_matching_rows(rule: Filter, value: Json, ids: list[int]) -> None:
    assert asked(Plan("list_boxes", "list", "box", filters={"x": rule}), x=value) == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [("red", [1, 4]), ("box RED", [1, 4]), ("", [1, 2, 3, 4]), ("crate box", []), ("   ", [1, 2, 3, 4])],
)
def test_every_word_of_a_text_must_occur(text: str, ids: list[int]) -> None:
    assert asked(Plan("list_boxes", "search", "box", query="q"), q=text) == ids


@pytest.mark.parametrize(
    ("sort", "order", "ids"),
    [("size", None, [2, 4, 1, 3]), ("-size", None, [1, 4, 2, 3]), ("size desc", None, [1, 4, 2, 3]),
     ("name", "asc", [2, 3, 1, 4]), ("name", "DESC", [4, 1, 3, 2]), (None, None, [1, 2, 3, 4])],
)  # fmt: skip
def test_rows_without_the_sort_field_come_last(sort: Json, order: Json, ids: list[int]) -> None:
    plan = Plan("list_boxes", "list", "box", paging=Paging(sort="sort_by", order="order"))
    assert asked(plan, sort_by=sort, order=order) == ids


@pytest.mark.parametrize(
    ("paging", "arguments", "ids"),
    [(Paging(limit="n", offset="skip"), {"n": 2, "skip": 1}, [2, 3]),
     (Paging(limit="n", page="p"), {"n": 3, "p": 2}, [4]),
     (Paging(limit="n", page="p", first_page=0), {"n": 3, "p": 0}, [1, 2, 3]),
     (Paging(limit="n", most=2), {"n": 50}, [1, 2]),
     (Paging(limit="n", size=3), {}, [1, 2, 3]), (Paging(offset="skip"), {"skip": 99}, []),
     (Paging(), {}, [1, 2, 3, 4])],
)  # fmt: skip
def test_the_arguments_choose_the_page(paging: Paging, arguments: dict[str, Json], ids: list[int]) -> None:
    assert asked(Plan("list_boxes", "list", "box", paging=paging), **arguments) == ids
