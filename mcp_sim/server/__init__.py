"""Serving a world as if it were the real thing: one MCP server per impersonated server, over the transports."""
