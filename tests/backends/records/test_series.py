"""Series: rows for the last days or hours, or the coming ones, and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.services import service, value

Json = Any
DAYS = {"days": {"type": "integer"}}


def tool(name: str, about: str, needed: str) -> Json:
    schema = {"type": "object", "properties": {needed: {"type": "string"}, **DAYS}, "required": [needed]}
    return {"name": name, "description": about, "inputSchema": schema}


async def test_a_history_of_days_ends_now_and_a_shorter_one_is_its_end(tmp_path: Path) -> None:
    tools = f"tools: {json.dumps([tool('get_price_history', 'Get daily prices of a stock.', 'symbol')])}"
    async with service(tmp_path, tools, "now: 2030-03-02T09:00:00Z") as sim, sim.open() as world:
        rows = value(await world.call("get_price_history", {"symbol": "ACME", "days": 4}))["prices"]
        assert [row["date"] for row in rows] == ["2030-02-27", "2030-02-28", "2030-03-01", "2030-03-02"]
        assert {row["symbol"] for row in rows} == {"ACME"}
        assert value(await world.call("get_price_history", {"symbol": "ACME", "days": 2}))["prices"] == rows[2:]
        longer = value(await world.call("get_price_history", {"symbol": "ACME", "days": 6}))["prices"]
        assert longer[2:] == rows
        assert [row["date"] for row in longer[:2]] == ["2030-02-25", "2030-02-26"]


async def test_a_forecast_begins_today(tmp_path: Path) -> None:
    tools = f"tools: {json.dumps([tool('get_weather_forecast', 'Get the forecast of a city.', 'city')])}"
    async with service(tmp_path, tools, "now: 2030-02-27T09:00:00Z") as sim, sim.open() as world:
        rows = value(await world.call("get_weather_forecast", {"city": "Oslo", "days": 3}))["weather_forecasts"]
        assert [row["date"] for row in rows] == ["2030-02-27", "2030-02-28", "2030-03-01"]
