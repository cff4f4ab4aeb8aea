"""Two agents that work in one world: the first creates a deal, the second waits for it and moves it on."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from mcp import Client

URL = os.environ["MCP_SIM_URL"]
DEAL = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
LOOKS = 10


async def first() -> None:
    async with Client(URL) as crm:
        await crm.call_tool("create_deal", DEAL)


async def second() -> str:
    async with Client(URL) as crm:
        for _ in range(LOOKS):
            deal = await look_up(crm)
            if deal is not None:
                await crm.call_tool("update_deal", {"deal_id": deal["id"], "stage": "proposal"})
                return f"The deal {deal['id']} is in the stage proposal."
        return "The first agent's deal never appeared."


async def look_up(crm: Client) -> dict[str, Any] | None:
    answer = await crm.call_tool("list_deals", {"contact_id": DEAL["contact_id"]})
    content: dict[str, Any] = answer.structured_content or {}
    deals: list[dict[str, Any]] = content["deals"]
    return next((deal for deal in deals if deal["title"] == DEAL["title"]), None)


async def main() -> str:
    await first()
    return await second()


print(asyncio.run(main()))
