"""Results of typed functions carry the name of their class, which says what a tool is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, simulator, tool

Json = Any
WHOLE: Json = {"type": "integer"}


def titled(title: str, **fields: Json) -> Json:
    return {"type": "object", "title": title, "properties": fields, "required": [*fields]}


@pytest.mark.parametrize(
    ("act", "title", "key"),
    [("prescribe", "Prescription", "prescription_id"), ("moor", "Berth", "id"), ("vaccinate", "ShotOut", "shot_id")],
)
async def test_a_verb_makes_what_the_class_of_its_result_is_called(
    tmp_path: Path, act: str, title: str, key: str
) -> None:
    noun = title.removesuffix("Out").lower()
    states: Json = {"type": "string", "enum": ["active", "discontinued"]}
    of_one: Json = {f"{noun}_id": TEXT}
    own: Json = {key: TEXT}
    shown = titled(title, **own, dose=TEXT, keeper=TEXT, status=states)
    names = titled("list_keepersOutput", result={"type": "array", "items": TEXT})
    tools = [
        tool(act, output=shown, dose=TEXT, keeper=TEXT),
        tool(f"discontinue_{noun}", "", output=shown, **of_one),
        tool("list_keepers", "", output=names),
    ]
    async with simulator(tmp_path, tools).open() as world:
        first, second = [await answered(world, act, dose=dose, keeper="Bo") for dose in ("5 mg", "9 mg")]
        assert (first["dose"], second["status"], first[key] != second[key]) == ("5 mg", "active", True)
        ended = await answered(world, f"discontinue_{noun}", **{f"{noun}_id": first[key]})
        assert ended == {**first, "status": "discontinued"}


@pytest.mark.parametrize("noun", ["leave", "budget", "visa"])
async def test_tools_may_be_named_after_a_part_of_a_class(tmp_path: Path, noun: str) -> None:
    request = titled(f"{noun.title()}Request", id=WHOLE, person=TEXT, days=WHOLE, status=TEXT)
    balance = titled(f"{noun.title()}Balance", person=TEXT, days_left=WHOLE)
    tools = [
        tool(f"request_{noun}", f"File a {noun} request.", output=request, person=TEXT, days=WHOLE),
        tool(f"decide_{noun}", f"Grant or deny a {noun} request.", output=request, request_id=WHOLE, decision=TEXT),
        tool(f"get_{noun}_balance", "", output=balance, person=TEXT),
    ]
    async with simulator(tmp_path, tools).open() as world:
        filed = await answered(world, f"request_{noun}", person="Bo", days=3)
        decided = await answered(world, f"decide_{noun}", request_id=filed["id"], decision="denied")
        assert (decided["id"], decided["person"], decided["days"]) == (filed["id"], "Bo", 3)
        assert (await answered(world, f"get_{noun}_balance", person="Bo"))["person"] == "Bo"
