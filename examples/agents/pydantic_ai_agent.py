"""An agent on Pydantic AI: `pip install 'pydantic-ai-slim[mcp,openai]'`."""

from __future__ import annotations

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset


async def main() -> str:
    crm = MCPToolset(os.environ["MCP_SIM_URL"], max_retries=5)
    agent = Agent(f"openai-chat:{os.environ.get('MODEL', 'gpt-5-mini')}", toolsets=[crm])
    return (await agent.run(os.environ["MCP_SIM_TASK"])).output


print(asyncio.run(main()))
