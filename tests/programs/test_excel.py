"""The workbooks: formulas follow what they refer to, and what cannot be is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
ROWS: list[list[Json]] = [["item", "price", "count"], ["tea", 2.5, 4], ["jam", 3, 10], ["rye", 4.25, None]]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("excel")).open() as opened:
        await opened.call("create_workbook", {"path": "own.xlsx", "sheets": ["Goods", "Other"]})
        await write(opened, "A1", ROWS)
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, {"path": "own.xlsx", **arguments}))


async def write(world: World, at: str, rows: list[list[Json]], sheet: str = "Goods") -> Json:
    return await ask(world, "write_range", sheet=sheet, at=at, rows=rows)


async def shown(world: World, sheet: str, place: str, mode: str = "values") -> Json:
    return (await ask(world, "read_range", sheet=sheet, range=place, mode=mode))["values"]


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        ("=SUM(B2:B4)*2", 19.5),
        ("=1/3", 0.333333333333333),
        ("=-2^2+10%", 4.1),
        ('=IF(C2>3,"many","few")&" "&A2', "many tea"),
        ('=VLOOKUP("jam",A2:C4,3,FALSE)', 10),
        ('=VLOOKUP("oil",A2:C4,3,FALSE)', "#N/A"),
        ('=IFERROR(B2/C4,"none")', "none"),
        ("=B2/C4", "#DIV/0!"),
        ('=A2+"x"', "#VALUE!"),
        ('=COUNTIF(B2:B4,">2.9")', 2),
        ('=SUMIF(A2:A4,"?a*",C2:C4)', 10),
        ("=ROUND(AVERAGE($B$2:B4),1)", 3.3),
        ("=COUNT(A1:C9)+COUNTA(A:A)", 9),
        ("=INDEX(A2:A4,MATCH(3,B2:B4,0))", "jam"),
        ("=Goods!B3=3", True),
    ],
)
async def test_a_formula_is_computed(formula: str, result: Json, world: World) -> None:
    await write(world, "E1", [[formula]])
    assert await shown(world, "Goods", "E1") == [[result]]


async def test_what_cannot_be_computed_is_listed(world: World) -> None:
    await write(world, "E1", [["=NPV(0.1,B2:B4)", "=F1", "=Nothing"]])
    found = await ask(world, "read_range", sheet="Goods", range="E1:G1")
    assert found["uncalculated"] == {"E1": "NPV", "F1": "circular reference", "G1": "name Nothing"}


async def test_references_follow_the_cells_that_move(world: World) -> None:
    await write(world, "A1", [["=SUM(Goods!B2:B4)", "=Goods!B4"]], "Other")
    await write(world, "D2", [["=B2*C2"], ["=B$3*$C3"]])
    await ask(world, "insert_rows_or_columns", sheet="Goods", axis="rows", start=3, count=2)
    assert await shown(world, "Other", "A1:B1", "formulas") == [["=SUM(Goods!B2:B6)", "=Goods!B6"]]
    await ask(world, "delete_rows_or_columns", sheet="Goods", axis="rows", start=6)
    assert await shown(world, "Other", "A1:B1", "formulas") == [["=SUM(Goods!B2:B5)", "=Goods!#REF!"]]
    await ask(world, "copy_range", sheet="Goods", range="D2:D5", at="F3")
    assert await shown(world, "Goods", "F3:F6", "formulas") == [["=D3*E3"], [], [], ["=D$5*$C6"]]
    await ask(world, "rename_sheet", sheet="Goods", new_name="All goods")
    assert await shown(world, "Other", "A1", "formulas") == [["=SUM('All goods'!B2:B5)"]]
    assert await shown(world, "Other", "A1") == [[5.5]]


async def test_rows_are_sorted_whole_and_empty_keys_come_last(world: World) -> None:
    keys = [{"column": "count", "order": "descending"}]
    await ask(world, "sort_range", sheet="Goods", range="A1:C4", sort_by=keys)
    assert [row[0] for row in await shown(world, "Goods", "A2:C4")] == ["jam", "tea", "rye"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("read_range", {"sheet": "Nope"}, "Sheet 'Nope' not found. Available sheets: 'Goods', 'Other'."),
        ("read_range", {"sheet": "Goods", "range": "A1:ZZ"}, "Invalid range 'A1:ZZ'"),
        ("write_range", {"sheet": "Goods", "at": "A1", "rows": [["=SUM(1"]]}, "is not valid: unclosed '('"),
        ("write_range", {"sheet": "Goods", "at": "A1"}, "Invalid arguments for write_range: rows: required"),
        ("create_sheet", {"new_name": "goods"}, "A sheet named 'goods' already exists."),
        ("describe_workbook", {"path": "no.xlsx"}, "Workbook no.xlsx does not exist."),
        ("delete_note", {"sheet": "Goods", "cell": "B1"}, "B1 has no note."),
    ],
)
async def test_what_cannot_be_is_refused(tool: str, arguments: Json, words: str, world: World) -> None:
    assert words in message(await world.call(tool, {"path": "own.xlsx", **arguments}))


async def test_given_workbooks_replace_those_of_the_company(tmp_path: Any) -> None:
    state = {"workbooks": {"a.xlsx": {"S": [["x"], [1]]}}}
    (tmp_path / "own.yaml").write_text(f"mcp_sim: 1\ntools: excel\nworld: {{state: {state}}}\n", encoding="utf-8")
    async with Simulator.load(tmp_path / "own.yaml").open() as opened:
        assert list(value(await opened.call("list_workbooks", {}))) == ["a.xlsx"]
        assert value(await opened.call("read_range", {"path": "a.xlsx", "sheet": "S"}))["values"] == [["x"], [1]]


async def test_the_first_versions_of_the_server_keep_formulas_as_they_were_written() -> None:
    async with Simulator(compiled("excel_classic")).open() as opened:

        async def ask(tool: str, **arguments: Json) -> Json:
            place = {"filepath": "/data/own.xlsx", "sheet_name": "Sheet1"}
            return value(await opened.call(tool, {**place, **arguments}))["result"]

        await opened.call("create_workbook", {"filepath": "/data/own.xlsx"})
        assert await ask("write_data_to_excel", data=[[1, 2], [3, 4]]) == "Data written to Sheet1"
        await ask("apply_formula", cell="A3", formula="=SUM(A1:A2)")
        await ask("insert_rows", start_row=1)
        assert '"value": "=SUM(A1:A2)"' in await ask("read_data_from_excel", start_cell="A4", end_cell="A4")
        await ask("delete_range", start_cell="A2", end_cell="A3")
        assert '"value": "=SUM(A1:A2)"' in await ask("read_data_from_excel", start_cell="A2", end_cell="A2")
        assert await ask("delete_worksheet", sheet_name="No") == "Error: Sheet 'No' not found"
        refused = await opened.call("create_workbook", {"filepath": "own.xlsx"})
        assert "must be an absolute path" in message(refused)
