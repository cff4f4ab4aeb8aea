"""An agent on LangChain: `pip install langchain langchain-openai langchain-mcp-adapters`."""

from __future__ import annotations

import asyncio
import os

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI


async def main() -> str:
    client = MultiServerMCPClient({"crm": {"transport": "streamable_http", "url": os.environ["MCP_SIM_URL"]}})
    tools = await client.get_tools()
    for tool in tools:
        tool.handle_tool_error = True  # a failed call is an answer for the model, not the end of the agent
    agent = create_agent(ChatOpenAI(model=os.environ.get("MODEL", "gpt-5-mini")), tools)
    state = await agent.ainvoke({"messages": [("user", os.environ["MCP_SIM_TASK"])]})
    return state["messages"][-1].text


print(asyncio.run(main()))
