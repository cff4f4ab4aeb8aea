"""An agent without a framework or a model: it looks for the deal before it repeats a failed create."""

from __future__ import annotations

import asyncio
import os

from mcp import Client

DEAL = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}


async def main() -> str:
    async with Client(os.environ["MCP_SIM_URL"]) as crm:
        answer = await crm.call_tool("create_deal", DEAL)
        while answer.is_error:
            deals = await crm.call_tool("list_deals", {"contact_id": DEAL["contact_id"]})
            if not deals.is_error and '"Spring order"' in str(deals.content[0]):
                return "The deal Spring order exists; its first answer was lost."
            answer = await crm.call_tool("create_deal", DEAL)
        return "The deal Spring order was created."


print(asyncio.run(main()))
