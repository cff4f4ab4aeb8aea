"""An agent on the OpenAI Agents SDK: `pip install openai-agents`."""

from __future__ import annotations

import asyncio
import os

from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp


async def main() -> str:
    set_default_openai_api("chat_completions")  # what most servers of local models speak
    set_tracing_disabled(True)
    async with MCPServerStreamableHttp({"url": os.environ["MCP_SIM_URL"]}) as crm:
        agent = Agent("assistant", model=os.environ.get("MODEL", "gpt-5-mini"), mcp_servers=[crm])
        return (await Runner.run(agent, os.environ["MCP_SIM_TASK"])).final_output


print(asyncio.run(main()))
