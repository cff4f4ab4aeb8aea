"""Tools that summarise records show the state at the time of the call."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, NUMBER, STRING, Json, refused, service, tool, value

STATE: Json = {
    "gardens": [{"id": 1, "name": "North"}, {"id": 2, "name": "South"}],
    "chores": [
        {"id": 1, "garden_id": 1, "title": "Dig", "status": "todo", "hours": 2.0, "due_date": "2020-01-01"},
        {"id": 2, "garden_id": 1, "title": "Sow", "status": "done", "hours": 3.5, "due_date": "2020-01-01"},
        {"id": 3, "garden_id": 2, "title": "Mow", "status": "todo", "hours": 0.5, "due_date": "2099-01-01"},
    ],
}
CHORES = (
    tool("create_chore", "title", garden_id=INTEGER),
    tool("list_chores", status=STRING),
    tool("finish_chore", "chore_id", chore_id=INTEGER),
    tool("list_gardens"),
)


def declaring(tool: Json, **parts: Json) -> Json:
    return {**tool, "outputSchema": {"type": "object", "properties": parts, "required": [*parts]}}


async def test_numbers_of_a_result_are_aggregated_by_their_names(tmp_path: Path) -> None:
    stats = declaring(
        tool("get_chore_stats"),
        total=INTEGER,
        todo_count=INTEGER,
        overdue=INTEGER,
        completion_rate=NUMBER,
        total_hours=NUMBER,
        by_status={"type": "object", "additionalProperties": INTEGER},
        statuses={"type": "array", "items": {"type": "object", "properties": {"status": STRING, "count": INTEGER}}},
    )
    async with service(tmp_path, STATE, *CHORES, stats) as simulator, simulator.open("w") as world:
        await world.call("finish_chore", {"chore_id": 3})
        assert value(await world.call("get_chore_stats", {})) == {
            "total": 3, "todo_count": 1, "overdue": 1, "completion_rate": 66.67, "total_hours": 6.0,
            "by_status": {"todo": 1, "done": 2},
            "statuses": [{"status": "todo", "count": 1}, {"status": "done", "count": 2}],
        }  # fmt: skip


async def test_a_summary_without_a_schema_has_the_total_and_the_counts_per_kind(tmp_path: Path) -> None:
    tools = (
        tool("get_stats"),
        tool("get_garden_stats", "garden_id", garden_id=INTEGER),
        tool("count_chores", status=STRING),
        tool("count_chores_by_status"),
    )
    async with service(tmp_path, STATE, *CHORES, *tools) as simulator, simulator.open("w") as world:
        await world.call("create_chore", {"title": "Rake", "garden_id": 2})
        whole = value(await world.call("get_stats", {}))
        assert (whole["total_gardens"], whole["total_chores"]) == (2, 4)
        assert value(await world.call("get_garden_stats", {"garden_id": 2}))["total"] == 2
        assert refused(await world.call("get_garden_stats", {"garden_id": 7}))
        assert value(await world.call("count_chores", {"status": "done"})) == {"count": 1}
        assert value(await world.call("count_chores_by_status", {})) == {"todo": 3, "done": 1}


async def test_a_summary_of_one_record_and_a_record_called_summary_are_not_statistics(tmp_path: Path) -> None:
    state = {**STATE, "reports": [{"id": 1, "title": "Spring", "text": "Wet."}]}
    tools = tool("get_chore_summary", "chore_id", chore_id=INTEGER), tool("get_report", "report_id", report_id=INTEGER)
    async with service(tmp_path, state, *CHORES, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_chore_summary", {"chore_id": 1}))["title"] == "Dig"
        assert value(await world.call("get_report", {"report_id": 1}))["text"] == "Wet."


async def test_a_total_beside_prices_is_their_sum_and_otherwise_a_count(
    tmp_path: Path,
) -> None:
    row = {"type": "object", "properties": {"id": INTEGER, "name": STRING, "price": NUMBER, "quantity": INTEGER}}
    rows: Json = {"type": "array", "items": row}
    money = declaring(tool("list_cart_lines"), lines=rows, total=NUMBER, count=INTEGER, average_price=NUMBER)
    number = declaring(tool("list_seeds"), seeds=rows, total=NUMBER)
    lines = [
        {"id": 1, "name": "Dill", "price": 2.0, "quantity": 3},
        {"id": 2, "name": "Mint", "price": 3.5, "quantity": 1},
    ]
    state = {"cart_lines": lines, "seeds": lines}
    async with service(tmp_path, state, money, number) as simulator, simulator.open("w") as world:
        cart = value(await world.call("list_cart_lines", {}))
        assert (cart["total"], cart["count"], cart["average_price"]) == (9.5, 2, 2.75)
        assert value(await world.call("list_seeds", {}))["total"] == 2


SPENT = (
    tool("add_expense", "date", "category", "amount", amount=NUMBER),
    tool("list_expenses", category=STRING),
)
OUTLAYS: Json = [
    {"id": 1, "date": "2029-11-03", "category": "food", "amount": 12.5},
    {"id": 2, "date": "2029-11-09", "category": "rent", "amount": 600.0},
    {"id": 3, "date": "2029-12-01", "category": "food", "amount": 7.0},
]


async def test_expenses_are_summed_within_the_requested_period(tmp_path: Path) -> None:
    tools = (
        tool("get_monthly_summary", "month", about="Sum up the expenses of a month."),
        tool("summarize", "start_date", "end_date", category=STRING, about="Summarize expenses by category."),
        tool("get_category_summary"),
    )
    async with service(tmp_path, {"expenses": OUTLAYS}, *SPENT, *tools) as simulator, simulator.open("w") as world:
        november = value(await world.call("get_monthly_summary", {"month": "2029-11"}))
        assert november == {"total": 612.5, "count": 2, "by_category": {"food": 12.5, "rent": 600.0}}
        await world.call("add_expense", {"date": "2029-12-24", "category": "gifts", "amount": 40})
        december = {"start_date": "2029-12-01", "end_date": "2029-12-31"}
        assert value(await world.call("summarize", december))["by_category"] == {"food": 7.0, "gifts": 40}
        assert value(await world.call("summarize", {**december, "category": "gifts"}))["total"] == 40
        assert value(await world.call("get_category_summary", {}))["total"] == 659.5


async def test_a_summary_as_text_has_a_line_for_each_number(tmp_path: Path) -> None:
    summary = declaring(tool("get_expense_summary", month=STRING), result=STRING)
    async with service(tmp_path, {"expenses": OUTLAYS}, *SPENT, summary) as simulator, simulator.open("w") as world:
        line_per_number = value(await world.call("get_expense_summary", {"month": "2029-12"}))["result"]
        assert line_per_number.splitlines() == [
            "Month: 2029-12",
            "Total: 7.0",
            "Count: 1",
            "By category:",
            "- food: 7.0",
        ]
